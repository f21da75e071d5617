"""Writes the answer: templates filled with the values of results as they stand.

Invariant: every figure is a value of a result or a word of the question; nothing is added up here. A text from a record
is one value in one line and cannot become anything else.
"""

from __future__ import annotations

import re
from itertools import zip_longest
from typing import Any

from .reading import WORDS, Asked
from .turns import Result, Results, Step, chosen, steps

_INHERITED = ("base_unit", "currency", "own", "shortage", "of")
"""What a record inside another may take from it: units and the like. A quantity of the whole is none of its part."""
_FIELD, _OPTIONAL = re.compile(r"\{([?-]?)([\w.]+)\}"), re.compile(r"\[([^\]]*)\]")


def text(chinese: bool, template: str, **values: Any) -> str:
    """A template filled. Raises ``KeyError`` for a value that is neither there nor in brackets."""

    def value(path: str) -> str:
        found: Any = values
        for key in path.split("."):
            found = found.get(key) if isinstance(found, dict) else None
        term = WORDS["terms"].get(path.rpartition(".")[2], {}).get(str(found))
        return str(term[not chinese]) if term else "" if found is None else " ".join(str(found).split())

    def filled(part: str, optional: bool) -> str:
        for condition, path in _FIELD.findall(part):
            there = value(path) not in ("", "False", *(("0",) if condition else ()))
            if there is (condition == "-"):
                if optional:
                    return ""
                raise KeyError(path)
        return _FIELD.sub(lambda field: "" if field[1] else value(field[2]), part)

    parts = _OPTIONAL.split(WORDS["say"][template][not chinese])
    return "".join(filled(part, optional=at % 2 == 1) for at, part in enumerate(parts))


def told(chinese: bool, plan: dict[str, Any], values: Result) -> list[str]:
    """The lines of a section: its templates, the same for each record inside, what closes it."""
    lines = [text(chinese, template, **values) for template in plan.get("say", ())]
    outer = {key: values[key] for key in _INHERITED if key in values}
    for inner in plan.get("then", ()):
        for mark, record in zip_longest("①②③④⑤", values[inner["each"]], fillvalue=None):
            if record is not None:
                converted = record.get("unit") != record.get("base_unit", values.get("base_unit"))
                lines += told(chinese, inner, outer | record | {"mark": mark, "converted": converted})
    return [line for line in (*lines, *(text(chinese, each, **values) for each in plan.get("end", ()))) if line]


def write(asked: Asked, results: Results) -> str:
    """The answer, once every call has its result: a section for each, then a text to send for each document priced."""
    lines: list[str] = []
    letters: list[str] = []
    plan = steps(asked, results)
    for step in plan:
        result, section = results[step.key], step.tool
        if "error" in result:
            result, section = _failure(step, result["error"]), "error"
        elif step.tool in ("find_products", "find_customers"):
            section, result = _match(step.tool, result), result | {"what": step.tool}
        elif step.tool == "get_order":
            quoted = {"quoted": "price" in asked.facets, "sold": result["kind"] in ("sale", "quotation")}
            quoted |= {"own": result["kind"] == "sale", "others": ", ".join(result["other_matches"])}
            section, result = "get_order" if "lines" in asked.facets else "order_head", result | quoted
        elif step.order is not None:
            section = f"{step.tool}_of_order"
            stock = next((results[each.key] for each in plan if each[0] == "check_stock" and each[2] is step.order), {})
            if step.tool == "get_price":
                result = _compared(result, step.order, stock)
                letters += ["", *told(asked.chinese, WORDS["sections"]["letter"], result)]
        lines += told(asked.chinese, WORDS["sections"][section], result)
    return "\n".join(lines + letters)


def _failure(step: Step, error: Any) -> Result:
    asked = step.arguments.get("number") or step.arguments.get("query") or (step.order or {}).get("number")
    return {"asked": asked, "tool": step.tool, "what": step.tool} | (error if isinstance(error, dict) else {})


def _match(tool: str, result: Result) -> str:
    """The section for what a name may mean."""
    if known := chosen(tool, result):
        return "these" if len(known) > 1 else "decided"
    kinds = {each["match"] for each in result["candidates"]}
    return f"{tool}_{'several' if kinds - {'fuzzy'} else 'nearest' if kinds else 'nothing'}"


def _compared(report: Result, order: Result, stock: Result) -> Result:
    """The prices with those of the document and with what its stock says. A product that is not known has none."""
    missing = {each["asked"] for each in stock.get("not_found", ())}
    products = iter(stock.get("products", ()))
    lines = []
    for line, old in zip(report["lines"], order["lines"], strict=True):
        product = next(products, {}) if old["sku"] not in missing else {}
        supply = {key: product[key] for key in ("wanted", "shortage", "complete_on") if key in product}
        changed = (old["unit_price"], order["currency"]) != (line["unit_price"], report["currency"])
        lines.append(line | supply | {"old": old["unit_price"], "changed": changed})
    return report | {"lines": lines, "party": report.get("customer", {}).get("name", order["party"]), "of": order}
