"""H4: readers that do not read cost little, are cut off, can come back, and are in nobody's way."""

from __future__ import annotations

import asyncio
import gc
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, suppress
from typing import Any

import psutil
import pytest

from agent_core.messages import StreamEnd, TextDelta
from erpilot_api import channel, reading, streaming
from tests.support.http_api import Client, Frame, Frames, Running, durable, house_of, serving
from tests.support.loops import loop_over

PIECE = "0123456789" * 10
PIECES = 10_000


class Long:
    """Answers with many pieces, as fast as they are taken, once ``gate`` is open."""

    name = "long"

    def __init__(self) -> None:
        self.gate = asyncio.Event()

    async def stream_chat(self, messages: Any, tools: Any = (), **options: Any) -> AsyncIterator[Any]:
        await self.gate.wait()
        for number in range(PIECES):
            yield TextDelta(PIECE)
            if number % 20 == 0:
                await asyncio.sleep(0)
        yield StreamEnd()


async def _stalled(api: Running, session: str, token: str) -> socket.socket:
    """Opens a stream and never reads, with as little room for what comes as a system allows."""
    made = socket.socket()
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    made.setblocking(False)
    host = api.base.removeprefix("http://")
    await asyncio.get_running_loop().sock_connect(made, ("127.0.0.1", int(host.rsplit(":", 1)[1])))
    lines = (
        f"GET /api/sessions/{session}/events?follow=run HTTP/1.1",
        f"Host: {host}",
        f"Authorization: Bearer {token}",
    )
    await asyncio.get_running_loop().sock_sendall(made, "\r\n".join((*lines, "", "")).encode())
    return made


async def _whole(client: Client, session: str) -> tuple[list[int], Frame]:
    """Reads to the end and keeps little: the ids and the last frame."""
    ids: list[int] = []
    found: list[Frame] = []
    frames, rest = Frames(), b""
    path = f"{client.base}/api/sessions/{session}/events?follow=run"
    async with client.session.get(path, headers=client.headers()) as answer:
        async for piece in answer.content.iter_any():
            *blocks, rest = (rest + piece).split(b"\n\n")
            for block in blocks:
                if not block.startswith(b"data:"):  # a delta
                    found = frames.take(block + b"\n\n")
                    ids += durable(found)
    return ids, found[-1]


async def _until(happened: Callable[[], bool]) -> None:
    for _ in range(6000):
        if happened():
            return
        await asyncio.sleep(0.05)
    raise AssertionError("it did not happen within five minutes")


async def test_h4_300_readers_that_do_not_read_cost_little_and_the_20_that_do_lose_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(streaming, "STALLED", 3600.0)
    monkeypatch.setattr(streaming, "HEARTBEAT_SECONDS", 0.3)
    model = Long()
    loop, _ = loop_over(model=model)  # type: ignore[arg-type]
    async with serving(house_of(loop)) as api:
        client = api.client()
        token = str(client.token)
        async with client.stream("/api/chat/stream", {"message": "much"}) as first:
            session = str((await anext(first)).data["session_id"])
        with ExitStack() as sockets:
            stalled = [sockets.enter_context(await _stalled(api, session, token)) for _ in range(300)]
            readers = [asyncio.create_task(_whole(client, session)) for _ in range(20)]
            await _until(lambda: len(api.house.streams) == 320)
            gc.collect()
            before = psutil.Process().memory_info().rss
            model.gate.set()
            grown = 0
            while not all(task.done() for task in readers):
                await asyncio.sleep(0.05)
                grown = max(grown, psutil.Process().memory_info().rss - before)
            head = (await loop.store.session(session)).head
            for task in readers:
                ids, last = task.result()
                assert last.data == {"session_id": session, "seq": head, "reason": "completed"}
                assert ids == list(range(1, head + 1))
            monkeypatch.setattr(streaming, "STALLED", 0.2)
            await _until(lambda: not api.house.streams)  # the others are cut off
            for made in stalled[::60]:
                assert b"event: done" not in await _rest(made)
        monkeypatch.setattr(streaming, "STALLED", 3600.0)
        assert (await _whole(client, session))[0] == list(range(1, head + 1)), "whoever comes back gets it all"
        assert grown < 50 * 2**20
        assert api.house.runs.channel(session)._bytes == 0


async def _rest(made: socket.socket) -> bytes:
    rest = b""
    with suppress(ConnectionResetError):
        while piece := await asyncio.get_running_loop().sock_recv(made, 1 << 20):
            rest += piece
    return rest


async def test_what_is_kept_for_readers_is_bounded_and_whoever_fell_behind_goes_back_to_the_log() -> None:
    model = Long()
    loop, _ = loop_over(model=model)  # type: ignore[arg-type]
    async with serving(house_of(loop)) as api:
        client = api.client()
        async with client.stream("/api/chat/stream", {"message": "much"}) as frames:
            session = (await anext(frames)).data["session_id"]
            shared = api.house.runs.channel(session)
            slow = reading.Reader(loop.store, shared, 0)
            chunks = slow.frames(0)
            await anext(chunks)
            model.gate.set()
            most = 0
            while shared.driven:
                most = max(most, shared._bytes)
                await asyncio.sleep(0.01)
            assert 0 < most <= channel.KEPT_BYTES
            rest = b"".join([chunk async for chunk in chunks])
        assert b"event: done" in rest
        head = (await loop.store.session(session)).head
        assert [int(line[4:]) for line in rest.split(b"\n") if line.startswith(b"id: ")] == list(range(1, head + 1))
