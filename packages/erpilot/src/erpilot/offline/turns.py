"""From the messages to the question as it is meant, and to the calls that answer it.

Invariant: everything is derived from the messages, anew each time. A call is asked for once a turn; names found and
documents read in earlier turns are used again, stock and prices never. Texts of records never reach the reader.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import Any, NamedTuple

from agent_core.messages import Message

from .reading import Asked, Item, question, read

_TODAY = re.compile(r"^\[today: (\d{4}-\d\d-\d\d)", re.MULTILINE)
Result = dict[str, Any]
Results = dict[str, Result]
BOUGHT, _LASTING = ("purchase", "return"), ("find_products ", "find_customers ", "get_order ")


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
    turns, keys = list[tuple[str, Results]](), dict[str | None, str]()
    for message in messages:
        if message.role == "user" and (text := question(message.content or "")):
            turns.append((text, {}))
        keys |= {call.id: Step(call.name, _object(call.arguments)).key for call in message.tool_calls}
        if message.role == "tool" and turns and message.tool_call_id in keys:
            turns[-1][1][keys[message.tool_call_id]] = _object(message.content or "")
    return turns


def day_of(messages: Sequence[Message]) -> date | None:
    """The shop's day, as it was frozen into the last message of a person that has one."""
    for message in reversed(messages):
        if message.role == "user" and (found := _TODAY.search(message.content or "")):
            return date.fromisoformat(found[1])
    return None


def _object(text: str) -> Result:
    try:  # a notice of the runtime may stand behind a result
        value, _ = json.JSONDecoder().raw_decode(text.strip())
    except ValueError:
        value = None
    return value if isinstance(value, dict) else {"error": {"type": "unreadable"}}


def meant(turns: Sequence[tuple[str, Results]]) -> tuple[Asked, Results]:
    """The last question with what earlier ones say about it, and the results that may be used for it."""
    asked, before, heard, known, usable = Asked(True, problem="unclear"), Asked(True), "", Results(), Results()
    for text, results in turns:
        asked = read(text, before if heard else None)
        if again := _again(asked, text, before, heard, known):
            asked = replace(read(again), chinese=asked.chinese)
        asked = _followed(asked, before)
        usable = {key: each for key, each in known.items() if asked.goes_on or "get_order " not in key} | results
        known |= {key: each for key, each in results.items() if key.startswith(_LASTING) and "error" not in each}
        if (asked.problem or "which").startswith("which"):
            before, heard = asked, again or text
    return asked, usable


def _find(tool: str, name: str | None) -> Step:
    return Step(tool, {"query": name})


def chosen(result: Result) -> Result | None:
    """The record that a look-up decided on. A single character is a name only where it is the whole of one."""
    record: Result | None = next(iter(result.get("candidates", ())), None) if result.get("decided") else None
    single = len(str(result.get("query", "")).strip()) == 1
    return None if record and single and record.get("score", 1) < 1 else record


def _again(asked: Asked, reply: str, before: Asked, heard: str, known: Results) -> str:
    """The question ``heard`` before as if it had said what its answer asked for, when this message replies to that."""
    pick = asked.pick or (int(reply) if reply.isdigit() and len(reply) < 3 else 0)
    if asked.facets or asked.problem or (asked.orders and not pick):
        return ""
    for tool, name in [*(("find_products", item.name) for item in before.items), ("find_customers", before.customer)]:
        result = known.get(_find(tool, name).key, {})
        offered = [] if chosen(result) else result.get("candidates", [])
        codes = [str(each.get("sku") or each["id"]) for each in offered]
        if name == "" and asked.items:
            return f"{heard} {reply}"
        if 0 < pick <= len(codes):
            return heard.replace(str(name), codes[pick - 1], 1)
        if offered and asked.items:
            texts = " ".join(codes + [each["name"] for each in offered]).casefold()
            return heard.replace(str(name), reply if reply.casefold() in texts else f"{name} {reply}", 1)
    return ""


