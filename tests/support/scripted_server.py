"""A model server on 127.0.0.1 that plays a fixed task, cheaply enough to measure clients against.

Invariant: stateless and deterministic. Which turn comes next follows from the number of tool results in the request, so
any number of clients can be at it at once, and a run that is taken up again meets the same turns. Each answer is built
once and kept as bytes.

Models: ``shop`` asks for ``get_order``, then for ``check_stock`` and ``get_quote`` at once, then answers in 200 pieces
of text; ``script-N`` asks for ``get_order`` N times, one call a turn, and answers likewise. ``+dMS`` behind either puts
MS milliseconds between the events of an answer, each of which is then a write of its own; without it an answer is one
write.

As a program, ``python -m tests.support.scripted_server`` prints its base URL and serves until it is ended.
"""

from __future__ import annotations

import asyncio
import functools
import json
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

_CHINESE = ("您好", ",", "订单", "123", "的", "商品", "有", "库存", "。", "\n")
_ENGLISH = ("Your", " order", " ships", " today", ";", " total", " is", " $", "42", ".\n")
PIECES = (*_CHINESE, *_ENGLISH) * 10
TEXT = "".join(PIECES)
"""The final answer of every model."""

Call = tuple[str, str, dict[str, Any]]
"""id, tool, arguments"""


_SHOP: dict[int, list[Call] | None] = {
    0: [("call_order", "get_order", {"order_id": "123"})],
    1: [("call_stock", "check_stock", {"sku": "SKU-9"}), ("call_quote", "get_quote", {"sku": "SKU-9", "qty": 2})],
    3: None,
}


def turn(model: str, results: int) -> list[Call] | None:
    """What is asked for after so many tool results; None: the text follows. ``ValueError`` where the script has no
    turn.
    """
    if model == "shop" and results in _SHOP:
        return _SHOP[results]
    kind, _, steps = model.partition("-")
    if kind == "script" and steps.isdecimal() and results <= int(steps):
        if results == int(steps):
            return None
        return [(f"call_{results + 1}", "get_order", {"order_id": str(results + 1)})]
    raise ValueError(f"{model!r} has no turn after {results} tool results")


def events(model: str, results: int) -> Iterator[str]:
    """The data of each event of one answer; the usage comes last, as endpoints send it."""
    calls = turn(model, results)
    around = {"id": f"chatcmpl-{model}-{results}", "object": "chat.completion.chunk", "created": 1764500000}
    around |= {"model": model, "system_fingerprint": "fp_script"}

    def chunk(delta: dict[str, Any], finish: str | None = None) -> str:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return _json({**around, "choices": [choice]})

    yield chunk({"role": "assistant", "content": None if calls else ""})
    for index, (call_id, name, arguments) in enumerate(calls or ()):
        function = {"name": name, "arguments": ""}
        yield chunk({"tool_calls": [{"index": index, "id": call_id, "type": "function", "function": function}]})
        written = _json(arguments)
        for start in range(0, len(written), 6):
            part = {"index": index, "function": {"arguments": written[start : start + 6]}}
            yield chunk({"tool_calls": [part]})
    if calls is None:
        for piece in PIECES:
            yield chunk({"content": piece})
    yield chunk({}, "stop" if calls is None else "tool_calls")
    prompt, completion = 100 + 40 * results, len(PIECES) if calls is None else 10 * len(calls)
    usage = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
    yield _json({**around, "choices": [], "usage": usage})
    yield "[DONE]"


@asynccontextmanager
async def scripted_server() -> AsyncIterator[str]:
    """Runs a server in this event loop; gives its base URL."""
    server = await asyncio.get_running_loop().create_server(_Connection, "127.0.0.1", 0, backlog=1024)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"


_HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n"
    b"Cache-Control: no-cache\r\nTransfer-Encoding: chunked\r\n\r\n"
)
_REFUSED = b"HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"


@functools.cache
def _frames(model: str, results: int) -> tuple[bytes, ...]:
    """One answer in HTTP chunks, one an event; the last one ends the body."""
    data = [b"data: %s\n\n" % event.encode() for event in events(model, results)]
    chunks = [b"%x\r\n%s\r\n" % (len(one), one) for one in data]
    return (*chunks[:-1], chunks[-1] + b"0\r\n\r\n")


@functools.cache
def _whole(model: str, results: int) -> bytes:
    return _HEAD + b"".join(_frames(model, results))


class _Connection(asyncio.Protocol):
    """One connection, kept alive; requests on it come one after the other."""

    def __init__(self) -> None:
        self._received = bytearray()
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def connection_lost(self, error: Exception | None) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def data_received(self, data: bytes) -> None:
        self._received += data
        while (end := self._received.find(b"\r\n\r\n")) >= 0:
            head = bytes(self._received[:end]).lower()
            _, _, length = head.partition(b"content-length:")
            size = end + 4 + int(length.split(b"\r\n")[0] or 0)
            if len(self._received) < size:
                return
            body = bytes(self._received[end + 4 : size])
            del self._received[:size]
            self._answer(body)

    def _answer(self, body: bytes) -> None:
        try:
            request = json.loads(body)
            model, _, delay = request["model"].partition("+d")
            results = sum(message["role"] == "tool" for message in request["messages"])
            frames, whole = _frames(model, results), _whole(model, results)
        except (ValueError, KeyError, TypeError) as error:
            told = {"message": f"the script goes otherwise: {error}", "type": "invalid_request_error"}
            refusal = _json({"error": told}).encode()
            self._transport.write(_REFUSED % (len(refusal), refusal))
            return
        if not delay:
            self._transport.write(whole)
            return
        self._transport.write(_HEAD)
        self._play(iter(frames), float(delay) / 1000)

    def _play(self, frames: Iterator[bytes], seconds: float) -> None:
        if (frame := next(frames, None)) is not None and not self._transport.is_closing():
            self._transport.write(frame)
            self._timer = asyncio.get_running_loop().call_later(seconds, self._play, frames, seconds)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


async def _serve() -> None:
    async with scripted_server() as base_url:
        sys.stdout.write(f"{base_url}\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_serve())
