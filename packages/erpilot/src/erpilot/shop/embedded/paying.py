"""Payments and refunds.

Invariant: a payment settles no more than it is and no more than is open; what is left stays the party's credit; the
same transfer is asked about before it is booked a second time; no more is paid back than is left.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import date, timedelta

from ..documents import Customer, Invoice
from ..errors import Conflict, Invalid, NeedsConfirmation, NotFound, Refused
from ..values import Money, digits_of
from ..verbs.money import AllocationWanted, PaymentDraft, RefundDraft
from ..verbs.outcome import FieldChange, Write
from . import invoices, parties
from .acting import Acting
from .effects import Made
from .series import following
from .settling import LEFT_OF_PAYMENT

SAME_DAYS = 3


def record(connection: sqlite3.Connection, acting: Acting, payment: PaymentDraft, write: Write) -> Made:
    """Books a payment of a customer, or to a supplier."""
    party, direction = _party(connection, payment.party_id)
    day = _day(payment.date, acting)
    if payment.amount.amount <= 0 or not payment.method.strip():
        raise Invalid("A payment needs an amount above zero and a method.")
    digits_of(payment.amount.currency)
    _not_booked_twice(connection, payment, day, write)
    parts = _allocated(connection, payment)
    number, _ = following(connection, "PAY")
    document = _only_document(connection, [invoice for _, invoice, _ in parts])
    connection.execute(
        "INSERT INTO payment VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)",
        (
            number,
            party.id,
            document,
            direction,
            day.isoformat(),
            payment.method.strip(),
            payment.amount.minor,
            payment.amount.currency,
            payment.reference,
        ),
    )
    changes = [FieldChange(number, "amount", None, payment.amount)]
    left = payment.amount
    for row, invoice, amount in parts:
        invoices.settle(connection, row, amount, max(day, invoice.date), payment=number)
        changes.append(FieldChange(invoice.number, "open", invoice.open, invoice.open - amount))
        left = left - amount
    changes.append(FieldChange(party.id, "credit", None, left))
    return Made(number, tuple(changes), tuple(invoice.number for _, invoice, _ in parts))


def _party(connection: sqlite3.Connection, party_id: str) -> tuple[Customer, str]:
    try:
        return parties.get(connection, party_id, "customer"), "in"
    except NotFound:
        try:
            return parties.get(connection, party_id, "supplier"), "out"
        except NotFound:
            raise NotFound(f"There is no customer or supplier {party_id}.") from None


def _day(day: date | None, acting: Acting) -> date:
    if day is not None and day > acting.today:
        raise Invalid(f"A payment on {day} has not happened yet: today is {acting.today}.")
    return day or acting.today


def _not_booked_twice(connection: sqlite3.Connection, payment: PaymentDraft, day: date, write: Write) -> None:
    near = (day - timedelta(SAME_DAYS)).isoformat(), (day + timedelta(SAME_DAYS)).isoformat()
    same = connection.execute(
        "SELECT number, date FROM payment WHERE party_id = ? AND source IS NULL AND currency = ? AND amount = ? "
        "AND (date BETWEEN ? AND ? OR (reference IS NOT NULL AND reference = ?)) ORDER BY date DESC, number DESC",
        (payment.party_id, payment.amount.currency, payment.amount.minor, *near, payment.reference),
    ).fetchone()
    if same and f"same_payment:{same[0]}" not in write.accepted:
        raise NeedsConfirmation(
            f"A payment of {payment.amount.amount} {payment.amount.currency} of {payment.party_id} is booked already: "
            f"{same[0]} of {same[1]}.",
            token=f"same_payment:{same[0]}",
        )


def _allocated(connection: sqlite3.Connection, payment: PaymentDraft) -> list[tuple[int, Invoice, Money]]:
    """Which invoices take how much of it: as asked, else the oldest due first."""
    if payment.allocations is not None:
        return _as_asked(connection, payment, payment.allocations)
    left = payment.amount.minor
    found = []
    for row, invoice in invoices.open_of_party(connection, payment.party_id, payment.amount.currency):
        part = min(left, invoice.open.minor)
        if part > 0:
            found.append((row, invoice, Money.from_minor(part, payment.amount.currency)))
            left -= part
    return found


def _as_asked(
    connection: sqlite3.Connection, payment: PaymentDraft, wanted: Sequence[AllocationWanted]
) -> list[tuple[int, Invoice, Money]]:
    if len({each.invoice for each in wanted}) != len(wanted):
        raise Invalid("An invoice is named twice.")
    found = []
    total = payment.amount - payment.amount
    for each in wanted:
        row, invoice = invoices.by_number(connection, each.invoice)
        if invoice.party_id != payment.party_id or invoice.kind != "invoice":
            raise Invalid(f"{each.invoice} is no invoice of {payment.party_id}.")
        if each.amount.currency != payment.amount.currency or invoice.total.currency != payment.amount.currency:
            raise Invalid(f"{each.invoice} is in {invoice.total.currency}, the payment in {payment.amount.currency}.")
        if each.expected_open is not None and each.expected_open != invoice.open:
            raise Conflict(
                f"{invoice.open.amount} {invoice.open.currency} are open on {each.invoice} now, not the "
                f"{each.expected_open.amount} that were shown; nothing was changed.",
                hint="Look at it again.",
            )
        if each.amount.amount <= 0 or each.amount.amount > invoice.open.amount:
            raise Invalid(f"{each.amount.amount} of {invoice.open.amount} open on {each.invoice} cannot be settled.")
        total = total + each.amount
        found.append((row, invoice, each.amount))
    if total.amount > payment.amount.amount:
        raise Invalid(f"{total.amount} are to be settled, but only {payment.amount.amount} were paid.")
    return found


def _only_document(connection: sqlite3.Connection, settled: Sequence[Invoice]) -> int | None:
    """The row of the order that the payment is for, when it is for one only."""
    numbers = {invoice.order for invoice in settled}
    if len(numbers) != 1:
        return None
    row = connection.execute("SELECT id FROM document WHERE number = ?", (numbers.pop(),)).fetchone()
    return row[0] if row else None


def refund(connection: sqlite3.Connection, acting: Acting, asked: RefundDraft, write: Write) -> Made:
    """Pays back what is left of a credit note or of a payment."""
    del write
    if asked.amount.amount <= 0 or not asked.reason.strip():
        raise Invalid("A refund needs an amount above zero and a reason.")
    day = _day(asked.date, acting)
    credit, left, party_id, document, currency = _source(connection, asked.source)
    if asked.amount.currency != currency:
        raise Invalid(f"{asked.source} is in {currency}, not in {asked.amount.currency}.")
    if asked.amount.minor > left:
        there = Money.from_minor(left, currency)
        raise Refused(f"Only {there.amount} {currency} of {asked.source} are left to pay back; nothing was changed.")
    number, _ = following(connection, "PAY")
    method = asked.method or _usual_method(connection, party_id, document)
    connection.execute(
        "INSERT INTO payment VALUES (?, ?, ?, 'out', ?, ?, ?, ?, NULL, ?)",
        (number, party_id, document, day.isoformat(), method, asked.amount.minor, currency, asked.source),
    )
    if credit is not None:
        invoices.settle(connection, credit, asked.amount, day, payment=number)
    rest = Money.from_minor(left, currency)
    changes = (
        FieldChange(number, "amount", None, asked.amount),
        FieldChange(number, "method", None, method),
        FieldChange(asked.source, "open", rest, rest - asked.amount),
    )
    return Made(number, changes, (asked.source,), reason=asked.reason.strip())


def _source(connection: sqlite3.Connection, number: str) -> tuple[int | None, int, str, int | None, str]:
    """Row of the credit note (None for a payment), what is left in smallest units, party, document, currency."""
    payment = connection.execute(
        f"SELECT {LEFT_OF_PAYMENT}, p.party_id, p.document_id, p.currency FROM payment p "
        "WHERE p.number = ? AND p.direction = 'in'",
        (number,),
    ).fetchone()
    if payment:
        return None, payment[0], payment[1], payment[2], payment[3]
    row, invoice = invoices.by_number(connection, number)
    if invoice.kind != "credit_note":
        raise Refused(f"{number} is an invoice: only a credit note or a payment can be paid back.")
    document = connection.execute("SELECT document_id FROM invoice WHERE id = ?", (row,)).fetchone()[0]
    return row, invoice.open.minor, invoice.party_id, document, invoice.total.currency


def _usual_method(connection: sqlite3.Connection, party_id: str, document: int | None) -> str:
    """As the document was paid (of a return: the order that it belongs to), else as the party paid last."""
    found = connection.execute(
        "SELECT p.method FROM payment p WHERE p.party_id = ? AND p.direction = 'in' ORDER BY p.document_id IN "
        "(SELECT ? UNION SELECT s.id FROM document s JOIN document r ON r.source = s.number WHERE r.id = ?) DESC, "
        "p.date DESC, p.number DESC LIMIT 1",
        (party_id, document, document),
    ).fetchone()
    if not found:
        raise Invalid("Nothing says how this customer pays.", hint="Name the method.")
    method: str = found[0]
    return method
