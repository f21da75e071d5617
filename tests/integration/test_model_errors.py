"""What a model client makes of endpoints that are down, wrong, slow, untrusted or angry: one error, one sentence."""

from __future__ import annotations

import asyncio
import json
import os
import ssl
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from agent_core.errors import ModelError
from agent_core.messages import Message, ModelEvent, StreamEnd, TextDelta
from agent_core.model import OpenAIModel
from tests.support.http_server import Exchange, playing, serving
from tests.support.streams import FIXTURES, text_of

ASK = [Message(role="user", content="hello")]
KEY = "sk-canary-5c1e7f0a9b8d4e21"
HELLO = [
    b'data: {"choices":[{"index":0,"delta":{"content":"Hel"}}]}\n\n',
    b'data: {"choices":[{"index":0,"delta":{"content":"lo"}}]}\n\n',
    b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n',
    b"data: [DONE]\n\n",
]
Body = str | bytes | dict[str, Any]


async def ask(url: str, events: list[ModelEvent] | None = None, **settings: Any) -> list[ModelEvent]:
    events = [] if events is None else events
    async with OpenAIModel(url, KEY, "m", **settings) as model:
        async for event in model.stream_chat(ASK):
            events.append(event)
    return events


async def failure_of(url: str, **settings: Any) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await ask(url, **settings)
    message = str(caught.value)
    assert KEY not in message
    assert "Traceback" not in message
    assert "\n" not in message
    return caught.value


def saying(status: int, body: Body, **headers: str) -> Callable[[Exchange], Awaitable[None]]:
    raw = json.dumps(body).encode() if isinstance(body, dict) else body.encode() if isinstance(body, str) else body
    kind = "text/html" if raw.startswith(b"<") else "application/json"
    fields = {"content-type": kind, **{name.replace("_", "-"): value for name, value in headers.items()}}
    return playing([raw], status=status, headers=fields)


async def test_a_connection_that_is_refused_is_unreachable_and_worth_trying_again() -> None:
    error = await failure_of("http://127.0.0.1:1/v1")
    assert (error.kind, error.retryable, error.status) == ("unreachable", True, None)
    assert "127.0.0.1:1" in str(error)


@pytest.mark.parametrize(
    "url", ["http://no-such-host.invalid/v1", "http://[::1/v1", "not a url", "ftp://127.0.0.1/v1", ""]
)
async def test_an_address_that_leads_nowhere_is_unreachable(url: str) -> None:
    error = await failure_of(url, connect_timeout=5.0)
    assert error.kind == "unreachable"


@pytest.mark.parametrize(
    ("status", "body", "headers", "kind", "retryable", "retry_after"),
    [
        (
            401,
            {"error": {"message": f"Incorrect API key provided: {KEY}", "code": "invalid_api_key"}},
            {},
            "auth",
            False,
            None,
        ),
        (403, {"error": {"message": "no access"}}, {}, "auth", False, None),
        (402, {"error": {"message": "Insufficient Balance"}}, {}, "quota", False, None),
        (429, {"error": {"message": "slow down"}}, {"retry_after": "7"}, "rate_limit", True, 7.0),
        (503, "<html><title>503 Service Unavailable</title></html>", {"retry_after": "3"}, "overloaded", True, 3.0),
        (500, "<html><body><h1>Oops</h1></body></html>", {}, "server_error", True, None),
        (500, "", {}, "server_error", True, None),
        (404, {"detail": "Not Found"}, {}, "bad_response", False, None),
        (404, "<html><title>404</title></html>", {}, "bad_response", False, None),
        (404, {"error": {"message": "model 'm' not found, try pulling it first"}}, {}, "model_not_found", False, None),
        (405, "Method Not Allowed", {}, "bad_response", False, None),
        (413, {"error": {"message": "Payload Too Large"}}, {}, "context_overflow", False, None),
        (200, "<!DOCTYPE html><html><title>Sign in</title></html>", {}, "bad_response", False, None),
        (200, "hello, this is not an API", {}, "bad_response", False, None),
        (200, {"status": "ok"}, {}, "bad_response", False, None),
        (
            302,
            "",
            {"location": "https://user:hunter22@example.invalid/login?token=abcdefgh1234"},
            "bad_response",
            False,
            None,
        ),
    ],
)
async def test_an_answer_that_is_no_completion_is_one_classified_error(
    status: int, body: Body, headers: dict[str, str], kind: str, retryable: bool, retry_after: float | None
) -> None:
    async with serving(saying(status, body, **headers)) as url:
        error = await failure_of(url)
    assert (error.kind, error.retryable, error.retry_after, error.status) == (kind, retryable, retry_after, status)
    assert "hunter22" not in str(error)
    assert "abcdefgh1234" not in str(error)
    assert len(str(error)) < 700


