"""The store that forgets: for tests, for programs that need no history, and as the plainest statement of the contract.

Invariant: behaves as every other store (the conformance kit says how), except that nothing outlives the process.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ..codec import decode, encode, type_name
from ..errors import Busy, Conflict, DamagedLog, Fenced, StoreError, UnknownSession
from ..events import AnyEvent, Parent, Recorded, SessionStarted
from .base import FIRST_LEASE, Lease, SessionInfo, Verified
from .chain import GENESIS, link, new_salt, payload_digest
from .liveness import describe, this_process
from .sqlite import new_session_id


@dataclass
class _Row:
    at: int
    type: str
    salt: bytes
    payload: bytes
    digest: bytes
    hash: bytes


@dataclass
class _Session:
    created_at: float
    updated_at: float
    parent: Parent | None = None
    head_hash: bytes = GENESIS
    rows: list[_Row] = field(default_factory=list)
    contents: dict[str, bytes] = field(default_factory=dict)
    generation: int = 0
    holder: str | None = None
    held_until: float = 0.0

    @property
    def first(self) -> int:
        return self.parent.seq if self.parent else 0

    @property
    def head(self) -> int:
        return self.first + len(self.rows)


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
        encoded = [(event, type_name(event), encode(event)) for event in events]
        session.contents.update(contents or {})
        now = time.time_ns() // 1000
        recorded = []
        for position, (event, name, payload) in enumerate(encoded):
            at_us = now if at is None else round(at[position] * 1e6)
            salt, seq = new_salt(), session.head + 1
            digest = payload_digest(salt, payload)
            session.head_hash = link(session.head_hash, seq, at_us, name, digest)
            session.rows.append(_Row(at_us, name, salt, payload, digest, session.head_hash))
            recorded.append(Recorded(session_id, seq, at_us / 1e6, event, session.head_hash.hex()))
        session.updated_at = now / 1e6
        if release and lease is not None:
            await self.release(lease)
        return recorded

    async def read(self, session_id: str, after: int = 0) -> AsyncIterator[Recorded]:
        for owner, first, last in self._segments(session_id):
            for seq in range(max(after, first) + 1, last + 1):
                row = owner.rows[seq - first - 1]
                yield Recorded(session_id, seq, row.at / 1e6, decode(row.payload), row.hash.hex())

    async def contents(self, session_id: str, hashes: Iterable[str]) -> dict[str, bytes]:
        known: dict[str, bytes] = {}
        for owner, _, _ in self._segments(session_id):
            known.update(owner.contents)
        return {name: known[name] for name in hashes if name in known}

    async def fork(self, session_id: str, at_seq: int) -> str:
        head = self._get(session_id).head
        if not 1 <= at_seq <= head:
            raise StoreError(f"Session {session_id} has events 1 to {head}; {at_seq} is not one of them.")
        owner, first, _ = next(part for part in self._segments(session_id) if part[1] < at_seq <= part[2])
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
        session = self._get(lease.session_id)
        if session.generation == lease.generation:
            session.holder, session.held_until = None, 0.0

    async def verify(self, session_id: str) -> Verified:
        head = self._get(session_id)
        previous, expected = GENESIS, 1
        for owner, first, last in self._segments(session_id):
            for seq in range(first + 1, last + 1):
                row = owner.rows[seq - first - 1]
                if payload_digest(row.salt, row.payload) != row.digest:
                    raise DamagedLog(session_id, seq, "its content does not match its digest")
                previous = link(previous, seq, row.at, row.type, row.digest)
                if previous != row.hash:
                    raise DamagedLog(session_id, seq, "its hash does not follow from the one before")
                expected = seq + 1
        if expected - 1 != head.head or previous != head.head_hash:
            raise DamagedLog(session_id, expected, f"the log ends at {expected - 1}, its head says {head.head}")
        return Verified(session_id, head.head, head.head_hash.hex())

    async def aclose(self) -> None:
        """Nothing to free."""

    def _get(self, session_id: str) -> _Session:
        session = self._sessions.get(session_id)
        if session is None:
            raise UnknownSession(f"There is no session {session_id}.")
        return session

    def _segments(self, session_id: str) -> list[tuple[_Session, int, int]]:
        """(session, events after, up to) from the oldest ancestor to the session itself."""
        session = self._get(session_id)
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
    )
