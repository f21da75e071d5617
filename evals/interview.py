"""Asks one question the way the command line would, and keeps everything that came of it.

Invariant: the loop, the prompt, the tools and the shop are the product's own. What a model does wrong is part of the
result; nothing it can answer raises.
"""

from __future__ import annotations

import time
from datetime import date
from pathlib import Path

from msgspec import Struct, field

from agent_core import events as ev
from agent_core.config import LoopConfig
from agent_core.loop import AgentLoop
from agent_core.messages import ModelClient, ToolCall, Usage
from agent_core.store.memory import MemoryStore
from erpilot.cli.models import Choice
from erpilot.cli.work import Bench
from erpilot.profiles import Profile, told_and_found
from erpilot.shop.open import open_shop

from .questions import Question


class CallMade(Struct, frozen=True):
    """A call, and what it was answered with (None: not at all)."""

    step: int
    call: ToolCall
    answer: str | None = None
    error: str | None = None
    """Type of the structured error it was answered with."""
    ran: bool = True
    """The tool itself answered (or its kept result did): the call was not refused before."""


class Turn(Struct, frozen=True):
    """One answer of the model. Seconds from the sending of the request."""

    step: int
    text: str | None
    calls: int
    flags: tuple[str, ...]
    finish_reason: str
    usage: Usage | None
    first_token: float | None
    seconds: float | None


class Interview(Struct):
    """What came of one question."""

    question: Question
    turns: list[Turn] = field(default_factory=list)
    calls: list[CallMade] = field(default_factory=list)
    context: tuple[str, ...] = ()
    answer: str = ""
    """Text of the last message that asked for no call."""
    reason: str = "error"
    """Why the run ended."""
    message: str | None = None
    failures: list[str] = field(default_factory=list)
    """Kinds of failed attempts."""
    guards: list[str] = field(default_factory=list)
    usage: Usage = Usage()
    seconds: float = 0.0

    @property
    def sources(self) -> tuple[str, ...]:
        """Everything that a figure of the answer may have come from."""
        return (self.question.text, *self.context, *(call.answer for call in self.calls if call.answer is not None))


async def ask(
    question: Question, model: ModelClient, profile: Profile, home: Path, today: date, *, max_steps: int
) -> Interview:
    """Runs one question in a fresh session over the shop in ``home``."""
    found = Interview(question)
    began = time.monotonic()
    shop = open_shop(home, today)
    try:
        config = LoopConfig(system_prompt=profile.system_prompt, max_steps=max_steps, max_seconds=None)
        store = MemoryStore()
        told, findable = told_and_found(profile, profile.tools(shop))
        loop = AgentLoop(model=model, tools=told, findable_tools=findable, store=store, config=config)
        bench = Bench(loop, store, Choice(model.name, model.name), profile, shop)
        context = bench.today()
        found.context = tuple(each.text for each in context)
        async for item in loop.run(question.text, profile=profile.name, context=context):
            note(found, item.event)
    finally:
        shop.close()
    found.seconds = time.monotonic() - began
    return found


def note(found: Interview, event: ev.AnyEvent) -> None:
    """Takes an event of the run into what came of the question."""
    match event:
        case ev.AssistantMessage():
            found.turns.append(
                Turn(
                    event.step,
                    event.content,
                    len(event.tool_calls),
                    event.flags,
                    event.finish_reason,
                    None,
                    event.time_to_first_token,
                    event.duration,
                )
            )
            found.calls += [CallMade(event.step, call) for call in event.tool_calls]
            found.answer = "" if event.tool_calls else event.content or ""
        case ev.StepEnd(usage=usage) if found.turns and found.turns[-1].step == event.step:
            found.turns[-1] = _with_usage(found.turns[-1], usage)
        case ev.ToolCallFinished():
            at = next(at for at, made in enumerate(found.calls) if made.call.id == event.call_id)
            made = found.calls[at]
            error, ran = event.error.type if event.error else None, event.ok or event.attempts > 0
            found.calls[at] = CallMade(made.step, made.call, event.content, error, ran)
        case ev.ModelAttemptFailed(kind=kind):
            found.failures.append(kind)
        case ev.GuardTripped(guard=guard):
            found.guards.append(guard)
        case ev.LoopEnd():
            found.reason, found.message = event.reason, event.message
            found.usage = event.usage or Usage()


def _with_usage(turn: Turn, usage: Usage | None) -> Turn:
    return Turn(turn.step, turn.text, turn.calls, turn.flags, turn.finish_reason, usage, turn.first_token, turn.seconds)
