"""The figures in a text, by value, and those of them that came from nowhere.

Invariant: "6,952.00", "6952" and "６９５２" are one figure; a list's own numbering ("1. ...") is none.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from decimal import Decimal

_NUMBER = re.compile(r"(?P<figure>\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)?)(?P<percent>\s?%)?")
_NUMBERING = re.compile(r"^\s*(?:[-*#]+\s*)?(?:\*\*)?\d{1,2}[.)、](?=\D)", re.MULTILINE)


def figures(text: str) -> set[Decimal]:
    """Every number in ``text``."""
    return {value for value, _ in _read(text)}


def figures_from_nowhere(answer: str, sources: Iterable[str]) -> set[Decimal]:
    """The numbers of ``answer`` that stand in none of the ``sources``. A sum that the model made itself is one of
    them; a rate may be written in per cent."""
    known: set[Decimal] = set().union(*map(figures, sources))
    return {value for value, percent in _read(answer) if value not in known and not (percent and value / 100 in known)}


def _read(text: str) -> list[tuple[Decimal, bool]]:
    plain = _NUMBERING.sub("", unicodedata.normalize("NFKC", text))
    return [
        (Decimal(match["figure"].replace(",", "")), match["percent"] is not None) for match in _NUMBER.finditer(plain)
    ]
