"""The example programs of the documents, run as they stand against an endpoint on this machine."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

ROOT = Path(__file__).parents[2]
CALL = {
    "index": 0,
    "id": "call-1",
    "type": "function",
    "function": {"name": "check_stock", "arguments": '{"skus": ["A-100"]}'},
}


def chunk(delta: dict[str, Any], finish_reason: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    return (
        b"data: " + json.dumps({"id": "1", "object": "chat.completion.chunk", "choices": [choice]}).encode() + b"\n\n"
    )


class Endpoint:
    """Asks for the stock of A-100, then answers with what it was told; keeps the requests."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []

    async def complete(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.requests.append(body)
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        newest = body["messages"][-1]
        if newest["role"] == "tool":
            await response.write(chunk({"role": "assistant", "content": "Stock: "}))
            await response.write(chunk({"content": newest["content"]}))
            await response.write(chunk({}, "stop"))
        else:
            await response.write(chunk({"role": "assistant", "tool_calls": [CALL]}))
            await response.write(chunk({}, "tool_calls"))
        await response.write(b"data: [DONE]\n\n")
        return response


@pytest.fixture
async def endpoint(unused_tcp_port: int) -> AsyncIterator[tuple[Endpoint, str]]:
    served = Endpoint()
    application = web.Application()
    application.router.add_post("/v1/chat/completions", served.complete)
    runner = web.AppRunner(application)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", unused_tcp_port).start()
    yield served, f"http://127.0.0.1:{unused_tcp_port}/v1"
    await runner.cleanup()


@pytest.mark.parametrize(
    ("document", "start"),
    [
        ("docs/embedding.md", ""),
        ("README.md", "import asyncio\nasyncio.run(ask('Is A-100 in stock?'))\n"),
        ("README.zh-CN.md", "import asyncio\nasyncio.run(ask('A-100 还有货吗？'))\n"),
    ],
    ids=["embedding", "readme", "readme-zh"],
)
async def test_the_embedding_example_of_a_document_runs(
    endpoint: tuple[Endpoint, str], tmp_path: Path, document: str, start: str
) -> None:
    served, address = endpoint
    example = re.findall(r"```python\n(.*?)```", (ROOT / document).read_text(), re.DOTALL)[0]
    program = example.replace("http://127.0.0.1:8080/v1", address)
    assert program != example
    (tmp_path / "program.py").write_text(program + start)

    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "program.py",
        cwd=tmp_path,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    printed, complaints = await asyncio.wait_for(process.communicate(), 30)

    assert complaints.decode() == ""
    assert printed.decode() == 'Stock: {"A-100":12}'
    assert (tmp_path / "sessions.db").exists()
    assert [len(request["messages"]) for request in served.requests] == [2, 4]
