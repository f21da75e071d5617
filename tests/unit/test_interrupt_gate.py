"""One task stops what another waits for, and leaves nothing behind."""

from __future__ import annotations

import asyncio
import gc
import warnings
from collections.abc import AsyncIterator

import pytest

from agent_core.interrupt import Gate, Stopped


async def test_a_wait_gives_its_result() -> None:
    assert await Gate().wait(asyncio.sleep(0, "x")) == "x"


async def test_a_wait_is_ended_and_so_is_every_later_one() -> None:
    gate = Gate()
    asyncio.get_running_loop().call_soon(gate.stop)
    with pytest.raises(Stopped):
        await gate.wait(asyncio.sleep(60))
    with pytest.raises(Stopped):
        await gate.wait(asyncio.sleep(0))
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0
    await asyncio.sleep(0)


async def test_what_is_not_awaited_any_more_is_closed_quietly() -> None:
    async def stream() -> AsyncIterator[int]:
        yield 1

    gate = Gate()
    gate.stop()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for awaitable in (asyncio.sleep(0), anext(stream(), None), asyncio.get_running_loop().create_future()):
            with pytest.raises(Stopped):
                await gate.wait(awaitable)
        gc.collect()


async def test_stopping_between_two_waits_does_not_touch_the_code_there() -> None:
    gate = Gate()
    await gate.wait(asyncio.sleep(0))
    gate.stop()
    await asyncio.sleep(0.001)
    with pytest.raises(Stopped):
        await gate.wait(asyncio.sleep(0))


async def test_a_cancellation_from_elsewhere_passes_through() -> None:
    gate = Gate()
    waiting = asyncio.ensure_future(gate.wait(asyncio.sleep(60)))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting


@pytest.mark.parametrize("first", ["stop", "cancel"])
async def test_of_a_stop_and_a_cancellation_at_once_the_cancellation_counts(first: str) -> None:
    gate = Gate()
    counts: list[int] = []

    async def wait() -> None:
        try:
            await gate.wait(asyncio.sleep(60))
        finally:
            task = asyncio.current_task()
            assert task is not None
            counts.append(task.cancelling())

    waiting = asyncio.ensure_future(wait())
    await asyncio.sleep(0)
    for do in (gate.stop, waiting.cancel) if first == "stop" else (waiting.cancel, gate.stop):
        do()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert counts == [1], "only the cancellation from elsewhere is left"


async def test_a_timeout_around_a_stopped_wait_still_works() -> None:
    gate = Gate()
    asyncio.get_running_loop().call_soon(gate.stop)
    async with asyncio.timeout(5):
        with pytest.raises(Stopped):
            await gate.wait(asyncio.sleep(60))
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await Gate().wait(asyncio.sleep(60))


async def test_work_that_swallows_the_stop_gives_its_result_and_leaves_no_cancellation() -> None:
    async def stubborn() -> str:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            return "anyway"
        return "never"

    gate = Gate()
    asyncio.get_running_loop().call_soon(gate.stop)
    assert await gate.wait(stubborn()) == "anyway"
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0
    with pytest.raises(Stopped):
        await gate.wait(asyncio.sleep(0))
