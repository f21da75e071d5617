"""From the messages to the question as it is meant, and to the calls that answer it.

Invariant: everything is derived from the messages, anew each time. A call is asked for once a turn; names found and documents
read in earlier turns are used again, stock and prices never. Texts of records never reach the reader.
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
_LASTING = ("find_products ", "find_customers ", "get_order ")
_CODES = {"find_products": "sku", "find_customers": "id"}


class Step(NamedTuple):
    """A call. ``order``: the document that it is about."""

    tool: str
    arguments: dict[str, Any]
    order: Result | None = None

    @property
    def key(self) -> str:
        """The same for equal calls."""
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
    asked, before, known = Asked(True, problem="unclear"), None, Results()
    for text, results in turns:
        asked = _follow(read(text, before), before, known)
        fresh = set() if asked.goes_on else {step.key for step in _documents(asked)}
        usable = {key: value for key, value in known.items() if key not in fresh} | results
        known |= {key: value for key, value in results.items() if key.startswith(_LASTING) and "error" not in value}
        if turns and (asked.problem or "which").startswith("which"):
            before = asked
    return asked, usable if turns else {}


def _documents(asked: Asked) -> list[Step]:
    return [Step("get_order", {"number": number} | ({"kind": kind} if kind else {})) for number, kind in asked.orders]


def find(tool: str, name: str | None) -> Step:
    """The look-up of a name."""
    return Step(tool, {"query": name})


def chosen(tool: str, result: Result) -> list[Result]:
    """The records that a look-up means: the one that is decided, or two or three products that fit equally."""
    candidates: list[Result] = result.get("candidates", [])
    fitting = [each for each in candidates if each["match"] != "fuzzy"]
    if result.get("decided"):
        return candidates[:1]
    return fitting if tool == "find_products" and 2 <= len(fitting) <= 3 else []


def _follow(asked: Asked, before: Asked | None, known: Results) -> Asked:
    """A question completed from the one before."""
    if asked.problem:
        return asked
    old = before or Asked(asked.chinese)
    only = asked.items[0].name if len(asked.items) == 1 and not asked.items[0].qty and not asked.customer else ""
    opened = _opened(old, known)
    if only.isdigit() and len(only) < 8:  # a number alone: of an offer, a quantity, else of a document
        if opened and not asked.facets and int(only) <= len(opened[2]):
            asked = replace(asked, items=(), pick=int(only))
        elif len(old.items) == 1 and not asked.facets:
            asked = replace(asked, items=(Item("", only),))
        else:
            asked = replace(asked, items=(), orders=((only, None),))
    named = any(item.name for item in asked.items)
    if asked.orders:
        facets = asked.facets or (old.facets if asked.goes_on and old.orders else frozenset())
        return replace(asked, facets=facets | {"lines"}, goes_on=False)
    if not asked.facets and opened and (asked.pick or only):
        return _answered(asked, old, opened, only)
    if named and not asked.facets and len(old.items) == 1 and not old.items[0].name:  # the answer to: which product?
        return replace(old, chinese=asked.chinese, items=(replace(old.items[0], name=only),), problem=None)
    hints = asked.items or asked.customer or asked.price_list or asked.warehouse
    facets = asked.facets or (old.facets if asked.goes_on or (hints and not named) else frozenset())
    facets -= {"lines"} if named else frozenset()
    if not facets:
        return replace(asked, problem="unclear", piece=asked.piece or only)
    if not named or not asked.facets:  # who, from where: as before, unless it is said
        party = {} if asked.customer or asked.price_list else {"customer": old.customer, "price_list": old.price_list}
        asked = replace(asked, **party, warehouse=asked.warehouse or (None if named else old.warehouse))
    if named:
        return replace(asked, facets=facets)
    items, problem = old.items, None
    if asked.items and len(items) == 1 and items[0].name and not old.orders:
        items = (replace(asked.items[0], name=items[0].name, unit=asked.items[0].unit or items[0].unit),)
    elif asked.items or not (items or old.orders) or (items and not items[0].name):
        items, problem = asked.items or items or (Item(),), "which_product"
    if not old.orders and "lines" in facets:
        problem = "which_order"
    return replace(asked, facets=facets, items=items, orders=old.orders, goes_on=True, problem=problem)


def _opened(asked: Asked, known: Results) -> tuple[str, int, list[Result]] | None:
    """The first name of a question that was not decided: its tool, its position, what was offered."""
    for tool, at, name in [
        *(("find_products", at, item.name) for at, item in enumerate(asked.items)),
        ("find_customers", 0, asked.customer),
    ]:
        result = known.get(find(tool, name).key, {})
        if result.get("candidates") and not chosen(tool, result):
            return tool, at, result["candidates"]
    return None


def _answered(asked: Asked, old: Asked, opened: tuple[str, int, list[Result]], reply: str) -> Asked:
    """The earlier question, with the choice or the further words put where its name was not decided."""
    tool, at, offered = opened
    if asked.pick and asked.pick > len(offered):
        return replace(asked, problem="unclear")
    earlier = old.items[at].name if tool == "find_products" else old.customer
    names = " ".join(f"{each[_CODES[tool]]} {each['name']}" for each in offered).casefold()
    code = str(offered[(asked.pick or 1) - 1][_CODES[tool]])
    name = code if asked.pick else reply if reply.casefold() in names else f"{earlier} {reply}"
    if tool == "find_customers":
        return replace(old, chinese=asked.chinese, customer=name)
    items = tuple(replace(item, name=name) if place == at else item for place, item in enumerate(old.items))
    return replace(old, chinese=asked.chinese, items=items)


def settled(items: Iterable[Item], results: Results) -> list[Item]:
    """The items; what is no name as a whole, in parts."""
    found: list[Item] = []
    for item in items:
        result = results.get(find("find_products", item.name).key)
        whole = result is None or any(each["match"] != "fuzzy" for each in result.get("candidates", ()))
        parts = [item] if whole else cut(item)
        found += parts if parts == [item] else settled(parts, results)
    return list(dict.fromkeys(found))


def steps(asked: Asked, results: Results) -> list[Step]:
    """The calls known by now: first what names and numbers mean, then stock and prices of all that was found."""
    items = settled(asked.items, results)
    first = [*_documents(asked), *(find("find_products", name) for name in dict.fromkeys(each.name for each in items))]
    who: Result | None = {"price_list": asked.price_list} if asked.price_list else {}
    if asked.customer:
        first.append(find("find_customers", asked.customer))
    if any(step.key not in results for step in first):
        return first
    if asked.customer:
        known = chosen("find_customers", results[first[-1].key])
        who = {"customer": known[0]["id"]} if known else None
    lots: list[tuple[list[tuple[str, str | None, str | None]], Result | None]] = [([], None), ([], None)]
    for item in items:
        records = chosen("find_products", results[find("find_products", item.name).key])
        goods = [(record["sku"], item.qty, item.unit) for record in records]
        if len(goods) == 1:
            lots[item.qty is None][0].append(goods[0])
        else:  # one or the other: nothing to add up
            lots += [([each], None) for each in goods]
    for order in (each for step in _documents(asked) if "error" not in (each := results[step.key])):
        lots.append(([(line["sku"], line["ordered"], line["unit"]) for line in order["lines"]], order))
    further: list[Step] = []
    for lot, order in lots:
        counted = bool(lot) and lot[0][1] is not None
        if lot and "stock" in asked.facets:
            wanted = [f"{qty} {unit or ''}".strip() for _, qty, unit in lot] if counted else None
            more = {"quantities": wanted, "warehouse": asked.warehouse, "unit": None if counted else asked.unit}
            arguments = {"skus": [sku for sku, _, _ in lot]} | {key: value for key, value in more.items() if value}
            further.append(Step("check_stock", arguments, order))
        party = {"customer": order["party_id"]} if order and who == {} else who
        if (
            lot
            and "price" in asked.facets
            and party is not None
            and (not order or order["kind"] in ("sale", "quotation"))
        ):
            lines = [{"sku": sku, "qty": qty or "1"} | ({"unit": unit} if unit else {}) for sku, qty, unit in lot]
            further.append(Step("get_price", {"lines": lines} | party, order))
    return first + further
