"""The canonical form of arguments and its digest, to which approvals, repeats and idempotency are bound.

Invariant: two argument objects have one digest exactly if they are the same JSON value (RFC 8785: keys sorted, one
spelling of each number and string). Numbers beyond the range of that RFC keep their exact decimal text.
"""

from __future__ import annotations

import hashlib
from typing import Any

import rfc8785


def canonical(arguments: Any) -> str:
    """RFC 8785 text of a JSON value."""
    try:
        return rfc8785.dumps(arguments).decode()
    except rfc8785.CanonicalizationError:
        return rfc8785.dumps(_tame(arguments)).decode()


def digest(text: str) -> str:
    """Digest of a canonical text, hex."""
    return hashlib.sha256(text.encode()).hexdigest()


def _tame(value: Any) -> Any:
    """Replaces what the RFC cannot express by tagged text, so that distinct values stay distinct."""
    if isinstance(value, dict):
        return {str(key): _tame(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_tame(item) for item in value]
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return value if abs(value) < 2**53 else f"\x00int:{value}"
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else f"\x00float:{value}"
    return f"\x00{type(value).__name__}:{value}"
