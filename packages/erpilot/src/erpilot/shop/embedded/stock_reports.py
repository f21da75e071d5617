"""Stock as lists to act on: what runs out, what does not move, what it is worth, what cannot be.

Invariant: stock is the sum of the ledger's moves; a value is what the stock would cost at today's cost, in the shop's
currency, and is shown to nobody who may not see costs. What is negative is never set off against what is there.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal

from ..errors import Invalid
from ..values import ZERO, Money, zero
from ..verbs.reporting import StockKind, StockReport, StockRow
from . import products
from .acting import Acting
from .schema import SCALE, quantity

_DAYS: dict[StockKind, int] = {"low": 14, "slow": 90, "value": 0, "negative": 0}
USE_DAYS = 30
"""Days whose sales give the daily use."""


@dataclass
class Level:
    """A product in a warehouse, in thousandths of its base unit. Dates as ISO text."""

    product: int
    place: str
    on_hand: int = 0
    reserved: int = 0
    incoming: int = 0
    used: int = 0
    last_sale: str | None = None
    last_arrival: str | None = None


def stock_report(
    connection: sqlite3.Connection,
    acting: Acting,
    kind: StockKind,
    warehouse: str | None,
    days: int | None,
    limit: int,
    offset: int,
) -> StockReport:
    """See ``Reporting.stock_report``."""
    acting.require("see_reports", "stock", "see_cost")
    sees_cost = "see_cost" in acting.rights
    if kind == "value":
        acting.require("see_cost")
    days = _DAYS[kind] if days is None else days
    if not 0 <= days <= 3650:
        raise Invalid(f"A stock report over {days} days cannot be meant.", hint="1 to 3650 days.")
    places = {place.code: place.name for place in products.warehouses(connection, warehouse)}
    levels = levels_of(connection, acting.today, set(places), with_use=kind in ("low", "slow"))
    facts = {
        row: (sku, name, unit, cost if currency == acting.company.currency else None, active)
        for row, sku, name, unit, cost, currency, active in connection.execute(
            "SELECT p.id, p.sku, trim(p.name || ' ' || p.specification), u.name, p.cost, p.currency, p.active "
            "FROM product p JOIN unit u ON u.product_id = p.id AND u.position = 0 WHERE p.stocked"
        )
    }
    held = [level for level in levels if level.product in facts]
    rows: list[StockRow] = []
    for level in held:
        sku, name, unit, cost, active = facts[level.product]
        if not _belongs(kind, level, days, acting.today, active=bool(active)):
            continue
        row = StockRow(
            sku=sku,
            name=name,
            warehouse=places[level.place],
            unit=unit,
            on_hand=quantity(level.on_hand),
            reserved=quantity(level.reserved),
            incoming=quantity(level.incoming),
            value=_value(level, cost, acting) if sees_cost else None,
            last_sale=date.fromisoformat(level.last_sale) if level.last_sale else None,
            last_arrival=date.fromisoformat(level.last_arrival[:10]) if level.last_arrival else None,
            daily_use=round(quantity(level.used) / USE_DAYS, 2) if kind == "low" else None,
            enough_for=_enough_for(level) if kind == "low" else None,
        )
        rows.append(row)
    rows.sort(key=lambda row: (*_rank(kind, row), row.sku, row.warehouse))
    by_place, negative = _values(kind, held, {row: fact[3] for row, fact in facts.items()}, places, rows, acting)
    return StockReport(
        kind=kind,
        days=days,
        rows=tuple(rows[offset : offset + limit]),
        total_count=len(rows),
        total=_sum_of(by_place.values(), acting.company.currency) if sees_cost else None,
        by_warehouse=by_place if sees_cost else {},
        negative_total=negative if sees_cost else None,
        without_cost=sum(row.value is None for row in rows) if sees_cost else 0,
        as_of=acting.now,
    )


def _sum_of(amounts: Iterable[Money], currency: str) -> Money:
    total = zero(currency)
    for amount in amounts:
        total = total + amount
    return total


def levels_of(
    connection: sqlite3.Connection,
    today: date,
    places: set[str],
    *,
    with_use: bool,
    use_days: int = USE_DAYS,
    promised: bool = True,
) -> list[Level]:
    """Every product that has, had or awaits stock, by warehouse. ``with_use``: also what was sold in ``use_days``, and
    what comes (``promised``: confirmed purchases only).
    """
    found: dict[tuple[int, str], Level] = {}

    def level(product: int, place: str) -> Level:
        if (product, place) not in found:
            found[product, place] = Level(product, place)
        return found[product, place]

    # What came only by counts or transfers is as new as the first of them.
    received = "MAX(CASE WHEN reason IN ('receipt', 'opening', 'import') THEN at END)"
    arrivals = f"coalesce({received}, MIN(at))" if with_use else "NULL"
    for product, place, total, arrived in connection.execute(
        f"SELECT product_id, warehouse, SUM(qty), {arrivals} FROM move GROUP BY product_id, warehouse"
    ):
        one = level(product, place)
        one.on_hand, one.last_arrival = total, arrived
    for product, place, total in connection.execute(
        "SELECT product_id, warehouse, SUM(qty) FROM reservation GROUP BY product_id, warehouse"
    ):
        level(product, place).reserved = total
    if with_use:
        _use(connection, today - timedelta(use_days - 1), today, level)
        _coming(connection, level, promised=promised)
    return [one for one in found.values() if one.place in places]


def _use(connection: sqlite3.Connection, since: date, today: date, of: Callable[[int, str], Level]) -> None:
    """What was sold, by product and warehouse."""
    for product, place, used, last in connection.execute(
        "SELECT l.product_id, d.warehouse, SUM(CASE WHEN d.date >= ? THEN l.sold ELSE 0 END), MAX(d.date) "
        "FROM document d JOIN line l ON l.document_id = d.id WHERE d.kind = 'sale' AND l.sold > 0 "
        "AND d.state IN ('confirmed', 'in_progress', 'done') AND d.date <= ? GROUP BY l.product_id, d.warehouse",
        (since.isoformat(), today.isoformat()),
    ):
        one = of(product, place)
        one.used, one.last_sale = used, last


def _coming(connection: sqlite3.Connection, of: Callable[[int, str], Level], *, promised: bool) -> None:
    """What is ordered and has not come, by product and warehouse."""
    states = "'confirmed', 'in_progress'" if promised else "'quoted', 'confirmed', 'in_progress'"
    for product, place, is_open, factor in connection.execute(
        "SELECT l.product_id, d.warehouse, l.ordered - l.delivered - l.cancelled, l.factor FROM line l "
        f"JOIN document d ON d.id = l.document_id WHERE d.kind = 'purchase' AND d.state IN ({states}) "
        "AND l.ordered > l.delivered + l.cancelled"
    ):
        of(product, place).incoming += int(is_open * Decimal(factor))


def _belongs(kind: StockKind, level: Level, days: int, today: date, *, active: bool) -> bool:
    if kind == "negative":
        return level.on_hand < 0
    if kind == "value":
        return level.on_hand > 0
    if kind == "low":
        there = level.on_hand - level.reserved + level.incoming
        return active and level.used > 0 and there * USE_DAYS < level.used * days
    if level.on_hand <= 0:
        return False
    before = (today - timedelta(days)).isoformat()
    is_new = level.last_arrival is not None and level.last_arrival[:10] > before
    return not is_new and (level.last_sale is None or level.last_sale <= before)


def _enough_for(level: Level) -> int:
    """Whole days that what is available and coming lasts at the daily use."""
    return max(0, (level.on_hand - level.reserved + level.incoming) * USE_DAYS // level.used)


def _value(level: Level, cost: str | None, acting: Acting) -> Money | None:
    return None if cost is None else Money(Decimal(cost) * level.on_hand / SCALE, acting.company.currency)


def _values(
    kind: StockKind,
    levels: list[Level],
    costs: dict[int, str | None],
    places: dict[str, str],
    rows: list[StockRow],
    acting: Acting,
) -> tuple[dict[str, Money], Money]:
    """The value of the rows (of ``value``: of all positive stock) by warehouse, and of all negative stock."""
    currency = acting.company.currency
    by_place = {name: zero(currency) for name in places.values()}
    for row in rows:
        if row.value is not None and row.on_hand > 0:
            by_place[row.warehouse] = by_place[row.warehouse] + row.value
    negative = [
        value
        for level in levels
        if level.on_hand < 0 and (value := _value(level, costs[level.product], acting)) is not None
    ]
    return by_place, _sum_of(negative, currency)


def _rank(kind: StockKind, row: StockRow) -> tuple[Decimal, ...]:
    """Worst, or most valuable, first."""
    if kind == "low":
        return (Decimal(row.enough_for or 0), -(row.daily_use or ZERO))
    if kind == "negative":
        return (row.value.amount if row.value else ZERO, row.on_hand)
    return (-(row.value.amount if row.value else ZERO), -row.on_hand)
