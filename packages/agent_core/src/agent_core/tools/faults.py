"""Structured errors of calls: what the model reads when a call has no result.

Invariant: one form for all of them, ``{"error": {"type", "message", "hint"}}``; never a traceback.
"""

from __future__ import annotations

import msgspec

from ..errors import ToolError
from ..events import Fault, ToolCallFinished
from ..hidden_text import remove, removed_notice
from ..state import Call
from ..text import clip, encodable

LONGEST = 2000
"""Characters of an error that a model is given."""

_encode = msgspec.json.Encoder().encode


def fault_content(fault: Fault) -> str:
    """The fault as the model reads it."""
    return _encode({"error": fault}).decode()


def visible(text: str) -> str:
    """Text by a tool, as a model is given it in an error: not without end, and without what a person could not see."""
    cleaned, removed = remove(clip(encodable(text), LONGEST))
    return cleaned + removed_notice(removed) if removed else cleaned


def fault_of(error: ToolError) -> Fault:
    """What a tool says of its own failure."""
    return Fault(error.type, visible(error.message), None if error.hint is None else visible(error.hint))


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
