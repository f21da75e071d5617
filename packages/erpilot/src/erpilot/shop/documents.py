"""Customers, and documents: quotations, sales, purchases and returns, with lines, deliveries and payments.

Invariant: ordered = delivered + cancelled + open on every line, returned <= delivered; lines and tax add up to the
total. Amounts are derived from quantity, price, discount and tax rate by ``pricing``, once, when a line is made.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from .values import Money, zero

Kind = Literal["quotation", "sale", "purchase", "return"]
State = Literal["draft", "quoted", "confirmed", "in_progress", "done", "cancelled"]
Progress = Literal["none", "partial", "full"]
PriceOrigin = Literal["rule", "manual"]


@dataclass(frozen=True, slots=True)
class Customer:
    """Who buys. ``price_list`` by code; ``terms`` in days; ``credit_limit`` None when there is none."""

    id: str
    name: str
    short_names: tuple[str, ...]
    price_list: str
    currency: str
    terms: int = 0
    credit_limit: Money | None = None
    contact: str | None = None
    city: str | None = None
    version: str = "1"


@dataclass(frozen=True, slots=True)
class Line:
    """One line; quantities in ``unit`` (of ``factor`` base units). ``name`` and ``specification`` as sold;
    ``discount`` in per cent; ``held``: stock held for what is open, in base units, where it is exact.
    """

    line: int
    sku: str
    name: str
    specification: str
    unit: str
    factor: Decimal
    base_unit: str
    ordered: Decimal
    unit_price: Decimal
    tax_rate: Decimal
    amount: Money
    tax: Money
    discount: Decimal = Decimal(0)
    price_origin: PriceOrigin = "rule"
    delivered: Decimal = Decimal(0)
    returned: Decimal = Decimal(0)
    cancelled: Decimal = Decimal(0)
    invoiced: Decimal = Decimal(0)
    held: Decimal = Decimal(0)

    def __post_init__(self) -> None:
        if self.open < 0 or not 0 <= self.returned <= self.delivered or min(self.delivered, self.cancelled) < 0:
            raise ValueError(f"line {self.line}: delivered, returned and cancelled do not fit what was ordered")

    @property
    def open(self) -> Decimal:
        """Still owed."""
        return self.ordered - self.delivered - self.cancelled

    @property
    def reserved(self) -> Decimal:
        """The part of what is open that stock is held for, in ``unit``: two thirds of a case are rounded."""
        return self.held / self.factor


@dataclass(frozen=True, slots=True)
class Delivery:
    """A parcel out (of a sale), or goods in (of a purchase). ``lines``: (sku, quantity, unit)."""

    number: str
    date: dt.date
    state: Literal["shipped", "delivered"]
    warehouse: str
    carrier: str | None
    tracking: str | None
    lines: tuple[tuple[str, Decimal, str], ...]


@dataclass(frozen=True, slots=True)
class Payment:
    """What was paid for one document: of a payment that settles several, the part that is for this one; negative when
    it was paid back.
    """

    number: str
    date: dt.date
    method: str
    amount: Money


@dataclass(frozen=True, slots=True)
class Invoice:
    """An invoice of a customer or a bill of a supplier; ``kind`` credit_note: the other way round. ``paid`` by
    payments, ``credited`` by credit notes (of a credit note: what was paid out of it, and what it settles). ``order``:
    the document that it is for.
    """

    number: str
    kind: Literal["invoice", "credit_note"]
    order: str | None
    party_id: str
    party: str
    date: dt.date
    due: dt.date
    total: Money
    paid: Money
    credited: Money
    version: str = "1"

    @property
    def open(self) -> Money:
        """Not settled yet."""
        return self.total - self.paid - self.credited


@dataclass(frozen=True, slots=True)
class Totals:
    """``subtotal`` (without tax) + ``tax`` = ``total``."""

    subtotal: Money
    tax: Money
    total: Money


def add_up(amounts: list[tuple[Money, Money]], currency: str, *, tax_included: bool) -> Totals:
    """Totals of (amount, tax) pairs whose amounts include their tax, or do not."""
    amount, tax = zero(currency), zero(currency)
    for line_amount, line_tax in amounts:
        amount, tax = amount + line_amount, tax + line_tax
    return Totals(amount - tax, tax, amount) if tax_included else Totals(amount, tax, amount + tax)


@dataclass(frozen=True, slots=True)
class OrderHead:
    """A document without its lines, as in a list. ``party``: customer, or supplier of a purchase."""

    number: str
    kind: Kind
    party_id: str
    party: str
    date: dt.date
    promised: dt.date | None
    state: State
    shipped: Progress
    invoiced: Progress
    total: Money
    version: str


@dataclass(frozen=True, slots=True)
class Order:
    """A document, whole. ``other_matches``: further documents that the number asked for could mean."""

    head: OrderHead
    tax_included: bool
    warehouse: str
    lines: tuple[Line, ...]
    deliveries: tuple[Delivery, ...] = ()
    payments: tuple[Payment, ...] = ()
    valid_until: dt.date | None = None
    source: str | None = None
    note: str | None = None
    other_matches: tuple[str, ...] = ()
    invoices: tuple[Invoice, ...] = ()
    server_state: str | None = None
    """The ERP's own word for the state, where it differs."""

    @property
    def totals(self) -> Totals:
        """From the lines, always."""
        pairs = [(line.amount, line.tax) for line in self.lines]
        return add_up(pairs, self.head.total.currency, tax_included=self.tax_included)

    @property
    def paid(self) -> Money:
        """Sum of the payments."""
        paid = zero(self.head.total.currency)
        for payment in self.payments:
            paid = paid + payment.amount
        return paid


def progress(parts: list[tuple[Decimal, Decimal]]) -> Progress:
    """How far (done, due) pairs are: none, partial or full. Nothing due is none."""
    due = sum((each[1] for each in parts), Decimal(0))
    done = sum((min(each) for each in parts), Decimal(0))
    if done <= 0 or due <= 0:
        return "none"
    return "full" if done >= due else "partial"
