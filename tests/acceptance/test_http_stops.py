"""Servers that end in the middle of things: asked to, asked twice, killed. Nothing is lost, nothing happens twice."""

from __future__ import annotations

import asyncio
import os
import signal
from collections import Counter
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from agent_core import events as ev
from agent_core.store.sqlite import SqliteStore
from agent_core.testing import ErpDouble
from erpilot_api.access import Access
from tests.support import http_process
from tests.support.http_api import KEY, PATIENCE, USERS, Client, Frame, Frames, durable, text_of
from tests.support.processes import finish
from tests.support.requests import log_of

RUNS = 50


def client_of(session: aiohttp.ClientSession, port: int) -> Client:
    return Client(session, f"http://127.0.0.1:{port}", Access(KEY, USERS).token("boss")[0])


class Stream:
    """A stream that is read to whatever end it comes to."""

    def __init__(self) -> None:
        self.frames: list[Frame] = []
        self.taken = Frames()

    async def read(self, client: Client, method: str, path: str, body: Any = None) -> None:
        try:
            async with client.session.request(
                method, client.base + path, json=body, headers=client.headers(), timeout=PATIENCE
            ) as answer:
                assert answer.status == 200
                async for piece in answer.content.iter_any():
                    self.frames += self.taken.take(piece)
        except aiohttp.ClientError:
            pass


async def finished(store: SqliteStore, sessions: list[str]) -> None:
    """Until each of the sessions has completed its run by itself."""
    for _ in range(2400):
        ends = []
        for session in sessions:
            log = await log_of(store, session)
            ends.append(isinstance(log[-1].event, ev.LoopEnd) and log[-1].event.completed)
        if all(ends):
            return
        await asyncio.sleep(0.05)
    raise AssertionError("not all of the runs were finished within two minutes")


@pytest.mark.parametrize("signals", [1, 2], ids=["asked once", "asked twice"])
async def test_h6_a_server_that_is_told_to_stop_ends_its_streams_and_loses_no_run(signals: int, tmp_path: Path) -> None:
    port = http_process.free_port()
    # So slow that none of the runs is over before all of the streams have begun.
    process = http_process.start(tmp_path, port, delay=0.2, pace=0.2)
    store = SqliteStore(tmp_path / "log.db")
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector) as session:
        client = client_of(session, port)
        streams = [Stream() for _ in range(RUNS)]
        reading = [
            asyncio.create_task(stream.read(client, "POST", "/api/chat/stream", {"message": "Order two, please."}))
            for stream in streams
        ]
        while not all(len(stream.frames) > 2 for stream in streams):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        for _ in range(signals):
            os.kill(process.pid, signal.SIGTERM)
            await asyncio.sleep(0.05)
        await asyncio.wait(reading)
        assert await asyncio.to_thread(finish, process) == 0
        for stream in streams:
            if stream.frames[-1].event == "done":
                continue  # its run was over
            if signals == 1:
                assert stream.taken.retries[-1] == 1000, "it is told when to come back"
        sessions = [info.session_id for info in await store.sessions()]
        assert len(sessions) == RUNS
        cut = [name for name in sessions if not isinstance((await log_of(store, name))[-1].event, ev.LoopEnd)]
        assert cut, "some were in the middle"
        process = http_process.start(tmp_path, port)
        await finished(store, sessions)
        again = [
            await client.read(
                f"/api/sessions/{stream.frames[0].data['session_id']}/events?after={max(durable(stream.frames))}"
            )
            for stream in streams
        ]
        for stream, rest in zip(streams, again, strict=True):
            ids = durable(stream.frames) + durable(rest)
            assert ids == list(range(1, len(ids) + 1))
        os.kill(process.pid, signal.SIGTERM)
        assert await asyncio.to_thread(finish, process) == 0
    effects = Counter(
        effect.key for effect in ErpDouble(tmp_path / "erp.db").effects() if effect.tool == "create_order"
    )
    assert len(effects) == RUNS
    assert set(effects.values()) == {1}
    for name in sessions:
        await store.verify(name)
        log = await log_of(store, name)
        assert not any(isinstance(item.event, ev.RunInterrupted) for item in log)
    await store.aclose()


@pytest.mark.parametrize("frame", ["TextDelta", "ToolCallStarted", "AssistantMessage"])
async def test_a_server_that_is_killed_between_two_frames_goes_on_and_a_client_that_comes_back_has_everything(
    frame: str, tmp_path: Path
) -> None:
    port = http_process.free_port()
    process = http_process.start(tmp_path, port, delay=0.005, pace=0.02)
    async with aiohttp.ClientSession() as session:
        client = client_of(session, port)
        seen: list[Frame] = []
        async with client.stream("/api/chat/stream", {"message": "Order two, please."}) as frames:
            async for each in frames:
                seen.append(each)
                if each.type == frame:
                    break
            process.kill()
        await asyncio.to_thread(process.join)
        name = seen[0].data["session_id"]
        process = http_process.start(tmp_path, port)
        rest: list[Frame] = []
        while not rest or rest[-1].data.get("reason") != "completed":
            path = f"/api/sessions/{name}/events?follow=run"
            last = str(max(durable([*seen, *rest])))
            rest += await client.read(path, headers={"Last-Event-ID": last})
        kept = [each for each in seen if each.seq is not None]
        ids = durable(seen) + durable(rest)
        assert ids == list(range(1, len(ids) + 1)), "everything, once each"
        assert text_of([*kept, *rest]).startswith("Let me look. ")
        assert "In all: " in text_of([*kept, *rest])
        process.terminate()
        assert await asyncio.to_thread(finish, process) == 0
    effects = [effect for effect in ErpDouble(tmp_path / "erp.db").effects() if effect.tool == "create_order"]
    assert len(effects) == 1
