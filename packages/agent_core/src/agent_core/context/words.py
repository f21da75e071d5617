"""Words that a text is found by, in Chinese, English, numbers and codes alike.

Invariant: pure, and the same for what is kept and for what is asked: whatever stands in a text can be asked for as it
stands there, in another case, width or number. Chinese has no spaces, so each pair of neighbouring characters is a
word, and each character: no dictionary, hence no name that it does not know (ADR 0010). A code (``SO-2024-0012``) is a
word as a whole and in its parts.

A word is made of letters, digits and the point of a decimal, in lower case.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise

VERSION = 1
"""Of the words of a text; an index of another version is made anew."""
LONGEST_WORD = 48
"""Characters of a word that count: what is longer is no word but data."""
MOST_ASKED = 64
"""Words of a question that are looked up."""

_WIDE = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_PIECES = re.compile(rf"([{_WIDE}]+)|((?:(?![{_WIDE}_])\w)+(?:[-./_#](?:(?![{_WIDE}_])\w)+)*)")
_PARTS = re.compile(r"\d+(?:\.\d+)?|[^\W\d_]+")
_THOUSANDS = re.compile(r"(?<![\d.])\d{1,3}(?:,\d{3})+(?!\d)")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")

_LITTLE = frozenset(
    re.findall(
        r"\w+",
        "a an and any are as at be but by can could did do does for from get had has have he her his how i if in is it"
        " its me my no not of on or our please she so tell than that the their them then there they this to us was we"
        " were what when where which who whom whose why will with would you your again before earlier last time said"
        " say many much",
    )
)
"""English words that say nothing about a matter."""
_LITTLE_WIDE = frozenset(
    "的了吗呢吧啊么呀嘛是在和与跟给我你您他她它们这那哪几多少谁怎什请问就都也还把被对从到个上次之前说过有没不要"
)
"""Chinese characters that say little about it, so that pairs with them count less."""


def folded(text: str) -> str:
    """Lower case, half width, no separators inside of numbers."""
    text = unicodedata.normalize("NFKC", text).casefold()
    return _THOUSANDS.sub(lambda number: number[0].replace(",", ""), text) if "," in text else text


def words_of(text: str) -> set[str]:
    """Everything that ``text`` is found by."""
    found: set[str] = set()
    for run, code in _PIECES.findall(folded(text)):
        if run:
            found.update(run)
            found.update(map("".join, pairwise(run)))
        else:
            found.update(_words_of_code(code))
    return found


def asked_words(text: str) -> dict[str, float]:
    """The words that a question looks up, each with what it counts; the first ``MOST_ASKED``."""
    found: dict[str, float] = {}
    for run, code in _PIECES.findall(folded(text)):
        for word, weight in _weights_of_run(run) if run else _weights_of_code(code):
            if weight and (word in found or len(found) < MOST_ASKED):
                found[word] = max(weight, found.get(word, 0.0))
    return found


Need = tuple[tuple[str, ...], ...]
"""Words that have to stand together; any of these groups will do."""


def needed_words(text: str) -> list[Need]:
    """What a text has to hold, all of it, to hold what ``text`` names. A code may stand there with or without marks."""
    found: dict[Need, None] = {}
    for run, code in _PIECES.findall(folded(text)):
        if run:
            words = map("".join, pairwise(run)) if len(run) > 1 else run
            found.update(dict.fromkeys(((word,),) for word in words))
        else:
            parts = tuple(map(_plain, _PARTS.findall(code)))
            others = tuple((word,) for word in sorted(_words_of_code(code) - set(parts)))
            found[(parts, *others)] = None
    return list(found)[:MOST_ASKED]


@lru_cache(maxsize=4096)
def _words_of_code(code: str) -> frozenset[str]:
    parts = _PARTS.findall(code)
    found = {_plain(part) for part in parts}
    if len(parts) > 1 and not _NUMBER.fullmatch(code):
        found.add("".join(filter(str.isalnum, code))[:LONGEST_WORD])
    return frozenset(found)


def _weights_of_run(run: str) -> Iterable[tuple[str, float]]:
    """Its pairs; and its characters where what stands around them says little."""
    little = [True, *(character in _LITTLE_WIDE for character in run), True]
    for at, character in enumerate(run):
        if not little[at + 1] and little[at] and little[at + 2]:
            yield character, 0.5
    for at, pair in enumerate(pairwise(run)):
        yield "".join(pair), (1.0, 0.3, 0.0)[little[at + 1] + little[at + 2]]


def _weights_of_code(code: str) -> Iterable[tuple[str, float]]:
    if code in _LITTLE:
        return ()
    found = _words_of_code(code)
    if len(found) == 1:
        return [(word, 1.5 if word[0].isdigit() else 1.0) for word in found]
    whole = "".join(filter(str.isalnum, code))[:LONGEST_WORD]
    return [(word, 3.0 if word == whole else 0.7) for word in sorted(found)]


def _plain(part: str) -> str:
    """One form for the forms of a word: numbers without leading and trailing zeros, English words without endings."""
    part = part[:LONGEST_WORD]
    if part[0].isdigit():
        whole, _, rest = part.partition(".")
        rest = rest.rstrip("0")
        return (whole.lstrip("0") or "0") + (f".{rest}" if rest else "")
    if len(part) > 3 and part.isascii():
        if part[-1] == "s" and part[-2] != "s":
            part = part[:-1]
        for ending in ("ing", "ed"):
            if part.endswith(ending) and len(part) - len(ending) >= 3:
                part = part[: -len(ending)]
                break
        if len(part) > 3 and part[-1] in "ey":
            part = part[:-1] + ("i" if part[-1] == "y" else "")
    return part
