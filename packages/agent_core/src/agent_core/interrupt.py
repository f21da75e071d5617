"""Lets one task stop what another one waits for.

Invariant: only a wait that goes through the gate is ever stopped, never code of the consumer between two items; a
cancellation that comes from elsewhere passes through untouched.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any, TypeVar

T = TypeVar("T")


class Stopped(Exception):
    """The wait was ended through ``Gate.stop``."""


class Gate:
    """``await gate.wait(x)`` gives the result of ``x``, or raises ``Stopped`` once ``stop`` was called."""

    def __init__(self) -> None:
        self._stopped = False
        self._task: asyncio.Task[Any] | None = None

    async def wait(self, awaitable: Awaitable[T]) -> T:
        """Waits for ``awaitable``; at most one task at a time may do so."""
        if self.is_stopped():
            if asyncio.iscoroutine(awaitable):
                awaitable.close()
            raise Stopped
        task = self._task = asyncio.current_task()
        try:
            return await awaitable
        except asyncio.CancelledError:
            if self.is_stopped() and task is not None and task.uncancel() == 0:
                raise Stopped from None
            raise
        finally:
            self._task = None

    def is_stopped(self) -> bool:
        """Whether ``stop`` was called."""
        return self._stopped

    def stop(self) -> None:
        """Ends the wait that is going on, and every later one."""
        if not self._stopped:
            self._stopped = True
            if self._task is not None:
                self._task.cancel()
