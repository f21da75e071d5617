"""Tools that turn quotations into orders, make orders, and change drafts.

Invariant: what changes is shown before and after, with what a person should know first (validity, prices, shortage,
credit); past the discount limit, below cost or past the credit limit is asked every time.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping

from agent_core.events import Change
from agent_core.tools.tool import Tool

from ..shop.backend import ErpBackend, LineWanted, OrderDraft, Write, Written
from ..shop.concerns import Concern, expiry, price_changes, shortages
from ..shop.documents import Customer, Order
from ..shop.errors import Invalid, Refused
from ..shop.values import Money, Quantity
from . import shop_results as r
from .shop_arguments import Day, Lines, Note, Percent, Query, Text
from .shop_arguments import Written as Number
from .shop_concerns import allowed, credit_concerns, noticed, tokens
from .shop_quotation import QuotationAsked, line_changes, measures, seen, to_be_made, warnings
from .shop_resolve import customer_meant, lines_wanted, not_past, order_named, percent, warehouse_meant
from .shop_writing import Plan, moved, writing


def selling_tools(backend: ErpBackend) -> list[Tool]:
    """Writing tools over one backend."""

    @writing(backend, "documents", "stock", "money", target=lambda number, **_: number.strip())
    async def confirm_quotation(number: Number, ship_by: Day = None, warehouse: Text = None) -> Plan:
        """Turn a quotation (or a draft order) into a confirmed order: reserves stock. `number`: whole, like Q-1008.
        A person confirms first, and sees expired validity, changed prices, shortages, credit."""
        today = backend.now().date()
        not_past(ship_by, today, "ship_by")
        order = await order_named(backend, number)
        if order.head.state not in ("quoted", "draft"):
            raise Refused(f"{order.head.number} is {order.head.state}: only a quotation or a draft is confirmed.")
        place = (await warehouse_meant(backend, warehouse, exact=True)).code if warehouse else None
        concerns = await _confirming(backend, order, place, today)
        await allowed(backend, concerns)
        changes = [
            Change("state", order.head.state, "confirmed", order.head.number),
            Change("customer", None, f"{order.head.party} ({order.head.party_id})"),
        ]
        for line in order.lines:
            before, after = moved(line.reserved, line.open, line.unit)
            changes.append(Change("to_reserve", before, after, f"{line.sku} {line.name}"))
        if ship_by is not None:
            changes.append(Change("promised", _day(order.head.promised), ship_by.isoformat()))
        changes.append(Change("total", None, f"{order.head.total.amount} {order.head.total.currency}"))

        async def act(write: Write, shown: Mapping[str, str]) -> Written:
            del shown
            return await backend.confirm_quotation(order.head.number, promised=ship_by, warehouse=place, write=write)

        return Plan(
            "confirm_quotation",
            tuple(changes),
            act,
            notices=noticed(concerns),
            measures={f"total {order.head.total.currency}": order.head.total.amount},
            version=order.head.version,
            accepts=tokens(concerns),
            raised=any(each.right for each in concerns),
        )

    @writing(
        backend,
        "documents",
        "stock",
        "money",
        target=lambda customer, **_: customer.strip().upper(),
        varies=("lines", "discount_percent", "ship_by", "note", "copied_from"),
    )
    async def create_order(
        customer: Query,
        lines: Lines,
        discount_percent: Percent = "0",
        ship_by: Day = None,
        warehouse: Text = None,
        note: Note = None,
        copied_from: Text = None,
    ) -> Plan:
        """Make a confirmed order at current prices and reserve stock. `customer`: id; `sku`: exact. `copied_from`:
        number of the order that it repeats (differences are shown). A person confirms first."""
        now = backend.now()
        not_past(ship_by, now.date(), "ship_by")
        who = await _customer(backend, customer)
        asked = QuotationAsked(who.id, lines, discount_percent, 1, note)
        quote, concerns = await to_be_made(backend, asked)
        place = (await warehouse_meant(backend, warehouse, exact=True)).code if warehouse else None
        source = await backend.get_order(copied_from) if copied_from else None
        concerns += await credit_concerns(backend, who.id, Money(quote.total, quote.currency))
        await allowed(backend, concerns)
        changes = [Change("customer", None, f"{who.name} ({who.id})"), *line_changes(quote)]
        changes += _differences(source, quote) if source else []
        if ship_by is not None:
            changes.append(Change("promised", None, ship_by.isoformat()))
        wanted = tuple(await lines_wanted(backend, lines, exact=True))
        draft = OrderDraft(
            who.id,
            wanted,
            percent(discount_percent, "discount_percent"),
            ship_by,
            place,
            note.strip() if note and note.strip() else None,
            source.head.number if source else None,
        )

        async def act(write: Write, shown: Mapping[str, str]) -> Written:
            del shown
            return await backend.create_order(draft, write=write)

        return Plan(
            "new_order",
            tuple(changes),
            act,
            notices=(*noticed(concerns), *warnings(quote)),
            measures=measures(quote),
            seen=seen(quote),
            accepts=tokens(concerns),
            raised=any(each.right for each in concerns),
        )

    return [confirm_quotation, create_order]


async def _customer(backend: ErpBackend, text: str) -> Customer:
    who = await customer_meant(backend, text, exact=True)
    if who is None:
        raise Invalid("An order needs a customer.", hint="Use find_customers.")
    return who


def _day(day: dt.date | None) -> str | None:
    return None if day is None else day.isoformat()


async def _confirming(backend: ErpBackend, order: Order, place: str | None, today: dt.date) -> list[Concern]:
    """All concerns about confirming a document."""
    lines = [line for line in order.lines if line.open]
    wanted = [LineWanted(line.sku, Quantity(line.ordered, line.unit)) for line in lines]
    current = await backend.get_prices(wanted, customer_id=order.head.party_id)
    products = await backend.get_products([line.sku for line in lines])
    levels = await backend.get_stock([sku for sku, product in products.items() if product.stocked])
    where = place or next(iter(await backend.warehouses())).code
    return [
        *expiry(order, today),
        *price_changes(lines, current.lines),
        *shortages(lines, levels, where),
        *await credit_concerns(backend, order.head.party_id, order.totals.total),
    ]


def _differences(source: Order, quote: r.QuotePreview) -> list[Change]:
    """What differs from the order that is repeated: quantities, prices, lines that are new or gone."""
    old = {line.sku: line for line in source.lines}
    changes = [Change("copied_from", None, f"{source.head.number} ({source.head.date})")]
    for line in quote.lines:
        before = old.pop(line.sku, None)
        record, now = f"{line.sku} {line.name}", f"{r.plain(line.qty)} {line.unit} x {line.unit_price}"
        was = f"{r.plain(before.ordered)} {before.unit} x {before.unit_price}" if before else None
        if was != now:
            changes.append(Change("difference", was, now, record))
    for gone in old.values():
        was = f"{r.plain(gone.ordered)} {gone.unit} x {gone.unit_price}"
        changes.append(Change("difference", was, None, f"{gone.sku} {gone.name}"))
    return changes
