"""What stands for the part of a conversation that no longer reaches the model, and for results that were left out.

Invariant: pure; the text of the front is made when the log says that something moved there and stays the same until
then, so the prefix stays. It speaks as a note to the model, never as a system prompt: results of tools, and with them
words of outsiders, went into it.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..messages import Message
from ..state import Call, Entry, State
from ..text import clip

_DROPPED = "[Earlier messages of this conversation are left out here: they no longer fit.]"
_UNSUMMARISED = "[Earlier messages of this conversation are left out here: they could not be summarised.]"
_SUMMED = "[Earlier messages of this conversation are left out here. A record of what they came to:]"
_PINNED = "Facts that still hold:"
_DOUBTED = "Calls of which it is not known whether they took effect:"
NOTED = Message("assistant", "[Noted.]")
"""Stands behind a note, so that roles alternate."""
STOPPED = "[The run above was stopped before it came to an answer. Go on with this message:]\n\n"
"""Stands before what a person says where an answer was due. The assistant says nothing of the kind: small models take
whatever it says for the way to answer.
"""
_LEFT_OUT = "[An older result of "
MASK_GAIN = 160
"""Characters, more than what stands for a result that was left out takes."""


def follows_no_answer(before: Entry | None, entry: Entry) -> bool:
    """Whether a person speaks where the model had not answered yet."""
    if entry.message.role != "user" or entry.note or before is None:
        return False
    return bool(before.calls) or before.message.role == "user"


def front_text(summary: str | None, pinned: Sequence[str], doubts: Sequence[Call], *, failed: bool = False) -> str:
    """The first message behind the system prompt once something was left out."""
    parts = [_SUMMED if summary else _UNSUMMARISED if failed else _DROPPED]
    parts += [summary] if summary else []
    parts += ["\n".join((_PINNED, *(f"- {fact}" for fact in pinned)))] if pinned else []
    parts += ["\n".join((_DOUBTED, *(f"- {call_line(call)}" for call in doubts)))] if doubts else []
    return "\n\n".join(parts)


def call_line(call: Call) -> str:
    """A call in a line."""
    return f"{call.call.name} {clip(call.call.arguments, 200)} (call {call.call.id})"


def masked(content: str) -> str:
    """What stands for an old result."""
    return f"{_LEFT_OUT}{len(content)} characters is left out here; make the call again if it is needed.]"


def is_masked(content: str) -> bool:
    """Whether it stands for an old result."""
    return content.startswith(_LEFT_OUT)


def is_maskable(call: Call) -> bool:
    """Whether leaving the result out saves anything and loses nothing that is still open."""
    result = call.result
    return call.status != "uncertain" and result is not None and len(result.content or "") > MASK_GAIN


def newest_question(state: State) -> Entry | None:
    """What a person said last."""
    return next((one for one in reversed(state.entries) if one.message.role == "user" and not one.note), None)
