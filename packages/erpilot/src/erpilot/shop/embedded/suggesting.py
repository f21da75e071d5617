"""What to buy: what is sold, what is there and comes, and what suppliers ask, for the formula in ``supplying``.

Invariant: what is ordered already, promised or not, is never suggested again.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from decimal import Decimal

from ..supplying import Needed, Offer, check_days, page_of, suggestion
from ..values import ZERO, Money
from ..verbs.reporting import Suggestions
from . import products
from .acting import Acting
from .schema import quantity
from .stock_reports import Level, levels_of


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
    check_days(cover_days, history_days)
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
    rows = []
    for row, sku, name, unit in connection.execute(
        "SELECT p.id, p.sku, trim(p.name || ' ' || p.specification), u.name FROM product p "
        "JOIN unit u ON u.product_id = p.id AND u.position = 0 WHERE p.active AND p.stocked ORDER BY p.sku"
    ):
        if (wanted is not None and row not in wanted) or (supplier_id is not None and row not in offers):
            continue
        level = together.get(row, Level(row, ""))
        needed = Needed(
            sku,
            name,
            unit,
            available=quantity(level.on_hand - level.reserved),
            incoming=quantity(level.incoming),
            waiting=waiting.get(row, ZERO),
            sold=quantity(level.used),
        )
        rows.append(suggestion(needed, offers.get(row), cover_days, history_days))
    return page_of(
        rows,
        whole=wanted is not None,
        cover_days=cover_days,
        history_days=history_days,
        limit=limit,
        offset=offset,
    )


def _offers(connection: sqlite3.Connection, supplier_id: str | None) -> dict[int, Offer]:
    """The cheapest offer per base unit of each product, or that of one supplier."""
    found: dict[int, Offer] = {}
    only, values = ("WHERE o.supplier = ?", (supplier_id,)) if supplier_id is not None else ("", ())
    for row, supplier, name, unit, factor, price, currency, minimum, pack, lead in connection.execute(
        "SELECT o.product_id, o.supplier, p.name, o.unit, u.factor, o.price, o.currency, o.min_qty, o.pack, "
        "o.lead_days FROM offer o JOIN party p ON p.id = o.supplier "
        f"JOIN unit u ON u.product_id = o.product_id AND u.name = o.unit {only}",
        values,
    ):
        offer = Offer(
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


def _per_base(offer: Offer) -> Decimal:
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
