"""Purchasing: what is on the way, what suppliers charge, purchase orders made once."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest

from erpilot.shop.errors import Denied, Invalid, NotFound, Refused
from erpilot.shop.values import Money
from erpilot.shop.verbs.buying import PurchaseDraft, PurchaseDraftLine, PurchaseFilter
from tests.support.erp_cases import cases, pieces, told
from tests.support.erp_world import World, fresh, needs, write


@needs("create_purchase", "list_purchases")
async def test_a_purchase_is_a_draft_with_its_lines_and_its_day(world: World) -> None:
    product, supplier = await world.product(), await world.supplier()
    day = world.backend.now().date() + timedelta(9)
    draft = PurchaseDraft(supplier.id, (PurchaseDraftLine(product.sku, cases(10), Decimal("100.00")),), day)
    made = await world.backend.create_purchase(draft, write=write())
    (purchase,) = (await world.backend.list_purchases(PurchaseFilter(supplier_id=supplier.id))).purchases
    assert (purchase.number, purchase.state, purchase.expected) == (made.number, "draft", day)
    assert not purchase.confirmed
    assert told(purchase.lines[0].ordered, purchase.lines[0].to_come, purchase.lines[0].unit) == (10, 10, "箱")
    assert purchase.total == Money(Decimal("1130.00"), "CNY")


@needs("create_purchase")
async def test_one_key_is_one_purchase(world: World) -> None:
    product, supplier = await world.product(), await world.supplier()
    draft = PurchaseDraft(supplier.id, (PurchaseDraftLine(product.sku, pieces(10), Decimal("4.00")),))
    request = write(key=fresh("key-"))
    first = await world.backend.create_purchase(draft, write=request)
    again = await world.backend.create_purchase(draft, write=request)
    assert (again.number, again.repeated) == (first.number, True)


@needs("create_purchase")
async def test_without_an_offer_and_without_a_price_nothing_is_ordered(world: World) -> None:
    product, supplier = await world.product(), await world.supplier()
    draft = PurchaseDraft(supplier.id, (PurchaseDraftLine(product.sku, pieces(10)),))
    with pytest.raises(Refused):
        await world.backend.create_purchase(draft, write=write())
    assert (await world.backend.list_purchases(PurchaseFilter(supplier_id=supplier.id))).total_count == 0


@needs("create_purchase")
async def test_a_purchase_that_cannot_be_is_refused(world: World) -> None:
    product, supplier = await world.product(), await world.supplier()
    line = PurchaseDraftLine(product.sku, pieces(10), Decimal(4))
    yesterday = world.backend.now().date() - timedelta(1)
    with pytest.raises(Invalid):
        await world.backend.create_purchase(PurchaseDraft(supplier.id, ()), write=write())
    with pytest.raises(Invalid):
        await world.backend.create_purchase(PurchaseDraft(supplier.id, (line,), yesterday), write=write())
    with pytest.raises(NotFound):
        await world.backend.create_purchase(PurchaseDraft("NONE-0", (line,)), write=write())
    unknown = PurchaseDraftLine("NONE-0", pieces(10), Decimal(4))
    with pytest.raises(NotFound):
        await world.backend.create_purchase(PurchaseDraft(supplier.id, (unknown,)), write=write())


@needs("create_purchase")
async def test_a_clerk_does_not_buy(world: World) -> None:
    product, supplier = await world.product(), await world.supplier()
    draft = PurchaseDraft(supplier.id, (PurchaseDraftLine(product.sku, pieces(10), Decimal(4)),))
    with pytest.raises(Denied) as caught:
        await world.person("clerk").create_purchase(draft, write=write())
    assert caught.value.right == "buy"


@needs("create_purchase", "undo")
async def test_a_purchase_is_undone_by_its_cancellation(world: World) -> None:
    product, supplier = await world.product(), await world.supplier()
    draft = PurchaseDraft(supplier.id, (PurchaseDraftLine(product.sku, pieces(10), Decimal(4)),))
    key = fresh("key-")
    await world.backend.create_purchase(draft, write=write(key=key))
    await world.backend.undo(key, reason="wrong supplier", write=write())
    (purchase,) = (await world.backend.list_purchases(PurchaseFilter(supplier_id=supplier.id))).purchases
    assert purchase.state == "cancelled"


@needs("list_purchases")
async def test_what_is_on_the_way_is_listed_by_product(world: World) -> None:
    product = await world.product()
    soon = await world.arrival(product, Decimal(40), days=5)
    later = await world.arrival(product, Decimal(10), days=9, confirmed=False)
    page = await world.backend.list_purchases(PurchaseFilter(sku=product.sku, open_only=True))
    assert [(each.number, each.confirmed, each.days_late) for each in page.purchases] == [
        (soon, True, 0),
        (later, False, 0),
    ]
    assert page.total_count == 2
    until = world.backend.now().date() + timedelta(6)
    page = await world.backend.list_purchases(PurchaseFilter(sku=product.sku, open_only=True, expected_by=until))
    assert [each.number for each in page.purchases] == [soon]


@needs("list_purchases")
async def test_who_may_not_see_costs_sees_what_comes_but_not_for_how_much(world: World) -> None:
    product = await world.product()
    await world.arrival(product, Decimal(40), days=5)
    page = await world.person("warehouse").list_purchases(PurchaseFilter(sku=product.sku))
    assert [each.total for each in page.purchases] == [None]
    assert page.total == {}


@needs("list_purchases", "get_order")
async def test_a_purchase_is_not_read_as_a_document_by_who_may_not_see_costs(world: World) -> None:
    number = await world.arrival(await world.product(), Decimal(40), days=5)
    with pytest.raises(Denied) as caught:
        await world.person("clerk").get_order(number, "purchase")
    assert caught.value.right == "see_cost"


@needs("supplier_offers")
async def test_offers_of_nobody_are_not_found(world: World) -> None:
    with pytest.raises(NotFound):
        await world.backend.supplier_offers(supplier_id="NONE-0")
