"""Quotations: priced without saving, shown to the person who decides, and made.

Invariant: what is shown before and what is made afterwards come from the same prices and rules.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from agent_core.events import Change, Notice

from ..shop.backend import ErpBackend, QuotationDraft, Write, Written
from ..shop.concerns import Concern
from ..shop.documents import Order
from ..shop.errors import NotFound
from ..shop.pricing import Quote
from ..shop.rules import check_sold, price_concerns, valid_until
from . import shop_documents as documents
from . import shop_results as r
from .shop_answers import customer_ref, quote_preview
from .shop_arguments import LineAsked
from .shop_concerns import allowed, noticed, tokens
from .shop_resolve import customer_meant, lines_wanted, percent, stamp
from .shop_writing import Plan


@dataclass(frozen=True, slots=True)
class QuotationAsked:
    """The arguments of a quotation, as they were written."""

    customer: str | None
    lines: Sequence[LineAsked]
    discount_percent: str
    valid_days: int
    note: str | None = None


class QuotationCreated(r.Fact):
    """The quotation that now exists. ``repeated``: it had been made by an earlier attempt of the same call."""

    number: str
    state: r.OrderState
    customer: r.CustomerRef
    lines: list[documents.OrderLineFact]
    discount_percent: r.Rate
    subtotal: r.Amount
    tax: r.Amount
    total: r.Amount
    currency: str
    tax_included: bool
    valid_until: date
    repeated: bool
    reserves_stock: bool
    undo: str
    change: str | None = None
    """What ``undo_change`` takes it back with."""
    version: str
    as_of: str


async def preview(backend: ErpBackend, asked: QuotationAsked) -> r.QuotePreview:
    """Prices, shortages, minimums and totals as a quotation would have them."""
    return (await _priced(backend, asked, exact=False))[0]


async def to_be_made(backend: ErpBackend, asked: QuotationAsked) -> tuple[r.QuotePreview, list[Concern]]:
    """The same by the rules of making one, and what a person has to see: discounts past the limit, prices below
    cost."""
    shown, quote = await _priced(backend, asked, exact=True)
    check_sold(quote)
    concerns = price_concerns(quote, (await backend.whoami()).company)
    await allowed(backend, concerns)
    return shown, concerns


async def _priced(backend: ErpBackend, asked: QuotationAsked, *, exact: bool) -> tuple[r.QuotePreview, Quote]:
    now = backend.now()
    discount = percent(asked.discount_percent, "discount_percent")
    last_day = valid_until(now.date(), asked.valid_days)
    meant = await customer_meant(backend, asked.customer, exact=exact)
    if exact and meant is None:
        raise NotFound("A quotation needs a customer.", hint="Use find_customers.")
    wanted = await lines_wanted(backend, asked.lines, exact=exact)
    quote = await backend.get_prices(wanted, customer_id=meant.id if meant else None, discount=discount)
    levels = await backend.get_stock(list(dict.fromkeys(line.sku for line in wanted)))
    return quote_preview(quote, levels, discount, last_day, now.date(), stamp(now)), quote


def line_changes(quote: r.QuotePreview) -> list[Change]:
    """Price list, lines, discount, tax, total: what a person reads before they agree."""
    changes = [Change("price_list", None, quote.price_list)]
    for at, line in enumerate(quote.lines, 1):
        what = " ".join(part for part in (line.sku, line.name, line.specification) if part)
        text = f"{what}: {r.plain(line.qty)} {line.unit} x {line.unit_price} = {line.amount} {quote.currency}"
        changes.append(Change(f"line {at}", None, text))
    if quote.discount_percent:
        changes.append(Change("discount_percent", None, r.plain(quote.discount_percent)))
    tax = "tax_included" if quote.tax_included else "tax_added"
    changes.append(Change(tax, None, f"{quote.tax} {quote.currency}"))
    changes.append(Change("total", None, f"{quote.total} {quote.currency}"))
    return changes


def seen(quote: r.QuotePreview) -> dict[str, str]:
    """What was shown and may have moved until it is made: prices, total, last day."""
    prices = {f"{line.sku} {line.unit}": str(line.unit_price) for line in quote.lines}
    return {**prices, "total": f"{quote.total} {quote.currency}", "valid_until": quote.valid_until.isoformat()}


def measures(quote: r.QuotePreview) -> dict[str, Decimal]:
    """What a standing grant can limit."""
    return {f"total {quote.currency}": quote.total, "discount_percent": quote.discount_percent}


async def plan(backend: ErpBackend, asked: QuotationAsked) -> Plan:
    """What a quotation would say, and how it is made."""
    quote, concerns = await to_be_made(backend, asked)
    assert quote.customer is not None, "an exact preview has a customer"
    changes = [Change("customer", None, f"{quote.customer.name} ({quote.customer.id})"), *line_changes(quote)]
    changes.append(Change("valid_until", None, quote.valid_until.isoformat()))
    note = asked.note.strip() if asked.note and asked.note.strip() else None
    if note:
        changes.append(Change("note", None, note))
    wanted = tuple(await lines_wanted(backend, asked.lines, exact=True))
    draft = QuotationDraft(quote.customer.id, wanted, quote.discount_percent, asked.valid_days, note)

    async def act(write: Write, shown: Mapping[str, str]) -> Written:
        del shown
        return await backend.create_quotation(draft, write=write)

    return Plan(
        "new_quotation",
        tuple(changes),
        act,
        notices=(*noticed(concerns), *warnings(quote)),
        measures=measures(quote),
        seen=seen(quote),
        accepts=tokens(concerns),
        raised=bool(concerns),
    )


def warnings(quote: r.QuotePreview) -> list[Notice]:
    """What the person should know besides: shortages and small quantities."""
    notices = []
    for line in quote.lines:
        product = {"sku": line.sku, "name": line.name}
        if line.shortage:
            missing = {**product, "missing": f"{r.plain(line.shortage)} {line.base_unit}"}
            if line.complete_on:
                notices.append(Notice("short_until", {**missing, "day": str(line.complete_on)}))
            else:
                notices.append(Notice("short", missing))
        if line.below_minimum:
            notices.append(Notice("below_minimum", {**product, "minimum": f"{r.plain(line.min_qty)} {line.unit}"}))
    return notices


async def created(backend: ErpBackend, written: Written) -> QuotationCreated:
    """The quotation that was made, as answered."""
    order, totals = written.order, written.order.totals
    assert order.valid_until is not None, "a quotation has a day it is valid until"
    return QuotationCreated(
        number=order.head.number,
        state=order.head.state,
        customer=await _customer(backend, order),
        lines=[documents.order_line(line) for line in order.lines],
        discount_percent=order.lines[0].discount,
        subtotal=totals.subtotal.amount,
        tax=totals.tax.amount,
        total=totals.total.amount,
        currency=order.head.total.currency,
        tax_included=order.tax_included,
        valid_until=order.valid_until,
        repeated=written.repeated,
        reserves_stock=False,
        undo=f"Nothing is reserved; without an order it lapses after {order.valid_until}.",
        change=written.key if written.undoable else None,
        version=order.head.version,
        as_of=stamp(backend.now()),
    )


async def _customer(backend: ErpBackend, order: Order) -> r.CustomerRef:
    customer = (await backend.find_customers(order.head.party_id)).hits[0].record
    lists = {each.code: each for each in await backend.price_lists()}
    return customer_ref(customer, lists[customer.price_list])
