"""Reading documents from the file: one whole, or a page of many with the totals of all.

Invariant: filters, counts and totals are computed by the database over everything that matches; currencies stay apart.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from typing import Any

from ..backend import OrderFilter, OrderPage
from ..documents import Delivery, Kind, Line, Order, OrderHead, Payment
from ..errors import NotFound
from ..numbering import ORDER_OF_KINDS, NumberAsked, read_number
from ..values import Money
from . import invoices, products
from .schema import quantity

_HEAD = (
    "d.number, d.kind, d.party_id, p.name, d.date, d.promised, d.state, d.shipped, d.invoiced, d.total, d.currency, "
    "d.version"
)
_FROM = "FROM document d JOIN party p ON p.id = d.party_id"
_OPEN = (
    "EXISTS (SELECT 1 FROM line l JOIN product g ON g.id = l.product_id "
    "WHERE l.document_id = d.id AND g.stocked AND l.ordered > l.delivered + l.cancelled)"
)


def _day(text: str | None) -> date | None:
    return date.fromisoformat(text) if text else None


def _head(row: Sequence[Any]) -> OrderHead:
    return OrderHead(
        number=row[0],
        kind=row[1],
        party_id=row[2],
        party=row[3],
        date=date.fromisoformat(row[4]),
        promised=_day(row[5]),
        state=row[6],
        shipped=row[7],
        invoiced=row[8],
        total=Money.from_minor(row[9], row[10]),
        version=str(row[11]),
    )


def page(
    connection: sqlite3.Connection, which: OrderFilter, limit: int, offset: int, *, purchases: bool = True
) -> OrderPage:
    """The newest that match, and what all of them come to; without ``purchases`` those neither listed nor counted."""
    where, values = _where(connection, which)
    if not purchases:
        where += " AND d.kind <> 'purchase'"
    sums = connection.execute(
        f"SELECT d.currency, count(*), sum(d.total) FROM document d WHERE {where} "
        "GROUP BY d.currency ORDER BY d.currency",
        values,
    ).fetchall()
    rows = connection.execute(
        f"SELECT {_HEAD} {_FROM} WHERE {where} ORDER BY d.date DESC, d.id DESC LIMIT ? OFFSET ?",
        (*values, limit, offset),
    )
    return OrderPage(
        tuple(_head(row) for row in rows),
        sum(count for _, count, _ in sums),
        {currency: Money.from_minor(total, currency) for currency, _, total in sums},
    )


def _where(connection: sqlite3.Connection, which: OrderFilter) -> tuple[str, list[Any]]:
    parts: list[str] = ["1"]
    values: list[Any] = []

    def add(condition: str, *given: Any) -> None:
        parts.append(condition)
        values.extend(given)

    if which.kind:
        add("d.kind = ?", which.kind)
    if which.party_id:
        add("d.party_id = ?", which.party_id)
    if which.states:
        add(f"d.state IN ({', '.join('?' * len(which.states))})", *which.states)
    if which.date_from:
        add("d.date >= ?", which.date_from.isoformat())
    if which.date_to:
        add("d.date <= ?", which.date_to.isoformat())
    if which.promised_before:
        add("d.promised <= ? AND d.state IN ('confirmed', 'in_progress')", which.promised_before.isoformat())
        add(_OPEN)
    if which.sku:
        (row,) = products.rows_of(connection, [which.sku]).values()
        add("d.id IN (SELECT document_id FROM line WHERE product_id = ?)", row)
    if which.warehouse:
        add("d.warehouse = ?", which.warehouse)
    if which.source:
        add("d.source = ?", which.source)
    if which.open_only or which.partly_delivered:
        add("d.kind IN ('sale', 'purchase') AND d.state IN ('confirmed', 'in_progress')")
        add(_OPEN)
    if which.partly_delivered:
        add("EXISTS (SELECT 1 FROM line l WHERE l.document_id = d.id AND l.delivered > 0)")
    if which.text and which.text.strip():
        escaped = which.text.strip().replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        add("(d.number LIKE ? ESCAPE '\\' OR d.note LIKE ? ESCAPE '\\')", f"%{escaped}%", f"%{escaped}%")
    return " AND ".join(parts), values


def row_of(connection: sqlite3.Connection, number: str) -> int:
    """The row of the document with exactly that number. Raises ``NotFound``."""
    row = connection.execute("SELECT id FROM document WHERE number = ?", (number,)).fetchone()
    if not row:
        raise NotFound(f"There is no document {number[:40]!r}.")
    found: int = row[0]
    return found


def by_number(connection: sqlite3.Connection, number: str) -> Order:
    """The document with exactly that number. Raises ``NotFound``."""
    return by_row(connection, row_of(connection, number))


def get(connection: sqlite3.Connection, written: str, kind: Kind | None) -> Order:
    """The document that was meant. Raises ``NotFound`` with near numbers."""
    asked = read_number(written)
    row = connection.execute("SELECT id FROM document WHERE number = ?", (written.strip().upper(),)).fetchone()
    if row:
        return by_row(connection, row[0])
    if asked is None:
        raise NotFound(
            f"{written.strip()[:40]!r} is not a document number.", hint="Numbers look like SO-2026-0123 or 123."
        )
    found = _with_serial(connection, asked, asked.kind or kind)
    if not found:
        what = asked.kind or kind or "document"
        raise NotFound(
            f"There is no {what} {written.strip()[:40]!r}.", nearest=_near(connection, asked, asked.kind or kind)
        )
    return by_row(connection, found[0][0], tuple(number for _, number in found[1:]))


def _with_serial(connection: sqlite3.Connection, asked: NumberAsked, kind: Kind | None) -> list[tuple[int, str]]:
    rows = connection.execute(
        "SELECT id, number, kind, date FROM document WHERE serial = ?", (asked.serial,)
    ).fetchall()
    fitting = [
        row for row in rows if (kind is None or row[2] == kind) and (asked.year is None or f"-{asked.year}-" in row[1])
    ]
    fitting.sort(key=lambda row: (row[3], row[0]), reverse=True)
    fitting.sort(key=lambda row: ORDER_OF_KINDS.index(row[2]))
    return [(row[0], row[1]) for row in fitting]


def _near(connection: sqlite3.Connection, asked: NumberAsked, kind: Kind | None) -> list[str]:
    rows = connection.execute(
        "SELECT number FROM document WHERE kind = ? ORDER BY abs(serial - ?), date DESC LIMIT 3",
        (kind or "sale", asked.serial),
    )
    return [number for (number,) in rows]


def by_row(connection: sqlite3.Connection, row: int, others: tuple[str, ...] = ()) -> Order:
    """The document of that row, whole."""
    head = connection.execute(
        f"SELECT {_HEAD}, d.tax_included, w.name, d.valid_until, d.source, d.note {_FROM} "
        "JOIN warehouse w ON w.code = d.warehouse WHERE d.id = ?",
        (row,),
    ).fetchone()
    return Order(
        head=_head(head),
        tax_included=bool(head[12]),
        warehouse=head[13],
        lines=_lines(connection, row, head[10]),
        deliveries=_deliveries(connection, row),
        payments=_payments(connection, row, head[0], head[1], head[10]),
        valid_until=_day(head[14]),
        source=head[15],
        note=head[16],
        other_matches=others,
        invoices=invoices.of_document(connection, row),
    )


def _lines(connection: sqlite3.Connection, row: int, currency: str) -> tuple[Line, ...]:
    rows = connection.execute(
        "SELECT l.line, g.sku, l.name, l.specification, l.unit, l.factor, l.base_unit, l.ordered, "
        "l.unit_price, l.tax_rate, l.amount, l.tax, l.discount, l.price_origin, l.delivered, "
        "l.returned, l.cancelled, l.invoiced, r.qty "
        "FROM line l JOIN product g ON g.id = l.product_id "
        "LEFT JOIN reservation r ON r.document_id = l.document_id AND r.line = l.line "
        "WHERE l.document_id = ? ORDER BY l.line",
        (row,),
    )
    return tuple(
        Line(
            line=r[0],
            sku=r[1],
            name=r[2],
            specification=r[3],
            unit=r[4],
            factor=Decimal(r[5]),
            base_unit=r[6],
            ordered=quantity(r[7]),
            unit_price=Decimal(r[8]),
            tax_rate=Decimal(r[9]),
            amount=Money.from_minor(r[10], currency),
            tax=Money.from_minor(r[11], currency),
            discount=Decimal(r[12]),
            price_origin=r[13],
            delivered=quantity(r[14]),
            returned=quantity(r[15]),
            cancelled=quantity(r[16]),
            invoiced=quantity(r[17]),
            held=quantity(r[18] or 0),
        )
        for r in rows
    )


def _deliveries(connection: sqlite3.Connection, row: int) -> tuple[Delivery, ...]:
    heads = connection.execute(
        "SELECT v.id, v.number, v.date, v.state, w.name, v.carrier, v.tracking FROM delivery v "
        "JOIN warehouse w ON w.code = v.warehouse WHERE v.document_id = ? ORDER BY v.date, v.id",
        (row,),
    ).fetchall()
    found = []
    for key, number, day, state, warehouse, carrier, tracking in heads:
        lines = connection.execute(
            "SELECT g.sku, x.qty, x.unit FROM delivery_line x JOIN product g ON g.id = x.product_id "
            "WHERE x.delivery_id = ? ORDER BY x.position",
            (key,),
        )
        goods = tuple((sku, quantity(qty), unit) for sku, qty, unit in lines)
        found.append(Delivery(number, date.fromisoformat(day), state, warehouse, carrier, tracking, goods))
    return tuple(found)


_PAYMENTS = """
SELECT p.number, p.date, p.method, p.direction,
  (SELECT coalesce(sum(s.amount), 0) FROM settlement s JOIN invoice i ON i.id = s.invoice_id
    WHERE s.payment = p.number AND i.document_id = :row) AS applied,
  CASE WHEN p.document_id = :row THEN p.amount -
    (SELECT coalesce(sum(s.amount), 0) FROM settlement s WHERE s.payment = p.number) ELSE 0 END AS rest,
  p.amount
FROM payment p
WHERE p.document_id IN (SELECT :row UNION SELECT id FROM document WHERE source = :number AND kind = 'return')
  OR p.number IN (SELECT s.payment FROM settlement s JOIN invoice i ON i.id = s.invoice_id WHERE i.document_id = :row)
ORDER BY p.date, p.number
"""


def _payments(connection: sqlite3.Connection, row: int, number: str, kind: Kind, currency: str) -> tuple[Payment, ...]:
    """What was paid for the document, and what of it was paid back (also through its returns)."""
    found = []
    for paid, day, method, direction, applied, rest, amount in connection.execute(
        _PAYMENTS, {"row": row, "number": number}
    ):
        back = direction == "out" and kind != "purchase"
        minor = -amount if back else applied + rest
        if minor:
            found.append(Payment(paid, date.fromisoformat(day), method, Money.from_minor(minor, currency)))
    return tuple(found)
