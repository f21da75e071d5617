"""When a failed request is sent again.

Invariant: pure. The server's own wait is the least one, backoff only lengthens it; attempts and time are bounded. The
loop does the waiting, so that each attempt is an event.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from ..errors import ModelError


class RetryPolicy(Struct, frozen=True):
    """Bounds of the retries of one step."""

    attempts: int = 5
    """Requests in all, the first one included."""
    base: float = 0.5
    """Seconds: the longest first wait; doubled each time."""
    longest: float = 30.0
    """Seconds: the longest wait that backoff alone makes."""
    longest_told: float = 120.0
    """Seconds: a server that wants more than this is not waited for."""
    total: float = 300.0
    """Seconds: all waits of the step together."""


DEFAULT_POLICY = RetryPolicy()


def delay(
    error: ModelError, attempt: int, policy: RetryPolicy, random: Callable[[], float], waited: float = 0.0
) -> float | None:
    """Seconds to wait before the next attempt, or None when there should be none.

    ``attempt``: the number of the one that failed, from 1. ``random``: gives numbers from 0 to 1. ``waited``: seconds
    waited in this step so far. An error with a remedy that was applied needs no wait: ask ``learn`` first.
    """
    if not error.retryable or attempt >= policy.attempts:
        return None
    # Half fixed, half random: spread out, but never at once.
    backoff = min(policy.longest, policy.base * 2.0 ** min(attempt - 1, 32))
    wait = backoff / 2 + backoff / 2 * random()
    if error.retry_after is not None:
        if error.retry_after > policy.longest_told:
            return None
        # A little later than told, since everybody who was told the same comes back then.
        wait = max(error.retry_after + min(1.0, policy.base) * random(), wait)
    return wait if waited + wait <= policy.total else None
