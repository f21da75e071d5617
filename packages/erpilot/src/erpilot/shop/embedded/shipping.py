"""Goods that go out for an order, and goods that come back.

Invariant: never more goes out than is open, on hand and not held for others, never more comes back than went out; what
goes out is invoiced, what comes back credited at the price really paid, and the parts of a line add up to it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

from ..documents import Line, Order
from ..errors import Invalid, NotFound, Refused
from ..pricing import share, with_tax
from ..values import Money, Quantity, zero
from ..verbs.outcome import FieldChange, Write
from ..verbs.selling import LinePart, Parcel, ReturnedPart
from . import document_rows, invoices, ledger, parties, products, settling
from .acting import Acting
from .effects import Made
from .schema import quantity, stored
from .series import following


def deliver(
    connection: sqlite3.Connection,
    acting: Acting,
    number: str,
    parts: Sequence[LinePart],
    parcel: Parcel,
    write: Write,
) -> Made:
    """Takes goods out and invoices them."""
    row, order, warehouse = document_rows.expected(connection, number, write, "sale")
    if order.head.state not in ("confirmed", "in_progress"):
        raise Refused(f"{number} is {order.head.state}: nothing of it can be delivered.")
    rows = products.rows_of(connection, [line.sku for line in order.lines])
    going = [
        (line, qty)
        for line, qty in (_asked(connection, order, parts) if parts else _ready(connection, order, rows, warehouse))
        if qty > 0
    ]
    if not going:
        raise Refused(f"Nothing of {number} can go out now: nothing is open and in stock.")
    day = parcel.date or acting.today
    if day > acting.today:
        raise Invalid(f"A delivery on {day} has not happened yet: today is {acting.today}.")
    delivery, _ = following(connection, f"DN-{acting.today.year}")
    delivery_row = connection.execute(
        "INSERT INTO delivery (number, document_id, date, state, warehouse, carrier, tracking) "
        "VALUES (?, ?, ?, 'shipped', ?, ?, ?)",
        (delivery, row, day.isoformat(), warehouse, parcel.carrier, parcel.tracking),
    ).lastrowid
    changes = []
    total = zero(order.head.total.currency)
    for at, (line, qty) in enumerate(going):
        product = rows[line.sku]
        _take_out(connection, acting, row, order, line, qty, product, warehouse)
        connection.execute(
            "INSERT INTO delivery_line VALUES (?, ?, ?, ?, ?)", (delivery_row, at, product, stored(qty), line.unit)
        )
        price = with_tax(line, tax_included=order.tax_included)
        total = total + (share(price, line.invoiced + qty, line.ordered) - share(price, line.invoiced, line.ordered))
        before, after = Quantity(line.delivered, line.unit), Quantity(line.delivered + qty, line.unit)
        changes.append(FieldChange(number, f"line {line.line} delivered", before, after))
        rest = Quantity(line.open, line.unit), Quantity(line.open - qty, line.unit)
        changes.append(FieldChange(number, f"line {line.line} open", *rest))
    linked = [delivery]
    if total.amount > 0:
        linked.append(_invoice(connection, acting, row, order, total))
    document_rows.refresh(connection, row)
    return Made(number, tuple(changes), tuple(linked), is_document=True)


def _asked(connection: sqlite3.Connection, order: Order, parts: Sequence[LinePart]) -> list[tuple[Line, Decimal]]:
    """What was asked for, in the units of the lines. Raises ``Refused`` for more than is open."""
    found: dict[int, Decimal] = {}
    for part in parts:
        line = _line(order, part.line)
        found[line.line] = found.get(line.line, Decimal(0)) + _in_unit_of(connection, line, part.quantity)
        if found[line.line] > line.open:
            raise Refused(
                f"Only {line.open.normalize():f} {line.unit} of line {line.line} ({line.sku}) are open on "
                f"{order.head.number}; nothing was changed."
            )
    return [(_line(order, at), qty) for at, qty in sorted(found.items())]


def _line(order: Order, number: int) -> Line:
    for line in order.lines:
        if line.line == number:
            return line
    raise NotFound(f"{order.head.number} has no line {number}.")


def _in_unit_of(connection: sqlite3.Connection, line: Line, asked: Quantity) -> Decimal:
    """The quantity in the unit that the line was sold in. Raises ``Invalid`` where that is not possible."""
    product = products.by_codes(connection, [line.sku])[line.sku]
    product.quantity(asked.value, asked.unit)
    if asked.unit == line.unit:
        return asked.value
    value = product.to_base(asked).value / line.factor
    if value != round(value, 3):
        raise Invalid(
            f"{asked.value} {asked.unit} of {line.sku} is no exact number of {line.unit}, in which it was ordered.",
            hint=f"1 {line.unit} = {line.factor.normalize():f} {line.base_unit}.",
        )
    return value


def _ready(
    connection: sqlite3.Connection, order: Order, rows: dict[str, int], warehouse: str
) -> list[tuple[Line, Decimal]]:
    """All that is open and there, in whole units where only those go."""
    found = []
    free = {row: ledger.available(connection, row, warehouse) for row in rows.values()}
    for line in order.lines:
        product = rows[line.sku]
        if not ledger.is_stocked(connection, product):
            found.append((line, line.open))
            continue
        held = stored(line.held)
        there = quantity(held + max(0, free[product]))
        qty = min(line.open, there / line.factor)
        unit = products.load(connection, [product])[product].unit(line.unit)
        qty = (
            qty.to_integral_value("ROUND_FLOOR")
            if unit.whole and qty < line.open
            else qty.quantize(Decimal("0.001"), "ROUND_FLOOR")
        )
        free[product] -= max(0, stored(qty * line.factor) - held)
        found.append((line, qty))
    return found


def _take_out(
    connection: sqlite3.Connection,
    acting: Acting,
    row: int,
    order: Order,
    line: Line,
    qty: Decimal,
    product: int,
    warehouse: str,
) -> None:
    base = stored(qty * line.factor)
    if ledger.is_stocked(connection, product):
        held = stored(line.held)
        free = ledger.available(connection, product, warehouse)
        if base > held + max(0, free):
            there = quantity(held + max(0, free))
            raise Refused(
                f"Only {there.normalize():f} {line.base_unit} of {line.sku} {line.name} can go out of {warehouse}: the "
                "rest is not there or held for other orders; nothing was changed."
            )
        ledger.release(connection, row, line.line, base)
        ledger.move(connection, acting, product, warehouse, -base, "delivery", order.head.number)
    connection.execute(
        "UPDATE line SET delivered = delivered + ?, invoiced = invoiced + ? WHERE document_id = ? AND line = ?",
        (stored(qty), stored(qty), row, line.line),
    )


def _invoice(connection: sqlite3.Connection, acting: Acting, row: int, order: Order, total: Money) -> str:
    """An invoice, which takes what was paid for the order before."""
    terms = parties.get(connection, order.head.party_id, "customer").terms
    invoice, number = invoices.make(connection, acting, "invoice", row, order.head.party_id, total, terms)
    settling.settle_prepaid(connection, acting, row, invoice, total)
    return number


def take_back(
    connection: sqlite3.Connection,
    acting: Acting,
    number: str,
    parts: Sequence[ReturnedPart],
    reason: str,
    write: Write,
) -> Made:
    """Takes goods back into the warehouse that they left, and credits them."""
    row, order, warehouse = document_rows.expected(connection, number, write, "sale")
    if not reason.strip():
        raise Invalid("A return needs a reason.")
    if not parts:
        raise Invalid("A return needs at least one line.")
    back: dict[int, Decimal] = {}
    lines, changes = [], []
    sellable: dict[int, Decimal] = {}
    for part in parts:
        line = _line(order, part.line)
        qty = _in_unit_of(connection, line, part.quantity)
        before = back.get(line.line, Decimal(0))
        back[line.line] = before + qty
        if line.returned + back[line.line] > line.delivered:
            left = line.delivered - line.returned
            raise Refused(
                f"Only {left.normalize():f} {line.unit} of line {line.line} ({line.sku}) of {number} went out and have "
                "not come back; nothing was changed."
            )
        if part.condition == "sellable":
            sellable[line.line] = sellable.get(line.line, Decimal(0)) + qty
    for at, (line_number, qty) in enumerate(sorted(back.items()), 1):
        line = _line(order, line_number)
        lines.append(_returned(line, qty, at))
        before_, after_ = Quantity(line.returned, line.unit), Quantity(line.returned + qty, line.unit)
        changes.append(FieldChange(number, f"line {line_number} returned", before_, after_))
        connection.execute(
            "UPDATE line SET returned = returned + ? WHERE document_id = ? AND line = ?",
            (stored(qty), row, line_number),
        )
    made, return_number = document_rows.insert(
        connection,
        acting,
        "return",
        order.head.party_id,
        lines,
        currency=order.head.total.currency,
        tax_included=order.tax_included,
        state="done",
        warehouse=warehouse,
        source=number,
        note=reason.strip(),
    )
    _into_stock(connection, acting, order, back, sellable, warehouse, return_number)
    linked = [number]
    total = zero(order.head.total.currency)
    for each in lines:
        total = total + with_tax(each, tax_included=order.tax_included)
    if total.amount > 0:
        credit, note = invoices.make(connection, acting, "credit_note", made, order.head.party_id, total, 0)
        settling.settle_with_credit(connection, acting, row, credit, total)
        linked.append(note)
    document_rows.refresh(connection, row)
    document_rows.refresh(connection, made)
    changes.append(FieldChange(return_number, "credited", None, total))
    return Made(return_number, tuple(changes), tuple(linked), is_document=True, reason=reason.strip())


def _returned(line: Line, qty: Decimal, position: int) -> Line:
    """The line of the return: the part of what was paid that falls on what comes back now."""
    whole = line.ordered

    def part(amount: Money) -> Money:
        return share(amount, line.returned + qty, whole) - share(amount, line.returned, whole)

    return replace(
        line,
        line=position,
        ordered=qty,
        delivered=qty,
        invoiced=qty,
        returned=Decimal(0),
        cancelled=Decimal(0),
        held=Decimal(0),
        amount=part(line.amount),
        tax=part(line.tax),
    )


def _into_stock(
    connection: sqlite3.Connection,
    acting: Acting,
    order: Order,
    back: dict[int, Decimal],
    sellable: dict[int, Decimal],
    warehouse: str,
    number: str,
) -> None:
    """All of it comes in; what is damaged is written off at once."""
    rows = products.rows_of(connection, [line.sku for line in order.lines])
    for at, qty in back.items():
        line = _line(order, at)
        product = rows[line.sku]
        if not ledger.is_stocked(connection, product):
            continue
        whole = stored(qty * line.factor)
        good = stored(sellable.get(at, Decimal(0)) * line.factor)
        ledger.move(connection, acting, product, warehouse, whole, "return", number)
        ledger.move(connection, acting, product, warehouse, good - whole, "scrap", number)
        ledger.allocate(connection, product, warehouse)
