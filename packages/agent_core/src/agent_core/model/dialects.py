"""The forms in which models write tool calls into their text, when a server does not turn them into structured ones.

Invariant: a parser reads a block from its opening mark and answers with whole calls or with none; JSON inside a block
is read by a JSON parser, because a mark may stand inside a string. Nothing is evaluated.
"""

from __future__ import annotations

import ast
import re
from typing import Any

from msgspec import Struct

from .arguments import judge
from .jsontext import read_json, value_at


class Written(Struct):
    """A call as it was written. ``arguments`` is None when they are no object. ``untyped``: keys whose values are
    plain text, to be read by the tool's schema."""

    name: str
    arguments: dict[str, Any] | None
    id: str | None = None
    untyped: frozenset[str] = frozenset()


BARS = r"[|｜¦∣│┃]"
_MARK_OPEN, _MARK_CLOSE = rf"<{BARS}{{1,2}}\s*", rf"\s*{BARS}{{1,2}}>"
_GAP = r"[\s_▁]*"
_NAME = re.compile(r"[\w.:/\-]+")
_SPACE = re.compile(r"\s*")
_FENCE = re.compile(r"\s*```[\w-]*\s*")
_FENCE_END = re.compile(r"\s*```")
_FUNCTION = re.compile(r"\s*<function[=(]\s*[\"']?([^\s>\"'{)]+)[\"']?\s*\)?\s*>?")
_FUNCTION_END = re.compile(r"\s*</function>|\s*<function/>|\s*(?=</tool_call>)")
_PARAMETER = re.compile(
    r"\s*<parameter[=(]\s*[\"']?([^>\"']+?)[\"']?\s*>\n?(.*?)\n?</parameter>(?=\s*(?:<parameter[=(]|</function>|</tool_call>))",
    re.DOTALL,
)
_INVOKE = re.compile(r"\s*<(?:[a-z]+:)?invoke\s+name\s*=\s*[\"']([^\"']+)[\"']\s*>")
_INVOKE_END = re.compile(r"\s*</(?:[a-z]+:)?invoke>")
_INVOKE_PARAMETER = re.compile(
    r"\s*<(?:[a-z]+:)?parameter\s+name\s*=\s*[\"']([^\"']+)[\"']([^>]*)>(.*?)</(?:[a-z]+:)?parameter>"
    r"(?=\s*(?:<(?:[a-z]+:)?parameter\s|</(?:[a-z]+:)?invoke>))",
    re.DOTALL,
)
_KEY_VALUE = re.compile(
    r"\s*<((?:longcat_)?)arg_key>(.*?)</\1arg_key>\s*<\1arg_value>(.*?)</\1arg_value>(?=\s*(?:<\1arg_key>|</\1tool_call>|$))",
    re.DOTALL,
)
_DSML = re.compile(rf"<(/?)\s*{BARS}{{1,2}}\s*DSML\s*{BARS}{{1,2}}\s*")
_SEPARATOR = re.compile(rf"{_MARK_OPEN}tool{_GAP}(?:sep|call{_GAP}argument{_GAP}begin){_MARK_CLOSE}")
_CALL_BEGIN = re.compile(rf"\s*{_MARK_OPEN}tool{_GAP}call{_GAP}begin{_MARK_CLOSE}")
_CALL_END = re.compile(rf"\s*{_MARK_OPEN}tool{_GAP}call{_GAP}end{_MARK_CLOSE}")
_SECTION_END = re.compile(rf"\s*{_MARK_OPEN}tool{_GAP}calls(?:{_GAP}section)?{_GAP}end{_MARK_CLOSE}")
_END_TOKEN = re.compile(r"\s*(?:<\|(?:eom_id|eot_id|eom|eot|im_end|end|call|return)\|>|</s>|;)")
_PYTHON_END = re.compile(r"<\|(?:eom_id|eot_id|python_end|eom|eot)\|>")
_ARGS = re.compile(r"(?:\[CALL_ID\]([^\[]*))?\[ARGS\]\s*")
_COUNTED_ID = re.compile(r"functions\.[\w.\-]+:\d+")

Block = tuple[list[Written], int]
"""The calls of a block, and where it ends."""


def first_mark(text: str, position: int) -> str:
    """The first character from ``position`` on that is no blank; empty at the end."""
    start = _SPACE.match(text, position).end()  # type: ignore[union-attr]
    return text[start : start + 1]


