"""What a store of logs promises, and the values it deals in.

Invariant: ``append`` is atomic and durable when it returns; the events of a session are numbered 1, 2, 3 … without a
gap, a fork's beginning with those of its parent; nothing is ever changed in place. Only ``erase`` takes something
away, and what it leaves says so.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from typing import Literal, Protocol

from msgspec import Struct

from ..context.passages import Passage
from ..events import AnyEvent, Recorded

SHARED = "="
"""First character of the names of contents that are the same for many sessions (tool sets, prompts): kept once for
all.
"""


FIRST_LEASE = 30.0
"""Seconds that the lease taken with the creation of a session holds unless it is renewed."""


class Lease(Struct, frozen=True):
    """The right to drive a session. A later lease has a higher ``generation`` and fences this one off."""

    session_id: str
    generation: int
    holder: str


class SessionInfo(Struct, frozen=True):
    """A session in a list. Times in Unix seconds; ``head`` is the newest event's number, ``head_hash`` its hash,
    hex. ``erased_at``: when its own events were erased.
    """

    session_id: str
    head: int
    head_hash: str
    created_at: float
    updated_at: float
    parent: str | None = None
    parent_seq: int | None = None
    erased_at: float | None = None


class Head(Struct, frozen=True):
    """The newest event of a session as it was noted somewhere else; ``hash`` is hex."""

    session_id: str
    seq: int
    hash: str


Span = tuple[int, int]
"""First and last number of events that follow each other."""


class Verified(Struct, frozen=True):
    """The chain of a session up to ``head`` is whole.

    ``anchored``: it was held against a head from outside. Without one it cannot be ruled out that the end of the log
    and the store's own head were cut off together. ``erased`` and ``redacted``: events whose payload is gone, or stands
    there masked; their digests alone are part of the chain.
    """

    session_id: str
    head: int
    head_hash: str
    anchored: bool = False
    erased: tuple[Span, ...] = ()
    redacted: tuple[Span, ...] = ()


PayloadState = Literal["original", "redacted", "erased"]


class Row(Struct, frozen=True):
    """An event as it is stored and exported.

    ``at`` in microseconds since 1970. ``digest`` is always that of the original payload. ``redacted``: ``payload`` is a
    masked variant and there is no salt; ``erased``: there is neither payload nor salt.
    """

    seq: int
    at: int
    type: str
    salt: bytes | None
    payload: bytes | None
    digest: bytes
    hash: bytes
    state: PayloadState = "original"


class Snapshot(Struct, frozen=True):
    """A state as it was stored: after event ``seq``, encoded by whoever knows ``schema``."""

    seq: int
    data: bytes
    schema: str


SNAPSHOTS_KEPT = 2
"""Per session, the newest."""


class EventStore(Protocol):
    """Keeps the logs. Errors: ``Conflict``, ``Fenced``, ``Busy``, ``UnknownSession``, ``DamagedLog``, ``Erased``,
    ``StoreError``.
    """

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
        """Appends all events or none. ``expected_seq`` 0 begins a session; another head raises ``Conflict``.

        ``at``: Unix seconds of each event, else now. ``release`` gives the lease back in the same transaction. A lease
        of generation 1 for a session that does not exist yet is taken with its creation.
        With a ``lease`` that is no longer the newest, raises ``Fenced``. ``contents`` are kept with the session, by
        hash.
        """
        ...

    def read(self, session_id: str, after: int = 0) -> AsyncIterator[Recorded]:
        """The events after ``after``, in order, those of fork parents first. Raises ``Erased`` at the first one whose
        payload is gone, ``DamagedLog`` at one that is not what was written; never ends early without saying so.
        """
        ...

    async def contents(self, session_id: str, hashes: Iterable[str]) -> dict[str, bytes]:
        """The contents of these names that are kept for the session or one of its parents."""
        ...

    async def fork(self, session_id: str, at_seq: int) -> str:
        """A new session that inherits the events 1 to ``at_seq``; copies none of them."""
        ...

    async def sessions(self) -> list[SessionInfo]:
        """All sessions, the one used last first."""
        ...

    async def session(self, session_id: str) -> SessionInfo:
        """One session; raises ``UnknownSession``."""
        ...

    async def acquire(self, session_id: str, *, seconds: float) -> Lease:
        """Takes the right to drive a session, which may not exist yet; raises ``Busy`` while another process holds it.

        A holder that is known to be dead, or has not renewed for as long as it asked for, holds nothing.
        """
        ...

    async def renew(self, lease: Lease, *, seconds: float) -> None:
        """Holds on to it; raises ``Fenced`` when it is lost."""
        ...

    async def release(self, lease: Lease) -> None:
        """Gives it back; harmless when it is lost already."""
        ...

    async def verify(self, session_id: str, *, against: Head | None = None) -> Verified:
        """Checks every hash and the store's own head, and a head that was noted elsewhere; raises ``DamagedLog`` with
        the first bad event.
        """
        ...

    async def snapshot(self, session_id: str, seq: int, data: bytes, *, schema: str) -> None:
        """Keeps a state for ``latest_snapshot``; the two newest of a session are kept.

        A cache: a store may drop any of them at any time. One that lies behind the head is not taken.
        """
        ...

    async def latest_snapshot(
        self, session_id: str, at_or_before: int | None = None, *, schema: str
    ) -> Snapshot | None:
        """The newest undamaged snapshot of ``schema``; one of a fork's parents counts up to the event it branched off
        at.
        """
        ...

    def rows(self, session_id: str, until: int | None = None) -> AsyncIterator[Row]:
        """The events up to ``until`` as they are stored, whatever became of their payloads; unchecked."""
        ...

    async def adopt(self, session_id: str, rows: Sequence[Row], contents: Mapping[str, bytes]) -> None:
        """Takes a whole session over as it stands: same numbers, times, digests and hashes. The caller has checked
        them; raises ``Conflict`` when there is a session of this name.
        """
        ...

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
        """The passages of the session's log, fork parents included, that answer a question best, the best first: at
        most ``limit``, of the events in ``within`` only, that have ``least`` (0 to 1) of the question in common with
        it. ``now`` (Unix seconds): what "yesterday" is seen from.

        What this is looked up in is an index: it can be deleted and comes back by itself. Events are found as they
        stand, erased ones never.
        """
        ...

    async def search(self, text: str, *, owner: str | None = None, limit: int = 20) -> list[Passage]:
        """Where all words of ``text`` stand together: the best passage of each session, the session used last first.

        ``owner``: only sessions of this owner, None: of everybody. What a fork inherited is found in its parent.
        """
        ...

    async def erase(self, session_id: str) -> None:
        """Removes payloads, salts, contents and snapshots of a session for good; the chain of digests stays.

        What its forks inherited is gone as well: their snapshots and stored requests go with it, the events they
        appended themselves stay. Raises ``Busy`` while somebody drives the session. Harmless when repeated.
        """
        ...

    async def aclose(self) -> None:
        """Frees what the store holds; what was acknowledged is on disk already."""
        ...
