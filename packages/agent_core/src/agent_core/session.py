"""A session in memory: its log's state, kept in step with the store, and the right to append to it.

Invariant: the state is always the fold of what the store acknowledged. Facts that must not be lost are appended again
behind whatever came in between; decisions are not, they are made anew.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence

from . import events as ev
from .errors import Conflict, UnknownSession
from .fold import apply
from .state import State
from .store.base import SHARED, EventStore, Lease

LEASE_SECONDS = 30.0
"""How long a driver that says nothing is still believed to be there."""


class _Contents(Mapping[str, bytes]):
    """The contents fetched so far; asking for another one is a programming error."""

    def __init__(self) -> None:
        self.known: dict[str, bytes] = {}

    def __getitem__(self, name: str) -> bytes:
        return self.known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.known)

    def __len__(self) -> int:
        return len(self.known)


class Session:
    """Use ``open_session``; ``lease`` is set while this process drives."""

    def __init__(self, store: EventStore, session_id: str) -> None:
        self.store, self.session_id = store, session_id
        self.state = State(session_id=session_id)
        self.lease: Lease | None = None
        self.foreign: list[ev.Recorded] = []
        """Events that others appended, met while catching up, not yet handed to the reader of the run."""
        self._contents = _Contents()

    async def catch_up(self) -> None:
        """Folds what was appended since."""
        after = self.state.seq
        async for item in self.store.read(self.session_id, after):
            if isinstance(item.event, ev.RunStarted) and item.event.environment not in self._contents:
                self._contents.known.update(await self.store.contents(self.session_id, [item.event.environment]))
            apply(self.state, item, self._contents)
            if after:
                self.foreign.append(item)

    async def append(
        self, events: Sequence[ev.DurableEvent], contents: Mapping[str, bytes] | None = None
    ) -> list[ev.Recorded]:
        """Appends a decision; raises ``Conflict``, after having caught up, when the log went on meanwhile."""
        if contents:
            self._contents.known.update((name, data) for name, data in contents.items() if name.startswith(SHARED))
        try:
            recorded = await self.store.append(
                self.session_id, events, expected_seq=self.state.seq, lease=self.lease, contents=contents
            )
        except Conflict:
            await self.catch_up()
            raise
        for item in recorded:
            apply(self.state, item, self._contents)
        return recorded

    async def record(
        self, events: Sequence[ev.DurableEvent], contents: Mapping[str, bytes] | None = None
    ) -> list[ev.Recorded]:
        """Appends facts, behind whatever others appended meanwhile. A second result of a call is no fact any more."""
        while True:
            facts = [event for event in events if not self._is_stale(event)]
            if not facts:
                return []
            try:
                return await self.append(facts, contents)
            except Conflict:
                continue

    async def command(
        self, decide: Callable[[State], Sequence[ev.DurableEvent]], contents: Mapping[str, bytes] | None = None
    ) -> list[ev.Recorded]:
        """Appends what ``decide`` makes of the newest state; its precondition and the append are one step."""
        while True:
            events = decide(self.state)
            if not events:
                return []
            try:
                return await self.append(events, contents)
            except Conflict:
                continue

    def take_foreign(self) -> list[ev.Recorded]:
        """What others appended since the last call, for the reader of the run."""
        met, self.foreign = self.foreign, []
        return met

    async def close(self) -> None:
        """Gives the lease back."""
        if self.lease is not None:
            lease, self.lease = self.lease, None
            await self.store.release(lease)

    def _is_stale(self, event: ev.DurableEvent) -> bool:
        if not isinstance(event, ev.ToolCallFinished):
            return False
        call = self.state.find_call(event.call_id)
        return call is not None and call.result is not None


async def open_session(store: EventStore, session_id: str) -> Session:
    """The session at its newest event; raises ``UnknownSession``."""
    session = Session(store, session_id)
    await session.catch_up()
    if session.state.seq == 0:
        raise UnknownSession(f"There is no session {session_id}.")
    return session


def new_salt() -> str:
    """Key of a session's content names."""
    return secrets.token_hex(16)
