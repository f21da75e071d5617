"""What is recalled for a message of a person: which events may be looked up, and how what was found is told.

Invariant: pure. Only what no longer reaches the model is recalled. What was found is frozen into the message, so the
prompt before it stays as it was, and a decision that is made again finds it there.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

from .. import events as ev
from ..config import ContextPolicy
from ..sizes import text_size
from ..state import State
from .build import budget_of, rates_in
from .front import is_masked
from .passages import Passage, form

KIND = "recalled"
"""Of what is frozen into a message."""
SHARE = 0.08
"""Largest part of the budget that the fragments for one message may take."""

_BRACKETS = str.maketrans("[]\n\r", "()  ")
"""A fragment is one line in brackets, whatever stands in it."""

Span = tuple[int, int]
"""First and last number of events that follow each other."""


def gone(state: State, *, all_old: bool = False) -> list[Span]:
    """The events of the conversation that do not reach the model any more. ``all_old``: all but those of the newest
    turn are about to go.
    """
    upto = state.entries[-1].seq if all_old and state.entries else state.dropped
    shown: set[int] = set()
    masked: list[int] = []
    for entry in state.entries:
        shown.add(entry.seq)
        for call in entry.calls:
            left_out = call.result is not None and is_masked(call.result.content or "")
            (masked.append if left_out else shown.add)(call.result_seq)
    if all_old:
        shown, masked = set(), []
    spans = without([(1, upto)], [*((seq, seq) for seq in shown if seq <= upto), *state.taken_back])
    return spans + [(seq, seq) for seq in masked if seq > upto]


def said_before(state: State) -> list[Span]:
    """All events of the conversation before the newest message of a person."""
    newest = next((one.seq for one in reversed(state.entries) if one.message.role == "user" and not one.note), 1)
    return without([(1, newest - 1)], state.taken_back)


def without(spans: Iterable[Span], holes: Iterable[Span]) -> list[Span]:
    """What of the spans is left without the holes, in order."""
    left = [span for span in spans if span[0] <= span[1]]
    for first, last in holes:
        left = [
            part
            for start, end in left
            for part in ((start, min(end, first - 1)), (max(start, last + 1), end))
            if part[0] <= part[1]
        ]
    return sorted(set(left))


def fragments(found: Sequence[Passage], question: str, state: State, policy: ContextPolicy) -> tuple[ev.Frozen, ...]:
    """What is frozen into the message, in the order in which it was said: the best of what was found that there is room
    for, that an earlier message did not bring back already, and that is not the same question as it was asked before
    (what it gave then is of then).
    """
    rates, room = rates_in(state), SHARE * budget_of(state, policy)
    shown = [entry.message.content or "" for entry in state.entries if entry.message.role == "user"]
    kept: list[Passage] = []
    for one in found:
        if len(kept) == policy.recall_top_k:
            break
        text = told(one)
        if form(one.text) == form(question) or any(text in earlier for earlier in shown):
            continue
        room -= rates.tokens(text_size(text, 1))
        if room < 0:
            break
        kept.append(one)
    return tuple(ev.Frozen(KIND, told(one), (one.seq,)) for one in sorted(kept, key=lambda one: one.seq))


def told(one: Passage) -> str:
    """A fragment in one line: where it stands, when it was said and by whom."""
    who = {"user": one.name or "user", "assistant": "assistant", "tool": f"result of {one.name}"}[one.speaker]
    return f"event {one.seq}, {moment(one.at)}, {who}: {one.text}".translate(_BRACKETS)


def moment(at: float) -> str:
    """A time to the minute."""
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(at))
