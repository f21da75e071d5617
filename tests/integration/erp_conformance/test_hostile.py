"""Text and numbers that nobody means: stored so that they read back, or refused in a sentence; never anything else."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest

from erpilot.shop.backend import (
    Adjustment,
    CustomerDraft,
    LineWanted,
    OrderFilter,
    QuotationDraft,
    TransferLine,
)
from erpilot.shop.errors import Conflict, Invalid, NotFound, Refused, ShopError
from erpilot.shop.values import Money, Quantity
from erpilot.shop.verbs.money import PaymentDraft
from tests.support.erp_cases import level, pieces, told
from tests.support.erp_world import Goods, World, needs, write

TEXTS = {
    "a lone surrogate": "a\ud800b",
    "a zero": "a\0b",
    "a quote": "'; DROP TABLE line; --",
    "wildcards": "%_%",
    "controls": "\x1b[31m\u202e",
    "long": "长" * 20_000,
    "marks": "a" + "\u0301" * 3_000,
}
NUMBERS = ("NaN", "Infinity", "-1", "1E+30", "1E-30", "99999999999999999999")
hostile_text = pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
hostile_number = pytest.mark.parametrize("number", NUMBERS)


@hostile_text
@needs("find_products", "find_customers", "get_order", "list_orders")
async def test_looking_up_hostile_text_finds_nothing_or_is_refused(world: World, text: str) -> None:
    for look in (
        lambda: world.backend.find_products(text),
        lambda: world.backend.get_products([text]),
        lambda: world.backend.find_customers(text),
        lambda: world.backend.get_order(text),
        lambda: world.backend.list_orders(OrderFilter(text=text, party_id=text, sku=None), limit=1),
        lambda: world.backend.get_stock([text]),
    ):
        try:
            await look()
        except ShopError as error:
            assert len(error.message) < 1_000  # noqa: PT017


@hostile_text
@needs("create_quotation")
async def test_a_hostile_note_reads_back_or_makes_no_quotation(world: World, text: str) -> None:
    product, customer = await world.product(), await world.customer()
    draft = QuotationDraft(customer.id, (LineWanted(product.sku, pieces(1)),), Decimal(0), 7, text)
    try:
        made = await world.backend.create_quotation(draft, write=write())
    except (Invalid, Refused):
        assert (await world.backend.list_orders(OrderFilter(party_id=customer.id))).total_count == 0
        return
    assert (await world.backend.get_order(made.number)).note == made.order.note


@hostile_text
@needs("create_customer")
async def test_a_hostile_name_reads_back_or_makes_no_customer(world: World, text: str) -> None:
    try:
        made = await world.backend.create_customer(CustomerDraft(text, world.price_list), write=write())
    except ShopError:
        return
    assert (await world.backend.find_customers(made.number)).hits[0].record.name == text.strip()


@hostile_number
@needs("create_quotation")
async def test_a_hostile_quantity_price_or_discount_makes_no_quotation(world: World, number: str) -> None:
    product, customer = await world.product(), await world.customer()
    value = Decimal(number)
    for line, discount in (
        (LineWanted(product.sku, Quantity(value, "个")), Decimal(0)),
        (LineWanted(product.sku, pieces(1), unit_price=value), Decimal(0)),
        (LineWanted(product.sku, pieces(1), discount=value), Decimal(0)),
        (LineWanted(product.sku, pieces(1)), value),
    ):
        draft = QuotationDraft(customer.id, (line,), discount, 7)
        with pytest.raises((Invalid, Refused)):
            await world.backend.create_quotation(draft, write=write(None, "discount", "below_cost"))
    assert (await world.backend.list_orders(OrderFilter(party_id=customer.id))).total_count == 0


@hostile_number
@needs("adjust_stock", "transfer_stock")
async def test_a_hostile_count_or_transfer_moves_nothing(world: World, number: str) -> None:
    product = await world.product(Goods(stock={"main": Decimal(10)}))
    quantity = Quantity(Decimal(number), "个")
    counted = Adjustment(product.sku, world.main, "set", quantity, pieces(10))
    moved = [TransferLine(product.sku, quantity)]
    with pytest.raises((Invalid, Refused, Conflict)):
        await world.backend.adjust_stock([counted], reason="x", write=write())
    with pytest.raises((Invalid, Refused)):
        await world.backend.transfer_stock(moved, source=world.main, target=world.second, write=write())
    assert told((await level(world, product)).on_hand) == (10,)


@needs("record_payment")
async def test_an_amount_that_nobody_pays_is_not_booked(world: World) -> None:
    customer = await world.customer()
    amount = Money(Decimal("99999999999999999999"), world.currency)
    with pytest.raises(Invalid):
        await world.backend.record_payment(PaymentDraft(customer.id, amount, "现金"), write=write())


@needs("list_orders")
@pytest.mark.parametrize(("limit", "offset"), [(0, 0), (-1, 0), (10, -5), (10**30, 0), (10, 10**30)])
async def test_a_page_that_cannot_be_is_refused_or_empty(world: World, limit: int, offset: int) -> None:
    try:
        page = await world.backend.list_orders(OrderFilter(), limit=limit, offset=offset)
    except Invalid:
        return
    assert page.orders == () or limit > 0


@needs("list_orders")
async def test_the_ends_of_time_are_days_like_others(world: World) -> None:
    page = await world.backend.list_orders(OrderFilter(date_from=date.min, date_to=date.max), limit=1)
    assert page.total_count >= 0
    assert (await world.backend.list_orders(OrderFilter(date_from=date.max))).orders == ()


@needs("get_order")
async def test_an_empty_number_is_no_document(world: World) -> None:
    for number in ("", "   ", "#"):
        with pytest.raises((NotFound, Invalid)):
            await world.backend.get_order(number)
