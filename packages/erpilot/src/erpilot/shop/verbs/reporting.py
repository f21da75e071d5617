"""Figures over all records: sales, quiet customers, stock, and what to buy.

Invariant: a report says what it counted (``Definition``) and over which days; its total covers everything that matches,
also when only the top is listed; currencies stay apart; returns are taken off on the day they came back.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, Protocol

from ..documents import State
from ..errors import Unsupported
from ..values import Money, Period

Measure = Literal["revenue", "quantity", "orders", "average", "margin"]
GroupBy = Literal["day", "week", "month", "quarter", "product", "category", "customer", "warehouse", "order"]
StockKind = Literal["low", "slow", "value", "negative"]


@dataclass(frozen=True, slots=True)
class SalesQuery:
    """What is asked. ``compare_to``: another period; ``top``: only so many rows, by the measure; filters None do not
    restrict. ``category``: a name or a part of one; ``order``: one document, by number.
    """

    period: Period
    measure: Measure = "revenue"
    group_by: GroupBy | None = None
    compare_to: Period | None = None
    top: int | None = None
    customer_id: str | None = None
    sku: str | None = None
    category: str | None = None
    warehouse: str | None = None
    order: str | None = None


@dataclass(frozen=True, slots=True)
class SalesFigures:
    """Sums of one currency. ``revenue`` includes tax, ``net`` does not; ``returned`` (a part of neither: taken off
    already) includes it. ``quantity`` in base units where all is of one unit, else None. ``cost`` and what follows
    from it only with the measure ``margin``: of the lines that have one, ``without_cost`` counts the others and
    ``net_without_cost`` is what they sold for.
    """

    revenue: Money
    net: Money
    returned: Money
    orders: int
    quantity: Decimal | None = None
    unit: str | None = None
    cost: Money | None = None
    without_cost: int = 0
    net_without_cost: Money | None = None

    @property
    def average(self) -> Money | None:
        """Revenue per order; None without orders."""
        return Money(self.revenue.amount / self.orders, self.revenue.currency) if self.orders else None

    @property
    def margin(self) -> Money | None:
        """Net less cost, of the lines that have a cost; None where none of them has."""
        if self.cost is None or (self.without_cost and not self.cost.amount and not self._net_with_cost.amount):
            return None
        return self._net_with_cost - self.cost

    @property
    def margin_percent(self) -> Decimal | None:
        """Margin of net, in per cent with one decimal; None without sales."""
        if self.margin is None or not self._net_with_cost.amount:
            return None
        return round(self.margin.amount * 100 / self._net_with_cost.amount, 1)

    @property
    def _net_with_cost(self) -> Money:
        return self.net if self.net_without_cost is None else self.net - self.net_without_cost


@dataclass(frozen=True, slots=True)
class SalesRow:
    """One group in one currency. ``key``: SKU, party id, warehouse code, category, number, or the first day of the
    time span (ISO); ``compared``: the same group in the other period; ``last_order``: newest in the period.
    """

    key: str
    name: str
    figures: SalesFigures
    compared: SalesFigures | None = None
    last_order: dt.date | None = None


@dataclass(frozen=True, slots=True)
class Definition:
    """What was counted, for the answer: kinds and states of documents, the date that decides, whether returns are
    taken off, whether ``revenue`` includes tax, and where costs come from.
    """

    states: tuple[State, ...] = ("confirmed", "in_progress", "done")
    date: Literal["document", "invoice"] = "document"
    returns: Literal["taken_off", "not_counted"] = "taken_off"
    tax_included: bool = True
    cost_basis: Literal["at_sale", "current"] | None = None


@dataclass(frozen=True, slots=True)
class SalesReport:
    """Rows by the measure, largest first (time spans: in order, empty ones included). ``total`` and ``total_compared``
    by currency, over everything; ``total_count``: groups in all; ``incomplete``: the period is not over yet.
    """

    query: SalesQuery
    rows: tuple[SalesRow, ...]
    total_count: int
    total: dict[str, SalesFigures]
    total_compared: dict[str, SalesFigures] | None
    definition: Definition
    incomplete: bool
    as_of: dt.datetime


@dataclass(frozen=True, slots=True)
class QuietCustomer:
    """A regular who stopped. ``usual_days`` between orders; ``value``: revenue before, ``contact`` needs
    ``see_contacts``.
    """

    party_id: str
    name: str
    last_order: dt.date
    orders: int
    usual_days: int
    value: Money
    contact: str | None


@dataclass(frozen=True, slots=True)
class QuietCustomers:
    """By value, largest first. The rule: at least ``least_orders`` in the ``history_days`` before, none for
    ``quiet_days``.
    """

    quiet_days: int
    history_days: int
    least_orders: int
    customers: tuple[QuietCustomer, ...]
    total_count: int


@dataclass(frozen=True, slots=True)
class StockRow:
    """A product in a warehouse, in base units. ``value`` at cost, None without ``see_cost`` or without a cost;
    ``daily_use`` and ``enough_for`` (days) only of low stock.
    """

    sku: str
    name: str
    warehouse: str
    unit: str
    on_hand: Decimal
    reserved: Decimal
    incoming: Decimal = Decimal(0)
    value: Money | None = None
    last_sale: dt.date | None = None
    last_arrival: dt.date | None = None
    daily_use: Decimal | None = None
    enough_for: int | None = None

    @property
    def available(self) -> Decimal:
        """What may be promised now."""
        return self.on_hand - self.reserved


@dataclass(frozen=True, slots=True)
class StockReport:
    """Rows of one kind: ``low`` (available and coming does not last ``days``), ``slow`` (in stock, not sold for
    ``days``, and not new), ``value`` (everything with stock), ``negative``. ``total`` and ``by_warehouse`` (by name) of
    the positive stock's value, None without ``see_cost``; ``negative_total`` apart; ``without_cost``: rows that have no
    cost. Worst, or most valuable, first.
    """

    kind: StockKind
    days: int
    rows: tuple[StockRow, ...]
    total_count: int
    total: Money | None
    by_warehouse: dict[str, Money]
    negative_total: Money | None
    without_cost: int
    as_of: dt.datetime


@dataclass(frozen=True, slots=True)
class Suggestion:
    """What to buy of a product, in base units, with the parts of the formula: wanted = ``daily_use`` x
    (``lead_days`` + cover days) + ``waiting`` - ``available`` - ``incoming``, rounded up to packs and to the minimum.
    ``quantity`` in ``purchase_unit``; ``price`` per that unit; ``history`` False: nothing was sold in the time looked
    at.
    """

    sku: str
    name: str
    unit: str
    available: Decimal
    incoming: Decimal
    waiting: Decimal
    sold: Decimal
    daily_use: Decimal
    lead_days: int
    wanted: Decimal
    supplier_id: str | None
    supplier: str | None
    purchase_unit: str
    quantity: Decimal
    price: Money | None
    amount: Money | None
    history: bool = True


@dataclass(frozen=True, slots=True)
class Suggestions:
    """The most urgent first. ``no_history``: products in question that were not sold at all in ``history_days``."""

    cover_days: int
    history_days: int
    rows: tuple[Suggestion, ...]
    total_count: int
    total: dict[str, Money]
    no_history: int


class Reporting(Protocol):
    """Sales and quiet customers need ``see_reports``, margins and stock values ``see_cost``."""

    kind: str

    async def sales(self, query: SalesQuery) -> SalesReport:
        """Sales figures of a period."""
        raise Unsupported("sales", self.kind)

    async def quiet_customers(
        self, *, quiet_days: int = 60, history_days: int = 365, least_orders: int = 3, limit: int = 20, offset: int = 0
    ) -> QuietCustomers:
        """Regulars who have not ordered for a while."""
        raise Unsupported("quiet_customers", self.kind)

    async def stock_report(
        self,
        kind: StockKind,
        *,
        warehouse: str | None = None,
        days: int | None = None,
        limit: int = 50,
        offset: int = 0,
    ) -> StockReport:
        """Stock that is low, slow, all with its value, or negative. ``days`` None: 14 for low, 90 for slow."""
        raise Unsupported("stock_report", self.kind)

    async def suggest_purchases(
        self,
        *,
        warehouse: str | None = None,
        supplier_id: str | None = None,
        skus: Sequence[str] = (),
        cover_days: int = 30,
        history_days: int = 30,
        limit: int = 50,
        offset: int = 0,
    ) -> Suggestions:
        """What to reorder, with the parts of the formula. Needs ``buy`` or ``see_cost``."""
        raise Unsupported("suggest_purchases", self.kind)
