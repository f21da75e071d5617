"""Money: what is owed both ways, statements, payments, refunds.

Invariant: not due and overdue by age, less unapplied credits, is what is outstanding; opening and movements are the
closing balance; what is allocated of a payment is never more than the payment, nor more than what was open; currencies
are never added.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Literal, Protocol

from ..documents import Invoice
from ..errors import Unsupported
from ..values import Money, Period
from .outcome import Write, Written

BUCKETS: tuple[tuple[str, int, int | None], ...] = (
    ("1-30", 1, 30),
    ("31-60", 31, 60),
    ("61-90", 61, 90),
    ("over 90", 91, None),
)
"""The ages of overdue money: name, first and last day past due."""


@dataclass(frozen=True, slots=True)
class Ageing:
    """Open money in one currency. ``overdue`` by ``BUCKETS``; ``unapplied``: credits and payments that settle nothing
    yet, as a positive amount.
    """

    not_due: Money
    overdue: tuple[Money, ...]
    unapplied: Money

    @property
    def overdue_total(self) -> Money:
        """All that is past due."""
        total = self.not_due - self.not_due
        for each in self.overdue:
            total = total + each
        return total

    @property
    def outstanding(self) -> Money:
        """Not due and overdue, less what is unapplied."""
        return self.not_due + self.overdue_total - self.unapplied


@dataclass(frozen=True, slots=True)
class OpenItem:
    """An invoice that is not settled. ``days_overdue`` 0 when it is not due."""

    invoice: Invoice
    days_overdue: int


@dataclass(frozen=True, slots=True)
class PartyBalance:
    """What one party owes, or is owed, in one currency; ``items`` oldest due first."""

    party_id: str
    party: str
    ageing: Ageing
    items: tuple[OpenItem, ...]

    @property
    def currency(self) -> str:
        """Of all its amounts."""
        return self.ageing.not_due.currency


@dataclass(frozen=True, slots=True)
class Balances:
    """A page of parties, the largest overdue first. ``total`` by currency and ``total_count`` cover all."""

    as_of: dt.date
    parties: tuple[PartyBalance, ...]
    total_count: int
    total: dict[str, Ageing]


@dataclass(frozen=True, slots=True)
class Movement:
    """A line of a statement. ``amount`` positive when the customer owes more; ``balance`` after it."""

    date: dt.date
    number: str
    kind: Literal["invoice", "credit_note", "payment", "refund"]
    document: str | None
    amount: Money
    balance: Money


@dataclass(frozen=True, slots=True)
class Statement:
    """Opening, every movement of the period, closing; in the customer's currency."""

    party_id: str
    party: str
    period: Period
    opening: Money
    movements: tuple[Movement, ...]
    closing: Money


@dataclass(frozen=True, slots=True)
class AllocationWanted:
    """How much of a payment settles an invoice. ``expected_open``: what was open when the person agreed."""

    invoice: str
    amount: Money
    expected_open: Money | None = None


@dataclass(frozen=True, slots=True)
class PaymentDraft:
    """Money that came in (from a customer) or went out (to a supplier). ``allocations`` None: the oldest due first;
    what is left over stays as a credit. ``reference``: of the bank or the wallet; ``date`` None: today.
    """

    party_id: str
    amount: Money
    method: str
    allocations: tuple[AllocationWanted, ...] | None = None
    date: dt.date | None = None
    reference: str | None = None


@dataclass(frozen=True, slots=True)
class RefundDraft:
    """Money that goes back to a customer. ``source``: the credit note or payment whose rest is paid out; ``method``
    None: as the customer had paid.
    """

    source: str
    amount: Money
    reason: str
    method: str | None = None
    date: dt.date | None = None


class MoneyDesk(Protocol):
    """Reading needs ``see_money``; booking needs ``money``."""

    kind: str

    async def list_receivables(
        self,
        *,
        party_id: str | None = None,
        as_of: dt.date | None = None,
        overdue_only: bool = False,
        limit: int = 20,
        offset: int = 0,
    ) -> Balances:
        """What customers owe, as it was at the end of ``as_of`` (None: today)."""
        raise Unsupported("list_receivables", self.kind)

    async def list_payables(
        self,
        *,
        party_id: str | None = None,
        as_of: dt.date | None = None,
        due_by: dt.date | None = None,
        overdue_only: bool = False,
        limit: int = 20,
        offset: int = 0,
    ) -> Balances:
        """What suppliers are owed; ``due_by``: only what is due up to that day (overdue included)."""
        raise Unsupported("list_payables", self.kind)

    async def statement(self, customer_id: str, period: Period) -> Statement:
        """A customer's movements in a period, by date."""
        raise Unsupported("statement", self.kind)

    async def record_payment(self, payment: PaymentDraft, *, write: Write) -> Written:
        """Books a payment; ``number`` is its own, ``linked`` the invoices, ``changes`` their ``open`` before and after
        and the ``credit`` left over. Raises ``NeedsConfirmation`` (token ``same_payment:NUMBER``) when one of the same
        party and amount was booked within three days, or with the same reference; ``Conflict`` when an open amount is
        not the expected one; ``Invalid`` when more is allocated than paid or open.
        """
        raise Unsupported("record_payment", self.kind)

    async def refund(self, refund: RefundDraft, *, write: Write) -> Written:
        """Pays out what is left of a credit note or of a payment. Raises ``Refused`` for more than that."""
        raise Unsupported("refund", self.kind)
