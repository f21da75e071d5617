"""Reports of the embedded shop against the documents themselves, one by one."""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from agent_core import events as ev
from agent_core.loop import AgentLoop
from agent_core.testing import ScriptedModel
from erpilot.shop.backend import OrderFilter
from erpilot.shop.documents import Kind, Order
from erpilot.shop.embedded.shop import EmbeddedShop
from erpilot.shop.errors import Denied, NotFound
from erpilot.shop.pricing import figures
from erpilot.shop.values import Period
from erpilot.shop.verbs.reporting import GroupBy, SalesQuery
from erpilot.toolsets.shop import shop_tools
from tests.support.loops import collect, of_type

YEAR = Period(date(2025, 12, 1), date(2026, 11, 30), "Asia/Shanghai")
COUNTED = ("confirmed", "in_progress", "done")


@pytest.fixture(scope="module")
def documents(seeded: Path) -> list[Order]:
    """All sales and returns of the year that count, whole."""

    async def read() -> list[Order]:
        shop, found = EmbeddedShop(seeded), list[Order]()
        kinds: tuple[Kind, ...] = ("sale", "return")
        for kind in kinds:
            page = await shop.list_orders(OrderFilter(kind=kind, date_from=YEAR.start, date_to=YEAR.end), limit=10_000)
            found += [await shop.get_order(head.number) for head in page.orders if head.state in COUNTED]
        shop.close()
        return found

    return asyncio.run(read())


def summed(documents: list[Order], group: GroupBy, products: dict[str, Any]) -> dict[tuple[str, str], Decimal]:
    """Revenue by group and currency, added up line by line."""
    sums: dict[tuple[str, str], Decimal] = defaultdict(Decimal)
    for order in documents:
        for line in order.lines:
            key = {
                "product": line.sku,
                "category": products[line.sku].category,
                "customer": order.head.party_id,
                "warehouse": order.warehouse,
                "month": order.head.date.replace(day=1).isoformat(),
                "day": order.head.date.isoformat(),
                "week": max(order.head.date - timedelta(order.head.date.weekday()), YEAR.start).isoformat(),
                "quarter": max(_quarter(order.head.date), YEAR.start).isoformat(),
                "order": order.head.number,
            }[group]
            sign = -1 if order.head.kind == "return" else 1
            gross = figures(line, tax_included=order.tax_included).gross
            sums[key, gross.currency] += sign * gross.amount
    return sums


