"""``erpilot ask``: one question, one run."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from .desk import Desk, history_of, resolve
from .problems import COMPLETED, USAGE, Problem

if TYPE_CHECKING:
    from .work import Bench

LONGEST_QUESTION = 100_000
"""Characters."""


def ask(desk: Desk, parsed: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    return desk.run(_ask(desk, parsed, read_question(desk, parsed.text)))


async def _ask(desk: Desk, parsed: argparse.Namespace, question: str) -> int:
    from .runs import Following
    from .work import open_bench, profile_named

    if parsed.profile is not None:
        profile_named(parsed.profile)
    if parsed.queue and parsed.session is None:
        raise Problem(USAGE, "queue_needs_session")
    async with desk.open_store() as store:
        session = await resolve(store, parsed.session) if parsed.session is not None else None
        history = await history_of(store, session) if session else []
        async with open_bench(desk, store, parsed, history, session=session, profile=parsed.profile) as bench:
            if parsed.queue and session is not None:
                return await _queue(desk, bench, session, question)
            following = Following(desk, bench, session, history, as_json=parsed.json, trace=parsed.trace)
            try:
                return await following.say(question)
            finally:
                if following.session_id is not None:
                    desk.terminal.note(desk.texts("session_hint", session=following.session_id), "quiet")


async def _queue(desk: Desk, bench: Bench, session: str, question: str) -> int:
    """Leaves the question for the run that another process drives."""
    if not (await bench.loop.state(session)).running:
        raise Problem(USAGE, "queue_no_run", session=session)
    await bench.loop.queue(session, question, by=desk.person, context=bench.today())
    desk.terminal.note(desk.texts("queue_left", session=session))
    return COMPLETED


def read_question(desk: Desk, text: str) -> str:
    """The question from the command line, or from stdin for ``-``; refused with exit code 2 when it is no text."""
    if text == "-":
        if sys.stdin is None:
            raise Problem(USAGE, "question_empty")
        if sys.stdin.isatty():
            desk.terminal.note(desk.texts("stdin_is_terminal"), "quiet")
        raw = sys.stdin.buffer.read(4 * LONGEST_QUESTION + 4)
        try:
            text = raw.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            if len(raw) > 4 * LONGEST_QUESTION:
                raise Problem(USAGE, "question_long", limit=LONGEST_QUESTION) from None
            raise Problem(USAGE, "question_binary", why=desk.texts("why_utf8", place=error.start + 1)) from None
    return checked_question(desk, text)


def checked_question(desk: Desk, text: str) -> str:
    """The question, if it is one."""
    if "\0" in text:
        raise Problem(USAGE, "question_binary", why=desk.texts("why_nul"))
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise Problem(USAGE, "question_binary", why=desk.texts("why_surrogate"))
    if len(text) > LONGEST_QUESTION:
        raise Problem(USAGE, "question_long", limit=LONGEST_QUESTION)
    if not text.strip():
        raise Problem(USAGE, "question_empty")
    return text
