"""A proxy on 127.0.0.1 that passes requests on to a model endpoint and keeps the bodies that come back.

Invariant: what the client reads are the endpoint's bytes, unchanged and as they come; a stream is kept as one payload
of a ``data:`` line per line, in order, without the closing [DONE], as in ``tests/fixtures/llm-streams``.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web

_PASSED_ON = ("authorization", "content-type", "accept")


class Recorder:
    """Keeps what passes. ``label`` begins the name of the next files."""

    def __init__(self, folder: Path, upstream: str, shown_model: str) -> None:
        self.folder, self.label = folder, "stream"
        self._upstream, self._model = upstream.rstrip("/"), shown_model
        self._counts: dict[str, int] = {}
        self._system: str | None = None
        self._tools: list[Any] = []
        self._streams: dict[str, Any] = {}
        folder.mkdir(parents=True, exist_ok=True)

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[str]:
        """Runs the proxy; gives the base URL to use instead of the endpoint's."""
        application = web.Application(client_max_size=1 << 26)
        application.router.add_post("/v1/{path:.*}", self._pass_on)
        runner = web.AppRunner(application)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        try:
            async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=None)) as self._session:
                yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        finally:
            await runner.cleanup()

    async def _pass_on(self, request: web.Request) -> web.StreamResponse:
        body, label = await request.read(), self.label
        headers = {name: request.headers[name] for name in _PASSED_ON if name in request.headers}
        address = f"{self._upstream}/{request.match_info['path']}"
        kept, whole = bytearray(), False
        try:
            upstream = await self._session.post(address, data=body, headers=headers)
        except aiohttp.ClientError as error:
            return web.json_response({"error": {"message": f"{self._upstream}: {error}"}}, status=502)
        async with upstream:
            kind = upstream.headers.get("content-type", "application/octet-stream")
            response = web.StreamResponse(status=upstream.status, headers={"content-type": kind})
            try:
                await response.prepare(request)
                async for piece in upstream.content.iter_any():
                    kept += piece
                    await response.write(piece)
                await response.write_eof()
                whole = True
            except (aiohttp.ClientError, ConnectionError):  # either side broke it off: what came is kept
                pass
            finally:
                self._keep(label, json.loads(body), upstream.status, kind, bytes(kept), whole)
        return response

    def _keep(self, label: str, request: dict[str, Any], status: int, kind: str, body: bytes, whole: bool) -> None:
        self._counts[label] = number = self._counts.get(label, 0) + 1
        streamed = kind.startswith("text/event-stream")
        path = self.folder / f"{label}-{number}.{'jsonl' if streamed else 'json'}"
        path.write_bytes(payloads(body) if streamed else body)
        entry: dict[str, Any] = {"shows": f"{label}, request {number}"}
        if not whole:
            entry["broken_off"] = True
        self._streams[path.name] = {**entry, "model": self._model, "status": status, "request": self._told(request)}
        self.write_index()

    def _told(self, request: dict[str, Any]) -> dict[str, Any]:
        """The request, with what is the same in all of them told once."""
        told = dict(request)
        if tools := told.get("tools"):
            self._tools = self._tools or tools
            told["tools"] = "see tools" if tools == self._tools else tools
        messages = list(told.get("messages", []))
        if messages and messages[0].get("role") == "system":
            self._system = self._system or messages[0]["content"]
            if messages[0]["content"] == self._system:
                messages[0] = {"role": "system", "content": "see system"}
        told["messages"] = messages
        return told

    def write_index(self) -> None:
        """Writes what the files show and what was asked."""
        index = {"system": self._system, "tools": self._tools, "streams": self._streams}
        text = json.dumps(index, ensure_ascii=False, indent=1)
        (self.folder / "index.json").write_text(text + "\n", encoding="utf-8")


def payloads(body: bytes) -> bytes:
    """The payloads of the ``data:`` lines of an event stream, a line each."""
    lines = [line.removeprefix(b"data:").strip() for line in body.splitlines() if line.startswith(b"data:")]
    return b"".join(line + b"\n" for line in lines if line != b"[DONE]")
