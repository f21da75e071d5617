"""What customers owe and suppliers are owed: credit, ageing, statements. As of any day, from what happened up to it.

Invariant: an invoice is open by what settled it up to the day; not due, overdue and unapplied credits are what is
outstanding; a statement's opening and movements are its closing balance.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal

from ..documents import Invoice
from ..values import Money, Period, zero
from ..verbs.money import BUCKETS, Ageing, Balances, Movement, OpenItem, PartyBalance, Statement
from ..verbs.reading import Account
from . import parties

Role = Literal["customer", "supplier"]

_OPEN_INVOICES = """
SELECT i.number, d.number, i.party_id, p.name, i.date, i.due, i.currency, i.total,
  coalesce(sum(CASE WHEN s.payment IS NOT NULL THEN s.amount END), 0),
  coalesce(sum(CASE WHEN s.credit_id IS NOT NULL THEN s.amount END), 0), i.version
FROM invoice i JOIN party p ON p.id = i.party_id LEFT JOIN document d ON d.id = i.document_id
LEFT JOIN settlement s ON s.invoice_id = i.id AND s.date <= :day
WHERE i.role = :role AND i.kind = 'invoice' AND i.date <= :day {party_i}
GROUP BY i.id HAVING i.total > coalesce(sum(s.amount), 0) ORDER BY i.due, i.id
"""
_UNAPPLIED_CREDITS = """
SELECT i.party_id, p.name, i.currency, i.total
  - (SELECT coalesce(sum(s.amount), 0) FROM settlement s WHERE s.credit_id = i.id AND s.date <= :day)
  - (SELECT coalesce(sum(s.amount), 0) FROM settlement s WHERE s.invoice_id = i.id AND s.date <= :day) AS left
FROM invoice i JOIN party p ON p.id = i.party_id
WHERE i.role = :role AND i.kind = 'credit_note' AND i.date <= :day {party_i}
"""
_UNAPPLIED_PAYMENTS = """
SELECT p.party_id, q.name, p.currency, p.amount
  - (SELECT coalesce(sum(s.amount), 0) FROM settlement s WHERE s.payment = p.number AND s.date <= :day)
  - (SELECT coalesce(sum(r.amount), 0) FROM payment r WHERE r.source = p.number AND r.date <= :day) AS left
FROM payment p JOIN party q ON q.id = p.party_id
WHERE q.role = :role AND p.direction = CASE :role WHEN 'customer' THEN 'in' ELSE 'out' END AND p.date <= :day {party_p}
"""
_NOT_INVOICED = """
SELECT l.gross, l.ordered - l.cancelled, l.invoiced FROM document d JOIN line l ON l.document_id = d.id
WHERE d.party_id = ? AND d.kind = 'sale' AND d.state IN ('confirmed', 'in_progress') AND d.currency = ?
  AND l.ordered - l.cancelled > l.invoiced
