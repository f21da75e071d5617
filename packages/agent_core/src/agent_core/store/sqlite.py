"""The embedded store: all sessions of one home in one SQLite file.

Invariant: acknowledged means on disk (WAL, ``synchronous=FULL``), a batch is one commit, and each session's head is
kept apart from its events, so that a cut tail shows. Event ``seq`` of session ``number`` is the row ``number * 2**32 +
seq``, which keeps a session's events together and needs no further index.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
import time
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from pathlib import Path

from ..codec import decode, encode, type_name
from ..errors import Busy, Conflict, DamagedLog, Fenced, StoreError, UnknownSession
from ..events import AnyEvent, Recorded, SessionStarted
from ..events import Parent as ForkParent
from .base import FIRST_LEASE, SHARED, Lease, SessionInfo, Verified
from .chain import GENESIS, link, new_salt, payload_digest
from .liveness import describe, is_dead, this_process
from .worker import SqliteWorker

SCHEMA_VERSION = 1
_SPAN = 1 << 32
_PAGE = 500
"""Events that one read job fetches."""

_SCHEMA = """
CREATE TABLE sessions (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    parent TEXT,
    parent_seq INTEGER NOT NULL DEFAULT 0,
    head INTEGER NOT NULL DEFAULT 0,
    head_hash BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    generation INTEGER NOT NULL DEFAULT 0,
    holder TEXT,
    held_until REAL NOT NULL DEFAULT 0
);
CREATE TABLE events (
    place INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    type TEXT NOT NULL,
    salt BLOB,
    payload BLOB,
    digest BLOB NOT NULL,
    hash BLOB NOT NULL
);
CREATE TABLE contents (
    session INTEGER NOT NULL,
    hash TEXT NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (session, hash)
);
"""


def new_session_id() -> str:
    """Short enough to type, sorted by day, not to be guessed by counting."""
    return time.strftime("%y%m%d", time.gmtime()) + "-" + secrets.token_hex(4)


class SqliteStore:
    """``SqliteStore("erpilot.db")``; the file and its folder are made at the first use, readable by their owner
    only.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._worker = SqliteWorker(self.path, self._connect)

    async def append(
        self,
        session_id: str,
        events: Sequence[AnyEvent],
        *,
        expected_seq: int,
        lease: Lease | None = None,
        contents: Mapping[str, bytes] | None = None,
        at: Sequence[float] | None = None,
        release: bool = False,
    ) -> list[Recorded]:
        payloads = _encoded(events)

        def job(db: sqlite3.Connection) -> list[Recorded]:
            row = db.execute(
                "SELECT number, head, head_hash, generation FROM sessions WHERE id = ?", (session_id,)
            ).fetchone()
            if row is None:
                if expected_seq or (lease is not None and lease.generation != 1):
                    raise UnknownSession(f"There is no session {session_id}.")
                row = (_insert_session(db, session_id, lease), 0, GENESIS, lease.generation if lease else 0)
            number, head, head_hash, generation = row
            if lease is not None and lease.generation != generation:
                raise Fenced(f"Session {session_id} was taken over by another process.")
            if head != expected_seq:
                raise Conflict(session_id, expected_seq, head)
            if contents:
                pairs = [(0 if name[0] == SHARED else number, name, data) for name, data in contents.items()]
                db.executemany("INSERT OR IGNORE INTO contents VALUES (?, ?, ?)", pairs)
            recorded = _insert_events(db, session_id, number, head, head_hash, payloads, at)
            if release and lease is not None:
                db.execute(_RELEASE, (number, generation))
            return recorded

        return await self._worker.write(job)

    async def read(self, session_id: str, after: int = 0) -> AsyncIterator[Recorded]:
        for owner, first, last in await self._worker.read(lambda db: _segments(db, session_id)):
            start = max(after, first)
            while start < last:
                rows = await self._worker.read(lambda db, o=owner, s=start, e=last: _page(db, o, s, e))  # type: ignore[misc]
                if not rows:
                    raise DamagedLog(session_id, start + 1, "it is missing")
                for expected, (seq, at, _, salt, payload, digest, chain_hash) in enumerate(rows, start + 1):
                    if seq != expected:
                        raise DamagedLog(session_id, expected, "it is missing")
                    if payload is None or not _is_sound(at, salt, payload, digest, chain_hash):
                        raise DamagedLog(session_id, seq, "its content does not match its digest")
                    yield Recorded(session_id, seq, at / 1e6, _decoded(session_id, seq, payload), chain_hash.hex())
                start = rows[-1][0]

    async def contents(self, session_id: str, hashes: Iterable[str]) -> dict[str, bytes]:
        wanted = tuple(hashes)

        def job(db: sqlite3.Connection) -> dict[str, bytes]:
            found: dict[str, bytes] = {}
            for number in (0, *(part[0] for part in reversed(_segments(db, session_id)))):
                for name in wanted:
                    if name not in found:
                        row = db.execute(
                            "SELECT data FROM contents WHERE session = ? AND hash = ?", (number, name)
                        ).fetchone()
                        if row is not None:
                            found[name] = row[0]
            return found

        return await self._worker.read(job)

    async def fork(self, session_id: str, at_seq: int) -> str:
        child = new_session_id()
        started = _encoded([SessionStarted(parent=ForkParent(session_id, at_seq), salt=secrets.token_hex(16))])

        def job(db: sqlite3.Connection) -> None:
            segments = _segments(db, session_id)
            head = segments[-1][2]
            if not 1 <= at_seq <= head:
                raise StoreError(f"Session {session_id} has events 1 to {head}; {at_seq} is not one of them.")
            owner = next(number for number, first, last in segments if first < at_seq <= last)
            at_hash = db.execute("SELECT hash FROM events WHERE place = ?", (owner * _SPAN + at_seq,)).fetchone()[0]
            number = _insert_session(db, child)
            db.execute("UPDATE sessions SET parent = ?, parent_seq = ? WHERE number = ?", (session_id, at_seq, number))
            _insert_events(db, child, number, at_seq, at_hash, started)

        await self._worker.write(job)
        return child

    async def sessions(self) -> list[SessionInfo]:
        query = f"{_INFO} WHERE head > 0 ORDER BY updated_at DESC, number DESC"
        return await self._worker.read(lambda db: [_info(row) for row in db.execute(query)])

    async def session(self, session_id: str) -> SessionInfo:
        row = await self._worker.read(lambda db: db.execute(f"{_INFO} WHERE id = ?", (session_id,)).fetchone())
        if row is None:
            raise UnknownSession(f"There is no session {session_id}.")
        return _info(row)

    async def acquire(self, session_id: str, *, seconds: float) -> Lease:
        holder = this_process().text()

        def job(db: sqlite3.Connection) -> Lease:
            row = db.execute(
                "SELECT generation, holder, held_until FROM sessions WHERE id = ?", (session_id,)
            ).fetchone()
            if row is None:
                _insert_session(db, session_id)
                row = (0, None, 0.0)
            generation, current, until = row
            if current is not None and time.time() < until and not is_dead(current):
                raise Busy(session_id, describe(current))
            update = "UPDATE sessions SET generation = ?, holder = ?, held_until = ? WHERE id = ?"
            db.execute(update, (generation + 1, holder, time.time() + seconds, session_id))
            return Lease(session_id, generation + 1, holder)

        return await self._worker.write(job)

    async def renew(self, lease: Lease, *, seconds: float) -> None:
        def job(db: sqlite3.Connection) -> None:
            update = "UPDATE sessions SET held_until = ? WHERE id = ? AND generation = ? AND holder IS NOT NULL"
            if db.execute(update, (time.time() + seconds, lease.session_id, lease.generation)).rowcount == 0:
                raise Fenced(f"Session {lease.session_id} was taken over by another process.")

        await self._worker.write(job)

    async def release(self, lease: Lease) -> None:
        def job(db: sqlite3.Connection) -> None:
            row = db.execute("SELECT number FROM sessions WHERE id = ?", (lease.session_id,)).fetchone()
            if row is not None:
                db.execute(_RELEASE, (row[0], lease.generation))

        await self._worker.write(job)

    async def verify(self, session_id: str) -> Verified:
        def job(db: sqlite3.Connection) -> Verified:
            row = db.execute("SELECT head, head_hash FROM sessions WHERE id = ?", (session_id,)).fetchone()
            if row is None:
                raise UnknownSession(f"There is no session {session_id}.")
            head, head_hash = row
            previous, expected = GENESIS, 1
            for owner, first, last in _segments(db, session_id):
                for seq, at, name, salt, payload, digest, chain_hash in _page(db, owner, first, last, limit=-1):
                    if seq != expected:
                        raise DamagedLog(session_id, expected, "it is missing")
                    if not _is_sound(at, salt, payload, digest, chain_hash):
                        raise DamagedLog(session_id, seq, "its content does not match its digest")
                    previous = link(previous, seq, at, name, digest)
                    if previous != chain_hash:
                        raise DamagedLog(session_id, seq, "its hash does not follow from the one before")
                    expected = seq + 1
            if expected - 1 != head or previous != head_hash:
                raise DamagedLog(session_id, expected, f"the log ends at {expected - 1}, its head says {head}")
            return Verified(session_id, head, head_hash.hex())

        return await self._worker.read(job)

    async def aclose(self) -> None:
        await self._worker.aclose()

    def _connect(self) -> sqlite3.Connection:
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not self.path.exists():
            os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
        db = sqlite3.connect(self.path, timeout=30.0, isolation_level=None, check_same_thread=False)
        try:
            db.execute("PRAGMA busy_timeout = 30000")
            version = db.execute("PRAGMA user_version").fetchone()[0]
            if version > SCHEMA_VERSION:
                raise StoreError(
                    f"{self.path} was written by a newer version (schema {version}, this one knows {SCHEMA_VERSION})."
                    " Update first."
                )
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = FULL")
            if version == 0:
                db.execute("BEGIN IMMEDIATE")
                if db.execute("PRAGMA user_version").fetchone()[0] == 0:
                    for statement in _SCHEMA.split(";"):
                        db.execute(statement)
                    db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
                db.execute("COMMIT")
        except BaseException:
            db.close()
            raise
        return db


