"""Results of reads, kept until something writes what they read.

Invariant: an entry belongs to one person, tenant, backend, tool and canonical arguments; it is gone as soon as a
write that touches one of its records begins, and again when that write ends, so that no read that follows a write
sees what was before it. Writes of other programs are not seen here: an entry lives for ``seconds`` at the longest.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Iterable

from msgspec import Struct

Key = tuple[str | None, str | None, str, str, str]
"""(tenant, user, backend, tool, digest of the canonical arguments)"""


class CachedResult(Struct, frozen=True):
    """A result as it was recorded, whole."""

    content: str
    reads: frozenset[str] | None
    """Records it was made from; None: not known, so every write to its backend touches it."""
    backend: str
    until: float


class ResultCache:
    """At most ``size`` results, the least used go first."""

    def __init__(self, *, seconds: float = 30.0, size: int = 1000, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds, self._size, self._clock = seconds, size, clock
        self._entries: OrderedDict[Key, CachedResult] = OrderedDict()
        self._writes = 0

    @property
    def generation(self) -> int:
        """Counts writes. A read that began before one may not be kept after it."""
        return self._writes

    def get(self, key: Key) -> CachedResult | None:
        """The result, if it is still good."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        if self._clock() >= entry.until:
            del self._entries[key]
            return None
        self._entries.move_to_end(key)
        return entry

    def put(self, key: Key, content: str, reads: Iterable[str] | None, *, generation: int) -> None:
        """Keeps a result of a read that began at ``generation``; not when anything was written since."""
        if generation != self._writes or self._seconds <= 0:
            return
        self._entries[key] = CachedResult(
            content, None if reads is None else frozenset(reads), key[2], self._clock() + self._seconds
        )
        self._entries.move_to_end(key)
        while len(self._entries) > self._size:
            self._entries.popitem(last=False)

    def written(self, backend: str, writes: Iterable[str] | None) -> None:
        """A write begins or ends: drops what it touches; everything of its backend when ``writes`` is not known."""
        self._writes += 1
        keys = None if writes is None else frozenset(writes)
        touched = [
            key
            for key, entry in self._entries.items()
            if entry.backend == backend and (keys is None or entry.reads is None or keys & entry.reads)
        ]
        for key in touched:
            del self._entries[key]
