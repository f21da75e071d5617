"""The offline model: a planner behind the same boundary as any model, for the shop questions that it knows.

Invariant: a function of messages and tool schemas. It calls only what is offered, and what it cannot read it says.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Sequence
from typing import Any

import msgspec

from agent_core.context.tokens import estimate_message, estimate_text
from agent_core.messages import Message, ModelEvent, StreamEnd, TextDelta, ToolCall, ToolSchema, Usage

from ..recalled import asks_what_was_said, recalled
from .answer import tell, write
from .reading import MOST_CALLS, Asked
from .turns import Step, conversation, meant, steps


class OfflineModel:
    """Answers without a language model. Costs nothing."""

    name = "offline"
    language_model = False
    """Nothing that could sum a conversation up is asked of it."""

    async def stream_chat(
        self, messages: Sequence[Message], tools: Sequence[ToolSchema] = (), **options: Any
    ) -> AsyncIterator[ModelEvent]:
        """One turn: the calls that can be made by now, or the answer in small pieces. ``options`` change nothing."""
        move = next_move(messages, {tool.name for tool in tools})
        place = hashlib.sha256(msgspec.json.encode(messages)).hexdigest()[:12]  # no other turn has the same messages
        calls = [
            ToolCall(f"offline-{place}-{at}", step.tool, json.dumps(step.arguments, ensure_ascii=False))
            for at, step in enumerate(move if isinstance(move, list) else ())
        ]
        said = Message("assistant", None if calls else str(move), tuple(calls))
        for at in range(0, len(said.content or ""), 6):
            yield TextDelta(text=str(said.content)[at : at + 6])
            await asyncio.sleep(0)
        for call in calls:
            yield call
        sent = sum(map(estimate_message, messages)) + sum(estimate_text(str(tool)) for tool in tools)
        written = estimate_message(said)
        yield StreamEnd(Usage(sent, written, sent + written), "tool_calls" if calls else "stop")


def next_move(messages: Sequence[Message], offered: set[str]) -> list[Step] | str:
    """The calls to make now, or the text of the answer."""
    asked = Asked(True)
    try:
        turns = conversation(messages)
        asked, results = meant(turns)
        found = recalled(next((each.content or "" for each in reversed(messages) if each.role == "user"), ""))
        told = tell(asked, "recalled", {"found": found}) if found else ""
        if found and asks_what_was_said(turns[-1][0]):
            return told
        if asked.problem:
            said = tell(asked, "declined", {"problem": asked.problem, "piece": asked.piece[:40]})
            return said if asked.problem.startswith("which") else f"{said}\n{told or tell(asked, 'help', {})}"
        wanted = {step.key: step for step in steps(asked, results) if step.key not in results}
        if missing := {step.tool for step in wanted.values()} - offered:
            return tell(asked, "no_tool", {"tool": ", ".join(sorted(missing))})
        return list(wanted.values())[:MOST_CALLS] or write(asked, results)
    except (KeyError, TypeError, AttributeError, ValueError):  # a result in another form than the tools' own
        return tell(asked, "error", {"what": "answer", "said": ""})
