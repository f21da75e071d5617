"""Deliveries: part of an order or all that is there; never more than is open, on hand, or held for others."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from decimal import Decimal

import pytest

from erpilot.shop.backend import LinePart, Parcel, Written
from erpilot.shop.errors import Conflict, Denied, Invalid, NotFound, Refused
from erpilot.shop.values import Quantity
from tests.support.erp_cases import cases, delivered, level, pieces, sale, told
from tests.support.erp_world import Goods, World, fresh, needs, write

STOCK = Goods(stock={"main": Decimal(100)})


@needs("confirm_quotation", "deliver_order")
async def test_a_whole_delivery_makes_the_order_shipped(world: World) -> None:
    product = await world.product(STOCK)
    order = await sale(world, await world.customer(), (product, pieces(10)))
    after = await delivered(world, order)
    (line,) = after.lines
    assert told(line.delivered, line.open) == (10, 0)
    assert after.head.shipped == "full"
    assert told((await level(world, product)).on_hand) == (90,)


@needs("confirm_quotation", "deliver_order")
async def test_a_part_goes_out_and_the_rest_stays_open_and_held(world: World) -> None:
    product = await world.product(STOCK)
    order = await sale(world, await world.customer(), (product, pieces(10)))
    after = await delivered(world, order, LinePart(order.lines[0].line, pieces(4)))
    (line,) = after.lines
    assert told(line.delivered, line.open) == (4, 6)
    assert (after.head.shipped, after.head.state) == ("partial", "in_progress")
    stock = await level(world, product)
    assert told(stock.on_hand, stock.reserved) == (96, 6)


@needs("confirm_quotation", "deliver_order")
async def test_a_delivery_is_on_the_order_with_its_number_and_lines(world: World) -> None:
    order = await sale(world, await world.customer(), (await world.product(STOCK), pieces(10)))
    made = await world.backend.deliver_order(
        order.head.number, (LinePart(order.lines[0].line, pieces(4)),), write=write(order.head.version)
    )
    (delivery,) = [each for each in made.order.deliveries if each.number in made.linked]
    assert told(*[(sku, qty) for sku, qty, _ in delivery.lines]) == ((order.lines[0].sku, 4),)


@needs("confirm_quotation", "deliver_order")
async def test_pieces_of_an_order_in_cases_go_out_in_its_unit(world: World) -> None:
    product = await world.product(STOCK)
    order = await sale(world, await world.customer(), (product, cases(2)))
    after = await delivered(world, order, LinePart(order.lines[0].line, cases(1)))
    assert told(after.lines[0].delivered, after.lines[0].open) == (1, 1)
    assert told((await level(world, product)).on_hand) == (76,)


@needs("confirm_quotation", "deliver_order")
async def test_more_than_is_open_does_not_go_out(world: World) -> None:
    product = await world.product(STOCK)
    order = await sale(world, await world.customer(), (product, pieces(10)))
    with pytest.raises((Refused, Invalid)):
        await delivered(world, order, LinePart(order.lines[0].line, pieces(11)))
    assert told((await level(world, product)).on_hand) == (100,)


@needs("confirm_quotation", "deliver_order")
async def test_more_than_is_there_does_not_go_out(world: World) -> None:
    product = await world.product(Goods(stock={"main": Decimal(5)}))
    order = await sale(world, await world.customer(), (product, pieces(10)))
    with pytest.raises(Refused):
        await delivered(world, order, LinePart(order.lines[0].line, pieces(10)))
    assert told((await level(world, product)).on_hand) == (5,)


@needs("confirm_quotation", "deliver_order")
async def test_what_is_there_goes_out_and_the_rest_stays(world: World) -> None:
    order = await sale(
        world, await world.customer(), (await world.product(Goods(stock={"main": Decimal(5)})), pieces(8))
    )
    after = await delivered(world, order)
    assert told(after.lines[0].delivered, after.lines[0].open) == (5, 3)


@needs("confirm_quotation", "deliver_order")
async def test_nothing_there_is_a_refusal(world: World) -> None:
    order = await sale(world, await world.customer(), (await world.product(), pieces(8)))
    with pytest.raises(Refused):
        await delivered(world, order)


@needs("confirm_quotation", "deliver_order")
async def test_what_is_held_for_others_does_not_go_out(world: World) -> None:
    product, customer = await world.product(Goods(stock={"main": Decimal(10)})), await world.customer()
    await sale(world, customer, (product, pieces(8)))
    second = await sale(world, customer, (product, pieces(5)))
    with pytest.raises(Refused):
        await delivered(world, second, LinePart(second.lines[0].line, pieces(5)))
    after = await delivered(world, second)
    assert told(after.lines[0].delivered) == (2,)


@needs("confirm_quotation", "deliver_order")
@pytest.mark.parametrize("quantity", [Decimal(0), Decimal(-1), Decimal("0.5")])
async def test_a_quantity_that_cannot_be_does_not_go_out(world: World, quantity: Decimal) -> None:
    order = await sale(world, await world.customer(), (await world.product(STOCK), pieces(10)))
    with pytest.raises((Invalid, Refused)):
        await delivered(world, order, LinePart(order.lines[0].line, Quantity(quantity, "个")))


@needs("confirm_quotation", "deliver_order")
async def test_a_line_that_the_order_does_not_have_is_not_found(world: World) -> None:
    order = await sale(world, await world.customer(), (await world.product(STOCK), pieces(10)))
    with pytest.raises((NotFound, Invalid)):
        await delivered(world, order, LinePart(99_999_999, pieces(1)))


@needs("confirm_quotation", "deliver_order")
async def test_one_key_is_one_delivery(world: World) -> None:
    product = await world.product(STOCK)
    order = await sale(world, await world.customer(), (product, pieces(10)))
    request, part = write(order.head.version, key=fresh("key-")), (LinePart(order.lines[0].line, pieces(4)),)
    first = await world.backend.deliver_order(order.head.number, part, write=request)
    again = await world.backend.deliver_order(order.head.number, part, write=request)
    assert (again.number, again.linked, again.repeated) == (first.number, first.linked, True)
    assert told((await level(world, product)).on_hand) == (96,)


@needs("confirm_quotation", "deliver_order")
async def test_of_two_who_deliver_the_same_rest_one_does(world: World) -> None:
    product = await world.product(STOCK)
    order = await sale(world, await world.customer(), (product, pieces(10)))
    outcomes = await asyncio.gather(
        *(
            each.deliver_order(order.head.number, (), write=write(order.head.version))
            for each in (world.backend, world.person("owner"))
        ),
        return_exceptions=True,
    )
    assert sorted(isinstance(each, Written) for each in outcomes) == [False, True]
    assert all(isinstance(each, Written | Conflict | Refused) for each in outcomes)
    assert told((await level(world, product)).on_hand) == (90,)


@needs("confirm_quotation", "deliver_order")
async def test_a_clerk_does_not_deliver(world: World) -> None:
    order = await sale(world, await world.customer(), (await world.product(STOCK), pieces(10)))
    with pytest.raises(Denied) as caught:
        await world.person("clerk").deliver_order(order.head.number, (), write=write(order.head.version))
    assert caught.value.right == "stock"


@needs("confirm_quotation", "deliver_order", "record_payment")
async def test_a_parcel_has_its_carrier_and_its_tracking_number(world: World) -> None:
    order = await sale(world, await world.customer(), (await world.product(STOCK), pieces(10)))
    parcel = Parcel("顺丰速运", "SF0001")
    made = await world.backend.deliver_order(order.head.number, (), parcel=parcel, write=write(order.head.version))
    assert [(each.carrier, each.tracking) for each in made.order.deliveries] == [("顺丰速运", "SF0001")]


@needs("confirm_quotation", "deliver_order", "record_payment")
async def test_what_went_out_is_invoiced_and_the_parts_add_up_to_the_order(world: World) -> None:
    product = await world.product(Goods(price=Decimal("3.33"), cost=None, stock={"main": Decimal(100)}))
    order = await sale(world, await world.customer(), (product, pieces(7)))
    for count in (3, 3, 1):
        order = await delivered(world, order, LinePart(order.lines[0].line, pieces(count)))
    assert sum(each.total.amount for each in order.invoices) == order.head.total.amount
    assert (order.head.invoiced, order.head.state) == ("full", "done")


@needs("confirm_quotation", "deliver_order", "record_payment")
async def test_a_delivery_in_the_future_has_not_happened(world: World) -> None:
    order = await sale(world, await world.customer(), (await world.product(STOCK), pieces(10)))
    later = Parcel(date=world.backend.now().date() + timedelta(1))
    with pytest.raises(Invalid):
        await world.backend.deliver_order(order.head.number, (), parcel=later, write=write(order.head.version))
