"""Quotations and orders made: a draft that carries the key, then its buttons.

Invariant: what is written was priced and checked first, by the same rules as everywhere; of drafts that two callers
made with one key the one that was quoted, else the oldest, is kept and the others are taken away; a lost answer is
looked up, and what cannot be found stays unknown.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from ..concerns import Concern, credit
from ..documents import Order
from ..errors import Invalid, NotFound, Refused, ShopError, UnknownOutcome
from ..pricing import HUNDRED, PricedLine, Quote
from ..rules import check_sold, price_concerns, valid_until
from ..verbs.outcome import FieldChange, Verb, Write, Written
from ..verbs.reading import LineWanted
from ..verbs.selling import OrderDraft, QuotationDraft
from . import accounts, keys, orders, prices, products
from .access import explained
from .codec import number
from .desk import Desk
from .keys import Mark, mark
from .order_rows import BY_HAND, SALE
from .pressing import press
from .prices import Known
from .sharing import order_with

MODEL = SALE.name
MOST_PRICE = Decimal(1_000_000_000)
RIGHTS = ((MODEL, "create"), (MODEL, "write"))


async def create_quotation(desk: Desk, draft: QuotationDraft, write: Write) -> Written:
    """Makes a quotation, once per key."""
    await desk.require("sell")
    made = mark("create_quotation", write, draft)
    async with keys.lock(desk.rpc, write.key):
        row = await found(desk, made)
        repeated = row is not None and row["state"] != "draft"
        if row is None:
            last_day = valid_until(desk.today, draft.valid_days)
            quote, known = await priced(desk, draft.lines, draft.customer_id, draft.discount, write)
            values = {"quotation_validity": last_day - desk.today, "comment": draft.note or ""}
            row = await _draft(desk, quote, known, values, made)
        if row["state"] == "draft":
            await _quote(desk, row["id"], write)
        return await answered(desk, "create_quotation", write, row["id"], repeated=repeated)


async def create_order(desk: Desk, draft: OrderDraft, write: Write) -> Written:
    """Makes a confirmed order, once per key."""
    from .confirming import confirm_made

    await desk.require("sell")
    made = mark("create_order", write, draft)
    async with keys.lock(desk.rpc, write.key):
        row = await found(desk, made)
        repeated = row is not None and row["state"] not in ("draft", "quotation")
        if row is None:
            base = await desk.base()
            if draft.promised and draft.promised < desk.today:
                raise Invalid(f"The day {draft.promised} is past.")
            place = base.place(draft.warehouse) if draft.warehouse else base.places[0]
            quote, known = await priced(desk, draft.lines, draft.customer_id, draft.discount, write)
            await desk.settle(await credit_concerns(desk, known, quote), write)
            values = {"shipping_date": draft.promised, "warehouse": place.id, "comment": draft.note or ""}
            row = await _draft(desk, quote, known, values, made)
        if row["state"] == "draft":
            await _quote(desk, row["id"], write)
        if row["state"] in ("draft", "quotation"):
            await confirm_made(desk, row["id"], write)
        return await answered(desk, "create_order", write, row["id"], repeated=repeated)


async def priced(
    desk: Desk, lines: Sequence[LineWanted], customer_id: str, discount: Decimal, write: Write
) -> tuple[Quote, Known]:
    """Prices for a customer that may be sold at: known goods, possible quantities and discounts, within the limits or
    accepted.
    """
    if not lines:
        raise Invalid("A document needs at least one line.")
    for off in (discount, *(line.discount for line in lines if line.discount is not None)):
        if not off.is_finite() or not 0 <= off < HUNDRED or off != round(off, 2):
            raise Invalid(f"A discount of {off} % cannot be.")
    for price in (line.unit_price for line in lines if line.unit_price is not None):
        if not price.is_finite() or not 0 <= price <= MOST_PRICE:
            raise Invalid(f"A price of {price} cannot be meant.")
    known = await prices.known_of(desk, [line.sku for line in lines], customer_id)
    base = await desk.base()
    for line in lines:
        products.product_of(known.rows[line.sku], base).quantity(line.quantity.value, line.quantity.unit)
    quote = await prices.quote(desk, lines, customer_id, None, None, discount, known=known)
    check_sold(quote)
    await desk.settle(price_concerns(quote, base.company), write)
    return quote, known


async def credit_concerns(desk: Desk, known: Known, quote: Quote) -> list[Concern]:
    """The limit, for who may see it; the server's own check holds for the others."""
    account = await accounts.known(desk, known.party)
    return [] if account is None else credit(account, quote.totals.total)


async def found(desk: Desk, made: Mark) -> dict[str, Any] | None:
    """The sale that a key has made, one only. Raises ``Conflict`` when the key stands for something else."""
    fields = ["state", "reference", "_timestamp"]
    domain = [["reference", "like", f"%erpilot:%:{made.key}:%"]]
    rows = await desk.rpc.search_read(MODEL, domain, fields, order=[("id", "ASC")])
    if not rows:
        return None
    for row in rows:
        for each in keys.marks(row["reference"]):
            if each.key == made.key:
                made.check(each)
    rows.sort(key=lambda row: (row["state"] == "draft", row["id"]))
    spare = [row["id"] for row in rows[1:] if row["state"] == "draft"]
    if spare:
        await desk.rpc.act(f"model.{MODEL}.delete", spare)
    return rows[0]


