"""A loop written by hand on the ``openai`` package: what everything is measured against."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from openai import AsyncOpenAI

from bench import harness


@asynccontextmanager
async def client(setting: harness.Setting) -> AsyncIterator[harness.Run]:
    """One client of the package for all tasks."""
    endpoint = AsyncOpenAI(base_url=setting.base_url, api_key="x")

    async def call(called: dict[str, str]) -> dict[str, Any]:
        result = await harness.FUNCTIONS[called["name"]](**json.loads(called["arguments"]))
        return {"role": "tool", "tool_call_id": called["id"], "content": json.dumps(result)}

    async def run(task: harness.Task) -> str:
        messages: list[Any] = [
            {"role": "system", "content": harness.SYSTEM},
            {"role": "user", "content": harness.QUESTION},
        ]
        while True:
            text: list[str] = []
            calls: dict[int, dict[str, str]] = {}
            stream = await endpoint.chat.completions.create(
                model=setting.model,
                messages=messages,
                tools=harness.TOOLS,
                stream=True,
                stream_options={"include_usage": True},
            )
            async for chunk in stream:
                if not chunk.choices:
                    continue
                delta = chunk.choices[0].delta
                if delta.content:
                    task.say(delta.content)
                    text.append(delta.content)
                for part in delta.tool_calls or ():
                    called = calls.setdefault(part.index, {"id": "", "name": "", "arguments": ""})
                    called["id"] += part.id or ""
                    called["name"] += part.function.name or ""
                    called["arguments"] += part.function.arguments or ""
            if not calls:
                return "".join(text)
            functions = [
                {"id": each["id"], "type": "function", "function": {key: each[key] for key in ("name", "arguments")}}
                for each in calls.values()
            ]
            messages.append({"role": "assistant", "content": None, "tool_calls": functions})
            messages += await asyncio.gather(*map(call, calls.values()))

    async with endpoint:
        yield run


if __name__ == "__main__":
    harness.main(client)