_RELEASE = "UPDATE sessions SET holder = NULL, held_until = 0 WHERE number = ? AND generation = ?"
_INFO = "SELECT id, head, head_hash, created_at, updated_at, parent, parent_seq FROM sessions"


def _info(row: tuple[str, int, bytes, int, int, str | None, int]) -> SessionInfo:
    session_id, head, head_hash, created, updated, parent, parent_seq = row
    return SessionInfo(
        session_id, head, head_hash.hex(), created / 1e6, updated / 1e6, parent, parent_seq if parent else None
    )


def _insert_session(db: sqlite3.Connection, session_id: str, lease: Lease | None = None) -> int:
    now = time.time_ns() // 1000
    held = (1, lease.holder, now / 1e6 + FIRST_LEASE) if lease is not None else (0, None, 0.0)
    row = db.execute(
        "INSERT INTO sessions (id, head_hash, created_at, updated_at, generation, holder, held_until)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (session_id, GENESIS, now, now, *held),
    )
    assert row.lastrowid is not None
    return row.lastrowid


def _encoded(events: Sequence[AnyEvent]) -> list[tuple[AnyEvent, str, bytes]]:
    return [(event, type_name(event), encode(event)) for event in events]


def _insert_events(
    db: sqlite3.Connection,
    session_id: str,
    number: int,
    head: int,
    head_hash: bytes,
    payloads: list[tuple[AnyEvent, str, bytes]],
    times: Sequence[float] | None = None,
) -> list[Recorded]:
    """Appends behind ``head`` and moves the head; all within the transaction of the caller."""
    at = time.time_ns() // 1000
    rows, recorded = [], []
    for seq, (event, name, payload) in enumerate(payloads, head + 1):
        if times is not None:
            at = round(times[seq - head - 1] * 1e6)
        salt = new_salt()
        digest = payload_digest(salt, payload)
        head_hash = link(head_hash, seq, at, name, digest)
        rows.append((number * _SPAN + seq, at, name, salt, payload, digest, head_hash))
        recorded.append(Recorded(session_id, seq, at / 1e6, event, head_hash.hex()))
    db.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
    update = "UPDATE sessions SET head = ?, head_hash = ?, updated_at = ? WHERE number = ?"
    db.execute(update, (head + len(rows), head_hash, at, number))
    return recorded


