"""Rows of the embedded store's tables: where a session's events stand, how they are read, checked and written.

Invariant: every function runs within the job, and so the transaction, of its caller. Event ``seq`` of session
``number`` is the row ``number * SPAN + seq``, which keeps a session's events together and needs no further index.
"""

from __future__ import annotations

import hashlib
import sqlite3
import time
from collections.abc import Iterable, Mapping, Sequence

from ..codec import encode, type_name
from ..errors import DamagedLog, UnknownSession
from ..events import AnyEvent, Recorded
from .base import FIRST_LEASE, SHARED, Lease, PayloadState, Row, SessionInfo
from .chain import GENESIS, link, new_salt, payload_digest
from .splices import WORTH, Splice, splice

SPAN = 1 << 32
PAGE = 500
"""Events that one read job fetches."""

Stored = tuple[int, int, str, bytes | None, bytes | None, bytes, bytes]
"""seq, at, type, salt, payload, digest, hash."""

RELEASE = "UPDATE sessions SET holder = NULL, held_until = 0 WHERE number = ? AND generation = ?"
INFO = "SELECT id, head, head_hash, created_at, updated_at, parent, parent_seq, erased_at FROM sessions"
_INSERT = "INSERT INTO events (place, at, type, salt, payload, digest, hash) VALUES (?, ?, ?, ?, ?, ?, ?)"


def info_of(row: tuple[str, int, bytes, int, int, str | None, int, int | None]) -> SessionInfo:
    """A row that ``INFO`` selected."""
    session_id, head, head_hash, created, updated, parent, parent_seq, erased = row
    return SessionInfo(
        session_id,
        head,
        head_hash.hex(),
        created / 1e6,
        updated / 1e6,
        parent,
        parent_seq if parent else None,
        None if erased is None else erased / 1e6,
    )


def insert_session(db: sqlite3.Connection, session_id: str, lease: Lease | None = None) -> int:
    """Makes a session without events and returns its number."""
    now = time.time_ns() // 1000
    held = (1, lease.holder, now / 1e6 + FIRST_LEASE) if lease is not None else (0, None, 0.0)
    row = db.execute(
        "INSERT INTO sessions (id, head_hash, created_at, updated_at, generation, holder, held_until)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (session_id, GENESIS, now, now, *held),
    )
    assert row.lastrowid is not None
    return row.lastrowid


def encoded(events: Sequence[AnyEvent]) -> list[tuple[AnyEvent, str, bytes]]:
    """Each event with its type and payload; raises ``ValueError`` for what cannot be encoded."""
    return [(event, type_name(event), encode(event)) for event in events]


def insert_events(
    db: sqlite3.Connection,
    session_id: str,
    number: int,
    head: int,
    head_hash: bytes,
    payloads: list[tuple[AnyEvent, str, bytes]],
    times: Sequence[float] | None = None,
) -> list[Recorded]:
    """Appends behind ``head`` and moves the head."""
    at = time.time_ns() // 1000
    rows, recorded = [], []
    for seq, (event, name, payload) in enumerate(payloads, head + 1):
        if times is not None:
            at = round(times[seq - head - 1] * 1e6)
        salt = new_salt()
        digest = payload_digest(salt, payload)
        head_hash = link(head_hash, seq, at, name, digest)
        rows.append((number * SPAN + seq, at, name, salt, payload, digest, head_hash))
        recorded.append(Recorded(session_id, seq, at / 1e6, event, head_hash.hex()))
    db.executemany(_INSERT, rows)
    update = "UPDATE sessions SET head = ?, head_hash = ?, updated_at = ? WHERE number = ?"
    db.execute(update, (head + len(rows), head_hash, at, number))
    return recorded


def insert_rows(db: sqlite3.Connection, number: int, rows: Sequence[Row]) -> None:
    """Puts events in their places as they stand, and moves the head."""
    base = number * SPAN
    db.executemany(
        _INSERT, [(base + row.seq, row.at, row.type, row.salt, row.payload, row.digest, row.hash) for row in rows]
    )
    masked = [(base + row.seq, checksum(row.payload or b"")) for row in rows if row.state == "redacted"]
    db.executemany("INSERT INTO redactions (place, checksum) VALUES (?, ?)", masked)
    erased = rows[-1].at if any(row.state == "erased" for row in rows) else None
    update = (
        "UPDATE sessions SET head = ?, head_hash = ?, created_at = ?, updated_at = ?, erased_at = ? WHERE number = ?"
    )
    db.execute(update, (rows[-1].seq, rows[-1].hash, rows[0].at, rows[-1].at, erased, number))


def insert_contents(
    db: sqlite3.Connection,
    number: int,
    contents: Mapping[str, bytes],
    coming: Sequence[tuple[int, bytes]] = (),
    recent: Iterable[tuple[int, bytes]] = (),
) -> None:
    """Keeps contents under a session, shared ones under none. ``coming`` and ``recent``: events of the session by
    place, about to be appended and remembered from before, which may hold the same text.
    """
    sources, new = [*coming, *recent], {place for place, _ in coming}
    plain = []
    for name, data in contents.items():
        found = splice(data, sources) if len(data) > WORTH and name[0] != SHARED else None
        if found is None or not (found.place in new or _stands(db, found, data)):
            plain.append((0 if name[0] == SHARED else number, name, data))
        else:
            values = (number, name, found.place, found.start, found.length, found.head, found.tail)
            db.execute("INSERT OR IGNORE INTO splices VALUES (?, ?, ?, ?, ?, ?, ?)", values)
    db.executemany("INSERT OR IGNORE INTO contents VALUES (?, ?, ?)", plain)


