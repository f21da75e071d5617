"""How large texts and messages are, in characters by script, and what that comes to in tokens.

Invariant: a size depends on the text alone and adds up, so a conversation's is kept as a running sum; tokens depend on
the size and on rates that are in the log, so a recorded decision can be made again. Before a model's first report the
rates are on the high side.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping

from msgspec import Struct

from .messages import Message

_WIDE = re.compile(
    "[\u0590-\u1dff\u2600-\u27bf\u2e80-\ud7ff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef\U00010000-\U0010ffff]+"
)


class Size(Struct, frozen=True, gc=False):
    """Characters of which one is about a token (Chinese, Japanese, Korean, scripts from Hebrew on, emoji), other
    characters, and messages and calls around them.
    """

    wide: int = 0
    other: int = 0
    parts: int = 0

    def plus(self, more: Size) -> Size:
        """Both together."""
        return Size(self.wide + more.wide, self.other + more.other, self.parts + more.parts)

    def minus(self, less: Size) -> Size:
        """Without a part of it."""
        return Size(self.wide - less.wide, self.other - less.other, self.parts - less.parts)


class Rates(Struct, frozen=True, gc=False):
    """Tokens per character by script, per message or call, and per estimated token of the tool schemas."""

    wide: float = 1.0
    latin: float = 1 / 3
    message: float = 6.0
    tools: float = 1.0

    def tokens(self, size: Size) -> float:
        """What a size comes to."""
        return size.wide * self.wide + size.other * self.latin + size.parts * self.message


CONSERVATIVE = Rates()
"""Before anything was reported: 1 token per wide character, 1 per 3 others."""


def rates_of(calibration: Mapping[str, float]) -> Rates:
    """The rates that a run was begun with (``RunStarted.calibration``)."""
    if not calibration:
        return CONSERVATIVE
    known = CONSERVATIVE
    return Rates(
        calibration.get("wide", known.wide),
        calibration.get("latin", known.latin),
        calibration.get("message", known.message),
        calibration.get("tools", known.tools),
    )


def text_size(text: str, parts: int = 0) -> Size:
    """The size of a text."""
    if text.isascii():
        return Size(0, len(text), parts)
    wide = sum(map(len, _WIDE.findall(text)))
    return Size(wide, len(text) - wide, parts)


def message_size(message: Message) -> Size:
    """The size of a message with its calls."""
    text = message.content or ""
    for call in message.tool_calls:
        text += call.name + call.arguments
    return text_size(text, 1 + len(message.tool_calls))


def total(sizes: Iterable[Size]) -> Size:
    """All of them together."""
    wide = other = parts = 0
    for size in sizes:
        wide, other, parts = wide + size.wide, other + size.other, parts + size.parts
    return Size(wide, other, parts)


def ceil_tokens(tokens: float) -> int:
    """Whole tokens, never fewer."""
    return math.ceil(tokens - 1e-9)
