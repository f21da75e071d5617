"""The four words for stock: on hand, reserved, available, incoming; by warehouse, in base units."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest

from erpilot.shop.catalogue import available_on, complete_on
from erpilot.shop.errors import NotFound
from tests.support.erp_cases import cases, delivered, level, pieces, quotation, sale, told
from tests.support.erp_world import Goods, World, needs


@needs("get_stock")
async def test_what_is_there_is_told_by_warehouse(world: World) -> None:
    product = await world.product(Goods(stock={"main": Decimal(30), "second": Decimal(12)}))
    levels = {each.warehouse.code: each for each in (await world.backend.get_stock([product.sku]))[product.sku]}
    assert told(levels[world.main].on_hand, levels[world.second].on_hand) == (30, 12)


@needs("get_stock")
async def test_one_warehouse_can_be_asked_for_by_code_and_by_name(world: World) -> None:
    product = await world.product(Goods(stock={"main": Decimal(30), "second": Decimal(12)}))
    (by_code,) = (await world.backend.get_stock([product.sku], warehouse=world.second))[product.sku]
    (by_name,) = (await world.backend.get_stock([product.sku], warehouse=by_code.warehouse.name))[product.sku]
    assert by_code.on_hand == by_name.on_hand == 12


@needs("get_stock")
async def test_a_product_that_never_moved_has_none(world: World) -> None:
    product = await world.product()
    for each in (await world.backend.get_stock([product.sku]))[product.sku]:
        assert told(each.on_hand, each.reserved, each.available, each.incoming) == (0, 0, 0, 0)


@needs("get_stock")
async def test_an_unknown_warehouse_is_not_found(world: World) -> None:
    product = await world.product()
    with pytest.raises(NotFound):
        await world.backend.get_stock([product.sku], warehouse="NO-SUCH-PLACE")


@needs("get_stock")
async def test_an_unknown_product_is_not_found(world: World) -> None:
    with pytest.raises(NotFound):
        await world.backend.get_stock(["NONE-0"])


@needs("get_stock", "create_quotation")
async def test_a_quotation_reserves_nothing(world: World) -> None:
    product = await world.product(Goods(stock={"main": Decimal(30)}))
    await quotation(world, await world.customer(), (product, pieces(10)))
    after = await level(world, product)
    assert told(after.on_hand, after.reserved, after.available) == (30, 0, 30)


@needs("get_stock", "confirm_quotation")
async def test_a_confirmed_order_reserves_and_leaves_what_is_on_hand(world: World) -> None:
    product = await world.product(Goods(stock={"main": Decimal(100)}))
    await sale(world, await world.customer(), (product, cases(2)))
    after = await level(world, product)
    assert told(after.on_hand, after.reserved, after.available) == (100, 48, 52)


@needs("get_stock", "confirm_quotation")
async def test_what_is_reserved_is_not_promised_twice(world: World) -> None:
    product = await world.product(Goods(stock={"main": Decimal(30)}))
    customer = await world.customer()
    await sale(world, customer, (product, pieces(20)))
    await sale(world, customer, (product, pieces(20)))
    after = await level(world, product)
    assert after.available - after.waiting == -10
    assert after.reserved <= after.on_hand


@needs("get_stock", "confirm_quotation", "deliver_order")
async def test_a_delivery_takes_from_what_was_reserved(world: World) -> None:
    product = await world.product(Goods(stock={"main": Decimal(30)}))
    order = await sale(world, await world.customer(), (product, pieces(10)))
    await delivered(world, order)
    after = await level(world, product)
    assert told(after.on_hand, after.reserved, after.available) == (20, 0, 20)


@needs("get_stock")
async def test_a_promised_purchase_is_incoming_with_day_and_document(world: World) -> None:
    product = await world.product()
    number = await world.arrival(product, Decimal(40), days=5)
    (arrival,) = (await level(world, product)).arrivals
    assert told(arrival.quantity, arrival.document, arrival.confirmed) == (40, number, True)
    assert arrival.date == world.backend.now().date() + timedelta(5)


@needs("get_stock")
async def test_a_purchase_that_nobody_promised_is_called_unconfirmed(world: World) -> None:
    product = await world.product()
    await world.arrival(product, Decimal(40), days=5, confirmed=False)
    after = await level(world, product)
    assert told(after.incoming, after.incoming_unconfirmed) == (0, 40)


@needs("get_stock")
async def test_the_forecast_counts_what_arrives_up_to_the_day(world: World) -> None:
    product = await world.product(Goods(stock={"main": Decimal(10)}))
    await world.arrival(product, Decimal(40), days=5)
    levels = (await world.backend.get_stock([product.sku]))[product.sku]
    today = world.backend.now().date()
    assert available_on(levels, today + timedelta(4), today) == 10
    assert available_on(levels, today + timedelta(5), today) == 50
    assert complete_on(levels, Decimal(50), today) == today + timedelta(5)
    assert complete_on(levels, Decimal(51), today) is None


@needs("get_stock", "confirm_quotation")
async def test_what_waits_takes_what_arrives_first(world: World) -> None:
    product = await world.product(Goods(stock={"main": Decimal(10)}))
    await sale(world, await world.customer(), (product, pieces(30)))
    await world.arrival(product, Decimal(40), days=5)
    levels = (await world.backend.get_stock([product.sku]))[product.sku]
    today = world.backend.now().date()
    assert available_on(levels, today + timedelta(5), today) == 20
