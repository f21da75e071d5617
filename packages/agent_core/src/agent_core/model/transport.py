"""The HTTP client: one shared session per event loop, loaded with the first request.

Invariant: importing this module loads no HTTP client, and no connection outlives its event loop.
"""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from ..errors import ModelError
from .failures import Endpoint

if TYPE_CHECKING:
    import aiohttp

_MOST_CONNECTIONS = 200
_DRAIN_SECONDS = 0.25
_DRAIN_BYTES = 64 * 1024


class _Shared:
    def __init__(self, session: aiohttp.ClientSession, keeper: AsyncGenerator[None, None]) -> None:
        self.session = session
        self.keeper = keeper
        self.users: set[int] = set()


_sessions: WeakKeyDictionary[asyncio.AbstractEventLoop, _Shared] = WeakKeyDictionary()
_draining: set[asyncio.Task[None]] = set()


async def acquire(user: object) -> aiohttp.ClientSession:
    """The session of the running loop; ``release`` it when the user needs it no more."""
    loop = asyncio.get_running_loop()
    shared = _sessions.get(loop)
    if shared is None or shared.session.closed:
        import aiohttp

        proxied = any(
            os.environ.get(name)
            for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")
        )
        session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=_MOST_CONNECTIONS, socket_factory=_new_socket),
            cookie_jar=aiohttp.DummyCookieJar(),
            trust_env=proxied,
            timeout=aiohttp.ClientTimeout(total=None),
        )
        keeper = _close_with_loop(session)
        await anext(keeper)
        shared = _sessions[loop] = _Shared(session, keeper)
    shared.users.add(id(user))
    return shared.session


_opened: ContextVar[list[socket.socket] | None] = ContextVar("sockets opened for the request", default=None)


def _new_socket(address: tuple[Any, ...]) -> socket.socket:
    family, kind, protocol, *_ = address
    new = socket.socket(family, kind, protocol)
    if (opened := _opened.get()) is not None:
        opened.append(new)
    return new


async def over_a_live_connection(
    send: Callable[[], Awaitable[aiohttp.ClientResponse]],
) -> aiohttp.ClientResponse:
    """Awaits ``send``, again each time it met a connection that was kept from an earlier request and that the server
    had given up meanwhile: no answer began, and it says nothing about the endpoint. A new connection that breaks is a
    failure.
    """
    import aiohttp

    while True:
        opened: list[socket.socket] = []
        _opened.set(opened)
        try:
            return await send()
        except (aiohttp.ClientOSError, aiohttp.ClientConnectionResetError, aiohttp.ServerDisconnectedError) as error:
            if opened or isinstance(error, aiohttp.ClientConnectorError):
                raise


async def release(user: object) -> None:
    """Closes the running loop's session when nobody else uses it."""
    loop = asyncio.get_running_loop()
    shared = _sessions.get(loop)
    if shared is None:
        return
    shared.users.discard(id(user))
    if not shared.users:
        del _sessions[loop]
        draining = [task for task in _draining if task.get_loop() is loop]
        for task in draining:
            task.cancel()
        await asyncio.gather(*draining, return_exceptions=True)
        await shared.keeper.aclose()


async def _close_with_loop(session: aiohttp.ClientSession) -> AsyncGenerator[None, None]:
    """Runs its end when the loop shuts its generators down, so that a program that never closes a model ends without
    noise."""
    try:
        yield
    finally:
        await session.close()


def let_go(response: aiohttp.ClientResponse) -> None:
    """After the last event: keeps the connection for the next request if the body ends right away, else closes it."""
    if response.content.at_eof():
        response.release()
        return
    task = asyncio.get_running_loop().create_task(_drain(response))
    _draining.add(task)

    def over(task: asyncio.Task[None]) -> None:  # also when it was cancelled before it began
        _draining.discard(task)
        response.close()

    task.add_done_callback(over)