def _stands(db: sqlite3.Connection, found: Splice, data: bytes) -> bool:
    """Whether the event that was remembered is still there; a backup may have been restored meanwhile."""
    row = db.execute("SELECT payload FROM events WHERE place = ?", (found.place,)).fetchone()
    return row is not None and row[0] is not None and found.joined(row[0]) == data


def content_of(db: sqlite3.Connection, number: int, name: str) -> bytes | None:
    """A content that is kept under a session."""
    row = db.execute("SELECT data FROM contents WHERE session = ? AND hash = ?", (number, name)).fetchone()
    if row is not None:
        return bytes(row[0])
    query = (
        "SELECT s.place, s.start, s.length, s.head, s.tail, e.payload FROM splices s JOIN events e ON e.place = s.place"
        " WHERE s.session = ? AND s.hash = ? AND e.payload IS NOT NULL"
    )
    row = db.execute(query, (number, name)).fetchone()
    return None if row is None else Splice(*row[:5]).joined(row[5])


def delete_contents(db: sqlite3.Connection, number: int, names: Iterable[str] | None = None) -> None:
    """Forgets contents of a session: these, or all."""
    for kept in ("contents", "splices"):
        if names is None:
            db.execute(f"DELETE FROM {kept} WHERE session = ?", (number,))
        else:
            db.executemany(f"DELETE FROM {kept} WHERE session = ? AND hash = ?", [(number, name) for name in names])


def segments(db: sqlite3.Connection, session_id: str) -> list[tuple[int, int, int]]:
    """(session number, events after, up to) from the oldest ancestor to the session itself."""
    found: list[tuple[int, int, int]] = []
    name: str | None = session_id
    upper: int | None = None
    while name is not None:
        row = db.execute("SELECT number, parent, parent_seq, head FROM sessions WHERE id = ?", (name,)).fetchone()
        if row is None and name != session_id:
            raise DamagedLog(session_id, 1, f"the session {name} that it was forked from is gone")
        if row is None:
            raise UnknownSession(f"There is no session {name}.")
        number, parent, parent_seq, head = row
        last = head if upper is None else min(upper, head)
        if last > parent_seq or upper is None:
            found.append((number, parent_seq, last))
        name, upper = parent, parent_seq if upper is None else min(upper, parent_seq)
    return found[::-1]


def page(db: sqlite3.Connection, number: int, after: int, last: int) -> list[Stored]:
    """The next events of one session after ``after``, up to ``last``."""
    query = (
        "SELECT place - ?, at, type, salt, payload, digest, hash FROM events"
        " WHERE place > ? AND place <= ? ORDER BY place LIMIT ?"
    )
    base = number * SPAN
    return db.execute(query, (base, base + after, base + last, PAGE)).fetchall()


def gapless(rows: list[Stored], after: int) -> list[Stored]:
    """The rows up to the first one that is not the next event."""
    return [stored for expected, stored in enumerate(rows, after + 1) if stored[0] == expected]


def is_typed(stored: Stored) -> bool:
    """Whether numbers and bytes are what they should be; SQLite keeps text in their place, if somebody edits it so."""
    _, at, _, _, _, digest, chain_hash = stored
    return type(at) is int and type(digest) is bytes and type(chain_hash) is bytes


def is_sound(stored: Stored) -> bool:
    """Whether a row holds the payload that was written."""
    _, at, _, salt, payload, digest, chain_hash = stored
    if type(payload) is not bytes or type(salt) is not bytes or type(at) is not int or type(chain_hash) is not bytes:
        return False
    return hashlib.sha256(salt + payload).digest() == digest


def exceptions(db: sqlite3.Connection, number: int, after: int, last: int) -> tuple[bool, dict[int, bytes]]:
    """Whether events of a session were erased, and the checksums of masked payloads by event."""
    row = db.execute("SELECT erased_at FROM sessions WHERE number = ?", (number,)).fetchone()
    base = number * SPAN
    query = "SELECT place - ?, checksum FROM redactions WHERE place > ? AND place <= ?"
    return row is not None and row[0] is not None, dict(db.execute(query, (base, base + after, base + last)))


def state_of(stored: Stored, erased: bool, masked: dict[int, bytes]) -> PayloadState | None:
    """What became of the payload of a row that is not sound by itself; None: it is damaged."""
    seq, _, _, salt, payload, _, _ = stored
    if not is_typed(stored):
        return None
    if payload is None:
        return "erased" if erased and salt is None else None
    if salt is None and type(payload) is bytes and masked.get(seq) == checksum(payload):
        return "redacted"
    return None


def checksum(data: bytes) -> bytes:
    """Tells whether what is kept outside of the chain is still what was written."""
    return hashlib.sha256(data).digest()
