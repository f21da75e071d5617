"""Figures: over all that matches, by currency, with their definition; empty ranges are zero and say so."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest

from erpilot.shop.backend import LinePart, ReturnedPart
from erpilot.shop.catalogue import Product
from erpilot.shop.documents import Customer, Order
from erpilot.shop.errors import Denied
from erpilot.shop.values import Money, Period
from erpilot.shop.verbs.reporting import GroupBy, SalesQuery
from tests.support.erp_cases import delivered, kept, level, pieces, sale, told
from tests.support.erp_world import Goods, World, needs, write

STOCK = Goods(price=Decimal("10.00"), cost=Decimal("4.00"), stock={"main": Decimal(1000)})


async def _today(world: World, days: int = 0) -> Period:
    day = world.backend.now().date() + timedelta(days)
    return Period(day, day, (await world.backend.whoami()).company.zone)


async def _sales(world: World, *counts: int) -> tuple[Customer, Product, list[Order]]:
    customer, product = await world.customer(), await world.product(STOCK)
    return customer, product, [await sale(world, customer, (product, pieces(count))) for count in counts]


async def _two_sales(world: World) -> Customer:
    """Who has bought twice."""
    customer, *_ = await _sales(world, 3, 4)
    return customer


@needs("sales")
async def test_sales_of_a_customer_are_the_sum_of_the_orders(world: World) -> None:
    customer, _, orders = await _sales(world, 3, 4)
    report = await world.backend.sales(SalesQuery(await _today(world), customer_id=customer.id))
    figures = report.total[world.currency]
    assert figures.revenue.amount == sum(each.head.total.amount for each in orders)
    assert figures.orders == 2
    assert figures.average is not None
    assert figures.average.amount == figures.revenue.amount / 2
    assert report.query.period == await _today(world)
    assert report.as_of.tzinfo is not None


@needs("sales")
async def test_revenue_has_tax_in_it_as_the_definition_says_and_net_has_not(world: World) -> None:
    customer, _, (order,) = await _sales(world, 5)
    report = await world.backend.sales(SalesQuery(await _today(world), customer_id=customer.id))
    figures = report.total[world.currency]
    gross, net = order.totals.total, order.totals.subtotal
    assert figures.net == net
    assert figures.revenue == (gross if report.definition.tax_included else net)


@needs("sales")
async def test_a_day_without_sales_is_nothing_and_no_other_day(world: World) -> None:
    customer, *_ = await _sales(world, 3)
    report = await world.backend.sales(SalesQuery(await _today(world, -1), customer_id=customer.id))
    assert all(each.revenue.amount == 0 and each.orders == 0 for each in report.total.values())


@needs("sales")
async def test_rows_are_ranked_by_the_measure_and_the_total_covers_more_than_the_top(world: World) -> None:
    customer = await world.customer()
    goods = [await world.product(STOCK) for _ in range(3)]
    for product, count in zip(goods, (2, 9, 5), strict=True):
        await sale(world, customer, (product, pieces(count)))
    query = SalesQuery(await _today(world), "quantity", "product", customer_id=customer.id, top=2)
    report = await world.backend.sales(query)
    assert [row.key for row in report.rows] == [goods[1].sku, goods[2].sku]
    assert told(*[row.figures.quantity for row in report.rows]) == (9, 5)
    assert report.total_count == 3
    assert report.total[world.currency].orders == 3
    assert told(report.total[world.currency].quantity) == (16,)


@needs("sales")
@pytest.mark.parametrize(
    "group_by", ["day", "week", "month", "quarter", "product", "category", "customer", "warehouse"]
)
async def test_the_groups_add_up_to_the_total(world: World, group_by: GroupBy) -> None:
    customer = await kept(world, _two_sales)
    day = world.backend.now().date()
    period = Period(day - timedelta(40), day, (await world.backend.whoami()).company.zone)
    report = await world.backend.sales(SalesQuery(period, group_by=group_by, customer_id=customer.id))
    mine = [row.figures for row in report.rows if row.figures.revenue.currency == world.currency]
    assert sum(each.revenue.amount for each in mine) == report.total[world.currency].revenue.amount
    assert sum(each.net.amount for each in mine) == report.total[world.currency].net.amount


@needs("sales")
async def test_spans_without_sales_are_listed_as_zero(world: World) -> None:
    customer, *_ = await _sales(world, 3)
    day = world.backend.now().date()
    period = Period(day - timedelta(2), day, (await world.backend.whoami()).company.zone)
    report = await world.backend.sales(SalesQuery(period, group_by="day", customer_id=customer.id))
    assert [row.key for row in report.rows] == [str(day - timedelta(back)) for back in (2, 1, 0)]
    assert [row.figures.orders for row in report.rows] == [0, 0, 1]


@needs("sales")
async def test_two_periods_are_compared_group_by_group(world: World) -> None:
    customer, product, _ = await _sales(world, 3)
    query = SalesQuery(
        await _today(world), group_by="product", compare_to=await _today(world, -1), customer_id=customer.id
    )
    report = await world.backend.sales(query)
    (row,) = report.rows
    assert row.key == product.sku
    assert row.compared is not None
    assert (row.compared.revenue, row.compared.orders) == (Money(Decimal(0), world.currency), 0)
    assert report.total_compared is not None


@needs("sales", "cancel_order")
async def test_what_was_cancelled_is_not_sold(world: World) -> None:
    customer, _, (order,) = await _sales(world, 3)
    await world.backend.cancel_order(order.head.number, reason="x", write=write(order.head.version))
    report = await world.backend.sales(SalesQuery(await _today(world), customer_id=customer.id))
    assert all(each.revenue.amount == 0 for each in report.total.values())


@needs("sales", "cancel_order", "deliver_order")
async def test_of_an_order_whose_rest_was_cancelled_what_is_left_counts(world: World) -> None:
    customer, _, (order,) = await _sales(world, 10)
    part = await delivered(world, order, LinePart(order.lines[0].line, pieces(4)))
    await world.backend.cancel_order(part.head.number, reason="x", rest_only=True, write=write(part.head.version))
    report = await world.backend.sales(SalesQuery(await _today(world), customer_id=customer.id))
    figures = report.total[world.currency]
    assert told(figures.quantity, figures.net.amount * 10) == (4, order.totals.subtotal.amount * 4)


@needs("sales", "return_order")
async def test_returns_are_taken_off(world: World) -> None:
    customer, _, (order,) = await _sales(world, 10)
    order = await delivered(world, order)
    part = (ReturnedPart(order.lines[0].line, pieces(4)),)
    back = await world.backend.return_order(order.head.number, part, reason="x", write=write(order.head.version))
    report = await world.backend.sales(SalesQuery(await _today(world), customer_id=customer.id))
    figures = report.total[world.currency]
    assert figures.revenue == order.head.total - back.order.head.total
    assert figures.returned == back.order.head.total
    assert told(figures.orders, figures.quantity) == (1, 6)
    assert report.definition.returns == "taken_off"


@needs("margin")
async def test_the_margin_is_net_less_cost(world: World) -> None:
    customer, _, (order,) = await _sales(world, 5)
    report = await world.backend.sales(SalesQuery(await _today(world), "margin", customer_id=customer.id))
    figures = report.total[world.currency]
    assert figures.cost == Money(Decimal("20.00"), world.currency)
    assert figures.margin == order.totals.subtotal - Money(Decimal("20.00"), world.currency)
    assert figures.without_cost == 0
    assert report.definition.cost_basis is not None


@needs("margin")
async def test_lines_without_a_cost_are_counted_and_left_out_of_the_margin(world: World) -> None:
    customer = await world.customer()
    known, unknown = await world.product(STOCK), await world.product(Goods(cost=None, stock={"main": Decimal(50)}))
    order = await sale(world, customer, (known, pieces(5)), (unknown, pieces(2)))
    report = await world.backend.sales(SalesQuery(await _today(world), "margin", customer_id=customer.id))
    figures = report.total[world.currency]
    assert figures.without_cost == 1
    assert figures.net_without_cost is not None
    assert figures.margin is not None
    assert figures.net == order.totals.subtotal
    assert figures.margin == figures.net - figures.net_without_cost - Money(Decimal("20.00"), world.currency)


@needs("margin")
async def test_a_margin_is_refused_without_a_figure_to_who_may_not_see_costs(world: World) -> None:
    with pytest.raises(Denied) as caught:
        await world.person("clerk").sales(SalesQuery(await _today(world), "margin"))
    assert caught.value.right == "see_cost"
    assert not any(sign.isdigit() for sign in caught.value.message)


@needs("sales")
async def test_without_the_measure_margin_no_cost_is_told(world: World) -> None:
    customer, *_ = await _sales(world, 5)
    report = await world.backend.sales(SalesQuery(await _today(world), group_by="product", customer_id=customer.id))
    assert [row.figures.cost for row in report.rows] == [None]


@needs("stock_report")
async def test_the_value_of_stock_is_at_cost_and_adds_up_by_warehouse(world: World) -> None:
    product = await world.product(Goods(cost=Decimal("4.00"), stock={"main": Decimal(10), "second": Decimal(5)}))
    report = await world.backend.stock_report("value", limit=100_000)
    mine = [row for row in report.rows if row.sku == product.sku]
    assert sorted(row.value.amount for row in mine if row.value) == [Decimal("20.00"), Decimal("40.00")]
    assert report.total is not None
    assert sum(each.amount for each in report.by_warehouse.values()) == report.total.amount
    assert sum(row.value.amount for row in report.rows if row.value) == report.total.amount
    assert report.total_count == len(report.rows)


@needs("stock_report")
async def test_the_value_of_stock_is_refused_or_absent_for_who_may_not_see_costs(world: World) -> None:
    await world.product(Goods(cost=Decimal("4.00"), stock={"main": Decimal(10)}))
    try:
        report = await world.person("warehouse").stock_report("value")
    except Denied as error:
        report = None
        assert error.right == "see_cost"  # noqa: PT017
    assert report is None or (report.total is None and all(row.value is None for row in report.rows))


@needs("stock_report", "confirm_quotation")
async def test_a_page_of_a_stock_report_counts_all(world: World) -> None:
    for _ in range(2):
        await world.product(Goods(stock={"main": Decimal(10)}))
    one = await world.backend.stock_report("value", limit=1)
    everything = await world.backend.stock_report("value", limit=100_000)
    assert (len(one.rows), one.total_count, one.total) == (1, everything.total_count, everything.total)


@needs("stock_report")
async def test_new_arrivals_are_not_called_slow(world: World) -> None:
    product = await world.product(Goods(stock={"main": Decimal(10)}))
    report = await world.backend.stock_report("slow", limit=100_000)
    assert product.sku not in [row.sku for row in report.rows]
    assert report.days > 0


@needs("stock_report", "deliver_order")
async def test_what_is_nearly_sold_out_is_low(world: World) -> None:
    product, customer = await world.product(Goods(stock={"main": Decimal(100)})), await world.customer()
    await delivered(world, await sale(world, customer, (product, pieces(95))))
    report = await world.backend.stock_report("low", limit=100_000)
    (row,) = [each for each in report.rows if each.sku == product.sku and each.on_hand]
    assert told(row.on_hand, row.available) == (5, (await level(world, product)).available)
    assert row.daily_use is not None
    assert row.daily_use > 0


@needs("suggest_purchases", "deliver_order")
async def test_what_is_suggested_follows_from_the_parts_of_its_formula(world: World) -> None:
    product, customer = await world.product(Goods(stock={"main": Decimal(100)})), await world.customer()
    await delivered(world, await sale(world, customer, (product, pieces(90))))
    (row,) = (await world.backend.suggest_purchases(skus=[product.sku])).rows
    assert told(row.available, row.incoming, row.waiting, row.sold) == (10, 0, 0, 90)
    assert row.daily_use == Decimal(3)
    expected = row.daily_use * (row.lead_days + 30) + row.waiting - row.available - row.incoming
    assert abs(row.wanted - expected) < 1
    assert row.quantity >= row.wanted


@needs("suggest_purchases", "deliver_order")
async def test_what_is_on_order_is_not_suggested_again(world: World) -> None:
    product, customer = await world.product(Goods(stock={"main": Decimal(100)})), await world.customer()
    await delivered(world, await sale(world, customer, (product, pieces(90))))
    await world.arrival(product, Decimal(5000), days=3)
    rows = (await world.backend.suggest_purchases(skus=[product.sku])).rows
    assert all(row.quantity == 0 and row.incoming == 5000 for row in rows)


@needs("quiet_customers")
async def test_who_has_just_bought_is_not_quiet(world: World) -> None:
    customer, *_ = await _sales(world, 1, 1, 1)
    quiet = await world.backend.quiet_customers(limit=10_000)
    assert customer.id not in [each.party_id for each in quiet.customers]
    assert quiet.total_count == len(quiet.customers)
