"""The HTTP entrance in the test's own event loop, on 127.0.0.1, and a client that reads its streams.

Invariant: the server is the one that ``erpilot serve`` runs; only the house is another one.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import aiohttp

from agent_core.loop import AgentLoop
from erpilot_api.access import Access, User
from erpilot_api.app import create_app
from erpilot_api.house import House
from erpilot_api.pace import Paces
from erpilot_api.serving import Server, listen

KEY = b"a key of thirty-two bytes or more"
BOSS, KIM, MEI = User("boss", "owner"), User("kim", "clerk"), User("mei", "manager")
ELSEWHERE = User("wang", "owner", "another shop")
USERS = (BOSS, KIM, MEI, ELSEWHERE)
PATIENCE = aiohttp.ClientTimeout(total=None, sock_read=120)
"""No test fails because the machine is slow."""
IN_NO_HURRY = Paces(burst=1e6, per_second=1e6)


@dataclass(frozen=True)
class Frame:
    """One frame of a stream; ``event`` is empty where none is named."""

    data: Any
    id: str | None = None
    event: str = ""

    @property
    def type(self) -> str:
        """The type of the event in it, or the name of the envelope."""
        return self.event or str(self.data["event"]["type"])

    @property
    def seq(self) -> int | None:
        """The number of a durable event."""
        return None if self.event else self.data["seq"]


@dataclass
class Frames:
    """Takes a stream apart. ``comments`` and ``retries`` are kept beside the frames."""

    comments: list[str] = field(default_factory=list)
    retries: list[int] = field(default_factory=list)
    _rest: bytes = b""

    def take(self, piece: bytes) -> list[Frame]:
        """The frames that are whole by now."""
        *blocks, self._rest = (self._rest + piece).split(b"\n\n")
        frames = [self._frame(block.decode()) for block in blocks]
        return [frame for frame in frames if frame is not None]

    def _frame(self, block: str) -> Frame | None:
        fields: dict[str, str] = {}
        for line in block.split("\n"):
            name, _, value = line.partition(":")
            if not name:
                self.comments.append(value.strip())
            else:
                assert name in ("id", "event", "data", "retry"), line
                assert name not in fields, "one line of each kind"
                fields[name] = value.removeprefix(" ")
        if "retry" in fields:
            self.retries.append(int(fields["retry"]))
        if "data" not in fields:
            return None
        return Frame(json.loads(fields["data"]), fields.get("id"), fields.get("event", ""))


class Client:
    """A program of one user; ``session`` is what talks."""

    def __init__(self, session: aiohttp.ClientSession, base: str, token: str | None) -> None:
        self.session, self.base, self.token = session, base, token

    def headers(self, more: Mapping[str, str] | None = None) -> dict[str, str]:
        """Those of every request."""
        own = {} if self.token is None else {"authorization": f"Bearer {self.token}"}
        return {**own, **(more or {})}

    async def ask(self, method: str, path: str, body: Any = None, **more: Any) -> tuple[int, Any]:
        """Status and answer: a value where it is JSON, else text."""
        headers = self.headers(more.pop("headers", None))
        async with self.session.request(method, self.base + path, json=body, headers=headers, **more) as answer:
            text = await answer.text()
            kind = answer.headers.get("content-type", "")
            return answer.status, json.loads(text) if "json" in kind and "ndjson" not in kind else text

    async def get(self, path: str) -> Any:
        """The answer of a resource that is there."""
        status, answer = await self.ask("GET", path)
        assert status == 200, answer
        return answer

    @asynccontextmanager
    async def stream(
        self, path: str, body: Any = None, headers: Mapping[str, str] | None = None
    ) -> AsyncIterator[AsyncIterator[Frame]]:
        """The frames of a stream as they come; leaving it drops the connection."""
        method = "GET" if body is None else "POST"
        async with self.session.request(
            method, self.base + path, json=body, headers=self.headers(headers), timeout=PATIENCE
        ) as answer:
            assert answer.status == 200, await answer.text()
            assert answer.headers["content-type"].startswith("text/event-stream")
            frames = Frames()

            async def each() -> AsyncIterator[Frame]:
                async for piece in answer.content.iter_any():
                    for frame in frames.take(piece):
                        yield frame

            yield each()

    async def read(self, path: str, body: Any = None, headers: Mapping[str, str] | None = None) -> list[Frame]:
        """All frames of a stream that ends."""
        async with self.stream(path, body, headers) as frames:
            return [frame async for frame in frames]

    async def say(self, message: str, session_id: str | None = None, **more: Any) -> list[Frame]:
        """Says something and reads what comes of it."""
        body = {"message": message, **({} if session_id is None else {"session_id": session_id}), **more}
        return await self.read("/api/chat/stream", body)


class Running:
    """A server that runs. ``client(user)`` talks to it."""

    def __init__(self, house: House, base: str, session: aiohttp.ClientSession, server: Server) -> None:
        self.house, self.base, self.server = house, base, server
        self._session = session

    def client(self, user: User | None = BOSS) -> Client:
        """A client with a token of that user; without one for None."""
        token = None if user is None else self.house.access.token(user.name)[0]
        return Client(self._session, self.base, token)


def house_of(loop: AgentLoop, users: Iterable[User] = USERS, **settings: Any) -> House:
    """A house with one profile."""
    return House(loop.store, {"shop": loop}, Access(KEY, users), **settings)


@asynccontextmanager
async def serving(house: House, paces: Paces = IN_NO_HURRY, **settings: Any) -> AsyncIterator[Running]:
    """Serves ``house`` on a port of its own; ``settings`` are those of ``create_app``."""
    socket = listen("127.0.0.1", 0)
    base = f"http://127.0.0.1:{socket.getsockname()[1]}"
    started = asyncio.Event()
    server = Server(create_app(house, paces=paces, **settings), house, started.set)
    task = asyncio.create_task(server.serve(sockets=[socket]))
    try:
        waiting = asyncio.create_task(started.wait())
        await asyncio.wait({task, waiting}, return_when=asyncio.FIRST_COMPLETED)
        assert started.is_set(), task.exception()
        connector = aiohttp.TCPConnector(limit=0)
        async with aiohttp.ClientSession(connector=connector) as session:
            yield Running(house, base, session, server)
    finally:
        server.should_exit = True
        await task
        socket.close()


def durable(frames: Iterable[Frame]) -> list[int]:
    """The ids of the frames that have one."""
    return [int(frame.id) for frame in frames if frame.id is not None]


def text_of(frames: Iterable[Frame]) -> str:
    """What a screen shows at the end: deltas, put right by what replaces them."""
    done, current = "", ""
    for frame in frames:
        if frame.event == "partial":
            current = frame.data["text"]
        if frame.event:
            continue
        event = frame.data["event"]
        match event["type"]:
            case "TextDelta":
                current += event["text"]
            case "TextWithdrawn" | "StepStarted":
                current = ""
            case "AssistantMessage":
                assert current in ("", event["content"] or ""), "what was shown is what was said"
                done, current = done + (event["content"] or ""), ""
    return done + current