def container(text: str, start: int, closer: str) -> Block | None:
    """A block whose inside may have any of the usual layouts, up to the mark ``closer`` (a pattern)."""
    block = body(text, start)
    if block is not None and (end := re.compile(rf"\s*(?:{closer})", re.IGNORECASE).match(text, block[1])):
        return block[0], end.end()
    if first_mark(text, start) not in ("{", "["):
        return None
    end = re.compile(closer, re.IGNORECASE).search(text, start)
    verdict = judge([text[start : end.start()]]) if end else None
    if end is None or verdict is None or not verdict.repaired:
        return None
    calls = from_json(read_json(verdict.arguments))
    return (calls, end.end()) if calls else None


def body(text: str, position: int) -> Block | None:
    """As many calls as stand behind one another."""
    calls: list[Written] = []
    while True:
        for unit in (_json_unit, _function_unit, _invoke_unit, _named_unit):
            if (found := unit(text, position)) is not None:
                calls += found[0]
                position = found[1]
                break
        else:
            return (calls, position) if calls else None


def dsml(text: str, start: int) -> Block | None:
    """DSML: bars single or doubled, in several forms. The wrapper's word is any; ``string="false"`` says JSON."""
    opening = _DSML.match(text, start)
    wrapper = re.compile(r"\s*([\w ]*calls)\s*>").match(text, opening.end()) if opening else None
    if wrapper is None:
        return None
    closing = re.compile(
        rf"<\s*/?\s*{BARS}{{1,2}}\s*/?DSML\s*{BARS}{{1,2}}\s*/?\s*{re.escape(wrapper.group(1))}\s*>"
    ).search(text, wrapper.end())
    if closing is None:
        return None
    plain = re.sub(r"<(/?)\s+", r"<\1", _DSML.sub(r"<\1", text[wrapper.end() : closing.start()]))
    block = body(plain, 0)
    return (block[0], closing.end()) if block is not None and not plain[block[1] :].strip() else None


def token_section(text: str, start: int, is_section: bool) -> Block | None:
    """DeepSeek and Kimi: calls between begin and end tokens, with a separator between the name and the arguments."""
    calls: list[Written] = []
    position = start
    while (begin := _CALL_BEGIN.match(text, position)) is not None:
        block = _token_call(text, begin.end())
        if block is None:
            return None
        calls.append(block[0])
        position = block[1]
        if not is_section:
            return calls, position
    end = _SECTION_END.match(text, position)
    return (calls, end.end()) if end and calls else None


def _token_call(text: str, position: int) -> tuple[Written, int] | None:
    separator = _SEPARATOR.search(text, position)
    if separator is None:
        return None
    header = text[position : separator.start()].strip()
    position = separator.end()
    if header == "function" and first_mark(text, position) != "{":
        name = _NAME.match(text, _SPACE.match(text, position).end())  # type: ignore[union-attr]
        if name is None:
            return None
        header, position = name.group(), name.end()
    fence = _FENCE.match(text, position)
    found = value_at(text, fence.end() if fence else position)
    if found is None:
        return None
    value, position = found
    if fence and (closing := _FENCE_END.match(text, position)):
        position = closing.end()
    end = _CALL_END.match(text, position)
    if end is None:
        return None
    call_id = header if _COUNTED_ID.fullmatch(header) else None
    return Written(header, value if isinstance(value, dict) else None, call_id), end.end()


def mistral(text: str, position: int) -> Block | None:
    """Behind [TOOL_CALLS]: a JSON array, or name[ARGS]{...}, or name{...}."""
    if first_mark(text, position) == "[":
        return _json_unit(text, position)
    name = _NAME.match(text, _SPACE.match(text, position).end())  # type: ignore[union-attr]
    if name is None:
        return None
    marker = _ARGS.match(text, name.end())
    found = value_at(text, marker.end() if marker else name.end())
    if found is None or not isinstance(found[0], dict):
        return None
    call_id = (marker.group(1) or "").strip() if marker else ""
    return [Written(name.group(), found[0], call_id or None)], found[1]


def python_tag(text: str, position: int) -> Block | None:
    """Behind <|python_tag|>: JSON or Python calls, then an end token or nothing."""
    calls: list[Written] = []
    while (block := _json_unit(text, position) or python_calls(text, position)) is not None:
        calls += block[0]
        position = block[1]
        if not (end := _END_TOKEN.match(text, position)):
            break
        position = end.end()
    return (calls, position) if calls else None


