"""Prices that change: planned first, against what was shown, undone by the way back."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest

from erpilot.shop.backend import LineWanted
from erpilot.shop.catalogue import Product
from erpilot.shop.errors import Conflict, Denied, Invalid, Refused
from erpilot.shop.verbs.control import PriceChange, PriceRule
from tests.support.erp_cases import pieces, quotation
from tests.support.erp_world import Goods, World, fresh, needs, write

TIERED = Goods(price=Decimal("10.00"), tiers={Decimal(50): Decimal("9.00")}, cost=Decimal("5.00"))


async def _price(world: World, product: Product, count: int, days: int = 0) -> Decimal:
    day = world.backend.now().date() + timedelta(days)
    quote = await world.backend.get_prices(
        [LineWanted(product.sku, pieces(count))], price_list=world.price_list, on=day
    )
    return quote.lines[0].unit_price


def _rule(world: World, product: Product, percent: int, days: int = 0) -> PriceRule:
    start = world.backend.now().date() + timedelta(days)
    return PriceRule(start, skus=(product.sku,), price_lists=(world.price_list,), percent=Decimal(percent))


@needs("plan_prices")
async def test_a_plan_says_each_price_before_and_after_and_changes_nothing(world: World) -> None:
    product = await world.product(TIERED)
    plan = await world.backend.plan_prices(_rule(world, product, 5))
    assert [(each.from_qty, each.before, each.after) for each in plan.changes] == [
        (Decimal(1), Decimal("10.00"), Decimal("10.50")),
        (Decimal(50), Decimal("9.00"), Decimal("9.45")),
    ]
    assert await _price(world, product, 1) == Decimal("10.00")


@needs("set_prices", "plan_prices")
async def test_prices_change_on_their_day_and_not_before(world: World) -> None:
    product = await world.product(TIERED)
    plan = await world.backend.plan_prices(_rule(world, product, 5, days=7))
    await world.backend.set_prices(plan.changes, write=write())
    assert [await _price(world, product, 1, days) for days in (0, 6, 7, 30)] == [
        Decimal("10.00"),
        Decimal("10.00"),
        Decimal("10.50"),
        Decimal("10.50"),
    ]
    assert await _price(world, product, 60, 7) == Decimal("9.45")


@needs("set_prices")
async def test_a_price_that_is_not_the_one_shown_is_a_conflict(world: World) -> None:
    product = await world.product(TIERED)
    today = world.backend.now().date()
    wrong = PriceChange(product.sku, world.price_list, Decimal(1), Decimal("9.99"), Decimal("11.00"), today)
    with pytest.raises(Conflict):
        await world.backend.set_prices([wrong], write=write())
    assert await _price(world, product, 1) == Decimal("10.00")


@needs("set_prices", "plan_prices")
async def test_setting_the_same_prices_again_changes_nothing(world: World) -> None:
    product = await world.product(TIERED)
    plan = await world.backend.plan_prices(_rule(world, product, 5))
    request = write(key=fresh("key-"))
    await world.backend.set_prices(plan.changes, write=request)
    assert (await world.backend.set_prices(plan.changes, write=request)).repeated
    with pytest.raises(Conflict):
        await world.backend.set_prices(plan.changes, write=write())
    assert await _price(world, product, 1) == Decimal("10.50")


@needs("set_prices", "plan_prices", "create_quotation")
async def test_an_open_quotation_keeps_its_prices(world: World) -> None:
    product = await world.product(TIERED)
    made = (await quotation(world, await world.customer(), (product, pieces(10)))).order
    plan = await world.backend.plan_prices(_rule(world, product, 5))
    await world.backend.set_prices(plan.changes, write=write())
    assert (await world.backend.get_order(made.head.number)).lines == made.lines


@needs("set_prices", "plan_prices", "undo")
async def test_new_prices_are_undone(world: World) -> None:
    product = await world.product(TIERED)
    plan = await world.backend.plan_prices(_rule(world, product, 5))
    key = fresh("key-")
    await world.backend.set_prices(plan.changes, write=write(key=key))
    await world.backend.undo(key, reason="too dear", write=write())
    assert (await _price(world, product, 1), await _price(world, product, 60)) == (Decimal("10.00"), Decimal("9.00"))


@needs("plan_prices")
async def test_prices_below_cost_are_named(world: World) -> None:
    product = await world.product(TIERED)
    plan = await world.backend.plan_prices(_rule(world, product, -60))
    assert plan.below_cost == (product.sku,)


@needs("plan_prices")
async def test_a_rule_rounds_to_the_step_that_was_asked_for(world: World) -> None:
    product = await world.product(TIERED)
    today = world.backend.now().date()
    rule = PriceRule(
        today, skus=(product.sku,), price_lists=(world.price_list,), percent=Decimal(3), rounding=Decimal("0.5")
    )
    plan = await world.backend.plan_prices(rule)
    assert [each.after for each in plan.changes] == [Decimal("10.50"), Decimal("9.50")]


@needs("plan_prices")
async def test_a_rule_that_says_too_little_or_too_much_is_invalid(world: World) -> None:
    product = await world.product(TIERED)
    today = world.backend.now().date()
    for rule in (
        PriceRule(today, percent=Decimal(5)),
        PriceRule(today, skus=(product.sku,)),
        PriceRule(today, skus=(product.sku,), percent=Decimal(5), price=Decimal(3)),
        PriceRule(today, skus=(product.sku,), percent=Decimal(-100)),
        PriceRule(today - timedelta(1), skus=(product.sku,), percent=Decimal(5)),
    ):
        with pytest.raises(Invalid):
            await world.backend.plan_prices(rule)


@needs("set_prices")
async def test_a_price_is_not_changed_in_the_past(world: World) -> None:
    product = await world.product(TIERED)
    past = world.backend.now().date() - timedelta(1)
    change = PriceChange(product.sku, world.price_list, Decimal(1), Decimal("10.00"), Decimal("11.00"), past)
    with pytest.raises((Refused, Invalid)):
        await world.backend.set_prices([change], write=write())


@needs("set_prices")
async def test_a_manager_sells_but_does_not_set_prices(world: World) -> None:
    with pytest.raises(Denied) as caught:
        await world.person("manager").set_prices([], write=write())
    assert caught.value.right == "prices"
