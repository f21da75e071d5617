"""The two servers that are measured against each other, each a process of its own: ``python -m bench.servers KIND``.

``bare``: a FastAPI endpoint that reads the model's stream, parses each event, writes it anew and hands it on; nothing
is kept, checked or limited. ``ours``: what ``erpilot serve`` runs, with its log on disk. Both run on the same server
class and meet the same model server. The first line of the output is the address.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse

from agent_core import AgentLoop, LoopConfig, OpenAIModel, SqliteStore
from bench.harness import SYSTEM
from erpilot_api.access import Access, User
from erpilot_api.app import create_app
from erpilot_api.house import House
from erpilot_api.pace import Paces
from erpilot_api.runs import Runs
from erpilot_api.serving import Server, listen

KEY = b"a key that is used in measurements only"
USER = User("bench", "owner")


def bare(base_url: str, model: str) -> FastAPI:
    """``POST /api/chat/stream`` answers with the model's events."""
    app = FastAPI()
    session: list[aiohttp.ClientSession] = []

    @app.post("/api/chat/stream")
    async def say(request: Request) -> StreamingResponse:
        said: dict[str, Any] = await request.json()
        if not session:
            session.append(aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)))
        messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": said["message"]}]
        body = {"model": model, "messages": messages, "stream": True}

        async def frames() -> AsyncIterator[bytes]:
            async with session[0].post(f"{base_url}/chat/completions", json=body) as answer:
                async for line in answer.content:
                    if line.startswith(b"data: {"):
                        chunk = json.loads(line[6:])
                        for choice in chunk["choices"]:
                            if text := choice["delta"].get("content"):
                                yield b"data: %b\n\n" % json.dumps({"type": "TextDelta", "text": text}).encode()
            yield b"event: done\ndata: {}\n\n"

        return StreamingResponse(frames(), media_type="text/event-stream")

    return app


def house(base_url: str, model: str, folder: Path) -> House:
    """One profile, no tools, the log on disk."""
    loop = AgentLoop(
        model=OpenAIModel(base_url, "sk-bench", model),
        store=SqliteStore(folder / "log.db"),
        config=LoopConfig(system_prompt=SYSTEM),
    )
    return House(loop.store, {"shop": loop}, Access(KEY, [USER]), Runs(most=1000))


async def serve(kind: str, base_url: str, model: str, folder: Path) -> None:
    """Serves until it is told to stop."""
    ours = house(base_url, model, folder)
    app = create_app(ours, paces=Paces(burst=1e9, per_second=1e9)) if kind == "ours" else bare(base_url, model)
    with listen("127.0.0.1", 0) as listening:
        address = f"http://127.0.0.1:{listening.getsockname()[1]}"

        def started() -> None:
            sys.stdout.write(f"{address}\n")
            sys.stdout.flush()

        await Server(app, ours, started).serve(sockets=[listening])
    await ours.store.aclose()


def main() -> None:
    """The program."""
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=("bare", "ours"))
    parser.add_argument("--base-url", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--folder", type=Path, required=True)
    options = parser.parse_args()
    asyncio.run(serve(options.kind, options.base_url, options.model, options.folder))


if __name__ == "__main__":
    main()
