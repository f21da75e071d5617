"""A model that plays recorded answers through the same decoder as a real one.

Invariant: what is played are bytes as they came over the wire; nothing of the recording is interpreted here.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterable, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from ..errors import AgentError
from ..messages import Message, ModelEvent, ToolSchema
from .assembly import Offer
from .decoder import Decoder, Ending
from .failures import Endpoint
from .scripted import Request


class Recording(Struct, frozen=True):
    """One recorded response: its body in reads, and how it ended."""

    reads: tuple[bytes, ...]
    status: int = 200
    headers: dict[str, str] = {}
    ending: Ending = "eof"

    @classmethod
    def of_payloads(cls, text: str | bytes) -> Recording:
        """From one payload of a ``data:`` line per line, without the closing [DONE], which is added."""
        raw = text.encode() if isinstance(text, str) else text
        lines = [line.strip() for line in raw.split(b"\n") if line.strip()]
        return cls(tuple(b"data: " + line + b"\n\n" for line in (*lines, b"[DONE]")))

    @classmethod
    def of_file(cls, path: str | os.PathLike[str]) -> Recording:
        """A ``.jsonl`` file of payloads; any other file is a body as it came."""
        path = Path(path)
        return cls.of_payloads(path.read_bytes()) if path.suffix == ".jsonl" else cls((path.read_bytes(),))


class RecordedModel:
    """Plays ``recordings`` (or plain bodies) in order, one per call of ``stream_chat``. ``delay``: seconds before each
    read."""

    def __init__(self, recordings: Iterable[Recording | bytes], *, name: str = "recorded", delay: float = 0.0) -> None:
        self._recordings = [one if isinstance(one, Recording) else Recording((one,)) for one in recordings]
        self._name = name
        self._next = 0
        self._delay = delay
        self.requests: list[Request] = []

    @property
    def name(self) -> str:
        """The name under which its answers are recorded."""
        return self._name

    async def stream_chat(
        self, messages: Sequence[Message], tools: Sequence[ToolSchema] = (), **options: Any
    ) -> AsyncIterator[ModelEvent]:
        """Plays the next recording. Raises ``AgentError`` when there is none, ``ModelError`` as the answer demands."""
        self.requests.append(Request(tuple(messages), tuple(tools), dict(options)))
        if self._next >= len(self._recordings):
            raise AgentError(f"{self._name!r} has {len(self._recordings)} recordings, and one more was asked for.")
        recording = self._recordings[self._next]
        self._next += 1
        offer = Offer(tools, taken=lambda: {call.id for message in messages for call in message.tool_calls})
        decoder = Decoder(
            offer,
            endpoint=Endpoint(model=self._name),
            status=recording.status,
            headers=recording.headers,
            choices=int(options.get("n") or 1),
        )
        for data in recording.reads:
            if self._delay:
                await asyncio.sleep(self._delay)
            for event in decoder.feed(data):
                yield event
            if decoder.done:
                break
        for event in decoder.finish(recording.ending):
            yield event
        if decoder.failure is not None:
            raise decoder.failure
