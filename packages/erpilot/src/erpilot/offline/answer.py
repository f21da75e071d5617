"""Writes the answer: templates filled with the values of results as they stand.

Invariant: every figure is a value of a result or a word of the question; nothing is added up here.
"""

from __future__ import annotations

import json
import re

from ..phrases import told
from .errands import TEMPLATES, said_of
from .quoting import WRITES, Quotation
from .reading import WORDS, Asked
from .turns import BOUGHT, Result, Results, Step, chosen, of_product, steps
from .wants import JOBS, Want

_TERMS = {
    field: dict(each.split("=", 1) for each in [*WORDS["terms"].get(field, ()), *JOBS["terms"].get(field, ())])
    for field in WORDS["terms"] | JOBS["terms"]
}


def tell(asked: Asked | Want | Quotation, section: str, values: Result) -> str:
    """A section of the answer in the language of the person."""
    return told(TEMPLATES[section], values, _TERMS, chinese=asked.chinese)


def asking_back(want: Want) -> str:
    """What has to be known before a job can be done."""
    return told(JOBS["ask"][want.problem], {}, _TERMS, chinese=want.chinese)


def write_want(want: Want, results: Results) -> str:
    """The answer to a job, once every call has its result."""
    sections = []
    for section, values in said_of(want, results):
        name, told_values = _failed(values["step"], values["error"]) if section == "failed" else (section, values)
        sections.append(tell(want, name, told_values))
    return "\n".join(sections)


def told_step(want: Want, step: Step, result: Result) -> str:
    """What came of writing a table into a file."""
    return tell(want, *(_failed(step, result["error"]) if "error" in result else ("exported", result)))


def write_quotation(asked: Quotation, results: Results) -> str:
    """What came of a quotation: its number and how to take it back, why it was not made, or the names to choose
    from."""
    sections = []
    for key, result in results.items():
        tool, _, arguments = key.partition(" ")
        step = Step(tool, json.loads(arguments))
        if "error" in result and tool == WRITES:
            said = " ".join(str(result["error"][each]) for each in ("message", "hint") if result["error"].get(each))
            sections.append(tell(asked, "quotation_denied", {"said": said}))
        elif "error" in result:
            sections.append(tell(asked, *_failed(step, result["error"])))
        elif tool == WRITES:
            sections.append(tell(asked, "quotation", result))
        elif chosen(result) is None:
            exact = any(each["match"] != "fuzzy" for each in result["candidates"])
            sections.append(tell(asked, "offer", result | {"exact": exact, "what": tool}))
    return "\n".join(sections)


def write(asked: Asked, results: Results) -> str:
    """The answer, once every call has its result: a section for each, then a text to send for each document priced."""
    sections, letters, stock = list[str](), list[str](), Result()
    for step in steps(asked, results):
        section, values = _section(asked, step, results[step.key] | {"what": step.tool}, results)
        stock = values if step.tool == "check_stock" else stock
        if step.order and section == "get_price":
            order = step.order
            if asked.items:
                order = order | {"lines": of_product(order, values["lines"][0]["sku"])}
            values = _compared(values, order, stock)
            letters.append(tell(asked, "letter", values))
        sections += [tell(asked, section, values)] if section else []
    return "\n".join(sections + letters)


def _section(asked: Asked, step: Step, result: Result, results: Results) -> tuple[str, Result]:
    """The template that tells a result, and its values."""
    if "error" in result:
        return _failed(step, result["error"])
    if step.tool in ("find_products", "find_customers"):
        exact = any(each["match"] != "fuzzy" for each in result["candidates"])
        return "" if chosen(result) else "offer", result | {"exact": exact}
    if step.tool == "get_order":
        unsold, others = "price" in asked.facets and result["kind"] in BOUGHT, ", ".join(result["other_matches"])
        lines = result["lines"] if "lines" in asked.facets else []
        if asked.items:  # one product of the document was asked about
            record = next((chosen(each) for key, each in results.items() if key.startswith("find_products ")), None)
            if record is None:  # what is asked about is not known: nothing else of the document is told instead
                return "", result
            lines = of_product(result, record["sku"]) if record else []
            if record and not lines:
                return "not_in_order", {"number": result["number"], "asked": asked.items[0].name}
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
