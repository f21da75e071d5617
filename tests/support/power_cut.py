"""A file system for SQLite that remembers of each file only what was synced: what a power cut leaves.

Invariant: ``PowerCutFiles.after_a_cut`` is exactly the content that ``xSync`` confirmed, file by file; written pages
that were not synced are lost, as the worst disk would have it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import apsw


class PowerCutFiles(apsw.VFS):
    """Writes through to the real files and keeps apart what is durable. ``on_sync`` is called after each sync."""

    def __init__(self, name: str, on_sync: Callable[[], None] = lambda: None) -> None:
        self._durable: dict[str, bytearray] = {}
        self.name, self.on_sync = name, on_sync
        super().__init__(name, "")

    def after_a_cut(self) -> dict[str, bytes]:
        """Content by file name."""
        return {Path(name).name: bytes(data) for name, data in self._durable.items()}

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:  # noqa: N802 (SQLite's name)
        return _File(self, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802
        self._durable.pop(filename, None)
        super().xDelete(filename, syncdir)

    def confirm(self, name: str, changes: Iterable[tuple[int, bytes | None]]) -> None:
        """Makes changes durable: bytes at an offset, or None for an end of the file there."""
        data = self._durable.setdefault(name, bytearray())
        for offset, written in changes:
            if written is None:
                del data[offset:]
            else:
                if len(data) < offset:
                    data.extend(bytes(offset - len(data)))
                data[offset : offset + len(written)] = written
        self.on_sync()


class _File(apsw.VFSFile):
    def __init__(self, files: PowerCutFiles, name: Any, flags: list[int]) -> None:
        self._files, self._name = files, name.filename() if isinstance(name, apsw.URIFilename) else name
        self._pending: list[tuple[int, bytes | None]] = []
        super().__init__("", name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        super().xWrite(data, offset)
        self._pending.append((offset, bytes(data)))

    def xTruncate(self, size: int) -> None:  # noqa: N802
        super().xTruncate(size)
        self._pending.append((size, None))

    def xSync(self, flags: int) -> None:  # noqa: N802
        super().xSync(flags)
        pending, self._pending = self._pending, []
        if self._name is not None:
            self._files.confirm(self._name, pending)


class Rows:
    """The result of a statement, in the manner of ``sqlite3.Cursor``."""

    def __init__(self, rows: list[tuple[Any, ...]], changed: int, last: int) -> None:
        self._rows, self.rowcount, self.lastrowid = rows, changed, last

    def fetchone(self) -> tuple[Any, ...] | None:
        """The next row."""
        return self._rows.pop(0) if self._rows else None

    def fetchall(self) -> list[tuple[Any, ...]]:
        """The rows that are left."""
        rows, self._rows = self._rows, []
        return rows

    def __iter__(self) -> Any:
        return iter(self.fetchall())


class Connection:
    """As much of ``sqlite3.Connection`` as the store uses, on the files of ``vfs``; ``before`` is run first."""

    def __init__(self, path: Path, vfs: str, before: Sequence[str] = ()) -> None:
        self._db = apsw.Connection(str(path), vfs=vfs)
        self._db.execute("PRAGMA locking_mode = EXCLUSIVE")  # no shared memory through this layer
        for statement in before:
            self._db.execute(statement).fetchall()

    def execute(self, statement: str, values: Sequence[Any] = ()) -> Rows:
        """Runs one statement to its end."""
        try:
            rows = self._db.execute(statement, tuple(values)).fetchall() if statement.strip() else []
        except apsw.Error as error:
            raise sqlite3.OperationalError(str(error)) from error
        return Rows(rows, self._db.changes(), self._db.last_insert_rowid())

    def executemany(self, statement: str, values: Iterable[Sequence[Any]]) -> Rows:
        """Runs one statement for each of the values."""
        for one in values:
            self.execute(statement, one)
        return Rows([], self._db.changes(), self._db.last_insert_rowid())

    def close(self) -> None:
        """Closes it, with a checkpoint of its own."""
        self._db.close()
