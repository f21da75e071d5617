"""What report tools answer: the JSON that models, screens and files read.

Invariant: as in ``shop_results``: amounts beside their currency, absent where not known; totals cover everything that
matches, also what is not listed.
"""

from __future__ import annotations

import datetime as dt

from ..shop.verbs.reporting import GroupBy, Measure, StockKind
from . import shop_results as r


class SpanFact(r.Fact):
    """Days of the shop, both included."""

    name: str
    date_from: dt.date
    date_to: dt.date
    days: int
    zone: str


class FiguresFact(r.Fact):
    """Of one currency. ``revenue`` includes tax, ``net`` does not, returns are taken off both (``returned`` says how
    much). ``quantity`` where all is of one unit. Margin: of what has a cost; ``net_without_cost`` is what has none."""

    currency: str
    revenue: r.Amount
    net: r.Amount
    returned: r.Amount
    orders: int
    average: r.Amount | None = None
    quantity: r.Qty | None = None
    unit: str | None = None
    cost: r.Amount | None = None
    margin: r.Amount | None = None
    margin_percent: r.Rate | None = None
    lines_without_cost: int | None = None
    net_without_cost: r.Amount | None = None


class CompareFact(r.Fact):
    """Of the measure: before, after less before, and that of before in per cent, absent where before is zero."""

    before: r.Amount | None = None
    difference: r.Amount | None = None
    change_percent: r.Rate | None = None


class SalesRowFact(FiguresFact):
    """A group; ``share_percent`` of the total of its currency."""

    key: str
    name: str
    share_percent: r.Rate | None = None
    compared: CompareFact | None = None
    last_order: dt.date | None = None


class SalesTotalFact(FiguresFact):
    """Everything of one currency, also what is not listed."""

    compared: CompareFact | None = None


class SalesAnswer(r.Fact):
    """Rows by the measure, largest first (time spans: in order). ``total`` covers everything that matches."""

    measure: Measure
    period: SpanFact
    compared_with: SpanFact | None = None
    group_by: GroupBy | None = None
    rows: list[SalesRowFact]
    total_count: int
    total: list[SalesTotalFact]
    incomplete: bool
    definition: str
    as_of: str


class StockRowFact(r.Fact):
    """A product in a warehouse, in ``unit``; ``value`` at cost, in the shop's currency."""

    sku: str
    name: str
    warehouse: str
    unit: str
    on_hand: r.Qty
    reserved: r.Qty
    available: r.Qty
    incoming: r.Qty | None = None
    daily_use: r.Qty | None = None
    enough_for_days: int | None = None
    last_sale: dt.date | None = None
    last_arrival: dt.date | None = None
    value: r.Amount | None = None


class StockAnswer(r.Fact):
    """``total`` and ``by_warehouse``: value of the rows that are not below zero, of all that match."""

    kind: StockKind
    days: int | None = None
    rows: list[StockRowFact]
    total_count: int
    currency: str
    total: r.Amount | None = None
    by_warehouse: dict[str, r.Amount]
    negative_total: r.Amount | None = None
    rows_without_cost: int | None = None
    rule: str
    next: int | None = None
    as_of: str


class QuietFact(r.Fact):
    """A regular who stopped; ``value``: what they bought in the time before."""

    customer_id: str
    customer: str
    last_order: dt.date
    days_since: int
    orders: int
    usual_days: int
    value: r.Amount
    currency: str
    contact: str | None = None


class QuietAnswer(r.Fact):
    """By value, largest first."""

    customers: list[QuietFact]
    total_count: int
    rule: str
    next: int | None = None
    as_of: str
