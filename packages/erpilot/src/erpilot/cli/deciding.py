"""Puts the open questions of a session to the person, one after the other, and records each answer.

Invariant: an answer is for the question that was on the screen: when that is not the open one any more, nothing is
decided.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from agent_core import events as ev
from agent_core.errors import Refused
from agent_core.messages import ToolCall
from agent_core.trace.transcript import AnyItem, Question, Remark, Use

from .answers import Answer
from .ask_person import Undecided, ask_person
from .desk import Desk
from .editing import Check
from .lines import Line, Lines
from .previews import name, preview_lines, rows
from .work import Bench


async def put_questions(desk: Desk, bench: Bench, session: str, questions: Sequence[Question]) -> bool:
    """Asks each of them; False as soon as one is left open."""
    for question in questions:
        try:
            answer = await ask_person(desk, question, _checked_by(bench, question))
        except Undecided:
            return False
        with _said_if_late(desk):
            await decide(desk, bench, session, question, answer)
    return True


async def decide(desk: Desk, bench: Bench, session: str, question: Question, answer: Answer) -> None:
    """Records an answer. Raises ``Refused`` when it comes too late, or the question has become another one."""
    await bench.loop.decide(
        session,
        question.call_id,
        approve=answer.approve,
        reason=answer.reason,
        arguments=answer.arguments,
        always=answer.always,
        by=desk.person,
        channel="cli",
        digest=question.digest or None,
    )


def _checked_by(bench: Bench, question: Question) -> Check:
    def check(text: str) -> dict[str, Any] | str:
        judged = bench.loop.registry.judge(ToolCall(question.call_id, question.tool, text.strip()))
        if isinstance(judged, ev.Fault):
            return judged.message
        values: dict[str, Any] = json.loads(judged.arguments)
        return values

    return check


@contextmanager
def _said_if_late(desk: Desk) -> Iterator[None]:
    """A decision that comes too late is said; the run then asks anew or goes on."""
    try:
        yield
    except Refused as error:
        desk.terminal.note(desk.texts("refused", why=error), "error")


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
