"""Takes the content of a session out of the embedded store for good.

Invariant: what identifies an event (number, time, type, digest, hash) stays, so the chain verifies and says which
events were erased; nothing that could give their content away stays, neither in a row nor in free space of the file.
"""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from pathlib import Path

import msgspec

from ..errors import StoreError
from . import fulltext, table
from .table import SPAN

PATIENCE = 10.0
"""Seconds that other programs are waited for."""


class _Request(msgspec.Struct):
    """As much of a ``StepStarted`` as names the messages of its request."""

    class Manifest(msgspec.Struct):
        added: tuple[str, ...] = ()

    request: Manifest = msgspec.field(default_factory=Manifest)


def erase_rows(db: sqlite3.Connection, session_id: str, number: int) -> None:
    """Empties the events of a session and removes what was kept for it; also what its forks keep of it."""
    base = number * SPAN
    own = (base, base + SPAN)
    db.execute("UPDATE events SET payload = NULL, salt = NULL WHERE place > ? AND place < ?", own)
    db.execute("DELETE FROM redactions WHERE place > ? AND place < ?", own)
    db.execute("DELETE FROM snapshots WHERE place > ? AND place < ?", own)
    fulltext.empty(db)  # its words stand among those of others
    table.delete_contents(db, number)
    db.execute(
        "UPDATE sessions SET erased_at = coalesce(erased_at, ?), generation = generation + 1, holder = NULL,"
        " held_until = 0 WHERE number = ?",
        (time.time_ns() // 1000, number),
    )
    for name, heir in _descendants(db, session_id):
        if any(part[0] == number for part in table.segments(db, name)):
            _forget_inherited(db, heir)


def _descendants(db: sqlite3.Connection, session_id: str) -> list[tuple[str, int]]:
    query = (
        "WITH RECURSIVE heirs(id, number) AS (SELECT id, number FROM sessions WHERE parent = ?"
        " UNION SELECT s.id, s.number FROM sessions s JOIN heirs ON s.parent = heirs.id) SELECT id, number FROM heirs"
    )
    return db.execute(query, (session_id,)).fetchall()


def _forget_inherited(db: sqlite3.Connection, number: int) -> None:
    """A fork's snapshots hold the conversation it inherited, and so do the requests that it sent."""
    base = number * SPAN
    db.execute("DELETE FROM snapshots WHERE place > ? AND place < ?", (base, base + SPAN))
    query = "SELECT payload FROM events WHERE place > ? AND place < ? AND type = 'StepStarted' AND payload IS NOT NULL"
    for (payload,) in db.execute(query, (base, base + SPAN)).fetchall():
        names = msgspec.json.decode(payload, type=_Request).request.added
        table.delete_contents(db, number, names)


def leave_no_residue(path: Path) -> None:
    """Rewrites the file without its free space and empties the write-ahead log, in which the old pages still stand.

    Raises ``StoreError`` when another program keeps it from doing so; erasing again then finishes it.
    """
    try:
        with closing(sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)) as db:
            db.execute("VACUUM")
            busy = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    except sqlite3.Error as error:
        raise StoreError(_UNFINISHED.format(path=path, why=error)) from None
    if busy:
        raise StoreError(_UNFINISHED.format(path=path, why="another program is reading it"))


_UNFINISHED = (
    "The session is erased, but traces of it may still stand in free space of {path} ({why})."
    " Close other programs that use it, then erase again."
)
