"""Orders: from a quotation or at once, and cancelled.

Invariant: a confirmed order holds what is available for it; a quotation makes one order; what went out is never
cancelled, what is cancelled is held no longer.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal

from .. import concerns
from ..documents import Line, Order
from ..errors import Invalid, Refused
from ..values import Quantity, zero
from ..verbs.outcome import FieldChange, Write
from ..verbs.selling import OrderDraft
from . import accounts, document_rows, ledger, lines, orders, products, quoting
from .acting import Acting
from .effects import Made
from .schema import quantity, stored


def create(connection: sqlite3.Connection, acting: Acting, draft: OrderDraft, write: Write) -> Made:
    """A confirmed order at current prices."""
    _not_past(draft.promised, acting)
    if draft.source is not None:
        orders.row_of(connection, draft.source)
    quote = quoting.priced(connection, acting, write, draft.lines, draft.customer_id, draft.discount)
    acting.settle(
        concerns.credit(accounts.account(connection, draft.customer_id, acting.today), quote.totals.total), write
    )
    warehouse = document_rows.warehouse_code(connection, draft.warehouse)
    row, number = document_rows.insert(
        connection,
        acting,
        "sale",
        draft.customer_id,
        [lines.line_of(at, each) for at, each in enumerate(quote.lines, 1)],
        currency=quote.price_list.currency,
        tax_included=quote.price_list.tax_included,
        state="confirmed",
        warehouse=warehouse,
        promised=draft.promised,
        source=draft.source,
        note=draft.note,
    )
    return _confirmed(connection, row, number, warehouse, linked=(draft.source,) if draft.source else ())


def confirm(
    connection: sqlite3.Connection,
    acting: Acting,
    number: str,
    promised: date | None,
    warehouse: str | None,
    write: Write,
) -> Made:
    """The order of a quotation, or a draft order that becomes binding."""
    _not_past(promised, acting)
    row, order, place = document_rows.expected(connection, number, write, "quotation", "sale")
    if order.head.kind == "quotation" and order.head.state == "done":
        made = connection.execute("SELECT number FROM document WHERE source = ?", (number,)).fetchone()
        raise Refused(f"{number} was converted already{f' ({made[0]})' if made else ''}; nothing was changed.")
    if order.head.state not in ("draft", "quoted"):
        raise Refused(f"{number} is {order.head.state}: it cannot be confirmed.")
    account = accounts.account(connection, order.head.party_id, acting.today)
    acting.settle([*concerns.expiry(order, acting.today), *concerns.credit(account, order.totals.total)], write)
    place = document_rows.warehouse_code(connection, warehouse or place)
    if order.head.kind == "sale":
        connection.execute(
            "UPDATE document SET promised = coalesce(?, promised), warehouse = ? WHERE id = ?",
            (promised.isoformat() if promised else None, place, row),
        )
        document_rows.refresh(connection, row, "confirmed")
        return _confirmed(connection, row, number, place, before=order.head.state)
    kept = [replace(line, held=Decimal(0)) for line in order.lines]
    made_row, made_number = document_rows.insert(
        connection,
        acting,
        "sale",
        order.head.party_id,
        kept,
        currency=order.head.total.currency,
        tax_included=order.tax_included,
        state="confirmed",
        warehouse=place,
        promised=promised or order.head.promised,
        source=number,
        note=order.note,
    )
    document_rows.refresh(connection, row, "done")
    return _confirmed(connection, made_row, made_number, place, linked=(number,))


def _confirmed(
    connection: sqlite3.Connection,
    row: int,
    number: str,
    warehouse: str,
    *,
    linked: tuple[str, ...] = (),
    before: str | None = None,
) -> Made:
    """Holds what is there for each line, and says what was held."""
    order = orders.by_row(connection, row)
    rows = products.rows_of(connection, [line.sku for line in order.lines])
    changes = [
        FieldChange(number, "state", before, "confirmed"),
        FieldChange(number, "total", None, order.head.total),
    ]
    for line in order.lines:
        product = rows[line.sku]
        if not ledger.is_stocked(connection, product):
            continue
        wanted = stored(line.open * line.factor)
        held = ledger.hold(connection, row, line.line, product, warehouse, wanted)
        base = line.base_unit
        changes.append(
            FieldChange(
                number, f"line {line.line} reserved", Quantity(Decimal(0), base), Quantity(quantity(held), base)
            )
        )
    return Made(number, tuple(changes), linked, is_document=True, undoable=True)


def _not_past(day: date | None, acting: Acting) -> None:
    if day is not None and day < acting.today:
        raise Invalid(f"The day {day} is past: today is {acting.today}.")


def cancel(
    connection: sqlite3.Connection, acting: Acting, number: str, reason: str, rest_only: bool, write: Write
) -> Made:
    """Cancels a document, or what has not gone out of it."""
    row, order, warehouse = document_rows.expected(connection, number, write, "quotation", "sale", "purchase")
    if not reason.strip():
        raise Invalid("A cancellation needs a reason.")
    _may_cancel(acting, order)
    if order.head.state in ("done", "cancelled"):
        raise Refused(
            f"{number} is {order.head.state}: there is nothing to cancel.", nearest=_following(connection, order)
        )
    gone = [line for line in order.lines if line.delivered > 0]
    if gone and not rest_only:
        raise Refused(
            f"Goods of {number} went out already (line {gone[0].line}): they have to be returned.",
            hint="Cancel the rest only, or make a return.",
        )
    left = [line for line in order.lines if line.open > 0]
    if not left:
        raise Refused(f"Nothing of {number} is left to cancel.")
    changes = _cancel_lines(connection, row, order, left, warehouse)
    after = document_rows.refresh(connection, row, None if gone else "cancelled")
    state = FieldChange(number, "state", order.head.state, after.head.state)
    if order.paid.amount and not gone:
        changes.append(FieldChange(number, "to_refund", zero(order.paid.currency), order.paid))
    return Made(number, (state, *changes), is_document=True, reason=reason.strip())


def _may_cancel(acting: Acting, order: Order) -> None:
    acting.require("buy" if order.head.kind == "purchase" else "sell")


def _following(connection: sqlite3.Connection, order: Order) -> Sequence[str]:
    rows = connection.execute("SELECT number FROM document WHERE source = ?", (order.head.number,))
    return [number for (number,) in rows]


def _cancel_lines(
    connection: sqlite3.Connection, row: int, order: Order, left: Sequence[Line], warehouse: str
) -> list[FieldChange]:
    number = order.head.number
    changes = []
    rows = products.rows_of(connection, [line.sku for line in left])
    for line in left:
        lines.cancel(connection, row, line, line.open, tax_included=order.tax_included)
        before, after = Quantity(line.cancelled, line.unit), Quantity(line.cancelled + line.open, line.unit)
        changes.append(FieldChange(number, f"line {line.line} cancelled", before, after))
        if ledger.release(connection, row, line.line):
            held = Quantity(line.held, line.base_unit)
            changes.append(
                FieldChange(number, f"line {line.line} reserved", held, Quantity(Decimal(0), line.base_unit))
            )
    for product in set(rows.values()):
        ledger.allocate(connection, product, warehouse)
    return changes
