"""``erpilot chat``: a conversation in the terminal, one session, as many turns as wanted."""

from __future__ import annotations

import argparse
import asyncio
import re
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

from agent_core.errors import AgentError

from .desk import Desk, history_of, resolve
from .problems import INTERRUPTED, USAGE, Problem, explain
from .terminal import can_ask

if TYPE_CHECKING:
    from .runs import Following


def chat(desk: Desk, parsed: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    if not can_ask():
        raise Problem(USAGE, "chat_needs_terminal")
    return desk.run(_chat(desk, parsed))


async def _chat(desk: Desk, parsed: argparse.Namespace) -> int:
    from .prompt import prompt_line
    from .render import waiting
    from .runs import Following
    from .work import open_bench, profile_named

    if parsed.profile is not None:
        profile_named(parsed.profile)
    async with desk.open_store() as store:
        session = await resolve(store, parsed.session) if parsed.session is not None else None
        history = await history_of(store, session) if session else []
        async with open_bench(desk, store, parsed, history, session=session, profile=parsed.profile) as bench:
            desk.terminal.note(desk.texts("chat_welcome", model=bench.choice.name), "quiet")
            following = Following(desk, bench, session, history, as_json=False, trace=parsed.trace, listen=True)
            if waiting(history):  # what was left open is asked before anything new is said
                await _turn(desk, following, None)
            while True:
                try:
                    text = await prompt_line("> ", remember=True)
                except KeyboardInterrupt:
                    desk.terminal.note(desk.texts("chat_how_to_leave"), "quiet")
                    continue
                except EOFError:
                    break
                following.left_over.append(text)
                while following.left_over:
                    if (said := following.left_over.pop(0)).strip():
                        await (_turn if command_in(said) is None else _command)(desk, following, said)
            if following.session_id is not None:
                desk.terminal.note(desk.texts("chat_goodbye", session=following.session_id), "quiet")
    return 0


def command_in(text: str) -> str | None:
    """What is asked of the program and not of the model, if the line does: a word behind a slash; the commands there
    are also with something behind them.
    """
    found = re.fullmatch(r"\s*(?:(/(?:context|compact))\s.*|(/[a-z]+))\s*", text)
    return None if found is None else found[1] or found[2]


async def _command(desk: Desk, following: Following, text: str) -> None:
    """Does what is asked of the program."""
    from .context import compact, print_context

    command, session = command_in(text), following.session_id
    try:
        if command not in ("/context", "/compact"):
            desk.terminal.note(desk.texts("chat_commands", command=command), "wait")
        elif session is None:
            desk.terminal.note(desk.texts("chat_no_session"), "quiet")
        elif command == "/context":
            await print_context(desk, following.bench.store, session)
        else:
            await _until_stopped(desk, compact(desk, following.bench, session))
    except (AgentError, Problem, asyncio.CancelledError) as error:
        desk.terminal.note(explain(error, desk.texts)[1], "error")


async def _until_stopped(desk: Desk, work: Coroutine[Any, Any, None]) -> None:
    """Ctrl-C ends the work and nothing else."""
    from .runs import interrupts

    task = asyncio.create_task(work)

    async def stop() -> None:
        task.cancel()

    with interrupts(stop):
        desk.terminal.note(desk.texts("compacting"), "quiet")
        await task


async def _turn(desk: Desk, following: Following, text: str | None) -> None:
    """One question, or going on without one; whatever goes wrong with it is said, and the conversation goes on."""
    from .ask import checked_question

    try:
        work = following.go_on() if text is None else following.say(checked_question(desk, text))
        await asyncio.create_task(work)  # a task of its own: an impatient Ctrl-C ends it and nothing else
    except (Exception, asyncio.CancelledError) as error:
        code, sentence = explain(error, desk.texts)
        if desk.verbose and code not in (USAGE, INTERRUPTED):
            from .logs import log_failure

            log_failure(error)
        desk.terminal.note(sentence, "error")
