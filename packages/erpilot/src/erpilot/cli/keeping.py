"""``erpilot erase``, ``backup`` and ``restore``: what becomes of data for good.

Invariant: what cannot be undone is said before it is done, and done only when a person says so; nothing is put in the
place of data that somebody is working with.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from .desk import Desk, resolve
from .home import LOG_NAME, prepare_home
from .problems import COMPLETED, USAGE, Problem
from .terminal import can_ask


def erase(desk: Desk, parsed: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    return desk.run(_erase(desk, parsed))


async def _erase(desk: Desk, parsed: argparse.Namespace) -> int:
    async with desk.open_store() as store:
        session = await resolve(store, parsed.session)
        head = (await store.session(session)).head
        heirs = [info.session_id for info in await store.sessions() if info.parent == session]
        desk.terminal.note(desk.texts("erase_warning", session=session, count=head), "wait")
        if heirs:
            desk.terminal.note(desk.texts("erase_heirs", heirs=", ".join(heirs)), "wait")
        if not parsed.yes and not await _agreed(desk, "erase_question", session=session):
            return COMPLETED
        await store.erase(session)
        verified = await store.verify(session)
    desk.terminal.note(desk.texts("erased_now", session=session, count=verified.head))
    return COMPLETED


def backup(desk: Desk, parsed: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    from .archive import back_up

    names = back_up(prepare_home(desk.home), Path(parsed.file))
    desk.terminal.note(desk.texts("backed_up", path=parsed.file, names=", ".join(names) or "-"))
    return COMPLETED


def restore(desk: Desk, parsed: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    return desk.run(_restore(desk, parsed))


async def _restore(desk: Desk, parsed: argparse.Namespace) -> int:
    from .archive import put_back, unpack

    home = prepare_home(desk.home)
    with tempfile.TemporaryDirectory(prefix="erpilot-") as name:
        folder = Path(name)
        files = unpack(Path(parsed.file), folder)
        await _check_log(folder)
        names = ", ".join(path.relative_to(folder).as_posix() for path in files)
        desk.terminal.note(desk.texts("restore_warning", home=home, names=names), "wait")
        if not parsed.yes and not await _agreed(desk, "restore_question"):
            return COMPLETED
        async with _nobody_drives(desk):
            put_back(folder, files, home)
    desk.terminal.note(desk.texts("restored", home=home))
    return COMPLETED


async def _check_log(folder: Path) -> None:
    """The sessions of the backup can be read by this program; raises ``StoreError``."""
    from agent_core.store.sqlite import SqliteStore

    if (folder / LOG_NAME).exists():
        store = SqliteStore(folder / LOG_NAME)
        try:
            await store.sessions()
        finally:
            await store.aclose()


@asynccontextmanager
async def _nobody_drives(desk: Desk) -> AsyncIterator[None]:
    """Holds the right to drive every session that is there; raises ``Busy`` where somebody else has it."""
    if not (desk.home / LOG_NAME).exists():
        yield
        return
    async with desk.open_store() as store:
        held = []
        try:
            for info in await store.sessions():
                if info.erased_at is None:
                    held.append(await store.acquire(info.session_id, seconds=600.0))
            yield
        finally:
            for lease in held:
                await store.release(lease)


async def _agreed(desk: Desk, question: str, **values: object) -> bool:
    """Asks for a clear yes; without a terminal there is nobody to ask."""
    if not can_ask():
        raise Problem(USAGE, "needs_yes")
    from .prompt import says_yes

    if await says_yes(desk.terminal, desk.texts(question, **values)):
        return True
    desk.terminal.note(desk.texts("left_as_it_was"))
    return False