def _quarter(day: date) -> date:
    return date(day.year, (day.month - 1) // 3 * 3 + 1, 1)


@pytest.mark.parametrize(
    "group", ["product", "category", "customer", "warehouse", "day", "week", "month", "quarter", "order"]
)
async def test_sales_are_what_the_documents_add_up_to(
    shop: EmbeddedShop, documents: list[Order], group: GroupBy
) -> None:
    report = await shop.sales(SalesQuery(YEAR, group_by=group))
    skus = list({line.sku for order in documents for line in order.lines})
    expected = summed(documents, group, await shop.get_products(skus))
    found = {
        (row.name if group == "warehouse" else row.key, row.figures.revenue.currency): row.figures.revenue.amount
        for row in report.rows
    }
    assert {key: value for key, value in found.items() if value} == {k: v for k, v in expected.items() if v}
    for currency, total in report.total.items():
        assert total.revenue.amount == sum(value for key, value in expected.items() if key[1] == currency)
        sales = [o for o in documents if o.head.kind == "sale" and o.head.total.currency == currency]
        assert total.orders == len(sales), "an order of several products is one order"
        assert total.revenue.amount >= total.net.amount


async def test_the_total_covers_everything_also_when_only_the_top_is_listed(shop: EmbeddedShop) -> None:
    whole = await shop.sales(SalesQuery(YEAR, group_by="product"))
    top = await shop.sales(SalesQuery(YEAR, group_by="product", top=3))
    assert top.rows == whole.rows[:3]
    assert (top.total, top.total_count) == (whole.total, whole.total_count)


async def test_a_filter_gives_the_part_that_the_groups_give(shop: EmbeddedShop) -> None:
    by_customer = await shop.sales(SalesQuery(YEAR, group_by="customer"))
    first = by_customer.rows[0]
    alone = await shop.sales(SalesQuery(YEAR, customer_id=first.key))
    assert alone.total[first.figures.revenue.currency] == first.figures
    by_product = await shop.sales(SalesQuery(YEAR, group_by="product"))
    best = by_product.rows[0]
    one = await shop.sales(SalesQuery(YEAR, sku=best.key))
    assert one.total[best.figures.revenue.currency] == best.figures


async def test_an_empty_span_is_zero_and_no_other_span(shop: EmbeddedShop) -> None:
    nothing = await shop.sales(SalesQuery(Period(date(2001, 1, 1), date(2001, 1, 31), "Asia/Shanghai")))
    assert nothing.total == {}
    months = await shop.sales(SalesQuery(Period(date(2001, 1, 1), date(2001, 3, 31), "x"), group_by="month"))
    assert [row.key for row in months.rows] == ["2001-01-01", "2001-02-01", "2001-03-01"]
    assert not any(row.figures.revenue.amount for row in months.rows)


async def test_margin_needs_its_right_and_leaks_nothing(shop: EmbeddedShop) -> None:
    clerk = shop.acting_as("clerk", ["clerk"])
    assert (await clerk.sales(SalesQuery(YEAR))).total
    with pytest.raises(Denied, match="see_cost") as caught:
        await clerk.sales(SalesQuery(YEAR, measure="margin"))
    assert not any(character.isdigit() for character in str(caught.value))
    with pytest.raises(Denied, match="see_cost"):
        await clerk.stock_report("value")
    low = await clerk.stock_report("low")
    assert (low.total, low.by_warehouse) == (None, {})
    assert all(row.value is None for row in low.rows)


async def test_unknown_filters_are_said_with_what_there_is(shop: EmbeddedShop) -> None:
    for query in (
        SalesQuery(YEAR, category="没有的"),
        SalesQuery(YEAR, warehouse="没有的"),
        SalesQuery(YEAR, sku="NO"),
    ):
        with pytest.raises(NotFound):
            await shop.sales(query)


@pytest.mark.parametrize("kind", ["low", "slow", "value", "negative"])
async def test_a_stock_report_has_the_stock_and_its_total_is_that_of_all_rows(shop: EmbeddedShop, kind: Any) -> None:
    report = await shop.stock_report(kind, limit=100_000)
    assert len(report.rows) == report.total_count
    worth = sum((row.value.amount for row in report.rows if row.value is not None and row.on_hand > 0), Decimal(0))
    assert report.total is not None
    assert report.total.amount == worth == sum(money.amount for money in report.by_warehouse.values())
    levels = await shop.get_stock([row.sku for row in report.rows[:50]])
    for row in report.rows[:50]:
        level = next(each for each in levels[row.sku] if each.warehouse.name == row.warehouse)
        assert (row.on_hand, row.reserved) == (level.on_hand, level.reserved)
    page = await shop.stock_report(kind, limit=2, offset=1)
    assert page.rows == report.rows[1:3]
    assert page.total == report.total


async def test_slow_stock_was_not_sold_and_did_not_just_arrive(shop: EmbeddedShop) -> None:
    report = await shop.stock_report("slow", days=30, limit=100_000)
    since = shop.now().date() - timedelta(30)
    for row in report.rows:
        assert row.last_sale is None or row.last_sale <= since
        assert row.last_arrival is None or row.last_arrival <= since


async def test_suggestions_are_what_the_formula_gives_in_whole_packs(shop: EmbeddedShop) -> None:
    found = await shop.suggest_purchases(limit=1000)
    assert found.rows
    for row in found.rows:
        wanted = row.sold / found.history_days * (row.lead_days + found.cover_days) + row.waiting
        assert abs(wanted - row.available - row.incoming - row.wanted) < Decimal("0.01")
        if row.price is not None and row.amount is not None:
            assert row.amount.amount == row.price.amount * row.quantity


async def test_quiet_customers_did_not_buy_in_the_quiet_days(shop: EmbeddedShop) -> None:
    found = await shop.quiet_customers(quiet_days=45, limit=100)
    assert found.customers
    for each in found.customers:
        assert (shop.now().date() - each.last_order).days >= 45
        newest = await shop.list_orders(OrderFilter(kind="sale", party_id=each.party_id), limit=50)
        assert max(head.date for head in newest.orders if head.state in COUNTED) == each.last_order


async def test_the_report_tool_compares_and_leaves_a_chart_behind(shop: EmbeddedShop) -> None:
    call = ("sales_report", {"period": "this_month", "compare_to": "previous", "group_by": "customer", "top": 3})
    loop = AgentLoop(model=ScriptedModel([call, "done"]), tools=shop_tools(shop))
    items = await collect(loop.run("x"))
    (finished,) = of_type(items, ev.ToolCallFinished)
    (chart,) = finished.artifacts
    assert chart.media_type.startswith("application/vnd.vegalite")
    answer = json.loads(finished.content)
    assert len(answer["rows"]) == 3
    for row in (*answer["rows"], *answer["total"]):
        before = Decimal(row["compared"]["before"])
        assert before + Decimal(row["compared"]["difference"]) == Decimal(row["revenue"])
        assert ("change_percent" in row["compared"]) == bool(before), "nothing is divided by zero"
    assert answer["definition"]
    assert answer["period"]["date_from"] == "2026-11-01"
