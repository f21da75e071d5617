"""A session in memory: its log's state, what is about to be appended, and the right to append it.

Invariant: the state is the fold of what is stored and of what is staged; nothing staged waits for anything but the
store. Facts (what the world did) are appended behind whatever others appended meanwhile; decisions are dropped then and
made anew.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence

from . import events as ev
from . import snapshots
from .codec import encode
from .commands import check_given
from .errors import Conflict, DamagedLog, StoreError, UnknownSession
from .failpoint import failpoint
from .fold import apply, closes_exchange, conversation_at
from .masking import NOTHING
from .state import State, content_hash
from .store.base import SHARED, EventStore, Lease
from .store.liveness import this_process
from .text import encodable

LEASE_SECONDS = 30.0
"""How long a driver that says nothing is still believed to be there."""
CHECKED_FIRST = 1000
"""A log of so many events is verified before its session is driven; a longer one meanwhile."""

_heads = logging.getLogger("agent_core.heads")
"""Where each drive leaves the head of its log, for operators to keep elsewhere: what ``verify`` can be given."""


_NEEDS_MORE = (ev.RunStarted, ev.RolledBack)
"""Events that are folded with something that has to be read first."""


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
    """Use ``open_session`` or ``new_session``; ``lease`` is set while this process drives."""

    def __init__(self, store: EventStore, session_id: str) -> None:
        self.store, self.session_id = store, session_id
        self.state = State(session_id=session_id)
        self.lease: Lease | None = None
        self.lease_seconds = LEASE_SECONDS
        self.clock: Callable[[], float] = time.time
        self.masker = NOTHING
        """Everything staged passes through it."""
        self.checked: set[str] = set()
        """Sessions that were verified whole in this process; may be shared."""
        self._stored = 0
        self._head: ev.Recorded | None = None
        """The newest event that this session appended itself."""
        self._saved, self._saved_size = 0, 0
        """Event and bytes of the newest snapshot that is known."""
        self._read = False
        """Something was read of the store, so the log is not this session's own work alone."""
        self._skipped = 0
        """Events that were not read, since a snapshot stood in for them."""
        self._due: tuple[int, bytes] | None = None
        self._saving: asyncio.Task[None] | None = None
        self._staged: list[tuple[ev.Recorded, bool]] = []
        self._new_contents: dict[str, bytes] = {}
        self._contents = _Contents()
        self._earlier: dict[int, State] = {}
        """Conversations that rollbacks go back to, by event."""
        self._foreign: list[ev.Recorded] = []
        self._doubtful = 0
        """How much of what is staged may be stored already: the append was no longer waited for."""

    def stage(
        self, events: Sequence[ev.DurableEvent], *, fact: bool = False, contents: Mapping[str, bytes] | None = None
    ) -> None:
        """Puts events behind the state; they are stored by the next ``flush``."""
        if contents:
            self._new_contents.update(contents)
            self._contents.known.update((name, data) for name, data in contents.items() if name[0] == SHARED)
        for event in map(self.masker.value, events) if self.masker else events:
            item = ev.Recorded(self.session_id, self.state.seq + 1, round(self.clock() * 1e6) / 1e6, event)
            self._apply(item)
            self._staged.append((item, fact))

    async def flush(self, *, release: bool = False) -> list[ev.Recorded]:
        """Stores what is staged, in one transaction, and returns it after what others appended. ``release`` gives the
        lease back with it.

        Raises ``Conflict`` when the log went on meanwhile: the state is then up to date, decisions are dropped, and
        facts are staged again behind the rest. ``Fenced`` when the lease is lost.
        """
        if not self._staged:
            return self._take_foreign()
        events, driving = [item.event for item, _ in self._staged], self.lease is not None
        failpoint("before_append", events)
        if self._due is not None:  # begun before the append, so that it shares its transaction
            self._saving = asyncio.create_task(self._save())
        try:
            recorded = await self.store.append(
                self.session_id,
                events,
                expected_seq=self._stored,
                lease=self.lease,
                contents=self._new_contents,
                at=[item.at for item, _ in self._staged],
                release=release,
            )
        except Conflict:
            await self._restage()
            raise
        except asyncio.CancelledError:
            self._doubtful = len(events)
            raise
        failpoint("after_append", events)
        if release:
            self.lease = None
        self._stored = self.state.seq
        self._staged, self._new_contents, self._doubtful = [], {}, 0
        self._head = recorded[-1]
        if driving and snapshots.is_due(self._stored - self._saved, self._saved_size):
            data = snapshots.encode_state(self.state)
            self._due = None if data is None else (self._stored, data)
            self._saved, self._saved_size = self._stored, len(data or b"")
        return [*self._take_foreign(), *recorded]

    async def flush_facts(self) -> list[ev.Recorded]:
        """Stores what is staged, whatever others append meanwhile; for facts only."""
        while True:
            try:
                return await self.flush()
            except Conflict:
                continue

    async def catch_up(self) -> None:
        """Folds what others appended. Nothing may be staged."""
        known, contents = self._stored, self._contents
        if not known:
            await self._begin_at_snapshot()
        async for item in self.store.read(self.session_id, self.state.seq):
            if type(item.event) in _NEEDS_MORE:
                await self._fetch(item)
                self._apply(item)
            else:
                apply(self.state, item, contents)
            if known:
                self._foreign.append(item)
        self._stored = self.state.seq
        self._read = self._read or (not known and self.state.seq > 0)

    async def was_interrupted(self) -> bool:
        """Whether somebody appended an interrupt that the state does not know of yet."""
        head = (await self.store.session(self.session_id)).head
        if head <= self._stored:
            return False
        async for item in self.store.read(self.session_id, self._stored):
            if isinstance(item.event, ev.RunInterrupted):
                return True
        return False

    async def command(
        self, decide: Callable[[State], Sequence[ev.DurableEvent]], contents: Mapping[str, bytes] | None = None
    ) -> list[ev.Recorded]:
        """Appends what ``decide`` makes of the newest state; its precondition and the append are one step."""
        while True:
            events = decide(self.state)
            if not events:
                return []
            check_given(events)
            self.stage(events, contents=contents)
            try:
                return await self.flush()
            except Conflict:
                continue

    async def acquire(self) -> None:
        """Takes the lease of a stored session and catches up; raises ``Busy``."""
        taking = asyncio.ensure_future(self.store.acquire(self.session_id, seconds=self.lease_seconds))
        try:
            self.lease = await asyncio.shield(taking)
        except asyncio.CancelledError:
            with contextlib.suppress(StoreError):
                self.lease = await taking  # so that it is given back, and not left to expire
            raise
        await self.catch_up()
        if self.state.seq <= CHECKED_FIRST:
            await self.check()

    async def check(self) -> None:
        """Verifies the log that this process did not write itself, once; raises ``DamagedLog``."""
        if self._read and self.session_id not in self.checked:
            await self.store.verify(self.session_id)
            self.checked.add(self.session_id)

    async def close(self) -> None:
        """Gives the lease back, and says where the log stands."""
        try:
            if self.lease is not None:
                lease, self.lease = self.lease, None
                await self.store.release(lease)
        finally:
            if self._head is not None:
                _heads.info("head of %s: event %d %s", self.session_id, self._head.seq, self._head.hash)
            if self._saving is not None:
                await asyncio.wait({self._saving})
            await self._save()

    async def _restage(self) -> None:
        """Puts the facts among what was staged behind what is stored by now; contents are kept for them."""
        staged, doubtful = self._staged, self._doubtful
        met = len(self._foreign)
        await self._rebuild()
        if doubtful:
            first = [encode(item.event) for item in self._foreign[met : met + doubtful]]
            if first == [encode(item.event) for item, _ in staged[:doubtful]]:
                staged = staged[doubtful:]
        for item, fact in staged:
            if fact and not self._is_stale(item.event):
                self.stage([item.event], fact=True)  # type: ignore[list-item]

    async def _rebuild(self) -> None:
        """The state from what is stored alone, since what was staged on top of it is void."""
        before = self._stored
        self._staged, self._stored, self._doubtful = [], 0, 0
        await self._begin_at_snapshot(before)
        async for item in self.store.read(self.session_id, self.state.seq):
            if isinstance(item.event, _NEEDS_MORE):
                await self._fetch(item)
            self._apply(item)
            if item.seq is not None and item.seq > before:
                self._foreign.append(item)
        self._stored = self.state.seq

    async def _begin_at_snapshot(self, at_or_before: int | None = None) -> None:
        """The newest state that was kept and is still to be believed, else that of an empty log."""
        self.state, version = State(session_id=self.session_id), snapshots.schema()
        if version is None or at_or_before == 0:
            return
        found = await self.store.latest_snapshot(self.session_id, at_or_before, schema=version)
        state = None if found is None else snapshots.decode_state(found.data)
        if found is not None and state is not None and state.seq == found.seq:
            state.session_id = self.session_id  # it may be a parent's
            self.state, self._skipped = state, found.seq
            self._saved, self._saved_size = found.seq, len(found.data)

    async def _save(self) -> None:
        """Stores the snapshot that is due; that it could not be stored is met again by the next append."""
        due, version = self._due, snapshots.schema()
        self._due = None
        if due is not None and version is not None:
            with contextlib.suppress(StoreError):
                await self.store.snapshot(self.session_id, *due, schema=version)

    async def conversation_at(self, seq: int) -> State:
        """The conversation at an event, which is then ready to be rolled back to."""
        if seq not in self._earlier:
            items = []
            async for item in self.store.read(self.session_id):
                if item.seq is None or (item.seq > seq and closes_exchange(item.event)):
                    break
                await self._fetch_environment(item)
                items.append(item)
            self._earlier[seq] = conversation_at(items, seq, self._contents)
        return self._earlier[seq]

    def _apply(self, item: ev.Recorded) -> None:
        earlier = self._earlier[_goes_back_to(item)] if isinstance(item.event, ev.RolledBack) else None
        apply(self.state, item, self._contents, earlier)

    async def _fetch(self, item: ev.Recorded) -> None:
        await self._fetch_environment(item)
        if isinstance(item.event, ev.RolledBack):
            await self.conversation_at(_goes_back_to(item))

    async def _fetch_environment(self, item: ev.Recorded) -> None:
        if isinstance(item.event, ev.RunStarted) and item.event.environment not in self._contents:
            name = item.event.environment
            data = (await self.store.contents(self.session_id, [name])).get(name)
            if data is None or SHARED + content_hash(data) != name:
                raise DamagedLog(self.session_id, item.seq or 0, "what its run depends on is missing or altered")
            self._contents.known[name] = data

    def _take_foreign(self) -> list[ev.Recorded]:
        met, self._foreign = self._foreign, []
        return met

    def _is_stale(self, event: ev.AnyEvent) -> bool:
        """A second result of a call is no fact any more."""
        if not isinstance(event, ev.ToolCallFinished):
            return False
        call = self.state.find_call(event.call_id)
        return call is not None and call.result is not None


def _goes_back_to(item: ev.Recorded) -> int:
    """The event that a rollback goes back to; one before it, whatever it says."""
    assert isinstance(item.event, ev.RolledBack), "only a rollback goes back"
    return min(item.event.to_seq, (item.seq or 1) - 1)


def new_session(store: EventStore, session_id: str) -> Session:
    """A session that does not exist yet; its first append creates it and takes its lease."""
    session = Session(store, session_id)
    session.lease = Lease(session_id, 1, this_process().text())
    return session


async def open_session(store: EventStore, session_id: str) -> Session:
    """The session at its newest event; raises ``UnknownSession``."""
    check_id(session_id)
    session = Session(store, session_id)
    await session.catch_up()
    if session.state.seq == 0:
        raise UnknownSession(f"There is no session {session_id}.")
    return session


def check_id(session_id: str) -> None:
    """Raises ``UnknownSession`` for what cannot be the id of a session, since no store could hold it."""
    if encodable(session_id) != session_id:
        raise UnknownSession(f"There is no session {encodable(session_id)}.")


def new_salt() -> str:
    """Key of a session's content names."""
    return secrets.token_hex(16)
