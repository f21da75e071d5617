"""Cancelling: what has not gone out, never what has; what was held is free again."""

from __future__ import annotations

from decimal import Decimal

import pytest

from erpilot.shop.backend import LinePart
from erpilot.shop.errors import Conflict, Denied, Invalid, Refused
from tests.support.erp_cases import delivered, level, pieces, quotation, sale, told
from tests.support.erp_world import Goods, World, fresh, needs, write

STOCK = Goods(stock={"main": Decimal(100)})


@needs("confirm_quotation", "cancel_order")
async def test_a_cancelled_order_holds_nothing(world: World) -> None:
    product = await world.product(STOCK)
    order = await sale(world, await world.customer(), (product, pieces(10)))
    done = await world.backend.cancel_order(order.head.number, reason="changed mind", write=write(order.head.version))
    assert done.order.head.state == "cancelled"
    (line,) = done.order.lines
    assert told(line.cancelled, line.open, line.reserved) == (10, 0, 0)
    after = await level(world, product)
    assert told(after.on_hand, after.reserved, after.available) == (100, 0, 100)


@needs("confirm_quotation", "cancel_order")
async def test_cancelling_twice_with_one_key_is_once(world: World) -> None:
    order = await sale(world, await world.customer(), (await world.product(STOCK), pieces(10)))
    request = write(order.head.version, key=fresh("key-"))
    await world.backend.cancel_order(order.head.number, reason="x", write=request)
    again = await world.backend.cancel_order(order.head.number, reason="x", write=request)
    assert again.repeated


@needs("confirm_quotation", "cancel_order")
async def test_what_is_cancelled_is_not_cancelled_again(world: World) -> None:
    order = await sale(world, await world.customer(), (await world.product(STOCK), pieces(10)))
    gone = await world.backend.cancel_order(order.head.number, reason="x", write=write(order.head.version))
    with pytest.raises((Refused, Conflict)):
        await world.backend.cancel_order(order.head.number, reason="x", write=write(gone.order.head.version))


@needs("confirm_quotation", "cancel_order")
async def test_a_cancellation_based_on_an_old_version_is_a_conflict(world: World) -> None:
    product = await world.product(STOCK)
    order = await sale(world, await world.customer(), (product, pieces(10)))
    with pytest.raises((Conflict, Invalid)):
        await world.backend.cancel_order(order.head.number, reason="x", write=write(f"{order.head.version}0"))
    assert (await world.backend.get_order(order.head.number)).head.state == "confirmed"
    assert told((await level(world, product)).reserved) == (10,)


@needs("confirm_quotation", "cancel_order")
async def test_a_cancellation_needs_a_reason(world: World) -> None:
    order = await sale(world, await world.customer(), (await world.product(STOCK), pieces(10)))
    with pytest.raises(Invalid):
        await world.backend.cancel_order(order.head.number, reason="  ", write=write(order.head.version))


@needs("confirm_quotation", "cancel_order")
async def test_the_warehouse_does_not_cancel_sales(world: World) -> None:
    order = await sale(world, await world.customer(), (await world.product(STOCK), pieces(10)))
    with pytest.raises(Denied) as caught:
        await world.person("warehouse").cancel_order(order.head.number, reason="x", write=write(order.head.version))
    assert caught.value.right == "sell"


@needs("confirm_quotation", "cancel_order", "deliver_order")
async def test_an_order_of_which_goods_went_out_is_not_cancelled_whole(world: World) -> None:
    product = await world.product(STOCK)
    order = await sale(world, await world.customer(), (product, pieces(10)))
    part = await delivered(world, order, LinePart(order.lines[0].line, pieces(4)))
    with pytest.raises(Refused):
        await world.backend.cancel_order(order.head.number, reason="x", write=write(part.head.version))
    assert told((await level(world, product)).on_hand) == (96,)


@needs("confirm_quotation", "cancel_order", "deliver_order")
async def test_the_rest_of_an_order_is_cancelled_and_the_order_is_done(world: World) -> None:
    product = await world.product(STOCK)
    order = await sale(world, await world.customer(), (product, pieces(10)))
    part = await delivered(world, order, LinePart(order.lines[0].line, pieces(4)))
    done = await world.backend.cancel_order(
        order.head.number, reason="x", rest_only=True, write=write(part.head.version)
    )
    (line,) = done.order.lines
    assert told(line.ordered, line.delivered, line.cancelled, line.open) == (10, 4, 6, 0)
    assert done.order.head.state == "done"
    assert told((await level(world, product)).reserved) == (0,)


@needs("confirm_quotation", "cancel_order", "get_stock")
async def test_what_a_cancelled_order_held_goes_to_those_who_wait(world: World) -> None:
    product, customer = await world.product(Goods(stock={"main": Decimal(10)})), await world.customer()
    first = await sale(world, customer, (product, pieces(10)))
    await sale(world, customer, (product, pieces(6)))
    await world.backend.cancel_order(first.head.number, reason="x", write=write(first.head.version))
    after = await level(world, product)
    assert told(after.on_hand, after.available - after.waiting) == (10, 4)


@needs("create_quotation", "cancel_order")
async def test_a_clerk_takes_back_a_quotation(world: World) -> None:
    quoted = (await quotation(world, await world.customer(), (await world.product(), pieces(1)))).order
    done = await world.person("clerk").cancel_order(quoted.head.number, reason="typo", write=write(quoted.head.version))
    assert done.order.head.state == "cancelled"
