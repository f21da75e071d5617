"""What the tools of the shop share: how a READ and a WRITE are declared, keys of what they touch, pages.

Invariant: every tool names the kinds of records that it reads or writes; a result of a READ is text by outsiders.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agent_core.tools.tool import Tool, tool

MAX_OUTPUT = 16_000
"""Characters; thirty lines of a quotation with stock are about 15,000, and half a JSON document is of no use."""

BACKEND = "shop"


def keys(*names: str) -> Callable[..., tuple[str, ...]]:
    """Keys of what a tool touches: kinds of records, whatever the arguments."""
    return lambda **arguments: names


def reading(*names: str) -> Callable[[Callable[..., Any]], Tool]:
    """Declares a READ of these kinds of records."""
    return tool(max_output=MAX_OUTPUT, backend=BACKEND, untrusted=True, reads=keys(*names))


def next_offset(offset: int, shown: int, total: int) -> int | None:
    """Where the following page begins; None at the end."""
    return offset + shown if shown and offset + shown < total else None
