"""Texts that the runtime itself puts before the model, and the shortening of what is too long.

Invariant: what is cut is said, with the true size; what cannot be encoded is replaced visibly before anything is
stored.
"""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

S = TypeVar("S", bound=msgspec.Struct)

REPEAT_NOTICE = "\n[The same call gave the same result just before; another one will be refused.]"

_EDITED = "\n[A person changed the arguments before this call ran: "


def edited_notice(arguments: str) -> str:
    """What stands behind the result of a call whose arguments a person changed."""
    return f"{_EDITED}{arguments}]"


def without_notices(content: str) -> str:
    """A result as the tool gave it, without what the runtime put behind it."""
    return content.partition(_EDITED)[0].removesuffix(REPEAT_NOTICE)


CLIP_NOTICE = 100
"""Characters, more than the notice of a clipping takes: clipping what is hardly longer would not make it shorter."""


def clip(text: str, keep: int, more: str = "") -> str:
    """Head 2/3 and tail 1/3 of ``keep`` characters, with a notice between that states the true size, and ``more``."""
    if len(text) <= keep:
        return text
    tail = keep // 3
    head = keep - tail
    notice = f"\n[... {len(text)} characters in all, {keep} shown: the first {head} and the last {tail}{more} ...]\n"
    return text[:head] + notice + (text[-tail:] if tail else "")


def is_clipped(text: str) -> bool:
    """Whether a part of it was cut out by ``clip``."""
    return "\n[... " in text and " characters in all, " in text


def storable(value: S) -> S:
    """The value with every text in it as ``encodable`` gives it. Raises ``msgspec.ValidationError`` where it could be
    written but not be read again, since something in it is of another type than it should be."""
    return msgspec.convert(_all_encodable(msgspec.to_builtins(value)), type(value))


def _all_encodable(value: Any) -> Any:
    if isinstance(value, str):
        return encodable(value)
    if isinstance(value, dict):
        return {_all_encodable(key): _all_encodable(item) for key, item in value.items()}
    return [_all_encodable(item) for item in value] if isinstance(value, list | tuple) else value


def encodable(text: str) -> str:
    """The text with lone surrogates replaced by U+FFFD: they can be neither stored nor sent."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
