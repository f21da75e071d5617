"""Document numbers: how they are built, and what people write for them.

Invariant: a number is a name, not a date (its year is that of the series); "123", "#123", "SO-2026-0123",
"so20260123" and "订单123" all reach the sale with serial 123, the newest series first.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from .documents import Kind

PREFIXES: dict[str, Kind] = {"SO": "sale", "Q": "quotation", "PO": "purchase", "RT": "return"}
ORDER_OF_KINDS: tuple[Kind, ...] = ("sale", "quotation", "purchase", "return")
_KIND_WORDS: tuple[tuple[str, Kind], ...] = (
    ("报价", "quotation"),
    ("quot", "quotation"),
    ("采购", "purchase"),
    ("进货", "purchase"),
    ("purchase", "purchase"),
    ("退货", "return"),
    ("return", "return"),
    ("订单", "sale"),
    ("销售", "sale"),
    ("sale", "sale"),
)
_WORDS_ABOUT_NUMBERS = frozenset(
    {"order", "orders", "sales", "sale", "no", "nr", "number", "num", "quotation", "quote", "purchase", "return", "the"}
)
_WORD = re.compile(r"[a-z]+")
_NUMBER = re.compile(
    r"(?:\b|(?<=[^a-z0-9]))(so|q|po|rt)?[\s\-_/#.]*(?:(20\d\d)(?:[\s\-_/]+|(?=\d{4}(?!\d))))?(\d{1,9})(?!\d)"
)


@dataclass(frozen=True, slots=True)
class NumberAsked:
    """What a written number says: a serial, and perhaps the kind and the year of its series."""

    serial: int
    kind: Kind | None
    year: int | None


def read_number(written: str) -> NumberAsked | None:
    """What the text says, None when it has no number or more than one."""
    text = unicodedata.normalize("NFKC", written).casefold().strip()
    found = list(_NUMBER.finditer(text))
    # Letters that are no word for a document belong to a number of another kind: INV-301 is not order 301.
    if len(found) != 1 or set(_WORD.findall(_NUMBER.sub(" ", text))) - _WORDS_ABOUT_NUMBERS:
        return None
    prefix, year, serial = found[0].groups()
    said = next((kind for word, kind in _KIND_WORDS if word in text), None)
    return NumberAsked(int(serial), PREFIXES[prefix.upper()] if prefix else said, int(year) if year else None)
