"""Frames of ``text/event-stream``: events as they stand in the log, and the envelopes around them.

Invariant: a frame has an ``id`` exactly when its event is durable, and that id is the event's number; heartbeats,
envelopes and deltas have none, so a browser's ``Last-Event-ID`` is always a place in the log.
"""

from __future__ import annotations

import msgspec
from msgspec import Struct

from agent_core import events as ev

from .wire import Answer

HEARTBEAT = b": ping\n\n"
RETRY_AFTER_CLOSING = b"retry: 1000\n: the server is going down, ask again for what follows\n\n"
_encoder = msgspec.json.Encoder()


class Frame(Struct, frozen=True, gc=False):
    """One event as bytes, with what a reader has to know of it.

    ``step``: the ``StepStarted`` that something shown belongs to. ``closes``: the text shown so far of the step that is
    going on is replaced by it. ``begins``: a run. ``end``: the reason, where a run is over behind it.
    """

    data: bytes
    seq: int | None
    step: int = 0
    closes: bool = False
    begins: bool = False
    end: str | None = None


_CLOSING = (
    ev.StepStarted,
    ev.AssistantMessage,
    ev.StepEnd,
    ev.ModelAttemptFailed,
    ev.RunStarted,
    ev.LoopEnd,
    ev.RolledBack,
)


def frame_of(item: ev.Recorded, step: int = 0) -> Frame:
    """The frame of an event; ``step``: the step that is going on."""
    data = json_of(item)
    if item.seq is None:
        return Frame(b"data: " + data + b"\n\n", None, step)
    event = item.event
    end = event.reason if type(event) is ev.LoopEnd else "rolled_back" if type(event) is ev.RolledBack else None
    return Frame(
        b"id: %d\ndata: %b\n\n" % (item.seq, data),
        item.seq,
        step,
        isinstance(event, _CLOSING),
        type(event) is ev.RunStarted,
        end,
    )


def json_of(item: ev.Recorded) -> bytes:
    """An event in its place as JSON; one of an unknown type as the bytes it came as."""
    if type(item.event) is ev.UnknownEvent:
        about = {name: getattr(item, name) for name in item.__struct_fields__}
        return _encoder.encode({**about, "event": msgspec.Raw(item.event.payload)})
    return _encoder.encode(item)


def envelope(name: str, value: Answer, *, retry: int | None = None) -> bytes:
    """A named frame around the events. ``retry``: milliseconds until a reader that was cut off should ask again."""
    hint = b"" if retry is None else b"retry: %d\n" % retry
    return b"%bevent: %b\ndata: %b\n\n" % (hint, name.encode(), _encoder.encode(value))
