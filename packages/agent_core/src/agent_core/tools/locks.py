"""Locks on records, so that calls that touch the same ones do not overlap where one of them writes.

Invariant: readers of a key run together, a writer alone; keys are taken in sorted order, so that no two calls ever
wait for each other. Waiting is fair: nobody overtakes a writer that waits.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager


class _Lock:
    def __init__(self) -> None:
        self.readers = 0
        self.writing = False
        self.waiting: deque[tuple[bool, asyncio.Future[None]]] = deque()

    def free_for(self, writes: bool) -> bool:
        return not self.writing and not (writes and self.readers)

    def take(self, writes: bool) -> None:
        if writes:
            self.writing = True
        else:
            self.readers += 1

    def give(self, writes: bool) -> None:
        if writes:
            self.writing = False
        else:
            self.readers -= 1
        self.wake()

    def wake(self) -> None:
        """Lets in whoever is next and may."""
        while self.waiting:
            wants_to_write, future = self.waiting[0]
            if future.done():  # gave up waiting
                self.waiting.popleft()
            elif self.free_for(wants_to_write):
                self.waiting.popleft()
                self.take(wants_to_write)
                future.set_result(None)
            else:
                return


class KeyLocks:
    """The locks of all records that calls of one process are at."""

    def __init__(self) -> None:
        self._locks: dict[str, _Lock] = {}

    @asynccontextmanager
    async def hold(self, reads: Iterable[str], writes: Iterable[str]) -> AsyncIterator[None]:
        """Holds the keys while the block runs; waits for those that others hold."""
        wanted = dict.fromkeys(reads, False) | dict.fromkeys(writes, True)
        held: list[tuple[str, bool]] = []
        try:
            for key in sorted(wanted):
                await self._acquire(key, wanted[key])
                held.append((key, wanted[key]))
            yield
        finally:
            for key, writing in reversed(held):
                self._release(key, writing)

    async def _acquire(self, key: str, writes: bool) -> None:
        lock = self._locks.setdefault(key, _Lock())
        if not lock.waiting and lock.free_for(writes):
            lock.take(writes)
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        lock.waiting.append((writes, future))
        try:
            await future
        except asyncio.CancelledError:
            if future.done() and not future.cancelled():  # it was given just now: hand it on
                self._release(key, writes)
            else:
                lock.wake()  # who waited behind may be free to go
            raise

    def _release(self, key: str, writes: bool) -> None:
        lock = self._locks[key]
        lock.give(writes)
        if not lock.waiting and not lock.writing and not lock.readers:
            del self._locks[key]