def _followed(asked: Asked, old: Asked) -> Asked:
    """A question completed from the one before."""
    only = asked.items[0].name if len(asked.items) == 1 and not asked.items[0].qty else ""
    if only.isdigit() and len(only) < 8:  # a number alone: how much of the product before, else a document
        if len(old.items) == 1 and not asked.facets:
            asked = replace(asked, items=(Item("", only),))
        else:
            asked = replace(asked, items=(), orders=((only, None),))
    if asked.problem == "place" and "stock" in old.facets and old.items:  # the same goods, in another place
        asked = replace(asked, problem=None, facets=frozenset({"stock"}))
    if asked.problem:
        return asked
    if asked.orders:
        facets = asked.facets or (old.facets if asked.goes_on and old.orders else frozenset())
        return replace(asked, facets=facets | {"lines"}, goes_on=False)
    if asked.more:
        return _increased(asked, old)
    named = any(item.name for item in asked.items)
    hinted = (old.problem or not named) and (asked.items or asked.customer or asked.price_list)
    facets = asked.facets or (old.facets if asked.goes_on or hinted else frozenset())
    if not facets - ({"lines"} if named else set()):
        return replace(asked, facets=frozenset(), problem="unclear", piece=only)
    if not (named and asked.facets) and not (asked.customer or asked.price_list):  # for whom: as before
        asked = replace(asked, customer=old.customer, price_list=old.price_list)
    if named:
        return replace(asked, facets=facets - {"lines"})
    items, problem = old.items, "which_order" if "lines" in facets and not old.orders else None
    if asked.items and len(items) == 1 and items[0].name:
        items = (replace(asked.items[0], name=items[0].name, unit=asked.items[0].unit or items[0].unit),)
    elif asked.items or not (old.orders or (items and items[0].name)):
        items, problem = asked.items or items or (Item(),), problem or "which_product"
    return replace(asked, facets=facets, items=items, orders=old.orders, goes_on=True, problem=problem)


def _increased(asked: Asked, old: Asked) -> Asked:
    """So much more of the one product whose quantity was spoken of, in the same unit."""
    one, more = (old.items, asked.items) if len(old.items) == len(asked.items) == 1 else ((Item(),), (Item("?"),))
    same = (more[0].unit or one[0].unit) == one[0].unit and not more[0].name
    if not (one[0].name and one[0].qty and more[0].qty and same):
        return replace(asked, problem="unclear", piece="")
    total = Decimal(one[0].qty) + Decimal(more[0].qty)
    return replace(old, items=(replace(one[0], qty=f"{total.normalize():f}"),), chinese=asked.chinese, goes_on=True)


def steps(asked: Asked, results: Results) -> list[Step]:
    """The calls known by now: first what names and numbers mean, then stock and prices of all that was found."""
    items = {item: _find("find_products", item.name) for item in asked.items}
    documents = [Step("get_order", {"number": each} | ({"kind": kind} if kind else {})) for each, kind in asked.orders]
    found = [*documents, *{step.key: step for step in items.values()}.values()]
    found += [_find("find_customers", asked.customer)] if asked.customer else []
    if any(step.key not in results for step in found):
        return found
    if asked.apart and any(chosen(results[step.key]) is None for step in items.values()):
        return found
    goods = [(one["sku"], item.qty, item.unit) for item, step in items.items() if (one := chosen(results[step.key]))]
    # What has a quantity is one list with one total; without one there is nothing to add up.
    lots: list[tuple[list[Any], Result | None]] = [([good for good in goods if good[1]], None)]
    lots += [([good], None) for good in goods if not good[1]]
    for order in (each for step in documents if "error" not in (each := results[step.key])):
        lines = order["lines"] if not goods else of_product(order, goods[0][0])
        lots.append(([(line["sku"], line["ordered"], line["unit"]) for line in lines], order))
    if asked.orders and asked.items:  # one product of a document: no other stock, no other price
        lots = lots[-1:] if goods and len(lots) > 1 else []
    customer = chosen(results[found[-1].key]) if asked.customer else None
    if asked.customer and not customer:  # who is not decided has no price
        asked = replace(asked, facets=asked.facets - {"price"})
    buyer = {"customer": customer["id"]} if customer else {"price_list": asked.price_list} if asked.price_list else {}
    return found + [step for lot, order in lots if lot for step in _asked_of(lot, order, asked, buyer)]


def of_product(order: Result, sku: str) -> list[Result]:
    """The lines of a document that are of this product."""
    return [line for line in order["lines"] if line["sku"] == sku]


def _asked_of(lot: list[Any], order: Result | None, asked: Asked, buyer: dict[str, Any]) -> Iterable[Step]:
    """Stock and price of a list of products. What was bought has no price."""
    if "stock" in asked.facets:
        wanted = [f"{qty} {unit or ''}".strip() for _, qty, unit in lot if qty]
        more = {"quantities": wanted} if wanted else {"unit": asked.unit} if asked.unit else {}
        where = {"warehouse": asked.place} if asked.place else {}
        yield Step("check_stock", {"skus": [sku for sku, _, _ in lot]} | more | where, order)
    if "price" in asked.facets and not (order and order["kind"] in BOUGHT):
        lines = [{"sku": sku, "qty": qty or "1"} | ({"unit": unit} if unit else {}) for sku, qty, unit in lot]
        whom = buyer or ({"customer": order["party_id"]} if order else {})
        yield Step("preview_quote" if asked.listed else "get_price", {"lines": lines} | whom, order)
