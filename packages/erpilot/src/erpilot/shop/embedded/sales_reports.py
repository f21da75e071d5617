"""Sales over all documents of a period: sums in SQL, time spans and comparisons put together here.

Invariant: one statement sums the lines and never fetches them; what is grouped by days is summed by day and added up;
the totals are of everything that matches, whatever is listed. A return counts on its own day, with the sign turned.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from ..errors import Invalid
from ..values import Money, Period
from ..verbs.reporting import Definition, GroupBy, SalesFigures, SalesQuery, SalesReport, SalesRow
from . import orders, products
from .acting import Acting
from .schema import quantity

_SPANS: tuple[GroupBy, ...] = ("day", "week", "month", "quarter")
_KEYS: dict[GroupBy | None, str] = {
    None: "''",
    "day": "d.date",
    "week": "d.date",
    "month": "d.date",
    "quarter": "d.date",
    "product": "l.product_id",
    "category": "p.category",
    "customer": "d.party_id",
    "warehouse": "d.warehouse",
    "order": "d.number",
}
_NAMES: dict[GroupBy, str] = {
    "product": "SELECT id, sku, trim(name || ' ' || specification) FROM product",
    "customer": "SELECT id, id, name FROM party WHERE role = 'customer'",
    "warehouse": "SELECT code, code, name FROM warehouse",
}
_STATES = ", ".join(f"'{state}'" for state in Definition().states)
_SIGN = "CASE d.kind WHEN 'return' THEN -1 ELSE 1 END"
MOST_ROWS = 100_000
"""Groups of one report; more than that is a mistake in the question."""


@dataclass
class _Sum:
    """Sums of one group and currency, in the units of the file."""

    gross: int = 0
    net: int = 0
    returned: int = 0
    orders: int = 0
    sold: int = 0
    least_unit: str = ""
    most_unit: str = ""
    cost: int = 0
    without: int = 0
    net_without: int = 0
    last: str | None = None

    def add(self, other: _Sum) -> None:
        """Takes the figures of another group in; the orders of both are different ones."""
        self.gross += other.gross
        self.net += other.net
        self.returned += other.returned
        self.orders += other.orders
        self.sold += other.sold
        self.cost += other.cost
        self.without += other.without
        self.net_without += other.net_without
        if other.least_unit:
            self.least_unit = min(self.least_unit or other.least_unit, other.least_unit)
            self.most_unit = max(self.most_unit, other.most_unit)
        self.last = max(filter(None, (self.last, other.last)), default=None)

    def figures(self, currency: str, *, with_cost: bool) -> SalesFigures:
        """As they are reported."""
        one_unit = bool(self.least_unit) and self.least_unit == self.most_unit
        return SalesFigures(
            revenue=Money.from_minor(self.gross, currency),
            net=Money.from_minor(self.net, currency),
            returned=Money.from_minor(self.returned, currency),
            orders=self.orders,
            quantity=quantity(self.sold) if one_unit else None,
            unit=self.least_unit if one_unit else None,
            cost=Money.from_minor(self.cost, currency) if with_cost else None,
            without_cost=self.without if with_cost else 0,
            net_without_cost=Money.from_minor(self.net_without, currency) if with_cost else None,
        )


_Sums = dict[tuple[Any, str], _Sum]


def sales(connection: sqlite3.Connection, acting: Acting, query: SalesQuery) -> SalesReport:
    """See ``Reporting.sales``."""
    acting.require("see_reports")
    with_cost = query.measure == "margin"
    if with_cost:
        acting.require("see_cost")
    if query.top is not None and query.top < 1:
        raise Invalid(f"The top {query.top} of a report cannot be listed.", hint="At least 1.")
    which = _Filter(connection, query)
    sums = _groups(connection, query, which, query.period)
    compared = None if query.compare_to is None else _groups(connection, query, which, query.compare_to)
    total = _total(connection, query, which, query.period, sums)
    total_compared = None
    if query.compare_to is not None and compared is not None:
        total_compared = _total(connection, query, which, query.compare_to, compared)
    rows = _Rows(query, with_cost, acting.company.currency).of(connection, sums, compared)
    return SalesReport(
        query=query,
        rows=tuple(rows if query.top is None else rows[: query.top]),
        total_count=len(rows),
        total=_told(total, with_cost),
        total_compared=None if total_compared is None else _told(total_compared, with_cost),
        definition=Definition(cost_basis="at_sale" if with_cost else None),
        incomplete=query.period.end >= acting.today,
        as_of=acting.now,
    )


def _told(total: dict[str, _Sum], with_cost: bool) -> dict[str, SalesFigures]:
    return {currency: each.figures(currency, with_cost=with_cost) for currency, each in total.items()}


class _Filter:
    """The conditions of a report, as SQL; ``lines``: they look at lines, so documents alone do not tell."""

    def __init__(self, connection: sqlite3.Connection, query: SalesQuery) -> None:
        self._where = [f"d.state IN ({_STATES})"]
        self._values: list[Any] = []
        self.lines = query.sku is not None or query.category is not None
        if query.customer_id is not None:
            self._add("d.party_id = ?", query.customer_id)
        if query.warehouse is not None:
            self._add("d.warehouse = ?", products.warehouses(connection, query.warehouse)[0].code)
        if query.order is not None:
            number = orders.get(connection, query.order, "sale").head.number
            self._add("(d.number = ? OR (d.kind = 'return' AND d.source = ?))", number, number)
        if query.sku is not None:
            self._add("l.product_id = ?", *products.rows_of(connection, [query.sku]).values())
        if query.category is not None:
            meant = products.categories(connection, query.category)
            self._add(f"p.category IN ({', '.join('?' * len(meant))})", *meant)

    def _add(self, condition: str, *values: Any) -> None:
        self._where.append(condition)
        self._values += values

    def of(self, period: Period, kinds: str = "'sale', 'return'") -> tuple[str, list[Any]]:
        """The whole condition for a period."""
        where = [f"d.kind IN ({kinds})", "d.date BETWEEN ? AND ?", *self._where]
        return " AND ".join(where), [period.start.isoformat(), period.end.isoformat(), *self._values]


def _groups(connection: sqlite3.Connection, query: SalesQuery, which: _Filter, period: Period) -> _Sums:
    """The sums of each group and currency; time spans are summed by day first."""
    key = _KEYS[query.group_by]
    where, values = which.of(period)
    product = "JOIN product p ON p.id = l.product_id " if "p." in where or "p." in key else ""
    by_line = which.lines or query.group_by in ("product", "category")
    counted = "COUNT(DISTINCT CASE d.kind WHEN 'sale' THEN d.id END)" if by_line else "0"
    costs = "0, 0, 0"
    if query.measure == "margin":
        missing = f"CASE WHEN l.cost IS NULL THEN {_SIGN} * l.net ELSE 0 END"
        costs = f"SUM({_SIGN} * coalesce(l.cost, 0)), SUM(l.cost IS NULL), SUM({missing})"
    rows = connection.execute(
        f"SELECT {key} AS k, d.currency, SUM({_SIGN} * l.gross), SUM({_SIGN} * l.net), "
        "SUM(CASE d.kind WHEN 'return' THEN l.gross ELSE 0 END), "
        f"SUM({_SIGN} * l.sold), MIN(l.base_unit), MAX(l.base_unit), {counted}, {costs}, "
        "MAX(CASE d.kind WHEN 'sale' THEN d.date END) "
        f"FROM document d JOIN line l ON l.document_id = d.id {product}WHERE {where} GROUP BY k, d.currency",
        values,
    )
    span = _span(query, period)
    found: _Sums = {}
    for name, currency, gross, net, returned, sold, least, most, count, cost, without, net_without, last in rows:
        one = _Sum(gross, net, returned, count, sold, least, most, cost, without, net_without, last)
        found.setdefault((span(name), currency), _Sum()).add(one)
    if len(found) > MOST_ROWS:
        raise Invalid(f"The report has {len(found)} rows.", hint="Ask for a shorter period or larger groups.")
    if not by_line:
        _count_orders(connection, query, which, period, found)
    return found


def _count_orders(
    connection: sqlite3.Connection, query: SalesQuery, which: _Filter, period: Period, found: _Sums
) -> None:
    """Counts the orders without touching their lines."""
    where, values = which.of(period, "'sale'")
    span = _span(query, period)
    rows = connection.execute(
        f"SELECT {_KEYS[query.group_by]} AS k, d.currency, COUNT(*) FROM document d WHERE {where} "
        "GROUP BY k, d.currency",
        values,
    )
    for name, currency, count in rows:
        found.setdefault((span(name), currency), _Sum()).orders += count


def _total(
    connection: sqlite3.Connection, query: SalesQuery, which: _Filter, period: Period, sums: _Sums
) -> dict[str, _Sum]:
    """Everything together, by currency. An order with several products is one order."""
    total: dict[str, _Sum] = {}
    for (_, currency), one in sums.items():
        total.setdefault(currency, _Sum()).add(one)
    if query.group_by in ("product", "category"):
        where, values = which.of(period, "'sale'")
        lines = "JOIN line l ON l.document_id = d.id JOIN product p ON p.id = l.product_id " if which.lines else ""
        count = "COUNT(DISTINCT d.id)" if which.lines else "COUNT(*)"
        counted = dict(
            connection.execute(
                f"SELECT d.currency, {count} FROM document d {lines}WHERE {where} GROUP BY d.currency", values
            ).fetchall()
        )
        for currency, one in total.items():
            one.orders = counted.get(currency, 0)
    return dict(sorted(total.items()))


def _span(query: SalesQuery, period: Period) -> Callable[[Any], Any]:
    """What group a day belongs to: the first day of its span that is in the period."""
    if query.group_by not in _SPANS:
        return lambda name: name
    firsts = {day.isoformat(): first.isoformat() for first, day in _days(query.group_by, period)}
    return lambda name: firsts[name]


def _days(group_by: GroupBy | None, period: Period) -> Iterator[tuple[date, date]]:
    """(first day of the span within the period, day)."""
    day, first = period.start, period.start
    while day <= period.end:
        if (
            group_by == "day"
            or (group_by == "week" and day.weekday() == 0)
            or (group_by == "month" and day.day == 1)
            or (group_by == "quarter" and day.day == 1 and day.month % 3 == 1)
        ):
            first = day
        yield first, day
        day += timedelta(1)


@dataclass(frozen=True)
class _Rows:
    """Groups as rows. ``currency``: of the shop, for spans in which nothing was sold."""

    query: SalesQuery
    with_cost: bool
    currency: str

    def of(self, connection: sqlite3.Connection, sums: _Sums, compared: _Sums | None) -> list[SalesRow]:
        """All rows, in their order; none where nothing is grouped."""
        if self.query.group_by is None:
            return []
        if self.query.group_by in _SPANS:
            return self._spans(sums, compared)
        keys = sums.keys() | (compared or {}).keys()
        names = _names(connection, self.query.group_by, (key for key, _ in keys))
        rows = []
        for key, currency in keys:
            label, name = names.get(key, (str(key), str(key)))
            other = None if compared is None else compared.get((key, currency), _Sum())
            rows.append(self._row(label, name, currency, sums.get((key, currency), _Sum()), other))
        return sorted(rows, key=self._place)

    def _place(self, row: SalesRow) -> tuple[Any, ...]:
        """The shop's own currency first, since amounts of different ones cannot be ranked."""
        currency = row.figures.revenue.currency
        return currency != self.currency, currency, *self._rank(row.figures), row.key

    def _row(self, key: str, name: str, currency: str, one: _Sum, other: _Sum | None) -> SalesRow:
        return SalesRow(
            key,
            name,
            one.figures(currency, with_cost=self.with_cost),
            None if other is None else other.figures(currency, with_cost=self.with_cost),
            date.fromisoformat(one.last) if one.last else None,
        )

    def _spans(self, sums: _Sums, compared: _Sums | None) -> list[SalesRow]:
        """Time spans in order, empty ones included; compared with the span in the same place of the other period."""
        firsts, others = self._firsts(self.query.period), list[str]()
        if self.query.compare_to is not None:
            others = self._firsts(self.query.compare_to)
        currencies = sorted({currency for _, currency in (*sums, *(compared or {}))}) or [self.currency]
        return [
            self._row(
                first,
                first,
                currency,
                sums.get((first, currency), _Sum()),
                compared.get((others[place], currency), _Sum())
                if compared is not None and place < len(others)
                else None,
            )
            for place, first in enumerate(firsts)
            for currency in currencies
        ]

    def _firsts(self, period: Period) -> list[str]:
        return list(dict.fromkeys(first.isoformat() for first, _ in _days(self.query.group_by, period)))

    def _rank(self, figures: SalesFigures) -> tuple[bool, Decimal]:
        """Largest first by the measure; what has none last."""
        value: Decimal | int | None = None
        match self.query.measure:
            case "revenue":
                value = figures.revenue.amount
            case "quantity":
                value = figures.quantity
            case "orders":
                value = figures.orders
            case "average":
                value = figures.average.amount if figures.average else None
            case "margin":
                value = figures.margin.amount if figures.margin else None
        return value is None, -Decimal(value or 0)


def _names(connection: sqlite3.Connection, group_by: GroupBy, keys: Iterable[Any]) -> dict[Any, tuple[str, str]]:
    if group_by not in _NAMES:
        return {}
    wanted = set(keys)
    return {key: (label, name) for key, label, name in connection.execute(_NAMES[group_by]) if key in wanted}
