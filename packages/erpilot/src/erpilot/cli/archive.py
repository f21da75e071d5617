"""A data folder as one file, and back, while it is in use.

Invariant: the databases are copied through SQLite, all as they are at one moment; a backup is looked through whole
before anything of it takes the place of what is there, and nothing in it can lead outside the folder.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path, PurePosixPath

from agent_core.store.upkeep import copy_together, renew_leases

from .problems import STORAGE, USAGE, Problem

_SQLITE = b"SQLite format 3\0"
_BESIDE = ("-wal", "-shm", "-journal")
"""Endings of files that belong to an open database: its copy needs none of them."""


def back_up(home: Path, target: Path) -> list[str]:
    """Writes every file of ``home`` to ``target``, which must not exist; returns their names. Mode 0600."""
    if target.exists():
        raise Problem(USAGE, "backup_exists", path=target)
    with tempfile.TemporaryDirectory(prefix="erpilot-") as name:
        draft = Path(name) / "backup.tar.gz"
        try:
            members = list(_files(home))
            databases = [path for path in members if _is_database(path)]
            copied = copy_together([(path, Path(name) / str(number)) for number, path in enumerate(databases)])
            copies = dict(zip(databases, copied, strict=True))
            with tarfile.open(draft, "w:gz") as archive:
                for path in members:
                    archive.add(copies.get(path, path), _member(home, path))
            handle = os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
            with os.fdopen(handle, "wb") as out, open(draft, "rb") as source:
                shutil.copyfileobj(source, out)
                out.flush()
                os.fsync(out.fileno())
        except (OSError, tarfile.TarError, sqlite3.Error) as error:
            raise Problem(STORAGE, "backup_failed", path=target, why=_why(error)) from None
    return [_member(home, path) for path in members]


def unpack(source: Path, folder: Path) -> list[Path]:
    """The files of a backup in ``folder``, checked: plain files under names of their own, databases whole."""
    found = []
    try:
        with tarfile.open(source, "r:gz") as archive:
            for member in archive:
                name = PurePosixPath(member.name)
                if not member.isfile() or name.is_absolute() or ".." in name.parts or "\\" in member.name:
                    raise Problem(USAGE, "backup_strange", path=source, member=member.name)
                data = archive.extractfile(member)
                assert data is not None, "a plain file has content"
                path = folder.joinpath(*name.parts)
                path.parent.mkdir(parents=True, exist_ok=True)
                with open(path, "wb") as out:
                    shutil.copyfileobj(data, out)
                found.append(path)
    except (OSError, EOFError, tarfile.TarError, ValueError) as error:
        raise Problem(USAGE, "backup_unreadable", path=source, why=_why(error)) from None
    if not found:
        raise Problem(USAGE, "backup_unreadable", path=source, why="it is empty")
    for path in found:
        if _is_database(path) and (why := _damage(path)):
            raise Problem(STORAGE, "backup_damaged", path=source, member=path.name, why=why)
    return found


def put_back(folder: Path, files: list[Path], home: Path) -> None:
    """Puts unpacked files in the place of those of ``home``; what else is there stays. Databases are replaced through
    SQLite, so that programs which have them open see the new content."""
    try:
        for path in files:
            target = home / path.relative_to(folder)
            target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            if _is_database(path):
                renew_leases(path, target)
                copy_together([(path, target)])
            else:
                draft = target.with_name(f".{target.name}.{os.getpid()}")
                with os.fdopen(os.open(draft, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600), "wb") as out:
                    out.write(path.read_bytes())
                os.replace(draft, target)
    except (OSError, sqlite3.Error) as error:
        raise Problem(STORAGE, "restore_failed", home=home, why=_why(error)) from None


def _files(home: Path) -> Iterator[Path]:
    for path in sorted(home.rglob("*")):
        if path.is_file() and not path.is_symlink() and not path.name.endswith(_BESIDE):
            yield path


def _member(home: Path, path: Path) -> str:
    return path.relative_to(home).as_posix()


def _is_database(path: Path) -> bool:
    with open(path, "rb") as file:
        return file.read(len(_SQLITE)) == _SQLITE


def _damage(path: Path) -> str | None:
    """What SQLite finds wrong with a database."""
    try:
        with closing(sqlite3.connect(path)) as db:
            (found,) = db.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.Error as error:
        return str(error)
    return None if found == "ok" else str(found)


def _why(error: Exception) -> object:
    return (error.strerror if isinstance(error, OSError) else None) or error