async def _drain(response: aiohttp.ClientResponse) -> None:
    size = 0
    try:
        async with asyncio.timeout(_DRAIN_SECONDS):
            while size < _DRAIN_BYTES and (data := await response.content.readany()):
                size += len(data)
    except Exception as error:
        if not broken_off(error):
            raise


class Watchdog:
    """Ends a wait for something that does not come: one timer, re-armed by moving its deadline.

    ``paused`` while nobody waits: a reader that takes its time is no silence of the server.
    """

    __slots__ = ("_expire", "_handle", "_latest", "_loop", "_seconds", "deadline", "fired", "paused")

    def __init__(
        self, loop: asyncio.AbstractEventLoop, seconds: float, total: float | None, expire: Callable[[], None]
    ) -> None:
        self._loop = loop
        self._seconds = seconds
        self._expire = expire
        self.fired = False
        self.paused = False
        now = loop.time()
        self._latest = now + total if total is not None else float("inf")
        self.deadline = now + seconds
        self._handle = loop.call_at(min(self.deadline, self._latest), self._check)

    @property
    def too_long(self) -> bool:
        """It was the total limit that fired."""
        return self.fired and self._loop.time() >= self._latest

    def shorten(self, deadline: float) -> None:
        """Sets an earlier deadline than the timer knows of."""
        self.deadline = deadline
        self._handle.cancel()
        self._handle = self._loop.call_at(min(deadline, self._latest), self._check)

    def cancel(self) -> None:
        """Stops watching."""
        self._handle.cancel()

    def _check(self) -> None:
        now = self._loop.time()
        due = now + self._seconds if self.paused else min(self.deadline, self._latest)
        if now < due:
            self._handle = self._loop.call_at(due, self._check)
            return
        self.fired = True
        self._expire()


def broken_off(error: Exception) -> bool:
    """Whether an exception while reading a body means that the connection broke."""
    return isinstance(error, (OSError, TimeoutError)) or _is_client_error(error)


def explain(error: Exception, endpoint: Endpoint, seconds: float) -> ModelError:
    """The error that a failed connection amounts to. ``seconds``: the limit that a timeout ran into."""
    import aiohttp

    said = endpoint.excerpt(str(getattr(error, "os_error", None) or error) or type(error).__name__)
    if isinstance(error, (aiohttp.ClientConnectorCertificateError, aiohttp.ClientSSLError, ssl.SSLError)):
        return ModelError("tls", f"{endpoint.shown} cannot be trusted: {_certificate(error)}.")
    if isinstance(error, (TimeoutError, aiohttp.ServerTimeoutError)):
        return ModelError("timeout", f"{endpoint.shown} did not answer within {seconds:g} seconds.", retryable=True)
    if isinstance(error, (aiohttp.InvalidURL, ValueError)):
        return ModelError("unreachable", f"{endpoint.shown} is not a usable address; check the base URL.")
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return ModelError(
            "unreachable", f"{endpoint.shown} cannot be found; check the address and the network.", retryable=True
        )
    if isinstance(error, aiohttp.ServerDisconnectedError):
        return ModelError("unreachable", f"{endpoint.shown} closed the connection without an answer.", retryable=True)
    if type(error) is aiohttp.ClientOSError and error.errno is None:  # while the question was being written
        return ModelError("unreachable", f"{endpoint.shown} closed the connection too early.", retryable=True)
    if isinstance(error, aiohttp.ClientResponseError):
        return ModelError("bad_response", f"{endpoint.shown} did not answer in HTTP; check the base URL: {said}")
    return ModelError("unreachable", f"{endpoint.shown} cannot be reached: {said}.", retryable=True)


def _certificate(error: Exception) -> str:
    cause = getattr(error, "certificate_error", None) or getattr(error, "os_error", None) or error
    reason = getattr(cause, "verify_message", None) or getattr(cause, "reason", None) or str(cause)
    return " ".join(str(reason).split())[:200].rstrip(".")


def _is_client_error(error: Exception) -> bool:
    import aiohttp

    return isinstance(error, aiohttp.ClientError)
