"""A server of single answers on 127.0.0.1, byte for byte as a test wants them, with every way an answer can end."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from typing import Any

Answer = Callable[["Exchange"], Awaitable[None]]


class Exchange:
    """One request, and the means to answer it."""

    def __init__(self, head: bytes, body: bytes, writer: asyncio.StreamWriter) -> None:
        self.head = head
        self.body = body
        self._writer = writer

    async def send(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()

    async def start(self, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        """Sends the head of an answer whose body comes in chunks."""
        fields = {"transfer-encoding": "chunked", **(headers or {"content-type": "text/event-stream"})}
        lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        await self.send(f"HTTP/1.1 {status} X\r\n{lines}\r\n".encode())

    async def chunk(self, data: bytes) -> None:
        if data:
            await self.send(b"%x\r\n%s\r\n" % (len(data), data))

    async def end(self, ending: str = "eof") -> None:
        """``eof``: the last chunk; ``reset``: the connection breaks; ``hang``: it stays open, silent."""
        if ending == "eof":
            await self.send(b"0\r\n\r\n")
        elif ending == "reset":
            await asyncio.sleep(0.02)  # a reset overtakes what is still on its way
            sock = self._writer.get_extra_info("socket")
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self._writer.transport.abort()
        else:
            await asyncio.sleep(3600)


@contextlib.asynccontextmanager
async def serving(answer: Answer, *, context: ssl.SSLContext | None = None) -> AsyncIterator[str]:
    """Runs a server that answers every request with ``answer``; gives its base URL."""
    tasks: set[asyncio.Task[Any]] = set()

    async def connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = next(
                    (
                        int(line.split(b":")[1])
                        for line in head.lower().split(b"\r\n")
                        if line.startswith(b"content-length:")
                    ),
                    0,
                )
                await answer(Exchange(head, await reader.readexactly(length), writer))
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            tasks.discard(task)
            writer.close()

    server = await asyncio.start_server(connection, "127.0.0.1", 0, ssl=context, limit=1 << 20)
    port = server.sockets[0].getsockname()[1]
    try:
        yield f"http{'s' if context else ''}://127.0.0.1:{port}/v1"
    finally:
        server.close()
        for task in tuple(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def playing(
    reads: Iterable[bytes], *, status: int = 200, headers: Mapping[str, str] | None = None, ending: str = "eof"
) -> Answer:
    """Answers with the reads, each as a chunk of its own."""
    pieces = list(reads)

    async def answer(exchange: Exchange) -> None:
        await exchange.start(status, headers)
        for piece in pieces:
            await exchange.chunk(piece)
        await exchange.end(ending)

    return answer
