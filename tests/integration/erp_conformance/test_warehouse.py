"""Counting and moving stock: against what was shown, all or nothing, once."""

from __future__ import annotations

import asyncio
from decimal import Decimal

import pytest

from erpilot.shop.backend import Adjustment, TransferLine, Written
from erpilot.shop.catalogue import Product
from erpilot.shop.errors import Conflict, Denied, Invalid, NeedsConfirmation, NotFound, Refused
from erpilot.shop.values import Quantity
from tests.support.erp_cases import cases, level, pieces, sale, told
from tests.support.erp_world import Goods, World, fresh, needs, write

STOCK = Goods(stock={"main": Decimal(120), "second": Decimal(10)})


def _set(world: World, product: Product, counted: Quantity, expected: int) -> Adjustment:
    return Adjustment(product.sku, world.main, "set", counted, pieces(expected))


@needs("adjust_stock")
async def test_what_was_counted_is_on_hand(world: World) -> None:
    product = await world.product(STOCK)
    made = await world.backend.adjust_stock([_set(world, product, pieces(118), 120)], reason="count", write=write())
    assert told((await level(world, product)).on_hand) == (118,)
    (change,) = [each for each in made.changes if each.field == "on_hand"]
    assert (change.subject, change.before, change.after) == (f"{product.sku}@{world.main}", pieces(120), pieces(118))


@needs("adjust_stock")
async def test_a_change_is_added_to_what_is_there(world: World) -> None:
    product = await world.product(STOCK)
    change = Adjustment(product.sku, world.main, "change", pieces(-3), pieces(120))
    await world.backend.adjust_stock([change], reason="broken", write=write())
    assert told((await level(world, product)).on_hand) == (117,)


@needs("adjust_stock")
async def test_a_count_in_cases_is_kept_in_pieces(world: World) -> None:
    product = await world.product(STOCK)
    await world.backend.adjust_stock([_set(world, product, cases(4), 120)], reason="count", write=write())
    assert told((await level(world, product)).on_hand) == (96,)


@needs("adjust_stock")
async def test_the_other_warehouse_stays_as_it_is(world: World) -> None:
    product = await world.product(STOCK)
    await world.backend.adjust_stock([_set(world, product, pieces(118), 120)], reason="count", write=write())
    assert told((await level(world, product, world.second)).on_hand) == (10,)


@needs("adjust_stock")
async def test_stock_that_moved_since_it_was_shown_is_a_conflict(world: World) -> None:
    product = await world.product(STOCK)
    with pytest.raises(Conflict):
        await world.backend.adjust_stock([_set(world, product, pieces(118), 121)], reason="count", write=write())
    assert told((await level(world, product)).on_hand) == (120,)


@needs("adjust_stock")
async def test_of_two_counts_at_once_one_is_a_conflict(world: World) -> None:
    product = await world.product(STOCK)
    outcomes = await asyncio.gather(
        *(
            each.adjust_stock([_set(world, product, pieces(count), 120)], reason="count", write=write())
            for each, count in ((world.backend, 110), (world.person("owner"), 115))
        ),
        return_exceptions=True,
    )
    assert sorted(isinstance(each, Written) for each in outcomes) == [False, True]
    assert told((await level(world, product)).on_hand) in ((110,), (115,))


@needs("adjust_stock")
async def test_one_key_is_one_correction(world: World) -> None:
    product = await world.product(STOCK)
    change = Adjustment(product.sku, world.main, "change", pieces(-3), pieces(120))
    request = write(key=fresh("key-"))
    first = await world.backend.adjust_stock([change], reason="broken", write=request)
    again = await world.backend.adjust_stock([change], reason="broken", write=request)
    assert (again.number, again.repeated) == (first.number, True)
    assert told((await level(world, product)).on_hand) == (117,)


@needs("adjust_stock")
async def test_stock_is_never_below_zero(world: World) -> None:
    product = await world.product(STOCK)
    for mode, quantity in (("change", -121), ("set", -1)):
        change = Adjustment(
            product.sku, world.main, "set" if mode == "set" else "change", pieces(quantity), pieces(120)
        )
        with pytest.raises((Refused, Invalid)):
            await world.backend.adjust_stock([change], reason="x", write=write())
    assert told((await level(world, product)).on_hand) == (120,)


@needs("adjust_stock")
async def test_a_correction_of_several_products_happens_whole_or_not_at_all(world: World) -> None:
    first, second = await world.product(STOCK), await world.product(STOCK)
    wrong = [_set(world, first, pieces(100), 120), _set(world, second, pieces(100), 99)]
    with pytest.raises(Conflict):
        await world.backend.adjust_stock(wrong, reason="count", write=write())
    assert told((await level(world, first)).on_hand) == (120,)


