"""What settles an invoice by itself: money paid for its order before, and credit notes of its returns.

Invariant: the oldest first, never more than is open and never more than is left.
"""

from __future__ import annotations

import sqlite3

from ..values import Money
from . import invoices
from .acting import Acting

LEFT_OF_PAYMENT = (
    "p.amount - (SELECT coalesce(sum(s.amount), 0) FROM settlement s WHERE s.payment = p.number) "
    "- (SELECT coalesce(sum(r.amount), 0) FROM payment r WHERE r.source = p.number)"
)
"""What of a payment ``p`` settles nothing and was not paid back."""


def settle_prepaid(connection: sqlite3.Connection, acting: Acting, document: int, invoice: int, total: Money) -> None:
    """Puts what was paid for the order before against its new invoice."""
    open_ = total.minor
    rows = connection.execute(
        f"SELECT p.number, {LEFT_OF_PAYMENT} FROM payment p WHERE p.document_id = ? AND p.direction = 'in' "
        "AND p.currency = ? ORDER BY p.date, p.number",
        (document, total.currency),
    ).fetchall()
    for payment, left in rows:
        part = min(left, open_)
        if part > 0:
            amount = Money.from_minor(part, total.currency)
            invoices.settle(connection, invoice, amount, acting.today, payment=payment)
            open_ -= part


def settle_with_credit(
    connection: sqlite3.Connection, acting: Acting, document: int, credit: int, total: Money
) -> None:
    """Puts a credit note against what is open of the order's invoices; the rest stays as a credit."""
    left = total.minor
    for invoice in invoices.of_document(connection, document):
        part = min(left, invoice.open.minor)
        if invoice.kind == "invoice" and part > 0:
            row, _ = invoices.by_number(connection, invoice.number)
            invoices.settle(connection, row, Money.from_minor(part, total.currency), acting.today, credit=credit)
            left -= part
