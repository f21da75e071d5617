"""Where a question names days or spans of days, and which: names, what ties two of them, what bounds them.

Invariant: a word that bounds a span ("since", 之前, "from … to …") is part of what is found and changes its meaning;
none is read past. Of a question, no two spans overlap.
"""

from __future__ import annotations

import re
from datetime import date
from itertools import pairwise

from .daynames import KINDS
from .span import Span

_PATTERNS = [(re.compile(source, re.IGNORECASE), meaning) for source, meaning in KINDS]
_TIED = re.compile(r"\s*(?:到|至|直到|[-–~]|\b(?:to|through|till|until|and)\b)\s*", re.IGNORECASE)
_FROM = re.compile(r"(?:从|自|\b(?:from|between))\s*$", re.IGNORECASE)
_BETWEEN = re.compile(r"\bbetween\s*$", re.IGNORECASE)
_SINCE = re.compile(r"(?:自从|自|从|\b(?:since|from))\s*$", re.IGNORECASE)
_ONWARDS = re.compile(
    r"\s*(?:以来|至今|到现在|到今天|到目前|起(?!订)|开始|\b(?:until now|to date|so far|onwards?)\b)", re.IGNORECASE
)
_BY = re.compile(r"(?:截至|截止到?|到|\b(?:up to|by|before|until|till|as of))\s*$", re.IGNORECASE)
_BEFORE = re.compile(r"\s*(?:之前|以前|前(?![面台天日]|[\d一二三四五六七八九十]+\s*[个名位种款家])|为止)")

Found = tuple[int, int, Span]


def spans(text: str, today: date) -> list[Found]:
    """Where the text names a day or a span of days, with the words that bound it, and which; in their order."""
    return [_bounded(each, text, today) for each in _tied(_named(text, today), text)]


def _named(text: str, today: date) -> list[Found]:
    found: list[Found] = []
    for pattern, meaning in _PATTERNS:
        for match in pattern.finditer(text):
            if match.end() == match.start() or any(a < match.end() and match.start() < b for a, b, _ in found):
                continue
            try:
                found.append((match.start(), match.end(), meaning(match, today)))
            except (ValueError, KeyError, IndexError):  # the 31st of a month that has none
                continue
    return sorted(found, key=lambda each: each[:2])


def _tied(found: list[Found], text: str) -> list[Found]:
    """Two spans of which the words between say that the one runs to the other, as one."""
    for (a, b, first), (c, d, last) in pairwise(found):
        between, before = _TIED.fullmatch(text[b:c]), _FROM.search(text[:a])
        plain_and = text[b:c].strip().casefold() == "and"
        if between and first.start <= last.end and plain_and == bool(_BETWEEN.search(text[:a])):
            joined = (before.start() if before else a, d, Span(first.start, last.end, "range"))
            left = [each for each in found if each[1] <= a or each[0] >= d]
            return _tied(sorted([*left, joined], key=lambda each: each[:2]), text)
    return found


def _bounded(found: Found, text: str, today: date) -> Found:
    """A span with the word in front of it or behind it that says since when, or until when."""
    start, end, span = found
    if span.kind == "range":
        return found
    since, onwards = _SINCE.search(text[:start]), _ONWARDS.match(text, end)
    if (since or onwards) and span.start <= today:
        begin = since.start() if since else start
        return begin, onwards.end() if onwards else end, Span(span.start, today, "range")
    by, before = _BY.search(text[:start]), _BEFORE.match(text, end)
    if by or before:
        begin, stop = by.start() if by else start, before.end() if before else end
        return begin, stop, Span(span.start, span.end, span.kind, until=True)
    return found
