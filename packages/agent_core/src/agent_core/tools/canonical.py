"""The canonical form of arguments and its digest, to which approvals, repeats and idempotency are bound.

Invariant: two arguments have one text exactly if they are the same JSON value. The text is that of RFC 8785 (keys
sorted, one spelling of each number and string), except that whole numbers from 2**53 on keep all their digits: the RFC
would write neighbouring ones (the ids of many systems) alike.
"""

from __future__ import annotations

import hashlib
from json.encoder import encode_basestring
from typing import Any

import rfc8785

from ..text import encodable

_LARGE = 2**53


def canonical(value: Any) -> str:
    """The canonical text of a JSON value."""
    if isinstance(value, str):
        return encode_basestring(encodable(value))  # escapes what the RFC escapes, as the RFC does
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        if value != value or abs(value) == float("inf"):
            return str(value)  # no JSON, so nothing else has this text
        return str(int(value)) if abs(value) >= _LARGE else rfc8785.dumps(value).decode()
    if isinstance(value, dict):
        items = sorted(((str(key), item) for key, item in value.items()), key=lambda item: _utf16(item[0]))
        return "{" + ",".join(f"{canonical(key)}:{canonical(item)}" for key, item in items) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(canonical, value)) + "]"
    return canonical(str(value))


def digest(text: str) -> str:
    """Digest of a canonical text, hex."""
    return hashlib.sha256(text.encode()).hexdigest()


def _utf16(key: str) -> bytes:
    return key.encode("utf-16-be", "surrogatepass")