def _segments(db: sqlite3.Connection, session_id: str) -> list[tuple[int, int, int]]:
    """(session number, events after, up to) from the oldest ancestor to the session itself."""
    segments: list[tuple[int, int, int]] = []
    name: str | None = session_id
    upper: int | None = None
    while name is not None:
        row = db.execute("SELECT number, parent, parent_seq, head FROM sessions WHERE id = ?", (name,)).fetchone()
        if row is None:
            raise UnknownSession(f"There is no session {name}.")
        number, parent, parent_seq, head = row
        last = head if upper is None else min(upper, head)
        if last > parent_seq or upper is None:
            segments.append((number, parent_seq, last))
        name, upper = parent, parent_seq if upper is None else min(upper, parent_seq)
    return segments[::-1]


def _page(
    db: sqlite3.Connection, number: int, after: int, last: int, limit: int = _PAGE
) -> list[tuple[int, int, str, bytes | None, bytes | None, bytes, bytes]]:
    query = (
        "SELECT place - ?, at, type, salt, payload, digest, hash FROM events"
        " WHERE place > ? AND place <= ? ORDER BY place LIMIT ?"
    )
    base = number * _SPAN
    return db.execute(query, (base, base + after, base + last, limit)).fetchall()


def _is_sound(at: object, salt: object, payload: object, digest: object, chain_hash: object) -> bool:
    """Whether a row holds what was written; SQLite itself keeps text where bytes stood, if somebody edits it so."""
    if type(at) is not int or type(digest) is not bytes or type(chain_hash) is not bytes:
        return False
    if payload is None:
        return True
    salt = b"" if salt is None else salt
    return type(payload) is bytes and type(salt) is bytes and payload_digest(salt, payload) == digest


def _decoded(session_id: str, seq: int, payload: bytes) -> AnyEvent:
    try:
        return decode(payload)
    except ValueError as error:
        raise DamagedLog(session_id, seq, str(error)) from None
