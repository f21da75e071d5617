"""Estimates how many tokens a text takes.

Invariant: an estimate depends on the text and the calibration alone, so a recorded decision can be made again. Before
the first report of a model the estimate is on the high side: 1 token per CJK character, 1 per 3 other characters.
"""

from __future__ import annotations

import re

from ..messages import Message

PER_MESSAGE = 6
"""Tokens of the markup around a message, generously."""

_WIDE = re.compile(
    "[\u1100-\u11ff\u2e80-\ua4cf\uac00-\ud7ff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef\U00020000-\U0003ffff]"
)


def estimate_text(text: str) -> int:
    """Tokens of a text."""
    if text.isascii():
        return -(-len(text) // 3)
    wide = len(_WIDE.findall(text))
    return wide - (-(len(text) - wide) // 3)


def estimate_message(message: Message) -> int:
    """Tokens of a message with its calls."""
    total = PER_MESSAGE + (estimate_text(message.content) if message.content else 0)
    for call in message.tool_calls:
        total += PER_MESSAGE + estimate_text(call.name) + estimate_text(call.arguments)
    return total
