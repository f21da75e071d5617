"""Lines of documents as rows: written when a document is made, changed by what happens to it.

Invariant: ``sold``, ``gross``, ``net`` and ``cost`` always belong to what is not cancelled, by the same rounding
wherever a line is written.
"""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from decimal import Decimal

from ..catalogue import Product
from ..documents import Line
from ..pricing import PricedLine, figures
from ..values import Money
from .schema import stored

COLUMNS = (
    "document_id, line, product_id, name, specification, unit, factor, base_unit, ordered, delivered, returned, "
    "cancelled, invoiced, unit_price, price_origin, discount, tax_rate, amount, tax, sold, gross, net, cost"
)


def line_sums(line: Line, product: Product, *, tax_included: bool) -> tuple[int, int, int, int | None]:
    """``sold``, ``gross``, ``net`` and ``cost`` of a line as it is; no cost where it is in another currency."""
    now = figures(line, tax_included=tax_included)
    cost = None
    if product.cost is not None and product.currency == line.amount.currency:
        cost = Money(product.cost * now.sold, product.currency).minor
    return stored(now.sold), now.gross.minor, now.net.minor, cost


def line_of(position: int, priced: PricedLine) -> Line:
    """The line of a document that was priced like this."""
    product, unit = priced.product, priced.product.unit(priced.quantity.unit)
    return Line(
        line=position,
        sku=product.sku,
        name=product.name,
        specification=product.specification,
        unit=unit.name,
        factor=unit.factor,
        base_unit=product.base.name,
        ordered=priced.quantity.value,
        unit_price=priced.unit_price,
        tax_rate=priced.tax_rate,
        amount=priced.amount,
        tax=priced.tax,
        discount=priced.discount,
        price_origin=priced.origin,
    )


def insert(
    connection: sqlite3.Connection, document: int, line: Line, product_row: int, product: Product, *, tax_included: bool
) -> None:
    """A new line of a document."""
    sums = line_sums(line, product, tax_included=tax_included)
    values = values_of(document, line, product_row, sums)
    connection.execute(f"INSERT INTO line ({COLUMNS}) VALUES ({', '.join('?' * 23)})", values)


def values_of(
    document: int, line: Line, product_row: int, sums: tuple[int, int, int, int | None]
) -> tuple[int | str | None, ...]:
    """A line as it is kept, in the order of ``COLUMNS``; ``sums`` as of ``line_sums``."""
    return (
        document,
        line.line,
        product_row,
        line.name,
        line.specification,
        line.unit,
        str(line.factor),
        line.base_unit,
        stored(line.ordered),
        stored(line.delivered),
        stored(line.returned),
        stored(line.cancelled),
        stored(line.invoiced),
        str(line.unit_price),
        line.price_origin,
        str(line.discount),
        str(line.tax_rate),
        line.amount.minor,
        line.tax.minor,
        *sums,
    )


def cancel(connection: sqlite3.Connection, document: int, line: Line, more: Decimal, *, tax_included: bool) -> None:
    """``more`` of a line (in its unit) will not be delivered: what counts as sold shrinks with it. The cost falls on
    what is left, in proportion.
    """
    after = figures(replace(line, cancelled=line.cancelled + more), tax_included=tax_included)
    sold = stored(after.sold)
    connection.execute(
        "UPDATE line SET cancelled = cancelled + ?, gross = ?, net = ?, "
        "cost = CASE WHEN sold = 0 THEN cost ELSE (2 * cost * ? + sold) / (2 * sold) END, sold = ? "
        "WHERE document_id = ? AND line = ?",
        (stored(more), after.gross.minor, after.net.minor, sold, sold, document, line.line),
    )
