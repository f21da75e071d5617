"""The character gate of the terminal: what text by models, tools and records may look like on a screen.

Invariant: nothing that a terminal acts on, that reorders or that hides text leaves as it came; what is known of such
characters stands in ``agent_core.hidden_text``, once for screens and models.
"""

from __future__ import annotations

import re

from agent_core.hidden_text import HIDDEN as HIDDEN
from agent_core.hidden_text import Gate as Gate
from agent_core.hidden_text import mark as mark
from agent_core.hidden_text import mark_of as mark_of


def mark_line(text: str) -> str:
    """A text as it may stand inside one line."""
    return mark(text).replace("\n", "␊").replace("\t", "␉")


def escape_json(text: str) -> str:
    """JSON text with what a terminal might act on written as ``\\u`` escapes: other bytes, the same value."""
    return HIDDEN.sub(_json_escape, text)


def _json_escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x10000:
        return f"\\u{code:04x}"
    high, low = divmod(code - 0x10000, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"
