"""A loop written by hand on ``aiohttp`` and ``msgspec``, without log or safeguards: about the least there can be."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import msgspec

from bench import harness


class _Function(msgspec.Struct):
    name: str | None = None
    arguments: str | None = None


class _Part(msgspec.Struct):
    index: int
    id: str | None = None
    function: _Function = msgspec.field(default_factory=_Function)


class _Delta(msgspec.Struct):
    content: str | None = None
    tool_calls: list[_Part] = msgspec.field(default_factory=list)


class _Choice(msgspec.Struct):
    delta: _Delta


class _Chunk(msgspec.Struct):
    choices: list[_Choice]


_decode = msgspec.json.Decoder(_Chunk).decode


@asynccontextmanager
async def client(setting: harness.Setting) -> AsyncIterator[harness.Run]:
    """One session for all tasks."""
    session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=200))
    address = f"{setting.base_url}/chat/completions"
    headers = {"Content-Type": "application/json", "Authorization": "Bearer x"}

    async def deltas(body: bytes) -> AsyncGenerator[_Delta]:
        async with session.post(address, data=body, headers=headers) as response:
            response.raise_for_status()
            rest = b""
            async for data in response.content.iter_any():
                *events, rest = (rest + data).split(b"\n\n")
                for event in events:
                    if not event.endswith(b"[DONE]"):
                        for choice in _decode(event[6:]).choices:
                            yield choice.delta

    async def call(called: list[str]) -> dict[str, Any]:
        result = await harness.FUNCTIONS[called[1]](**msgspec.json.decode(called[2]))
        return {"role": "tool", "tool_call_id": called[0], "content": msgspec.json.encode(result).decode()}

    async def run(task: harness.Task) -> str:
        messages: list[dict[str, Any]] = [
            {"role": "system", "content": harness.SYSTEM},
            {"role": "user", "content": harness.QUESTION},
        ]
        while True:
            text: list[str] = []
            calls: dict[int, list[str]] = {}
            request = {"model": setting.model, "messages": messages, "tools": harness.TOOLS, "stream": True}
            request["stream_options"] = {"include_usage": True}
            async for delta in deltas(msgspec.json.encode(request)):
                if delta.content:
                    task.say(delta.content)
                    text.append(delta.content)
                for part in delta.tool_calls:
                    called = calls.setdefault(part.index, ["", "", ""])
                    called[0] += part.id or ""
                    called[1] += part.function.name or ""
                    called[2] += part.function.arguments or ""
            if not calls:
                return "".join(text)
            functions = [
                {"id": each[0], "type": "function", "function": {"name": each[1], "arguments": each[2]}}
                for each in calls.values()
            ]
            messages.append({"role": "assistant", "content": None, "tool_calls": functions})
            messages += await asyncio.gather(*map(call, calls.values()))

    async with session:
        yield run


if __name__ == "__main__":
    harness.main(client)
