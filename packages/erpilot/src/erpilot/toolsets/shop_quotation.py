"""Quotations: priced without saving, shown to the person who decides, and made.

Invariant: what is shown before and what is made afterwards come from the same prices; nothing is saved but by
``make``, once per key.
"""

from __future__ import annotations

from collections.abc import Sequence

from agent_core.events import Change, Preview

from ..shop.backend import ErpBackend, QuotationDraft, Written
from ..shop.errors import NotFound
from ..shop.rules import check_quotable, valid_until
from . import shop_results as r
from .shop_answers import customer_ref, order_line, quote_preview
from .shop_arguments import LineAsked
from .shop_resolve import customer_meant, lines_wanted, percent, stamp


async def preview(
    backend: ErpBackend,
    lines: Sequence[LineAsked],
    customer: str | None,
    discount_percent: str,
    valid_days: int,
    *,
    exact: bool = False,
) -> r.QuotePreview:
    """Prices, shortages, minimums and totals as a quotation would have them. ``exact``: by the rules of making one."""
    now = backend.now()
    discount = percent(discount_percent, "discount_percent")
    last_day = valid_until(now.date(), valid_days)
    meant = await customer_meant(backend, customer, exact=exact)
    wanted = await lines_wanted(backend, lines, exact=exact)
    quote = await backend.get_prices(wanted, customer_id=meant.id if meant else None, discount=discount)
    levels = await backend.get_stock(list(dict.fromkeys(line.sku for line in wanted)))
    if exact:
        if meant is None:
            raise NotFound("A quotation needs a customer.", hint="Use find_customers.")
        check_quotable(quote, discount, (await backend.whoami()).company)
    return quote_preview(quote, levels, discount, last_day, now.date(), stamp(now))


async def shown_before(
    backend: ErpBackend,
    customer: str,
    lines: Sequence[LineAsked],
    discount_percent: str,
    valid_days: int,
    note: str | None,
) -> Preview:
    """What the person who decides reads: customer, lines, prices, discount, total, validity."""
    quote = await preview(backend, lines, customer, discount_percent, valid_days, exact=True)
    assert quote.customer is not None, "an exact preview has a customer"
    changes = [Change("customer", None, f"{quote.customer.name} ({quote.customer.id}, {quote.price_list})")]
    for at, line in enumerate(quote.lines, 1):
        what = " ".join(part for part in (line.sku, line.name, line.specification) if part)
        text = f"{what}: {r.plain(line.qty)} {line.unit} x {line.unit_price} = {line.amount} {quote.currency}"
        changes.append(Change(f"line {at}", None, text))
    if quote.discount_percent:
        changes.append(Change("discount_percent", None, r.plain(quote.discount_percent)))
    tax = "included" if quote.tax_included else "added"
    changes.append(Change("tax", None, f"{quote.tax} {quote.currency} ({tax})"))
    changes.append(Change("total", None, f"{quote.total} {quote.currency}"))
    changes.append(Change("valid_until", None, quote.valid_until.isoformat()))
    if note:
        changes.append(Change("note", None, note))
    notes = [
        f"Short of {line.sku} {line.name}: {r.plain(line.shortage)} {line.base_unit} missing"
        + (f", complete on {line.complete_on}." if line.complete_on else ", no date known.")
        for line in quote.lines
        if line.shortage
    ]
    notes += [
        f"{line.sku} {line.name}: less than the minimum of {r.plain(line.min_qty)} {line.unit}."
        for line in quote.lines
        if line.below_minimum
    ]
    return Preview(f"New quotation for {quote.customer.name}", tuple(changes), tuple(notes))


async def make(
    backend: ErpBackend,
    customer: str,
    lines: Sequence[LineAsked],
    discount_percent: str,
    valid_days: int,
    note: str | None,
    *,
    key: str,
    by: str | None,
) -> r.QuotationCreated:
    """Makes the quotation, once per ``key``."""
    now = backend.now()
    meant = await customer_meant(backend, customer, exact=True)
    if meant is None:
        raise NotFound("A quotation needs a customer.", hint="Use find_customers.")
    wanted = await lines_wanted(backend, lines, exact=True)
    discount = percent(discount_percent, "discount_percent")
    draft = QuotationDraft(
        meant.id, tuple(wanted), discount, valid_days, note.strip() if note and note.strip() else None
    )
    written = await backend.create_quotation(draft, key=key, by=by)
    lists = {each.code: each for each in await backend.price_lists()}
    return _created(written, customer_ref(meant, lists[meant.price_list]), stamp(now))


def _created(written: Written, customer: r.CustomerRef, as_of: str) -> r.QuotationCreated:
    order, totals = written.order, written.order.totals
    assert order.valid_until is not None, "a quotation has a day it is valid until"
    return r.QuotationCreated(
        number=order.head.number,
        state=order.head.state,
        customer=customer,
        lines=[order_line(line) for line in order.lines],
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
        as_of=as_of,
    )
