"""Reading from the embedded shop: search, stock, prices, documents."""

from __future__ import annotations

import time
from datetime import date
from decimal import Decimal

import pytest

from erpilot.shop.backend import LineWanted, OrderFilter
from erpilot.shop.embedded.shop import EmbeddedShop
from erpilot.shop.errors import NotFound, Refused
from erpilot.shop.values import Quantity

PHRASES = [
    ("A4 纸", "PA4-70"),
    ("A4 paper", "PA4-70"),
    ("小米8 黑色 64G", "201808270027002"),
    ("黑色64G小米8", "201808270027002"),
    ("black 64G phone", "201808270027002"),
    ("矿泉水", "BV-NFSQ-550"),
    ("农夫山泉", "BV-NFSQ-550"),
    ("water", "BV-NFSQ-550"),
    ("保温杯", "HW-CUP-500"),
    ("flasks", "HW-CUP-500"),
    ("酱油", "FD-SOY-500"),
    ("soy sauce", "FD-SOY-500"),
    ("那个蓝色的大号水壶", "HW-KET-BL"),
    ("big blue kettle", "HW-KET-BL"),
    ("6901234567892", "BV-COLA-500"),
    ("可乐", "BV-COLA-500"),
    ("cola", "BV-COLA-500"),
    ("雪碧", "BV-SPRI-500"),
    ("胶带", "OF-TAPE-45"),
    ("tape", "OF-TAPE-45"),
    ("订书机", "OF-STAP-12"),
    ("staplers", "OF-STAP-12"),
    ("pa4-70", "PA4-70"),
]


@pytest.mark.parametrize(("text", "sku"), PHRASES)
async def test_products_are_found_as_people_name_them_in_both_languages(
    shop: EmbeddedShop, text: str, sku: str
) -> None:
    found = await shop.find_products(text)
    assert found.decided
    assert found.hits[0].record.sku == sku


@pytest.mark.parametrize("text", ["卫衣", "hoodies", "小米8", "小米9", "水壶", "毛巾"])
async def test_what_several_products_fit_is_not_decided(shop: EmbeddedShop, text: str) -> None:
    found = await shop.find_products(text)
    assert not found.decided
    assert found.total_count >= len(found.hits) > 1


@pytest.mark.parametrize("text", ["690123456789", "6901234567893", "69012345", "qqqqqq", "飛碟", "   ?!"])
async def test_a_part_of_a_barcode_or_nonsense_decides_nothing(shop: EmbeddedShop, text: str) -> None:
    assert not (await shop.find_products(text)).decided


async def test_the_barcode_of_a_case_finds_the_product_and_names_the_unit(shop: EmbeddedShop) -> None:
    cola = (await shop.find_products("BV-COLA-500")).hits[0].record
    case = cola.unit("箱").barcode
    assert case is not None
    hit = (await shop.find_products(case)).hits[0]
    assert (hit.record.sku, hit.match, hit.unit) == ("BV-COLA-500", "barcode", "箱")


async def test_every_product_and_customer_is_found_by_its_own_code_and_name(shop: EmbeddedShop) -> None:
    page = await shop.find_products("", limit=10_000)
    for hit in page.hits[::9]:
        product = hit.record
        assert (await shop.find_products(product.sku)).decided
        by_name = await shop.find_products(f"{product.name} {product.specification}", limit=50)
        assert product.sku in {each.record.sku for each in by_name.hits}
    customers = await shop.find_customers("", limit=1000)
    for each in customers.hits:
        found = await shop.find_customers(each.record.name)
        assert (found.hits[0].record.id, found.decided) == (each.record.id, True)


async def test_a_page_goes_on_where_the_last_one_ended(shop: EmbeddedShop) -> None:
    first = await shop.find_products("", category="饮料", limit=4)
    second = await shop.find_products("", category="饮料", limit=100, offset=4)
    skus = [hit.record.sku for hit in (*first.hits, *second.hits)]
    assert len(skus) == len(set(skus)) == first.total_count == second.total_count


async def test_only_what_is_in_stock_is_listed_when_asked(shop: EmbeddedShop) -> None:
    found = await shop.find_products("卫衣", in_stock=True, limit=20)
    levels = await shop.get_stock([hit.record.sku for hit in found.hits])
    assert all(sum(level.available for level in each) > 0 for each in levels.values())


async def test_an_unknown_category_is_refused_with_those_there_are(shop: EmbeddedShop) -> None:
    with pytest.raises(NotFound) as refusal:
        await shop.find_products("", category="宇宙飞船")
    assert "饮料" in refusal.value.nearest


