"""Invoices, bills and what settles them, from the documents of the example shop; and who works there.

Invariant: nothing is settled beyond what is open, no payment beyond its amount, and all that happened up to the shop's
day; the documents themselves stay as they are. What is drawn comes from a seed of its own, so that more of it here
changes nothing there.
"""

from __future__ import annotations

import datetime as dt
import random
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Literal

from ..documents import Order
from ..pricing import share, with_tax
from ..values import Money, zero
from .trade import METHODS, SEED, Trade

FIRST_INVOICE = 101
PEOPLE: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("owner", ("owner",)),
    ("zhang", ("manager",)),
    ("chen", ("clerk",)),
    ("li", ("warehouse",)),
    ("zhao", ("buyer",)),
    ("wang", ("money",)),
)
"""Name and roles: the owner, the manager, sales, warehouse, purchasing, bookkeeping."""


@dataclass(frozen=True, slots=True)
class InvoiceMade:
    """An invoice, a credit note or a supplier's bill; ``document`` by number."""

    number: str
    kind: Literal["invoice", "credit_note"]
    role: Literal["customer", "supplier"]
    document: str
    party_id: str
    date: dt.date
    due: dt.date
    total: Money


@dataclass(frozen=True, slots=True)
class PaymentMade:
    """Money in or out; ``source``: the credit note that it pays back."""

    number: str
    party_id: str
    document: str | None
    direction: Literal["in", "out"]
    date: dt.date
    method: str
    amount: Money
    source: str | None = None


@dataclass(frozen=True, slots=True)
class Settled:
    """A part of a payment or of a credit note that an invoice takes."""

    invoice: str
    payment: str | None
    credit: str | None
    amount: Money
    date: dt.date


@dataclass
class Books:
    """What the bookkeeper has, and what is open of it."""

    today: dt.date
    rng: random.Random = field(default_factory=lambda: random.Random(SEED + 1))
    invoices: list[InvoiceMade] = field(default_factory=list)
    payments: list[PaymentMade] = field(default_factory=list)
    settled: list[Settled] = field(default_factory=list)
    open: dict[str, Money] = field(default_factory=dict)

    def invoice(self, made: InvoiceMade) -> None:
        """Enters an invoice."""
        self.invoices.append(made)
        self.open[made.number] = made.total

    def settle(
        self, invoice: InvoiceMade, left: Money, day: dt.date, *, payment: str | None, credit: str | None
    ) -> Money:
        """Settles what can be; what is left of the money."""
        part = min(left.amount, self.open[invoice.number].amount)
        if part <= 0:
            return left
        amount = Money(part, left.currency)
        self.open[invoice.number] = self.open[invoice.number] - amount
        self.settled.append(Settled(invoice.number, payment, credit, amount, max(day, invoice.date)))
        return left - amount

    def pay(self, invoice: InvoiceMade, day: dt.date, direction: Literal["in", "out"]) -> None:
        """A further payment of all that is open."""
        amount = self.open[invoice.number]
        if amount.amount <= 0 or day > self.today:
            return
        method = METHODS[self.rng.randrange(len(METHODS))] if direction == "in" else "银行转账"
        number = f"PAY-{len(self.payments) + 1:04d}"
        self.payments.append(PaymentMade(number, invoice.party_id, invoice.document, direction, day, method, amount))
        self.settle(invoice, amount, day, payment=number, credit=None)


def keep_books(trade: Trade) -> Books:
    """The books of everything that happened."""
    books = Books(trade.today)
    orders = [order for order, _ in trade.orders]
    sales = [order for order in orders if order.head.kind == "sale"]
    of_sale = _invoice_sales(books, trade, sales)
    for order in sales:
        for payment in order.payments:
            books.payments.append(
                PaymentMade(
                    payment.number, order.head.party_id, order.head.number, "in", payment.date, payment.method,
                    payment.amount,
                )
            )  # fmt: skip
            left = payment.amount
            if invoice := of_sale.get(order.head.number):
                books.settle(invoice, left, payment.date, payment=payment.number, credit=None)
    books.payments.sort(key=lambda each: each.number)
    for invoice in of_sale.values():
        late = invoice.due + timedelta(books.rng.randrange(3, 40))
        if (trade.today - invoice.due).days > 20 and books.rng.random() < 0.85:
            books.pay(invoice, late, "in")
    for order in orders:
        if order.head.kind == "return":
            _credit(books, trade, order, of_sale)
        elif order.head.kind == "purchase":
            _bill(books, trade, order)
    return books


def _invoice_sales(books: Books, trade: Trade, sales: list[Order]) -> dict[str, InvoiceMade]:
    """An invoice for what was delivered and invoiced, on the day of the delivery, numbered by day."""
    due: list[tuple[dt.date, Order, Money]] = []
    for order in sales:
        total = zero(order.head.total.currency)
        for line in order.lines:
            total = total + share(with_tax(line, tax_included=order.tax_included), line.invoiced, line.ordered)
        if total.amount > 0:
            due.append((order.deliveries[0].date, order, total))
    due.sort(key=lambda each: (each[0], each[1].head.number))
    made = {}
    for serial, (day, order, total) in enumerate(due, FIRST_INVOICE):
        terms = trade.customer[order.head.party_id].terms
        invoice = InvoiceMade(
            f"INV-{serial}", "invoice", "customer", order.head.number, order.head.party_id, day,
            day + timedelta(terms), total,
        )  # fmt: skip
        books.invoice(invoice)
        made[order.head.number] = invoice
    return made


def _credit(books: Books, trade: Trade, order: Order, of_sale: dict[str, InvoiceMade]) -> None:
    """A credit note for what came back: it settles the invoice, else older ones were paid out."""
    (line,) = order.lines
    total = with_tax(line, tax_included=order.tax_included)
    number = f"CN-{order.head.number.rsplit('-', 1)[1]}"
    day = order.head.date
    note = InvoiceMade(number, "credit_note", "customer", order.head.number, order.head.party_id, day, day, total)
    books.invoice(note)
    left = total
    if invoice := of_sale.get(order.source or ""):
        left = books.settle(invoice, left, day, payment=None, credit=number)
        books.open[number] = left
    if left.amount > 0 and (trade.today - day).days > 25:
        paid = f"PAY-{len(books.payments) + 1:04d}"
        back = day + timedelta(2)
        books.payments.append(
            PaymentMade(paid, order.head.party_id, order.head.number, "out", back, "银行转账", left, source=number)
        )
        books.settle(note, left, back, payment=paid, credit=None)


def _bill(books: Books, trade: Trade, order: Order) -> None:
    """What a supplier charged for what was received, and what of it was paid."""
    total = zero(order.head.total.currency)
    for line in order.lines:
        total = total + share(with_tax(line, tax_included=False), line.delivered, line.ordered)
    if total.amount <= 0 or order.head.promised is None:
        return
    day = min(order.head.promised, trade.today)
    terms = trade.supplier[order.head.party_id].terms
    number = f"BILL-{order.head.number.rsplit('-', 1)[1]}"
    bill = InvoiceMade(
        number, "invoice", "supplier", order.head.number, order.head.party_id, day, day + timedelta(terms), total
    )
    books.invoice(bill)
    if (trade.today - bill.due).days > 12:
        books.pay(bill, bill.due - timedelta(books.rng.randrange(3)), "out")
