"""A model behind any OpenAI-compatible chat-completions endpoint.

Invariant: one call of ``stream`` is one request; it ends with one ``StreamEnd`` or raises one ``ModelError``. Retrying
is the loop's business, so that each attempt is an event.
"""

from __future__ import annotations

import asyncio
import io
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Self
from urllib.parse import urlsplit, urlunsplit

from msgspec import structs

from ..errors import ModelError
from ..messages import Message, ModelEvent, ToolSchema, Wire
from . import transport, wire
from .assembly import Offer
from .decoder import Decoder, Ending
from .failures import Endpoint
from .profile import DEFAULT, Profile, ProfileStore, learnt
from .secrets import bare_url, mask

if TYPE_CHECKING:
    import aiohttp

_AFTER_FINISH = 2.0
"""Seconds that are waited for usage and [DONE] once the finish reason is known."""
_LARGE_BODY = 1_000_000
_SECRET_HEADER = re.compile(r"key|token|secret|auth|cookie|password|credential", re.IGNORECASE)
_PATH = "/chat/completions"


class OpenAIModel:
    """One model of one endpoint. An ``async with`` block, or ``aclose``, gives its connections back.

    ``base_url`` is the part before ``/chat/completions``; a query in it is kept. Times are in seconds:
    ``connect_timeout`` for the connection, ``idle_timeout`` for the first event and between two events (comments that
    keep a connection alive are no events), ``total_timeout`` for a whole answer, None for no limit. An address that no
    request can be sent to is refused at once, with a ``ModelError``. ``options`` go into every request
    (``temperature``, ``max_tokens``, ...). What the endpoint is found not to accept is kept in ``profiles``, if given.
    ``cache_marks``: see ``Profile``.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str | None = None,
        model: str = "",
        *,
        name: str | None = None,
        headers: Mapping[str, str] | None = None,
        connect_timeout: float = 15.0,
        idle_timeout: float = 120.0,
        total_timeout: float | None = None,
        profile: Profile | None = None,
        profiles: ProfileStore | None = None,
        cache_marks: Literal["", "request", "system"] = "",
        **options: Any,
    ) -> None:
        _check_address(base_url)
        self._url = _completions_url(base_url)
        self._model = model
        self._name = name or model or bare_url(base_url)
        self._origin = f"{bare_url(base_url)}#{model}"
        self._connect_timeout = connect_timeout
        self._idle_timeout = idle_timeout
        self._total_timeout = total_timeout
        self._options = options
        self._profiles = profiles
        known = profiles.get(self._origin) if profiles else DEFAULT
        self.profile = profile or structs.replace(known, cache_marks=cache_marks)
        """What the endpoint is known to accept; ``learn`` changes it."""
        self._headers = {
            "Content-Type": "application/json",
            "Accept": "text/event-stream, application/json",
            "Accept-Encoding": "identity",  # a compressed stream comes in lumps
            **({"Authorization": f"Bearer {api_key}"} if api_key else {}),
            **(headers or {}),
        }
        self._endpoint = Endpoint(base_url, model, _secrets(base_url, api_key, headers))
        self._rendered_tools: tuple[tuple[ToolSchema, ...], Profile, bytes] | None = None

    @property
    def name(self) -> str:
        """Prices and calibration go by it."""
        return self._name

    @property
    def origin(self) -> str:
        """Address and model, without secrets; provider keys go back only to where they came from."""
        return self._origin

    def prepare(self, messages: Sequence[Message]) -> list[Message]:
        """The conversation as this endpoint wants it; to be asked before ``render_message``. Changes nothing by
        default."""
        return wire.prepare(messages, self.profile)

    def render_message(self, message: Message) -> bytes:
        """One message as JSON bytes."""
        return wire.render_message(message, self.profile, self._origin)

    def render_tools(self, tools: Sequence[ToolSchema]) -> bytes:
        """The tool set as JSON bytes; empty when there are none."""
        last = self._rendered_tools
        same = last is not None and last[1] is self.profile and len(last[0]) == len(tools)
        if last is not None and same and all(map(_is, last[0], tools)):
            return last[2]
        rendered = wire.render_tools(tools, self.profile)
        self._rendered_tools = (tuple(tools), self.profile, rendered)
        return rendered

    def frame(self, has_tools: bool, **options: Any) -> tuple[str, str, str]:
        """The rest of the body, around the messages and the tools."""
        return wire.frame(self._model, {**self._options, **options}, has_tools, self.profile)

    def learn(self, error: ModelError) -> bool:
        """Applies the error's remedy to the profile and keeps it. True: send again, rendered anew. One remedy a
        round."""
        profile = learnt(self.profile, error)
        if profile is None:
            return False
        self.profile = profile
        if self._profiles is not None:
            self._profiles.put(self._origin, profile)
        return True

    def stream_chat(
        self, messages: Sequence[Message], tools: Sequence[ToolSchema] = (), **options: Any
    ) -> AsyncIterator[ModelEvent]:
        """Renders and sends one request, and streams the answer."""
        request = Wire(
            frame=self.frame(bool(tools), **options),
            messages=tuple(map(self.render_message, self.prepare(messages))),
            tools=self.render_tools(tools),
        )
        return self._stream(request, messages, tools, int(options.get("n") or self._options.get("n") or 1))

    def stream(
        self, wire: Wire, messages: Sequence[Message], tools: Sequence[ToolSchema] = ()
    ) -> AsyncIterator[ModelEvent]:
        """Sends exactly ``wire`` and streams the answer."""
        return self._stream(wire, messages, tools, int(self._options.get("n") or 1))

    async def _stream(
        self, request: Wire, messages: Sequence[Message], tools: Sequence[ToolSchema], choices: int
    ) -> AsyncIterator[ModelEvent]:
        offer = Offer(
            tools,
            wire.wire_names(tools, self.profile),
            lambda: {call.id for message in messages for call in message.tool_calls},
        )
        response = await self._post(request.body())
        loop = asyncio.get_running_loop()
        content = response.content
        watchdog = Watchdog(
            loop, self._idle_timeout, self._total_timeout, lambda: content.set_exception(TimeoutError())
        )
        ended = False
        try:
            decoder = self._decoder(response, offer, choices)
            seen, finishing = 0, False
            ending: Ending = "eof"
            while not decoder.done:
                try:
                    data = await content.readany()
                except Exception as error:
                    if not transport.broken_off(error):
                        raise
                    ending = "idle" if watchdog.fired else "reset"
                    break
                if not data:
                    ended = True
                    break
                events = decoder.feed(data)
                if events:
                    watchdog.paused = True
                    for event in events:
                        yield event
                    watchdog.paused = False
                if decoder.complete and not finishing:
                    finishing = True
                    watchdog.shorten(loop.time() + min(_AFTER_FINISH, self._idle_timeout))
                elif not finishing and (events or decoder.saw_events != seen):
                    seen = decoder.saw_events
                    watchdog.deadline = loop.time() + self._idle_timeout
            watchdog.cancel()
            for event in decoder.finish(ending):
                yield event
            if decoder.failure is not None:
                if watchdog.too_long and decoder.failure.kind == "timeout":
                    raise self._took_too_long(decoder.failure)
                raise decoder.failure
            if ending == "eof":
                ended = True
                transport.let_go(response)
        finally:
            watchdog.cancel()
            if not ended:
                response.close()

    async def _post(self, body: bytes) -> aiohttp.ClientResponse:
        session = await transport.acquire(self)
        import aiohttp

        limit = self._idle_timeout if self._total_timeout is None else min(self._idle_timeout, self._total_timeout)

        async def send() -> aiohttp.ClientResponse:
            return await session.post(
                self._url,
                data=body if len(body) < _LARGE_BODY else io.BytesIO(body),
                headers=self._headers,
                allow_redirects=False,
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=self._connect_timeout),
            )

        try:
            async with asyncio.timeout(limit):
                return await transport.over_a_live_connection(send)
        except (aiohttp.ClientError, OSError, ValueError) as error:
            connecting = isinstance(error, aiohttp.ServerTimeoutError)
            raise transport.explain(error, self._endpoint, self._connect_timeout if connecting else limit) from None

    def _decoder(self, response: aiohttp.ClientResponse, offer: Offer, choices: int) -> Decoder:
        headers = {name.lower(): value for name, value in response.headers.items()}
        headers.pop("content-encoding", None)  # the client has undone it
        if 300 <= response.status < 400:
            target = self._endpoint.excerpt(headers.get("location", "").partition("?")[0])
            raise ModelError(
                "bad_response",
                f"{self._endpoint.shown} redirects to {target or 'another address'}; use that as the base URL.",
                status=response.status,
            )
        return Decoder(offer, endpoint=self._endpoint, status=response.status, headers=headers, choices=choices)

    def _took_too_long(self, error: ModelError) -> ModelError:
        message = f"{self._endpoint.shown} took longer than {self._total_timeout:g} seconds for its answer."
        return ModelError("timeout", message, retryable=True, status=error.status, partial=error.partial)

    async def aclose(self) -> None:
        """Gives the connections back. The model stays usable."""
        await transport.release(self)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


Watchdog = transport.Watchdog


def _is(one: object, other: object) -> bool:
    return one is other


def _check_address(base_url: str) -> None:
    """Raises ``ModelError`` for what no request could be sent to."""
    try:
        parts = urlsplit(base_url.strip())
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        shown = mask(base_url, ()) or "(empty)"
        raise ModelError(
            "unreachable", f"{shown} is not the address of a model endpoint; it should look like https://host/v1."
        )


def _completions_url(base_url: str) -> str:
    parts = urlsplit(base_url.strip())
    path = parts.path.rstrip("/")
    return urlunsplit(parts._replace(path=path if path.endswith(_PATH) else path + _PATH, fragment=""))


def _secrets(base_url: str, api_key: str | None, headers: Mapping[str, str] | None) -> tuple[str, ...]:
    """Everything given to the client that must not come out of it again."""
    parts = urlsplit(base_url)
    values = [api_key, parts.password]
    values += [value for name, value in (headers or {}).items() if _SECRET_HEADER.search(name)]
    values += [value for pair in parts.query.split("&") if len(value := pair.partition("=")[2]) >= 12]
    values += [value.removeprefix("Bearer ") for value in values if value and value.startswith("Bearer ")]
    return tuple(value for value in values if value)