async def test_a_key_that_the_server_echoes_is_masked_also_in_a_stream_and_in_a_url() -> None:
    body = [
        f'data: {{"error": {{"message": "key {KEY} and Bearer {KEY} at https://u:{KEY}@h/?key={KEY}"}}}}\n\n'.encode()
    ]
    async with serving(playing(body)) as url:
        error = await failure_of(f"{url}?api-version=1&key={KEY}")
    assert error.kind == "stream_error"
    assert "***" in str(error)


async def test_the_query_of_a_base_url_is_sent_along() -> None:
    seen: list[bytes] = []

    async def answer(exchange: Exchange) -> None:
        seen.append(exchange.head)
        await playing(HELLO)(exchange)

    async with serving(answer) as url:
        assert text_of(await ask(f"{url}?api-version=2024")) == "Hello"
    assert seen[0].startswith(b"POST /v1/chat/completions?api-version=2024 ")


async def test_an_untrusted_certificate_is_told_as_such_and_not_retried() -> None:
    async with serving(playing(HELLO), context=_context("self-signed.pem")) as url:
        error = await failure_of(url)
    assert (error.kind, error.retryable) == ("tls", False)
    assert "certificate" in str(error)


async def test_an_expired_certificate_is_refused_even_from_a_trusted_authority() -> None:
    """In a process of its own, because trust is settled when the HTTP client is loaded."""
    code = (
        "import asyncio, sys\n"
        "from agent_core.errors import ModelError\n"
        "from agent_core.messages import Message\n"
        "from agent_core.model import OpenAIModel\n"
        "async def main():\n"
        "    try:\n"
        "        ask = [Message(role='user', content='hi')]\n"
        "        async for _ in OpenAIModel(sys.argv[1], 'k', 'm').stream_chat(ask): pass\n"
        "    except ModelError as error: print(error.kind, error)\n"
        "asyncio.run(main())\n"
    )
    async with serving(playing(HELLO), context=_context("expired.pem")) as url:
        environment = {**os.environ, "SSL_CERT_FILE": str(FIXTURES / "certificates" / "expired.pem")}
        environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
        done = await asyncio.to_thread(
            subprocess.run,
            [sys.executable, "-c", code, url],
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
        )
    assert done.stderr == ""
    assert done.stdout.startswith("tls ")
    assert "expired" in done.stdout


# --- U2: silence ---


async def test_u2_headers_then_nothing_ends_by_the_idle_limit() -> None:
    async with serving(playing([], ending="hang")) as url:
        started = time.monotonic()
        error = await failure_of(url, idle_timeout=0.3)
    assert (error.kind, error.retryable, error.partial.text) == ("timeout", True, "")
    assert "did not begin to answer" in str(error)
    assert time.monotonic() - started < 2


async def test_u2_not_even_headers_ends_by_the_idle_limit() -> None:
    async def silent(exchange: Exchange) -> None:
        await asyncio.sleep(3600)

    async with serving(silent) as url:
        error = await failure_of(url, idle_timeout=0.3)
    assert (error.kind, error.retryable) == ("timeout", True)


async def test_u2_one_delta_then_nothing_ends_with_the_partial_text() -> None:
    async with serving(playing(HELLO[:1], ending="hang")) as url:
        error = await failure_of(url, idle_timeout=0.3)
    assert (error.kind, error.retryable, error.partial.text) == ("timeout", True, "Hel")
    assert "in the middle of the answer" in str(error)


@pytest.mark.parametrize(
    "beat", [b": keep-alive\n\n", b"data: ping\n\n", b"data:\n\n", b'event: ping\ndata: {"type": "ping"}\n\n']
)
async def test_u2_keep_alives_for_ever_are_no_events(beat: bytes) -> None:
    async def answer(exchange: Exchange) -> None:
        await exchange.start()
        await exchange.chunk(HELLO[0])
        while True:
            await exchange.chunk(beat)
            await asyncio.sleep(0.02)

    async with serving(answer) as url:
        started = time.monotonic()
        error = await failure_of(url, idle_timeout=0.4)
    assert error.kind == "timeout"
    assert time.monotonic() - started < 3


