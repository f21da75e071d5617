"""Locks on records: readers together, a writer alone, nobody overtakes, nobody waits for ever."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_core.tools.locks import KeyLocks

_keys = st.lists(st.sampled_from("abcde"), max_size=4)
_work = st.tuples(_keys, _keys, st.integers(0, 3), st.sampled_from(["goes on", "fails", "is cancelled"]))


class Watch:
    """Who is at which record right now."""

    def __init__(self) -> None:
        self.readers: Counter[str] = Counter()
        self.writers: Counter[str] = Counter()
        self.done = 0

    def enter(self, reads: list[str], writes: list[str]) -> None:
        for key in set(writes):
            assert not self.readers[key], "a writer beside a reader"
            assert not self.writers[key], "two writers"
            self.writers[key] += 1
        for key in set(reads) - set(writes):
            assert not self.writers[key], "a reader beside a writer"
            self.readers[key] += 1

    def leave(self, reads: list[str], writes: list[str]) -> None:
        for key in set(writes):
            self.writers[key] -= 1
        for key in set(reads) - set(writes):
            self.readers[key] -= 1
        self.done += 1


async def _all(works: list[Any]) -> None:
    locks, watch = KeyLocks(), Watch()

    async def one(reads: list[str], writes: list[str], pauses: int, end: str) -> None:
        async with locks.hold(reads, writes):
            watch.enter(reads, writes)
            try:
                for _ in range(pauses):
                    await asyncio.sleep(0)
                if end == "fails":
                    raise ValueError
            finally:
                watch.leave(reads, writes)

    tasks = [asyncio.ensure_future(one(*work)) for work in works]
    for turn in range(3):
        await asyncio.sleep(0)
        for task, work in zip(tasks, works, strict=True):
            if work[3] == "is cancelled" and work[2] <= turn:
                task.cancel()
    async with asyncio.timeout(5):
        await asyncio.gather(*tasks, return_exceptions=True)
    assert not locks._locks, "nothing is kept of records that nobody is at"
    expected = sum(work[3] != "is cancelled" for work in works)
    assert watch.done >= expected


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(_work, max_size=12))
def test_whatever_calls_touch_writers_are_alone_and_everybody_comes_to_an_end(works: list[Any]) -> None:
    asyncio.run(_all(works))


async def _holding(locks: KeyLocks, log: list[str], name: str, **keys: Any) -> asyncio.Event:
    """Starts somebody who holds the keys until the event is set."""
    over = asyncio.Event()

    async def work() -> None:
        async with locks.hold(keys.get("reads", ()), keys.get("writes", ())):
            log.append(name)
            await over.wait()

    task = asyncio.ensure_future(work())
    _tasks[over] = task
    await asyncio.sleep(0)
    return over


_tasks: dict[asyncio.Event, asyncio.Task[None]] = {}


async def _end(*events: asyncio.Event) -> None:
    for event in events:
        event.set()
        with contextlib.suppress(asyncio.CancelledError):
            await _tasks.pop(event)
    await asyncio.sleep(0)


async def test_readers_are_together_and_a_waiting_writer_is_not_overtaken() -> None:
    locks, log = KeyLocks(), list[str]()
    first = await _holding(locks, log, "r1", reads="a")
    second = await _holding(locks, log, "r2", reads="a")
    writer = await _holding(locks, log, "w", writes="a")
    third = await _holding(locks, log, "r3", reads="a")
    assert log == ["r1", "r2"]
    await _end(first, second)
    assert log == ["r1", "r2", "w"]
    await _end(writer)
    assert log == ["r1", "r2", "w", "r3"]
    await _end(third)


async def test_who_waits_behind_somebody_that_gave_up_goes_on_at_once() -> None:
    locks, log = KeyLocks(), list[str]()
    first = await _holding(locks, log, "r1", reads="a")
    writer = await _holding(locks, log, "w", writes="a")
    second = await _holding(locks, log, "r2", reads="a")
    assert log == ["r1"]
    _tasks[writer].cancel()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert log == ["r1", "r2"], "the writer is gone, so nothing keeps readers apart"
    await _end(first, second, writer)


async def test_other_records_are_not_waited_for() -> None:
    locks, log = KeyLocks(), list[str]()
    one = await _holding(locks, log, "a", writes="a")
    other = await _holding(locks, log, "b", writes="b")
    assert log == ["a", "b"]
    await _end(one, other)


async def test_a_key_that_is_read_and_written_is_written() -> None:
    locks, log = KeyLocks(), list[str]()
    one = await _holding(locks, log, "both", reads="a", writes="a")
    other = await _holding(locks, log, "reader", reads="a")
    assert log == ["both"]
    await _end(one, other)
    assert log == ["both", "reader"]


async def test_keys_named_in_opposite_orders_do_not_wait_for_each_other() -> None:
    locks = KeyLocks()

    async def work(keys: str) -> None:
        for _ in range(50):
            async with locks.hold((), keys):
                await asyncio.sleep(0)

    async with asyncio.timeout(5):
        await asyncio.gather(work("abc"), work("cba"), work("bca"), work("ba"))
