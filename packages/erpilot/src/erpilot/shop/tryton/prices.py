"""Prices of exactly so much, as the server would put them on a sale.

Invariant: a price is what the server itself computes for customer, list, quantity and unit, without tax and rounded to
the currency's smallest unit; ours is only the arithmetic of the line, the same as for every shop.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from ..catalogue import Product
from ..documents import Customer
from ..errors import Invalid
from ..pricing import PricedLine, PriceList, PriceTier, Quote, price_line
from ..values import ZERO
from ..verbs.reading import LineWanted
from . import parties, products
from .codec import number
from .desk import Base, Desk, together

Steps = dict[int | None, list[Decimal]]


@dataclass(frozen=True, slots=True)
class Known:
    """Rows of the products of a document, by SKU, and of its customer."""

    rows: dict[str, dict[str, Any]]
    party: dict[str, Any]


async def known_of(desk: Desk, skus: Sequence[str], customer_id: str) -> Known:
    """Reads both. Raises ``NotFound``."""
    rows, party = await together(products.rows_of(desk, skus), parties.row_of(desk, customer_id, "customer"))
    return Known(rows, party)


async def quote(
    desk: Desk,
    lines: Sequence[LineWanted],
    customer_id: str | None,
    price_list: str | None,
    on: date | None,
    discount: Decimal,
    *,
    known: Known | None = None,
) -> Quote:
    """Prices every line. ``known``: records that were read already. Raises ``NotFound``, ``Invalid``, ``Refused`` (no
    price).
    """
    base = await desk.base()
    day = on or desk.today
    customer: Customer | None
    if known is not None:
        rows, customer = known.rows, parties.customer_of(known.party, base)
    elif customer_id:
        rows, party = await together(
            products.rows_of(desk, [line.sku for line in lines]), parties.row_of(desk, customer_id, "customer")
        )
        customer = parties.customer_of(party, base)
    else:
        rows, customer = await products.rows_of(desk, [line.sku for line in lines]), None
    list_id, chosen = _chosen(base, customer, price_list)
    goods = {sku: products.product_of(row, base) for sku, row in rows.items()}
    steps = await _steps(desk, list_id)
    tiers = await together(
        *(_tiers(desk, rows[line.sku], goods[line.sku], line, list_id, steps, day) for line in lines)
    )
    priced = [
        _line(goods[line.sku], line, each, chosen, day, discount) for line, each in zip(lines, tiers, strict=True)
    ]
    return Quote(customer, chosen, tuple(priced), day)


def _chosen(base: Base, customer: Customer | None, named: str | None) -> tuple[int | None, PriceList]:
    wanted = named or (customer.price_list if customer else None)
    if wanted:
        return base.price_list(wanted)
    if base.lists:
        return next(iter(base.lists.items()))
    return None, PriceList("list_price", "list price", base.company.currency, tax_included=False)


def _line(
    product: Product, line: LineWanted, tiers: list[PriceTier], chosen: PriceList, day: date, discount: Decimal
) -> PricedLine:
    off = discount if line.discount is None else line.discount
    return price_line(product, line.quantity, tiers, chosen, product.list_price, day, off, line.unit_price)


async def _steps(desk: Desk, list_id: int | None) -> Steps:
    """From which quantities on the list has other prices, by product (None: any), in base units."""
    if list_id is None:
        return {}
    rows = await desk.rpc.search_read(
        "product.price_list.line", [["price_list", "=", list_id], ["quantity", ">", 0]], ["product", "quantity"]
    )
    found: Steps = {}
    for row in rows:
        found.setdefault(row["product"], []).append(Decimal(row["quantity"]))
    return found


async def _tiers(
    desk: Desk, row: dict[str, Any], product: Product, line: LineWanted, list_id: int | None, steps: Steps, day: date
) -> list[PriceTier]:
    """What a base unit costs: for the quantity wanted, and from the next step on."""
    wanted = product.to_base(product.quantity(line.quantity.value, line.quantity.unit)).value
    known = sorted({*steps.get(row["id"], ()), *steps.get(None, ())})
    below = [step for step in known if step <= wanted]
    above = [step for step in known if step > wanted][:1]
    starts = [below[-1] if below else ZERO, *above]
    prices = await together(
        *(price_at(desk, row, list_id, max(step, wanted) if step in below else step or wanted) for step in starts)
    )
    first = ZERO if not below else below[-1]
    found = [PriceTier(first, price, day, day) for price in prices[:1] if price is not None]
    if below and found:  # so that the line says that a step was reached
        found.insert(0, PriceTier(ZERO, found[0].price, day, day))
    found += [
        PriceTier(step, price, day, day) for step, price in zip(above, prices[1:], strict=True) if price is not None
    ]
    return found


async def price_at(desk: Desk, row: dict[str, Any], list_id: int | None, quantity: Decimal) -> Decimal | None:
    """What the server asks for a default unit when so many are sold; None when it has no price."""
    context: dict[str, Any] = {**products.EVERY, "quantity": number(quantity), "uom": row["default_uom"]}
    if list_id is not None:
        context["price_list"] = list_id
        context["taxes"] = [tax["id"] for tax in (row.get("account_category.") or {}).get("customer_taxes.") or []]
    (found,) = await desk.rpc.read("product.product", [row["id"]], ["sale_price_uom"], context=context)
    price = found["sale_price_uom"]
    if price is None:
        return None
    if price < 0:
        raise Invalid(f"The server has a negative price for {row['code']}.")
    return Decimal(price)