async def test_slow_events_are_waited_for_as_long_as_each_comes_in_time() -> None:
    async def answer(exchange: Exchange) -> None:
        await exchange.start()
        for piece in HELLO:
            await asyncio.sleep(0.25)
            await exchange.chunk(piece)
        await exchange.end()

    async with serving(answer) as url:
        assert text_of(await ask(url, idle_timeout=0.6)) == "Hello"


async def test_a_limit_for_the_whole_answer_ends_a_stream_that_never_stops() -> None:
    async def answer(exchange: Exchange) -> None:
        await exchange.start()
        while True:
            await exchange.chunk(HELLO[0])
            await asyncio.sleep(0.02)

    async with serving(answer) as url:
        error = await failure_of(url, idle_timeout=5, total_timeout=0.4)
    assert (error.kind, error.retryable) == ("timeout", True)
    assert "longer than 0.4 seconds" in str(error)
    assert error.partial.text.startswith("Hel")


async def test_a_reader_that_takes_its_time_is_no_silence_of_the_server() -> None:
    async def answer(exchange: Exchange) -> None:
        await exchange.start()
        await exchange.chunk(HELLO[0])
        await asyncio.sleep(0.1)
        for piece in HELLO[1:]:
            await exchange.chunk(piece)
        await exchange.end()

    text = ""
    async with serving(answer) as url, OpenAIModel(url, KEY, "m", idle_timeout=0.3) as model:
        async for event in model.stream_chat(ASK):
            if isinstance(event, TextDelta):
                text += event.text
                await asyncio.sleep(0.7)
    assert text == "Hello"


async def test_events_reach_the_caller_as_they_come() -> None:
    go_on = asyncio.Event()

    async def answer(exchange: Exchange) -> None:
        await exchange.start()
        await exchange.chunk(HELLO[0])
        await go_on.wait()
        for piece in HELLO[1:]:
            await exchange.chunk(piece)
        await exchange.end()

    async with serving(answer) as url, OpenAIModel(url, KEY, "m") as model:
        stream = model.stream_chat(ASK)
        assert await anext(aiter(stream)) == TextDelta(text="Hel")
        go_on.set()
        rest = [event async for event in stream]
    assert isinstance(rest[-1], StreamEnd)


async def test_a_stream_that_is_left_early_closes_its_connection() -> None:
    closed = asyncio.Event()

    async def answer(exchange: Exchange) -> None:
        await exchange.start()
        try:
            while True:
                await exchange.chunk(HELLO[0])
                await asyncio.sleep(0.02)
        finally:
            closed.set()

    async with serving(answer) as url, OpenAIModel(url, KEY, "m") as model:
        stream = model.stream_chat(ASK)
        await anext(aiter(stream))
        await stream.aclose()  # type: ignore[attr-defined]
        async with asyncio.timeout(3):
            await closed.wait()


async def test_one_connection_serves_many_requests() -> None:
    connections: set[int] = set()

    async def answer(exchange: Exchange) -> None:
        connections.add(id(exchange._writer))
        await playing(HELLO)(exchange)

    async with serving(answer) as url, OpenAIModel(url, KEY, "m") as model:
        for _ in range(5):
            async for _ in model.stream_chat(ASK):
                pass
            await asyncio.sleep(0.05)
    assert len(connections) == 1


async def test_one_call_is_one_request_whatever_comes_back() -> None:
    count = 0

    async def answer(exchange: Exchange) -> None:
        nonlocal count
        count += 1
        await saying(503, {"error": {"message": "Overloaded"}})(exchange)

    async with serving(answer) as url:
        await failure_of(url)
    assert count == 1


def test_a_program_that_never_closes_a_model_ends_without_noise() -> None:
    code = (
        "import asyncio, sys\n"
        "import agent_core.model\n"
        "assert 'aiohttp' not in sys.modules\n"
        "from agent_core.messages import Message\n"
        "from tests.support.http_server import playing, serving\n"
        "from tests.integration.test_model_errors import HELLO, ASK\n"
        "async def main():\n"
        "    async with serving(playing(HELLO)) as url:\n"
        "        model = agent_core.model.OpenAIModel(url, 'k', 'm')\n"
        "        print(''.join([e.text async for e in model.stream_chat(ASK) if hasattr(e, 'text')]))\n"
        "asyncio.run(main())\n"
    )
    root = Path(__file__).parent.parent.parent
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root), *filter(None, sys.path)])}
    done = subprocess.run(
        [sys.executable, "-W", "always", "-c", code], env=environment, capture_output=True, text=True, timeout=60
    )
    assert (done.stdout, done.stderr) == ("Hello\n", "")


def _context(name: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(FIXTURES / "certificates" / name)
    return context
