"""What many cases of the conformance suite begin with: a quotation, an order, a delivered order."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from decimal import Decimal
from typing import Any, TypeVar, cast

from erpilot.shop.backend import LinePart, LineWanted, QuotationDraft, Written
from erpilot.shop.catalogue import Product, StockLevel
from erpilot.shop.documents import Customer, Order
from erpilot.shop.values import Quantity
from tests.support.erp_world import World, write

T = TypeVar("T")
_kept: dict[tuple[str, Callable[..., Any]], Any] = {}


async def kept(world: World, make: Callable[[World], Awaitable[T]]) -> T:
    """What ``make`` makes, once for each ERP and run: for cases that only read, since a remote server takes seconds for
    a document. Nobody changes it.
    """
    place = (world.backend.kind, make)
    if place not in _kept:
        _kept[place] = await make(world)
    return cast(T, _kept[place])


def pieces(value: int | str | Decimal) -> Quantity:
    """So many 个."""
    return Quantity(Decimal(value), "个")


def cases(value: int | str) -> Quantity:
    """So many 箱."""
    return Quantity(Decimal(value), "箱")


async def quotation(
    world: World, customer: Customer, *wanted: tuple[Product, Quantity], discount: Decimal = Decimal(0), days: int = 7
) -> Written:
    """A quotation of these products."""
    lines = tuple(LineWanted(product.sku, quantity) for product, quantity in wanted)
    return await world.backend.create_quotation(QuotationDraft(customer.id, lines, discount, days), write=write())


async def sale(world: World, customer: Customer, *wanted: tuple[Product, Quantity]) -> Order:
    """A confirmed order of these products, by way of a quotation: every ERP that sells can do that."""
    quoted = (await quotation(world, customer, *wanted)).order
    confirmed = await world.backend.confirm_quotation(quoted.head.number, write=write(quoted.head.version))
    return confirmed.order


async def delivered(world: World, order: Order, *parts: LinePart) -> Order:
    """The order after a delivery of these parts, or of all that is there."""
    done = await world.backend.deliver_order(order.head.number, parts, write=write(order.head.version))
    return done.order


async def level(world: World, product: Product, warehouse: str | None = None) -> StockLevel:
    """The stock in one warehouse, the main one when none is named."""
    code = warehouse or world.main
    levels = await world.backend.get_stock([product.sku], warehouse=code)
    return levels[product.sku][0]


def told(*values: object) -> tuple[object, ...]:
    """Values to compare with plain numbers."""
    return values
