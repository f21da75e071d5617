"""Reads JSON that is not quite JSON, and tells a beginning of JSON from a mistake.

Invariant: nothing here completes a text. All of it is linear in the length of the text.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from typing import Any, NoReturn


class Unreadable(ValueError):
    """The text is not JSON."""


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise ValueError(f"{digits} is out of range")
    return number


_strict = json.JSONDecoder(parse_constant=_no_constant, parse_float=_finite)
_lenient = json.JSONDecoder(strict=False, parse_constant=_no_constant, parse_float=_finite)
_SPACE = re.compile(r"\s*")


def read_json(text: str) -> Any:
    """Strict JSON, with lone surrogates as they stand. Raises ``Unreadable``."""
    try:
        return _strict.decode(text)
    except (ValueError, RecursionError) as error:
        raise Unreadable(str(error)) from None


def objects_in(text: str) -> list[dict[str, Any]]:
    """The objects that the text consists of, one behind the other; empty when there is anything else in it.

    Control characters inside strings are taken as they are.
    """
    found: list[dict[str, Any]] = []
    position = _SPACE.match(text).end()  # type: ignore[union-attr]
    while position < len(text):
        if text[position] != "{":
            return []
        try:
            value, position = _lenient.raw_decode(text, position)
        except (ValueError, RecursionError):
            return []
        found.append(value)
        position = _SPACE.match(text, position).end()  # type: ignore[union-attr]
    return found


def value_at(text: str, position: int) -> tuple[Any, int] | None:
    """The JSON value that begins at ``position`` (blanks before it skipped) and where it ends; None when there is
    none."""
    position = _SPACE.match(text, position).end()  # type: ignore[union-attr]
    try:
        return _lenient.raw_decode(text, position)
    except (ValueError, RecursionError):
        return None


_PIECE = re.compile(
    r"""\s*(?:
      (?P<string>"(?:[^"\\]|\\.)*")
    | (?P<open_string>"(?:[^"\\]|\\.)*\\?\Z)
    | (?P<punctuation>[{}\[\],:])
    | (?P<word>[A-Za-z0-9+.\-]+)
    )""",
    re.VERBOSE | re.DOTALL,
)
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
_NUMBER_BEGINNING = re.compile(r"-?(?:(?:0|[1-9]\d*)(?:\.\d*)?(?:(?<=\d)[eE][+-]?\d*)?)?")
_WORDS = ("true", "false", "null")


def is_json_beginning(text: str) -> bool:
    """Whether the text is a proper beginning of a JSON object: valid so far, and not whole."""
    text = text.rstrip(" \t\r\n")
    if not text.lstrip().startswith("{"):
        return False
    stack: list[str] = []
    expects = "value"
    position = 0
    while position < len(text):
        piece = _PIECE.match(text, position)
        if piece is None or (not stack and position > 0):
            return False
        position = piece.end()
        kind = piece.lastgroup
        token = piece.group(kind or 0)
        at_end = position == len(text)
        if kind == "open_string":
            return expects in ("value", "value_or_end", "key", "key_or_end")
        if kind == "string":
            if expects in ("key", "key_or_end"):
                expects = "colon"
            elif expects in ("value", "value_or_end"):
                expects = "comma"
            else:
                return False
        elif kind == "word":
            if expects not in ("value", "value_or_end"):
                return False
            if token in _WORDS or _NUMBER.fullmatch(token):
                expects = "comma"
            else:
                begun = any(word.startswith(token) for word in _WORDS) or _NUMBER_BEGINNING.fullmatch(token)
                return at_end and bool(begun)
        else:
            following = _after(token, expects, stack)
            if following is None:
                return False
            expects = following
    return bool(stack)


def _after(token: str, expects: str, stack: list[str]) -> str | None:
    """What is expected behind a punctuation mark, or None where it may not stand."""
    if token in "{[":
        if expects not in ("value", "value_or_end"):
            return None
        stack.append(token)
        return "key_or_end" if token == "{" else "value_or_end"
    if token in "}]":
        if not stack or stack[-1] != {"}": "{", "]": "["}[token]:
            return None
        if expects not in ("comma", "key_or_end" if token == "}" else "value_or_end"):
            return None
        stack.pop()
        return "comma"
    if token == ",":
        if expects != "comma":
            return None
        return "key" if stack[-1] == "{" else "value"
    return "value" if expects == "colon" else None


class Completeness:
    """Follows fragments and tells whether they form a whole JSON object so far, reading each character once."""

    __slots__ = ("_depth", "_escaped", "_quoted", "_seen", "whole")
    _MARK = re.compile(r'["\\{}\[\]]')

    def __init__(self) -> None:
        self.whole = False
        self._depth = 0
        self._quoted = False
        self._escaped = False
        self._seen = 0

    def follow(self, fragments: list[str]) -> bool:
        """``fragments`` is the list as it has grown. True: an object was opened and closed, and nothing is open."""
        for fragment in self._new(fragments):
            if self._escaped and fragment:
                fragment, self._escaped = fragment[1:], False
            position = 0
            while match := self._MARK.search(fragment, position):
                mark, position = match.group(), match.end()
                if mark == "\\":
                    if self._quoted:
                        self._escaped = position == len(fragment)
                        position += 1
                elif mark == '"':
                    self._quoted = not self._quoted
                elif not self._quoted:
                    self._depth += 1 if mark in "{[" else -1
                    self.whole = self._depth == 0 and mark == "}"
        return self.whole and not self._quoted and self._depth == 0

    def _new(self, fragments: list[str]) -> Iterable[str]:
        new = fragments[self._seen :]
        self._seen = len(fragments)
        return new
