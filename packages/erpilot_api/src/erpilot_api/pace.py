"""How many requests somebody may send: buckets that fill again with time.

Invariant: bounded, however many addresses ask; a bucket that is full again is forgotten.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from .problems import Trouble

BUCKETS = 10_000


class Paces:
    """``burst`` requests at once, ``per_second`` in the long run, for each key."""

    def __init__(
        self, *, burst: float = 200.0, per_second: float = 50.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._burst, self._per_second, self._clock = burst, per_second, clock
        self._buckets: dict[str, tuple[float, float]] = {}
        """What is left, and when that was."""

    def check(self, key: str, cost: float = 1.0) -> None:
        """Takes ``cost`` from the bucket; raises ``Trouble`` with the time to wait when it holds less."""
        now = self._clock()
        left, then = self._buckets.pop(key, (self._burst, now))
        left = min(self._burst, left + (now - then) * self._per_second)
        if left < cost:
            self._buckets[key] = (left, now)
            raise Trouble("too-many", headers={"retry-after": str(max(1, round((cost - left) / self._per_second)))})
        if len(self._buckets) >= BUCKETS:
            self._forget(now)
        self._buckets[key] = (left - cost, now)

    def _forget(self, now: float) -> None:
        full = [
            key for key, (left, then) in self._buckets.items() if left + (now - then) * self._per_second >= self._burst
        ]
        for key in full or list(self._buckets)[: BUCKETS // 10]:
            del self._buckets[key]
