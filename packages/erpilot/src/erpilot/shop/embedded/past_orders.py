"""Sales from before the shop kept its books here, as a whole file.

Invariant: they count in reports like any other sale and move nothing: no stock, no invoice, no payment. Amounts are
those of the given prices, rounded as everywhere; all of a file happens or none of it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any

from ..documents import Line
from ..errors import Conflict, Invalid, NotFound, Refused
from ..pricing import line_amounts, with_tax
from ..values import ZERO, zero
from ..verbs.control import ImportedOrder
from ..verbs.outcome import FieldChange, Write
from . import document_rows, lines, parties, products
from .acting import Acting
from .effects import Made
from .series import following

CHUNK = 500


def import_orders(
    connection: sqlite3.Connection, acting: Acting, orders: Sequence[ImportedOrder], write: Write
) -> Made:
    """Adds sales that are done."""
    del write
    _check(connection, acting, orders)
    goods = _products(connection, orders)
    places = {place.code for place in products.warehouses(connection, None)}
    main = products.warehouses(connection, None)[0].code
    terms: dict[str, tuple[str, bool, bool]] = {}
    (first,) = connection.execute("SELECT coalesce(max(id), 0) + 1 FROM document").fetchone()
    heads: list[tuple[Any, ...]] = []
    rows: list[tuple[Any, ...]] = []
    changes: list[FieldChange] = []
    for row, order in enumerate(orders, first):
        if order.customer_id not in terms:
            customer = parties.get(connection, order.customer_id, "customer")
            chosen = document_rows.price_list_of(connection, customer.price_list)
            terms[order.customer_id] = (chosen.currency, chosen.tax_included, chosen.taxed)
        currency, tax_included, taxed = terms[order.customer_id]
        warehouse = order.warehouse or main
        if warehouse not in places:
            raise NotFound(f"There is no warehouse {warehouse!r}.", nearest=sorted(places))
        total = zero(currency)
        for line, product_row, product in _lines(order, goods, currency, tax_included=tax_included, taxed=taxed):
            total = total + with_tax(line, tax_included=tax_included)
            sums = lines.line_sums(line, product, tax_included=tax_included)
            rows.append(lines.values_of(row, line, product_row, sums))
        heads.append(
            (
                row, order.number, _serial(order.number), order.customer_id, order.date.isoformat(), currency,
                tax_included, total.minor, warehouse, acting.user, acting.now.isoformat(timespec="seconds"),
            )
        )  # fmt: skip
        changes.append(FieldChange(order.number, "total", None, total))
    connection.executemany(
        "INSERT INTO document (id, number, serial, kind, party_id, date, state, shipped, invoiced, currency, "
        "tax_included, total, warehouse, source, note, created_by, created_at) "
        "VALUES (?, ?, ?, 'sale', ?, ?, 'done', 'full', 'full', ?, ?, ?, ?, NULL, NULL, ?, ?)",
        heads,
    )
    connection.executemany(f"INSERT INTO line ({lines.COLUMNS}) VALUES ({', '.join('?' * 23)})", rows)
    number, _ = following(connection, "IMP")
    return Made(number, tuple(changes), undoable=True)


def _check(connection: sqlite3.Connection, acting: Acting, orders: Sequence[ImportedOrder]) -> None:
    numbers = [order.number for order in orders]
    if len(set(numbers)) != len(numbers):
        raise Invalid("An order number comes twice.")
    for order in orders:
        if not order.number.strip() or not order.lines:
            raise Invalid(f"The order {order.number!r} needs a number and lines.")
        if order.date > acting.today:
            raise Refused(f"The order {order.number} is of {order.date}, which is to come; nothing was changed.")
    for at in range(0, len(numbers), CHUNK):
        some = numbers[at : at + CHUNK]
        taken = connection.execute(
            f"SELECT number FROM document WHERE number IN ({', '.join('?' * len(some))}) LIMIT 1", some
        ).fetchone()
        if taken:
            raise Refused(f"There is an order {taken[0]} already; nothing was changed.")


def _products(connection: sqlite3.Connection, orders: Sequence[ImportedOrder]) -> dict[str, tuple[int, Any]]:
    rows: dict[str, int] = {}
    skus = list({line.sku for order in orders for line in order.lines})
    for at in range(0, len(skus), CHUNK):
        rows |= products.rows_of(connection, skus[at : at + CHUNK])
    known = products.load(connection, list(set(rows.values())))
    return {sku: (row, known[row]) for sku, row in rows.items()}


def _lines(
    order: ImportedOrder, goods: dict[str, tuple[int, Any]], currency: str, *, tax_included: bool, taxed: bool
) -> Iterator[tuple[Line, int, Any]]:
    for position, each in enumerate(order.lines, 1):
        row, product = goods[each.sku]
        quantity = product.quantity(each.quantity.value, each.quantity.unit)
        unit = product.unit(quantity.unit)
        rate = product.tax_rate if taxed else ZERO
        if each.unit_price < 0 or not 0 <= each.discount <= 100:
            raise Invalid(f"Line {position} of {order.number}: the price or the discount cannot be.")
        amount, tax = line_amounts(
            quantity.value, each.unit_price, each.discount, rate, currency, tax_included=tax_included
        )
        line = Line(
            line=position,
            sku=product.sku,
            name=product.name,
            specification=product.specification,
            unit=unit.name,
            factor=unit.factor,
            base_unit=product.base.name,
            ordered=quantity.value,
            unit_price=each.unit_price,
            tax_rate=rate,
            amount=amount,
            tax=tax,
            discount=each.discount,
            price_origin="manual",
            delivered=quantity.value,
            invoiced=quantity.value,
        )
        yield line, row, product


def _serial(number: str) -> int:
    """The last run of digits, by which people ask for an order; 0 where there is none."""
    digits = "".join(character if character.isdigit() else " " for character in number).split()
    return int(digits[-1][-9:]) if digits else 0


def orders_away(connection: sqlite3.Connection, changes: Sequence[FieldChange]) -> tuple[FieldChange, ...]:
    """Takes an import of orders back. Raises ``Conflict`` when something was built on one of them."""
    for change in changes:
        found = connection.execute(
            "SELECT d.id, d.version, EXISTS (SELECT 1 FROM document o WHERE o.source = d.number), "
            "EXISTS (SELECT 1 FROM line l WHERE l.document_id = d.id AND l.returned > 0) "
            "FROM document d WHERE d.number = ?",
            (change.subject,),
        ).fetchone()
        if found is None or found[1] != 1 or found[2] or found[3]:
            raise Conflict(f"{change.subject} has changed since; nothing was changed.")
        connection.execute("DELETE FROM line WHERE document_id = ?", (found[0],))
        connection.execute("DELETE FROM document WHERE id = ?", (found[0],))
    return tuple(FieldChange(each.subject, each.field, each.after, None) for each in changes)
