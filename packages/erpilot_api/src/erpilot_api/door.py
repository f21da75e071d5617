"""What a request has to pass before any handler sees it: host, origin, size, token, pace.

Invariant: a request that is refused here leaves no event and opens no stream; nothing of a token reaches a log.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from http.cookies import CookieError, SimpleCookie

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .access import Access
from .pace import Paces
from .problems import Trouble, answer

COOKIE = "erpilot"
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_OPEN = {("POST", "/api/session"), ("GET", "/api/health")}
"""What needs no token: it gives one, or tells nothing."""
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
        "connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}
"""What every answer carries."""


class Door:
    """ASGI middleware. ``hosts``: names this server answers for; ``body_bytes``: the largest body."""

    def __init__(
        self, app: ASGIApp, *, access: Access, paces: Paces, hosts: Collection[str] = LOOPBACK, body_bytes: int = 2**20
    ) -> None:
        self._app, self._access, self._paces = app, access, paces
        self._hosts, self._body_bytes = frozenset(host.lower() for host in hosts), body_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Lets a request in, or answers it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        app = self._app
        if scope["method"] == "HEAD" and scope["path"].startswith("/api/"):
            scope, app = {**scope, "method": "GET"}, _head_only(app)  # the server itself sends no body then
        try:
            receive = self._let_in(scope, receive)
        except Trouble as trouble:
            await answer(trouble.problem, trouble.headers)(scope, receive, send_guarded)
            return
        await app(scope, receive, send_guarded)

    def _let_in(self, scope: Scope, receive: Receive) -> Receive:
        headers = Headers(scope=scope)
        self._check_host(headers)
        self._check_origin(headers)
        path, method = scope["path"], scope["method"]
        if not path.startswith("/api/"):
            return receive
        length = headers.get("content-length", "0")
        if (length.isdigit() and int(length) > self._body_bytes) or not length.isdigit():
            raise Trouble("too-large", f"A body has at most {self._body_bytes} bytes.")
        has_body = length != "0" or "transfer-encoding" in headers
        if has_body and headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            raise Trouble("not-json")
        address = scope["client"][0] if scope.get("client") else ""
        if (method, path) in _OPEN:
            self._paces.check(f"address {address}", cost=10.0 if method == "POST" else 1.0)
        else:
            user = next(filter(None, map(self._access.user_of, _tokens(headers))), None)
            if user is None:
                self._paces.check(f"address {address}", cost=5.0)
                raise Trouble("no-token", headers={"www-authenticate": 'Bearer realm="erpilot"'})
            self._paces.check(f"user {user.name}")
            scope.setdefault("state", {})["user"] = user
        return _limited(receive, self._body_bytes)

    def _check_host(self, headers: Headers) -> None:
        named = headers.getlist("host")
        if len(named) != 1 or _name(named[0]) not in self._hosts:
            raise Trouble("wrong-host")

    def _check_origin(self, headers: Headers) -> None:
        """A browser tells where a request comes from; a program tells nothing."""
        host = headers["host"].lower()
        for origin in headers.getlist("origin"):
            if origin.lower() not in (f"http://{host}", f"https://{host}"):
                raise Trouble("foreign-origin")
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            raise Trouble("foreign-origin")


def _name(host: str) -> str:
    name, colon, port = host.lower().rpartition(":")
    return name if colon and port.isdigit() else host.lower()


def _tokens(headers: Headers) -> Iterable[str]:
    kind, _, token = headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer":
        yield token.strip()
        return
    try:
        cookie = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
    except CookieError:
        return
    if cookie is not None:
        yield cookie.value


def _head_only(app: ASGIApp) -> ASGIApp:
    """Answers as ``app`` does, and ends with the head of the answer: a stream is not to go on for nobody."""

    async def answered(scope: Scope, receive: Receive, send: Send) -> None:
        begun = ended = False

        async def until_begun() -> Message:
            return {"type": "http.disconnect"} if begun else await receive()

        async def watched(message: Message) -> None:
            nonlocal begun, ended
            begun, ended = True, not message.get("more_body", message["type"] == "http.response.start")
            await send(message)

        await app(scope, until_begun, watched)
        if begun and not ended:
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    return answered


def _limited(receive: Receive, most: int) -> Receive:
    taken = 0

    async def counted() -> Message:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        if taken > most:
            raise Trouble("too-large", f"A body has at most {most} bytes.")
        return message

    return counted
