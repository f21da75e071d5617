"""Structured errors of calls: what the model reads when a call has no result.

Invariant: one form for all of them, ``{"error": {"type", "message", "hint"}}``; never a traceback.
"""

from __future__ import annotations

import msgspec

from ..events import Fault, ToolCallFinished
from ..state import Call

_encode = msgspec.json.Encoder().encode


def fault_content(fault: Fault) -> str:
    """The fault as the model reads it."""
    return _encode({"error": fault}).decode()


def finished_with(call: Call, fault: Fault, *, digest: str = "", target: str | None = None) -> ToolCallFinished:
    """The end of a call that has no result."""
    return ToolCallFinished(
        call_id=call.call.id,
        index=call.index,
        tool=call.call.name,
        ok=False,
        content=fault_content(fault),
        error=fault,
        digest=digest,
        attempts=call.attempts,
        target=target,
    )


def took_effect(end: ToolCallFinished) -> bool:
    """Whether a call that ended so was carried out, or may have been."""
    uncertain = end.error is not None and end.error.type == "uncertain"
    return not end.cached and (uncertain or (end.ok and end.attempts > 0))