@needs("adjust_stock")
async def test_a_correction_names_its_reason_product_and_warehouse(world: World) -> None:
    product = await world.product(STOCK)
    with pytest.raises(Invalid):
        await world.backend.adjust_stock([_set(world, product, pieces(1), 120)], reason=" ", write=write())
    nothing = Adjustment("NONE-0", world.main, "set", pieces(1), pieces(0))
    with pytest.raises(NotFound):
        await world.backend.adjust_stock([nothing], reason="x", write=write())
    nowhere = Adjustment(product.sku, "NOWHERE", "set", pieces(1), pieces(120))
    with pytest.raises(NotFound):
        await world.backend.adjust_stock([nowhere], reason="x", write=write())


@needs("adjust_stock")
async def test_a_fraction_of_a_whole_unit_is_not_counted(world: World) -> None:
    product = await world.product(STOCK)
    half = Adjustment(product.sku, world.main, "set", Quantity(Decimal("0.5"), "个"), pieces(120))
    with pytest.raises(Invalid):
        await world.backend.adjust_stock([half], reason="x", write=write())


@needs("adjust_stock")
async def test_a_clerk_does_not_correct_stock(world: World) -> None:
    product = await world.product(STOCK)
    with pytest.raises(Denied) as caught:
        await world.person("clerk").adjust_stock([_set(world, product, pieces(1), 120)], reason="x", write=write())
    assert caught.value.right == "stock"


@needs("adjust_stock", "confirm_quotation")
async def test_less_than_is_reserved_is_asked_about_first(world: World) -> None:
    product = await world.product(Goods(stock={"main": Decimal(10)}))
    await sale(world, await world.customer(), (product, pieces(8)))
    count = [_set(world, product, pieces(5), 10)]
    with pytest.raises(NeedsConfirmation) as caught:
        await world.backend.adjust_stock(count, reason="count", write=write())
    assert caught.value.token == f"below_reserved:{product.sku}@{world.main}"
    await world.backend.adjust_stock(count, reason="count", write=write(None, caught.value.token))
    after = await level(world, product)
    assert told(after.on_hand, after.available - after.waiting) == (5, -3)


@needs("transfer_stock")
async def test_a_transfer_keeps_the_sum(world: World) -> None:
    product = await world.product(STOCK)
    await world.backend.transfer_stock(
        [TransferLine(product.sku, cases(2))], source=world.main, target=world.second, write=write()
    )
    here, there = await level(world, product), await level(world, product, world.second)
    assert told(here.on_hand, there.on_hand) == (72, 58)


@needs("transfer_stock", "confirm_quotation")
async def test_only_what_is_available_is_moved(world: World) -> None:
    product = await world.product(Goods(stock={"main": Decimal(10)}))
    await sale(world, await world.customer(), (product, pieces(8)))
    with pytest.raises(Refused):
        await world.backend.transfer_stock(
            [TransferLine(product.sku, pieces(3))], source=world.main, target=world.second, write=write()
        )
    await world.backend.transfer_stock(
        [TransferLine(product.sku, pieces(2))], source=world.main, target=world.second, write=write()
    )
    assert told((await level(world, product)).available) == (0,)


@needs("transfer_stock")
async def test_a_transfer_within_one_warehouse_or_to_nowhere_is_refused(world: World) -> None:
    product = await world.product(STOCK)
    lines = [TransferLine(product.sku, pieces(1))]
    with pytest.raises(Invalid):
        await world.backend.transfer_stock(lines, source=world.main, target=world.main, write=write())
    with pytest.raises(NotFound):
        await world.backend.transfer_stock(lines, source=world.main, target="NOWHERE", write=write())


@needs("transfer_stock")
async def test_one_key_is_one_transfer(world: World) -> None:
    product = await world.product(STOCK)
    request, lines = write(key=fresh("key-")), [TransferLine(product.sku, pieces(5))]
    for repeated in (False, True):
        done = await world.backend.transfer_stock(lines, source=world.main, target=world.second, write=request)
        assert done.repeated is repeated
    assert told((await level(world, product, world.second)).on_hand) == (15,)


@needs("transfer_stock", "undo")
async def test_a_transfer_is_undone_by_the_way_back(world: World) -> None:
    product = await world.product(STOCK)
    key = fresh("key-")
    lines = [TransferLine(product.sku, pieces(5))]
    await world.backend.transfer_stock(lines, source=world.main, target=world.second, write=write(key=key))
    await world.backend.undo(key, reason="wrong shop", write=write())
    here, there = await level(world, product), await level(world, product, world.second)
    assert told(here.on_hand, there.on_hand) == (120, 10)


@needs("adjust_stock", "undo")
async def test_a_correction_is_undone_by_the_opposite_and_keeps_what_happened_since(world: World) -> None:
    product = await world.product(STOCK)
    key = fresh("key-")
    await world.backend.adjust_stock([_set(world, product, pieces(118), 120)], reason="count", write=write(key=key))
    moved = [TransferLine(product.sku, pieces(8))]
    await world.backend.transfer_stock(moved, source=world.main, target=world.second, write=write())
    await world.backend.undo(key, reason="found them", write=write())
    assert told((await level(world, product)).on_hand) == (112,)
