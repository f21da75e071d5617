"""Sends a reader's frames as ``text/event-stream``: heartbeats while nothing happens, and an end for whoever does not
read.

Invariant: what waits to be sent is bounded by one chunk and the buffers of the socket; a reader that takes nothing for
``STALLED`` seconds is cut off without ``done`` and may come back for the rest.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import MutableMapping
from contextlib import aclosing
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from .frames import HEARTBEAT, RETRY_AFTER_CLOSING
from .reading import Reader

HEARTBEAT_SECONDS = 15.0
STALLED = 20.0
"""Seconds in which not one chunk could be handed to the connection."""
ABORT = "erpilot.abort"
"""Key of the scope under which a server that can leaves a function that drops the connection at once."""


class EventStream(Response):
    """Answers with the frames of ``reader``; ``streams`` holds it while it goes on."""

    media_type = "text/event-stream"

    def __init__(self, reader: Reader, head: int, streams: set[EventStream]) -> None:
        super().__init__(headers={"cache-control": "no-store", "x-accel-buffering": "no"})
        del self.headers["content-length"]
        self.reader, self._head, self._streams = reader, head, streams
        self._told_to_close = False
        self._gone = False
        self._sending_since: float | None = None
        self._quiet_since = 0.0

    def close(self) -> None:
        """Ends the stream soon, with a hint to ask again."""
        self._told_to_close = True
        self.reader.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Sends everything."""
        loop = asyncio.get_running_loop()
        task = asyncio.current_task()
        assert task is not None, "a response is sent in a task"
        watching = loop.create_task(self._until_gone(receive))
        self._quiet_since = loop.time()
        self._timer = loop.call_later(HEARTBEAT_SECONDS / 3, self._tick, scope, task)
        self._streams.add(self)
        try:
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            async with aclosing(self.reader.frames(self._head)) as chunks:
                async for chunk in chunks:
                    if self._gone:
                        return
                    now = loop.time()
                    if not chunk:
                        if now - self._quiet_since < HEARTBEAT_SECONDS:
                            continue
                        chunk = HEARTBEAT
                    self._sending_since = self._quiet_since = now
                    await send({"type": "http.response.body", "body": chunk, "more_body": True})
                    self._sending_since = None
            last = RETRY_AFTER_CLOSING if self._told_to_close else b""
            await send({"type": "http.response.body", "body": last, "more_body": False})
        finally:
            self.reader.finish()
            self._streams.discard(self)
            self._timer.cancel()
            watching.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await watching

    async def _until_gone(self, receive: Receive) -> None:
        while True:
            message: MutableMapping[str, Any] = await receive()
            if message["type"] == "http.disconnect":
                self._gone = True
                self.reader.close()
                return

    def _tick(self, scope: Scope, task: asyncio.Task[Any]) -> None:
        loop = asyncio.get_running_loop()
        if self._sending_since is not None and loop.time() - self._sending_since > STALLED:
            self._gone = True
            self.reader.close()
            abort = scope.get(ABORT)
            if abort is not None:
                abort()
            else:
                task.cancel()
            return
        self.reader.wake()
        self._timer = loop.call_later(HEARTBEAT_SECONDS / 3, self._tick, scope, task)
