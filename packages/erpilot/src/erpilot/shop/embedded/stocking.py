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
    goods = _load_many(connection, rows)
    known = {place.code for place in products.warehouses(connection, None)}
    ids = list(goods)
    there, held = ledger.sums(connection, "move", ids), ledger.sums(connection, "reservation", ids)
    number, _ = following(connection, "ADJ")
    changes, moves = [], []
    for each in adjustments:
        row, place = rows[each.sku], each.warehouse
        product, subject = goods[row], f"{each.sku}@{each.warehouse}"
        if place not in known:
            document_rows.warehouse_code(connection, place)
        before = there.get((row, place), 0)
        after = _counted(each, product, before)
        reserved = held.get((row, place), 0)
        token = f"below_reserved:{subject}"
        if after < min(reserved, before) and token not in write.accepted:
            raise NeedsConfirmation(
                f"{quantity(reserved).normalize():f} {product.base.name} of {each.sku} are reserved in {place}: "
                f"with {quantity(after).normalize():f} some orders have nothing held for them any more.",
                token=token,
            )
        moves.append((row, place, after - before))
        base = product.base.name
        changes.append(
            FieldChange(subject, "on_hand", Quantity(quantity(before), base), Quantity(quantity(after), base))
        )
    ledger.move_many(connection, acting, moves, "count", number)
    awaited = ledger.awaited(connection)
    for row, place, change in moves:
        if change < 0 and (row, place) in held:
            ledger.shrink(connection, row, place)
        elif change > 0 and row in awaited:
            ledger.allocate(connection, row, place)
    return Made(number, tuple(changes), undoable=True, reason=reason.strip())


def _counted(each: Adjustment, product: Product, before: int) -> int:
    """What is on hand afterwards, stored. Raises ``Refused``, ``Conflict`` and ``Invalid``."""
    if not product.stocked:
        raise Refused(f"No stock is kept of {each.sku} {product.name}.")
    expected = stored(product.to_base(each.expected).value)
    if expected != before:
        raise Conflict(
            f"{each.sku} in {each.warehouse} is {quantity(before).normalize():f} {product.base.name} now, not the "
            f"{quantity(expected).normalize():f} that were shown; nothing was changed.",
            hint="Look at the stock again.",
        )
    unit = product.unit(each.quantity.unit)
    after = _target(each, each.quantity.value * unit.factor, before, each.quantity, unit.whole)
    if after < 0:
        raise Refused(f"{each.sku} in {each.warehouse} would be below zero; nothing was changed.")
    return after


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
