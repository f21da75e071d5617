"""``erpilot fork`` and ``rollback``: another way to go on, and going back.

Invariant: nothing is deleted. A rollback says which changes it leaves standing, and takes none of them back unasked.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from .desk import Desk, history_of, resolve
from .problems import COMPLETED, USAGE, Problem
from .terminal import can_ask

if TYPE_CHECKING:
    from agent_core.undo import Compensation

    from .lines import Lines


def fork(desk: Desk, parsed: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    system = None if parsed.system is None else _read_prompt(Path(parsed.system))
    return desk.run(_fork(desk, parsed, system))


async def _fork(desk: Desk, parsed: argparse.Namespace, system: str | None) -> int:
    from .ask import checked_question
    from .runs import Following
    from .work import commands_only, open_bench

    said = None if parsed.say is None else checked_question(desk, parsed.say)
    async with desk.open_store() as store:
        parent = await resolve(store, parsed.session)
        if said is None and system is None and parsed.model is None:
            child = await commands_only(desk, store).fork(parent, parsed.at)
            desk.terminal.line(child)
            desk.terminal.note(desk.texts("forked_hint", child=child, parent=parent, seq=parsed.at), "quiet")
            return COMPLETED
        history = await history_of(store, parent)
        async with open_bench(desk, store, parsed, history, session=parent, system=system) as bench:
            child = await bench.loop.fork(parent, parsed.at)
            desk.terminal.note(desk.texts("forked_hint", child=child, parent=parent, seq=parsed.at), "quiet")
            past = await history_of(store, child)
            following = Following(desk, bench, child, past, as_json=parsed.json, trace=parsed.trace)
            return await (following.go_on() if said is None else following.say(said))


def _read_prompt(path: Path) -> str:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        why = (error.strerror if isinstance(error, OSError) else None) or error
        raise Problem(USAGE, "file_unreadable", path=path, why=why) from None
    if not text.strip():
        raise Problem(USAGE, "file_empty", path=path)
    return text


def rollback(desk: Desk, parsed: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    return desk.run(_rollback(desk, parsed))


async def _rollback(desk: Desk, parsed: argparse.Namespace) -> int:
    from .lines import lines_of
    from .runs import Following
    from .work import open_bench

    async with desk.open_store() as store:
        session = await resolve(store, parsed.session)
        history = await history_of(store, session)
        async with open_bench(desk, store, parsed, history, session=session) as bench:
            plan = await bench.loop.undo_plan(session, parsed.to)
            await bench.loop.rollback(session, parsed.to, by=desk.person, reason=parsed.because)
            desk.terminal.note(desk.texts("rolled_back", session=session, seq=parsed.to))
            _tell(desk, lines_of(desk), plan)
            steps = [each for each in plan if each.undo is not None]
            if not steps:
                return COMPLETED
            if not parsed.undo and not (can_ask() and await _wants_undo(desk, len(steps))):
                desk.terminal.note(desk.texts("undo_hint", session=session, seq=parsed.to), "wait")
                return COMPLETED
            past = await history_of(store, session)
            following = Following(desk, bench, session, past, as_json=False, trace=parsed.trace)
            return await following.undo(steps)


def _tell(desk: Desk, lines: Lines, plan: Sequence[Compensation]) -> None:
    """What was changed since, and what would take each change back."""
    from .lines import arguments_text

    say, texts = desk.terminal.note, desk.texts
    if not plan:
        say(texts("plan_empty"), "quiet")
        return
    say(texts("plan", count=len(plan)), "wait")
    for each in plan:
        say(f"  {lines.cut(each.tool)}({lines.cut(arguments_text(each.arguments))}) · {texts('event', seq=each.seq)}")
        if each.undo is None:
            say(f"    {texts('plan_no_undo', why=lines.cut(each.why or ''))}", "wait")
        else:
            undo = json.dumps(each.undo.arguments, ensure_ascii=False)
            say(f"    {texts('plan_undo', call=f'{each.undo.tool}({lines.cut(arguments_text(undo))})')}")


async def _wants_undo(desk: Desk, count: int) -> bool:
    from .prompt import says_yes

    return await says_yes(desk.terminal, desk.texts("undo_question", count=count))
