"""Several processes over one file: writers, readers, rivals, stalled and dead drivers."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from agent_core import events as ev
from agent_core.errors import Busy
from agent_core.store.sqlite import SqliteStore
from agent_core.testing import ErpDouble
from agent_core.testing.log_checks import read_all
from tests.support.loops import collect, loop_over, of_type
from tests.support.processes import drive, finish, hold, read_many, run, start, write_many
from tests.support.requests import log_of


def wait_until(holds: Callable[[], Any], seconds: float = 15.0) -> Any:
    """What ``holds`` gives once it is true."""
    end = time.monotonic() + seconds
    while not (value := holds()):
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.01)
    return value


def outcome(home: Path, mark: str) -> dict[str, Any]:
    result: dict[str, Any] = msgspec.json.decode((home / mark).read_bytes())
    return result


async def begun(home: Path) -> str:
    """A session in a new store of ``home``."""
    store = SqliteStore(home / "log.db")
    loop, _ = loop_over("hello", store=store)
    session_id = (await collect(loop.run("hi")))[0].session_id
    await store.aclose()
    return session_id


async def test_x3_eight_writers_and_two_readers_of_a_new_file_never_meet_a_lock(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    writers = [start(write_many, path, f"s{number}", 200) for number in range(8)]
    readers = [start(read_many, path, 1600) for _ in range(2)]
    assert [finish(process, 60) for process in [*writers, *readers]] == [0] * 10
    store = SqliteStore(path)
    for number in range(8):
        assert len(await read_all(store, f"s{number}")) == 200
        await store.verify(f"s{number}")
    await store.aclose()


async def test_x1_of_two_processes_with_one_session_one_drives_and_the_other_says_so_within_a_second(
    tmp_path: Path,
) -> None:
    session_id = await begun(tmp_path)
    for round_number in range(3):
        marks = [f"one{round_number}", f"two{round_number}"]
        processes = [start(drive, tmp_path, session_id, mark, 30.0, 0.3) for mark in marks]
        assert [finish(process) for process in processes] == [0, 0]
        results = sorted((outcome(tmp_path, mark) for mark in marks), key=lambda result: str(result["ended"]))
        assert [result["ended"] for result in results] in (["busy", "completed"], ["completed", "completed"])
        if results[0]["ended"] == "busy":
            assert results[0]["seconds"] < 1.0
            assert "process" in results[0]["holder"]
    store = SqliteStore(tmp_path / "log.db")
    log = await log_of(store, session_id)
    for position, item in enumerate(log):
        if isinstance(item.event, ev.ToolCallStarted):
            assert isinstance(log[position + 1].event, ev.ToolCallFinished), "no other driver comes between"
    await store.verify(session_id)
    await store.aclose()


async def test_x2_a_driver_that_wakes_up_behind_its_lease_appends_nothing_and_starts_no_effect(tmp_path: Path) -> None:
    session_id = await begun(tmp_path)
    erp = ErpDouble(tmp_path / "erp.db")
    stalled = start(drive, tmp_path, session_id, "stalled", 1.0, 0.4)
    wait_until(lambda: [asked for asked in erp.requests("read_stock") if asked.arguments == '{"sku":"stalled"}'])
    os.kill(stalled.pid, signal.SIGSTOP)
    try:
        await asyncio.sleep(1.2)
        assert run(drive, tmp_path, session_id, "second", 30.0, 0.0) == 0
        assert outcome(tmp_path, "second")["ended"] == "completed"
        store = SqliteStore(tmp_path / "log.db")
        before = await read_all(store, session_id)
    finally:
        os.kill(stalled.pid, signal.SIGCONT)
    assert finish(stalled) == 0
    result = outcome(tmp_path, "stalled")
    assert result["ended"] == "fenced"
    assert "another process" in result["message"]
    assert await read_all(store, session_id) == before, "not one more event"
    asked = [(request.tool, request.arguments) for request in erp.requests() if "stalled" in request.arguments]
    assert asked == [("read_stock", '{"sku":"stalled"}')], "nothing further was begun"
    kinds = [event.error.type if event.error else "ok" for event in of_type(before, ev.ToolCallFinished)]
    assert kinds == ["cancelled", "ok", "ok"]
    await store.verify(session_id)
    await store.aclose()


async def test_a_stalled_driver_whose_lease_nobody_wanted_goes_on(tmp_path: Path) -> None:
    session_id = await begun(tmp_path)
    erp = ErpDouble(tmp_path / "erp.db")
    stalled = start(drive, tmp_path, session_id, "stalled", 0.5, 0.3)
    wait_until(lambda: erp.requests("read_stock"))
    os.kill(stalled.pid, signal.SIGSTOP)
    await asyncio.sleep(0.8)
    os.kill(stalled.pid, signal.SIGCONT)
    assert finish(stalled) == 0
    assert outcome(tmp_path, "stalled")["ended"] == "completed"


async def test_the_lease_of_a_dead_process_is_taken_over_at_once(tmp_path: Path) -> None:
    session_id = await begun(tmp_path)
    path = tmp_path / "log.db"
    assert run(hold, path, session_id) == 0
    store = SqliteStore(path)
    began = time.monotonic()
    lease = await store.acquire(session_id, seconds=30)
    assert time.monotonic() - began < 1.0
    assert lease.generation >= 3
    with pytest.raises(Busy, match=f"process {os.getpid()}"):
        await store.acquire(session_id, seconds=30)
    await store.aclose()


async def test_a_killed_driver_is_replaced_at_once(tmp_path: Path) -> None:
    session_id = await begun(tmp_path)
    erp = ErpDouble(tmp_path / "erp.db")
    first = start(drive, tmp_path, session_id, "first", 3600.0, 5.0)
    wait_until(lambda: erp.requests("read_stock"))
    os.kill(first.pid, signal.SIGKILL)
    assert finish(first) == -signal.SIGKILL
    assert run(drive, tmp_path, session_id, "second", 30.0, 0.0) == 0
    result = outcome(tmp_path, "second")
    assert result["ended"] == "completed"
    assert result["seconds"] < 2.0
