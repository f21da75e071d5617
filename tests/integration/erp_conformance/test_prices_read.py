"""The price of exactly so much for a customer: list, tier, tax, totals."""

from __future__ import annotations

from decimal import Decimal

import pytest

from erpilot.shop.backend import LineWanted
from erpilot.shop.catalogue import Product
from erpilot.shop.documents import Customer
from erpilot.shop.errors import Invalid, NotFound, Refused
from erpilot.shop.values import Quantity
from tests.support.erp_cases import cases, kept, pieces
from tests.support.erp_world import Goods, World, needs

TIERS = {Decimal(50): Decimal("11.00"), Decimal(200): Decimal("10.00")}


async def _tiered(world: World) -> tuple[Product, Customer]:
    """A product that gets cheaper twice, and who buys it."""
    return await world.product(Goods(tiers=TIERS)), await world.customer()


@needs("get_prices")
async def test_the_list_of_the_customer_gives_the_price(world: World) -> None:
    product, customer = await world.product(Goods(price=Decimal("12.50"))), await world.customer()
    quote = await world.backend.get_prices([LineWanted(product.sku, pieces(3))], customer_id=customer.id)
    (line,) = quote.lines
    assert (line.unit_price, line.amount.amount) == (Decimal("12.50"), Decimal("37.50"))
    assert quote.price_list.code == world.price_list
    assert line.amount.currency == world.currency


@needs("get_prices")
@pytest.mark.parametrize(("quantity", "price"), [(49, "12.50"), (50, "11.00"), (199, "11.00"), (200, "10.00")])
async def test_a_tier_is_reached_at_its_quantity(world: World, quantity: int, price: str) -> None:
    product, customer = await kept(world, _tiered)
    quote = await world.backend.get_prices([LineWanted(product.sku, pieces(quantity))], customer_id=customer.id)
    assert quote.lines[0].unit_price == Decimal(price)


@needs("get_prices")
async def test_a_case_costs_its_pieces_and_reaches_their_tier(world: World) -> None:
    product, customer = await kept(world, _tiered)
    quote = await world.backend.get_prices([LineWanted(product.sku, cases(3))], customer_id=customer.id)
    (line,) = quote.lines
    assert line.base.value == 72
    assert line.unit_price == Decimal("11.00") * 24
    assert line.amount.amount == Decimal("11.00") * 72


@needs("get_prices")
async def test_lines_and_tax_add_up_to_the_total(world: World) -> None:
    customer = await world.customer()
    goods = [await world.product(Goods(price=Decimal(price))) for price in ("3.33", "0.07", "19.99")]
    quote = await world.backend.get_prices(
        [LineWanted(each.sku, pieces(count)) for each, count in zip(goods, (3, 7, 11), strict=True)],
        customer_id=customer.id,
    )
    totals = quote.totals
    assert totals.subtotal + totals.tax == totals.total
    amounts = sum((line.amount.amount for line in quote.lines), Decimal(0))
    assert amounts == (totals.total if quote.price_list.tax_included else totals.subtotal).amount


@needs("get_prices")
async def test_the_tax_is_that_of_the_product(world: World) -> None:
    product, customer = await world.product(Goods(price=Decimal("11.30"))), await world.customer()
    quote = await world.backend.get_prices([LineWanted(product.sku, pieces(10))], customer_id=customer.id)
    expected = Decimal("13.00") if quote.price_list.tax_included else Decimal("14.69")
    assert quote.totals.tax.amount == expected


@needs("get_prices")
async def test_a_price_of_an_unknown_product_is_not_found(world: World) -> None:
    with pytest.raises((NotFound, Invalid)):
        await world.backend.get_prices([LineWanted("NONE-0", pieces(1))])


@needs("get_prices")
async def test_a_price_for_an_unknown_customer_is_not_found(world: World) -> None:
    product, _ = await kept(world, _tiered)
    with pytest.raises(NotFound):
        await world.backend.get_prices([LineWanted(product.sku, pieces(1))], customer_id="NONE-0")


@needs("get_prices")
async def test_a_unit_that_the_product_does_not_have_is_refused(world: World) -> None:
    product, customer = await kept(world, _tiered)
    with pytest.raises((Invalid, Refused)) as caught:
        await world.backend.get_prices([LineWanted(product.sku, Quantity(Decimal(1), "吨"))], customer_id=customer.id)
    assert "箱" in (caught.value.hint or "")


@needs("get_prices")
async def test_a_discount_is_taken_off_the_amount(world: World) -> None:
    product, customer = await world.product(Goods(price=Decimal("10.00"))), await world.customer()
    quote = await world.backend.get_prices(
        [LineWanted(product.sku, pieces(10))], customer_id=customer.id, discount=Decimal(5)
    )
    assert quote.lines[0].amount.amount == Decimal("95.00")
