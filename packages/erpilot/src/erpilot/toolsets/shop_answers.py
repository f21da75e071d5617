"""From records of the shop to what its tools answer.

Invariant: pure; every figure of an answer is a figure of a record or the sum, difference or conversion that the
field's name says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal

from ..shop import catalogue
from ..shop.backend import Found
from ..shop.catalogue import Product, StockLevel, available_on, complete_on
from ..shop.documents import Customer
from ..shop.pricing import PricedLine, PriceList, Quote
from ..shop.values import ZERO, Quantity
from . import shop_results as r


def units_of(product: Product) -> list[r.UnitFact]:
    """The units, base unit first."""
    return [r.UnitFact(unit=unit.name, factor=unit.factor) for unit in product.units]


def product_matches(
    query: str, found: Found[Product], levels: Mapping[str, Sequence[StockLevel]], next_offset: int | None, as_of: str
) -> r.ProductMatches:
    """Candidates with what is available of each."""
    candidates = [
        r.ProductCandidate(
            sku=hit.record.sku,
            name=hit.record.name,
            specification=hit.record.specification or None,
            category=hit.record.category,
            base_unit=hit.record.base.name,
            units=units_of(hit.record),
            active=hit.record.active,
            available=sum((level.available for level in levels[hit.record.sku]), ZERO),
            match=hit.match,
            score=round(hit.score, 2),
            scanned_unit=hit.unit,
        )
        for hit in found.hits
    ]
    return r.ProductMatches(
        query=query,
        decided=found.decided,
        candidates=candidates,
        total_count=found.total_count,
        next=next_offset,
        as_of=as_of,
    )


def stock_of(
    product: Product,
    levels: tuple[StockLevel, ...],
    *,
    wanted: Quantity | None,
    unit: str | None,
    by_date: date | None,
    today: date,
) -> r.StockOfProduct:
    """One product: totals over the levels, and each level."""
    available = sum((level.available for level in levels), ZERO)
    need = product.to_base(wanted).value if wanted else None
    forecast = available_on(levels, by_date, today) if by_date else None
    unconfirmed = sum((level.incoming_unconfirmed for level in levels), ZERO)
    return r.StockOfProduct(
        sku=product.sku,
        name=product.name,
        specification=product.specification or None,
        base_unit=product.base.name,
        on_hand=sum((level.on_hand for level in levels), ZERO),
        reserved=sum((level.reserved for level in levels), ZERO),
        available=available,
        incoming=sum((level.incoming for level in levels), ZERO),
        incoming_unconfirmed=unconfirmed or None,
        forecast=forecast,
        in_unit=_in_unit(product, available, unit or (wanted.unit if wanted else None)),
        wanted=need,
        shortage=max(need - available, ZERO) if need is not None else None,
        enough=need <= available if need is not None else None,
        complete_on=complete_on(levels, need, today) if need is not None else None,
        enough_by_date=need <= forecast if need is not None and forecast is not None else None,
        units=units_of(product),
        warehouses=[_level(level, by_date, today) for level in levels],
    )


def _in_unit(product: Product, available: Decimal, unit: str | None) -> r.InUnit | None:
    if unit is None or product.unit(unit) is product.base:
        return None
    whole, rest = product.split(available, unit)
    return r.InUnit(unit=whole.unit, factor=product.unit(unit).factor, available=whole.value, rest=rest.value)


def _level(level: StockLevel, by_date: date | None, today: date) -> r.StockAt:
    return r.StockAt(
        warehouse=level.warehouse.code,
        warehouse_name=level.warehouse.name,
        on_hand=level.on_hand,
        reserved=level.reserved,
        available=level.available,
        incoming=level.incoming,
        incoming_unconfirmed=level.incoming_unconfirmed or None,
        arrivals=[_arrival(each, today) for each in level.arrivals],
        forecast=available_on((level,), by_date, today) if by_date else None,
    )


def _arrival(arrival: catalogue.Arrival, today: date) -> r.Arrival:
    late = (today - arrival.date).days
    return r.Arrival(
        qty=arrival.quantity,
        date=arrival.date,
        document=arrival.document,
        confirmed=arrival.confirmed,
        days_late=late if late > 0 else None,
    )


def customer_ref(customer: Customer, price_list: PriceList) -> r.CustomerRef:
    """Who, and which list applies."""
    return r.CustomerRef(id=customer.id, name=customer.name, price_list=price_list.name, currency=price_list.currency)


def priced_line(line: PricedLine) -> r.PricedLine:
    """A price as answered."""
    return r.PricedLine(
        sku=line.product.sku,
        name=line.product.name,
        specification=line.product.specification or None,
        qty=line.quantity.value,
        unit=line.quantity.unit,
        base_qty=line.base.value,
        base_unit=line.base.unit,
        unit_price=line.unit_price,
        list_price=line.list_price,
        rule=line.rule,
        tier_from=line.tier_from,
        next_tier=r.Tier(
            from_qty=line.next_tier.from_qty, unit=line.next_tier.unit, unit_price=line.next_tier.unit_price
        )
        if line.next_tier
        else None,
        min_qty=line.min_qty,
        below_minimum=line.below_minimum,
        discount_percent=line.discount or None,
        amount=line.amount.amount,
        tax_rate=line.tax_rate,
        tax=line.tax.amount,
    )


def price_report(quote: Quote, as_of: str) -> r.PriceReport:
    """All lines and their totals."""
    return r.PriceReport(
        customer=customer_ref(quote.customer, quote.price_list) if quote.customer else None,
        price_list=quote.price_list.name,
        currency=quote.price_list.currency,
        tax_included=quote.price_list.tax_included,
        lines=[priced_line(line) for line in quote.lines],
        subtotal=quote.totals.subtotal.amount,
        tax=quote.totals.tax.amount,
        total=quote.totals.total.amount,
        valid_until=quote.valid_until,
        as_of=as_of,
    )


def quote_preview(
    quote: Quote,
    levels: Mapping[str, tuple[StockLevel, ...]],
    discount: Decimal,
    valid_until: date,
    today: date,
    as_of: str,
) -> r.QuotePreview:
    """Prices with what is in stock. Lines of one product share its stock, first come first served."""
    left = {sku: sum((level.available for level in each), ZERO) for sku, each in levels.items()}
    used = dict.fromkeys(left, ZERO)
    lines = []
    for line in quote.lines:
        sku = line.product.sku
        used[sku] += line.base.value
        shortage = min(max(line.base.value - left[sku], ZERO), line.base.value)
        priced = priced_line(line)
        lines.append(
            r.QuoteLine(
                **{name: getattr(priced, name) for name in r.PricedLine.model_fields},
                available=left[sku],
                shortage=shortage,
                complete_on=complete_on(levels[sku], used[sku], today),
            )
        )
        left[sku] = max(left[sku] - line.base.value, ZERO)
    report = price_report(quote, as_of)
    return r.QuotePreview(
        customer=report.customer,
        price_list=report.price_list,
        currency=report.currency,
        tax_included=report.tax_included,
        lines=lines,
        subtotal=report.subtotal,
        tax=report.tax,
        total=report.total,
        valid_until=valid_until,
        as_of=as_of,
        discount_percent=discount,
        shortages=list(dict.fromkeys(line.sku for line in lines if line.shortage)),
        below_minimum=list(dict.fromkeys(line.sku for line in lines if line.below_minimum)),
    )


def customer_matches(
    query: str,
    found: Found[Customer],
    lists: Sequence[PriceList],
    next_offset: int | None,
    as_of: str,
) -> r.CustomerMatches:
    """Candidates, each with its price list by name."""
    names = {each.code: each.name for each in lists}
    candidates = [
        r.CustomerCandidate(
            id=hit.record.id,
            name=hit.record.name,
            short_names=list(hit.record.short_names),
            price_list=names.get(hit.record.price_list, hit.record.price_list),
            currency=hit.record.currency,
            city=hit.record.city,
            match=hit.match,
            score=round(hit.score, 2),
        )
        for hit in found.hits
    ]
    return r.CustomerMatches(
        query=query,
        decided=found.decided,
        candidates=candidates,
        total_count=found.total_count,
        next=next_offset,
        as_of=as_of,
    )
