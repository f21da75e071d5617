"""A proxy between a client and a server, which loses requests and answers on purpose.

Invariant: a request is passed on whole or not at all, and it is known which; faults are used up one by one, so that a
repeat gets through.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Literal

Kind = Literal["before", "after", "late"]


@dataclass
class Fault:
    """What happens to the next request whose body has ``about`` in it. ``before``: it is not passed on; ``after``: it
    is, and the answer is thrown away; ``late``: the answer is held back until the client has gone. ``then`` runs once
    the request has been passed on.
    """

    about: str
    kind: Kind
    then: Callable[[], Awaitable[None]] | None = None


@dataclass
class FaultyProxy:
    """Listens on 127.0.0.1 while it is used as a context; ``url`` is its address."""

    upstream: int
    faults: list[Fault] = field(default_factory=list)
    passed: list[bytes] = field(default_factory=list)
    """Bodies of requests that reached the server."""
    _server: asyncio.Server | None = None
    _open: set[asyncio.Task[None]] = field(default_factory=set)

    @property
    def url(self) -> str:
        """Where clients go."""
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def __aenter__(self) -> FaultyProxy:
        self._server = await asyncio.start_server(self._client, "127.0.0.1", 0)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.close()
        for task in list(self._open):
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)
        await self._server.wait_closed()

    async def _client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
                await self._serve(reader, writer)
        finally:
            self._open.discard(task)
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:"))
        body = await reader.readexactly(length)
        fault = next((each for each in self.faults if each.about.encode() in body), None)
        if fault is not None:
            self.faults.remove(fault)
            if fault.kind == "before":
                return
        self.passed.append(body)
        answer = await self._asked(head, body, fault)
        if fault is None:
            writer.write(answer)
            await writer.drain()
        elif fault.kind == "late":
            await reader.read()  # until the client has given up

    async def _asked(self, head: bytes, body: bytes, fault: Fault | None) -> bytes:
        """The server's whole answer, over a connection of its own."""
        lines = [line for line in head.split(b"\r\n") if not line.lower().startswith(b"connection:")]
        reader, writer = await asyncio.open_connection("127.0.0.1", self.upstream)
        try:
            writer.write(b"\r\n".join([*lines[:-2], b"Connection: close", b"", b""]) + body)
            await writer.drain()
            if fault is not None and fault.then is not None:
                await fault.then()
            return await reader.read()
        except ConnectionError:
            return b""
        finally:
            writer.close()
