"""Characters that people cannot see, or that make them see something else than is there: the one place that knows them.

Invariant: what leaves holds no control character but line feed and tab, and nothing that reorders or hides text. For
people each such character becomes a visible mark; for models it is taken out and counted. Both decide alike, and the
same however a text was cut into pieces. Joiners stay where scripts and emoji need them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import Any

_HIDDEN = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\xad"
    "\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    "\U00013430-\U00013455\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""C0 and C1 controls, bidi controls, tags, zero-width and other ignorable characters, surrogates, non-characters."""

HIDDEN = re.compile(f"[{_HIDDEN}]")

_PICTOGRAPH = re.compile(
    "[\xa9\xae\u203c\u2049\u2122\u2139\u2194-\u21aa\u231a-\u23ff\u24c2\u25aa-\u25fe\u2600-\u27bf\u2934\u2935\u2b05-\u2b55"
    "\u3030\u303d\u3297\u3299\U0001f000-\U0001f1e5\U0001f200-\U0001f3fa\U0001f400-\U0001faff]"
)
"""Unicode's Extended_Pictographic, rounded to whole blocks where that admits nothing invisible."""

_SKIN_TONES = "\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff"
_ZWNJ, _ZWJ, _TEXT_STYLE, _EMOJI_STYLE, _BOM, _KEYCAP = "\u200c", "\u200d", "\ufe0e", "\ufe0f", "\ufeff", "\u20e3"
_BREAKS = "\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
"""Those that break a line: words must not grow together where they are taken out."""


def mark_of(character: str) -> str:
    """The visible stand-in: ``␛`` for ESC, ``<U+202E>`` for what has no picture of its own."""
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"<U+{code:04X}>"


class Gate:
    """Lets one text through, piece by piece, with ``stand_in`` for each character that may not pass. ``close`` ends the
    text; the next one starts afresh."""

    def __init__(self, stand_in: Callable[[str], str] = mark_of) -> None:
        self._stand_in = stand_in
        self._before = ""
        """The character passed last; empty at the beginning and behind one that was not passed."""
        self._held = ""
        """A joiner that only the next character can justify."""
        self._started = False

    def feed(self, text: str) -> str:
        """The next piece, as it may go on. A joiner at its end is kept back until what follows is known."""
        if not text:
            return ""
        passed = [self._judge(self._held, text[0])] if self._held else []
        self._held, at = "", 0
        for match in HIDDEN.finditer(text):
            place = match.start()
            if place > at:
                passed.append(text[at:place])
                self._before = text[place - 1]
            at = place + 1
            character = text[place]
            if character == _BOM and not self._started and place == 0:
                passed.append(character)
                self._before = character
            elif at == len(text) and self._needs_next(character):
                self._held = character
            else:
                passed.append(self._judge(character, text[at : at + 1]))
        if at < len(text):
            passed.append(text[at:])
            self._before = text[-1]
        self._started = True
        return "".join(passed)

    def close(self) -> str:
        """The rest of the text."""
        rest = self._stand_in(self._held) if self._held else ""
        self._before, self._held, self._started = "", "", False
        return rest

    def _judge(self, character: str, following: str) -> str:
        """The character itself where it is needed between its neighbours, else what stands for it."""
        needed = _joins(character, self._before, following) if self._needs_next(character) else self._styles(character)
        self._before = character if needed else ""
        return character if needed else self._stand_in(character)

    def _needs_next(self, character: str) -> bool:
        if character == _EMOJI_STYLE:
            return self._before != "" and self._before in "0123456789#*"
        return character in (_ZWJ, _ZWNJ)

    def _styles(self, character: str) -> bool:
        return character in (_TEXT_STYLE, _EMOJI_STYLE) and _PICTOGRAPH.match(self._before) is not None


def mark(text: str) -> str:
    """A whole text as people may be shown it, line breaks and tabs kept."""
    if HIDDEN.search(text) is None:
        return text
    gate = Gate()
    return gate.feed(text) + gate.close()


def remove(text: str) -> tuple[str, int]:
    """(a whole text as a model is given it, how many characters were taken out of it). Line ends in two characters stay
    as they are."""
    if HIDDEN.search(text) is None:
        return text, 0
    count = 0

    def taken_out(character: str) -> str:
        nonlocal count
        count += 1
        return " " if character in _BREAKS else ""

    gate = Gate(taken_out)
    *lines, last = text.split("\r\n")
    passed = [gate.feed(line + "\n")[:-1] + "\r\n" for line in lines]
    return "".join([*passed, gate.feed(last), gate.close()]), count


def removed_notice(count: int) -> str:
    """What stands behind a text that characters were taken out of."""
    return f"\n[{count} invisible character{'s were' if count > 1 else ' was'} removed from this text.]"


def remove_all(value: Any) -> tuple[Any, int]:
    """``remove`` for every text in plain data (dicts, lists, texts); keys stay as they are."""
    if isinstance(value, str):
        return remove(value)
    if isinstance(value, dict):
        pairs = {key: remove_all(item) for key, item in value.items()}
        return {key: item for key, (item, _) in pairs.items()}, sum(count for _, count in pairs.values())
    if isinstance(value, list):
        items = [remove_all(item) for item in value]
        return [item for item, _ in items], sum(count for _, count in items)
    return value, 0


def _joins(held: str, before: str, following: str) -> bool:
    """Whether a joiner between these two characters is what writing them takes."""
    if held == _EMOJI_STYLE:
        return following == _KEYCAP
    if not before or not following:
        return False
    if unicodedata.combining(before) == 9:  # a virama: Indic scripts choose the shape of a cluster this way
        return unicodedata.category(following).startswith("L")
    if held == _ZWNJ:
        return _is_arabic(before) and _is_arabic(following)
    drawn = before == _EMOJI_STYLE or before in _SKIN_TONES or _PICTOGRAPH.match(before) is not None
    return drawn and _PICTOGRAPH.match(following) is not None


def _is_arabic(character: str) -> bool:
    code = ord(character)
    return (
        0x0620 <= code <= 0x06FF
        or 0x0750 <= code <= 0x077F
        or 0x08A0 <= code <= 0x08FF
        or 0xFB50 <= code <= 0xFDFF
        or 0xFE70 <= code <= 0xFEFC
    )
