"""From the messages to the question as it is meant, and to the calls that answer it.

Invariant: everything is derived from the messages, anew each time. A call is asked for once a turn; names found and
documents read in earlier turns are used again, stock and prices never. Texts of records never reach the reader.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from agent_core.messages import Message

from .reading import Asked, Item, cut, question, read

Result = dict[str, Any]
Results = dict[str, Result]
_BOUGHT = ("purchase", "return")
_LASTING = ("find_products ", "find_customers ", "get_order ")


class Step(NamedTuple):
    """A call; ``key`` is the same for equal ones. ``order``: the document that it is about."""

    tool: str
    arguments: dict[str, Any]
    order: Result | None = None

    @property
    def key(self) -> str:
        return f"{self.tool} {json.dumps(self.arguments, sort_keys=True)}"


def conversation(messages: Sequence[Message]) -> list[tuple[str, Results]]:
    """Per turn what the person said, and the results since. Notes of the runtime, in brackets, begin no turn."""
    turns: list[tuple[str, Results]] = []
    keys: dict[str | None, str] = {}
    for message in messages:
        if message.role == "user" and (text := question(message.content or "")):
            turns.append((text, {}))
        keys |= {call.id: Step(call.name, _object(call.arguments)).key for call in message.tool_calls}
        if message.role == "tool" and turns and message.tool_call_id in keys:
            turns[-1][1][keys[message.tool_call_id]] = _object(message.content or "")
    return turns


def _object(text: str) -> Result:
    try:  # a notice of the runtime may stand behind a result
        value, _ = json.JSONDecoder().raw_decode(text.strip())
    except ValueError:
        value = None
    return value if isinstance(value, dict) else {"error": {"type": "unreadable"}}


def meant(turns: Sequence[tuple[str, Results]]) -> tuple[Asked, Results]:
    """The last question with what earlier ones say about it, and the results that may be used for it."""
    asked, before, known, usable = Asked(True, problem="unclear"), None, Results(), Results()
    for text, results in turns:
        asked = _followed(read(text, before), before or Asked(True), known)
        usable = {key: each for key, each in known.items() if asked.goes_on or "get_order " not in key} | results
        known |= {key: each for key, each in results.items() if key.startswith(_LASTING) and "error" not in each}
        before = asked if (asked.problem or "which").startswith("which") else before
    return asked, usable


def _find(tool: str, name: str | None) -> Step:
    return Step(tool, {"query": name})


def chosen(tool: str, result: Result) -> list[Result]:
    """The records that a look-up means: the one that is decided, or two or three products that fit equally."""
    fitting = [each for each in result.get("candidates", ()) if each["match"] != "fuzzy"]
    if result.get("decided"):
        return list(result["candidates"][:1])
    return fitting if tool == "find_products" and 2 <= len(fitting) <= 3 else []


def _followed(asked: Asked, old: Asked, known: Results) -> Asked:
    """A question completed from the one before; ``known``: what was found for that."""
    only = asked.items[0].name if len(asked.items) == 1 and not asked.items[0].qty and not asked.customer else ""
    opened = _opened(old, known)
    if only.isdigit() and len(only) < 8:  # a number alone: one of an offer, a quantity, else a document
        if not asked.facets and opened and int(only) <= len(opened[1]):
            asked = replace(asked, pick=int(only))
        elif not asked.facets and len(old.items) == 1:
            asked = replace(asked, items=(Item("", only),))
        else:
            asked = replace(asked, items=(), orders=((only, None),))
    if asked.problem:
        return asked
    if asked.orders:
        facets = asked.facets or (old.facets if asked.goes_on and old.orders else frozenset())
        return replace(asked, facets=facets | {"lines"}, goes_on=False)
    if not asked.facets and opened and (only or 0 < (asked.pick or 0) <= len(opened[1])):
        return _answered(replace(old, chinese=asked.chinese), opened, asked.pick, only)
    named = any(item.name for item in asked.items)
    hinted = (old.problem or not named) and (asked.items or asked.customer or asked.price_list or asked.warehouse)
    facets = asked.facets or (old.facets if asked.goes_on or hinted else frozenset())
    facets -= {"lines"} if named else set()
    if not facets:
        return replace(asked, problem="unclear", piece=only)
    if not (named and asked.facets) and not (asked.customer or asked.price_list):  # for whom: as before
        asked = replace(asked, customer=old.customer, price_list=old.price_list)
    if named:
        return replace(asked, facets=facets)
    items, problem = old.items, "which_order" if "lines" in facets and not old.orders else None
    if asked.items and len(items) == 1 and items[0].name:
        items = (replace(asked.items[0], name=items[0].name, unit=asked.items[0].unit or items[0].unit),)
    elif asked.items or not (old.orders or (items and items[0].name)):
        items, problem = asked.items or items or (Item(),), problem or "which_product"
    place = asked.warehouse or old.warehouse
    return replace(asked, facets=facets, items=items, orders=old.orders, warehouse=place, goes_on=True, problem=problem)


def _opened(asked: Asked, known: Results) -> tuple[int, list[Result]] | None:
    """Which name of a question was not given or not decided (behind the items: the customer), and what was offered."""
    for at, name in enumerate([*(item.name for item in asked.items), asked.customer]):
        tool = "find_products" if at < len(asked.items) else "find_customers"
        result = known.get(_find(tool, name).key, {})
        if name == "" or (result.get("candidates") and not chosen(tool, result)):
            return at, result.get("candidates", [])
    return None


def _answered(old: Asked, opened: tuple[int, list[Result]], pick: int | None, reply: str) -> Asked:
    """The earlier question, with the choice or the further words put where a name was open."""
    at, offered = opened
    codes = [str(each.get("sku") or each["id"]) for each in offered]
    items = list(old.items)
    earlier = items[at].name if at < len(items) else old.customer
    known = reply.casefold() in " ".join(codes + [each["name"] for each in offered]).casefold()
    name = codes[pick - 1] if pick else reply if known or not earlier else f"{earlier} {reply}"
    if at == len(items):
        return replace(old, customer=name)
    items[at] = replace(items[at], name=name)
    return replace(old, items=tuple(items), problem=None)


def _settled(items: Iterable[Item], results: Results) -> Iterable[Item]:
    """The items; what is no name as a whole, in parts."""
    for item in items:
        result = results.get(_find("find_products", item.name).key)
        whole = result is None or any(each["match"] != "fuzzy" for each in result.get("candidates", ()))
        parts = [item] if whole else cut(item)
        yield from parts if parts == [item] else _settled(parts, results)


def steps(asked: Asked, results: Results) -> list[Step]:
    """The calls known by now: first what names and numbers mean, then stock and prices of all that was found."""
    items = list(dict.fromkeys(_settled(asked.items, results)))
    documents = [Step("get_order", {"number": each} | ({"kind": kind} if kind else {})) for each, kind in asked.orders]
    first = [*documents, *(_find("find_products", name) for name in dict.fromkeys(item.name for item in items))]
    first += [_find("find_customers", asked.customer)] if asked.customer else []
    if any(step.key not in results for step in first):
        return first
    who: Result | None = {"price_list": asked.price_list} if asked.price_list else {}
    if asked.customer:
        customers = chosen("find_customers", results[first[-1].key])
        who = {"customer": customers[0]["id"]} if customers else None
    found = [(item, chosen("find_products", results[_find("find_products", item.name).key])) for item in items]
    goods = [(len(each) == 1, (one["sku"], item.qty, item.unit)) for item, each in found for one in each]
    # What has a quantity is one list with one total; without one, or one or the other, there is nothing to add up.
    lots: list[tuple[list[Any], Result | None]] = [([good for alone, good in goods if alone and good[1]], None)]
    lots += [([good], None) for alone, good in goods if not (alone and good[1])]
    for order in (each for step in documents if "error" not in (each := results[step.key])):
        lots.append(([(line["sku"], line["ordered"], line["unit"]) for line in order["lines"]], order))
    for lot, about in lots:
        if lot and "stock" in asked.facets:
            wanted = [f"{qty} {unit or ''}".strip() for _, qty, unit in lot if qty]
            more = {"quantities": wanted, "warehouse": asked.warehouse, "unit": None if wanted else asked.unit}
            arguments = {"skus": [sku for sku, _, _ in lot]} | {key: value for key, value in more.items() if value}
            first.append(Step("check_stock", arguments, about))
        if lot and "price" in asked.facets and who is not None and not (about and about["kind"] in _BOUGHT):
            lines = [{"sku": sku, "qty": qty or "1"} | ({"unit": unit} if unit else {}) for sku, qty, unit in lot]
            buyer = who or ({"customer": about["party_id"]} if about else {})
            first.append(Step("get_price", {"lines": lines} | buyer, about))
    return first
