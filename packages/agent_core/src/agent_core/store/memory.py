"""The store that forgets: for tests, for programs that need no history, and as the plainest statement of the contract.

Invariant: behaves as every other store (the conformance kit says how), except that nothing outlives the process.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from ..codec import decode, encode, type_name
from ..context.passages import FOUND_TYPES, LOOKED_AT, REPLY_WITHIN, Passage, Source, asks, best, findable, ranked
from ..context.words import Need, asked_words, needed_words, words_of
from ..errors import Busy, Conflict, Erased, Fenced, StoreError, UnknownSession
from ..events import AnyEvent, AssistantMessage, Parent, Recorded, SessionStarted, StepStarted, UserMessage
from .base import FIRST_LEASE, SNAPSHOTS_KEPT, Head, Lease, Row, SessionInfo, Snapshot, Span, Verified
from .chain import GENESIS, ChainCheck, link, new_salt, payload_digest
from .liveness import describe, this_process
from .sqlite import new_session_id


@dataclass
class _Session:
    created_at: float
    updated_at: float
    parent: Parent | None = None
    head_hash: bytes = GENESIS
    rows: list[Row] = field(default_factory=list)
    contents: dict[str, bytes] = field(default_factory=dict)
    snapshots: list[Snapshot] = field(default_factory=list)
    erased_at: float | None = None
    words: dict[str, list[int]] = field(default_factory=dict)
    """Events by word, of the first ``indexed`` rows."""
    indexed: int = 0
    generation: int = 0
    holder: str | None = None
    held_until: float = 0.0

    @property
    def first(self) -> int:
        return self.parent.seq if self.parent else 0

    @property
    def head(self) -> int:
        return self.first + len(self.rows)

    def bring_on(self) -> None:
        """Puts what was appended since the last look-up into the index."""
        for row in self.rows[self.indexed :]:
            if row.type in FOUND_TYPES and row.payload is not None and (found := findable(decode(row.payload))):
                for word in words_of(found[2]):
                    self.words.setdefault(word, []).append(row.seq)
        self.indexed = len(self.rows)

    def places(self, need: Need) -> set[int]:
        """The events in which what is needed stands."""
        return set().union(*(set.intersection(*(set(self.words.get(word, ())) for word in group)) for group in need))

    def source(self, session_id: str, seq: int) -> Source | None:
        """An event, a question with its answer."""
        row = self.rows[seq - self.first - 1]
        if row.payload is None:
            return None
        item = Recorded(session_id, seq, row.at / 1e6, decode(row.payload))
        return Source(item, self._reply(seq) if asks(item.event) else None)

    def _reply(self, seq: int) -> str | None:
        for row in self.rows[seq - self.first : seq - self.first + REPLY_WITHIN]:
            event = None if row.payload is None else decode(row.payload)
            if isinstance(event, UserMessage):
                return None
            if isinstance(event, AssistantMessage) and event.content and not event.tool_calls:
                return event.content
        return None


class MemoryStore:
    """An ``EventStore`` in this process's memory."""

    def __init__(self) -> None:
        self._sessions: dict[str, _Session] = {}

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
        session = self._sessions.get(session_id)
        if session is None:
            if expected_seq or (lease is not None and lease.generation != 1):
                raise UnknownSession(f"There is no session {session_id}.")
            session = self._sessions[session_id] = _Session(time.time(), time.time())
            if lease is not None:
                session.generation, session.holder = 1, lease.holder
                session.held_until = time.time() + FIRST_LEASE
        if lease is not None and lease.generation != session.generation:
            raise Fenced(f"Session {session_id} was taken over by another process.")
        if session.head != expected_seq:
            raise Conflict(session_id, expected_seq, session.head)
        if session.erased_at is not None:
            raise Erased(session_id, session.head)
        encoded = [(event, type_name(event), encode(event)) for event in events]
        session.contents.update(contents or {})
        now = time.time_ns() // 1000
        recorded = []
        for position, (event, name, payload) in enumerate(encoded):
            at_us = now if at is None else round(at[position] * 1e6)
            salt, seq = new_salt(), session.head + 1
            digest = payload_digest(salt, payload)
            session.head_hash = link(session.head_hash, seq, at_us, name, digest)
            session.rows.append(Row(seq, at_us, name, salt, payload, digest, session.head_hash))
            recorded.append(Recorded(session_id, seq, at_us / 1e6, event, session.head_hash.hex()))
        session.updated_at = now / 1e6
        if release and lease is not None:
            await self.release(lease)
        return recorded

    async def read(self, session_id: str, after: int = 0) -> AsyncIterator[Recorded]:
        for owner, first, last in self._segments(session_id):
            for seq in range(max(after, first) + 1, last + 1):
                row = owner.rows[seq - first - 1]
                if row.payload is None:
                    raise Erased(session_id, seq)
                yield Recorded(session_id, seq, row.at / 1e6, decode(row.payload), row.hash.hex())

    async def rows(self, session_id: str, until: int | None = None) -> AsyncIterator[Row]:
        for owner, first, last in self._segments(session_id):
            for row in owner.rows[: (last if until is None else min(last, until)) - first]:
                yield row

    async def contents(self, session_id: str, hashes: Iterable[str]) -> dict[str, bytes]:
        known: dict[str, bytes] = {}
        for owner, _, _ in self._segments(session_id):
            known.update(owner.contents)
        return {name: known[name] for name in hashes if name in known}

    async def fork(self, session_id: str, at_seq: int) -> str:
        head = self._get(session_id).head
        if not 1 <= at_seq <= head:
            raise StoreError(f"Session {session_id} has events 1 to {head}; {at_seq} is not one of them.")
        parts = self._segments(session_id)
        if any(owner.erased_at is not None for owner, _, _ in parts):
            raise Erased(session_id, at_seq)
        owner, first, _ = next(part for part in parts if part[1] < at_seq <= part[2])
        parent = Parent(session_id, at_seq)
        child = new_session_id()
        self._sessions[child] = _Session(time.time(), time.time(), parent, owner.rows[at_seq - first - 1].hash)
        await self.append(child, [SessionStarted(parent=parent, salt=secrets.token_hex(16))], expected_seq=at_seq)
        return child

    async def sessions(self) -> list[SessionInfo]:
        infos = [_info(name, session) for name, session in self._sessions.items() if session.head]
        return sorted(infos, key=lambda info: info.updated_at, reverse=True)

    async def session(self, session_id: str) -> SessionInfo:
        return _info(session_id, self._get(session_id))

    async def acquire(self, session_id: str, *, seconds: float) -> Lease:
        session = self._sessions.setdefault(session_id, _Session(time.time(), time.time()))
        if session.erased_at is not None:
            raise Erased(session_id, session.head)
        if session.holder is not None and time.time() < session.held_until:
            raise Busy(session_id, describe(session.holder))
        session.generation += 1
        session.holder, session.held_until = this_process().text(), time.time() + seconds
        return Lease(session_id, session.generation, session.holder)

    async def renew(self, lease: Lease, *, seconds: float) -> None:
        session = self._get(lease.session_id)
        if session.generation != lease.generation or session.holder is None:
            raise Fenced(f"Session {lease.session_id} was taken over by another process.")
        session.held_until = time.time() + seconds

    async def release(self, lease: Lease) -> None:
        session = self._sessions.get(lease.session_id)
        if session is not None and session.generation == lease.generation:
            session.holder, session.held_until = None, 0.0

    async def verify(self, session_id: str, *, against: Head | None = None) -> Verified:
        if against is not None and session_id not in self._sessions:
            return ChainCheck(session_id, against).end(0, GENESIS)
        session, check = self._get(session_id), ChainCheck(session_id, against)
        async for row in self.rows(session_id):
            check.take(row)
        while names := check.wanted():
            check.contents(names, await self.contents(session_id, names))
        return check.end(session.head, session.head_hash)

    async def snapshot(self, session_id: str, seq: int, data: bytes, *, schema: str) -> None:
        session = self._sessions.get(session_id)
        if session is None or session.erased_at is not None or not session.first < seq <= session.head:
            return
        others = [known for known in session.snapshots if known.seq != seq]
        newest_first = sorted([*others, Snapshot(seq, data, schema)], key=lambda known: known.seq)[::-1]
        session.snapshots = newest_first[:SNAPSHOTS_KEPT]

    async def latest_snapshot(
        self, session_id: str, at_or_before: int | None = None, *, schema: str
    ) -> Snapshot | None:
        for owner, _, last in reversed(self._segments(session_id)):
            end = last if at_or_before is None else min(last, at_or_before)
            for known in owner.snapshots:
                if known.seq <= end and known.schema == schema:
                    return known
        return None

    async def adopt(self, session_id: str, rows: Sequence[Row], contents: Mapping[str, bytes]) -> None:
        if (known := self._sessions.get(session_id)) is not None:
            raise Conflict(session_id, 0, known.head)
        created, updated = rows[0].at / 1e6, rows[-1].at / 1e6
        erased_at = updated if any(row.state == "erased" for row in rows) else None
        self._sessions[session_id] = _Session(
            created, updated, None, rows[-1].hash, list(rows), dict(contents), erased_at=erased_at
        )

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
        places: dict[str, list[int]] = {}
        events, reached = 0, dict[int, _Session]()
        for owner, first, last in self._segments(session_id):
            owner.bring_on()
            for start, end in within:
                seqs = range(max(first + 1, start), min(last, end) + 1)
                events += len(seqs)
                for word in asked:
                    found = [seq for seq in owner.words.get(word, ()) if seq in seqs]
                    reached.update(dict.fromkeys(found, owner))
                    places[word] = places.get(word, []) + found
        places = {word: seqs for word, seqs in places.items() if seqs}
        return ranked(
            question,
            asked,
            places,
            events,
            lambda seq: reached[seq].source(session_id, seq),
            limit=limit,
            least=least,
            now=now,
        )

    async def search(self, text: str, *, owner: str | None = None, limit: int = 20) -> list[Passage]:
        needs, words = needed_words(text), dict.fromkeys(words_of(text), 1.0)
        found: list[Passage] = []
        for info in await self.sessions() if needs else ():
            session = self._get(info.session_id)
            session.bring_on()
            seqs = set.intersection(*map(session.places, needs))
            if owner is None or self._owner(session) == owner:
                newest = sorted(seqs, reverse=True)[:LOOKED_AT]
                sources = [one for seq in newest if (one := session.source(info.session_id, seq)) is not None]
                found += best(sources, text, words, limit=1)
        return found[:limit]

    def _owner(self, session: _Session) -> str | None:
        for owner, _, _ in reversed(self._segments_of(session)):
            payload = owner.rows[0].payload if owner.rows else None
            started = None if payload is None else decode(payload)
            if isinstance(started, SessionStarted) and started.owner is not None:
                return started.owner
        return None

    async def erase(self, session_id: str) -> None:
        session = self._get(session_id)
        if session.holder is not None and time.time() < session.held_until:
            raise Busy(session_id, describe(session.holder))
        session.rows = [msgspec.structs.replace(row, salt=None, payload=None, state="erased") for row in session.rows]
        session.contents, session.snapshots, session.words = {}, [], {}
        session.erased_at = session.erased_at or time.time()
        session.generation, session.holder = session.generation + 1, None
        for name, heir in self._sessions.items():
            if heir is not session and any(owner is session for owner, _, _ in self._segments(name)):
                heir.snapshots = []
                for row in heir.rows:
                    if row.payload is not None and isinstance(event := decode(row.payload), StepStarted):
                        for content in event.request.added:
                            heir.contents.pop(content, None)

    async def aclose(self) -> None:
        """Nothing to free."""

    def _get(self, session_id: str) -> _Session:
        session = self._sessions.get(session_id)
        if session is None:
            raise UnknownSession(f"There is no session {session_id}.")
        return session

    def _segments(self, session_id: str) -> list[tuple[_Session, int, int]]:
        """(session, events after, up to) from the oldest ancestor to the session itself."""
        return self._segments_of(self._get(session_id))

    def _segments_of(self, session: _Session) -> list[tuple[_Session, int, int]]:
        segments = [(session, session.first, session.head)]
        upper = session.first
        while session.parent is not None:
            session = self._get(session.parent.session_id)
            if upper > session.first:
                segments.append((session, session.first, upper))
            upper = min(upper, session.first)
        return segments[::-1]


def _info(name: str, session: _Session) -> SessionInfo:
    parent = session.parent
    return SessionInfo(
        name,
        session.head,
        session.head_hash.hex(),
        session.created_at,
        session.updated_at,
        parent.session_id if parent else None,
        parent.seq if parent else None,
        session.erased_at,
    )
