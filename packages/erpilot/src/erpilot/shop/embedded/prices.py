"""Pricing lines from the file's price lists.

Invariant: the list named wins over the customer's, the customer's over retail; the price is that of the day asked
about.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from datetime import date
from decimal import Decimal

from ..backend import LineWanted
from ..errors import NotFound
from ..matching import squeezed
from ..pricing import PriceList, PriceTier, Quote, price_line
from . import parties, products
from .schema import quantity


def lists(connection: sqlite3.Connection) -> tuple[PriceList, ...]:
    """All price lists, retail first."""
    rows = connection.execute(
        "SELECT code, name, currency, tax_included, aliases, taxed FROM price_list ORDER BY position"
    )
    return tuple(PriceList(r[0], r[1], r[2], bool(r[3]), tuple(json.loads(r[4])), bool(r[5])) for r in rows)


def named(known: Sequence[PriceList], text: str) -> PriceList:
    """The list of that code or name. Raises ``NotFound`` with those there are."""
    asked = squeezed(text)
    for each in known:
        if asked in map(squeezed, (each.code, each.name, *each.aliases)):
            return each
    raise NotFound(
        f"There is no price list {text.strip()[:40]!r}.", nearest=[f"{each.code} {each.name}" for each in known]
    )


def tiers_of(connection: sqlite3.Connection, row: int, price_list: str) -> list[PriceTier]:
    """Every tier of a product in a list, of all times."""
    rows = connection.execute(
        "SELECT from_qty, price, valid_from, valid_until FROM price WHERE product_id = ? AND list = ?",
        (row, price_list),
    )
    return [PriceTier(quantity(q), Decimal(p), date.fromisoformat(f), date.fromisoformat(u)) for q, p, f, u in rows]


def quote(
    connection: sqlite3.Connection,
    lines: Sequence[LineWanted],
    customer_id: str | None,
    price_list: str | None,
    on: date,
    discount: Decimal,
) -> Quote:
    """Prices every line. Raises ``NotFound`` and ``Refused`` (no price)."""
    known = lists(connection)
    customer = parties.get(connection, customer_id, "customer") if customer_id else None
    chosen = named(known, price_list or (customer.price_list if customer else known[0].code))
    rows = products.rows_of(connection, [line.sku for line in lines])
    goods = products.load(connection, sorted(set(rows.values())))
    priced = []
    for line in lines:
        row = rows[line.sku]
        tiers = tiers_of(connection, row, chosen.code)
        # A list price in another currency would be a different number, so a foreign list is its own base.
        same = chosen.currency == known[0].currency
        base = tiers if not same or chosen is known[0] else tiers_of(connection, row, known[0].code)
        usual = [t for t in base if t.valid_from <= on <= t.valid_until]
        list_price = min(usual, key=lambda t: t.from_qty).price if usual else goods[row].list_price
        off = discount if line.discount is None else line.discount
        priced.append(price_line(goods[row], line.quantity, tiers, chosen, list_price, on, off, line.unit_price))
    return Quote(customer, chosen, tuple(priced), on)
