"""Estimates how many tokens a text takes while nothing was reported yet.

Invariant: on the high side (see ``sizes.CONSERVATIVE``); whole tokens of a text never add up to fewer than those of the
texts joined.
"""

from __future__ import annotations

from ..messages import Message
from ..sizes import CONSERVATIVE, ceil_tokens, text_size

PER_MESSAGE = int(CONSERVATIVE.message)
"""Tokens of the markup around a message, generously."""


def estimate_text(text: str) -> int:
    """Tokens of a text."""
    return ceil_tokens(CONSERVATIVE.tokens(text_size(text)))


def estimate_message(message: Message) -> int:
    """Tokens of a message with its calls."""
    total = PER_MESSAGE + (estimate_text(message.content) if message.content else 0)
    for call in message.tool_calls:
        total += PER_MESSAGE + estimate_text(call.name) + estimate_text(call.arguments)
    return total
