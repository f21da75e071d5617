"""What a store of logs promises, and the values it deals in.

Invariant: ``append`` is atomic and durable when it returns; the events of a session are numbered 1, 2, 3 … without a
gap, a fork's beginning with those of its parent; nothing is ever changed in place.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from typing import Protocol

from msgspec import Struct

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
    hex.
    """

    session_id: str
    head: int
    head_hash: str
    created_at: float
    updated_at: float
    parent: str | None = None
    parent_seq: int | None = None


class Verified(Struct, frozen=True):
    """The chain of a session up to ``head`` is whole."""

    session_id: str
    head: int
    head_hash: str


class EventStore(Protocol):
    """Keeps the logs. Errors: ``Conflict``, ``Fenced``, ``Busy``, ``UnknownSession``, ``DamagedLog``,
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
        """The events after ``after``, in order, those of fork parents first."""
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

    async def verify(self, session_id: str) -> Verified:
        """Checks every hash and the head; raises ``DamagedLog`` with the first bad event."""
        ...

    async def aclose(self) -> None:
        """Frees what the store holds; what was acknowledged is on disk already."""
        ...
