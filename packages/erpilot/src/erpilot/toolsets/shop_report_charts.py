"""Reports as charts: which value is drawn, in which currency or unit.

Invariant: a chart shows what stands in the rows; amounts of different currencies, and quantities of different
units, are never drawn on one axis.
"""

from __future__ import annotations

from decimal import Decimal

from ..shop.reports.charts import Bar, vega_lite
from ..shop.values import Period
from ..shop.verbs.reporting import Measure, SalesFigures, SalesReport, StockReport


def measured(measure: Measure, figures: SalesFigures | None) -> Decimal | None:
    """The value of the measure; zero where nothing was sold, None where it has none."""
    if figures is None:
        return Decimal(0)
    match measure:
        case "revenue":
            return figures.revenue.amount
        case "quantity":
            return figures.quantity
        case "orders":
            return Decimal(figures.orders)
        case "average":
            return figures.average.amount if figures.average else None
        case "margin":
            return figures.margin.amount if figures.margin else None


def sales_chart(report: SalesReport) -> dict[str, object]:
    """Bars of the shop's first currency, quantities of the first unit; a line for spans of time."""
    query = report.query
    first = report.rows[0].figures
    currency = first.revenue.currency
    bars = [
        Bar(row.name, value, measured(query.measure, row.compared) if row.compared is not None else None)
        for row in report.rows
        if row.figures.revenue.currency == currency
        and (query.measure != "quantity" or row.figures.unit == first.unit)
        and (value := measured(query.measure, row.figures)) is not None
    ]
    unit = {"orders": "", "quantity": first.unit or ""}.get(query.measure, currency)
    in_time = query.group_by in ("day", "week", "month", "quarter")
    labels = (_span_text(query.period), _span_text(query.compare_to) if query.compare_to else "")
    return vega_lite(bars, title=labels[0], unit=unit, shape="line" if in_time else "bar", labels=labels)


def _span_text(period: Period) -> str:
    return f"{period.start}" if period.start == period.end else f"{period.start} – {period.end}"


def stock_chart(report: StockReport, currency: str) -> dict[str, object]:
    """Bars of what the rows are worth, or, of low stock, of the days that it lasts."""
    if report.kind == "low":
        bars = [Bar(f"{row.name} {row.warehouse}", Decimal(row.enough_for or 0)) for row in report.rows]
        return vega_lite(bars, title=report.kind, unit="days")
    if report.kind == "negative" or all(row.value is None for row in report.rows):
        bars = [Bar(f"{row.name} {row.warehouse}", row.on_hand) for row in report.rows]
        return vega_lite(bars, title=report.kind, unit="")
    bars = [Bar(f"{row.name} {row.warehouse}", row.value.amount) for row in report.rows if row.value is not None]
    return vega_lite(bars, title=report.kind, unit=currency)
