"""Reasoning fields: the same thing under several names, and the structured blocks that must go back as they came.

Invariant: reasoning is shown once, even where it is sent twice; an opaque block is kept untouched.
"""

from __future__ import annotations

from typing import Any

from .wire import clean

SCALARS = ("reasoning_content", "reasoning", "reasoning_text", "thinking")
_LISTS = ("reasoning_details", "thinking_blocks")
_OPAQUE = ("extra_content", "reasoning_opaque", "reasoning_signature", "thought_signature", "reasoning_encrypted")
KEYS = (*SCALARS, *_LISTS, *_OPAQUE)
_JOINED = ("text", "summary", "thinking")


class ReasoningFields:
    """What a message says about its reasoning, chunk by chunk."""

    __slots__ = ("_blocks", "_opaque", "_scalar", "_source", "_told")

    def __init__(self) -> None:
        self._source = ""
        self._scalar = ""
        self._told: list[str] = []
        self._blocks: dict[str, list[dict[str, Any]]] = {}
        self._opaque: dict[str, Any] = {}

    def read(self, delta: dict[str, Any]) -> str:
        """The reasoning text that the delta adds: the first scalar that is not empty, else the text of its blocks."""
        told = ""
        for key in SCALARS:
            if told := _plain(delta.get(key)):
                self._scalar = self._scalar or key
                break
        from_blocks = ""
        for key in _LISTS:
            blocks = delta.get(key)
            if isinstance(blocks, list):
                for block in blocks:
                    if isinstance(block, dict):
                        from_blocks += self._block(self._blocks.setdefault(key, []), block)
        for key in _OPAQUE:
            if (value := delta.get(key)) not in (None, "", {}, []):
                self._opaque[key] = clean(value)
        if told and self._source != "blocks":
            self._source = "scalar"
        elif from_blocks and self._source != "scalar":
            self._source, told = "blocks", from_blocks
        else:
            told = ""
        return told

    def replay(self, told: str) -> dict[str, Any] | None:
        """The keys to send back, under the names in which they came; ``told``: the reasoning of these fields, whole."""
        keys: dict[str, Any] = {}
        if self._scalar and told and (self._scalar == "reasoning_content" or not self._blocks):
            keys[self._scalar] = told
        keys.update(self._blocks)
        keys.update(self._opaque)
        return keys or None

    def _block(self, kept: list[dict[str, Any]], block: dict[str, Any]) -> str:
        """Joins a fragment to its block; gives its visible text."""
        block = clean(block)
        last = next((one for one in reversed(kept) if _belong_together(one, block)), None)
        if last is None:
            kept.append(dict(block))
        else:
            for key, value in block.items():
                if key in _JOINED and isinstance(value, str) and isinstance(last.get(key), str):
                    last[key] += value
                elif value not in (None, ""):
                    last[key] = value
        return "".join(value for key in _JOINED if isinstance(value := block.get(key), str))


def _belong_together(one: dict[str, Any], other: dict[str, Any]) -> bool:
    if one.get("type") != other.get("type") or not any(key in other for key in (*_JOINED, "signature")):
        return False
    if "data" in one or "data" in other:
        return False
    if one.get("index") is not None or other.get("index") is not None:
        return bool(one.get("index") == other.get("index"))
    return not (one.get("signature") and other.get("text"))


def _plain(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return next(
            (text for key in ("text", "content", "thinking", "summary") if (text := _plain(value.get(key)))), ""
        )
    return "".join(map(_plain, value)) if isinstance(value, list) else ""


def plain_text(value: Any) -> str:
    """The text of a string, of a part, or of a list of them."""
    return _plain(value)
