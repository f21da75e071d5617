"""Report tools: sales by span, customer, product; stock that is low, slow, negative, or all with its value; quiet
customers.

Invariant: every sum, share, difference and per cent is computed here or behind the backend, over everything that
matches; a report says what it counted and over which days; currencies stand apart.
"""

from __future__ import annotations

import datetime as dt
import json
from typing import Annotated, Any, get_args

from pydantic import Field, WithJsonSchema

from agent_core.tools.tool import Tool, ToolContext

from ..shop.backend import ErpBackend
from ..shop.errors import Invalid
from ..shop.reports.charts import MEDIA_TYPE
from ..shop.reports.periods import compared, period_named
from ..shop.values import Period
from ..shop.verbs.reporting import (
    Definition,
    GroupBy,
    Measure,
    QuietCustomers,
    SalesFigures,
    SalesQuery,
    SalesReport,
    SalesRow,
    StockKind,
    StockReport,
)
from .shop_arguments import Days, Limit, Offset, Text
from .shop_kit import next_offset, reading
from .shop_report_charts import measured, sales_chart, stock_chart
from .shop_report_facts import (
    CompareFact,
    QuietAnswer,
    QuietFact,
    SalesAnswer,
    SalesRowFact,
    SalesTotalFact,
    SpanFact,
    StockAnswer,
    StockRowFact,
)
from .shop_resolve import answering, customer_meant, known_products, stamp

Span = Annotated[
    str,
    Field(max_length=40),
    WithJsonSchema(
        {
            "type": "string",
            "description": "today, yesterday, this_week, last_month, this_quarter, last_year, last_30_days, 2026-10, "
            "2026-Q3, 2026-10-01..2026-10-15",
        }
    ),
]
Top = Annotated[int | None, Field(ge=1, le=50), WithJsonSchema({"type": "integer", "maximum": 50, "minimum": 1})]
Against = Annotated[
    str | None,
    Field(max_length=40),
    WithJsonSchema({"type": "string", "description": "previous, last_year or a period"}),
]
Grouping = Annotated[GroupBy | None, WithJsonSchema({"type": "string", "enum": list(get_args(GroupBy))})]
SomeDays = Annotated[
    int | None, Field(ge=1, le=3650), WithJsonSchema({"type": "integer", "maximum": 3650, "minimum": 1})
]


def report_tools(backend: ErpBackend) -> list[Tool]:
    """The reports over one backend."""

    @reading("documents", "products", "customers")
    async def sales_report(
        period: Span,
        ctx: ToolContext,
        measure: Measure = "revenue",
        group_by: Grouping = None,
        compare_to: Against = None,
        top: Top = None,
        customer: Text = None,
        product: Text = None,
        category: Text = None,
        warehouse: Text = None,
        order: Text = None,
    ) -> SalesAnswer:
        """Sales of a period, by day, month, product, category, customer, warehouse or in all: revenue, orders,
        average, quantity or margin, with shares and the comparison; totals over everything."""
        with answering():
            query = await sales_query(
                backend,
                period=period,
                measure=measure,
                group_by=group_by,
                compare_to=compare_to,
                top=top if top is not None or group_by in (None, "day", "week", "month", "quarter") else 10,
                customer=customer,
                product=product,
                category=category,
                warehouse=warehouse,
                order=order,
            )
            report = await backend.sales(query)
            if report.rows:
                chart = sales_chart(report)
                ctx.attach("chart.vl.json", MEDIA_TYPE, json.dumps(chart, ensure_ascii=False).encode())
            return sales_answer(report)

    @reading("products", "stock")
    async def stock_report(
        kind: StockKind,
        ctx: ToolContext,
        warehouse: Text = None,
        days: SomeDays = None,
        limit: Limit = 10,
        offset: Offset = 0,
    ) -> StockAnswer:
        """Stock that is low (does not last `days`, default 14), slow (not sold for `days`, default 90), negative, or
        all with its value; totals over everything."""
        with answering():
            report = await backend.stock_report(kind, warehouse=warehouse, days=days, limit=limit, offset=offset)
            currency = (await backend.whoami()).company.currency
            if report.rows and offset == 0:
                chart = stock_chart(report, currency)
                ctx.attach("chart.vl.json", MEDIA_TYPE, json.dumps(chart, ensure_ascii=False).encode())
            return stock_answer(report, currency, next_offset(offset, len(report.rows), report.total_count))

    @reading("documents", "customers")
    async def quiet_customers(
        quiet_days: Days = 60,
        history_days: Days = 365,
        least_orders: Annotated[int, Field(ge=2, le=1000)] = 3,
        limit: Limit = 10,
        offset: Offset = 0,
    ) -> QuietAnswer:
        """Customers who used to buy and have not ordered for `quiet_days`, by what they bought before."""
        with answering():
            found = await backend.quiet_customers(
                quiet_days=quiet_days,
                history_days=history_days,
                least_orders=least_orders,
                limit=limit,
                offset=offset,
            )
            return _quiet_answer(found, offset, backend.now())

    return [sales_report, stock_report, quiet_customers]


