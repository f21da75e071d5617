"""Finds tool calls in the text of an answer, under the strict conditions of rule 5 of the stream specification.

Invariant: text becomes a call only when tools were offered, the block is whole and not quoted, its name is that of an
offered tool and its arguments are an object. Everything else stays text, except a call that was begun and never
finished: that is neither run nor shown.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from ..messages import ToolSchema
from . import dialects
from .dialects import BARS, Block, Written
from .jsontext import value_at
from .names import resolve

_WORDS = r"(?:longcat_)?tool_calls?|toolcalls?|function_calls?|functioncalls?|tool_code|tool_use|tools"
_OPENING = re.compile(
    rf"""
      (?P<section><{BARS}{{1,2}}\s*tool[\s_▁]*calls(?:[\s_▁]*section)?[\s_▁]*begin\s*{BARS}{{1,2}}>)
    | (?P<token><{BARS}{{1,2}}\s*tool[\s_▁]*call[\s_▁]*begin\s*{BARS}{{1,2}}>)
    | (?P<dsml><\s*{BARS}{{1,2}}\s*DSML\s*{BARS}{{1,2}})
    | (?P<python_tag><{BARS}(?:python_tag|python_start){BARS}>)
    | (?P<mistral>\[TOOL_CALLS\])
    | (?P<request>\[TOOL_REQUEST\])
    | (?P<action><{BARS}(?:START_ACTION|action_start){BARS}>(?:<{BARS}plugin{BARS}>)?)
    | (?P<container><{BARS}{{0,2}}(?P<namespace>[a-z]+:)?(?P<word>{_WORDS}){BARS}{{0,2}}>)
    | (?P<function>(?=<function[=(]\s*["']?[\w.:/\-]))
    | (?P<invoke>(?=<(?:[a-z]+:)?invoke\s+name\s*=))
    """,
    re.VERBOSE | re.IGNORECASE,
)
_MOST_REFUSED = 100
"""Marks in one text that turned out to be no calls; a text with more is about such marks."""
_FENCE_LINE = re.compile(r"^[ \t]*(`{3,}|~{3,})[^\n]*$", re.MULTILINE)
_WIDEST_INDENT = 16
_LONGEST_SPAN = 2000
"""Characters that inline code may be long."""
_TICKS = re.compile(r"`+")
_ANGLE = re.compile(r"[<\[]")
_CODE = re.compile(r"[`~]")
_HARMONY = re.compile(
    rf"(?:<{BARS}start{BARS}>(?:assistant|functions)?(?P<role>[^<]*))?<{BARS}channel{BARS}>(?P<header>[^<]*)"
    rf"(?:<{BARS}constrain{BARS}>[^<]*)?<{BARS}message{BARS}>(?P<body>.*?)"
    rf"(?P<end><{BARS}(?:end|call|return){BARS}>|(?=<{BARS}(?:start|channel){BARS}>)|\Z)",
    re.DOTALL,
)
_HARMONY_START = re.compile(rf"\s*<{BARS}(?:start|channel){BARS}>")
_ADDRESSEE = re.compile(r"\bto=([\w.\-:/]+)")
_LEFTOVER = re.compile(r"\s*</(?:tool_call|tool_calls|function_calls)>")
_WHOLE_FENCE = re.compile(r"\s*```([\w-]*)[ \t]*\n(.*?)\n?```\s*\Z", re.DOTALL)
_CALL_KEYS = frozenset({"type", "id", "name", "arguments", "parameters"})
_BEGUN = re.compile(r"\s*(?:\Z|[{\[<]|```)")
_WORD = re.compile(r"\s*([\w.:/\-]+)")


class Found(Struct):
    """What a text turned out to hold. ``name`` of a call is the offered tool's; ``unfinished``: a call was begun at
    its end."""

    text: str
    calls: list[tuple[str, Written]]
    reasoning: str = ""
    unfinished: bool = False


def find_calls(text: str, tools: Mapping[str, ToolSchema], names: Mapping[str, str]) -> Found:
    """The calls in ``text`` and the text without them. ``tools`` by name; ``names``: names on the wire to names."""
    if _HARMONY_START.match(text):
        return _harmony(text, tools, names)
    if not tools:
        return Found(text, [])
    if (whole := _whole_text(text)) is not None and (accepted := _accept(whole, tools, names)) is not None:
        return Found("", accepted)
    calls: list[tuple[str, Written]] = []
    kept: list[str] = []
    position = refused = 0
    for opening in _unquoted(text):
        if opening.start() < position:
            continue
        if refused >= _MOST_REFUSED:
            break
        block = _read(text, opening)
        if block is None:
            if _is_begun(text, opening, names):
                kept.append(text[position : opening.start()].rstrip())
                return Found("".join(kept), calls, unfinished=True)
            refused += 1
            continue
        accepted = _accept(block[0], tools, names)
        if accepted is None:
            refused += 1
            continue
        calls += accepted
        before = text[position : opening.start()]
        kept.append(before.rstrip() if before.strip() else "")
        position = block[1]
    rest = text[position:]
    if calls:
        kept.append(rest if rest.strip() else "")
        return Found("".join(kept).strip() if not rest.strip() else "".join(kept), calls)
    return Found(text, calls)


def holds_call(text: str, tools: Mapping[str, ToolSchema], names: Mapping[str, str]) -> bool:
    """Whether a whole call of an offered tool stands anywhere in the text."""
    return bool(find_calls(text, tools, names).calls)


def _unquoted(text: str) -> Iterator[re.Match[str]]:
    """The opening marks outside code fences and backticks."""
    position = 0
    opening = _opening(text, 0)
    while opening is not None:
        code = _CODE.search(text, position, opening.start())
        if code is not None:
            position = _end_of_code(text, code.start())
            if position > opening.start():
                opening = _opening(text, position)
            continue
        yield opening
        position = max(opening.end(), opening.start() + 1)
        opening = _opening(text, position)


def _opening(text: str, position: int) -> re.Match[str] | None:
    """The next opening mark at or behind ``position``."""
    while candidate := _ANGLE.search(text, position):
        if opening := _OPENING.match(text, candidate.start()):
            return opening
        position = candidate.end()
    return None


def _end_of_code(text: str, start: int) -> int:
    """Where the code that may begin at ``start`` ends; just behind the mark when none begins."""
    line_start = text.rfind("\n", max(0, start - _WIDEST_INDENT), start) + 1
    if (line_start or start <= _WIDEST_INDENT) and not text[line_start:start].strip():
        fence = _FENCE_LINE.match(text, line_start)
        if fence:
            mark = fence.group(1)
            pattern = rf"^[ \t]*{re.escape(mark[0])}{{{len(mark)},}}[ \t]*$"
            closing = re.compile(pattern, re.MULTILINE).search(text, fence.end())
            return closing.end() if closing else len(text)
    ticks = _TICKS.match(text, start)
    if ticks is None:
        return start + 1
    limit = min(len(text), ticks.end() + _LONGEST_SPAN)
    paragraph = text.find("\n\n", ticks.end(), limit)
    span_end = re.compile(rf"(?<!`){ticks.group()}(?!`)").search(
        text, ticks.end(), paragraph if paragraph >= 0 else limit
    )
    return span_end.end() if span_end else ticks.end()


def _read(text: str, opening: re.Match[str]) -> Block | None:
    """The block behind an opening mark, or None when it is not whole."""
    end = opening.end()
    match opening.lastgroup:
        case "section":
            return dialects.token_section(text, end, is_section=True)
        case "token":
            return dialects.token_section(text, opening.start(), is_section=False)
        case "dsml":
            return dialects.dsml(text, opening.start())
        case "python_tag":
            return dialects.python_tag(text, end)
        case "mistral":
            return dialects.mistral(text, end)
        case "request":
            return dialects.container(text, end, r"\[END_TOOL_REQUEST\]")
        case "action":
            return dialects.container(text, end, rf"<{BARS}(?:END_ACTION|action_end){BARS}>")
        case "function" | "invoke":
            block = dialects.body(text, end)
            if block is None:
                return None
            leftover = _LEFTOVER.match(text, block[1])  # of a container whose opening tag was lost
            return block[0], leftover.end() if leftover else block[1]
    word = re.escape(opening["word"])
    namespace = re.escape(opening["namespace"] or "")
    block = dialects.container(
        text, end, rf"</{BARS}{{0,2}}{namespace}{word}{BARS}{{0,2}}>|<{BARS}{{1,2}}/{word}{BARS}{{1,2}}>"
    )
    if block is None and re.search(BARS, opening.group()):
        return dialects.body(text, end) if dialects.first_mark(text, end) == "[" else None
    return block


def _accept(
    calls: list[Written], tools: Mapping[str, ToolSchema], names: Mapping[str, str]
) -> list[tuple[str, Written]] | None:
    """The calls with their tools' names, or None when one of them is no call of an offered tool."""
    accepted = []
    for call in calls:
        name = resolve(call.name, names)
        if name is None or call.arguments is None:
            return None
        if call.untyped:
            call.arguments = _typed(call, tools[name].parameters)
        accepted.append((name, call))
    return accepted or None


def _typed(call: Written, schema: dict[str, Any]) -> dict[str, Any]:
    """Values that were written as plain text, read by the schema; a text where the schema says nothing else."""
    properties = schema.get("properties")
    properties = properties if isinstance(properties, dict) else {}
    return {
        key: _value(value, properties.get(key)) if key in call.untyped else value
        for key, value in (call.arguments or {}).items()
    }


def _value(text: str, schema: Any) -> Any:
    kinds = _kinds(schema)
    if not kinds or ("string" in kinds and not ("null" in kinds and text.strip() == "null")):
        return text
    stripped = text.strip()
    try:
        value = json.loads(stripped, strict=False)
    except (ValueError, RecursionError):
        lowered = stripped.lower()
        if lowered in ("true", "false") and "boolean" in kinds:
            return lowered == "true"
        return None if lowered in ("none", "null") and "null" in kinds else text
    return value


def _kinds(schema: Any) -> set[str]:
    if not isinstance(schema, dict):
        return set()
    kind = schema.get("type")
    kinds = {kind} if isinstance(kind, str) else set(kind) if isinstance(kind, list) else set()
    for union in ("anyOf", "oneOf"):
        for branch in schema.get(union) or ():
            kinds |= _kinds(branch)
    if not kinds and isinstance(schema.get("enum"), list) and all(isinstance(one, str) for one in schema["enum"]):
        kinds.add("string")
    return kinds


def _is_begun(text: str, opening: re.Match[str], names: Mapping[str, str]) -> bool:
    """Whether what follows an opening mark to the end of the text can be the beginning of a call."""
    rest = text[opening.end() :]
    if opening.lastgroup in ("section", "token", "dsml"):
        return True
    if opening.lastgroup in ("function", "invoke"):
        written = re.match(r"<(?:function[=(]\s*[\"']?|(?:[a-z]+:)?invoke\s+name\s*=\s*[\"']?)([^\s\"'>{)]*)", rest)
        name = written.group(1) if written else ""
        if written and not rest[written.end() :].strip():
            return any(offered.startswith(name) for offered in names)
        return resolve(name, names) is not None and "</function>" not in rest and "invoke>" not in rest
    if _BEGUN.match(rest):
        closed = opening.lastgroup == "container" and re.search(rf"</[a-z:]*{opening['word']}", rest, re.IGNORECASE)
        return not closed
    word = _WORD.match(rest)
    if word is None:
        return False
    at_end = not rest[word.end() :].strip()
    if resolve(word.group(1).removesuffix(".call"), names) is not None:
        return at_end or rest[word.end() :].lstrip()[:1] in "<{[("
    return at_end and any(name.startswith(word.group(1)) for name in names)


def _whole_text(text: str) -> list[Written] | None:
    """The calls of a text that is nothing but bare JSON, one fence, or a list of Python calls."""
    fence = _WHOLE_FENCE.match(text)
    language = fence.group(1).lower() if fence else ""
    inside = fence.group(2) if fence else text
    if language in ("tool_code", "tool_call", "tool_calls", "tool", "function_call"):
        found = dialects.python_calls(inside, 0)
        if found is not None:
            return found[0]
    elif language not in ("", "json", "jsonc"):
        return None
    stripped = inside.strip()
    if stripped[:1] not in ("{", "["):
        return None
    try:
        value = json.loads(stripped, strict=False)
    except (ValueError, RecursionError):
        found = dialects.python_calls(stripped, 0) if stripped[0] == "[" and not fence else None
        return found[0] if found else None
    items = value if isinstance(value, list) else [value]
    for item in items:
        if not isinstance(item, dict) or not set(item) <= _CALL_KEYS or not set(item) & {"arguments", "parameters"}:
            return None
    return dialects.from_json(value)


def _harmony(text: str, tools: Mapping[str, ToolSchema], names: Mapping[str, str]) -> Found:
    """Channels: analysis is reasoning, commentary to a function is a call, the rest is the answer."""
    shown: list[str] = []
    reasoning: list[str] = []
    calls: list[tuple[str, Written]] = []
    unfinished = False
    end = 0
    for segment in _HARMONY.finditer(text):
        end = segment.end()
        header = f"{segment['role'] or ''} {segment['header']}"
        words = segment["header"].split()
        addressee = _ADDRESSEE.search(header)
        content = segment["body"]
        if addressee is not None:
            verdict = _only_object(content)
            accepted = _accept([Written(addressee.group(1), verdict)], tools, names)
            if accepted is not None:
                calls += accepted
            elif verdict is None and not segment["end"]:
                unfinished = True
            else:
                shown.append(segment.group())
        elif words and words[0] == "analysis":
            reasoning.append(content)
        else:
            shown.append(content)
    unfinished = unfinished or _ADDRESSEE.search(text, end) is not None
    return Found("\n".join(part.strip() for part in shown), calls, "\n".join(reasoning), unfinished)


def _only_object(text: str) -> dict[str, Any] | None:
    """The one JSON object that the text is, or None."""
    block = value_at(text, 0)
    if block is None or text[block[1] :].strip() or not isinstance(block[0], dict):
        return None
    return block[0]
