"""A model that plays turns written by hand: for tests, demonstrations and documentation.

Invariant: it goes through the same contract as a real one (deltas, calls, one ``StreamEnd``) and never makes anything
up: a script that is used up is an error.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from msgspec import Struct, structs

from ..errors import AgentError, ModelError, Partial
from ..messages import Message, ModelEvent, ReasoningDelta, StreamEnd, TextDelta, ToolCall, ToolSchema, Usage
from .arguments import judge
from .names import nine, resolve

Item: TypeAlias = str | tuple[str, Mapping[str, Any] | str] | ToolCall | ReasoningDelta | Usage | ModelError | StreamEnd
"""A piece of a turn: text; a call as (name, arguments) with a dict or raw JSON text, or as a ``ToolCall``; reasoning;
the usage to report; an error to raise at this point; or the ``StreamEnd`` to close with, as it stands."""
Turn: TypeAlias = Item | Sequence[Item] | Callable[[Sequence[Message]], "Turn"]
"""What the model says next: one item, several in order, or a function of the messages that gives either."""


class ScriptExhausted(AgentError):
    """The scripted model was asked for more turns than it was given."""


class Request(Struct, frozen=True):
    """One request as the model got it."""

    messages: tuple[Message, ...]
    tools: tuple[ToolSchema, ...]
    options: dict[str, Any]


class ScriptedModel:
    """Plays ``turns`` in order, one per call of ``stream_chat``; ``requests`` holds what it was asked.

    ``delay``: seconds before each delta. ``delta``: characters per text delta, None for a whole text at once.
    ``language_model``: summaries are asked of it, too.
    """

    def __init__(
        self,
        turns: Iterable[Turn] = (),
        *,
        name: str = "scripted",
        delay: float = 0.0,
        delta: int | None = None,
        language_model: bool = False,
    ) -> None:
        self._name = name
        self._turns = list(turns)
        self._next = 0
        self._delay = delay
        self._delta = delta
        self.language_model = language_model
        self.requests: list[Request] = []

    @property
    def name(self) -> str:
        """The name under which its answers are recorded."""
        return self._name

    @property
    def remaining(self) -> int:
        """How many turns of the script are left."""
        return len(self._turns) - self._next

    def add(self, *turns: Turn) -> None:
        """Appends turns to the script."""
        self._turns.extend(turns)

    async def stream_chat(
        self, messages: Sequence[Message], tools: Sequence[ToolSchema] = (), **options: Any
    ) -> AsyncIterator[ModelEvent]:
        """Plays the next turn. Raises ``ScriptExhausted`` when there is none."""
        self.requests.append(Request(tuple(messages), tuple(tools), dict(options)))
        if self._next >= len(self._turns):
            raise ScriptExhausted(
                f"The script of {self._name!r} has {len(self._turns)} turns, and turn {self._next + 1} was asked for "
                f"after the message {_excerpt(messages)}."
            )
        turn = self._turns[self._next]
        self._next += 1
        while callable(turn):
            turn = turn(messages)
        items = (
            [turn] if isinstance(turn, (str, tuple, ToolCall, ReasoningDelta, Usage, ModelError, StreamEnd)) else turn
        )
        calls: list[ToolCall] = []
        text, end, usage = "", None, None
        taken = {call.id for message in messages for call in message.tool_calls}
        for item in items:
            if self._delay:
                await asyncio.sleep(self._delay)
            match item:
                case str():
                    for piece in self._pieces(item):
                        if text and self._delay:
                            await asyncio.sleep(self._delay)
                        text += piece
                        yield TextDelta(text=piece)
                case ReasoningDelta():
                    yield item
                case ModelError():
                    raise _with_partial(item, text, len(calls))
                case StreamEnd():
                    end = item
                case Usage():
                    usage = item
                case ToolCall():
                    calls.append(item)
                case _:
                    calls.append(_call(item[0], item[1], len(taken) + len(calls), tools))
        for call in calls:
            yield call
        yield end or StreamEnd(usage=usage, **_ending(text, calls))

    def _pieces(self, text: str) -> Iterable[str]:
        size = self._delta or len(text) or 1
        return (text[start : start + size] for start in range(0, len(text), size))


def _call(name: str, arguments: Mapping[str, Any] | str, number: int, tools: Sequence[ToolSchema]) -> ToolCall:
    raw = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    known = resolve(name, {tool.name: tool.name for tool in tools})
    call = ToolCall(id=nine(f"{name}/{number}"), name=known or name, arguments=raw, known=known is not None)
    if known is not None and known != name:
        call = structs.replace(call, raw_name=name)
    return structs.replace(call, **judge([raw]).fields())


def _ending(text: str, calls: Sequence[ToolCall]) -> dict[str, Any]:
    reason = "tool_calls" if calls else "stop"
    flags = () if text or calls else ("empty_response",)
    return {"finish_reason": reason, "raw_finish_reason": reason, "flags": flags}


def _with_partial(error: ModelError, text: str, started: int) -> ModelError:
    if text or started:
        error.partial = Partial(text=text, tool_calls_started=started)
    return error


def _excerpt(messages: Sequence[Message]) -> str:
    if not messages:
        return "(none)"
    return f"{messages[-1].role}: {(messages[-1].content or '')[:60]!r}"
