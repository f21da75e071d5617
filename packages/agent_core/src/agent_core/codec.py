"""How events become bytes and are read back, whatever version wrote them.

Invariant: every payload ever written can be read; what this program does not know comes back as ``UnknownEvent`` with
its bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

import msgspec

from .events import AnyEvent, DurableEvent, ShownEvent, UnknownEvent
from .messages import Event

Upcaster = Callable[[dict[str, Any]], dict[str, Any]]
UPCASTERS: dict[tuple[str, int], Upcaster] = {}
"""(type, version) to a function that turns a payload of that version into one of the next."""

_BY_TYPE: dict[str, type[Event]] = {cls.__name__: cls for cls in (*get_args(DurableEvent), *get_args(ShownEvent))}
_CURRENT: dict[str, int] = {name: cls.__struct_defaults__[-1] for name, cls in _BY_TYPE.items()}
_VERSION: dict[type, int] = {cls: _CURRENT[name] for name, cls in _BY_TYPE.items()}
_encoder = msgspec.json.Encoder()
_decode_current = msgspec.json.Decoder[Any](DurableEvent | ShownEvent).decode


def encode(event: AnyEvent) -> bytes:
    """The payload as JSON bytes; the inverse of ``decode``."""
    return event.payload if type(event) is UnknownEvent else _encoder.encode(event)


def decode(payload: bytes) -> AnyEvent:
    """Reads a payload of any version. Raises ``ValueError`` when it is not an event at all."""
    try:
        event: AnyEvent = _decode_current(payload)
    except msgspec.ValidationError:
        return _decode_foreign(payload)
    except msgspec.DecodeError as error:
        raise ValueError(f"not JSON: {error}") from None
    return event if event.v == _VERSION[type(event)] else _decode_foreign(payload)


def type_name(event: AnyEvent) -> str:
    """The tag under which the event is stored."""
    return event.type if type(event) is UnknownEvent else type(event).__name__


def _decode_foreign(payload: bytes) -> AnyEvent:
    """A payload of an older or newer version, or of an unknown type."""
    raw = msgspec.json.decode(payload)
    if not isinstance(raw, dict) or not isinstance(raw.get("type"), str):
        raise ValueError("an event is a JSON object with a type")
    name, version = raw["type"], raw.get("v", 1)
    if name not in _BY_TYPE or not isinstance(version, int) or version > _CURRENT[name]:
        return UnknownEvent(type=name, payload=payload)
    while version < _CURRENT[name]:
        upcast = UPCASTERS.get((name, version))
        if upcast is None:
            raise ValueError(f"{name} never had a version {version}")
        raw = upcast(raw)
        version += 1
    try:
        return msgspec.convert({**raw, "v": version}, _BY_TYPE[name])  # type: ignore[return-value]
    except msgspec.ValidationError as error:
        raise ValueError(f"not a valid {name}: {error}") from None
