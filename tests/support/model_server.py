"""An OpenAI-compatible server on 127.0.0.1 that plays turns in order and keeps the requests as they came."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from .http_server import Exchange, serving

Piece = str | tuple[str, dict[str, Any]] | float | None
"""Text; a call as (name, arguments); seconds to wait; None: the connection breaks here."""


class ModelServer:
    """``turns``: what each request is answered with, in order; the last one is played again when there are more."""

    def __init__(self, turns: Sequence[Sequence[Piece]]) -> None:
        self.turns = turns
        self.bodies: list[bytes] = []
        self.base_url = ""

    @property
    def settings(self) -> dict[str, str]:
        """The environment variables that lead here."""
        return {"OPENAI_BASE_URL": self.base_url, "OPENAI_API_KEY": "sk-test-0123456789", "ERPILOT_MODEL": "scripted"}

    async def answer(self, exchange: Exchange) -> None:
        turn = self.turns[min(len(self.bodies), len(self.turns) - 1)]
        self.bodies.append(exchange.body)
        number = len(self.bodies)
        await exchange.start()
        calls = 0
        for piece in turn:
            if piece is None:
                await exchange.end("reset")
                return
            if isinstance(piece, float):
                await asyncio.sleep(piece)
            elif isinstance(piece, str):
                await exchange.chunk(_event({"content": piece}))
            else:
                call = {"name": piece[0], "arguments": json.dumps(piece[1], ensure_ascii=False)}
                entry = {"index": calls, "id": f"call_{number}_{calls}", "type": "function", "function": call}
                await exchange.chunk(_event({"tool_calls": [entry]}))
                calls += 1
        await exchange.chunk(_event({}, "tool_calls" if calls else "stop"))
        usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
        await exchange.chunk(b"data: " + json.dumps({"choices": [], "usage": usage}).encode() + b"\n\n")
        await exchange.chunk(b"data: [DONE]\n\n")
        await exchange.end()


@contextmanager
def model_server(*turns: Sequence[Piece]) -> Iterator[ModelServer]:
    """Runs the server in a thread of its own, so that processes can be waited for meanwhile."""
    server = ModelServer(turns)
    ready, stop = threading.Event(), asyncio.Event()
    loops: list[asyncio.AbstractEventLoop] = []

    async def serve() -> None:
        loops.append(asyncio.get_running_loop())
        async with serving(server.answer) as url:
            server.base_url = url
            ready.set()
            await stop.wait()

    thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
    thread.start()
    assert ready.wait(120), "the server did not start"
    try:
        yield server
    finally:
        loops[0].call_soon_threadsafe(stop.set)
        thread.join(10)


def _event(delta: dict[str, Any], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return b"data: " + json.dumps({"choices": [choice]}, ensure_ascii=False).encode() + b"\n\n"
