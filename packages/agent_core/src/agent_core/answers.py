"""Where the figures of an answer came from: what a checker is given, and what it says of it.

Invariant: a check is a function of the conversation as the model could read it, so it can be made again from the log.
Which checker a run has is part of its environment, by name.
"""

from __future__ import annotations

import logging
from typing import Protocol

from msgspec import Struct

from . import events as ev
from .state import State

_logger = logging.getLogger(__name__)

FAILED = "*"
"""Stands among what was not traced when the check itself failed: nothing is known of any figure then."""


class Result(Struct, frozen=True):
    """What the model read of one call."""

    call_id: str
    tool: str
    content: str


class Evidence(Struct, frozen=True):
    """An answer and what it could be drawn from, oldest first: what people said (with what was frozen into it), what
    stands for older turns, and the results of tools. What a compaction dropped is not in it: the model could not read
    it either.
    """

    answer: str
    said: tuple[str, ...] = ()
    results: tuple[Result, ...] = ()


class Findings(Struct, frozen=True):
    """The figures of an answer that were traced, and the others as they stand there."""

    figures: tuple[ev.Figure, ...] = ()
    untraced: tuple[str, ...] = ()


class AnswerChecker(Protocol):
    """Traces the figures of answers. ``name`` stands for what it does: another way to trace has another name."""

    @property
    def name(self) -> str:
        """Recorded with each run."""
        ...

    def check(self, evidence: Evidence) -> Findings:
        """Pure, quick (it runs on the event loop, once for each answer), and raises nothing."""
        ...


def evidence_of(state: State) -> Evidence:
    """The newest answer of a conversation, with what stands before it."""
    *before, newest = state.entries
    said = [entry.message.content or "" for entry in before if entry.message.role == "user" and not entry.note]
    return Evidence(
        newest.message.content or "",
        tuple(said if state.front is None else [state.front, *said]),
        tuple(
            Result(call.call.id, call.call.name, call.result.content or "")
            for entry in before
            for call in entry.calls
            if call.result is not None
        ),
    )


def checked(state: State, checker: AnswerChecker) -> ev.AnswerChecked:
    """The event that says where the figures of the newest answer came from."""
    answer_seq = state.entries[-1].seq
    try:
        found = checker.check(evidence_of(state))
    except Exception:  # an answer is not held back because nobody could check it
        _logger.warning("the figures of an answer could not be checked", exc_info=True)
        found = Findings(untraced=(FAILED,))
    return ev.AnswerChecked(answer_seq=answer_seq, figures=found.figures, untraced=found.untraced)
