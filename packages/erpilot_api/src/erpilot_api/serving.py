"""The server process: listens, and stops in order.

Invariant: asked to stop, it takes no new work, ends the streams with a hint to come back, lets runs reach a durable
point, and exits; asked again, it does so at once. Nothing is lost either way, since the log has it all.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import sys
from collections.abc import Callable, Iterator

import h11
import msgspec
import uvicorn
from fastapi import FastAPI
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from .door import HEADERS
from .house import House
from .problems import MEDIA_TYPE, problem
from .streaming import ABORT

GRACE = 10.0
"""Seconds that calls which are running have to end."""
WRITE_BUFFER = 16 * 1024
"""Bytes that wait for one connection at most, besides the chunk that is being sent."""
SEND_BUFFER = 64 * 1024
"""Bytes that the system keeps for one connection; it would keep megabytes for a reader that does not read."""
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Connection(H11Protocol):
    """One connection, which the application can drop, and which holds little for a reader that does not read."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begins it."""
        super().connection_made(transport)
        transport.set_write_buffer_limits(high=WRITE_BUFFER)
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
        app = self.app

        async def with_abort(scope: Scope, receive: Receive, send: Send) -> None:
            scope[ABORT] = transport.abort
            await app(scope, receive, send)

        self.app = with_abort

    def send_400_response(self, msg: str) -> None:
        """Answers what cannot be read as a request, so that no door and no handler sees it, like everything else."""
        headers = {"content-type": MEDIA_TYPE, "connection": "close", **HEADERS}
        said = (
            h11.Response(status_code=400, headers=list(headers.items()), reason=b"Bad Request"),
            h11.Data(data=msgspec.json.encode(problem("not-http"))),
            h11.EndOfMessage(),
        )
        for part in said:
            self.transport.write(self.conn.send(part) or b"")
        self.transport.close()


class Server(uvicorn.Server):
    """``serve`` returns when it was asked to stop and has; ``told_started`` is called when requests are taken."""

    def __init__(self, app: FastAPI, house: House, told_started: Callable[[], None] = lambda: None) -> None:
        config = uvicorn.Config(
            app,
            http=Connection,
            loop="asyncio",
            ws="none",
            lifespan="on",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=30,
            timeout_graceful_shutdown=5,
            h11_max_incomplete_event_size=32 * 1024,
        )
        super().__init__(config)
        self._house, self._told_started = house, told_started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begins to listen."""
        await super().startup(sockets)
        self._told_started()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Ends what goes on, then the connections."""
        for server in self.servers:
            server.close()
        self._house.close_streams()
        leaving = asyncio.create_task(self._house.runs.leave(GRACE, lambda: self.force_exit))
        await super().shutdown(sockets)
        await leaving

    def handle_exit(self, sig: int, frame: object) -> None:
        """The first signal ends it in order, the second at once."""
        self.force_exit = self.should_exit
        self.should_exit = True

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """While it lasts, signals end the server; they are not raised again, since it ends as it was asked to."""
        try:
            before = {number: signal.signal(number, self.handle_exit) for number in _SIGNALS}
        except ValueError:  # not the main thread
            yield
            return
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens there; port 0 is any that is free. Raises ``OSError``."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        if sys.platform != "win32":
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((host, port))
    except BaseException:
        made.close()
        raise
    return made
