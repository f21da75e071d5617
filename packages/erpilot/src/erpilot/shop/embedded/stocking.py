"""Corrections after a count, and moves between warehouses.

Invariant: a correction is refused when the stock is not the one that was shown; a transfer keeps the sum; all lines
happen or none.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from decimal import Decimal

from ..catalogue import Product
from ..errors import Conflict, Invalid, NeedsConfirmation, Refused
from ..values import Quantity
from ..verbs.outcome import FieldChange, Write
from ..verbs.stock import Adjustment, TransferLine
from . import document_rows, ledger, products
from .acting import Acting
from .effects import Made
from .schema import quantity, stored
from .series import following


def adjust(
    connection: sqlite3.Connection, acting: Acting, adjustments: Sequence[Adjustment], reason: str, write: Write
) -> Made:
    """Sets or changes what is on hand."""
    if not adjustments:
        raise Invalid("A correction needs at least one product.")
    if not reason.strip():
        raise Invalid("A correction of stock needs a reason.")
    places = {(each.sku, each.warehouse) for each in adjustments}
    if len(places) != len(adjustments):
        raise Invalid("A product is corrected twice in one warehouse.")
    rows = products.rows_of(connection, [each.sku for each in adjustments])
    goods = products.load(connection, sorted(set(rows.values()))) if len(rows) < 500 else _load_many(connection, rows)
    number, _ = following(connection, "ADJ")
    changes = []
    for each in adjustments:
        product, row = goods[rows[each.sku]], rows[each.sku]
        if not product.stocked:
            raise Refused(f"No stock is kept of {each.sku} {product.name}.")
        document_rows.warehouse_code(connection, each.warehouse)
        before = ledger.on_hand(connection, row, each.warehouse)
        expected = stored(product.to_base(each.expected).value)
        if expected != before:
            raise Conflict(
                f"{each.sku} in {each.warehouse} is {quantity(before).normalize():f} {product.base.name} now, not the "
                f"{quantity(expected).normalize():f} that were shown; nothing was changed.",
                hint="Look at the stock again.",
            )
        after = _target(
            each, product.to_base(each.quantity).value, before, each.quantity, product.unit(each.quantity.unit).whole
        )
        if after < 0:
            raise Refused(f"{each.sku} in {each.warehouse} would be below zero; nothing was changed.")
        held = ledger.reserved(connection, row, each.warehouse)
        token = f"below_reserved:{each.sku}@{each.warehouse}"
        if after < held and after < before and token not in write.accepted:
            raise NeedsConfirmation(
                f"{quantity(held).normalize():f} {product.base.name} of {each.sku} are reserved in {each.warehouse}: "
                f"with {quantity(after).normalize():f} some orders have nothing held for them any more.",
                token=token,
            )
        ledger.move(connection, acting, row, each.warehouse, after - before, "count", number)
        ledger.shrink(connection, row, each.warehouse)
        ledger.allocate(connection, row, each.warehouse)
        base = product.base.name
        changes.append(
            FieldChange(
                f"{each.sku}@{each.warehouse}",
                "on_hand",
                Quantity(quantity(before), base),
                Quantity(quantity(after), base),
            )
        )
    return Made(number, tuple(changes), undoable=True, reason=reason.strip())


def _load_many(connection: sqlite3.Connection, rows: dict[str, int]) -> dict[int, Product]:
    ids = sorted(set(rows.values()))
    found: dict[int, Product] = {}
    for at in range(0, len(ids), 500):
        found.update(products.load(connection, ids[at : at + 500]))
    return found


def _target(each: Adjustment, base: Decimal, before: int, asked: Quantity, whole: bool) -> int:
    value = asked.value
    if not value.is_finite() or (each.mode == "set" and value < 0):
        raise Invalid(f"{value} {asked.unit} of {each.sku} cannot be counted.")
    if whole and value != value.to_integral_value():
        raise Invalid(f"{value} {asked.unit} of {each.sku} cannot be: {asked.unit} is counted whole.")
    if base * 1000 != (base * 1000).to_integral_value():
        raise Invalid(f"{value} {asked.unit} of {each.sku} is finer than the shop counts.")
    return stored(base) if each.mode == "set" else before + stored(base)


def transfer(
    connection: sqlite3.Connection,
    acting: Acting,
    lines: Sequence[TransferLine],
    source: str,
    target: str,
    note: str | None,
    write: Write,
) -> Made:
    """Moves goods from one warehouse to another."""
    del write
    if not lines:
        raise Invalid("A transfer needs at least one product.")
    source = document_rows.warehouse_code(connection, source)
    target = document_rows.warehouse_code(connection, target)
    if source == target:
        raise Invalid("A transfer needs two different warehouses.")
    known = products.by_codes(connection, [line.sku for line in lines])
    rows = products.rows_of(connection, [line.sku for line in lines])
    number, _ = following(connection, "TR")
    changes = []
    for line in lines:
        product, row = known[line.sku], rows[line.sku]
        wanted = product.to_base(product.quantity(line.quantity.value, line.quantity.unit)).value
        free = ledger.available(connection, row, source)
        if stored(wanted) > free:
            raise Refused(
                f"Only {quantity(max(0, free)).normalize():f} {product.base.name} of {line.sku} {product.name} are "
                f"available in {source}; nothing was changed."
            )
        for place, sign in ((source, -1), (target, 1)):
            before = ledger.on_hand(connection, row, place)
            ledger.move(connection, acting, row, place, sign * stored(wanted), "transfer", number)
            after = before + sign * stored(wanted)
            base = product.base.name
            changes.append(
                FieldChange(
                    f"{line.sku}@{place}", "on_hand", Quantity(quantity(before), base), Quantity(quantity(after), base)
                )
            )
        ledger.allocate(connection, row, target)
    return Made(number, tuple(changes), undoable=True, reason=note.strip() if note else None)
