"""Marks what came of a question: the calls, the tools, the answer, its figures.

Invariant: pure, and every mark follows from the events alone; no mark is a judgement of style.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

from msgspec import Struct

from .figures import figures, figures_from_nowhere
from .interview import CallMade, Interview
from .questions import Need

_DIGITS = re.compile(r"\d+(?:\.\d+)?")
_ILL_FORMED = frozenset({"validation", "unknown_tool"})


class Marks(Struct, frozen=True):
    """The marks of one question."""

    well_formed: bool
    """The first message with calls has only calls that parsed, named an offered tool and had valid arguments."""
    calls: int
    calls_well_formed: int
    right_tools: bool
    """For each call that the question needs, one of the right tools was called, with arguments that are valid."""
    right_arguments: bool
    """And each with the arguments that matter, so that the tool gave a result."""
    facts: int
    facts_found: int
    completed: bool
    """The run completed, and every expected fact stands in the answer."""
    from_nowhere: tuple[str, ...]
    """Figures of the answer that stand in no result, nor in the question."""


def mark(found: Interview) -> Marks:
    """The marks of an interview."""
    well = [made for made in found.calls if is_well_formed(made)]
    first = [made for made in found.calls if made.step == found.calls[0].step] if found.calls else []
    facts = found.question.facts
    held = sum(holds(found.answer, group) for group in facts)
    return Marks(
        well_formed=bool(first) and all(is_well_formed(made) for made in first),
        calls=len(found.calls),
        calls_well_formed=len(well),
        right_tools=all(any(made.call.name in need.tools for made in well) for need in found.question.needs),
        right_arguments=all(any(meets(made, need) for made in well) for need in found.question.needs),
        facts=len(facts),
        facts_found=held,
        completed=found.reason == "completed" and held == len(facts),
        from_nowhere=tuple(map(str, sorted(figures_from_nowhere(found.answer, found.sources)))),
    )


def is_well_formed(made: CallMade) -> bool:
    """Whether a call parsed, named an offered tool and had arguments that its schema accepts. What the tool then said
    of it is another matter."""
    return made.call.error is None and made.call.known and (made.ran or made.error not in _ILL_FORMED)


def meets(made: CallMade, need: Need) -> bool:
    """Whether a well-formed call is one that the question needs, and gave a result."""
    if made.call.name not in need.tools or made.error is not None:
        return False
    arguments = json.loads(made.call.arguments or "{}")
    if any(arguments.get(name) for name in need.without):
        return False
    values = list(_leaves(arguments))
    return all(any(_mentions(values, wanted) for wanted in group) for group in need.mentions)


def holds(answer: str, group: Sequence[str]) -> bool:
    """Whether one of ``group`` stands in the answer: a number by value, other text as a part."""
    there, text = figures(answer), answer.casefold()
    return any(Decimal(wanted) in there if _DIGITS.fullmatch(wanted) else wanted.casefold() in text for wanted in group)


def _mentions(values: Sequence[str], wanted: str) -> bool:
    if _DIGITS.fullmatch(wanted):
        return any(Decimal(wanted) in figures(value) for value in values)
    return any(wanted.casefold() in value.casefold() for value in values)


def _leaves(value: Any) -> Iterable[str]:
    if isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _leaves(each)
    elif value is not None:
        yield str(value)
