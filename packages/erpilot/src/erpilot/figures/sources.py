"""What a tool said, as single values with their places: numbers, dates, sizes of lists, texts.

Invariant: every value of a JSON result is met once, in its order; what is no JSON is one text. A place is only put in
words when somebody asks for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import msgspec

from .numerals import CHINESE

Link = tuple[Any, str | int]
"""A place: (the place of what holds it, or None; a name or an index)."""

_NUMBER = re.compile(r"[+-]?\d{1,30}(?:\.\d{1,30})?")
_DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?")
_WITHIN = re.compile(r"\d+(?:\.\d+)?")
_DATE_WITHIN = re.compile(r"(?<!\d)(\d{4})-(\d\d)-(\d\d)(?!\d)")
_WORTH_READING = re.compile(rf"[0-9０-９{CHINESE}]")
_decoder = msgspec.json.Decoder(float_hook=Decimal)


@dataclass(slots=True)
class Leaf:
    """A number, a date (year, month, day, hour, minute) or the size of a list, in its place. ``currency``: of what it
    stands in, as the values of an object that has one.
    """

    link: Link | None
    number: Decimal | None = None
    date: tuple[int, ...] | None = None
    size: int | None = None
    currency: str | None = None


@dataclass(slots=True)
class Text:
    """A text with figures in it. ``whole``: it is all of a result, which was no JSON."""

    text: str
    link: Link | None
    whole: bool = False

    def rank(self, within: int) -> int:
        """How sure what stands in it is: within a text, or, of a result that is a text, as much as a value."""
        return 0 if self.whole else within

    def numbers(self) -> dict[Decimal, str]:
        """Every number within it, without signs, and the first characters behind it, wherever it stands."""
        found: dict[Decimal, str] = {}
        for each in _WITHIN.finditer(self.text):
            if len(each[0]) < 60:
                number = Decimal(each[0])
                found[number] = found.get(number, "") + self.text[each.end() : each.end() + 2].strip()[:1].lower()
        return found

    def dates(self) -> list[tuple[int, int, int]]:
        """Every date within it."""
        return [(int(year), int(month), int(day)) for year, month, day in _DATE_WITHIN.findall(self.text)]


def leaves(content: str) -> Iterator[Leaf | Text]:
    """The values of a result that can be a source of figures."""
    try:
        root = _decoder.decode(content)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        yield Text(content, None, whole=True)
        return
    rest: list[tuple[Any, Link | None, str | None]] = [(root, None, None)]
    while rest:
        value, link, money = rest.pop()
        kind = type(value)
        if kind is str:
            if (leaf := _of_text(value, link, money)) is not None:
                yield leaf
        elif kind is dict:
            money = _currency(value.get("currency")) or money
            rest += [(value[key], (link, key), _currency(key) or money) for key in reversed(value)]
            for key in value:
                if _WITHIN.search(key):
                    yield Text(key, (link, key))
        elif kind is list:
            yield Leaf(link, size=len(value))
            rest += [(value[place], (link, place), money) for place in range(len(value) - 1, -1, -1)]
        elif kind is int or kind is Decimal:
            yield Leaf(link, number=Decimal(value), currency=money)


def _currency(code: object) -> str | None:
    return code if type(code) is str and len(code) == 3 and code.isascii() and code.isupper() else None


def _of_text(value: str, link: Link | None, money: str | None) -> Leaf | Text | None:
    if _NUMBER.fullmatch(value):
        return Leaf(link, number=Decimal(value), currency=money)
    if found := _DATE.fullmatch(value):
        return Leaf(link, date=tuple(int(each) for each in found.groups() if each is not None))
    return Text(value, link) if _WORTH_READING.search(value) else None


def path_of(link: Link | None) -> str | None:
    """A place in words: ``lines[0].amount``."""
    names: list[str | int] = []
    while link is not None:
        names.append(link[1])
        link = link[0]
    if not names:
        return None
    path = ""
    for name in reversed(names):
        path += f"[{name}]" if isinstance(name, int) else f".{name}" if path else name
    return path


def stands_in(code: str, text: str) -> bool:
    """Whether a code stands in a text as a word of its own, both in folded case."""
    at = text.find(code)
    while at >= 0:
        before, behind = text[at - 1 : at], text[at + len(code) : at + len(code) + 1]
        if not (before.isascii() and before.isalnum()) and not (behind.isascii() and behind.isalnum()):
            return True
        at = text.find(code, at + 1)
    return False
