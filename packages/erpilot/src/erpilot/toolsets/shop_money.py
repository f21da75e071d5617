"""Tools that read money: who owes, what is owed, statements.

Invariant: not due and overdue by age, less what is unapplied, is what is outstanding; opening and movements are the
closing balance; currencies stand apart and are never added; totals cover everybody, never only the page.
"""

from __future__ import annotations

import datetime as dt
from typing import Literal

from agent_core.tools.tool import Tool

from ..shop.backend import ErpBackend
from ..shop.errors import Invalid
from ..shop.values import Period
from ..shop.verbs.money import BUCKETS, Ageing, Balances, PartyBalance, Statement
from . import shop_results as r
from .shop_arguments import Day, Flag, Limit, Offset, Query, Text
from .shop_kit import next_offset, reading
from .shop_resolve import answering, customer_meant, stamp, supplier_meant


class AgeingFact(r.Fact):
    """``not_due`` + ``overdue`` - ``unapplied`` = ``outstanding``; ``overdue`` is the sum of ``overdue_by_age``."""

    currency: str
    not_due: r.Amount
    overdue: r.Amount
    overdue_by_age: dict[str, r.Amount]
    """By days past due: "1-30", "31-60", "61-90", "over 90"."""
    unapplied: r.Amount
    outstanding: r.Amount


class OpenInvoice(r.Fact):
    """An invoice that is not settled; ``open`` of ``total``."""

    number: str
    order: str | None = None
    date: dt.date
    due: dt.date
    days_overdue: int | None = None
    total: r.Amount
    open: r.Amount


class Balance(AgeingFact):
    """One party in one currency; ``invoices`` the oldest due first."""

    party_id: str
    party: str
    oldest_due: dt.date | None = None
    invoices: list[OpenInvoice]
    invoices_in_all: int


class BalancePage(r.Fact):
    """The largest overdue first. ``total_count`` and ``total`` cover all; ages count from each invoice's due day, as of
    the end of ``on``."""

    on: dt.date
    parties: list[Balance]
    total_count: int
    total: list[AgeingFact]
    next: int | None = None
    as_of: str


class MovementFact(r.Fact):
    """A line of a statement; ``amount`` positive when the customer owes more; ``balance`` after it."""

    date: dt.date
    number: str
    kind: Literal["invoice", "credit_note", "payment", "refund"]
    document: str | None = None
    amount: r.Amount
    balance: r.Amount


class StatementFact(r.Fact):
    """``opening`` + all ``movements`` (``charges`` - ``settlements``) = ``closing``. From ``date_from`` to ``date_to``,
    both included."""

    customer: str
    customer_id: str
    currency: str
    date_from: dt.date
    date_to: dt.date
    opening: r.Amount
    charges: r.Amount
    settlements: r.Amount
    closing: r.Amount
    movements: list[MovementFact]
    total_count: int
    next: int | None = None
    as_of: str


def money_tools(backend: ErpBackend) -> list[Tool]:
    """Reading tools over one backend."""

    @reading("money", "customers")
    async def list_receivables(
        customer: Text = None, as_of: Day = None, overdue_only: Flag = None, limit: Limit = 10, offset: Offset = 0
    ) -> BalancePage:
        """What customers owe: not due, overdue by age, unapplied credits, open invoices; totals over everybody, by
        currency."""
        with answering():
            meant = await customer_meant(backend, customer)
            found = await backend.list_receivables(
                party_id=meant.id if meant else None,
                as_of=as_of,
                overdue_only=bool(overdue_only),
                limit=limit,
                offset=offset,
            )
            return _balances(found, offset, stamp(backend.now()))

    @reading("money", "suppliers")
    async def list_payables(
        supplier: Text = None,
        as_of: Day = None,
        due_by: Day = None,
        overdue_only: Flag = None,
        limit: Limit = 10,
        offset: Offset = 0,
    ) -> BalancePage:
        """What suppliers are owed, by due day. `due_by`: only what is due up to that day, overdue included."""
        with answering():
            meant = (await supplier_meant(backend, supplier)).id if supplier and supplier.strip() else None
            found = await backend.list_payables(
                party_id=meant,
                as_of=as_of,
                due_by=due_by,
                overdue_only=bool(overdue_only),
                limit=limit,
                offset=offset,
            )
            return _balances(found, offset, stamp(backend.now()))

    @reading("money", "customers")
    async def customer_statement(
        customer: Query, date_from: dt.date, date_to: dt.date, offset: Offset = 0
    ) -> StatementFact:
        """A customer's account over a period: opening balance, every invoice, credit note, payment and refund, closing
        balance."""
        with answering():
            meant = await customer_meant(backend, customer)
            if meant is None:
                raise Invalid("No customer was named.")
            zone = (await backend.whoami()).company.zone
            statement = await backend.statement(meant.id, Period(date_from, date_to, zone))
            return _statement(statement, offset, stamp(backend.now()))

    return [list_receivables, list_payables, customer_statement]


MOST_INVOICES = 20
MOST_MOVEMENTS = 60


def _ageing(ageing: Ageing) -> dict[str, object]:
    return {
        "currency": ageing.not_due.currency,
        "not_due": ageing.not_due.amount,
        "overdue": ageing.overdue_total.amount,
        "overdue_by_age": {name: each.amount for (name, *_), each in zip(BUCKETS, ageing.overdue, strict=True)},
        "unapplied": ageing.unapplied.amount,
        "outstanding": ageing.outstanding.amount,
    }


def _balances(found: Balances, offset: int, as_of: str) -> BalancePage:
    return BalancePage(
        on=found.as_of,
        parties=[_balance(each) for each in found.parties],
        total_count=found.total_count,
        total=[AgeingFact.model_validate(_ageing(each)) for each in found.total.values()],
        next=next_offset(offset, len(found.parties), found.total_count),
        as_of=as_of,
    )


def _balance(party: PartyBalance) -> Balance:
    invoices = [
        OpenInvoice(
            number=item.invoice.number,
            order=item.invoice.order,
            date=item.invoice.date,
            due=item.invoice.due,
            days_overdue=item.days_overdue or None,
            total=item.invoice.total.amount,
            open=item.invoice.open.amount,
        )
        for item in party.items
    ]
    facts = {
        "party_id": party.party_id,
        "party": party.party,
        "oldest_due": invoices[0].due if invoices else None,
        "invoices": invoices[:MOST_INVOICES],
        "invoices_in_all": len(invoices),
    }
    return Balance.model_validate(_ageing(party.ageing) | facts)


def _statement(statement: Statement, offset: int, as_of: str) -> StatementFact:
    zero = statement.opening.amount * 0
    amounts = [each.amount.amount for each in statement.movements]
    shown = statement.movements[offset : offset + MOST_MOVEMENTS]
    return StatementFact(
        customer=statement.party,
        customer_id=statement.party_id,
        currency=statement.opening.currency,
        date_from=statement.period.start,
        date_to=statement.period.end,
        opening=statement.opening.amount,
        charges=sum((each for each in amounts if each > 0), zero),
        settlements=-sum((each for each in amounts if each < 0), zero),
        closing=statement.closing.amount,
        movements=[
            MovementFact(
                date=each.date,
                number=each.number,
                kind=each.kind,
                document=each.document,
                amount=each.amount.amount,
                balance=each.balance.amount,
            )
            for each in shown
        ],
        total_count=len(statement.movements),
        next=next_offset(offset, len(shown), len(statement.movements)),
        as_of=as_of,
    )
