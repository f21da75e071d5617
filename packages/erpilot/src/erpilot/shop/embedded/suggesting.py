"""What to buy: from what is sold, what is there, what comes, and how suppliers pack.

Invariant: every part of the formula stands in the row; what is ordered already, promised or not, is never suggested
again; a suggestion can be ordered as it is (whole packs, at least the supplier's minimum).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal

from ..errors import Invalid
from ..values import ZERO, Money, totals
from ..verbs.reporting import Suggestion, Suggestions
from . import products
from .acting import Acting
from .schema import quantity
from .stock_reports import Level, levels_of

NO_OFFER_DAYS = 7
"""Lead time that is assumed where no supplier says one."""


@dataclass(frozen=True, slots=True)
class _Offer:
    supplier: str
    name: str
    unit: str
    factor: Decimal
    price: Money
    minimum: Decimal
    pack: Decimal
    lead: int


def suggest(
    connection: sqlite3.Connection,
    acting: Acting,
    *,
    warehouse: str | None,
    supplier_id: str | None,
    skus: Sequence[str],
    cover_days: int,
    history_days: int,
    limit: int,
    offset: int,
) -> Suggestions:
    """See ``Reporting.suggest_purchases``."""
    acting.require("buy", "see_cost")
    if not 1 <= cover_days <= 365 or not 1 <= history_days <= 730:
        raise Invalid("Suggestions need 1 to 365 days to cover and 1 to 730 days of history.")
    places = {place.code for place in products.warehouses(connection, warehouse)}
    wanted = set(products.rows_of(connection, skus).values()) if skus else None
    offers = _offers(connection, supplier_id)
    together: dict[int, Level] = {}
    for level in levels_of(connection, acting.today, places, with_use=True, use_days=history_days, promised=False):
        one = together.setdefault(level.product, Level(level.product, ""))
        one.on_hand += level.on_hand
        one.reserved += level.reserved
        one.incoming += level.incoming
        one.used += level.used
    waiting = _waiting(connection, places)
    rows, no_history = [], 0
    for row, sku, name, unit in connection.execute(
        "SELECT p.id, p.sku, trim(p.name || ' ' || p.specification), u.name FROM product p "
        "JOIN unit u ON u.product_id = p.id AND u.position = 0 WHERE p.active AND p.stocked ORDER BY p.sku"
    ):
        if (wanted is not None and row not in wanted) or (supplier_id is not None and row not in offers):
            continue
        level = together.get(row, Level(row, ""))
        if level.used <= 0:
            no_history += 1
        made = _suggestion(sku, name, unit, level, waiting.get(row, ZERO), offers.get(row), cover_days, history_days)
        if made.wanted > 0 or wanted is not None:
            rows.append(made)
    rows.sort(key=lambda each: (_lasts(each), each.sku))
    return Suggestions(
        cover_days,
        history_days,
        tuple(rows[offset : offset + limit]),
        len(rows),
        totals(row.amount for row in rows if row.amount is not None),
        no_history,
    )


def _suggestion(
    sku: str,
    name: str,
    unit: str,
    level: Level,
    waiting: Decimal,
    offer: _Offer | None,
    cover_days: int,
    history_days: int,
) -> Suggestion:
    sold = quantity(level.used)
    daily = sold / history_days
    lead = offer.lead if offer else NO_OFFER_DAYS
    available, incoming = quantity(level.on_hand - level.reserved), quantity(level.incoming)
    wanted = daily * (lead + cover_days) + waiting - available - incoming
    factor, pack, minimum = (offer.factor, offer.pack, offer.minimum) if offer else (Decimal(1), Decimal(1), ZERO)
    amount_wanted = ZERO
    if wanted > 0:
        packs = (max(wanted / factor, minimum) / pack).to_integral_value(ROUND_CEILING)
        amount_wanted = packs * pack
    return Suggestion(
        sku=sku,
        name=name,
        unit=unit,
        available=available,
        incoming=incoming,
        waiting=waiting,
        sold=sold,
        daily_use=round(daily, 2),
        lead_days=lead,
        wanted=round(wanted, 2),
        supplier_id=offer.supplier if offer else None,
        supplier=offer.name if offer else None,
        purchase_unit=offer.unit if offer else unit,
        quantity=amount_wanted,
        price=offer.price if offer else None,
        amount=Money(offer.price.amount * amount_wanted, offer.price.currency) if offer else None,
        history=level.used > 0,
    )


def _lasts(row: Suggestion) -> Decimal:
    """Days that what is there and comes will do."""
    left = row.available + row.incoming - row.waiting
    return left / row.daily_use if row.daily_use else Decimal(0 if left < 0 else 10_000)


def _offers(connection: sqlite3.Connection, supplier_id: str | None) -> dict[int, _Offer]:
    """The cheapest offer per base unit of each product, or that of one supplier."""
    found: dict[int, _Offer] = {}
    only, values = ("WHERE o.supplier = ?", (supplier_id,)) if supplier_id is not None else ("", ())
    for row, supplier, name, unit, factor, price, currency, minimum, pack, lead in connection.execute(
        "SELECT o.product_id, o.supplier, p.name, o.unit, u.factor, o.price, o.currency, o.min_qty, o.pack, "
        "o.lead_days FROM offer o JOIN party p ON p.id = o.supplier "
        f"JOIN unit u ON u.product_id = o.product_id AND u.name = o.unit {only}",
        values,
    ):
        offer = _Offer(
            supplier,
            name,
            unit,
            Decimal(factor),
            Money(Decimal(price), currency),
            quantity(minimum),
            max(quantity(pack), Decimal(1)),
            lead,
        )
        best = found.get(row)
        if best is None or (_per_base(offer), offer.supplier) < (_per_base(best), best.supplier):
            found[row] = offer
    return found


def _per_base(offer: _Offer) -> Decimal:
    return offer.price.amount / offer.factor


def _waiting(connection: sqlite3.Connection, places: set[str]) -> dict[int, Decimal]:
    """Owed on confirmed sales without stock held for it, in base units."""
    found: dict[int, Decimal] = {}
    for row, place, is_open, factor, held in connection.execute(
        "SELECT l.product_id, d.warehouse, l.ordered - l.delivered - l.cancelled, l.factor, coalesce(r.qty, 0) "
        "FROM document d JOIN line l ON l.document_id = d.id "
        "LEFT JOIN reservation r ON r.document_id = l.document_id AND r.line = l.line "
        "WHERE d.kind = 'sale' AND d.state IN ('confirmed', 'in_progress') AND l.ordered > l.delivered + l.cancelled"
    ):
        missing = quantity(is_open) * Decimal(factor) - quantity(held)
        if place in places and missing > 0:
            found[row] = found.get(row, ZERO) + missing
    return found
