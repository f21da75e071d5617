"""Lets one task stop what another one waits for.

Invariant: only a wait that goes through the gate is ever stopped, never code of the consumer between two items; a
cancellation that comes from elsewhere passes through untouched, and none of the gate's own stays behind.
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
        self._cancelled = False
        """``stop`` has cancelled the wait that is going on."""

    async def wait(self, awaitable: Awaitable[T]) -> T:
        """Waits for ``awaitable``; at most one task at a time may do so."""
        if self._stopped:
            if (close := getattr(awaitable, "close", None)) is not None:
                close()  # a coroutine that nobody awaits would complain
            raise Stopped
        task = self._task = asyncio.current_task()
        assert task is not None, "only a task can wait"
        try:
            return await awaitable
        except asyncio.CancelledError:
            if self._cancelled and task.cancelling() == 1:
                raise Stopped from None
            raise
        finally:
            self._task = None
            if self._cancelled:
                self._cancelled = False
                task.uncancel()

    def stop(self) -> None:
        """Ends the wait that is going on, and every later one."""
        if not self._stopped:
            self._stopped = True
            if self._task is not None:
                self._cancelled = self._task.cancel()
