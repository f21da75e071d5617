"""``erpilot resume``, ``approve``, ``deny`` and ``resolve``: going on with a session that stopped, or waits for a
person.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from .desk import Desk, history_of
from .desk import resolve as session_named
from .problems import USAGE, Problem

if TYPE_CHECKING:
    from agent_core.trace.transcript import AnyItem, Question


def resume(desk: Desk, parsed: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    return desk.run(_go_on(desk, parsed, None))


def approve(desk: Desk, parsed: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    return desk.run(_go_on(desk, parsed, True))


def deny(desk: Desk, parsed: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    return desk.run(_go_on(desk, parsed, False))


def resolve(desk: Desk, parsed: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    return desk.run(_go_on(desk, parsed, None))


async def _go_on(desk: Desk, parsed: argparse.Namespace, decision: bool | None) -> int:
    from .answers import Answer
    from .deciding import decide
    from .lines import lines_of
    from .runs import Following
    from .work import open_bench

    async with desk.open_store() as store:
        session = await session_named(store, parsed.session)
        history = await history_of(store, session)
        question = None if decision is None else _question(session, history, parsed.call)
        if parsed.command == "resolve":
            _check_doubt(session, history, parsed.call)
        async with open_bench(desk, store, parsed, history, session=session) as bench:
            if question is not None and decision is not None:
                for text, style in lines_of(desk).preview(question):
                    desk.terminal.note(text, style)
                await decide(desk, bench, session, question, Answer(decision, parsed.because))
            if parsed.command == "resolve":
                outcome = parsed.outcome.replace("-", "_")
                await bench.loop.resolve(session, parsed.call, outcome, by=desk.person, content=parsed.content)
            following = Following(desk, bench, session, history, as_json=parsed.json, trace=parsed.trace)
            return await following.go_on()


def _check_doubt(session: str, history: list[AnyItem], call: str) -> None:
    from .doubts import doubtful

    known = doubtful(history)
    if not known:
        raise Problem(USAGE, "no_doubt", session=session)
    if call not in [use.call_id for use in known]:
        named = ", ".join(f"{use.call_id} ({use.tool})" for use in known)
        raise Problem(USAGE, "no_such_doubt", session=session, call=call, known=named)


def _question(session: str, history: list[AnyItem], call: str | None) -> Question:
    from .render import waiting

    questions = waiting(history)
    if not questions:
        raise Problem(USAGE, "no_question", session=session)
    if call is None and len(questions) == 1:
        return questions[0]
    found = [question for question in questions if question.call_id == call]
    if not found:
        known = ", ".join(f"{question.call_id} ({question.tool})" for question in questions)
        raise Problem(USAGE, "no_such_call", session=session, call=call or "", known=known)
    return found[0]