"""


@dataclass(frozen=True, slots=True)
class _Open:
    """What is open of one party in one currency."""

    party_id: str
    party: str
    currency: str
    items: list[OpenItem]
    unapplied: int = 0


def _invoice(row: Sequence[Any]) -> Invoice:
    def money(minor: int) -> Money:
        return Money.from_minor(minor, row[6])

    return Invoice(
        row[0], "invoice", row[1], row[2], row[3], date.fromisoformat(row[4]), date.fromisoformat(row[5]),
        money(row[7]), money(row[8]), money(row[9]), str(row[10]),
    )  # fmt: skip


def balances(
    connection: sqlite3.Connection,
    role: Role,
    day: date,
    *,
    party_id: str | None,
    due_by: date | None,
    overdue_only: bool,
    limit: int,
    offset: int,
) -> Balances:
    """What is open of each party, the largest overdue first."""
    if party_id is not None:
        parties.get(connection, party_id, role)
    found = _open(connection, role, day, party_id)
    wanted = []
    for each in found:
        items = [item for item in each.items if due_by is None or item.invoice.due <= due_by]
        late = [item for item in items if item.days_overdue]
        if overdue_only and not late:
            continue
        unapplied = 0 if due_by is not None else each.unapplied
        if items or unapplied:
            wanted.append(
                PartyBalance(
                    each.party_id,
                    each.party,
                    _ageing(items, unapplied, each.currency),
                    tuple(late if overdue_only else items),
                )
            )
    wanted.sort(key=lambda each: (-each.ageing.overdue_total.amount, -each.ageing.outstanding.amount, each.party_id))
    total: dict[str, Ageing] = {}
    for each_ in wanted:
        known = total.get(each_.currency)
        total[each_.currency] = each_.ageing if known is None else _added(known, each_.ageing)
    return Balances(day, tuple(wanted[offset : offset + limit]), len(wanted), total)


def _open(connection: sqlite3.Connection, role: Role, day: date, party_id: str | None) -> list[_Open]:
    asked = {"role": role, "day": day.isoformat(), "party": party_id}
    # Named only when it restricts, so that the index by party is used.
    only = {name: "" if party_id is None else f"AND {name[-1]}.party_id = :party" for name in ("party_i", "party_p")}
    found: dict[tuple[str, str], _Open] = {}

    def entry(party: str, name: str, currency: str) -> _Open:
        return found.setdefault((party, currency), _Open(party, name, currency, []))

    for row in connection.execute(_OPEN_INVOICES.format(**only), asked):
        invoice = _invoice(row)
        late = max(0, (day - invoice.due).days)
        entry(invoice.party_id, invoice.party, invoice.total.currency).items.append(OpenItem(invoice, late))
    for query in (_UNAPPLIED_CREDITS, _UNAPPLIED_PAYMENTS):
        for party, name, currency, left in connection.execute(
            f"SELECT * FROM ({query.format(**only)}) WHERE left > 0", asked
        ):
            known = entry(party, name, currency)
            found[party, currency] = _Open(party, name, currency, known.items, known.unapplied + left)
    return list(found.values())


def _ageing(items: Iterable[OpenItem], unapplied: int, currency: str) -> Ageing:
    not_due = 0
    overdue = [0] * len(BUCKETS)
    for item in items:
        if item.days_overdue == 0:
            not_due += item.invoice.open.minor
            continue
        at = next(i for i, (_, first, last) in enumerate(BUCKETS) if last is None or first <= item.days_overdue <= last)
        overdue[at] += item.invoice.open.minor
    return Ageing(
        Money.from_minor(not_due, currency),
        tuple(Money.from_minor(each, currency) for each in overdue),
        Money.from_minor(unapplied, currency),
    )


def _added(one: Ageing, other: Ageing) -> Ageing:
    return Ageing(
        one.not_due + other.not_due,
        tuple(a + b for a, b in zip(one.overdue, other.overdue, strict=True)),
        one.unapplied + other.unapplied,
    )


def account(connection: sqlite3.Connection, customer_id: str, today: date) -> Account:
    """A customer's credit. Raises ``NotFound``."""
    customer = parties.get(connection, customer_id, "customer")
    currency = customer.currency
    mine = [each for each in _open(connection, "customer", today, customer_id) if each.currency == currency]
    items = mine[0].items if mine else []
    ageing = _ageing(items, mine[0].unapplied if mine else 0, currency)
    to_come = sum(
        (gross * (kept - invoiced) * 2 + kept) // (2 * kept)
        for gross, kept, invoiced in connection.execute(_NOT_INVOICED, (customer_id, currency))
    )
    late = [item.invoice.due for item in items if item.days_overdue]
    return Account(
        customer, ageing.outstanding, Money.from_minor(to_come, currency), ageing.overdue_total, min(late, default=None)
    )


_MOVEMENTS = """
SELECT i.date, i.number, i.kind, d.number, CASE i.kind WHEN 'invoice' THEN i.total ELSE -i.total END
  FROM invoice i LEFT JOIN document d ON d.id = i.document_id
  WHERE i.party_id = :party AND i.currency = :currency AND i.date <= :end
UNION ALL
SELECT p.date, p.number, CASE p.direction WHEN 'in' THEN 'payment' ELSE 'refund' END, d.number,
    CASE p.direction WHEN 'in' THEN -p.amount ELSE p.amount END
  FROM payment p LEFT JOIN document d ON d.id = p.document_id
  WHERE p.party_id = :party AND p.currency = :currency AND p.date <= :end
ORDER BY 1, 3, 2
"""


def statement(connection: sqlite3.Connection, customer_id: str, period: Period) -> Statement:
    """Everything that happened between the shop and a customer. Raises ``NotFound``."""
    customer = parties.get(connection, customer_id, "customer")
    asked = {"party": customer_id, "currency": customer.currency, "end": period.end.isoformat()}
    opening = zero(customer.currency)
    balance, movements = opening, []
    for day, number, kind, document, minor in connection.execute(_MOVEMENTS, asked):
        amount = Money.from_minor(minor, customer.currency)
        balance = balance + amount
        if day < period.start.isoformat():
            opening = balance
        else:
            movements.append(Movement(date.fromisoformat(day), number, kind, document, amount, balance))
    return Statement(customer.id, customer.name, period, opening, tuple(movements), balance)