@pytest.mark.parametrize(
    ("text", "party"), [("鑫源", "C001"), ("Xinyuan", "C001"), ("鑫源达", "C002"), ("c001", "C001"), ("佳禾", "ZH019")]
)
async def test_customers_are_found_by_short_name_and_id(shop: EmbeddedShop, text: str, party: str) -> None:
    found = await shop.find_customers(text)
    assert (found.decided, found.hits[0].record.id) == (True, party)


async def test_similar_customers_are_offered_not_chosen_and_suppliers_are_not_customers(shop: EmbeddedShop) -> None:
    found = await shop.find_customers("世创")
    assert (found.decided, {hit.record.id for hit in found.hits}) == (False, {"ZH005", "ZH009"})
    assert not (await shop.find_customers("宏达")).decided
    assert (await shop.find_suppliers("宏达")).hits[0].record.id == "S001"


async def test_stock_of_every_product_adds_up_over_warehouses(shop: EmbeddedShop) -> None:
    skus = [hit.record.sku for hit in (await shop.find_products("", limit=10_000)).hits]
    for levels in (await shop.get_stock(skus)).values():
        assert [level.warehouse.code for level in levels] == ["MAIN", "EAST"]
        for level in levels:
            assert level.available == level.on_hand - level.reserved >= 0


async def test_a_warehouse_is_known_by_code_or_name(shop: EmbeddedShop) -> None:
    for name in ("EAST", "east", "东门店", "东门"):
        (level,) = (await shop.get_stock(["PA4-70"], warehouse=name))["PA4-70"]
        assert level.warehouse.code == "EAST"
    with pytest.raises(NotFound) as refusal:
        await shop.get_stock(["PA4-70"], warehouse="西仓")
    assert refusal.value.nearest == ("MAIN 总仓", "EAST 东门店")


@pytest.mark.parametrize("written", ["123", "SO-2026-0123", "订单123", "#123", "so20260123", "order 123", "123 号单"])
async def test_order_123_is_found_however_it_is_written(shop: EmbeddedShop, written: str) -> None:
    assert (await shop.get_order(written)).head.number == "SO-2026-0123"


async def test_order_123_is_the_order_that_the_examples_speak_of(shop: EmbeddedShop) -> None:
    order = await shop.get_order("123")
    assert order.other_matches == ("SO-2025-0123",)
    assert (order.head.party, order.head.state, order.head.shipped) == ("鑫源商行", "in_progress", "partial")
    assert 4 <= len(order.lines) <= 6
    assert len({line.unit for line in order.lines}) >= 3
    levels = await shop.get_stock([line.sku for line in order.lines])
    short = [
        line.sku
        for line in order.lines
        if sum(level.available for level in levels[line.sku]) < line.ordered * line.factor
    ]
    assert short == ["BV-COLA-500"]
    arrivals = [each for level in levels["BV-COLA-500"] for each in level.arrivals]
    assert {each.confirmed for each in arrivals} == {True, False}
    assert all(each.date > shop.now().date() for each in arrivals)
    now = await shop.get_prices(
        [LineWanted(line.sku, Quantity(line.ordered, line.unit)) for line in order.lines],
        customer_id=order.head.party_id,
    )
    changed = [line.sku for line, new in zip(order.lines, now.lines, strict=True) if line.unit_price != new.unit_price]
    assert changed
    assert len(changed) < len(order.lines)


async def test_every_document_adds_up(shop: EmbeddedShop) -> None:
    for offset in range(0, 10_000, 100):
        page = await shop.list_orders(OrderFilter(), limit=100, offset=offset)
        for head in page.orders[::3]:
            order = await shop.get_order(head.number)
            assert order.totals.subtotal + order.totals.tax == order.totals.total == head.total
            for line in order.lines:
                assert line.ordered == line.delivered + line.cancelled + line.open
                assert line.reserved <= line.open
        if not page.orders:
            return
    pytest.fail("there is no end to the documents")


async def test_totals_of_a_list_are_over_everything_and_by_currency(shop: EmbeddedShop) -> None:
    which = OrderFilter(kind="sale", states=("done",))
    page = await shop.list_orders(which, limit=3)
    everything = await shop.list_orders(which, limit=10_000)
    assert len(page.orders) == 3
    assert page.total_count == everything.total_count == len(everything.orders) > 100
    assert page.total == everything.total
    assert set(page.total) == {"CNY", "USD"}
    for currency, total in page.total.items():
        assert total.amount == sum(o.total.amount for o in everything.orders if o.total.currency == currency)


