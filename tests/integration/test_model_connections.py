"""Connections that are kept between the requests of a conversation, and servers that give them up."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
import threading
from collections.abc import Iterator
from typing import Literal

import pytest

from agent_core.errors import ModelError
from agent_core.messages import Message
from agent_core.model import OpenAIModel
from tests.support.streams import text_of

BODY = b'data: {"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
ANSWER = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
    b"%x\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY)
)

_POLL = 0.02
"""Seconds."""


class Server:
    """Answers in threads of its own, so that a client can be kept from noticing that its connection ended.

    ``requests``: for each request that arrived whole, the number of its connection.
    """

    def __init__(self) -> None:
        self.requests: list[int] = []
        self.silent = False
        """Closes the connection instead of answering."""
        self._ending: Literal["close", "reset"] | None = None
        self._threads: list[threading.Thread] = []
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._listening.settimeout(_POLL)
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}/v1"
        self._closed = threading.Event()
        self._acceptor = threading.Thread(target=self._accept, daemon=True)
        self._acceptor.start()

    def give_up(self, ending: Literal["close", "reset"]) -> None:
        """Ends all connections, while the caller's event loop stands still and cannot notice."""
        self._ending = ending
        for thread in self._threads:
            thread.join()
        self._threads.clear()
        self._ending = None

    def close(self) -> None:
        """Nobody listens any more, either."""
        self._closed.set()
        self._acceptor.join()
        self._listening.close()
        self.give_up("close")

    def _accept(self) -> None:
        number = 0
        while not self._closed.is_set():
            with contextlib.suppress(TimeoutError):
                connection, _ = self._listening.accept()
                number += 1
                thread = threading.Thread(target=self._serve, args=(connection, number), daemon=True)
                self._threads.append(thread)
                thread.start()

    def _serve(self, connection: socket.socket, number: int) -> None:
        connection.settimeout(_POLL)
        with connection, contextlib.suppress(ConnectionError):
            buffered = b""
            while self._ending is None:
                try:
                    received = connection.recv(1 << 16)
                except TimeoutError:
                    continue
                if not received:
                    return
                buffered += received
                head, end, body = buffered.partition(b"\r\n\r\n")
                if not end or len(body) < int(head.lower().partition(b"content-length:")[2].split()[0]):
                    continue
                buffered = b""
                self.requests.append(number)
                if self.silent:
                    return
                connection.sendall(ANSWER)
            if self._ending == "reset":
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


@pytest.fixture
def server() -> Iterator[Server]:
    running = Server()
    yield running
    running.close()


async def ask(model: OpenAIModel, size: int = 5) -> str:
    question = Message(role="user", content="x" * size)
    return text_of([event async for event in model.stream_chat([question])])


async def settled(server: Server, requests: int) -> None:
    """Lets the last answer end, so that its connection is kept."""
    assert len(server.requests) == requests
    await asyncio.sleep(0.2)


async def test_a_conversation_keeps_its_connection(server: Server) -> None:
    async with OpenAIModel(server.url, "key", "m") as model:
        for number in range(3):
            assert await ask(model) == "Hi"
            await settled(server, number + 1)
    assert server.requests == [1, 1, 1]


@pytest.mark.parametrize("ending", ["close", "reset"])
@pytest.mark.parametrize("size", [5, 20_000, 3_000_000])
async def test_a_kept_connection_that_the_server_gave_up_is_replaced_without_a_failure(
    server: Server, size: int, ending: Literal["close", "reset"]
) -> None:
    async with OpenAIModel(server.url, "key", "m") as model:
        assert await ask(model) == "Hi"
        await settled(server, 1)
        server.give_up(ending)
        assert await ask(model, size) == "Hi"
    assert server.requests == [1, 2]


async def test_several_of_them_are_all_replaced(server: Server) -> None:
    async with OpenAIModel(server.url, "key", "m") as model:
        assert await asyncio.gather(*(ask(model) for _ in range(3))) == ["Hi"] * 3
        await settled(server, 3)
        server.give_up("reset")
        assert await ask(model) == "Hi"
    assert len(server.requests) == 4


async def test_a_new_connection_that_breaks_without_an_answer_is_a_failure_after_one_request(server: Server) -> None:
    server.silent = True
    async with OpenAIModel(server.url, "key", "m") as model:
        with pytest.raises(ModelError, match="without an answer") as caught:
            await ask(model)
    assert (caught.value.kind, caught.value.retryable) == ("unreachable", True)
    assert server.requests == [1]


async def test_a_server_that_is_gone_for_good_is_a_failure_after_its_kept_connection(server: Server) -> None:
    async with OpenAIModel(server.url, "key", "m") as model:
        assert await ask(model) == "Hi"
        await settled(server, 1)
        server.close()
        with pytest.raises(ModelError, match="cannot be reached") as caught:
            await ask(model)
    assert caught.value.retryable
