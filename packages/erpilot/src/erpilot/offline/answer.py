"""Writes the answer: templates filled with the values of results as they stand.

Invariant: every figure is a value of a result or a word of the question; nothing is added up here. A text from a record
is one value in one line and cannot become anything else.
"""

from __future__ import annotations

import re
from typing import Any

from .reading import WORDS, Asked
from .turns import Result, Results, chosen, steps

_FIELD, _OPTIONAL = re.compile(r"\{([?-]?)([\w.]+)\}"), re.compile(r"\[([^\]]*)\]")
_NOTHING = {"": ("",), "?": ("", "0", "False"), "-": ("", "0", "False")}
# What a record inside another takes from it: units and the like. A quantity of the whole is none of its part.
_INHERITED = ("base_unit", "currency", "own", "shortage", "of")


def text(chinese: bool, template: str, values: Result) -> str:
    """A template filled. Raises ``KeyError`` for a value that is neither there nor in brackets."""

    def value(path: str) -> str:
        found: Any = values
        for key in path.split("."):
            found = found.get(key) if isinstance(found, dict) else None
        term = WORDS["terms"].get(path.rpartition(".")[2], {}).get(str(found))
        return str(term[not chinese]) if term else "" if found is None else " ".join(str(found).split())

    parts: list[str] = _OPTIONAL.split(WORDS["say"][template][not chinese])
    for at, part in enumerate(parts):
        missing = [path for sign, path in _FIELD.findall(part) if (value(path) in _NOTHING[sign]) is (sign != "-")]
        if missing and at % 2 == 0:
            raise KeyError(missing[0])
        parts[at] = "" if missing else _FIELD.sub(lambda field: "" if field[1] else value(field[2]), part)
    return "".join(parts)


def told(chinese: bool, plan: dict[str, Any], values: Result) -> list[str]:
    """The lines of a section: its templates, the same for each record inside, what closes it."""
    lines = [text(chinese, template, values) for template in plan.get("say", ())]
    outer = {key: values[key] for key in _INHERITED if key in values}
    for inner in plan.get("then", ()):
        for at, record in enumerate(values[inner["each"]]):
            more = {"mark": "①②③④⑤"[at : at + 1], "converted": record.get("unit") != (outer | record).get("base_unit")}
            lines += told(chinese, inner, outer | record | more)
    return [line for line in (*lines, *(text(chinese, each, values) for each in plan.get("end", ()))) if line]


def write(asked: Asked, results: Results) -> str:
    """The answer, once every call has its result: a section for each, then a text to send for each document priced."""
    lines, letters, plan = list[str](), list[str](), steps(asked, results)
    for step in plan:
        result, section = results[step.key] | {"what": step.tool}, step.tool
        if "error" in result:
            about = step.arguments.get("number") or step.arguments.get("query") or (step.order or {}).get("number")
            section, result = "error", {"asked": about, "tool": step.tool, "what": step.tool, "error": result["error"]}
        elif step.tool in ("find_products", "find_customers"):
            known, exact = chosen(step.tool, result), any(each["match"] != "fuzzy" for each in result["candidates"])
            section, result = "these" if known else "offer", result | {"exact": exact, "several": len(known) > 1}
        elif step.tool == "get_order":
            section = "get_order" if "lines" in asked.facets else "order_head"
            unsold = "price" in asked.facets and result["kind"] in ("purchase", "return")
            result |= {"own": result["kind"] == "sale", "unsold": unsold, "others": ", ".join(result["other_matches"])}
        elif step.order is not None:
            section = "check_stock_of_order" if step.tool == "check_stock" else step.tool
            if step.tool == "get_price":
                stocks = (results[each.key] for each in plan if each.tool == "check_stock" and each.order is step.order)
                result = _compared(result, step.order, next(stocks, {}))
                letters += ["", *told(asked.chinese, WORDS["sections"]["letter"], result)]
        lines += told(asked.chinese, WORDS["sections"].get(section, {"say": [section]}), result)
    return "\n".join(lines + letters)


def _compared(report: Result, order: Result, stock: Result) -> Result:
    """The prices with those of the document and with what its stock says. A product that is not listed has none."""
    missing = {each["asked"] for each in stock.get("not_found", ())}
    products, lines = iter(stock.get("products", ())), []
    for line, old in zip(report["lines"], order["lines"], strict=True):
        product: Result = next(products, {}) if old["sku"] not in missing else {}
        supply = {key: product[key] for key in ("wanted", "shortage", "complete_on") if key in product}
        changed = (old["unit_price"], order["currency"]) != (line["unit_price"], report["currency"])
        lines.append(line | supply | {"old": old["unit_price"], "changed": changed})
    return report | {"lines": lines, "party": report.get("customer", {}).get("name", order["party"]), "of": order}
