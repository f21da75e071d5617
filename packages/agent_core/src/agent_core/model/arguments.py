"""Judges the arguments of a call, once, when the stream is over.

Invariant: what comes out as usable is a JSON object that the model wrote: either literally, or after repairs that
cannot change the meaning. An open string or bracket is never closed, a value never invented; such arguments are an
error of the call.
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import msgspec
from msgspec import Struct

from ..messages import ArgumentsError
from .jsontext import Unreadable, is_json_beginning, objects_in, read_json
from .wire import clean, encode

_LEAD = re.compile(r"(?:\s|\ufeff|```[\w+-]*|json\b|arguments?\s*[:=]|<[^<>{}\"']{1,40}>|\[ARGS\])*", re.IGNORECASE)
_TAIL = re.compile(r"(?:\s|```|<[^<>{}\"']{1,40}>|\[/\w+\])*")
# A string that never closes runs to the end of the text: so each character is looked at once.
_TOKEN = re.compile(
    r"""  "(?:[^"\\]|\\.)*(?:"|\\?\Z)  |  '(?:[^'\\]|\\.)*(?:'|\\?\Z)  |  (?<![\w.])[A-Za-z_]\w*  |  ,(?=\s*[}\]])  """,
    re.DOTALL | re.VERBOSE,
)
_PYTHON_WORDS = {"true": "True", "false": "False", "null": "None", "True": "True", "False": "False", "None": "None"}
_PLACEHOLDERS = re.compile(r"(?:\{\}\s*)*")
_DEEPEST_UNWRAPPING = 4


class Judgement(Struct, frozen=True):
    """``arguments``: the JSON text to use, ``{}`` when there is an ``error``. ``raw``: the joined text, where it was
    not used as it stands."""

    arguments: str
    repaired: bool = False
    error: ArgumentsError | None = None
    raw: str | None = None

    def fields(self) -> dict[str, Any]:
        """As fields of a ``ToolCall``."""
        return {
            "arguments": self.arguments,
            "repaired": self.repaired,
            "error": self.error,
            "raw_arguments": self.raw,
        }


def judge(fragments: Sequence[str]) -> Judgement:
    """What the fragments of one call's arguments amount to.

    In this order: joined as they are; fragments sent again or cumulatively; repairs of the joined text.
    """
    joined = fragments[0] if len(fragments) == 1 else "".join(fragments)
    if not joined or joined.isspace():
        return Judgement("{}")
    try:
        value = msgspec.json.decode(joined)
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError):
        pass
    else:
        if type(value) is dict:
            return Judgement(joined)
        return _unwrapped(value, joined)
    try:
        value = read_json(joined)
    except Unreadable:
        pass
    else:  # strict JSON that holds a lone surrogate or a number out of range
        if isinstance(value, dict):
            return Judgement(_text(value), raw=joined)
        return _unwrapped(value, joined)
    candidate = _sent_again([fragment for fragment in fragments if fragment], joined)
    if candidate is None:
        candidate = _repaired(joined)
    if candidate is not None:
        return Judgement(_text(candidate), repaired=True, raw=joined)
    beginning = joined[_LEAD.match(joined).end() :]  # type: ignore[union-attr]
    beginning = beginning[_PLACEHOLDERS.match(beginning).end() :]  # type: ignore[union-attr]
    error: ArgumentsError = "truncated" if is_json_beginning(beginning) else "invalid_json"
    return Judgement("{}", error=error, raw=joined)


def same_arguments(one: str, other: str) -> bool:
    """Whether two JSON texts hold equal values."""
    if one == other:
        return True
    try:
        return bool(msgspec.json.decode(one) == msgspec.json.decode(other))
    except (msgspec.MsgspecError, UnicodeEncodeError):
        return False


def _text(value: dict[str, Any]) -> str:
    return encode(clean(value)).decode()


