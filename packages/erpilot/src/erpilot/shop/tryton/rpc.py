"""Calls to a Tryton server: login, context, one HTTP request a call.

Invariant: a write is sent once. It is repeated only where the server says that it did not even begin (an expired
session); a connection that fails before anything was sent is ``Unavailable``, after that it is ``UnknownOutcome``.
Reads may be sent twice. The password is kept in memory and appears in no message.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from ..errors import Invalid, ShopError, Unauthenticated, Unavailable
from . import failures
from .codec import decode, encode

if TYPE_CHECKING:
    import aiohttp

TIMEOUT = 30.0
"""Seconds for one call."""
_OLD_ROUTES = frozenset({404, 405, 415})


class Rpc:
    """One person's connection to one database. Safe for many calls at once; close it, or use it as a context.

    ``url``: address of the server, without a path. ``timeout``: seconds for a call. Raises ``Invalid`` for an address
    that is none.
    """

    def __init__(self, url: str, database: str, user: str, password: str, *, timeout: float = TIMEOUT) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise Invalid(
                f"{url!r} is not the address of a Tryton server.", hint="Write it as https://erp.example:8000."
            )
        self.address = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
        self.database = database
        self.user = user
        self.user_id = 0
        self.context: dict[str, Any] = {}
        self._password = password
        self._timeout = timeout
        self._headers: dict[str, str] = {}
        self._suffix: str | None = None
        self._login = asyncio.Lock()
        self._reading: aiohttp.ClientSession | None = None
        self._writing: aiohttp.ClientSession | None = None

    async def call(self, method: str, *args: Any, context: Mapping[str, Any] | None = None) -> Any:
        """A read: sent again once when a kept connection turns out to be closed, or the session has expired."""
        await self.connect()
        try:
            return await self._answer(method, args, context, write=False)
        except failures.SessionExpired:
            await self._log_in_again()
            return await self._answer(method, args, context, write=False)

    async def act(self, method: str, *args: Any, context: Mapping[str, Any] | None = None) -> Any:
        """A write, over a connection of its own: a kept one might be closed under it, and then nobody knows."""
        await self.connect()
        try:
            return await self._answer(method, args, context, write=True)
        except failures.SessionExpired:
            await self._log_in_again()
            return await self._answer(method, args, context, write=True)

    async def search_read(
        self,
        model: str,
        domain: list[Any],
        fields: list[str],
        *,
        order: list[tuple[str, str]] | None = None,
        limit: int | None = None,
        offset: int = 0,
        context: Mapping[str, Any] | None = None,
    ) -> list[dict[str, Any]]:
        """Records that match, with these fields (and those of related records: "party.", the way Tryton writes it)."""
        rows = await self.call(f"model.{model}.search_read", domain, offset, limit, order, fields, context=context)
        return list(rows)

    async def read(
        self, model: str, ids: list[int], fields: list[str], *, context: Mapping[str, Any] | None = None
    ) -> list[dict[str, Any]]:
        """Records by id, in the order asked for; none without a call."""
        if not ids:
            return []
        rows = await self.call(f"model.{model}.read", ids, fields, context=context)
        by_id = {row["id"]: row for row in rows}
        return [by_id[each] for each in ids if each in by_id]

    async def count(self, model: str, domain: list[Any], *, context: Mapping[str, Any] | None = None) -> int:
        """How many match."""
        return int(await self.call(f"model.{model}.search_count", domain, context=context))

    async def connect(self) -> None:
        """Logs in, once. Raises ``Unauthenticated``, ``Unavailable``."""
        if self._headers:
            return
        async with self._login:
            if not self._headers:
                await self._log_in()

    async def version(self) -> str:
        """The server's series, such as "8.2"."""
        if self._suffix is None:
            await self._find_route()
        return str(await self._post(self._path(None), "common.server.version", [], write=False))

    async def close(self) -> None:
        """Ends the session on the server, as far as it answers, and closes the connections."""
        sessions = (self._reading, self._writing)
        if self._headers and self._reading is not None:
            try:
                async with asyncio.timeout(2):
                    await self._post(self._path(self.database), "common.db.logout", [], write=False)
            except (ShopError, TimeoutError):
                pass
        self._headers, self._reading, self._writing = {}, None, None
        for session in sessions:
            if session is not None:
                await session.close()

    async def __aenter__(self) -> Rpc:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    # --- login

    async def _log_in(self) -> None:
        if self._suffix is None:
            await self._find_route()
        path = self._path(self.database)
        try:
            found = await self._post(
                path, "common.db.login", [self.user, {"password": self._password}, "en"], write=False
            )
        except (failures.ServerRefused, failures.SessionExpired):
            found = None
        if not isinstance(found, list | tuple) or len(found) < 2:
            raise Unauthenticated(
                f"The Tryton server does not accept the password of user {self.user!r}.",
                hint="Set it again: erpilot setup.",
            )
        self.user_id = int(found[0])
        mark = base64.b64encode(f"{self.user}:{self.user_id}:{found[1]}".encode()).decode()
        headers = {"Authorization": f"Session {mark}"}
        context = await self._post(path, "model.res.user.get_preferences", [True, {}], write=False, headers=headers)
        self.context = {**context, "client": "erpilot"}
        self._headers = headers

    async def _log_in_again(self) -> None:
        stale = self._headers
        async with self._login:
            if self._headers is stale:  # nobody else was faster
                self._headers = {}
                await self._log_in()

    async def _find_route(self) -> None:
        """8.x serves /rpc/, older ones /."""
        try:
            await self._post("/rpc/", "common.server.version", [], write=False)
            self._suffix = "rpc/"
        except _NoRoute:
            await self._post("/", "common.server.version", [], write=False)
            self._suffix = ""

    def _path(self, database: str | None) -> str:
        return f"/{quote(database, safe='')}/{self._suffix}" if database else f"/{self._suffix}"

    # --- one request

    async def _answer(
        self, method: str, args: tuple[Any, ...], context: Mapping[str, Any] | None, *, write: bool
    ) -> Any:
        params = [*args, {**self.context, **(context or {})}]
        return await self._post(self._path(self.database), method, params, write=write, headers=self._headers)

    async def _post(
        self, path: str, method: str, params: list[Any], *, write: bool, headers: Mapping[str, str] | None = None
    ) -> Any:
        body = encode({"id": 0, "method": method, "params": params})
        status, answer = await self._exchange(path, body, headers or {}, write=write)
        if status != 200:
            if path == "/rpc/" and status in _OLD_ROUTES:
                raise _NoRoute("no such route")
            raise failures.of_status(status, write=write)
        try:
            message = decode(answer)
        except (ValueError, KeyError, ArithmeticError) as error:
            if write:
                raise failures.unknown("answered with something that is no JSON") from error
            raise Unavailable(f"What answers at {self.address} is not a Tryton server.") from error
        if not isinstance(message, dict) or ("result" not in message and "error" not in message):
            if write:
                raise failures.unknown("answered with something that is no result")
            raise Unavailable(f"What answers at {self.address} is not a Tryton server.")
        if message.get("error"):
            raise failures.of_error(message["error"])
        return message.get("result")

    async def _exchange(self, path: str, body: bytes, headers: Mapping[str, str], *, write: bool) -> tuple[int, bytes]:
        import aiohttp

        session = self._session(write=write)
        attempts = 1 if write else 2
        for attempt in range(1, attempts + 1):
            try:
                async with session.post(
                    self.address + path, data=body, headers=headers, allow_redirects=False
                ) as response:
                    return response.status, await response.read()
            except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError, aiohttp.InvalidURL) as error:
                # Nothing was sent yet.
                raise failures.unreachable(self.address, type(error).__name__) from error
            except (TimeoutError, aiohttp.ClientError, OSError) as error:
                late = isinstance(error, asyncio.TimeoutError)
                if write:
                    raise failures.unknown("did not answer in time" if late else "broke off") from error
                if late or attempt == attempts:
                    what = f"did not answer within {self._timeout:g} seconds" if late else "broke off"
                    raise Unavailable(f"The Tryton server {what}.", hint=failures.BUSY_HINT) from error
        raise AssertionError("every attempt returns or raises")

    def _session(self, *, write: bool) -> aiohttp.ClientSession:
        import aiohttp

        timeout = aiohttp.ClientTimeout(total=self._timeout, sock_connect=min(self._timeout, 10.0))
        kind = {"Content-Type": "application/json"}
        if write:
            if self._writing is None:
                connector = aiohttp.TCPConnector(force_close=True)
                self._writing = aiohttp.ClientSession(connector=connector, timeout=timeout, headers=kind)
            return self._writing
        if self._reading is None:
            self._reading = aiohttp.ClientSession(timeout=timeout, headers=kind)
        return self._reading


class _NoRoute(ShopError):
    """Nothing at that path; an older series has another."""
