"""The JSON Schemas of everything that crosses HTTP, made from the types themselves.

Invariant: what is always written is required, so that a reader never has to ask whether a key is there; only what may
be left out (``omit_defaults``, and keys of what is sent in) is optional.
"""

from __future__ import annotations

from typing import Annotated, Any, get_args

import msgspec
from msgspec import Meta, Struct

from agent_core import events, messages, values
from agent_core.trace import transcript

from . import wire

REF = "#/components/schemas/{name}"

_SHOWN = tuple(cls for cls in get_args(events.DurableEvent | events.ShownEvent))

_IN_FRAMES = ("Recorded", "Start", "PartialStep", "Done", "Problem")


class UnknownEvent(Struct, frozen=True):
    """An event of a newer program: to be kept and otherwise left alone."""

    type: str
    v: int


class Recorded(Struct, frozen=True):
    """An event in its place: the data of every frame that is no envelope. ``seq`` and ``hash`` are null for what is
    only shown; ``at`` is Unix seconds, UTC."""

    session_id: str
    seq: Annotated[int, Meta(ge=1)] | None
    at: float
    event: events.DurableEvent | events.ShownEvent
    hash: str | None = None


def wire_types() -> tuple[type[Struct], ...]:
    """The shapes of ``wire``, and the event in its place."""
    own = [value for value in vars(wire).values() if isinstance(value, type) and issubclass(value, Struct)]
    named = [cls for cls in own if cls.__module__.startswith(wire.__name__) and cls not in (wire.Body, wire.Answer)]
    return (Recorded, UnknownEvent, *named)


def components() -> dict[str, dict[str, Any]]:
    """Every schema by name, for ``components/schemas`` of an OpenAPI document."""
    _, found = msgspec.json.schema_components([*wire_types(), *get_args(transcript.AnyItem), *_SHOWN], ref_template=REF)
    classes = _classes()
    for name, schema in found.items():
        cls = classes.get(name)
        if cls is not None and not issubclass(cls, wire.Body) and not cls.__struct_config__.omit_defaults:
            schema["required"] = list(schema["properties"])
    found["Event"] = {
        "title": "Event",
        "description": "Every event; ``type`` tells them apart. A reader leaves alone what it does not know.",
        "anyOf": [{"$ref": REF.format(name=cls.__name__)} for cls in (*_SHOWN, UnknownEvent)],
    }
    found["Recorded"]["properties"]["event"] = {"$ref": REF.format(name="Event")}
    found["TranscriptItem"] = {
        "title": "TranscriptItem",
        "description": "A value of a replay; ``kind`` tells them apart.",
        "anyOf": [{"$ref": REF.format(name=cls.__name__)} for cls in get_args(transcript.AnyItem)],
    }
    found["Replay"]["properties"]["items"] = {"type": "array", "items": {"$ref": REF.format(name="TranscriptItem")}}
    found["StreamFrame"] = {
        "title": "StreamFrame",
        "description": "One frame of a stream. ``data`` is JSON text; ``event`` tells what it holds: without one (or "
        "``message``) an event in its place.",
        "type": "object",
        "properties": {
            "id": {"type": "string", "pattern": "^[0-9]+$"},
            "event": {"enum": ["message", "start", "partial", "done", "error"]},
            "retry": {"type": "integer"},
            "data": {
                "type": "string",
                "contentMediaType": "application/json",
                "contentSchema": {"anyOf": [{"$ref": REF.format(name=name)} for name in _IN_FRAMES]},
            },
        },
        "required": ["data"],
    }
    for name in ("a", "b"):
        found["DiffRow"]["properties"][name] = {"anyOf": [{"$ref": REF.format(name="Recorded")}, {"type": "null"}]}
    return dict(sorted(found.items()))


def _classes() -> dict[str, type[Struct]]:
    everything = [value for module in (values, messages, events, transcript, wire) for value in vars(module).values()]
    structs = [value for value in everything if isinstance(value, type) and issubclass(value, Struct)]
    return {cls.__name__: cls for cls in structs} | {cls.__name__: cls for cls in (Recorded, UnknownEvent)}
