"""Documents: one whole, by the number that people write, or a page of many with the totals of all.

Invariant: one request reads a document with everything on it, and one more round what is held for an open order; totals
and counts are over all that match, never over the page; what the person may not read is left out of the request, so
that the rest can still be answered.
"""

from __future__ import annotations

import re
from collections import defaultdict
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

from ..documents import Kind, Order
from ..errors import NotFound, ShopError
from ..numbering import ORDER_OF_KINDS, NumberAsked, read_number
from ..rights import Right
from ..values import Money
from ..verbs.reading import OrderFilter, OrderPage
from . import order_rows, products
from .access import explained
from .desk import Desk
from .order_rows import HEAD, PURCHASE, SALE, Model, fields_of, head_of
from .products import escaped
from .sharing import order_with
from .states import PURCHASE as PURCHASE_STATES
from .states import SALE as SALE_STATES
from .states import kind_domain, states_domain

_SERIAL = re.compile(r"(?<!\d)0*(\d+)$")
SUMMED = 500
"""Records of which the totals are added up in one request."""


async def get(desk: Desk, written: str, kind: Kind | None) -> Order:
    """The document that was meant. Raises ``NotFound`` with near numbers, ``Denied`` for a purchase."""
    row, model, others = await find_row(desk, written, kind)
    return await order_with(desk, row, model, others)


async def find_row(
    desk: Desk, written: str, kind: Kind | None, *, light: bool = False
) -> tuple[dict[str, Any], Model, tuple[str, ...]]:
    """The record of the document that was meant, whole or its header only, and the numbers of others that could be."""
    text = written.strip()
    asked = read_number(text)
    wanted = (asked.kind if asked else None) or kind
    model = PURCHASE if wanted == "purchase" or (asked and asked.kind == "purchase") else SALE
    await _require(desk, model)
    fields = HEAD[model.name] if light else await whole(desk, model)
    either: list[Any] = ["OR", ["number", "ilike", escaped(text)]]
    if text.startswith("#") and text[1:].isdigit():
        either.append([["id", "=", int(text[1:])], ["number", "=", None]])
    if asked:
        either.append(["number", "like", f"%{asked.serial}"])
    rows = await _search(desk, model, [either], fields, limit=20)
    exact = [row for row in rows if (row["number"] or "").casefold() == text.casefold() or text == f"#{row['id']}"]
    if exact:
        return exact[0], model, ()
    fitting = [row for row in rows if asked and _fits(row, model, asked, wanted)]
    if fitting:
        fitting.sort(key=lambda row: (order_rows.date_of(row, model), row["id"]), reverse=True)
        fitting.sort(key=lambda row: ORDER_OF_KINDS.index(order_rows.kind_of_row(row, model)))
        return fitting[0], model, tuple(row["number"] for row in fitting[1:])
    if asked is None:
        raise NotFound(f"{text[:40]!r} is not a document number.", hint="Numbers look like SO-2026-0123 or 123.")
    raise NotFound(f"There is no {wanted or 'document'} {text[:40]!r}.", nearest=await _near(desk, model, asked))


async def whole(desk: Desk, model: Model) -> list[str]:
    """The fields of a document that the person may read."""
    return fields_of(model, await desk.rights(), books=await desk.may("account.move.line"))


async def _search(desk: Desk, model: Model, domain: list[Any], fields: list[str], **how: Any) -> list[dict[str, Any]]:
    right: Right = "see_cost" if model is PURCHASE else "see_reports"
    try:
        return await desk.rpc.search_read(model.name, domain, fields, **how)
    except ShopError as error:
        raise await explained(desk.rpc, error, right, (model.name, "read")) from error


async def _require(desk: Desk, model: Model) -> frozenset[Right]:
    """A purchase shows costs; sales are for who may read them."""
    return await desk.require("see_cost") if model is PURCHASE else await desk.rights()


def _fits(row: dict[str, Any], model: Model, asked: NumberAsked, kind: Kind | None) -> bool:
    found = _SERIAL.search(row["number"] or "")
    if not found or int(found[1]) != asked.serial:
        return False
    if kind is not None and order_rows.kind_of_row(row, model) != kind:
        return False
    return asked.year is None or str(asked.year) in row["number"]