def _unwrapped(value: Any, joined: str) -> Judgement:
    """For JSON that is no object: a string may hold one, null is the absence of arguments."""
    for _ in range(_DEEPEST_UNWRAPPING):
        if not isinstance(value, str):
            break
        if not value.strip():
            return Judgement("{}", repaired=True, raw=joined)
        try:
            value = read_json(value)
        except Unreadable:
            value = _repaired(value)
            break
    if value is None and joined.strip() == "null":
        return Judgement("{}", repaired=True, raw=joined)
    if isinstance(value, dict):
        return Judgement(_text(value), repaired=True, raw=joined)
    return Judgement("{}", error="not_an_object", raw=joined)


def _sent_again(fragments: Sequence[str], joined: str) -> dict[str, Any] | None:
    """Cumulative fragments, a summary at the end, whole repeats, a placeholder ``{}`` in front."""
    if len(fragments) > 1 and all(later.startswith(earlier) for earlier, later in pairwise(fragments)):
        value = _object(fragments[-1])
        if value is not None:
            return value
    found = objects_in(joined)
    if len(found) < 2:
        if len(fragments) > 2 and fragments[0].strip() == "{}":
            real = [fragment for fragment in fragments if fragment.strip() != "{}"]
            return _sent_again(real, "".join(real)) if len(real) > 1 else None
        return None
    placeholders = next((number for number, one in enumerate(found) if one), len(found) - 1)
    told = found[placeholders:]
    return told[0] if all(one == told[0] for one in told) else None


def _object(text: str) -> dict[str, Any] | None:
    try:
        value = read_json(text)
    except Unreadable:
        return None
    return value if isinstance(value, dict) else None


def _repaired(text: str) -> dict[str, Any] | None:
    """Repairs that cannot change the meaning: packaging, control characters, trailing commas, Python literals."""
    start = _LEAD.match(text).end()  # type: ignore[union-attr]
    opening = text[start : start + 1]
    if not opening or opening not in "{\"'":
        return None
    end = text.rfind("}" if opening == "{" else opening) + 1
    if end <= start + 1 or not _TAIL.fullmatch(text, end):
        return None
    core = text[start:end]
    if opening != "{":
        return _from_string(core)
    found = objects_in(core)
    if len(found) == 1:
        return found[0]
    quotes_or_words: set[str] = set()

    def token(match: re.Match[str]) -> str:
        one = match.group()
        if one[0] == ",":
            return ""
        if one[0] == "'" or one in ("True", "False", "None"):
            quotes_or_words.add(one[0])
        return one

    without_commas = _TOKEN.sub(token, core)
    found = objects_in(without_commas)
    if len(found) == 1:
        return found[0]
    return _literal(core) if quotes_or_words else None


def _from_string(core: str) -> dict[str, Any] | None:
    try:
        value = ast.literal_eval(core) if core[0] == "'" else json.loads(core, strict=False)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None
    if not isinstance(value, str) or value == core:
        return None
    return _object(value) or _repaired(value)


def _literal(text: str) -> dict[str, Any] | None:
    """A Python dict display, read with a literal parser; JSON's words count as Python's."""
    words = _TOKEN.sub(lambda m: m.group() if m.group()[0] in "\"'," else _PYTHON_WORDS.get(m.group(), "?"), text)
    strings = _TOKEN.sub(lambda m: "S" if m.group()[0] in "\"'" else m.group(), text)
    if "?" in strings or re.search(r"S\s*S|[()@]", strings):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            value = ast.literal_eval(words)
    except (ValueError, SyntaxError, RecursionError, MemoryError, Warning):
        return None
    return value if isinstance(value, dict) and _is_json(value) else None


def _is_json(value: Any) -> bool:
    if isinstance(value, dict):
        return all(isinstance(key, str) for key in value) and all(map(_is_json, value.values()))
    if isinstance(value, list):
        return all(map(_is_json, value))
    return value is None or isinstance(value, (str, int, float, bool))
