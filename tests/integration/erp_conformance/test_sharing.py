"""What is held for each order: goods that several are owed are shared out, and never counted twice."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

from erpilot.shop.backend import Adjustment, LinePart, LineWanted, OrderDraft
from erpilot.shop.catalogue import Product
from erpilot.shop.documents import Customer, Order
from erpilot.shop.values import Quantity
from tests.support.erp_cases import cases, delivered, level, pieces, told
from tests.support.erp_world import Goods, World, needs, write


async def _promised(
    world: World, customer: Customer, days: int, *wanted: tuple[Product, Quantity], clerk: bool = False
) -> Order:
    """An order for a day; of a clerk: on an ERP where only the warehouse assigns goods, nothing is assigned to it."""
    seller = world.person("clerk") if clerk else world.backend
    lines = tuple(LineWanted(product.sku, quantity) for product, quantity in wanted)
    day = world.backend.now().date() + timedelta(days)
    return (await seller.create_order(OrderDraft(customer.id, lines, promised=day), write=write())).order


async def _reserved(world: World, *orders: Order) -> tuple[object, ...]:
    """What each has of its first line now."""
    return tuple([(await world.backend.get_order(each.head.number)).lines[0].reserved for each in orders])


async def _counted(world: World, product: Product, quantity: int, expected: int) -> None:
    count = Adjustment(product.sku, world.main, "set", pieces(quantity), pieces(expected))
    await world.backend.adjust_stock([count], reason="count", write=write())


@needs("create_order", "get_stock")
async def test_of_two_orders_for_more_than_there_is_the_older_promise_has_it_all_and_the_other_the_rest(
    world: World,
) -> None:
    product, customer = await world.product(Goods(stock={"main": Decimal(10)})), await world.customer()
    first = await _promised(world, customer, 3, (product, pieces(8)))
    second = await _promised(world, customer, 9, (product, pieces(8)))
    assert told(first.lines[0].reserved, second.lines[0].reserved) == (8, 2)
    assert await _reserved(world, first, second) == (8, 2)
    after = await level(world, product)
    assert told(after.on_hand, after.reserved, after.waiting) == (10, 10, 6)


@needs("create_order", "get_stock")
async def test_what_a_clerk_sells_is_held_too(world: World) -> None:
    product, customer = await world.product(Goods(stock={"main": Decimal(10)})), await world.customer()
    first = await _promised(world, customer, 3, (product, pieces(8)), clerk=True)
    second = await _promised(world, customer, 9, (product, pieces(8)), clerk=True)
    assert told(first.lines[0].reserved, second.lines[0].reserved) == (8, 2)
    assert await _reserved(world, first, second) == (8, 2)
    assert told((await level(world, product)).reserved) == (10,)


@needs("create_order", "adjust_stock", "get_stock")
async def test_what_comes_in_is_held_for_the_oldest_promise_whoever_ordered_first(world: World) -> None:
    product, customer = await world.product(), await world.customer()
    later = await _promised(world, customer, 9, (product, pieces(8)))
    sooner = await _promised(world, customer, 3, (product, pieces(8)))
    assert await _reserved(world, sooner, later) == (0, 0)
    await _counted(world, product, 10, 0)
    assert await _reserved(world, sooner, later) == (8, 2)
    after = await level(world, product)
    assert told(after.on_hand, after.reserved, after.waiting) == (10, 10, 6)


@needs("create_order", "adjust_stock", "get_stock")
async def test_after_a_loss_orders_hold_no_more_than_is_left(world: World) -> None:
    product, customer = await world.product(Goods(stock={"main": Decimal(20)})), await world.customer()
    first = await _promised(world, customer, 3, (product, pieces(8)))
    second = await _promised(world, customer, 9, (product, pieces(8)))
    loss = Adjustment(product.sku, world.main, "set", pieces(10), pieces(20))
    accepted = f"below_reserved:{product.sku}@{world.main}"
    await world.backend.adjust_stock([loss], reason="broken", write=write(None, accepted))
    assert await _reserved(world, first, second) == (8, 2)
    assert told((await level(world, product)).reserved) == (10,)


@needs("create_order", "get_stock")
async def test_what_is_in_another_warehouse_is_held_for_nobody_here(world: World) -> None:
    stock = {"main": Decimal(5), "second": Decimal(50)}
    product, customer = await world.product(Goods(stock=stock)), await world.customer()
    order = await _promised(world, customer, 3, (product, pieces(8)), clerk=True)
    assert await _reserved(world, order) == (5,)
    assert told((await level(world, product)).reserved, (await level(world, product, world.second)).reserved) == (5, 0)


@needs("create_order", "get_stock")
async def test_two_lines_of_one_product_share_what_there_is_in_the_units_of_each(world: World) -> None:
    product, customer = await world.product(Goods(stock={"main": Decimal(54)})), await world.customer()
    order = await _promised(world, customer, 3, (product, cases(2)), (product, pieces(10)), clerk=True)
    now = await world.backend.get_order(order.head.number)
    assert [line.reserved for line in now.lines] == [2, 6]
    assert told((await level(world, product)).reserved) == (54,)


@needs("create_order", "deliver_order", "get_stock")
async def test_after_a_part_went_out_the_rest_is_shared_out_anew(world: World) -> None:
    product, customer = await world.product(Goods(stock={"main": Decimal(10)})), await world.customer()
    first = await _promised(world, customer, 3, (product, pieces(8)))
    second = await _promised(world, customer, 9, (product, pieces(8)))
    await delivered(world, first, LinePart(first.lines[0].line, pieces(5)))
    assert await _reserved(world, first, second) == (3, 2)
    after = await level(world, product)
    assert told(after.on_hand, after.reserved) == (5, 5)


@needs("create_order", "adjust_stock", "deliver_order", "get_stock")
async def test_what_an_order_is_told_to_have_can_go_out(world: World) -> None:
    product, customer = await world.product(), await world.customer()
    later = await _promised(world, customer, 9, (product, pieces(8)))
    sooner = await _promised(world, customer, 3, (product, pieces(8)))
    await _counted(world, product, 10, 0)
    now = await world.backend.get_order(later.head.number)
    done = await delivered(world, now, LinePart(now.lines[0].line, pieces(now.lines[0].reserved)))
    assert told(done.lines[0].delivered, done.lines[0].open) == (2, 6)
    after, orders = await level(world, product), [await world.backend.get_order(n.head.number) for n in (sooner, later)]
    assert told(after.on_hand, after.reserved, sum(each.lines[0].reserved for each in orders)) == (8, 8, 8)


@needs("create_order", "cancel_order", "get_stock")
async def test_what_a_cancelled_order_had_is_held_for_the_next(world: World) -> None:
    product, customer = await world.product(Goods(stock={"main": Decimal(10)})), await world.customer()
    first = await _promised(world, customer, 3, (product, pieces(8)))
    second = await _promised(world, customer, 9, (product, pieces(8)))
    await world.backend.cancel_order(first.head.number, reason="no", write=write(first.head.version))
    assert await _reserved(world, first, second) == (0, 8)
    assert told((await level(world, product)).reserved) == (8,)
