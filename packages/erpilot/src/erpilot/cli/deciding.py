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
from agent_core.trace.transcript import Question

from .answers import Answer
from .ask_person import Undecided, ask_person
from .desk import Desk
from .editing import Check
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
