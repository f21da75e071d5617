"""The offline model: a planner behind the same boundary as any model, for the shop questions that it knows.

Invariant: a function of messages and tool schemas. It calls only what is offered, and what it cannot read it says.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Sequence
from datetime import date
from typing import Any

import msgspec

from agent_core.context.tokens import estimate_message, estimate_text
from agent_core.messages import Message, ModelEvent, StreamEnd, TextDelta, ToolCall, ToolSchema, Usage
from agent_core.tools.finding import CALL_TOOL

from ..recalled import asks_what_was_said, recalled
from .answer import asking_back, tell, told_step, write, write_quotation, write_want
from .errands import errands, exporting
from .quoting import Quotation, quotation_steps, read_quotation
from .reading import MOST_CALLS, Asked
from .turns import Results, Step, conversation, day_of, meant, steps
from .wants import Want, followed, read_want


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
        if (quotation := read_quotation(turns)) is not None:
            return _for_quotation(quotation, turns[-1][1], offered)
        want = _wanted(turns, day_of(messages))
        unread, want = (want, None) if want is not None and want.left else (None, want)
        if want is not None and want.job["id"] == "export":
            return _for_export(want, turns, offered)
        if want is not None:
            return _for_job(want, turns[-1][1], offered)
        asked, results = meant(turns)
        found = recalled(next((each.content or "" for each in reversed(messages) if each.role == "user"), ""))
        told = tell(asked, "recalled", {"found": found}) if found else ""
        if found and asks_what_was_said(turns[-1][0]):
            return told
        if asked.problem and unread is not None and asked.problem in ("unclear", "other", "mixed", "place"):
            pieces = "」「".join(each[:40] for each in unread.left)
            said = tell(unread, "declined", {"problem": "words", "piece": pieces})
            return f"{said}\n{tell(unread, 'help', {})}"
        if asked.problem:
            said = tell(asked, "declined", {"problem": asked.problem, "piece": asked.piece[:40]})
            return said if asked.problem.startswith("which") else f"{said}\n{told or tell(asked, 'help', {})}"
        return _calls(asked, steps(asked, results), results, offered) or write(asked, results)
    except (KeyError, TypeError, AttributeError, ValueError):  # a result in another form than the tools' own
        return tell(asked, "error", {"what": "answer", "said": ""})


def _wanted(turns: Sequence[tuple[str, Results]], today: date | None) -> Want | None:
    """The job that the last message asks for, by itself or as a turn of the one before."""
    before: Want | None = None
    for text, _ in turns:
        asked = read_want(text, today, before)
        if (asked is None or asked.left) and before is not None and not before.left:
            asked = followed(text, before, today) or asked
        before = asked
    return before


def _for_quotation(asked: Quotation, results: Results, offered: set[str]) -> list[Step] | str:
    """The next move of a quotation: what is missing, the calls, or what came of them."""
    if asked.missing:
        return tell(asked, "quotation_missing", {"piece": asked.piece})
    steps = quotation_steps(asked, results)
    return (_calls(asked, steps, results, offered) if steps else "") or write_quotation(asked, results)


def _for_job(want: Want, results: Results, offered: set[str]) -> list[Step] | str:
    """The next move of a job: what is asked first, its calls, or what came of them."""
    if want.problem:
        return asking_back(want)
    return _calls(want, errands(want, results), results, offered) or write_want(want, results)


def _for_export(want: Want, turns: Sequence[tuple[str, Results]], offered: set[str]) -> list[Step] | str:
    """The table that was shown last, as a file."""
    shown = [str(result["table"]) for _, results in turns for result in results.values() if "table" in result]
    if not shown or "export_table" not in offered | {CALL_TOOL} & offered:
        return tell(want, "export_nothing", {})
    step = exporting(want.text_of("export"), shown[-1], chinese=want.chinese)
    return _calls(want, [step], turns[-1][1], offered) or told_step(want, step, turns[-1][1][step.key])


def _calls(asked: Asked | Want | Quotation, steps: list[Step], results: Results, offered: set[str]) -> list[Step] | str:
    """The calls that have no result yet; through ``call_tool``, where tools are not offered themselves."""
    wanted = {step.key: step for step in steps if step.key not in results}
    missing = {step.tool for step in wanted.values()} - offered
    if missing and CALL_TOOL not in offered:
        return tell(asked, "no_tool", {"tool": ", ".join(sorted(missing))})
    return [
        step if step.tool in offered else Step(CALL_TOOL, {"name": step.tool, "arguments": step.arguments})
        for step in list(wanted.values())[:MOST_CALLS]
    ]