async def _near(desk: Desk, model: Model, asked: NumberAsked) -> list[str]:
    """Numbers next to the one asked for."""
    like = [["number", "like", f"%{max(asked.serial + step, 0)}"] for step in (-2, -1, 1, 2)]
    rows = await _search(desk, model, [["OR", *like]], ["number"], limit=50)
    found = [
        (abs(int(m[1]) - asked.serial), row["number"]) for row in rows if (m := _SERIAL.search(row["number"] or ""))
    ]
    return [number for distance, number in sorted(found) if distance <= 2][:3]


async def page(desk: Desk, which: OrderFilter, limit: int, offset: int) -> OrderPage:
    """The newest that match, and what all of them come to."""
    model = PURCHASE if which.kind == "purchase" else SALE
    await _require(desk, model)
    base = await desk.base()
    if which.kind == "return":
        return OrderPage((), 0, {})
    domain = await _domain(desk, which, model)
    total: dict[str, Decimal] = defaultdict(Decimal)
    count, rows, at = 0, [], 0
    while True:
        # One request where all fit: the page and the sums come out of the same rows.
        part = await _search(
            desk, model, domain, HEAD[model.name], order=[(model.date, "DESC NULLS FIRST"), ("id", "DESC")],
            limit=SUMMED, offset=at,
        )  # fmt: skip
        for row in part:
            total[row["currency."]["code"]] += Decimal(row["total_amount"] or 0)
        rows += part[max(offset - at, 0) : max(offset + limit - at, 0)]
        count += len(part)
        at += SUMMED
        if len(part) < SUMMED:
            break
    return OrderPage(
        tuple(head_of(row, model, base) for row in rows),
        count,
        {currency: Money(amount, currency) for currency, amount in sorted(total.items())},
    )


async def _domain(desk: Desk, which: OrderFilter, model: Model) -> list[Any]:
    base = await desk.base()
    found: list[Any] = []
    if which.kind in ("sale", "quotation"):
        found.append(kind_domain(which.kind))
    if which.party_id:
        found.append(["party.code", "ilike", escaped(which.party_id.strip())])
    if which.states:
        found.append(states_domain(which.states, purchase=model is PURCHASE))
    for day, operator in ((which.date_from, ">="), (which.date_to, "<=")):
        if day:
            found.append(_dated(desk, model, operator, day))
    if which.promised_before:
        found += [[model.promised, "<=", which.promised_before], _open(model)]
    if which.sku:
        row = (await products.rows_of(desk, [which.sku]))[which.sku]
        found.append(["lines.product", "=", row["id"]])
    if which.text and which.text.strip():
        like = f"%{escaped(which.text.strip())}%"
        found.append(["OR", ["number", "ilike", like], ["reference", "ilike", like], ["comment", "ilike", like]])
    if which.warehouse:
        found.append(["warehouse", "=", base.place(which.warehouse).id])
    if which.open_only:
        found.append(_open(model))
    if which.partly_delivered:
        found.append(["shipment_state", "=", "partially shipped"])
        found.append(["state", "=", "processing"])
    if which.source:
        found.append(["reference", "=", which.source])
    return found


def _open(model: Model) -> list[Any]:
    """Something is still owed."""
    words = PURCHASE_STATES if model is PURCHASE else SALE_STATES
    return ["OR", list(words["confirmed"]), list(words["in_progress"])]


def _dated(desk: Desk, model: Model, operator: str, day: date) -> list[Any]:
    """By the day of the order, or of the quotation where there is no order yet, or of the record."""
    if model is PURCHASE:
        return [model.date, operator, day]
    # The ends of the calendar have no day before, or after, in another zone.
    inside = min(max(day, date.min + timedelta(2)), date.max - timedelta(2))
    midnight = datetime.combine(inside, time(), desk.zone)
    moment = midnight if operator == ">=" else midnight + timedelta(1)
    made = [">=" if operator == ">=" else "<", moment.astimezone(UTC).replace(tzinfo=None)]
    return [
        "OR",
        [["sale_date", operator, day]],
        [["sale_date", "=", None], ["quotation_date", operator, day]],
        [["sale_date", "=", None], ["quotation_date", "=", None], ["create_date", *made]],
    ]
