"""The embedded store: all sessions of one home in one SQLite file.

Invariant: acknowledged means on disk (WAL, ``synchronous=FULL``), a batch is one commit, and each session's head is
kept apart from its events, so that a cut tail shows. How rows are laid out is told in ``table``, the schema in
``schema``.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import sqlite3
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from pathlib import Path

from ..codec import decode
from ..context.passages import Passage
from ..context.words import asked_words, needed_words
from ..errors import Busy, Conflict, DamagedLog, Erased, Fenced, StoreError, UnknownSession
from ..events import AnyEvent, Recorded, SessionStarted
from ..events import Parent as ForkParent
from ..state import content_hash
from . import erasing, fulltext, table
from .base import SHARED, SNAPSHOTS_KEPT, Head, Lease, Row, SessionInfo, Snapshot, Span, Verified
from .chain import AT_ONCE, GENESIS, ChainCheck
from .liveness import describe, is_dead, this_process
from .schema import open_database
from .splices import Recent
from .table import SPAN, Stored, is_sound
from .worker import SqliteWorker


def new_session_id() -> str:
    """Short enough to type, sorted by day, not to be guessed by counting."""
    return time.strftime("%y%m%d", time.gmtime()) + "-" + secrets.token_hex(4)


class SqliteStore:
    """``SqliteStore("erpilot.db")``; the file and its folder are made at the first use, readable by their owner
    only.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._worker = SqliteWorker(self.path, lambda: open_database(self.path))
        self._recent = Recent()
        self._given_up: set[tuple[str, int]] = set()
        """Leases that could not be given back (the disk was full): this process holds them no more."""

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
        payloads = table.encoded(events)

        def job(db: sqlite3.Connection) -> tuple[list[Recorded], int, list[tuple[int, bytes]]]:
            row = db.execute(
                "SELECT number, head, head_hash, generation, erased_at FROM sessions WHERE id = ?", (session_id,)
            ).fetchone()
            if row is None:
                if expected_seq or (lease is not None and lease.generation != 1):
                    raise UnknownSession(f"There is no session {session_id}.")
                row = (table.insert_session(db, session_id, lease), 0, GENESIS, lease.generation if lease else 0, None)
            number, head, head_hash, generation, erased_at = row
            if lease is not None and lease.generation != generation:
                raise Fenced(f"Session {session_id} was taken over by another process.")
            if head != expected_seq:
                raise Conflict(session_id, expected_seq, head)
            if erased_at is not None:
                raise Erased(session_id, head)
            places = [(number * SPAN + seq, payload) for seq, (_, _, payload) in enumerate(payloads, head + 1)]
            if contents:
                table.insert_contents(db, number, contents, places, self._recent.of(number))
            recorded = table.insert_events(db, session_id, number, head, head_hash, payloads, at)
            if release and lease is not None:
                db.execute(table.RELEASE, (number, generation))
            return recorded, number, places

        recorded, number, places = await self._worker.write(job)
        self._recent.add(number, places)
        return recorded

    async def read(self, session_id: str, after: int = 0) -> AsyncIterator[Recorded]:
        async for number, rows in self._pages(session_id, after):
            for stored in rows:
                seq, at, _, _, payload, _, chain_hash = stored
                if payload is None or not is_sound(stored):
                    payload = await self._stand_in(session_id, number, stored)
                try:
                    event = decode(payload)
                except ValueError as error:
                    raise DamagedLog(session_id, seq, str(error)) from None
                yield Recorded(session_id, seq, at / 1e6, event, chain_hash.hex())

    async def _pages(
        self, session_id: str, after: int = 0, until: int | None = None
    ) -> AsyncIterator[tuple[int, list[Stored]]]:
        """Gapless pages of rows, each with the number of the session that it belongs to."""

        def begin(db: sqlite3.Connection) -> tuple[list[tuple[int, int, int]], list[Stored]]:
            parts = [(owner, max(after, first), last) for owner, first, last in table.segments(db, session_id)]
            parts = [(owner, start, last if until is None else min(last, until)) for owner, start, last in parts]
            parts = [part for part in parts if part[1] < part[2]]
            return parts, table.page(db, *parts[0]) if parts else []

        parts, rows = await self._worker.read(begin)
        for part, (owner, start, end) in enumerate(parts):
            while start < end:
                if part or start > parts[0][1]:
                    rows = await self._worker.read(lambda db, o=owner, s=start, e=end: table.page(db, o, s, e))  # type: ignore[misc]
                whole = rows if rows and rows[-1][0] == start + len(rows) else table.gapless(rows, start)
                if whole:
                    yield owner, whole
                start += len(whole)
                if not rows:
                    raise DamagedLog(session_id, start + 1, f"the log ends at {start}, its head says {end}")
                if len(whole) < len(rows):
                    raise DamagedLog(session_id, start + 1, "it is missing")

    async def _stand_in(self, session_id: str, number: int, stored: Stored) -> bytes:
        """The masked payload that stands in the place of an original; raises for anything else that is no original."""
        seq, payload = stored[0], stored[4]
        erased, masked = await self._worker.read(lambda db: table.exceptions(db, number, seq - 1, seq))
        state = table.state_of(stored, erased, masked)
        if state == "erased":
            raise Erased(session_id, seq)
        if state is None or payload is None:
            raise DamagedLog(session_id, seq, "its content does not match its digest")
        return payload

    async def rows(self, session_id: str, until: int | None = None) -> AsyncIterator[Row]:
        async for number, stored_rows in self._pages(session_id, 0, until):
            first, last = stored_rows[0][0], stored_rows[-1][0]
            erased, masked = await self._worker.read(
                lambda db, n=number, f=first, e=last: table.exceptions(db, n, f - 1, e)  # type: ignore[misc]
            )
            for stored in stored_rows:
                if type(stored[3]) is bytes and type(stored[4]) is bytes and table.is_typed(stored):
                    yield Row(*stored)
                    continue
                state = table.state_of(stored, erased, masked)
                if state is None:
                    raise DamagedLog(session_id, stored[0], "its content does not match its digest")
                yield Row(*stored, state)

    async def contents(self, session_id: str, hashes: Iterable[str]) -> dict[str, bytes]:
        wanted = tuple(hashes)

        def job(db: sqlite3.Connection) -> dict[str, bytes]:
            found: dict[str, bytes] = {}
            for number in (0, *(part[0] for part in reversed(table.segments(db, session_id)))):
                for name in wanted:
                    if name not in found and (data := table.content_of(db, number, name)) is not None:
                        found[name] = data
            return found

        return await self._worker.read(job)

    async def fork(self, session_id: str, at_seq: int) -> str:
        child = new_session_id()
        started = table.encoded([SessionStarted(parent=ForkParent(session_id, at_seq), salt=secrets.token_hex(16))])

        def job(db: sqlite3.Connection) -> None:
            segments = table.segments(db, session_id)
            head = segments[-1][2]
            if not 1 <= at_seq <= head:
                raise StoreError(f"Session {session_id} has events 1 to {head}; {at_seq} is not one of them.")
            owner = next(number for number, first, last in segments if first < at_seq <= last)
            if any(table.exceptions(db, number, 0, 0)[0] for number, _, _ in segments):
                raise Erased(session_id, at_seq)
            at_hash = db.execute("SELECT hash FROM events WHERE place = ?", (owner * SPAN + at_seq,)).fetchone()[0]
            number = table.insert_session(db, child)
            db.execute("UPDATE sessions SET parent = ?, parent_seq = ? WHERE number = ?", (session_id, at_seq, number))
            table.insert_events(db, child, number, at_seq, at_hash, started)

        await self._worker.write(job)
        return child

    async def sessions(self) -> list[SessionInfo]:
        query = f"{table.INFO} WHERE head > 0 ORDER BY updated_at DESC, number DESC"
        return await self._worker.read(lambda db: [table.info_of(row) for row in db.execute(query)])

    async def session(self, session_id: str) -> SessionInfo:
        row = await self._worker.read(lambda db: db.execute(f"{table.INFO} WHERE id = ?", (session_id,)).fetchone())
        if row is None:
            raise UnknownSession(f"There is no session {session_id}.")
        return table.info_of(row)

    async def acquire(self, session_id: str, *, seconds: float) -> Lease:
        holder = this_process().text()

        def job(db: sqlite3.Connection) -> Lease:
            row = db.execute(
                "SELECT generation, holder, held_until, erased_at, head FROM sessions WHERE id = ?", (session_id,)
            ).fetchone()
            if row is None:
                table.insert_session(db, session_id)
                row = (0, None, 0.0, None, 0)
            generation, current, until, erased_at, head = row
            if erased_at is not None:
                raise Erased(session_id, head)
            held = current is not None and time.time() < until and (session_id, generation) not in self._given_up
            if held and not is_dead(current):
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
                db.execute(table.RELEASE, (row[0], lease.generation))

        try:
            await self._worker.write(job)
        except StoreError:
            self._given_up.add((lease.session_id, lease.generation))
            raise

    async def verify(self, session_id: str, *, against: Head | None = None) -> Verified:
        query = "SELECT head, head_hash FROM sessions WHERE id = ?"
        found = await self._worker.read(lambda db: db.execute(query, (session_id,)).fetchone())
        if found is None and against is None:
            raise UnknownSession(f"There is no session {session_id}.")
        head, head_hash = found or (0, GENESIS)
        check = ChainCheck(session_id, against)
        if found is not None:
            async for row in self.rows(session_id, head):
                check.take(row)
                if row.seq % AT_ONCE == 0:
                    await asyncio.sleep(0)
            while names := check.wanted():
                check.contents(names, await self.contents(session_id, names))
        return check.end(head, head_hash)

    async def snapshot(self, session_id: str, seq: int, data: bytes, *, schema: str) -> None:
        def job(db: sqlite3.Connection) -> None:
            query = "SELECT number, parent_seq, head FROM sessions WHERE id = ? AND erased_at IS NULL"
            row = db.execute(query, (session_id,)).fetchone()
            if row is None or not row[1] < seq <= row[2]:
                return
            base = row[0] * SPAN
            values = (base + seq, schema, data, table.checksum(data))
            db.execute("INSERT OR REPLACE INTO snapshots (place, schema, data, checksum) VALUES (?, ?, ?, ?)", values)
            db.execute(
                "DELETE FROM snapshots WHERE place > ? AND place < ? AND place NOT IN"
                " (SELECT place FROM snapshots WHERE place > ? AND place < ? ORDER BY place DESC LIMIT ?)",
                (base, base + SPAN, base, base + SPAN, SNAPSHOTS_KEPT),
            )

        await self._worker.write(job)

    async def latest_snapshot(
        self, session_id: str, at_or_before: int | None = None, *, schema: str
    ) -> Snapshot | None:
        def job(db: sqlite3.Connection) -> Snapshot | None:
            for number, first, last in reversed(table.segments(db, session_id)):
                end = last if at_or_before is None else min(last, at_or_before)
                base = number * SPAN
                query = (
                    "SELECT place - ?, data, checksum FROM snapshots"
                    " WHERE place > ? AND place <= ? AND schema = ? ORDER BY place DESC"
                )
                for seq, data, stored in db.execute(query, (base, base + first, base + end, schema)).fetchall():
                    if type(data) is bytes and table.checksum(data) == stored:
                        return Snapshot(seq, data, schema)
            return None

        return await self._worker.read(job)

    async def adopt(self, session_id: str, rows: Sequence[Row], contents: Mapping[str, bytes]) -> None:
        def job(db: sqlite3.Connection) -> None:
            row = db.execute("SELECT head FROM sessions WHERE id = ?", (session_id,)).fetchone()
            if row is not None:
                raise Conflict(session_id, 0, row[0])
            number = table.insert_session(db, session_id)
            shared = {name for name, data in contents.items() if name == SHARED + content_hash(data)}  # not if masked
            pairs = [(0 if name in shared else number, name, data) for name, data in contents.items()]
            db.executemany("INSERT OR IGNORE INTO contents VALUES (?, ?, ?)", pairs)
            table.insert_rows(db, number, rows)

        await self._worker.write(job)

    async def recall(
        self,
        session_id: str,
        question: str,
        *,
        within: Sequence[Span],
        limit: int,
        least: float = 0.0,
        now: float | None = None,
    ) -> list[Passage]:
        asked = asked_words(question)

        def job(db: sqlite3.Connection) -> list[Passage]:
            parts = fulltext.clipped(table.segments(db, session_id), within)
            return fulltext.found_within(db, session_id, parts, question, asked, limit=limit, least=least, now=now)

        segments = await self._worker.read(lambda db: table.segments(db, session_id))
        return await self._looked_up(job, [number for number, _, _ in segments]) if asked else []

    async def search(self, text: str, *, owner: str | None = None, limit: int = 20) -> list[Passage]:
        needs = needed_words(text)
        if not needs:
            return []
        return await self._looked_up(lambda db: fulltext.found_in_all(db, text, needs, owner, limit), None)

    async def _looked_up(
        self, job: Callable[[sqlite3.Connection], list[Passage]], numbers: Sequence[int] | None
    ) -> list[Passage]:
        """What ``job`` finds in the index, once these sessions are in it; a damaged index is made anew."""

        def looked_up(db: sqlite3.Connection) -> list[Passage] | None:
            try:
                return job(db)
            except sqlite3.DatabaseError:
                return None

        for _ in range(2):
            current = await self._worker.read(lambda db: fulltext.is_current(db, numbers))
            while not current:
                current = await self._worker.write(lambda db: fulltext.bring_on(db, numbers))
            if (found := await self._worker.read(looked_up)) is not None:
                return found
            await self._worker.write(fulltext.empty)
        raise StoreError(f"The full-text index of {self.path} cannot be used.")

    async def erase(self, session_id: str) -> None:
        def job(db: sqlite3.Connection) -> None:
            row = db.execute("SELECT number, holder, held_until FROM sessions WHERE id = ?", (session_id,)).fetchone()
            if row is None:
                raise UnknownSession(f"There is no session {session_id}.")
            number, holder, until = row
            if holder is not None and time.time() < until and not is_dead(holder):
                raise Busy(session_id, describe(holder))
            erasing.erase_rows(db, session_id, number)

        await self._worker.write(job)
        await asyncio.to_thread(erasing.leave_no_residue, self.path)

    async def aclose(self) -> None:
        await self._worker.aclose()
