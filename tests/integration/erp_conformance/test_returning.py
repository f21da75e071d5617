"""Returns and refunds: no more than went out, at the price really paid; goods and money apart."""

from __future__ import annotations

from decimal import Decimal
from typing import Literal

import pytest

from erpilot.shop.backend import LinePart, ReturnedPart, Written
from erpilot.shop.documents import Order
from erpilot.shop.errors import Denied, Invalid, Refused
from erpilot.shop.values import Money, Quantity
from erpilot.shop.verbs.money import PaymentDraft, RefundDraft
from tests.support.erp_cases import delivered, level, pieces, quotation, sale, told
from tests.support.erp_world import Goods, World, fresh, needs, write

STOCK = Goods(stock={"main": Decimal(100)})


async def _sold(world: World, count: int = 10, goods: Goods = STOCK) -> Order:
    return await delivered(
        world, await sale(world, await world.customer(), (await world.product(goods), pieces(count)))
    )


async def _back(
    world: World, order: Order, count: int, condition: Literal["sellable", "damaged"] = "sellable"
) -> Written:
    part = ReturnedPart(order.lines[0].line, pieces(count), condition)
    return await world.backend.return_order(
        order.head.number, (part,), reason="broken", write=write(order.head.version)
    )


@needs("return_order", "deliver_order")
async def test_what_comes_back_is_on_the_order_and_on_hand(world: World) -> None:
    order = await _sold(world)
    made = await _back(world, order, 3)
    assert (made.order.head.kind, made.order.source) == ("return", order.head.number)
    assert told((await world.backend.get_order(order.head.number)).lines[0].returned) == (3,)
    product = (await world.backend.get_products([order.lines[0].sku]))[order.lines[0].sku]
    assert told((await level(world, product)).on_hand) == (93,)


@needs("return_order", "deliver_order")
async def test_what_is_damaged_does_not_come_into_stock(world: World) -> None:
    order = await _sold(world)
    await _back(world, order, 3, "damaged")
    product = (await world.backend.get_products([order.lines[0].sku]))[order.lines[0].sku]
    assert told((await level(world, product)).on_hand) == (90,)


@needs("return_order", "deliver_order")
async def test_some_can_be_sold_again_and_some_are_damaged(world: World) -> None:
    order = await _sold(world)
    at = order.lines[0].line
    parts = (ReturnedPart(at, pieces(3)), ReturnedPart(at, pieces(2), "damaged"))
    await world.backend.return_order(order.head.number, parts, reason="x", write=write(order.head.version))
    product = (await world.backend.get_products([order.lines[0].sku]))[order.lines[0].sku]
    assert told((await level(world, product)).on_hand) == (93,)
    assert told((await world.backend.get_order(order.head.number)).lines[0].returned) == (5,)


@needs("return_order", "deliver_order")
async def test_more_than_went_out_does_not_come_back(world: World) -> None:
    order = await sale(world, await world.customer(), (await world.product(STOCK), pieces(10)))
    part = await delivered(world, order, LinePart(order.lines[0].line, pieces(4)))
    with pytest.raises(Refused):
        await _back(world, part, 5)
    await _back(world, part, 4)
    with pytest.raises(Refused):
        await _back(world, await world.backend.get_order(order.head.number), 1)


@needs("return_order", "deliver_order")
async def test_a_return_needs_a_reason_and_a_quantity(world: World) -> None:
    order = await _sold(world)
    for parts, reason in (
        ((), "x"),
        ((ReturnedPart(order.lines[0].line, pieces(1)),), " "),
        ((ReturnedPart(order.lines[0].line, Quantity(Decimal(0), "个")),), "x"),
    ):
        with pytest.raises(Invalid):
            await world.backend.return_order(order.head.number, parts, reason=reason, write=write(order.head.version))


@needs("return_order", "deliver_order", "record_payment")
async def test_a_return_is_credited_at_the_price_really_paid(world: World) -> None:
    product, customer = (
        await world.product(Goods(price=Decimal("10.00"), cost=None, stock={"main": Decimal(100)})),
        await world.customer(),
    )
    quoted = (await quotation(world, customer, (product, pieces(10)), discount=Decimal(10))).order
    order = (await world.backend.confirm_quotation(quoted.head.number, write=write(quoted.head.version))).order
    order = await delivered(world, order)
    made = await _back(world, order, 3)
    assert made.order.head.total.amount == (order.head.total.amount * 3 / 10).quantize(Decimal("0.01"))


@needs("return_order", "deliver_order", "record_payment")
async def test_parts_that_come_back_add_up_to_what_was_paid(world: World) -> None:
    order = await _sold(world, 7, Goods(price=Decimal("3.33"), cost=None, stock={"main": Decimal(100)}))
    credited = Decimal(0)
    for count in (3, 3, 1):
        made = await _back(world, await world.backend.get_order(order.head.number), count)
        credited += made.order.head.total.amount
    assert credited == order.head.total.amount


@needs("return_order", "deliver_order")
async def test_one_key_is_one_return(world: World) -> None:
    order = await _sold(world)
    request = write(order.head.version, key=fresh("key-"))
    parts = (ReturnedPart(order.lines[0].line, pieces(2)),)
    first = await world.backend.return_order(order.head.number, parts, reason="x", write=request)
    again = await world.backend.return_order(order.head.number, parts, reason="x", write=request)
    assert (again.number, again.repeated) == (first.number, True)
    assert told((await world.backend.get_order(order.head.number)).lines[0].returned) == (2,)


@needs("return_order", "refund", "record_payment")
async def test_a_refund_pays_out_a_credit_note_once_and_no_more_than_it_is(world: World) -> None:
    order = await _sold(world)
    paid = PaymentDraft(order.head.party_id, order.head.total, "微信")
    await world.backend.record_payment(paid, write=write())
    made = await _back(world, order, 4)
    note, total = made.linked[-1], made.order.head.total
    too_much = Money(total.amount + 1, total.currency)
    with pytest.raises(Refused):
        await world.backend.refund(RefundDraft(note, too_much, "return"), write=write())
    request = write(key=fresh("key-"))
    first = await world.backend.refund(RefundDraft(note, total, "return"), write=request)
    again = await world.backend.refund(RefundDraft(note, total, "return"), write=request)
    assert (first.number, again.repeated) == (again.number, True)
    with pytest.raises(Refused):
        await world.backend.refund(RefundDraft(note, total, "return"), write=write())
    (payment,) = [
        each for each in (await world.backend.get_order(order.head.number)).payments if each.amount.amount < 0
    ]
    assert (payment.amount.amount, payment.method) == (-total.amount, "微信")


@needs("return_order", "refund", "record_payment")
async def test_goods_and_money_are_two_rights(world: World) -> None:
    order = await _sold(world)
    parts = (ReturnedPart(order.lines[0].line, pieces(1)),)
    with pytest.raises(Denied) as caught:
        await world.person("money").return_order(order.head.number, parts, reason="x", write=write(order.head.version))
    assert caught.value.right == "stock"
    made = await _back(world, order, 1)
    with pytest.raises(Denied) as caught:
        await world.person("warehouse").refund(RefundDraft(made.linked[-1], made.order.head.total, "x"), write=write())
    assert caught.value.right == "money"


@needs("return_order", "list_receivables")
async def test_a_return_of_what_was_not_paid_lowers_what_is_owed(world: World) -> None:
    order = await _sold(world)
    made = await _back(world, order, 4)
    (balance,) = (await world.backend.list_receivables(party_id=order.head.party_id)).parties
    assert balance.ageing.outstanding == order.head.total - made.order.head.total
