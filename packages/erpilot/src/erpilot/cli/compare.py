"""``erpilot diff``: where two sessions part, side by side, and what the difference cost and changed.

Invariant: what both share is told once; nothing is run, and no row is left out.
"""

from __future__ import annotations

import argparse
from itertools import zip_longest
from typing import TYPE_CHECKING

from agent_core import events as ev

from .desk import Desk, resolve
from .lines import Lines, arguments_text, failure, lines_of, summary
from .problems import COMPLETED

if TYPE_CHECKING:
    from agent_core.diff import Diff, Effect

PIPED = 160
"""Columns where there is no terminal."""


def diff(desk: Desk, parsed: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    return desk.run(_diff(desk, parsed))


async def _diff(desk: Desk, parsed: argparse.Namespace) -> int:
    from agent_core.diff import diff_sessions

    async with desk.open_store() as store:
        a, b = await resolve(store, parsed.a), await resolve(store, parsed.b)
        found = await diff_sessions(store, a, b)
    lines, say = lines_of(desk), desk.terminal.line
    say(desk.texts("diff_common", seq=found.common) if found.common else desk.texts("diff_nothing_common"), "quiet")
    if not found.rows:
        say(desk.texts("diff_equal"))
    else:
        for row in side_by_side(found, lines, desk.terminal.wide or PIPED):
            say(row)
    desk.terminal.line("")
    _sums(desk, lines, found)
    return COMPLETED


def side_by_side(found: Diff, lines: Lines, width: int) -> list[str]:
    """Two columns with a mark between them: ``=`` the same, ``|`` different, ``<`` and ``>`` on one side only."""
    from rich.cells import set_cell_size

    from .previews import wrapped

    room = max((width - 3) // 2, 20)
    rows = [("", found.a.session_id, found.b.session_id)]
    for row in found.rows:
        left, right = _told(row.a, lines), _told(row.b, lines)
        mark = "=" if row.same else "<" if row.b is None else ">" if row.a is None else "|"
        rows.append((mark, left, right))
    shown = []
    for mark, left, right in rows:
        parts = zip_longest(wrapped(left, room), wrapped(right, room), fillvalue="")
        for number, (one, other) in enumerate(parts):
            shown.append(f"{set_cell_size(one, room)} {mark if not number else '':1} {other}".rstrip())
    return shown


def _told(item: ev.Recorded | None, lines: Lines) -> str:
    """An event in one line."""
    return "" if item is None else f"{item.seq} {lines.cut(' '.join(_words(item.event, lines).split()))}"


def _words(event: ev.AnyEvent, lines: Lines) -> str:
    texts = lines.texts
    match event:
        case ev.UserMessage():
            said = " ".join(part.text if isinstance(part, ev.TextPart) else part.name for part in event.content)
            return f"{texts('you')}: {said}"
        case ev.AssistantMessage():
            calls = [f"{call.name}({arguments_text(call.arguments)})" for call in event.tool_calls]
            return " ".join([*filter(None, (event.content, event.refusal)), *calls])
        case ev.ToolCallFinished():
            gist = summary(event.content) if event.ok else failure(event.content, None)
            return f"{'✓' if event.ok else '✗'} {event.tool} → {gist}"
        case ev.ApprovalDecided():
            return " ".join(filter(None, (texts(f"decided_{event.decision}", by=event.by), event.reason)))
        case ev.OutcomeResolved():
            return texts("remark_OutcomeResolved", call=event.call_id, outcome=event.outcome, by=event.by)
        case ev.GuardTripped():
            return texts("remark_GuardTripped", guard=event.guard, action=texts(f"action_{event.action}"))
        case ev.ContextCompacted():
            how = texts.get(f"how_{event.kind}", event.kind)
            return texts("remark_ContextCompacted", how=how, from_=event.from_seq, to=event.to_seq)
        case ev.RolledBack():
            return texts("remark_RolledBack", by=event.by, to=event.to_seq)
        case ev.LoopEnd():
            return texts.get(f"reason_{event.reason}", event.reason)
        case _:
            return type(event).__name__


def _sums(desk: Desk, lines: Lines, found: Diff) -> None:
    texts, a, b = desk.texts, found.a, found.b
    tokens = [(side.usage.prompt_tokens or 0) + (side.usage.completion_tokens or 0) for side in (a, b)]
    rows = [
        [texts("sum_steps"), str(a.steps), str(b.steps), _more(b.steps - a.steps)],
        [texts("sum_tokens"), f"{tokens[0]:,}", f"{tokens[1]:,}", _more(found.tokens)],
    ]
    for currency, more in found.costs.items():
        spent = [lines.money.text(side.costs.get(currency, more * 0), currency, texts) for side in (a, b)]
        sign = "-" if more < 0 else "+" if more > 0 else ""
        rows.append(
            [texts("sum_cost"), *spent, "0" if not more else sign + lines.money.text(abs(more), currency, texts)]
        )
    if not found.costs:
        rows.append([texts("sum_cost"), texts("cost_unknown"), texts("cost_unknown"), ""])
    rows.append(
        [texts("sum_effects"), str(len(a.effects)), str(len(b.effects)), _more(len(b.effects) - len(a.effects))]
    )
    desk.terminal.table([texts("sum_since"), a.session_id, b.session_id, texts("sum_difference")], rows)
    for session, effects in ((a.session_id, found.only_in_a), (b.session_id, found.only_in_b)):
        for effect in effects:
            desk.terminal.line(texts("effect_only", session=session, what=_effect(effect, lines)), "wait")


def _more(count: int) -> str:
    return f"{count:+,}" if count else "0"


def _effect(effect: Effect, lines: Lines) -> str:
    doubt = "" if effect.outcome == "done" else f" · {lines.texts('effect_uncertain')}"
    return f"{lines.cut(effect.tool)}({lines.cut(arguments_text(effect.arguments))}){doubt}"
