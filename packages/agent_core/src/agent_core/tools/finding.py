"""``find_tools`` and ``call_tool``: tools that are too many to be told of at once are found by a search.

Invariant: the list of tools that goes with each request never changes within a session. What a search found stands in
its result, and ``call_tool`` is only another way to write a call: what is recorded, shown to people, approved and run
is the tool that was meant, under its own name and rules.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from ..errors import ToolError
from ..messages import ToolCall
from .tool import Tool, tool

CALL_TOOL = "call_tool"
MAX_OUTPUT = 12_000
"""Characters; five schemas are about 6,000."""
_TOKEN = re.compile(r"[a-z0-9]+|[\u3400-\u9fff]+")
_WEIGHTS = (4, 4, 1)
"""Of a word in the name, in the further words, in the description."""


def finders(tools: Sequence[Tool], words: Mapping[str, str] | None = None) -> list[Tool]:
    """The two tools that make ``tools`` findable and callable. ``words``: by name, further words that a tool is found
    by (of another language, of the trade)."""
    places = {each.name: _places(each, (words or {}).get(each.name, "")) for each in tools}

    @tool(name="find_tools", max_output=MAX_OUTPUT)
    async def find_tools(query: str, limit: int = 4) -> dict[str, Any]:
        """Find more tools by what is to be done, in English or Chinese. What it names is called with call_tool."""
        scored = [(_score(query, places[each.name]), each) for each in tools]
        hits = sorted((pair for pair in scored if pair[0] > 0), key=lambda pair: -pair[0])[: max(1, min(limit, 8))]
        found = [each.schema for _, each in hits]
        if not found:
            return {"tools": [], "there_are": {each.name: _first_sentence(each.description) for each in tools}}
        return {"tools": [{"name": s.name, "description": s.description, "arguments": s.parameters} for s in found]}

    @tool(name=CALL_TOOL)
    async def call_tool(name: str, arguments: dict[str, Any]) -> None:
        """Call a tool that find_tools named, with its arguments."""
        raise ToolError(f"{name!r} is no tool to be called this way.", hint="Use find_tools.", type="validation")

    return [find_tools, call_tool]


def unwrapped(call: ToolCall) -> ToolCall:
    """The call that a ``call_tool`` stands for; any other call as it is, and one that cannot be read as well."""
    if call.name != CALL_TOOL or call.error is not None:
        return call
    try:
        meant = msgspec.json.decode(call.arguments or "{}")
        name, arguments = meant["name"], meant.get("arguments", {})
        if isinstance(arguments, str):  # an object sent as text
            arguments = msgspec.json.decode(arguments)
    except (msgspec.DecodeError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return call
    if not isinstance(name, str) or not isinstance(arguments, dict) or name == CALL_TOOL or set(meant) - _OWN:
        return call
    text = msgspec.json.encode(arguments).decode()
    return msgspec.structs.replace(call, name=name, arguments=text, raw_name=CALL_TOOL)


_OWN = {"name", "arguments"}


def _places(each: Tool, words: str) -> tuple[str, str, str]:
    return each.name.replace("_", " ").casefold(), words.casefold(), each.description.casefold()


def _score(query: str, places: tuple[str, str, str]) -> int:
    """How much of the query stands in a tool's name, words and description; Chinese by pairs of characters."""
    pieces: list[str] = []
    for token in _TOKEN.findall(query.casefold()):
        chinese = token[0] > "z"
        pieces += [token[at : at + 2] for at in range(max(1, len(token) - 1))] if chinese else [_stem(token)]
    return sum(weight for piece in pieces for place, weight in zip(places, _WEIGHTS, strict=True) if piece in place)


def _stem(word: str) -> str:
    """Without the endings that make another form of the same word."""
    for ending in ("ing", "ies", "ed", "es", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word.removesuffix(ending)
    return word


def _first_sentence(text: str) -> str:
    return text.split(". ")[0].split("\n")[0].rstrip(".")
