"""How the conversation in a state grows, and what a compaction does to it.

Invariant: the size of the conversation is the sum of its messages' at any time; what a compaction takes away leaves its
pinned facts and its calls of unknown outcome behind.
"""

from __future__ import annotations

import itertools

import msgspec

from ..events import ContextCompacted, RunStarted
from ..messages import Message
from ..sizes import message_size, text_size, total
from ..state import Call, Entry, Run, State
from ..text import CLIP_NOTICE, clip
from .front import STOPPED, call_line, follows_no_answer, front_text, is_maskable, masked, newest_question

OVERFLOWED = 0.75
"""Part of a request that was too long for its endpoint, as estimated, that is taken to fit."""
_STOPPED = text_size(STOPPED)


def add_entry(state: State, seq: int, message: Message, *, note: bool = False) -> Entry:
    """The conversation goes on with a message; ``note``: one of the runtime."""
    entry, newest = Entry(seq, message, message_size(message), note=note), state.entries[-1] if state.entries else None
    state.entries.append(entry)
    state.size = state.size.plus(entry.size)
    if message.role == "user" and follows_no_answer(newest, entry):  # the cheap question first: folding is a hot path
        state.size = state.size.plus(_STOPPED)
    return entry


def give_result(state: State, call: Call, content: str, seq: int) -> None:
    """A call gets a result, or another one in the place of what it had."""
    if call.result is not None:
        state.size = state.size.minus(call.size)
    call.result, call.result_seq = Message("tool", content, tool_call_id=call.call.id), seq
    call.size = text_size(content, 1)
    state.size = state.size.plus(call.size)


def compact(state: State, event: ContextCompacted) -> None:
    """What the event says of the range no longer reaches the model as it was."""
    inside = [entry for entry in state.entries if event.from_seq <= entry.seq <= event.to_seq]
    if event.kind in ("dropped", "summarised"):
        state.doubts += [call for entry in inside for call in entry.calls if call.status == "uncertain"]
        state.entries = [entry for entry in state.entries if not event.from_seq <= entry.seq <= event.to_seq]
        state.dropped = max(state.dropped, event.to_seq)
        state.summary, state.pinned = event.summary or state.summary, event.pinned or state.pinned
        state.front = front_text(state.summary, state.pinned, state.doubts, failed=bool(state.failed_summaries))
    elif event.kind == "masked":
        for call in (call for entry in inside for call in entry.calls if is_maskable(call)):
            give_result(state, call, masked(call.result.content or "" if call.result else ""), call.result_seq)
    elif event.keep is not None:
        question = newest_question(state)
        for entry in inside:
            _clip_entry(state, entry, event.keep, with_text=entry is not question)
    sizes = [size for entry in state.entries for size in (entry.size, *(call.size for call in entry.calls))]
    sizes += [_STOPPED for one, other in itertools.pairwise(state.entries) if follows_no_answer(one, other)]
    state.size, state.failed_summaries, state.settling = total(sizes), 0, event.by is None


def ceiling(state: State, begins: RunStarted, before: Run | None) -> int | None:
    """What a run is begun with of what endpoints were found to take: another model may take more."""
    if window := int(begins.calibration.get("window", 0)):
        return window
    return state.ceiling if before is None or before.model == begins.model else None


def found_out(state: State, call: Call, outcome: str) -> None:
    """What became of a call whose messages are gone."""
    state.doubts.remove(call)
    state.pinned = (*state.pinned, f"{call_line(call)}: {outcome}")
    state.front = front_text(state.summary, state.pinned, state.doubts)


def _clip_entry(state: State, entry: Entry, keep: int, *, with_text: bool) -> None:
    if with_text and entry.message.content and len(entry.message.content) > keep + CLIP_NOTICE:
        entry.message = msgspec.structs.replace(entry.message, content=clip(entry.message.content, keep))
        entry.size = message_size(entry.message)
    for call in entry.calls:
        if call.result is not None and call.result.content and len(call.result.content) > keep + CLIP_NOTICE:
            give_result(state, call, clip(call.result.content, keep), call.result_seq)