async def test_filters_of_a_list_all_hold(shop: EmbeddedShop) -> None:
    page = await shop.list_orders(
        OrderFilter(
            kind="sale", party_id="C001", date_from=date(2026, 11, 1), date_to=date(2026, 11, 29), sku="PA4-70"
        ),
        limit=100,
    )
    assert "SO-2026-0123" in {head.number for head in page.orders}
    assert {head.party_id for head in page.orders} == {"C001"}
    assert all(date(2026, 11, 1) <= head.date <= date(2026, 11, 29) for head in page.orders)
    late = await shop.list_orders(OrderFilter(kind="sale", promised_before=date(2026, 11, 29)), limit=100)
    assert late.total_count == len(late.orders) > 3
    for head in late.orders:
        assert head.promised is not None
        assert head.promised <= date(2026, 11, 29)
        assert any(line.open for line in (await shop.get_order(head.number)).lines)
    noted = await shop.list_orders(OrderFilter(text="先打电话"), limit=100)
    assert noted.total_count > 0
    assert (await shop.list_orders(OrderFilter(text="%"), limit=1)).total_count == 0


async def test_an_unknown_number_names_near_ones(shop: EmbeddedShop) -> None:
    with pytest.raises(NotFound, match="'SO-2026-9999'") as refusal:
        await shop.get_order("SO-2026-9999")
    assert refusal.value.nearest[0] == "SO-2026-0165"
    with pytest.raises(NotFound, match="not a document number"):
        await shop.get_order("哪一单")


async def test_prices_follow_the_list_named_then_the_customer_then_retail(shop: EmbeddedShop) -> None:
    line = [LineWanted("HW-CUP-500", Quantity(Decimal(200), "个"))]
    retail = await shop.get_prices(line)
    wholesale = await shop.get_prices(line, customer_id="C001")
    vip = await shop.get_prices(line, customer_id="C001", price_list="VIP")
    found = [quote.lines[0].unit_price for quote in (retail, wholesale, vip)]
    assert found == [Decimal("49.00"), Decimal("43.12"), Decimal("41.65")]
    assert {quote.lines[0].list_price for quote in (retail, wholesale, vip)} == {Decimal("49.00")}
    with pytest.raises(NotFound) as refusal:
        await shop.get_prices(line, price_list="亲友价")
    assert "vip VIP价" in refusal.value.nearest


async def test_a_tier_is_reached_at_its_quantity(shop: EmbeddedShop) -> None:
    prices = {}
    for count in (239, 240, 960):
        line = [LineWanted("HW-CUP-500", Quantity(Decimal(count), "个"))]
        prices[count] = (await shop.get_prices(line, customer_id="C001")).lines[0]
    assert [each.unit_price for each in prices.values()] == [Decimal("43.12"), Decimal("41.16"), Decimal("39.20")]
    assert prices[239].next_tier is not None
    assert prices[239].next_tier.from_qty == 240
    assert prices[960].next_tier is None


async def test_the_price_is_that_of_the_day(shop: EmbeddedShop) -> None:
    line = [LineWanted("BV-COLA-500", Quantity(Decimal(1), "箱"))]
    before = await shop.get_prices(line, on=date(2026, 11, 18))
    now = await shop.get_prices(line)
    assert before.lines[0].unit_price < now.lines[0].unit_price
    with pytest.raises(Refused, match="no price"):
        await shop.get_prices(line, on=date(2030, 1, 1))


async def test_an_export_customer_pays_dollars_without_tax(shop: EmbeddedShop) -> None:
    quote = await shop.get_prices([LineWanted("HW-CUP-500", Quantity(Decimal(10), "个"))], customer_id="ALFKI")
    assert quote.price_list.currency == "USD"
    assert quote.totals.tax.amount == 0
    assert quote.totals.total.amount == quote.lines[0].unit_price * 10


async def test_reading_is_quick(shop: EmbeddedShop) -> None:
    await shop.find_products("小米8 黑色 64G")
    start = time.perf_counter()
    for _ in range(10):
        await shop.get_order("123")
        await shop.get_stock(["PA4-70", "BV-COLA-500"])
        await shop.find_products("小米8 黑色 64G")
    assert (time.perf_counter() - start) / 30 < 0.05


async def test_who_asks_and_what_can_be_done_is_said(shop: EmbeddedShop) -> None:
    me = await shop.whoami()
    assert (me.company.currency, me.company.zone, me.company.week_start) == ("CNY", "Asia/Shanghai", 0)
    assert "create_quotation" in me.capabilities
    assert shop.now().utcoffset() is not None
