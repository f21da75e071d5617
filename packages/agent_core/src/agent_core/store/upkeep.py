"""Copies of a home's databases and back, while programs use them.

Invariant: every copy is one consistent state of its database, all of a home's of the same moment; nobody who drove a
session before a restore can append to it afterwards.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import time
from collections.abc import Sequence
from contextlib import ExitStack, closing
from pathlib import Path

from ..errors import Busy, StoreError
from .liveness import describe, is_dead
from .schema import check_version

_MAGIC = b"SQLite format 3\0"
_LEAP = 1000
"""How far the generations of leases are moved on by a restore, so that one taken meanwhile is void as well."""


def databases_of(home: Path) -> list[Path]:
    """The SQLite files of a folder."""
    return [path for path in sorted(home.glob("*.db")) if path.is_file() and _is_database(path)]


def backup_home(home: Path, folder: Path) -> list[Path]:
    """Copies every database of ``home``, and its settings, into a new ``folder`` for its owner alone; returns the
    copies. Raises ``StoreError``.
    """
    sources = databases_of(home)
    if not sources:
        raise StoreError(f"There is no database in {home}.")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise StoreError(f"{folder} is not empty; name a new folder for each backup.")
        with ExitStack() as stack:
            opened = [stack.enter_context(closing(_open(path))) for path in sources]
            for db in opened:  # from here on each shows the state of this moment, whatever others write
                db.execute("BEGIN")
                db.execute("SELECT count(*) FROM sqlite_master").fetchone()
            copies = [_copied(db, folder / path.name) for db, path in zip(opened, sources, strict=True)]
        for settings in sorted(home.glob("*.toml")):
            _private(folder / settings.name)
            shutil.copyfile(settings, folder / settings.name)
            copies.append(folder / settings.name)
    except (OSError, sqlite3.Error) as error:
        raise StoreError(f"{folder} cannot be written: {error}.") from None
    return copies


def restore_home(folder: Path, home: Path) -> list[Path]:
    """Puts the databases of a backup into ``home`` in the place of those that are there; returns them. Settings stay.

    Raises ``Busy`` while a session is being driven, ``StoreError`` when the backup is damaged, or newer than this
    program; nothing is changed then.
    """
    sources = databases_of(folder)
    if not sources:
        raise StoreError(f"There is no database in {folder}.")
    drafts: list[tuple[Path, Path]] = []
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        for source in sources:
            target, draft = home / source.name, home / f".{source.name}.restoring"
            draft.unlink(missing_ok=True)
            drafts.append((draft, target))
            with closing(_open(source)) as db:
                _copied(db, draft)
            with closing(_open(draft)) as db:
                _renew_leases(db, draft, target)
        for draft, target in drafts:
            with closing(_open(draft)) as db:
                _copied(db, target)
    except (OSError, sqlite3.Error) as error:
        raise StoreError(f"{home} cannot be restored from {folder}: {error}.") from None
    finally:
        for draft, _ in drafts:
            _remove(draft)
    return [target for _, target in drafts]


def _renew_leases(draft: sqlite3.Connection, path: Path, target: Path) -> None:
    """In a copy of a log: no lease is held, and each generation is beyond any that ``target`` has given out."""
    if not _is_log(draft):
        return
    check_version(draft, path)
    known: dict[str, int] = {}
    if target.exists():
        with closing(_open(target)) as db:
            if _is_log(db):
                known = _generations(db)
    query = "UPDATE sessions SET holder = NULL, held_until = 0, generation = max(generation, ?) + ? WHERE id = ?"
    names = [name for (name,) in draft.execute("SELECT id FROM sessions").fetchall()]
    draft.executemany(query, [(known.get(name, 0), _LEAP, name) for name in names])


def _generations(db: sqlite3.Connection) -> dict[str, int]:
    rows: Sequence[tuple[str, int, str | None, float]] = db.execute(
        "SELECT id, generation, holder, held_until FROM sessions"
    ).fetchall()
    for session_id, _, holder, until in rows:
        if holder is not None and time.time() < until and not is_dead(holder):
            raise Busy(session_id, describe(holder))
    return {session_id: generation for session_id, generation, _, _ in rows}


def _is_database(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


def _is_log(db: sqlite3.Connection) -> bool:
    names = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    return {"sessions", "events"} <= names


def _open(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, timeout=30.0, isolation_level=None)


def _copied(db: sqlite3.Connection, target: Path) -> Path:
    _private(target)
    with closing(_open(target)) as copy:
        db.backup(copy)
        found = copy.execute("PRAGMA quick_check").fetchone()[0]
        if found != "ok":
            raise StoreError(f"{target.name} is damaged: {found}.")
    return target


def _private(path: Path) -> None:
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))


def _remove(path: Path) -> None:
    for name in (path.name, f"{path.name}-wal", f"{path.name}-shm"):
        path.with_name(name).unlink(missing_ok=True)
