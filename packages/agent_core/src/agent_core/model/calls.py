"""Joins the fragments of tool calls.

Invariant (rule 3 of the stream specification): a fragment joins a call by index; by id when the index is missing; else
it continues the call opened last. A new id with a name opens a call even at a taken index. Fragments are kept in lists
and joined once.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from .jsontext import Completeness
from .wire import clean, encode

_OWN_KEYS = frozenset({"index", "id", "type", "function", "name", "arguments"})
_OWN_FUNCTION_KEYS = frozenset({"name", "arguments"})
_BLANKS = 64
"""Blanks around arguments that are still looked through when they are compared."""


class OpenCall:
    """One call as it comes in."""

    __slots__ = ("arguments", "completeness", "extra", "id", "index", "length", "may_be_echo", "name")

    def __init__(self, index: float, call_id: str) -> None:
        self.index = index
        self.id = call_id
        self.name = ""
        self.arguments: list[str] = []
        self.length = 0
        self.extra: dict[str, Any] | None = None
        self.completeness: Completeness | None = None
        self.may_be_echo = False
        """Opened by nothing but the name of the call before it: real only if arguments follow."""

    def is_whole(self) -> bool:
        """Whether the arguments so far are a complete object."""
        if self.completeness is None:
            self.completeness = Completeness()
        return self.completeness.follow(self.arguments)

    def holds(self, text: str) -> bool:
        """Whether the arguments so far, joined, are ``text``."""
        if self.length > len(text) + _BLANKS:
            return False
        return "".join(self.arguments).strip() == text.strip()


class CallTable:
    """The calls of one message. ``offered`` holds the names on the wire, which settle how pieces of a name are read."""

    __slots__ = ("_by_id", "_by_index", "_free", "_last", "_offered", "calls")

    def __init__(self, offered: Collection[str] = ()) -> None:
        self.calls: list[OpenCall] = []
        self._by_index: dict[int, OpenCall] = {}
        self._by_id: dict[str, OpenCall] = {}
        self._last: OpenCall | None = None
        self._offered = offered
        self._free = 0

    def add(self, item: dict[str, Any]) -> None:
        """Takes one element of a ``tool_calls`` list."""
        function = item.get("function")
        if type(function) is not dict:
            function = item
        arguments = function.get("arguments")
        index = item.get("index")
        if type(index) is int and type(arguments) is str and not item.get("id") and not function.get("name"):
            call = self._by_index.get(index)
            if call is not None and len(item) <= 3 and len(function) == 1:
                call.arguments.append(arguments)
                call.length += len(arguments)
                return
        self._add(
            item, function, _index(index), _text(item.get("id")), _text(function.get("name")), _arguments(arguments)
        )

    def in_order(self) -> list[OpenCall]:
        """The calls by index, and in the order of their opening where that does not tell; empty stubs are left out."""
        real = [call for call in self.calls if any(call.arguments) or (not call.may_be_echo and (call.name or call.id))]
        return sorted(real, key=lambda call: call.index)

    def _add(
        self, item: dict[str, Any], function: dict[str, Any], index: int | None, call_id: str, name: str, arguments: str
    ) -> None:
        if not (call_id or name or arguments):
            extra = self._by_index.get(index) if index is not None else self._last
            if extra is not None:
                _keep_extra(extra, item, function)
            return
        call = self._current(index, call_id, name)
        if call is not None and call_id and call_id == call.id and name == call.name and _is_copy(call, arguments):
            return
        if call is None or self._opens(call, index, call_id, name, arguments):
            call = self._open(index, call_id, echo=call is not None and not call_id and name == call.name)
        if call_id and not call.id:
            call.id = call_id
        if call_id:
            self._by_id[call_id] = call
        if name:
            self._name(call, name)
        if arguments:
            call.arguments.append(arguments)
            call.length += len(arguments)
        _keep_extra(call, item, function)
        self._last = call

    def _current(self, index: int | None, call_id: str, name: str) -> OpenCall | None:
        """The open call that the fragment may belong to."""
        if index is not None:
            if (call := self._by_index.get(index)) is not None:
                return call
            if name:
                return None
            if call_id:
                return self._by_id.get(call_id)
            return self._last
        if call_id and (call := self._by_id.get(call_id)) is not None:
            return call
        return self._last

    def _opens(self, call: OpenCall, index: int | None, call_id: str, name: str, arguments: str) -> bool:
        """Whether the fragment begins a call of its own instead of continuing ``call``."""
        if call_id and call.id and call_id != call.id:
            if name:
                return True
            # Another id without a name: a continuation as long as something is missing.
            return bool(arguments.strip()) and call.is_whole() and not call.holds("{}") and not call.holds(arguments)
        if not name or not call.name or (call_id and not call.id and not arguments.strip()):
            return False
        if call_id and call_id == call.id:
            # The same id again: a repeat, unless a whole call is followed by another whole beginning.
            begins = arguments.lstrip().startswith("{")
            return (
                name == call.name
                and begins
                and call.is_whole()
                and not call.holds("{}")
                and not _repeats(call, arguments)
            )
        begun = any(fragment.strip() for fragment in call.arguments)
        if name != call.name:
            if begun:
                return True
            return call.name in self._offered and name in self._offered and call.name + name not in self._offered
        return begun and call.is_whole()

    def _open(self, index: int | None, call_id: str, echo: bool) -> OpenCall:
        if index is None:
            while self._free in self._by_index:
                self._free += 1
            index = self._free
        call = OpenCall(index, call_id)
        call.may_be_echo = echo
        self.calls.append(call)
        self._by_index[index] = call
        return call

    def _name(self, call: OpenCall, piece: str) -> None:
        """Appends a piece of a name, unless it repeats what is there; the reading that gives an offered tool wins."""
        if not call.name:
            call.name = piece
        elif piece == call.name or any(call.arguments):
            return
        elif call.name + piece in self._offered:
            call.name += piece
        elif piece.startswith(call.name) and (piece in self._offered or call.name not in self._offered):
            call.name = piece
        elif call.name not in self._offered:
            call.name += piece


def _is_copy(call: OpenCall, arguments: str) -> bool:
    """Whether a whole call is sent once more as it is."""
    return arguments.rstrip().endswith("}") and call.is_whole() and call.holds(arguments) and not call.holds("{}")


def _repeats(call: OpenCall, arguments: str) -> bool:
    """Whether one of the two begins with the other: the same arguments, sent again or further."""
    if call.length <= len(arguments):
        return arguments.startswith("".join(call.arguments))
    seen, length = [], 0
    for fragment in call.arguments:
        if length >= len(arguments):
            break
        seen.append(fragment)
        length += len(fragment)
    return "".join(seen).startswith(arguments.rstrip())


def _keep_extra(call: OpenCall, item: dict[str, Any], function: dict[str, Any]) -> None:
    extra = {key: value for key, value in item.items() if key not in _OWN_KEYS and value not in (None, "")}
    if function is not item:
        inner = {
            key: value for key, value in function.items() if key not in _OWN_FUNCTION_KEYS and value not in (None, "")
        }
        if inner:
            extra["function"] = inner
    if extra:
        call.extra = {**(call.extra or {}), **clean(extra)}


def _index(value: Any) -> int | None:
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str) and value.strip().isdecimal():
        return int(value)
    return None


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""


def _arguments(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else encode(clean(value)).decode()
