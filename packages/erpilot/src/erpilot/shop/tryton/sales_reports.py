"""Sales of a period, and customers who stopped buying.

Invariant: everything that matches is added up, page by page, whatever is listed; currencies stay apart; a sale that
brings goods back counts on its own day, with the sign that Tryton gives it. What something cost is its cost now.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from typing import Any, Final

from ..errors import Invalid
from ..values import ZERO, Money, Period
from ..verbs.reporting import (
    Definition,
    GroupBy,
    QuietCustomer,
    QuietCustomers,
    SalesFigures,
    SalesQuery,
    SalesReport,
    SalesRow,
)
from . import orders, products
from .desk import Base, Desk, plain, relative
from .order_rows import SALE
from .products import escaped
from .states import SOLD

PAGE: Final = 1000
SPANS: Final[tuple[GroupBy, ...]] = ("day", "week", "month", "quarter")
_LINE: Final = [
    "quantity",
    "unit",
    "amount",
    "taxes.type",
    "taxes.rate",
    "moves_ignored.quantity",
    "moves_ignored.unit",
    "product.code",
    "product.name",
    "product.description",
    "product.default_uom",
    "product.categories.name",
    "sale.number",
    "sale.sale_date",
    "sale.party.code",
    "sale.party.name",
    "sale.warehouse.code",
    "sale.warehouse.name",
    "sale.currency.code",
]


@dataclass
class _Sum:
    """Sums of one group and currency."""

    name: str = ""
    revenue: Decimal = ZERO
    net: Decimal = ZERO
    returned: Decimal = ZERO
    orders: set[int] = field(default_factory=set)
    quantity: Decimal = ZERO
    units: set[str] = field(default_factory=set)
    cost: Decimal = ZERO
    without: int = 0
    net_without: Decimal = ZERO
    last: date | None = None

    def add(self, other: _Sum) -> None:
        """Takes the figures of another group in."""
        self.revenue += other.revenue
        self.net += other.net
        self.returned += other.returned
        self.orders |= other.orders
        self.quantity += other.quantity
        self.units |= other.units
        self.cost += other.cost
        self.without += other.without
        self.net_without += other.net_without
        self.last = max(filter(None, (self.last, other.last)), default=None)

    def figures(self, currency: str, *, with_cost: bool) -> SalesFigures:
        """As they are reported."""
        one = len(self.units) == 1
        return SalesFigures(
            revenue=Money(self.revenue, currency),
            net=Money(self.net, currency),
            returned=Money(self.returned, currency),
            orders=len(self.orders),
            quantity=plain(self.quantity) if one else None,
            unit=next(iter(self.units)) if one else None,
            cost=Money(self.cost, currency) if with_cost else None,
            without_cost=self.without if with_cost else 0,
            net_without_cost=Money(self.net_without, currency) if with_cost else None,
        )


_Sums = dict[tuple[str, str], _Sum]


async def sales(desk: Desk, query: SalesQuery) -> SalesReport:
    """See ``Reporting.sales``."""
    await desk.require("see_reports")
    with_cost = query.measure == "margin"
    if with_cost:
        await desk.require("see_cost")
    if query.top is not None and query.top < 1:
        raise Invalid(f"The top {query.top} of a report cannot be listed.", hint="At least 1.")
    sums = await _groups(desk, query, query.period)
    compared = None if query.compare_to is None else await _groups(desk, query, query.compare_to)
    own = (await desk.base()).company.currency
    rows = _rows(query, sums, compared, own, with_cost=with_cost)
    return SalesReport(
        query=query,
        rows=tuple(rows if query.top is None else rows[: query.top]),
        total_count=len(rows),
        total=_total(sums, with_cost=with_cost),
        total_compared=None if compared is None else _total(compared, with_cost=with_cost),
        definition=Definition(tax_included=True, cost_basis="current" if with_cost else None),
        incomplete=query.period.end >= desk.today,
        as_of=desk.now(),
    )


async def _groups(desk: Desk, query: SalesQuery, period: Period) -> _Sums:
    base = await desk.base()
    firsts = {day: first for first, day in _days(query.group_by, period)} if query.group_by in SPANS else {}
    found: _Sums = defaultdict(_Sum)
    fields = [*_LINE, "product.cost_price"] if query.measure == "margin" else _LINE
    async for line in pages(desk, "sale.line", await _domain(desk, base, query, period), fields):
        _add_line(found, query, line, base, firsts, own=base.company.currency)
    return found


def _add_line(
    found: _Sums, query: SalesQuery, line: dict[str, Any], base: Base, firsts: dict[date, date], *, own: str
) -> None:
    document, product = line["sale."], line["product."]
    left = left_of(line, base)
    if not left:
        return
    currency = document["currency."]["code"]
    net = Money(Decimal(line["amount"] or 0) * left, currency).amount
    rate = sum((Decimal(tax["rate"]) for tax in line["taxes."] if tax["type"] == "percentage"), ZERO)
    one = _Sum(revenue=net + Money(net * rate, currency).amount, net=net)
    _mark(one, document["id"], document["sale_date"])
    if product:
        unit = base.units[product["default_uom"]]
        one.quantity = line["quantity"] * left * relative(base.units[line["unit"]].factor, unit.factor)
        one.units = {unit.name}
        cost = product.get("cost_price")
        if query.measure == "margin" and cost and currency == own:
            one.cost = one.quantity * Decimal(cost)
        elif query.measure == "margin":
            one.without, one.net_without = 1, net
    key, one.name = _key(query.group_by, document, firsts, product)
    _into(found, (key, currency), one)


def left_of(line: dict[str, Any], base: Base) -> Decimal:
    """The share of a line that was not given up."""
    given_up = sum((move["quantity"] * base.units[move["unit"]].factor for move in line["moves_ignored."]), ZERO)
    whole = line["quantity"] * base.units[line["unit"]].factor if line["unit"] else ZERO
    return max(1 - given_up / whole, ZERO) if whole and given_up else Decimal(1)


def _mark(one: _Sum, row: int, day: date) -> None:
    """A sale that brings goods back is no order."""
    if one.revenue < 0:
        one.returned = -one.revenue
    else:
        one.orders, one.last = {row}, day


def _into(found: _Sums, key: tuple[str, str], one: _Sum) -> None:
    found[key].name = found[key].name or one.name
    found[key].add(one)


def _key(
    group_by: GroupBy | None,
    document: dict[str, Any],
    firsts: dict[date, date],
    product: dict[str, Any] | None = None,
) -> tuple[str, str]:
    """The group of a sale or a line, and its name."""
    match group_by:
        case "product":
            known = product or {}
            name = " ".join(filter(None, (known.get("name"), known.get("description"))))
            return known.get("code") or "-", name or "-"
        case "category":
            named = ((product or {}).get("categories.") or [{}])[0].get("name") or "-"
            return named, named
        case "customer":
            party = document["party."]
            return party["code"] or f"#{party['id']}", party["name"] or ""
        case "warehouse":
            place = document["warehouse."] or {}
            return place.get("code") or "-", place.get("name") or "-"
        case "order":
            number = document["number"] or f"#{document['id']}"
            return number, number
        case None:
            return "", ""
        case _:
            first = firsts[document["sale_date"]].isoformat()
            return first, first


async def _domain(desk: Desk, base: Base, query: SalesQuery, period: Period) -> list[Any]:
    found: list[Any] = [
        ["sale.state", "in", SOLD],
        ["sale.sale_date", ">=", period.start],
        ["sale.sale_date", "<=", period.end],
        ["type", "=", "line"],
    ]
    if query.customer_id:
        found.append(["sale.party.code", "ilike", escaped(query.customer_id.strip())])
    if query.warehouse:
        found.append(["sale.warehouse", "=", base.place(query.warehouse).id])
    if query.order:
        row, _, _ = await orders.find_row(desk, query.order, "sale", light=True)
        found.append(["sale.id", "=", row["id"]])
    if query.sku:
        row = (await products.rows_of(desk, [query.sku]))[query.sku]
        found.append(["product", "=", row["id"]])
    if query.category:
        found.append(["product.categories.name", "ilike", f"%{escaped(query.category.strip())}%"])
    return found


async def pages(desk: Desk, model: str, domain: list[Any], fields: list[str]) -> AsyncIterator[dict[str, Any]]:
    """All records that match, by so many at a time."""
    last = 0
    while True:
        rows = await desk.rpc.search_read(
            model, [*domain, ["id", ">", last]], fields, order=[("id", "ASC")], limit=PAGE
        )
        for row in rows:
            yield row
        if len(rows) < PAGE:
            return
        last = rows[-1]["id"]


def _total(sums: _Sums, *, with_cost: bool) -> dict[str, SalesFigures]:
    """Everything together, by currency; an order in several groups is one order."""
    total: dict[str, _Sum] = defaultdict(_Sum)
    for (_, currency), one in sums.items():
        total[currency].add(one)
    return {currency: one.figures(currency, with_cost=with_cost) for currency, one in sorted(total.items())}


def _rows(query: SalesQuery, sums: _Sums, compared: _Sums | None, own: str, *, with_cost: bool) -> list[SalesRow]:
    if query.group_by is None:
        return []

    def row(key: str, name: str, currency: str, one: _Sum, other: _Sum | None) -> SalesRow:
        told = None if other is None else other.figures(currency, with_cost=with_cost)
        return SalesRow(key, name, one.figures(currency, with_cost=with_cost), told, one.last)

    if query.group_by in SPANS:
        firsts = _firsts(query.group_by, query.period)
        others = _firsts(query.group_by, query.compare_to) if query.compare_to else []
        currencies = sorted({currency for _, currency in (*sums, *(compared or {}))}) or [own]
        return [
            row(
                first,
                first,
                currency,
                sums.get((first, currency), _Sum()),
                None if compared is None or at >= len(others) else compared.get((others[at], currency), _Sum()),
            )
            for at, first in enumerate(firsts)
            for currency in currencies
        ]
    found = []
    for key, currency in sums.keys() | (compared or {}).keys():
        one = sums.get((key, currency), _Sum())
        other = None if compared is None else compared.get((key, currency), _Sum())
        found.append(row(key, one.name or (other.name if other else "") or key, currency, one, other))
    return sorted(found, key=lambda each: (each.figures.revenue.currency != own, *_rank(query, each.figures), each.key))


def _rank(query: SalesQuery, figures: SalesFigures) -> tuple[bool, Decimal]:
    """Largest first by the measure; what has none last."""
    values: dict[str, Decimal | int | None] = {
        "revenue": figures.revenue.amount,
        "quantity": figures.quantity,
        "orders": figures.orders,
        "average": figures.average.amount if figures.average else None,
        "margin": figures.margin.amount if figures.margin else None,
    }
    value = values[query.measure]
    return value is None, -Decimal(value or 0)


def _firsts(group_by: GroupBy | None, period: Period) -> list[str]:
    return list(dict.fromkeys(first.isoformat() for first, _ in _days(group_by, period)))


def _days(group_by: GroupBy | None, period: Period) -> Iterator[tuple[date, date]]:
    """(first day of the span within the period, day)."""
    day, first = period.start, period.start
    while day <= period.end:
        begins = {
            "day": True,
            "week": day.weekday() == 0,
            "month": day.day == 1,
            "quarter": day.day == 1 and day.month % 3 == 1,
        }
        if begins.get(group_by or "", False):
            first = day
        yield first, day
        day += timedelta(1)


async def quiet(
    desk: Desk, *, quiet_days: int, history_days: int, least_orders: int, limit: int, offset: int
) -> QuietCustomers:
    """Regulars who have not ordered for a while."""
    held = await desk.require("see_reports")
    if not 1 <= quiet_days <= 3650 or not 1 <= history_days <= 3650 or least_orders < 2:
        raise Invalid("Quiet customers need 1 to 3650 days, and at least 2 orders to see a rhythm.")
    own, today = (await desk.base()).company.currency, desk.today
    since = today - timedelta(quiet_days + history_days)
    domain = [["state", "in", SOLD], ["sale_date", ">=", since], ["sale_date", "<=", today]]
    fields = ["sale_date", "total_amount", "currency.code", "party.code", "party.name"]
    fields += ["party.addresses.attn"] if "see_contacts" in held else []
    days: dict[int, list[date]] = defaultdict(list)
    value: dict[int, Decimal] = defaultdict(Decimal)
    people: dict[int, dict[str, Any]] = {}
    async for row in pages(desk, SALE.name, domain, fields):
        party = row["party."]
        if Decimal(row["total_amount"] or 0) <= 0:
            continue
        people[party["id"]] = party
        days[party["id"]].append(row["sale_date"])
        if row["currency."]["code"] == own:
            value[party["id"]] += Decimal(row["total_amount"])
    last_loud = today - timedelta(quiet_days)
    found = []
    for row_id, bought in days.items():
        bought.sort()
        if len(bought) < least_orders or bought[-1] > last_loud:
            continue
        party, span = people[row_id], (bought[-1] - bought[0]).days
        addresses = party.get("addresses.") or []
        found.append(
            QuietCustomer(
                party["code"] or f"#{row_id}",
                party["name"] or "",
                bought[-1],
                len(bought),
                round(span / (len(bought) - 1)),
                Money(value[row_id], own),
                (addresses[0].get("attn") or None) if addresses else None,
            )
        )
    found.sort(key=lambda each: (-each.value.amount, each.party_id))
    return QuietCustomers(quiet_days, history_days, least_orders, tuple(found[offset : offset + limit]), len(found))
