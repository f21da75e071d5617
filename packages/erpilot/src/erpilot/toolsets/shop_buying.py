"""Tools that read purchasing: what is on the way, and what to buy.

Invariant: to come = ordered - received - cancelled; a suggestion shows the parts of its formula, and goods that are on
order are not suggested again; costs are told only to those who may see them.
"""

from __future__ import annotations

import datetime as dt

from agent_core.tools.tool import Tool

from ..shop.backend import ErpBackend
from ..shop.verbs.buying import Purchase, PurchaseFilter
from ..shop.verbs.reporting import Suggestion
from . import shop_results as r
from .shop_arguments import Day, Days, Flag, Limit, Offset, States, Text
from .shop_kit import next_offset, reading
from .shop_resolve import answering, one_product, stamp, supplier_meant, warehouse_meant


class ArrivalLine(r.Fact):
    """A line of a purchase, in the unit it was ordered in: ``to_come`` = ordered - received - cancelled."""

    sku: str
    name: str
    unit: str
    ordered: r.Qty
    received: r.Qty
    cancelled: r.Qty
    to_come: r.Qty


class PurchaseRow(r.Fact):
    """A purchase. ``expected``: the day it is due; ``confirmed``: the supplier promised it; ``total`` where costs may
    be seen, tax included as the document has it."""

    number: str
    supplier_id: str
    supplier: str
    date: dt.date
    expected: dt.date | None = None
    days_late: int | None = None
    confirmed: bool
    state: r.OrderState
    warehouse: str
    lines: list[ArrivalLine]
    total: r.Amount | None = None
    currency: str | None = None


class PurchasePage(r.Fact):
    """The earliest expected first. ``total_count`` and ``total`` (by currency) cover all that match."""

    purchases: list[PurchaseRow]
    total_count: int
    total: dict[str, r.Amount]
    next: int | None = None
    as_of: str


class SuggestionRow(r.Fact):
    """What to buy: ``wanted`` = ``daily_use`` x (``lead_days`` + cover days) + ``waiting`` - ``available`` -
    ``incoming``, in ``unit``; ``quantity`` is that rounded up to packs and minimum, in ``purchase_unit``."""

    sku: str
    name: str
    unit: str
    available: r.Qty
    incoming: r.Qty
    waiting: r.Qty
    sold: r.Qty
    daily_use: r.Qty
    lead_days: int
    wanted: r.Qty
    quantity: r.Qty
    purchase_unit: str
    supplier_id: str | None = None
    supplier: str | None = None
    price: r.Amount | None = None
    amount: r.Amount | None = None
    currency: str | None = None
    no_history: bool | None = None


class SuggestionPage(r.Fact):
    """The most urgent first. ``total``: what all of it costs, by currency. ``products_without_sales``: not suggested,
    since nothing was sold in ``history_days``."""

    suggestions: list[SuggestionRow]
    cover_days: int
    history_days: int
    products_without_sales: int
    total_count: int
    total: dict[str, r.Amount]
    next: int | None = None
    as_of: str


def buying_tools(backend: ErpBackend) -> list[Tool]:
    """Reading tools over one backend."""

    @reading("documents", "suppliers", "products")
    async def find_purchases(
        supplier: Text = None,
        sku: Text = None,
        state: States = None,
        on_the_way: Flag = True,
        expected_by: Day = None,
        limit: Limit = 10,
        offset: Offset = 0,
    ) -> PurchasePage:
        """Purchases, the earliest expected first: ordered, received, still to come, days late, confirmed or not.
        `on_the_way`: only what is still to come (default)."""
        with answering():
            which = PurchaseFilter(
                supplier_id=(await supplier_meant(backend, supplier)).id if supplier and supplier.strip() else None,
                states=tuple(each for each in state or () if each not in ("open", "partly_delivered")),  # type: ignore[misc]
                sku=(await one_product(backend, sku)).sku if sku and sku.strip() else None,
                open_only=on_the_way is not False,
                expected_by=expected_by,
            )
            page = await backend.list_purchases(which, limit=limit, offset=offset)
            return PurchasePage(
                purchases=[_purchase(each) for each in page.purchases],
                total_count=page.total_count,
                total={currency: money.amount for currency, money in page.total.items()},
                next=next_offset(offset, len(page.purchases), page.total_count),
                as_of=stamp(backend.now()),
            )

    @reading("documents", "suppliers", "products", "stock")
    async def suggest_purchases(
        warehouse: Text = None,
        supplier: Text = None,
        sku: Text = None,
        cover_days: Days = 30,
        history_days: Days = 30,
        limit: Limit = 20,
        offset: Offset = 0,
    ) -> SuggestionPage:
        """What to reorder, by what was sold in `history_days`, to last `cover_days`: with the parts of the formula."""
        with answering():
            found = await backend.suggest_purchases(
                warehouse=(await warehouse_meant(backend, warehouse)).code if warehouse else None,
                supplier_id=(await supplier_meant(backend, supplier)).id if supplier else None,
                skus=[(await one_product(backend, sku)).sku] if sku else (),
                cover_days=cover_days,
                history_days=history_days,
                limit=limit,
                offset=offset,
            )
            return SuggestionPage(
                suggestions=[_suggestion(each) for each in found.rows],
                cover_days=found.cover_days,
                history_days=found.history_days,
                products_without_sales=found.no_history,
                total_count=found.total_count,
                total={currency: money.amount for currency, money in found.total.items()},
                next=next_offset(offset, len(found.rows), found.total_count),
                as_of=stamp(backend.now()),
            )

    return [find_purchases, suggest_purchases]


def _purchase(purchase: Purchase) -> PurchaseRow:
    lines = [
        ArrivalLine(
            sku=line.sku,
            name=line.name,
            unit=line.unit,
            ordered=line.ordered,
            received=line.received,
            cancelled=line.cancelled,
            to_come=line.to_come,
        )
        for line in purchase.lines
    ]
    total = purchase.total
    return PurchaseRow(
        number=purchase.number,
        supplier_id=purchase.supplier_id,
        supplier=purchase.supplier,
        date=purchase.date,
        expected=purchase.expected,
        days_late=purchase.days_late or None,
        confirmed=purchase.confirmed,
        state=purchase.state,
        warehouse=purchase.warehouse,
        lines=lines,
        total=total.amount if total else None,
        currency=total.currency if total else None,
    )


def _suggestion(row: Suggestion) -> SuggestionRow:
    return SuggestionRow(
        sku=row.sku,
        name=row.name,
        unit=row.unit,
        available=row.available,
        incoming=row.incoming,
        waiting=row.waiting,
        sold=row.sold,
        daily_use=row.daily_use,
        lead_days=row.lead_days,
        wanted=row.wanted,
        quantity=row.quantity,
        purchase_unit=row.purchase_unit,
        supplier_id=row.supplier_id,
        supplier=row.supplier,
        price=row.price.amount if row.price else None,
        amount=row.amount.amount if row.amount else None,
        currency=row.price.currency if row.price else None,
        no_history=None if row.history else True,
    )
