"""Tells what the beginning of a piece of text can still become: a mark for a call, a call in JSON, code.

Invariant: pure; each question is answered ``yes``, ``maybe`` (more text is needed) or ``no``, from a bounded number of
characters.
"""

from __future__ import annotations

import re

_MARKS = (
    "<toolcall",
    "<longcattoolcall",
    "<functioncall",
    "<function=",
    "<function(",
    "<dsml",
    "<pythontag",
    "<pythonstart",
    "<invoke",
    "<tooluse",
    "<toolcode",
    "<tools>",
    "<startaction",
    "<actionstart",
    "[toolcalls]",
    "[toolrequest]",
)
_IGNORED_IN_MARKS = re.compile(r"[|｜¦∣│┃\s_▁]+")
_NAMESPACE = re.compile(r"<[a-z]{1,12}:")
_MAYBE_NAMESPACE = re.compile(r"<[a-z]{1,12}\Z")
_SHORTEST_STUMP = 7
_FENCE_LANGUAGES = ("", "json", "jsonc", "tool_code", "tool_call", "tool_calls", "tool", "function_call")
_CALL_KEYS = ("type", "id", "name", "arguments", "parameters")
_FIRST_KEY = re.compile(r"\{\s*(?:\"([^\"]*)(\")?)?")
_CODE_MARKS = re.compile(r"^[ \t]*`{3,}|\n|`", re.MULTILINE)


def first_mark_at(text: str, position: int) -> int:
    """Where the next ``<`` or ``[`` stands, or -1."""
    angle, bracket = text.find("<", position), text.find("[", position)
    return max(angle, bracket) if min(angle, bracket) < 0 else min(angle, bracket)


def overlap(text: str, tag: str) -> int:
    """How many characters at the end of ``text`` may be the beginning of ``tag``."""
    for length in range(min(len(tag) - 1, len(text)), 0, -1):
        if text.endswith(tag[:length]):
            return length
    return 0


def begins(text: str, marks: tuple[str, ...]) -> str:
    """``yes``, ``maybe`` (so far) or ``no``."""
    if text.startswith(marks):
        return "yes"
    return "maybe" if any(mark.startswith(text) for mark in marks) else "no"


def is_call_mark(text: str) -> str:
    folded = _NAMESPACE.sub("<", _IGNORED_IN_MARKS.sub("", text).lower(), count=1)
    verdict = begins(folded, _MARKS)
    return "maybe" if verdict == "no" and _MAYBE_NAMESPACE.match(folded) else verdict


def is_stump(text: str) -> bool:
    """Whether the end of a text is the beginning of a mark for a call, and can hardly be anything else."""
    folded = _IGNORED_IN_MARKS.sub("", text).lower()
    return len(folded) >= _SHORTEST_STUMP and any(mark.startswith(folded) for mark in _MARKS)


def may_be_call(text: str) -> str:
    """Whether an answer that begins with ``text`` (no leading blanks) may be nothing but a call in JSON or in a
    fence."""
    if text[0] == "`":
        if not text.startswith("```"):
            return "maybe" if "```".startswith(text) else "no"
        language, newline, inside = text[3:].partition("\n")
        language = language.strip().lower()
        if not newline:
            return "maybe" if any(known.startswith(language) for known in _FENCE_LANGUAGES) else "no"
        if language not in _FENCE_LANGUAGES:
            return "no"
        if language not in ("", "json", "jsonc"):
            return "yes"
        inside = inside.lstrip()
        return _may_be_json_call(inside) if inside else "maybe"
    return _may_be_json_call(text)


def _may_be_json_call(text: str) -> str:
    if text[0] == "[":
        inside = text[1:].lstrip()
        if not inside:
            return "maybe"
        if inside[0] != "{":  # a list of calls in Python syntax
            name = re.match(r"[A-Za-z_][\w.]*", inside)
            if name is None:
                return "no"
            following = inside[name.end() : name.end() + 1]
            return "yes" if following == "(" else "no" if following else "maybe"
        text = inside
    if text[0] != "{":
        return "no"
    key = _FIRST_KEY.match(text)
    if key is None or key.group(1) is None:
        return "maybe" if key is not None and not text[key.end() :] else "no"
    if key.group(2):
        return "yes" if key.group(1) in _CALL_KEYS else "no"
    return "maybe" if any(known.startswith(key.group(1)) for known in _CALL_KEYS) else "no"


def inside_code(before: str) -> bool:
    """Whether what follows ``before`` stands in a code fence or between backticks of the same line."""
    fenced = ticked = False
    for mark in _CODE_MARKS.finditer(before):
        token = mark.group()
        if token == "\n":
            ticked = False
        elif token == "`":
            ticked = not ticked and not fenced
        else:
            fenced, ticked = not fenced, False
    return fenced or ticked
