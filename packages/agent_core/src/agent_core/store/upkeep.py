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
        copies = copy_together([(path, folder / path.name) for path in sources])
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
            _refuse_while_driven(target)
            draft.unlink(missing_ok=True)
            drafts.append((draft, target))
            copy_together([(source, draft)])
            renew_leases(draft, target)
        copy_together(drafts)
    except (OSError, sqlite3.Error) as error:
        raise StoreError(f"{home} cannot be restored from {folder}: {error}.") from None
    finally:
        for draft, _ in drafts:
            _remove(draft)
    return [target for _, target in drafts]


def copy_together(pairs: Sequence[tuple[Path, Path]]) -> list[Path]:
    """Copies databases as they are at one moment, each into the place of another one or of none; returns the copies.
    Raises ``StoreError`` for a damaged one, and what SQLite and the file system raise.
    """
    with ExitStack() as stack:
        opened = [stack.enter_context(closing(_open(source))) for source, _ in pairs]
        with ExitStack() as still:
            for source, _ in pairs if len(pairs) > 1 else ():  # nobody writes to any of them until all are looked at
                still.enter_context(closing(_open(source))).execute("BEGIN IMMEDIATE")
            for db in opened:  # from here on each shows the state of this moment, whatever others write
                db.execute("BEGIN")
                db.execute("SELECT count(*) FROM sqlite_master").fetchone()
        return [_copied(db, target) for db, (_, target) in zip(opened, pairs, strict=True)]


def renew_leases(copy: Path, target: Path) -> None:
    """Prepares a copy of a log to take the place of ``target``: no lease is held in it, and each generation is beyond
    any that ``target`` has given out. Other databases are left alone.
    """
    with closing(_open(copy)) as db:
        if not _is_log(db):
            return
        check_version(db, copy)
        known = {session_id: generation for session_id, generation, _, _ in _leases(target)}
        query = "UPDATE sessions SET holder = NULL, held_until = 0, generation = max(generation, ?) + ? WHERE id = ?"
        names = [name for (name,) in db.execute("SELECT id FROM sessions").fetchall()]
        db.executemany(query, [(known.get(name, 0), _LEAP, name) for name in names])


def _leases(path: Path) -> list[tuple[str, int, str | None, float]]:
    """Session, generation, holder and end of each lease of a log; of any other file none."""
    if not path.exists():
        return []
    with closing(_open(path)) as db:
        if not _is_log(db):
            return []
        return db.execute("SELECT id, generation, holder, held_until FROM sessions").fetchall()


def _refuse_while_driven(path: Path) -> None:
    for session_id, _, holder, until in _leases(path):
        if holder is not None and time.time() < until and not is_dead(holder):
            raise Busy(session_id, describe(holder))


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
