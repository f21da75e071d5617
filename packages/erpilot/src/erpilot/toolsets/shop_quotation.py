"""Quotations: priced without saving, shown to the person who decides, and made.

Invariant: what is shown before and what is made afterwards come from the same prices and rules; nothing is saved but by
``make``, once per key.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from agent_core.events import Change, Notice, Preview
from agent_core.tools.tool import Reconciled

from ..shop.backend import ErpBackend, QuotationDraft, Write, Written
from ..shop.documents import Order
from ..shop.errors import NotFound
from ..shop.rules import check_quotable, valid_until
from . import shop_documents as documents
from . import shop_results as r
from .shop_answers import customer_ref, quote_preview
from .shop_arguments import LineAsked
from .shop_resolve import customer_meant, lines_wanted, percent, stamp


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
    version: str
    as_of: str


async def preview(backend: ErpBackend, asked: QuotationAsked, *, exact: bool = False) -> r.QuotePreview:
    """Prices, shortages, minimums and totals as a quotation would have them. ``exact``: by the rules of making one."""
    now = backend.now()
    discount = percent(asked.discount_percent, "discount_percent")
    last_day = valid_until(now.date(), asked.valid_days)
    meant = await customer_meant(backend, asked.customer, exact=exact)
    wanted = await lines_wanted(backend, asked.lines, exact=exact)
    quote = await backend.get_prices(wanted, customer_id=meant.id if meant else None, discount=discount)
    levels = await backend.get_stock(list(dict.fromkeys(line.sku for line in wanted)))
    if exact:
        if meant is None:
            raise _nobody()
        check_quotable(quote, discount, (await backend.whoami()).company)
    return quote_preview(quote, levels, discount, last_day, now.date(), stamp(now))


def _nobody() -> NotFound:
    return NotFound("A quotation needs a customer.", hint="Use find_customers.")


async def shown_before(backend: ErpBackend, asked: QuotationAsked) -> Preview:
    """What the person who decides reads: customer, lines, prices, discount, total, validity; in codes, for which
    ``words`` has the language. A standing grant can limit the total and the discount.
    """
    quote = await preview(backend, asked, exact=True)
    assert quote.customer is not None, "an exact preview has a customer"
    changes = [
        Change("customer", None, f"{quote.customer.name} ({quote.customer.id})"),
        Change("price_list", None, quote.price_list),
    ]
    for at, line in enumerate(quote.lines, 1):
        what = " ".join(part for part in (line.sku, line.name, line.specification) if part)
        text = f"{what}: {r.plain(line.qty)} {line.unit} x {line.unit_price} = {line.amount} {quote.currency}"
        changes.append(Change(f"line {at}", None, text))
    if quote.discount_percent:
        changes.append(Change("discount_percent", None, r.plain(quote.discount_percent)))
    tax = "tax_included" if quote.tax_included else "tax_added"
    changes.append(Change(tax, None, f"{quote.tax} {quote.currency}"))
    changes.append(Change("total", None, f"{quote.total} {quote.currency}"))
    changes.append(Change("valid_until", None, quote.valid_until.isoformat()))
    if asked.note and asked.note.strip():
        changes.append(Change("note", None, asked.note.strip()))
    measures = {f"total {quote.currency}": quote.total, "discount_percent": quote.discount_percent}
    return Preview("new_quotation", tuple(changes), notices=tuple(_warnings(quote)), measures=measures)


def _warnings(quote: r.QuotePreview) -> list[Notice]:
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


async def versions(backend: ErpBackend, asked: QuotationAsked) -> dict[str, str]:
    """What was shown and may have moved until it is made: prices, total, last day."""
    quote = await preview(backend, asked, exact=True)
    seen = {f"{line.sku} {line.unit}": str(line.unit_price) for line in quote.lines}
    return {**seen, "total": f"{quote.total} {quote.currency}", "valid_until": quote.valid_until.isoformat()}


async def make(backend: ErpBackend, asked: QuotationAsked, *, key: str, by: str | None) -> QuotationCreated:
    """Makes the quotation, once per ``key``."""
    meant = await customer_meant(backend, asked.customer, exact=True)
    if meant is None:
        raise _nobody()
    wanted = await lines_wanted(backend, asked.lines, exact=True)
    discount = percent(asked.discount_percent, "discount_percent")
    note = asked.note.strip() if asked.note and asked.note.strip() else None
    draft = QuotationDraft(meant.id, tuple(wanted), discount, asked.valid_days, note)
    return await _created(backend, await backend.create_quotation(draft, write=Write(key, by)))


async def reconciled(backend: ErpBackend, key: str) -> Reconciled:
    """What became of a call with this key."""
    written = await backend.find_by_key(key)
    if written is None:
        return Reconciled("did_not_happen")
    return Reconciled("happened", await _created(backend, written))


async def _created(backend: ErpBackend, written: Written) -> QuotationCreated:
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
        version=order.head.version,
        as_of=stamp(backend.now()),
    )


async def _customer(backend: ErpBackend, order: Order) -> r.CustomerRef:
    customer = (await backend.find_customers(order.head.party_id)).hits[0].record
    lists = {each.code: each for each in await backend.price_lists()}
    return customer_ref(customer, lists[customer.price_list])