async def _draft(desk: Desk, quote: Quote, known: Known, values: dict[str, Any], made: Mark) -> dict[str, Any]:
    """A new draft that carries the key. Raises ``UnknownOutcome`` when nobody can tell whether it was made."""
    base, party, rows = await desk.base(), known.party, known.rows
    record = await _defaults(desk, party["id"])
    if party.get("customer_tax_rule"):
        raise Refused(
            f"{party['name']} has a tax rule in Tryton, which Erpilot does not apply.", hint="Quote it in Tryton."
        )
    record.setdefault("warehouse", base.places[0].id if base.places else None)
    record |= {name: value for name, value in values.items() if value not in (None, "")}
    record |= {
        "party": party["id"],
        "company": base.company_id,
        "currency": base.currency_id(quote.price_list.currency),
        "reference": made.word,
        "lines": [("create", [_line(rows[each.product.sku], each, at) for at, each in enumerate(quote.lines, 1)])],
    }
    for line, each in zip(record["lines"][0][1], quote.lines, strict=True):
        line["unit"] = base.unit_id(rows[each.product.sku]["default_uom"], each.quantity.unit)
    try:
        (row,) = await desk.rpc.act(f"model.{MODEL}.create", [record])
    except UnknownOutcome:
        kept = await found(desk, made)
        if kept is None:
            raise
        return kept
    except ShopError as error:
        raise await explained(desk.rpc, error, "sell", *RIGHTS) from error
    # Another process may have made one with the same key at the same time.
    kept = await found(desk, made)
    return kept or {"id": row, "state": "draft"}


async def _defaults(desk: Desk, party: int) -> dict[str, Any]:
    """What Tryton itself would fill in for a customer: addresses, terms, price list, methods."""
    names = ["company", "currency", "warehouse", "invoice_method", "shipment_method", "payment_term"]
    names += [name for name in ("price_list",) if await desk.has_field(MODEL, name)]
    given = await desk.rpc.call(f"model.{MODEL}.default_get", names)
    values = {name: value for name, value in given.items() if not name.endswith(".")}
    changed = await desk.rpc.call(f"model.{MODEL}.on_change", {**values, "party": party, "lines": []}, ["party"])
    for change in changed if isinstance(changed, list) else [changed]:
        values |= {name: value for name, value in change.items() if not name.endswith(".") and name != "lines"}
    writable = {*names, "invoice_address", "shipment_address", "invoice_party", "shipment_party"}
    return {name: value for name, value in values.items() if name in writable and value is not None}


def _line(row: dict[str, Any], line: PricedLine, at: int) -> dict[str, Any]:
    """A line as the server keeps it: the discount is in the price."""
    price = line.unit_price * (HUNDRED - line.discount) / HUNDRED
    taxes = [tax["id"] for tax in (row.get("account_category.") or {}).get("customer_taxes.") or []]
    record: dict[str, Any] = {
        "type": "line",
        "sequence": at,
        "product": row["id"],
        "quantity": number(line.quantity.value),
        "unit_price": price.quantize(Decimal("0.0001")),
        "base_price": line.unit_price.quantize(Decimal("0.0001")),
        "taxes": [("add", taxes)] if taxes else [],
    }
    if line.origin == "manual":
        record["note"] = BY_HAND
    return record


async def _quote(desk: Desk, row: int, write: Write) -> None:
    """The button that gives the number. A lost answer is looked up."""
    try:
        await press(desk, MODEL, "quote", row, write)
    except UnknownOutcome:
        (now,) = await desk.rpc.read(MODEL, [row], ["state"])
        if now["state"] == "draft":
            raise


async def order_at(desk: Desk, row: int) -> tuple[dict[str, Any], Order]:
    """A sale by its id, whole, as the server has it and as ours. Raises ``NotFound``."""
    fields = await orders.whole(desk, SALE)
    rows = await desk.rpc.read(MODEL, [row], fields)
    if not rows:
        raise NotFound("The document is not there any more.")
    return rows[0], await order_with(desk, rows[0], SALE)


async def answered(
    desk: Desk, verb: Verb, write: Write, row: int, *, repeated: bool, linked: tuple[str, ...] = ()
) -> Written:
    """What was written, read back."""
    _, order = await order_at(desk, row)
    number_ = order.head.number
    changes: tuple[FieldChange, ...] = ()
    if verb in ("create_quotation", "create_order"):
        changes = (
            FieldChange(number_, "total", None, order.head.total),
            FieldChange(number_, "valid_until", None, order.valid_until),
        )
    return Written(
        verb, write.key, number_, desk.now(), write.by, changes, linked=linked, document=order, repeated=repeated
    )
