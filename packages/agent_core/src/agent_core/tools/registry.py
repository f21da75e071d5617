"""The tools of an agent: lookup by name, their rules for decisions, and the judgement of a call's arguments.

Invariant: a call is judged by its name and arguments alone, so a judgement can be made again from the log.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import Struct

from ..config import ToolRules
from ..context.tokens import PER_MESSAGE, estimate_text
from ..events import Fault
from ..hidden_text import HIDDEN, remove, remove_all, removed_notice
from ..masking import MARK
from ..messages import ToolCall, ToolSchema
from ..text import encodable
from .canonical import canonical, digest
from .faults import visible
from .finding import CALL_TOOL, unwrapped
from .tool import Tier, Tool

_ARGUMENT_FAULTS = {
    "truncated": (
        "The arguments were cut off before their end.",
        "Call the tool again with complete, shorter arguments.",
    ),
    "invalid_json": (
        "The arguments are not valid JSON.",
        "Call the tool again with a JSON object that fits its schema.",
    ),
    "not_an_object": ("The arguments are JSON but not an object.", "Call the tool again with a JSON object."),
}


class Judged(Struct, frozen=True):
    """A call that may run: tool, validated arguments, their canonical text and its digest, and what it is about."""

    tool: Tool
    values: dict[str, Any]
    arguments: str
    digest: str
    target: str | None = None


class Registry:
    """Tools by name, in the order in which the model is told of them (by name, so that it never changes by itself).

    ``findable``: may be called as well, but the model is not told of them at once. ``known``: exist, and may not.
    """

    def __init__(self, tools: Iterable[Tool], known: Iterable[Tool] = (), findable: Iterable[Tool] = ()) -> None:
        self._tools: dict[str, Tool] = {}
        told = list(tools)
        for tool in sorted([*told, *findable], key=lambda tool: tool.name):
            if tool.name in self._tools:
                raise ValueError(f"two tools are named {tool.name!r}")
            if HIDDEN.search(tool.name) or _hidden_names(tool.arguments.schema):
                raise ValueError(f"the name of the tool {tool.name!a} or of one of its arguments is not all visible")
            self._tools[tool.name] = tool
        self._known = {tool.name: tool for tool in known} | self._tools
        self.schemas: tuple[ToolSchema, ...] = tuple(
            _visible(tool.schema) for tool in sorted(told, key=lambda tool: tool.name)
        )
        self.rules: dict[str, ToolRules] = {
            tool.name: ToolRules(tool.tier.value, tool.repeatable, tool.egress, tool.untrusted)
            for tool in self._tools.values()
        }
        self.tokens = sum(
            PER_MESSAGE + estimate_text(schema.name + schema.description) + estimate_text(_json(schema.parameters))
            for schema in self.schemas
        )

    def get(self, name: str) -> Tool | None:
        """The tool of that name."""
        return self._tools.get(name)

    def knows(self, name: str) -> bool:
        """Whether there is such a tool, offered or not."""
        return name in self._known

    def tells_target(self, name: str) -> bool:
        """Whether calls of this tool can say what they are about; of what is no tool, that is not known."""
        return name not in self._known or self._known[name].target is not None

    def corrected(self, call: ToolCall) -> ToolCall:
        """The call that is clearly meant, under its name: what ``call_tool`` stands for, a slip put right.

        Only a slip of the pen is corrected (one letter wrong, missing, doubled or swapped), only when a single one of
        all known tools is that near, and only to an offered READ: a misspelled name never becomes a write.
        """
        call = unwrapped(call) if CALL_TOOL in self._tools else call
        if call.name in self._known:
            return call
        near = [name for name in self._known if one_slip(call.name.casefold(), name.casefold())]
        tool = self._tools.get(near[0]) if len(near) == 1 else None
        if tool is None or tool.tier is not Tier.READ:
            return call
        return msgspec.structs.replace(call, name=tool.name, raw_name=call.raw_name or call.name, known=True)

    def judge(self, call: ToolCall) -> Judged | Fault:
        """Validates a call, or says what is wrong with it in the model's terms."""
        if call.error is not None:
            message, hint = _ARGUMENT_FAULTS[call.error]
            return Fault("validation", message, hint)
        tool = self._tools.get(call.name)
        if tool is None:
            return Fault("unknown_tool", f"There is no tool {call.name!r}.", self._nearest(call.name))
        try:
            raw = msgspec.json.decode(call.arguments or "{}")
        except (msgspec.DecodeError, ValueError, RecursionError):
            message, hint = _ARGUMENT_FAULTS["invalid_json"]
            return Fault("validation", message, hint)
        if not isinstance(raw, dict):
            message, hint = _ARGUMENT_FAULTS["not_an_object"]
            return Fault("validation", message, hint)
        if (key := _said_twice(call.arguments)) is not None:
            message = f"The arguments give {key!r} twice, with different values."
            return Fault("validation", visible(message), "Give each argument once.")
        try:
            values = tool.arguments.validate(raw)
            text = canonical(tool.arguments.dump(values))
            target = None if tool.target is None else tool.target(**tool.own(values))
        except Exception as error:  # a validator or a target is the tool's own code
            said = str(error) or type(error).__name__
            return Fault("validation", visible(f"The arguments do not fit: {said}."), f"See the schema of {tool.name}.")
        if MARK in text:
            message = f"The arguments hold {MARK}, which stands for something that nobody is shown."
            return Fault("validation", message, "Leave it out: secrets are part of the set-up, never of a call.")
        return Judged(tool, values, text, digest(text), None if target is None else encodable(str(target)))

    def _nearest(self, name: str) -> str:
        close = difflib.get_close_matches(name, self._tools, n=3, cutoff=0.5)
        if close:
            return f"Did you mean {' or '.join(close)}?"
        return f"The tools are: {', '.join(self._tools) or 'none'}."


def _said_twice(text: str) -> str | None:
    """A key that some object of a JSON text holds twice, with two values: which one is meant, nobody knows."""
    twice: list[str] = []

    def look(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value: dict[str, Any] = {}
        for key, item in pairs:
            if key in value and value[key] != item:
                twice.append(key)
            value[key] = item
        return value

    json.loads(text or "{}", object_pairs_hook=look)
    return twice[0] if twice else None


def _visible(schema: ToolSchema) -> ToolSchema:
    """What the model is told of a tool, without what a person could not see in it."""
    description, removed = remove(schema.description)
    parameters, more = remove_all(schema.parameters)
    if not removed + more:
        return schema
    return ToolSchema(schema.name, description + removed_notice(removed + more), parameters)


def _hidden_names(schema: Any) -> bool:
    if isinstance(schema, dict):
        return any(HIDDEN.search(str(key)) is not None or _hidden_names(item) for key, item in schema.items())
    return isinstance(schema, list) and any(map(_hidden_names, schema))


def one_slip(written: str, meant: str) -> bool:
    """Whether two names differ by one letter that is wrong, missing, added or swapped with its neighbour; not at the
    beginning of a word, where one letter makes another verb, and not in short names."""
    if len(meant) < 6 or abs(len(written) - len(meant)) > 1 or written == meant:
        return False
    start = next(
        (at for at, (a, b) in enumerate(zip(written, meant, strict=False)) if a != b), min(len(written), len(meant))
    )
    if start == 0 or not written[start - 1].isalnum():
        return False
    rest, other = written[start:], meant[start:]
    swapped = len(rest) > 1 and len(other) > 1 and rest[:2] == other[1::-1] and rest[2:] == other[2:]
    return rest[1:] == other[1:] or rest[1:] == other or rest == other[1:] or swapped


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