async def sales_query(
    backend: ErpBackend,
    *,
    period: str,
    measure: Measure = "revenue",
    group_by: GroupBy | None = None,
    compare_to: str | None = None,
    top: int | None = None,
    customer: str | None = None,
    product: str | None = None,
    category: str | None = None,
    warehouse: str | None = None,
    order: str | None = None,
) -> SalesQuery:
    """What is asked, with names resolved and spans written out. Raises ``ShopError``."""
    company, today = (await backend.whoami()).company, backend.now().date()
    span = period_named(period, today, company)
    if span.start > today:
        raise Invalid(f"The span from {span.start} is to come: today is {today}.")
    meant = await customer_meant(backend, customer)
    sku = None
    if product:
        found = (await known_products(backend, [product], exact=False))[product]
        if isinstance(found, Exception):
            raise found
        sku = found.sku
    return SalesQuery(
        period=span,
        measure=measure,
        group_by=group_by,
        compare_to=compared(compare_to, span, today, company) if compare_to else None,
        top=top,
        customer_id=meant.id if meant else None,
        sku=sku,
        category=category or None,
        warehouse=warehouse or None,
        order=order or None,
    )


def sales_answer(report: SalesReport) -> SalesAnswer:
    """The report with shares and differences."""
    query = report.query
    return SalesAnswer(
        measure=query.measure,
        period=span_fact(query.period),
        compared_with=span_fact(query.compare_to) if query.compare_to else None,
        group_by=query.group_by,
        rows=[_row(row, report) for row in report.rows],
        total_count=report.total_count,
        total=[
            SalesTotalFact(
                **_figures(figures, query.measure),
                compared=_compared(query.measure, figures, report.total_compared.get(currency))
                if report.total_compared is not None
                else None,
            )
            for currency, figures in report.total.items()
        ],
        incomplete=report.incomplete,
        definition=definition_text(report.definition),
        as_of=stamp(report.as_of),
    )


def span_fact(period: Period) -> SpanFact:
    """A span written out."""
    days = (period.end - period.start).days + 1
    return SpanFact(name=period.name, date_from=period.start, date_to=period.end, days=days, zone=period.zone)


def definition_text(definition: Definition) -> str:
    """What was counted, in words for the model."""
    date = "document date" if definition.date == "document" else "invoice date"
    returns = "returns taken off on their own day" if definition.returns == "taken_off" else "returns not counted"
    tax = "revenue includes tax, net does not" if definition.tax_included else "revenue without tax"
    cost = {"at_sale": "; costs as of the sale", "current": "; costs as of today", None: ""}[definition.cost_basis]
    return f"orders in the states {', '.join(definition.states)} by {date}; {returns}; {tax}{cost}"


