"""Texts in Chinese and English from one template, filled with the values of a tool's result as they stand.

Invariant: pure; nothing is added up, and a value, whatever it contains, is one value in one line: it is never read as a
template.

A template is lines of text. ``{field.inner}``: a value; ``{?field}``: nothing, but only with it and not zero;
``{-field}``: only without; ``[part]`` goes when one of its fields fails; ``<Chinese|English>``; ``key>`` before a line:
told for each record under that key. Marks and quotes become those of the language.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any

Terms = Mapping[str, Mapping[str, str]]
"""By field and value: what it is called, as "Chinese|English"."""

_FIELD, _OPTIONAL = re.compile(r"\{([?-]?)([\w.]+)\}"), re.compile(r"\[([^\]]*)\]")
_EITHER, _INNER = re.compile(r"<([^<>|]*)\|([^<>|]*)>"), re.compile(r"(\w+)>")
_MARK = re.compile("[,;:](?: |$)| ?[()]|[「」]", re.MULTILINE)
_ENGLISH_MARKS = {"「": '"', "」": '"'}
_CHINESE_MARKS = {",": "，", ";": "；", ":": "：", "(": "（", ")": "）"}
# What a record inside another takes from it: units and the like. A quantity of the whole is none of its part.
_INHERITED = ("base_unit", "currency", "own", "shortage", "of", "what")


def told(template: str, values: dict[str, Any], terms: Terms, *, chinese: bool) -> str:
    """The template, filled. Raises ``KeyError`` for a value that is neither there nor in brackets."""
    marks = _CHINESE_MARKS if chinese else _ENGLISH_MARKS
    template = _EITHER.sub(lambda either: either[1 if chinese else 2], template)
    template = _MARK.sub(lambda mark: marks.get(mark[0].strip(), mark[0]), template)
    language = 0 if chinese else 1
    called = {
        field: {value: term.split("|")[language] for value, term in each.items()} for field, each in terms.items()
    }
    return "\n".join(_lines(template.splitlines(), values, called))


def _lines(templates: Iterable[str], values: dict[str, Any], called: Terms) -> list[str]:
    lines, outer = list[str](), {key: values[key] for key in _INHERITED if key in values}
    for key, group in groupby(templates, lambda each: found[1] if (found := _INNER.match(each)) else ""):
        inner = [each.removeprefix(f"{key}>") for each in group]
        if not key:  # a line of which nothing is left is none
            lines += [line for each in inner if (line := _filled(each, values, called)) or not each]
        for at, record in enumerate(values[key] if key else ()):
            more = {"mark": "①②③④⑤"[at : at + 1], "converted": record.get("unit") != (outer | record).get("base_unit")}
            lines += _lines(inner, outer | record | more, called)
    return lines


def _filled(template: str, values: dict[str, Any], called: Terms) -> str:
    def value(path: str) -> str:
        found: Any = values
        for key in path.split("."):
            found = found.get(key) if isinstance(found, dict) else None
        text = "" if found is None else " ".join(str(found).split())
        return called.get(path.rpartition(".")[2], {}).get(text, text)

    def fails(sign: str, path: str) -> bool:
        nothing = value(path) in (("", "0", "False", "[]") if sign else ("",))
        return nothing is (sign != "-")

    parts: list[str] = _OPTIONAL.split(template)
    for at, part in enumerate(parts):
        failed = [path for sign, path in _FIELD.findall(part) if fails(sign, path)]
        if failed and at % 2 == 0:
            raise KeyError(failed[0])
        parts[at] = "" if failed else _FIELD.sub(lambda field: "" if field[1] else value(field[2]), part)
    return "".join(parts)
