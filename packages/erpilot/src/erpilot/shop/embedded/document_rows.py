"""Heads of documents as rows: made, checked against the version that was shown, brought up to date with their lines.

Invariant: every change of a document raises its version by one; ``shipped``, ``invoiced`` and the end of a document
follow from its lines, nobody sets them.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import date

from ..documents import Kind, Line, Order, State, add_up, progress
from ..errors import Conflict, Invalid, NotFound, Refused
from ..pricing import PriceList
from ..verbs.outcome import Write
from . import lines as line_rows
from . import orders, products
from .acting import Acting
from .series import following

PREFIXES: dict[Kind, str] = {"quotation": "Q", "sale": "SO", "purchase": "PO", "return": "RT"}
FIRST_QUOTATION = 1001


def insert(
    connection: sqlite3.Connection,
    acting: Acting,
    kind: Kind,
    party_id: str,
    lines: Sequence[Line],
    *,
    currency: str,
    tax_included: bool,
    state: State,
    warehouse: str,
    promised: date | None = None,
    valid_until: date | None = None,
    source: str | None = None,
    note: str | None = None,
) -> tuple[int, str]:
    """A new document with its lines; its row and number."""
    if kind == "quotation":
        number, serial = following(connection, "Q", first=FIRST_QUOTATION)
    else:
        number, serial = following(connection, f"{PREFIXES[kind]}-{acting.today.year}")
    total = add_up([(line.amount, line.tax) for line in lines], currency, tax_included=tax_included).total
    row = connection.execute(
        "INSERT INTO document (number, serial, kind, party_id, date, promised, valid_until, state, shipped, invoiced, "
        "currency, tax_included, total, warehouse, source, note, created_by, created_at) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'none', 'none', ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            number,
            serial,
            kind,
            party_id,
            acting.today.isoformat(),
            promised.isoformat() if promised else None,
            valid_until.isoformat() if valid_until else None,
            state,
            currency,
            tax_included,
            total.minor,
            warehouse,
            source,
            note,
            acting.user,
            acting.now.isoformat(timespec="seconds"),
        ),
    ).lastrowid
    assert row is not None
    insert_lines(connection, row, lines, tax_included=tax_included)
    return row, number


def insert_lines(connection: sqlite3.Connection, row: int, lines: Sequence[Line], *, tax_included: bool) -> None:
    """Lines of a document that has none of these numbers yet."""
    rows = products.rows_of(connection, [line.sku for line in lines])
    goods = products.load(connection, sorted(set(rows.values())))
    for line in lines:
        product = rows[line.sku]
        line_rows.insert(connection, row, line, product, goods[product], tax_included=tax_included)


def expected(connection: sqlite3.Connection, number: str, write: Write, *kinds: Kind) -> tuple[int, Order, str]:
    """The row, the document and the code of its warehouse, as it was shown. Raises ``NotFound``, ``Invalid`` (no
    version), ``Refused`` (another kind) and ``Conflict`` (it has changed since).
    """
    row = orders.row_of(connection, number)
    order = orders.by_row(connection, row)
    if kinds and order.head.kind not in kinds:
        raise Refused(f"{number} is a {order.head.kind}, not a {' or a '.join(kinds)}.")
    if write.version is None:
        raise Invalid(f"A change of {number} needs the version that it is based on.", hint="Read the document first.")
    if write.version != order.head.version:
        raise Conflict(
            f"{number} has changed since it was shown (version {order.head.version}, not {write.version}); "
            "nothing was changed.",
            hint="Look at it again.",
        )
    (warehouse,) = connection.execute("SELECT warehouse FROM document WHERE id = ?", (row,)).fetchone()
    return row, order, warehouse


def refresh(connection: sqlite3.Connection, row: int, state: State | None = None) -> Order:
    """Brings the head up to date with its lines: how far it is shipped and invoiced, its total, and whether it is
    done; ``state`` for what an action decides. Raises the version.
    """
    order = orders.by_row(connection, row)
    goods = [(line.delivered, line.ordered - line.cancelled) for line in order.lines]
    billed = [(line.invoiced, line.ordered - line.cancelled) for line in order.lines]
    now = state or order.head.state
    if state is None and order.head.kind in ("sale", "purchase") and now in ("confirmed", "in_progress"):
        if all(line.open == 0 for line in order.lines):
            now = "done" if any(line.delivered > 0 for line in order.lines) else "cancelled"
        elif any(line.delivered > 0 for line in order.lines):
            now = "in_progress"
    connection.execute(
        "UPDATE document SET shipped = ?, invoiced = ?, total = ?, state = ?, version = version + 1 WHERE id = ?",
        (progress(goods), progress(billed), order.totals.total.minor, now, row),
    )
    return orders.by_row(connection, row)


def warehouse_code(connection: sqlite3.Connection, code: str | None) -> str:
    """The warehouse of that code, the main one for None. Raises ``NotFound``."""
    known = products.warehouses(connection, None)
    if code is None:
        return known[0].code
    if all(each.code != code for each in known):
        raise NotFound(f"There is no warehouse {code[:40]!r}.", nearest=[f"{each.code} {each.name}" for each in known])
    return code


def price_list_of(connection: sqlite3.Connection, code: str) -> PriceList:
    """The price list of that code."""
    from . import prices

    return prices.named(prices.lists(connection), code)
