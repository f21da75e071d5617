"""What has to go before the next request fits, one rung at a time.

Invariant: pure. Nothing goes before the budget is used up; then enough goes for many further requests. A text may be
shortened, an exchange of calls and results is never cut in two. The system prompt, the newest message of a person, open
calls and calls of unknown outcome stay, whatever the budget.

The rungs: clip a single text that takes up half of the room; leave old results out; have the oldest turns summarised,
or drop them where that failed or cannot pay; the same within the newest turn; clip the newest results.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from msgspec import Struct

from ..config import ContextPolicy
from ..events import ContextCompacted
from ..messages import Message
from ..sizes import Rates, Size, total
from ..state import Entry, State
from ..text import CLIP_NOTICE
from .build import budget_of, frame_size, rates_in
from .front import MASK_GAIN, is_maskable, newest_question
from .pins import commitments, pins_behind


class Summarise(Struct, frozen=True):
    """Have the events of a range summarised; with ``less`` of them than before, since that failed."""

    from_seq: int
    to_seq: int
    less: bool = False
    by: str | None = None


class TooLarge(Struct, frozen=True):
    """The newest turn alone takes more ``tokens`` than there is ``room`` for beside the ``fixed`` ones of the system
    prompt and the tools; ``question``: what was asked does.
    """

    tokens: int
    room: int
    fixed: int
    question: bool


Cut = ContextCompacted | Summarise | TooLarge

_NEWEST_SHARE = 0.8
"""Part of the room that the newest results are clipped to, when they alone are too large."""
_LEAST_KEPT = 20
_LEAST_SUMMED = 150
"""Tokens that a summary cannot make noticeably fewer."""
_TRIES = 2
"""Summaries of a range that may fail before it is dropped."""


class _Room(Struct, frozen=True):
    """Tokens of the conversation, beside the ``fixed`` ones: at most ``limit``, and ``goal`` after a compaction."""

    fixed: float
    limit: float
    goal: float
    policy: ContextPolicy
    rates: Rates


def next_cut(state: State, policy: ContextPolicy, system_prompt: str, tool_tokens: int) -> Cut | None:
    """The next rung, or None: the request fits, and nothing that should go with what went is left."""
    rates = rates_in(state)
    fixed = rates.tokens(frame_size(state, system_prompt)) + tool_tokens * rates.tools
    limit = max(1.0, budget_of(state, policy) - fixed)
    held = rates.tokens(state.size)
    if held <= limit and not state.settling:
        return None
    goal = limit * policy.drop_to
    if held <= goal:
        return None
    return _cut(state, _Room(fixed, limit, goal, policy, rates), held)


def asked_cut(state: State, by: str) -> Summarise | None:
    """What a person's wish to compact comes to: all turns but the newest are summarised, if there are any."""
    old = _turns(state)
    return Summarise(state.entries[0].seq, _end_of(state, *old[-1]), by=by) if old else None


def _cut(state: State, room: _Room, held: float) -> Cut | None:
    over, policy = held > room.limit, room.policy
    if over and (clipped := _clipping(state, room)) is not None:
        return clipped
    old, events = _turns(state), _events(state.entries)
    if events > policy.summarise_after and (first := _oldest(state, old, room, held, policy.keep_recent)):
        return _removal(state, 0, first, room)
    if (left_out := _masking(state, room, held)) is not None:
        return left_out
    if not over:
        return None
    if old:
        return _removal(state, 0, _oldest(state, old, room, held, 0), room)
    if steps := _steps(state):
        return _removal(state, 1, _oldest(state, steps, room, held, 0), room)
    return _newest_clipped(state, room, held) or _too_large(state, room, held)


def _clipping(state: State, room: _Room) -> ContextCompacted | None:
    limit, question = room.limit * room.policy.clip_share, newest_question(state)
    texts = [
        (room.rates.tokens(size), length, entry.seq)
        for entry in state.entries
        if entry is not question
        for size, length in _texts(entry)
    ]
    too_large = [one for one in texts if one[0] > limit and _kept(one, limit) + CLIP_NOTICE < one[1]]
    if not too_large:
        return None
    places = [seq for _, _, seq in too_large]
    return ContextCompacted(kind="clipped", from_seq=min(places), to_seq=max(places), keep=_kept(max(too_large), limit))


def _kept(text: tuple[float, int, int], limit: float) -> int:
    tokens, length, _ = text
    return max(_LEAST_KEPT, int(length * limit / tokens * 0.8))


def _masking(state: State, room: _Room, held: float) -> ContextCompacted | None:
    """Old results go, the oldest first, down to the goal; those of the newest exchange stay."""
    newest, last = _newest_exchange(state), None
    for place, entry in enumerate(state.entries):
        if place >= newest or held <= room.goal:
            break
        for call in entry.calls:
            if is_maskable(call):
                last = entry.seq
                held -= room.rates.tokens(call.size) * (1 - MASK_GAIN / max(MASK_GAIN, _length(call.result)))
    if last is None:
        return None
    return ContextCompacted(kind="masked", from_seq=state.entries[0].seq, to_seq=last)


