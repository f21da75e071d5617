"""``erpilot ask``: one question, one run."""

from __future__ import annotations

import argparse
import sys

from .desk import Desk, history_of, resolve
from .problems import USAGE, Problem

LONGEST_QUESTION = 100_000
"""Characters."""


def ask(desk: Desk, parsed: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    return desk.run(_ask(desk, parsed, read_question(desk, parsed.text)))


async def _ask(desk: Desk, parsed: argparse.Namespace, question: str) -> int:
    from .runs import Following
    from .work import open_bench, profile_named, profile_of

    if parsed.profile is not None:
        profile_named(parsed.profile)
    async with desk.open_store() as store:
        session = await resolve(store, parsed.session) if parsed.session is not None else None
        history = await history_of(store, session) if session else []
        profile = parsed.profile or profile_of(history)
        writes = parsed.approve == "write"
        async with open_bench(desk, store, model=parsed.model, profile=profile, approve_writes=writes) as bench:
            following = Following(desk, bench, session, history, as_json=parsed.json, trace=parsed.trace)
            try:
                return await following.say(question)
            finally:
                if following.session_id is not None:
                    desk.terminal.note(desk.texts("session_hint", session=following.session_id), "quiet")


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
