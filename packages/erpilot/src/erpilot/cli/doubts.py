"""Calls whose outcome is not known: what was attempted, how to find out, and how to say what was found.

Invariant: derived from the transcript alone; nothing is said to have happened or not.
"""

from __future__ import annotations

from collections.abc import Sequence

from agent_core import events as ev
from agent_core.trace.transcript import AnyItem, Question, Remark, Use

from .desk import Desk
from .lines import Line, Lines
from .previews import name, preview_lines, rows


def doubtful(history: Sequence[AnyItem]) -> list[Use]:
    """The calls of the newest step that made any whose outcome is not known, and nobody has looked up yet."""
    uses = [item for item in history if isinstance(item, Use)]
    last = max((use.step for use in uses), default=0)
    resolved = {
        item.facts.get("call"): item.seq
        for item in history
        if isinstance(item, Remark) and item.about == "OutcomeResolved"
    }
    unknown = [use for use in uses if use.step == last and use.error == "uncertain"]
    return [use for use in unknown if resolved.get(use.call_id, 0) < use.seq]


def doubt_lines(desk: Desk, lines: Lines, session: str, history: Sequence[AnyItem]) -> list[Line]:
    """What was attempted, with which arguments, how to find out what became of it, and how to say so."""
    from erpilot.toolsets import words

    texts, told = desk.texts, list[Line]()
    questions = {item.call_id: item for item in history if isinstance(item, Question)}
    for use in doubtful(history):
        question = questions.get(use.call_id) or Question(
            seq=use.seq, call_id=use.call_id, tool=use.tool, tier="", arguments=use.arguments, preview=ev.Preview("")
        )
        begun = "" if use.started_at is None else desk.time(use.started_at)
        target = "" if question.target is None else texts("for_target", target=name(question.target, texts))
        told.append((texts("doubt", tool=lines.cut(use.tool), target=target, begun=begun), "wait"))
        told += [(row, "wait") for row in rows([line for line in preview_lines(question, texts) if line.strip()], None)]
        told.append((words.how_to_check(use.tool, texts.lang) or texts("doubt_look"), "wait"))
        told.append((texts("doubt_resolve", session=session, call=lines.cut(use.call_id)), "plain"))
    return told
