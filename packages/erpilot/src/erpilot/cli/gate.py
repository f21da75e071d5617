"""The character gate: what text by models, tools and records may look like on a screen.

Invariant: what leaves holds no control character but line feed and tab, and nothing that reorders or hides text; each
such character becomes a visible mark. The result does not depend on how the text was cut into pieces. Joiners stay
where scripts and emoji need them.
"""

from __future__ import annotations

import re
import unicodedata

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


class Gate:
    """Lets one text through, piece by piece. ``close`` ends the text; the next one starts afresh."""

    def __init__(self) -> None:
        self._before = ""
        """The character passed last; empty at the beginning and behind a mark."""
        self._held = ""
        """A joiner that only the next character can justify."""
        self._started = False

    def feed(self, text: str) -> str:
        """The next piece, as it may be shown. A joiner at its end is kept back until what follows is known."""
        if not text:
            return ""
        if self._started and not self._held and HIDDEN.search(text) is None:
            self._before = text[-1]
            return text
        shown: list[str] = []
        for character in text:
            if self._held:
                shown.append(self._release(character))
            if HIDDEN.match(character) is None:
                shown.append(character)
                self._before = character
            elif self._needs_next(character):
                self._held = character
            elif self._harmless(character):
                shown.append(character)
                self._before = character
            else:
                shown.append(mark_of(character))
                self._before = ""
            self._started = True
        return "".join(shown)

    def close(self) -> str:
        """The rest of the text."""
        rest = mark_of(self._held) if self._held else ""
        self._before, self._held, self._started = "", "", False
        return rest

    def _release(self, following: str) -> str:
        held, self._held = self._held, ""
        if _joins(held, self._before, following):
            self._before = held
            return held
        self._before = ""
        return mark_of(held)

    def _needs_next(self, character: str) -> bool:
        if character == _EMOJI_STYLE:
            return self._before != "" and self._before in "0123456789#*"
        return character in (_ZWJ, _ZWNJ)

    def _harmless(self, character: str) -> bool:
        if character == _BOM:
            return not self._started
        return character in (_TEXT_STYLE, _EMOJI_STYLE) and _PICTOGRAPH.match(self._before) is not None


def mark(text: str) -> str:
    """A whole text as it may be shown, line breaks and tabs kept."""
    gate = Gate()
    return gate.feed(text) + gate.close()


def mark_line(text: str) -> str:
    """A text as it may stand inside one line."""
    return mark(text).replace("\n", "␊").replace("\t", "␉")


def mark_of(character: str) -> str:
    """The visible stand-in: ``␛`` for ESC, ``<U+202E>`` for what has no picture of its own."""
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"<U+{code:04X}>"


def escape_json(text: str) -> str:
    """JSON text with what a terminal might act on written as ``\\u`` escapes: other bytes, the same value."""
    return HIDDEN.sub(_json_escape, text)


def _json_escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x10000:
        return f"\\u{code:04x}"
    high, low = divmod(code - 0x10000, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"


def _joins(held: str, before: str, following: str) -> bool:
    """Whether a joiner between these two characters is what writing them takes."""
    if held == _EMOJI_STYLE:
        return following == _KEYCAP
    if not before:
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