def _figures(figures: SalesFigures, measure: Measure) -> dict[str, Any]:
    with_cost = measure == "margin"
    return {
        "currency": figures.revenue.currency,
        "revenue": figures.revenue.amount,
        "net": figures.net.amount,
        "returned": figures.returned.amount,
        "orders": figures.orders,
        "average": figures.average.amount if figures.average else None,
        "quantity": figures.quantity,
        "unit": figures.unit,
        "cost": figures.cost.amount if figures.cost else None,
        "margin": figures.margin.amount if figures.margin else None,
        "margin_percent": figures.margin_percent,
        "lines_without_cost": figures.without_cost if with_cost else None,
        "net_without_cost": figures.net_without_cost.amount if figures.net_without_cost else None,
    }


def _row(row: SalesRow, report: SalesReport) -> SalesRowFact:
    measure = report.query.measure
    total = measured(measure, report.total.get(row.figures.revenue.currency))
    value = measured(measure, row.figures)
    share = None
    if measure not in ("average",) and value is not None and total:
        share = round(value * 100 / total, 1)
    return SalesRowFact(
        **_figures(row.figures, measure),
        key=row.key,
        name=row.name,
        share_percent=share,
        compared=_compared(measure, row.figures, row.compared) if row.compared is not None else None,
        last_order=row.last_order,
    )


def _compared(measure: Measure, figures: SalesFigures, before: SalesFigures | None) -> CompareFact:
    now, then = measured(measure, figures), measured(measure, before)
    if now is None or then is None:
        return CompareFact(before=then)
    difference = now - then
    percent = round(difference * 100 / abs(then), 1) if then else None
    return CompareFact(before=then, difference=difference, change_percent=percent)


RULES: dict[StockKind, str] = {
    "low": "available and coming does not last {days} days at the daily use of the last 30 days",
    "slow": "in stock, not sold for {days} days, and no arrival in that time; value at today's cost",
    "value": "all positive stock at today's cost",
    "negative": "less than nothing on hand",
}


def stock_answer(report: StockReport, currency: str, following: int | None) -> StockAnswer:
    """The report as answered."""
    low = report.kind == "low"
    return StockAnswer(
        kind=report.kind,
        days=report.days or None,
        rows=[
            StockRowFact(
                sku=row.sku,
                name=row.name,
                warehouse=row.warehouse,
                unit=row.unit,
                on_hand=row.on_hand,
                reserved=row.reserved,
                available=row.available,
                incoming=row.incoming if low else None,
                daily_use=row.daily_use,
                enough_for_days=row.enough_for,
                last_sale=row.last_sale,
                last_arrival=row.last_arrival,
                value=row.value.amount if row.value else None,
            )
            for row in report.rows
        ],
        total_count=report.total_count,
        currency=currency,
        total=report.total.amount if report.total else None,
        by_warehouse={name: money.amount for name, money in report.by_warehouse.items()},
        negative_total=report.negative_total.amount if report.negative_total else None,
        rows_without_cost=report.without_cost if report.total is not None else None,
        rule=RULES[report.kind].format(days=report.days),
        next=following,
        as_of=stamp(report.as_of),
    )


def _quiet_answer(found: QuietCustomers, offset: int, now: dt.datetime) -> QuietAnswer:
    return QuietAnswer(
        customers=[
            QuietFact(
                customer_id=each.party_id,
                customer=each.name,
                last_order=each.last_order,
                days_since=(now.date() - each.last_order).days,
                orders=each.orders,
                usual_days=each.usual_days,
                value=each.value.amount,
                currency=each.value.currency,
                contact=each.contact,
            )
            for each in found.customers
        ],
        total_count=found.total_count,
        rule=f"at least {found.least_orders} orders in the {found.history_days} days before, none for "
        f"{found.quiet_days} days",
        next=next_offset(offset, len(found.customers), found.total_count),
        as_of=stamp(now),
    )
