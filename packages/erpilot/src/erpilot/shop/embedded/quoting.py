"""Quotations: made at current prices, changed while nobody has confirmed them.

Invariant: a line's price is the list's for its quantity or was typed by hand and says so; a line that is not touched
keeps its price, whatever the list says by now.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

from ..documents import Line, Order
from ..errors import Conflict, Invalid, NotFound, Refused
from ..pricing import PriceList, Quote, line_amounts
from ..rules import check_sold, price_concerns, valid_until
from ..values import Quantity
from ..verbs.outcome import FieldChange, Write
from ..verbs.reading import LineWanted
from ..verbs.selling import DraftChange, LineEdit, QuotationDraft
from . import document_rows, orders, prices, products
from .acting import Acting
from .effects import Made
from .lines import line_of


def priced(
    connection: sqlite3.Connection,
    acting: Acting,
    write: Write,
    lines: Sequence[LineWanted],
    customer_id: str,
    discount: Decimal,
) -> Quote:
    """Prices for a customer that may be sold at: known goods, possible quantities and discounts, within the limits or
    accepted.
    """
    check_lines(connection, lines, discount)
    quote = prices.quote(connection, lines, customer_id, None, acting.today, discount)
    check_sold(quote)
    acting.settle(price_concerns(quote, acting.company), write)
    return quote


def check_lines(connection: sqlite3.Connection, lines: Sequence[LineWanted], discount: Decimal) -> None:
    """Raises ``Invalid`` or ``NotFound`` for lines that cannot be."""
    if not lines:
        raise Invalid("A document needs at least one line.")
    for off in (discount, *(line.discount for line in lines if line.discount is not None)):
        if not off.is_finite() or not 0 <= off < 100 or off != round(off, 2):
            raise Invalid(f"A discount of {off} % cannot be.")
    known = products.by_codes(connection, [line.sku for line in lines])
    for line in lines:
        if line.sku not in known:
            raise NotFound(f"There is no product {line.sku[:40]}.")
        known[line.sku].quantity(line.quantity.value, line.quantity.unit)


def create(connection: sqlite3.Connection, acting: Acting, draft: QuotationDraft, write: Write) -> Made:
    """Makes a quotation."""
    last_day = valid_until(acting.today, draft.valid_days)
    quote = priced(connection, acting, write, draft.lines, draft.customer_id, draft.discount)
    _, number = document_rows.insert(
        connection,
        acting,
        "quotation",
        draft.customer_id,
        [line_of(at, line) for at, line in enumerate(quote.lines, 1)],
        currency=quote.price_list.currency,
        tax_included=quote.price_list.tax_included,
        state="quoted",
        warehouse=document_rows.warehouse_code(connection, None),
        valid_until=last_day,
        note=draft.note,
    )
    changes = (
        FieldChange(number, "total", None, quote.totals.total),
        FieldChange(number, "discount", None, draft.discount),
        FieldChange(number, "valid_until", None, last_day),
    )
    return Made(number, changes, is_document=True, undoable=True)


def update(connection: sqlite3.Connection, acting: Acting, number: str, change: DraftChange, write: Write) -> Made:
    """Changes a draft or a quotation."""
    row, order, _ = document_rows.expected(connection, number, write, "quotation", "sale")
    if order.head.state not in ("draft", "quoted"):
        raise Refused(f"{number} is {order.head.state}: only drafts and open quotations can be changed.")
    price_list = document_rows.price_list_of(connection, _list_code(connection, order))
    lines, touched = _edited(connection, acting, order, change, price_list)
    if not lines:
        raise Refused(f"{number} would have no line left.", hint="Cancel it instead.")
    _check_prices(connection, acting, write, order, touched)
    kept = connection.execute("SELECT * FROM line WHERE document_id = ? ORDER BY line", (row,)).fetchall()
    connection.execute("INSERT INTO lines_before VALUES (?, ?)", (write.key, json.dumps(kept)))
    connection.execute("DELETE FROM line WHERE document_id = ?", (row,))
    document_rows.insert_lines(connection, row, lines, tax_included=order.tax_included)
    for column, value in (("valid_until", change.valid_until), ("promised", change.promised)):
        if value is not None:
            if value < acting.today:
                raise Invalid(f"The day {value} is past.")
            connection.execute(f"UPDATE document SET {column} = ? WHERE id = ?", (value.isoformat(), row))
    if change.note is not None:
        connection.execute("UPDATE document SET note = ? WHERE id = ?", (change.note.strip() or None, row))
    after = document_rows.refresh(connection, row, order.head.state)
    return Made(number, tuple(_differences(order, after)), is_document=True, undoable=True)


def change_back(
    connection: sqlite3.Connection, number: str, changes: Sequence[FieldChange], key: str
) -> tuple[FieldChange, ...]:
    """The draft as it was before the change with that key, which was the last one."""
    row = orders.row_of(connection, number)
    order = orders.by_row(connection, row)
    if order.head.state not in ("draft", "quoted"):
        raise Conflict(f"{number} is {order.head.state} by now; nothing was changed.")
    (kept,) = connection.execute("SELECT lines FROM lines_before WHERE key = ?", (key,)).fetchone()
    connection.execute("DELETE FROM line WHERE document_id = ?", (row,))
    rows = json.loads(kept)
    connection.executemany(f"INSERT INTO line VALUES ({', '.join('?' * len(rows[0]))})", rows)
    for each in changes:
        if each.field in ("valid_until", "promised", "note"):
            value = None if each.before is None else str(each.before)
            connection.execute(f"UPDATE document SET {each.field} = ? WHERE id = ?", (value, row))
    return tuple(_differences(order, document_rows.refresh(connection, row, order.head.state)))


def _list_code(connection: sqlite3.Connection, order: Order) -> str:
    found: str = connection.execute("SELECT price_list FROM party WHERE id = ?", (order.head.party_id,)).fetchone()[0]
    return found


def _edited(
    connection: sqlite3.Connection, acting: Acting, order: Order, change: DraftChange, price_list: PriceList
) -> tuple[list[Line], list[Line]]:
    """All lines afterwards, and those of them that were touched."""
    edits = {edit.line: edit for edit in change.edits}
    unknown = set(edits) - {line.line for line in order.lines}
    if unknown:
        raise NotFound(f"{order.head.number} has no line {min(unknown)}.")
    if len(edits) != len(change.edits):
        raise Invalid("A line is changed twice.")
    lines, touched = [], []
    for line in order.lines:
        edit = edits.get(line.line, LineEdit(line.line))
        if edit.remove:
            continue
        discount = edit.discount if edit.discount is not None else change.discount
        if edit.quantity is None and edit.unit_price is None and discount is None:
            lines.append(line)
            continue
        changed = _line_edited(connection, acting, order, line, edit, discount)
        lines.append(changed)
        touched.append(changed)
    following = max((line.line for line in order.lines), default=0) + 1
    if change.added:
        check_lines(connection, change.added, change.discount or Decimal(0))
        quote = prices.quote(
            connection, change.added, order.head.party_id, price_list.code, acting.today, change.discount or Decimal(0)
        )
        check_sold(quote)
        for at, each in enumerate(quote.lines, following):
            lines.append(line_of(at, each))
            touched.append(lines[-1])
    return lines, touched


def _line_edited(
    connection: sqlite3.Connection,
    acting: Acting,
    order: Order,
    line: Line,
    edit: LineEdit,
    discount: Decimal | None,
) -> Line:
    off = line.discount if discount is None else discount
    wanted = edit.quantity or Quantity(line.ordered, line.unit)
    by_hand = edit.unit_price
    if by_hand is None and (line.price_origin == "manual" or edit.quantity is None):
        if wanted.unit != line.unit:
            raise Invalid(f"The price of line {line.line} is per {line.unit}.", hint="Give a price for the new unit.")
        check_lines(connection, [LineWanted(line.sku, wanted)], off)
        amount, tax = line_amounts(
            wanted.value, line.unit_price, off, line.tax_rate, order.head.total.currency,
            tax_included=order.tax_included,
        )  # fmt: skip
        return replace(line, ordered=wanted.value, discount=off, amount=amount, tax=tax)
    asked = [LineWanted(line.sku, wanted, by_hand, off)]
    check_lines(connection, asked, off)
    quote = prices.quote(connection, asked, order.head.party_id, None, acting.today, off)
    return line_of(line.line, quote.lines[0])


def _check_prices(
    connection: sqlite3.Connection, acting: Acting, write: Write, order: Order, touched: Sequence[Line]
) -> None:
    """The limits, for what was touched, against today's list."""
    if not touched:
        return
    asked = [
        LineWanted(line.sku, Quantity(line.ordered, line.unit), line.unit_price, line.discount) for line in touched
    ]
    quote = prices.quote(connection, asked, order.head.party_id, None, acting.today, Decimal(0))
    acting.settle(price_concerns(quote, acting.company), write)