def python_calls(text: str, position: int) -> Block | None:
    """Calls in Python syntax with keyword arguments that are literals: one, a list of them, or one a line."""
    source = _PYTHON_END.split(text[position:], maxsplit=1)[0].strip()
    source = re.sub(r"\Aprint\((.*)\)\Z", r"\1", source, flags=re.DOTALL)
    try:
        tree = ast.parse(source, mode="exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    calls: list[Written] = []
    for statement in tree.body:
        if not isinstance(statement, ast.Expr):
            return None
        nodes = statement.value.elts if isinstance(statement.value, (ast.List, ast.Tuple)) else [statement.value]
        for node in nodes:
            if not isinstance(node, ast.Call) or node.args or any(keyword.arg is None for keyword in node.keywords):
                return None
            try:
                arguments: dict[str, Any] | None = {
                    keyword.arg or "": ast.literal_eval(keyword.value) for keyword in node.keywords
                }
            except (ValueError, TypeError, RecursionError, MemoryError):
                return None
            calls.append(Written(ast.unparse(node.func).removesuffix(".call"), arguments))
    return (calls, len(text)) if calls else None


def from_json(value: Any) -> list[Written] | None:
    """The calls that a JSON value describes; None when it describes none."""
    if isinstance(value, list):
        described = [from_json(item) for item in value]
        if not described or any(one is None for one in described):
            return None
        return [call for one in described for call in one or ()]
    if not isinstance(value, dict):
        return None
    inner = value.get("function")
    inner = inner if isinstance(inner, dict) else value
    name = next((inner[key] for key in ("name", "tool_name", "function") if isinstance(inner.get(key), str)), None)
    if not name:
        return None
    arguments: Any = next((inner[key] for key in ("arguments", "parameters", "args", "input") if key in inner), {})
    if isinstance(arguments, str):
        verdict = judge([arguments])
        arguments = None if verdict.error else read_json(verdict.arguments)
    call_id = value.get("id")
    return [
        Written(name, arguments if isinstance(arguments, dict) else None, call_id if isinstance(call_id, str) else None)
    ]


def _json_unit(text: str, position: int) -> Block | None:
    fence = _FENCE.match(text, position)
    start = _SPACE.match(text, fence.end() if fence else position).end()  # type: ignore[union-attr]
    if text[start : start + 1] not in ("{", "["):
        return None
    found = value_at(text, start)
    if found is None:
        return None
    calls = from_json(found[0])
    if calls is None:
        return None
    end = found[1]
    if fence and (closing := _FENCE_END.match(text, end)):
        end = closing.end()
    return calls, end


def _function_unit(text: str, position: int) -> Block | None:
    """<function=name> with parameter elements, or with a JSON object inside."""
    head = _FUNCTION.match(text, position)
    if head is None:
        return None
    values: dict[str, Any] = {}
    untyped: frozenset[str] = frozenset()
    position = head.end()
    if first_mark(text, position) == "{":
        found = value_at(text, position)
        if found is None or not isinstance(found[0], dict):
            return None
        values, position = found
    else:
        values, position = _elements(_PARAMETER, text, position)
        untyped = frozenset(values)
    end = _FUNCTION_END.match(text, position)
    return ([Written(head.group(1), values, None, untyped)], end.end()) if end else None


def _invoke_unit(text: str, position: int) -> Block | None:
    """<invoke name="..."> with parameter elements."""
    head = _INVOKE.match(text, position)
    if head is None:
        return None
    values: dict[str, Any] = {}
    untyped: set[str] = set()
    position = head.end()
    while (element := _INVOKE_PARAMETER.match(text, position)) is not None:
        key, attributes, value = element.groups()
        stringly = re.search(r"string\s*=\s*[\"'](true|false)[\"']", attributes)
        if stringly is None:
            values[key] = value
            untyped.add(key)
        else:
            values[key] = value
            if stringly.group(1) == "false":
                found = value_at(value, 0)
                if found is None or value[found[1] :].strip():
                    return None
                values[key] = found[0]
        position = element.end()
    end = _INVOKE_END.match(text, position)
    return ([Written(head.group(1), values, None, frozenset(untyped))], end.end()) if end else None


def _named_unit(text: str, position: int) -> Block | None:
    """A bare name, then key and value elements, a JSON object, or nothing."""
    name = _NAME.match(text, _SPACE.match(text, position).end())  # type: ignore[union-attr]
    if name is None:
        return None
    values, end = _elements(_KEY_VALUE, text, name.end())
    if values:
        return [Written(name.group(), values, None, frozenset(values))], end
    if first_mark(text, name.end()) == "{":
        found = value_at(text, name.end())
        if found is None or not isinstance(found[0], dict):
            return None
        return [Written(name.group(), found[0])], found[1]
    return [Written(name.group(), {})], name.end()


def _elements(pattern: re.Pattern[str], text: str, position: int) -> tuple[dict[str, Any], int]:
    values: dict[str, Any] = {}
    while (element := pattern.match(text, position)) is not None:
        *_, key, value = element.groups()
        values[key.strip()] = value
        position = element.end()
    return values, position
