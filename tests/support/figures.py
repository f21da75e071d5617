"""Figures in answers: which stand there, and whether each came from somewhere."""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal

_NUMBER = re.compile(r"\d+(?:\.\d+)?")


def figures(text: str) -> set[Decimal]:
    """Every number in a text, by value."""
    return {Decimal(each) for each in _NUMBER.findall(text)}


def figures_from_nowhere(answer: str, sources: Iterable[str]) -> set[Decimal]:
    """The numbers of an answer that stand in none of the sources."""
    return figures(answer) - {number for source in sources for number in figures(source)}