def _differences(before: Order, after: Order) -> list[FieldChange]:
    """What changed, field by field."""
    number = before.head.number
    found = []
    old, new = {line.line: line for line in before.lines}, {line.line: line for line in after.lines}
    for at in sorted({*old, *new}):
        first, second = old.get(at), new.get(at)
        if first is None or second is None:
            found.append(
                FieldChange(
                    number, f"line {at}", _described(first) if first else None, _described(second) if second else None
                )
            )
            continue
        if (first.ordered, first.unit) != (second.ordered, second.unit):
            quantities = Quantity(first.ordered, first.unit), Quantity(second.ordered, second.unit)
            found.append(FieldChange(number, f"line {at} quantity", *quantities))
        for field in ("unit_price", "discount", "price_origin"):
            if getattr(first, field) != getattr(second, field):
                found.append(FieldChange(number, f"line {at} {field}", getattr(first, field), getattr(second, field)))
    for name, values in (
        ("valid_until", (before.valid_until, after.valid_until)),
        ("promised", (before.head.promised, after.head.promised)),
        ("note", (before.note, after.note)),
        ("total", (before.head.total, after.head.total)),
    ):
        if values[0] != values[1]:
            found.append(FieldChange(number, name, values[0], values[1]))
    return found


def _described(line: Line) -> str:
    return f"{line.sku} {line.ordered.normalize():f} {line.unit} x {line.unit_price}"
