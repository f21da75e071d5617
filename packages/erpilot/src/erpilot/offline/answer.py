"""Writes the answer: templates filled with the values of results as they stand.

Invariant: every figure is a value of a result or a word of the question; nothing is added up here.
"""

from __future__ import annotations

import re

from ..phrases import told
from .reading import WORDS, Asked
from .turns import BOUGHT, Result, Results, Step, chosen, steps

_TERMS = {field: dict(each.split("=", 1) for each in terms) for field, terms in WORDS["terms"].items()}


def tell(asked: Asked, section: str, values: Result) -> str:
    """A section of the answer in the language of the person."""
    return told(WORDS["say"][section], values, _TERMS, chinese=asked.chinese)


def write(asked: Asked, results: Results) -> str:
    """The answer, once every call has its result: a section for each, then a text to send for each document priced."""
    sections, letters, stock = list[str](), list[str](), Result()
    for step in steps(asked, results):
        section, values = _section(asked, step, results[step.key] | {"what": step.tool})
        stock = values if step.tool == "check_stock" else stock
        if step.order and section == "get_price":
            values = _compared(values, step.order, stock)
            letters.append(tell(asked, "letter", values))
        sections += [tell(asked, section, values)] if section else []
    return "\n".join(sections + letters)


def _section(asked: Asked, step: Step, result: Result) -> tuple[str, Result]:
    """The template that tells a result, and its values."""
    if "error" in result:
        return _failed(step, result["error"])
    if step.tool in ("find_products", "find_customers"):
        exact = any(each["match"] != "fuzzy" for each in result["candidates"])
        return "" if chosen(result) else "offer", result | {"exact": exact}
    if step.tool == "get_order":
        unsold, others = "price" in asked.facets and result["kind"] in BOUGHT, ", ".join(result["other_matches"])
        lines = result["lines"] if "lines" in asked.facets else []
        return step.tool, result | {"lines": lines, "own": result["kind"] == "sale", "unsold": unsold, "others": others}
    if step.tool == "check_stock" and step.order:  # where it is short, the warehouses and what is on its way
        brief = [each | ({"warehouses": []} if each["shortage"] == "0" else {}) for each in result["products"]]
        return step.tool, result | {"products": brief}
    return step.tool, result


def _failed(step: Step, error: Result) -> tuple[str, Result]:
    """A failure of a usual kind in the words of the person, with names and numbers out of it; another is quoted."""
    said = " ".join(str(error[key]) for key in ("message", "hint") if error.get(key))
    for kind, pattern in WORDS["errors"].items():
        if found := re.fullmatch(pattern, said):
            return kind, found.groupdict() | ({"what": step.tool} if step.tool == "get_order" else {})
    about = step.arguments.get("number") or step.arguments.get("query") or (step.order or {}).get("number")
    return "error", {"asked": about, "tool": step.tool, "what": step.tool, "said": said}


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
