"""``erpilot export``, ``import-session`` and ``trace export``: sessions as files, and back.

Invariant: a file that is something else than an earlier export is never written over.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from .desk import Desk, resolve
from .problems import COMPLETED, STORAGE, USAGE, Problem


def export(desk: Desk, parsed: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    return desk.run(_export(desk, parsed))


async def _export(desk: Desk, parsed: argparse.Namespace) -> int:
    from agent_core.errors import Refused
    from agent_core.store.export import export_session, is_export

    from .models import known_secrets

    async with desk.open_store() as store:
        session = await resolve(store, parsed.session)
        head = (await store.session(session)).head
        if parsed.until is not None and not 1 <= parsed.until <= head:
            raise Refused(f"Session {session} has the events 1 to {head}; {parsed.until} is none of them.")
        path = _free(parsed.output or f"{session}.jsonl", is_export)
        secrets = known_secrets(desk.settings, desk.environment)
        header = await export_session(store, session, path, until=parsed.until, redact=parsed.redact, secrets=secrets)
    desk.terminal.line(str(path))
    key = "exported_redacted" if header.redacted else "exported"
    desk.terminal.note(desk.texts(key, session=session, count=header.head, head=f"{header.head}:{header.head_hash}"))
    return COMPLETED


def import_session(desk: Desk, parsed: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    return desk.run(_import(desk, Path(parsed.file)))


async def _import(desk: Desk, path: Path) -> int:
    from agent_core.errors import Conflict
    from agent_core.store import export as files

    if not files.is_export(path):
        raise Problem(USAGE, "no_export", path=path)
    async with desk.open_store() as store:
        try:
            session = await files.import_session(store, path)
        except Conflict as error:
            raise Problem(STORAGE, "import_conflict", session=error.session_id) from None
    desk.terminal.line(session)
    desk.terminal.note(desk.texts("imported", session=session), "quiet")
    return COMPLETED


def trace(desk: Desk, parsed: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    return desk.run(_trace(desk, parsed))


async def _trace(desk: Desk, parsed: argparse.Namespace) -> int:
    from agent_core.trace.jsonl import is_trace, trace_session

    async with desk.open_store() as store:
        session = await resolve(store, parsed.session)
        path = _free(parsed.output or f"{session}.trace.jsonl", is_trace)
        await trace_session(store, session, path)
    desk.terminal.line(str(path))
    return COMPLETED


def _free(written: str, is_ours: Callable[[Path], bool]) -> Path:
    """The path, if writing there loses nothing but an earlier file of this kind."""
    path = Path(written)
    try:
        if path.is_dir():
            raise Problem(USAGE, "path_is_folder", path=path)
        if path.exists() and path.stat().st_size and not is_ours(path):
            raise Problem(USAGE, "path_taken", path=path)
    except (OSError, ValueError) as error:
        raise Problem(USAGE, "path_unusable", path=path, why=error) from None
    return path