def _oldest(state: State, groups: Sequence[tuple[int, int]], room: _Room, held: float, keep: int) -> int:
    """How many entries, from the first group on, have to go for the goal; none that are among the newest ``keep``
    events."""
    events, gone, end = _events(state.entries), 0, 0
    for start, stop in groups:
        entries = state.entries[start:stop]
        count = _events(entries)
        if events - gone - count < keep or (held <= room.goal and gone >= room.policy.summarise_oldest):
            break
        gone, end = gone + count, stop
        held -= room.rates.tokens(total(_entry_sizes(entries)))
    return end


def _removal(state: State, start: int, stop: int, room: _Room) -> Cut:
    """Entries ``start`` to ``stop`` are summarised, dropped where that failed or cannot make anything smaller."""
    removed = state.entries[start:stop]
    if state.failed_summaries == 1 and len(groups := _groups(removed)) > 1:
        removed = removed[: groups[len(groups) // 2][0]]
    from_seq, to_seq = removed[0].seq, _end_of(state, start, start + len(removed))
    if state.failed_summaries < _TRIES and room.rates.tokens(total(_entry_sizes(removed))) > _LEAST_SUMMED:
        return Summarise(from_seq, to_seq, less=state.failed_summaries > 0)
    pinned = pins_behind(state, removed, commitments(removed), room.policy.summary_share * room.limit, room.rates)
    return ContextCompacted(kind="dropped", from_seq=from_seq, to_seq=to_seq, pinned=pinned)


def _newest_clipped(state: State, room: _Room, held: float) -> ContextCompacted | None:
    """The results of the newest exchange share what room there is."""
    place = _newest_exchange(state)
    entry = state.entries[place] if place < len(state.entries) else None
    if entry is None:
        return None
    results = [(call.result.content or "", room.rates.tokens(call.size)) for call in entry.calls if call.result]
    share = room.limit * _NEWEST_SHARE - (held - sum(tokens for _, tokens in results))
    low, high = 0, max((len(text) for text, _ in results), default=0)
    while low < high:  # the most characters of each with which all of them fit
        middle = (low + high + 1) // 2
        if _clipped_tokens(results, middle) <= share:
            low = middle
        else:
            high = middle - 1
    keep = max(low, _LEAST_KEPT)
    if _clipped_tokens(results, keep) >= sum(tokens for _, tokens in results):
        return None
    return ContextCompacted(kind="clipped", from_seq=entry.seq, to_seq=entry.seq, keep=keep)


def _clipped_tokens(results: Sequence[tuple[str, float]], keep: int) -> float:
    return sum(
        tokens if len(text) <= keep else min(tokens, tokens * (keep + CLIP_NOTICE) / len(text))
        for text, tokens in results
    )


def _too_large(state: State, room: _Room, held: float) -> TooLarge:
    question = newest_question(state)
    size = 0.0 if question is None else room.rates.tokens(question.size)
    return TooLarge(int(held), int(room.limit), int(room.fixed), size > room.limit)


def _turns(state: State) -> list[tuple[int, int]]:
    """Places of the turns before the newest one; each begins with a message of a person."""
    starts = [place for place, entry in enumerate(state.entries) if entry.message.role == "user" and not entry.note]
    if not starts:
        return []
    starts[0] = 0
    return list(itertools.pairwise(starts))


def _steps(state: State) -> list[tuple[int, int]]:
    """Places of what the newest turn has done before its newest exchange, where the person's message stands first."""
    return [(1 + start, 1 + stop) for start, stop in _groups(state.entries[1 : _newest_exchange(state)])]


def _groups(entries: Sequence[Entry]) -> list[tuple[int, int]]:
    """Places of messages of the model, each with the notes and results behind it; of turns, where there are some."""
    questions = [place for place, entry in enumerate(entries) if entry.message.role == "user" and not entry.note]
    starts = questions or [place for place, entry in enumerate(entries) if entry.message.role == "assistant"]
    if not starts:
        return []
    starts[0] = 0
    return list(zip(starts, [*starts[1:], len(entries)], strict=True))


def _newest_exchange(state: State) -> int:
    """Place of the newest message with calls, if no answer and no person's message stands behind it; else the end."""
    for place in range(len(state.entries) - 1, -1, -1):
        entry = state.entries[place]
        if entry.calls:
            return place
        if not entry.note:
            break
    return len(state.entries)


def _end_of(state: State, start: int, stop: int) -> int:
    """The last event of some entries, before any of what stays: an outcome that was found out late stands behind it."""
    end = max(_last_seq(entry) for entry in state.entries[start:stop])
    return min(end, state.entries[stop].seq - 1) if stop < len(state.entries) else end


def _last_seq(entry: Entry) -> int:
    return max((entry.seq, *(call.result_seq for call in entry.calls)))


def _events(entries: Sequence[Entry]) -> int:
    return sum(1 + len(entry.calls) for entry in entries)


def _entry_sizes(entries: Sequence[Entry]) -> list[Size]:
    return [size for entry in entries for size in (entry.size, *(call.size for call in entry.calls))]


def _texts(entry: Entry) -> list[tuple[Size, int]]:
    """What of an entry can be clipped, with its characters: its text and the results of its calls."""
    texts = [(entry.size, _length(entry.message))]
    return [*texts, *((call.size, _length(call.result)) for call in entry.calls if call.result is not None)]


def _length(message: Message | None) -> int:
    return 0 if message is None else len(message.content or "")
