"""Server-sent events out of bytes.

Invariant: the events do not depend on how the bytes were cut into reads, and each byte is looked at a bounded number
of times. Lines end at CR, LF or CRLF and nowhere else; they are split as bytes, so no character is ever torn.
"""

from __future__ import annotations

from typing import TypeAlias

Payload: TypeAlias = bytes | tuple[bytes, bytes]
"""The data of an event; with its name, where it has one. The field ``error`` counts as an event of that name."""

_DONE = b"[DONE]\n"
LARGEST_EVENT = 64 * 1024 * 1024
"""Bytes; a body that sends more without ending an event is no event stream."""


class EventTooLarge(ValueError):
    """An event grew beyond ``LARGEST_EVENT``."""


class SseReader:
    """Feed it reads in order; each call gives the events that are whole by then."""

    __slots__ = ("_after_cr", "_pending", "_size", "_tail")

    def __init__(self) -> None:
        self._pending: list[bytes] = []
        self._size = 0
        self._tail = b""
        self._after_cr = False

    def feed(self, data: bytes) -> list[Payload]:
        """The events completed by ``data``."""
        if (
            data.startswith(b"data: ")
            and data.endswith(b"\n\n")
            and data.count(b"\n") == 2
            and not self._pending
            and b"\r" not in data
        ):  # one event of one line, whole: what an endpoint sends that flushes each event
            self._after_cr = False
            return [data[6:-2]]
        if self._after_cr and data.startswith(b"\n"):
            data = data[1:]
            self._after_cr = False
        if not data:
            return []
        self._after_cr = data.endswith(b"\r")
        if b"\r" in data:
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        if b"\n\n" not in data and not (self._tail.endswith(b"\n") and data.startswith(b"\n")):
            window = self._tail + data
            if _DONE not in window:
                return self._keep(data, window)
            # [DONE] needs no blank line behind it: nothing after it counts.
            data += b"\n"
        if self._pending:
            self._pending.append(data)
            data = b"".join(self._pending)
            self._pending.clear()
        count = data.count(b"\n\n")
        if (
            data.startswith(b"data: ")
            and data.endswith(b"\n\n")
            and data.count(b"\n") == 2 * count
            and data.count(b"\n\ndata: ") == count - 1
        ):  # nothing but events of one data line each
            self._size = 0
            self._tail = b""
            return [*data[6:-2].split(b"\n\ndata: ")]
        *blocks, rest = data.split(b"\n\n")
        self._size = len(rest)
        self._tail = rest[-16:]
        if rest:
            self._pending.append(rest)
        events: list[Payload] = []
        for block in blocks:
            if block.startswith(b"data: ") and b"\n" not in block:
                events.append(block[6:])
            elif block:
                _read_block(block, events)
        return events

    def finish(self) -> list[Payload]:
        """The event that no blank line ended. It may be a stump."""
        events: list[Payload] = []
        _read_block(b"".join(self._pending), events)
        self._pending.clear()
        self._tail = b""
        return events

    def _keep(self, data: bytes, window: bytes) -> list[Payload]:
        self._pending.append(data)
        self._tail = window[-16:]
        self._size += len(data)
        if self._size > LARGEST_EVENT:
            raise EventTooLarge
        return []


def _read_block(block: bytes, events: list[Payload]) -> None:
    """One event by the grammar: data lines joined, comments and unknown fields left out."""
    name = b""
    data: list[bytes] = []
    for line in block.split(b"\n"):
        field, colon, value = line.partition(b":")
        if not field:
            continue
        if value.startswith(b" "):
            value = value[1:]
        if field == b"data":
            data.append(value)
        elif field == b"event":
            name = value.strip()
        elif field == b"error" and colon:
            events.append((b"error", value))
    if data:
        joined = b"\n".join(data)
        events.append((name, joined) if name else joined)
