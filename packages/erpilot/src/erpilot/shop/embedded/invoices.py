"""Invoices and credit notes of the file: read with what settles them, made, settled.

Invariant: what is open is derived from the settlements, never stored; nothing is settled beyond what is open on either
side.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any, Literal

from ..documents import Invoice
from ..errors import NotFound
from ..values import Money
from .acting import Acting
from .series import following

_SELECT = """
SELECT i.number, i.kind, d.number, i.party_id, p.name, i.date, i.due, i.currency, i.total,
  (SELECT coalesce(sum(s.amount), 0) FROM settlement s WHERE s.invoice_id = i.id AND s.payment IS NOT NULL),
  (SELECT coalesce(sum(s.amount), 0) FROM settlement s WHERE s.invoice_id = i.id AND s.credit_id IS NOT NULL)
    + (SELECT coalesce(sum(s.amount), 0) FROM settlement s WHERE s.credit_id = i.id),
  i.version, i.id
FROM invoice i JOIN party p ON p.id = i.party_id LEFT JOIN document d ON d.id = i.document_id
"""


def _invoice(row: Sequence[Any]) -> Invoice:
    def money(minor: int) -> Money:
        return Money.from_minor(minor, row[7])

    return Invoice(
        number=row[0],
        kind=row[1],
        order=row[2],
        party_id=row[3],
        party=row[4],
        date=date.fromisoformat(row[5]),
        due=date.fromisoformat(row[6]),
        total=money(row[8]),
        paid=money(row[9]),
        credited=money(row[10]),
        version=str(row[11]),
    )


def of_document(connection: sqlite3.Connection, row: int) -> tuple[Invoice, ...]:
    """The invoices of a document, by date."""
    rows = connection.execute(f"{_SELECT} WHERE i.document_id = ? ORDER BY i.date, i.id", (row,))
    return tuple(_invoice(each) for each in rows)


def by_number(connection: sqlite3.Connection, number: str) -> tuple[int, Invoice]:
    """The row and the invoice of that number. Raises ``NotFound``."""
    row = connection.execute(f"{_SELECT} WHERE i.number = ?", (number,)).fetchone()
    if not row:
        raise NotFound(f"There is no invoice {number[:40]!r}.")
    return row[12], _invoice(row)


def open_of_party(connection: sqlite3.Connection, party_id: str, currency: str) -> list[tuple[int, Invoice]]:
    """Invoices that are not settled, the oldest due first."""
    rows = connection.execute(
        f"{_SELECT} WHERE i.party_id = ? AND i.currency = ? AND i.kind = 'invoice' ORDER BY i.due, i.id",
        (party_id, currency),
    )
    return [(row[12], each) for row in rows if (each := _invoice(row)).open.amount > 0]


def make(
    connection: sqlite3.Connection,
    acting: Acting,
    kind: Literal["invoice", "credit_note"],
    document: int,
    party_id: str,
    total: Money,
    terms: int,
) -> tuple[int, str]:
    """A new invoice (or credit note) of a customer for a document; its row and number."""
    number, _ = following(connection, "INV", digits=1) if kind == "invoice" else following(connection, "CN")
    day = acting.today
    row = connection.execute(
        "INSERT INTO invoice (number, kind, role, document_id, party_id, date, due, currency, total) "
        "VALUES (?, ?, 'customer', ?, ?, ?, ?, ?, ?)",
        (
            number,
            kind,
            document,
            party_id,
            day.isoformat(),
            (day + timedelta(terms)).isoformat(),
            total.currency,
            total.minor,
        ),
    ).lastrowid
    assert row is not None
    return row, number


def settle(
    connection: sqlite3.Connection,
    invoice: int,
    amount: Money,
    day: date,
    *,
    payment: str | None = None,
    credit: int | None = None,
) -> None:
    """Enters that a part of a payment or of a credit note settles an invoice."""
    connection.execute(
        "INSERT INTO settlement (invoice_id, payment, credit_id, amount, date) VALUES (?, ?, ?, ?, ?)",
        (invoice, payment, credit, amount.minor, day.isoformat()),
    )
    connection.execute("UPDATE invoice SET version = version + 1 WHERE id IN (?, ?)", (invoice, credit))
