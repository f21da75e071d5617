"""What is owed both ways, and statements of customers.

Invariant: an open amount is the server's own; not due and overdue by age less what is unapplied is what is outstanding;
opening and movements are the closing balance; currencies are never added.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Any, Final, Literal

from ..documents import Invoice
from ..errors import Denied
from ..values import ZERO, Money, Period, zero
from ..verbs.money import BUCKETS, Ageing, Balances, Movement, OpenItem, PartyBalance, Statement
from . import parties
from .desk import Desk

Side = Literal["out", "in"]
_FIELDS: Final = [
    "number",
    "state",
    "party.code",
    "party.name",
    "currency.code",
    "invoice_date",
    "total_amount",
    "amount_to_pay",
    "origins",
    "_timestamp",
]
_BOOKED: Final = [
    "lines_to_pay.maturity_date",
    "payment_lines.date",
    "payment_lines.debit",
    "payment_lines.credit",
    "payment_lines.amount_second_currency",
    "payment_lines.move.number",
]


@dataclass
class _Owing:
    """What one party has open in one currency."""

    name: str
    items: list[OpenItem] = field(default_factory=list)
    unapplied: Decimal = ZERO


async def balances(
    desk: Desk,
    side: Side,
    *,
    party_id: str | None,
    as_of: date | None,
    overdue_only: bool,
    due_by: date | None,
    limit: int,
    offset: int,
) -> Balances:
    """Who owes (``out``), or is owed (``in``), at the end of a day. Needs ``see_money``."""
    await desk.require("see_money")
    day = as_of or desk.today
    party = None
    if party_id:
        party = await parties.row_of(desk, party_id, "customer" if side == "out" else "supplier")
    owing = await _open(desk, side, party, day)
    found: list[PartyBalance] = []
    for (code, currency), each in owing.items():
        items = each.items
        if due_by is not None:
            items = [item for item in items if item.invoice.due <= due_by]
        if overdue_only:
            items = [item for item in items if item.days_overdue > 0]
        narrowed = due_by is not None or overdue_only
        ageing = _ageing(items, ZERO if narrowed else each.unapplied, currency)
        if items or (ageing.unapplied.amount and not narrowed):
            items = sorted(items, key=lambda item: (item.invoice.due, item.invoice.number))
            found.append(PartyBalance(code, each.name, ageing, tuple(items)))
    own = (await desk.base()).company.currency
    found.sort(key=lambda each: (each.currency != own, -each.ageing.overdue_total.amount, each.party_id))
    total = {
        currency: _together([each.ageing for each in found if each.currency == currency], currency)
        for currency in sorted({each.currency for each in found})
    }
    return Balances(day, tuple(found[offset : offset + limit]), len(found), total)


async def _open(desk: Desk, side: Side, party: dict[str, Any] | None, day: date) -> dict[tuple[str, str], _Owing]:
    """Open invoices and credits, by party and currency."""
    domain: list[Any] = [["type", "=", side], ["invoice_date", "<=", day]]
    past = day < desk.today
    domain.append(["state", "in", ["posted", "paid"] if past else ["posted"]])
    if party:
        domain.append(["party", "=", party["id"]])
    booked = await desk.may("account.move.line")
    if past and not booked:
        raise Denied(
            "This needs the right 'see_money': the server lets this user not read account.move.line, from which it is "
            "known what was paid when.",
            right="see_money",
            hint="Ask for today.",
        )
    rows = await desk.rpc.search_read("account.invoice", domain, [*_FIELDS, *(_BOOKED if booked else ())])
    found: dict[tuple[str, str], _Owing] = {}
    settled: set[int] = set()
    for row in rows:
        settled |= {line["id"] for line in row.get("payment_lines.") or ()}
        invoice, left = _as_of(row, day, past=past)
        if not left:
            continue
        key = invoice.party_id, invoice.total.currency
        owing = found.setdefault(key, _Owing(invoice.party))
        if left > 0:
            owing.items.append(OpenItem(invoice, max((day - invoice.due).days, 0)))
        else:
            owing.unapplied -= left
    if booked:
        for row, amount in await _loose(desk, side, party, day, settled):
            key = row["code"] or f"#{row['id']}", (await desk.base()).company.currency
            found.setdefault(key, _Owing(row["name"] or "")).unapplied += amount
    return found


def _as_of(row: dict[str, Any], day: date, *, past: bool) -> tuple[Invoice, Decimal]:
    """The invoice as it was, and what was open; negative for a credit note."""
    currency, party = row["currency."]["code"], row["party."]
    total = Decimal(row["total_amount"])
    left = Decimal(row["amount_to_pay"] or 0)
    if past:
        paid = sum((_paid(line) for line in row["payment_lines."] if line["date"] <= day), ZERO)
        left = total - paid
    sign = -1 if total < 0 else 1
    dues = [each["maturity_date"] for each in row.get("lines_to_pay.") or () if each["maturity_date"]]
    orders = [part.strip() for part in (row["origins"] or "").split(",") if part.strip()]
    invoice = Invoice(
        number=row["number"] or f"#{row['id']}",
        kind="credit_note" if sign < 0 else "invoice",
        order=orders[0] if orders else None,
        party_id=party["code"] or f"#{party['id']}",
        party=party["name"] or "",
        date=row["invoice_date"],
        due=max(dues, default=row["invoice_date"]),
        total=Money(total * sign, currency),
        paid=Money((total - left) * sign, currency),
        credited=zero(currency),
        version=str(row["_timestamp"]),
    )
    return invoice, left


def _paid(line: dict[str, Any]) -> Decimal:
    """What a line of a payment took off a customer's debt, or off ours."""
    other = line["amount_second_currency"]
    amount = Decimal(line["credit"] or 0) - Decimal(line["debit"] or 0)
    return amount if other is None else -Decimal(other)


async def _loose(
    desk: Desk, side: Side, party: dict[str, Any] | None, day: date, settled: set[int]
) -> list[tuple[dict[str, Any], Decimal]]:
    """Payments that settle no invoice yet, by party."""
    kind = "receivable" if side == "out" else "payable"
    domain: list[Any] = [
        [f"account.type.{kind}", "=", True],
        ["reconciliation", "=", None],
        ["date", "<=", day],
        ["party", "!=", None],
        ["OR", ["move.origin", "=", None], ["move.origin", "not like", "account.invoice,%"]],
        ["id", "not in", sorted(settled)],
    ]
    if party:
        domain.append(["party", "=", party["id"]])
    rows = await desk.rpc.search_read(
        "account.move.line", domain, ["debit", "credit", "party.code", "party.name", "invoice_payment"]
    )
    found: dict[int, Decimal] = defaultdict(Decimal)
    people: dict[int, dict[str, Any]] = {}
    for row in rows:
        if row.get("invoice_payment"):
            continue
        sign = 1 if side == "out" else -1
        people[row["party."]["id"]] = row["party."]
        found[row["party."]["id"]] += sign * (Decimal(row["credit"] or 0) - Decimal(row["debit"] or 0))
    return [(people[row], amount) for row, amount in found.items() if amount]


def _ageing(items: list[OpenItem], unapplied: Decimal, currency: str) -> Ageing:
    not_due, overdue = ZERO, [ZERO] * len(BUCKETS)
    for item in items:
        left = item.invoice.open.amount
        if item.days_overdue <= 0:
            not_due += left
            continue
        for at, (_, first, last) in enumerate(BUCKETS):
            if item.days_overdue >= first and (last is None or item.days_overdue <= last):
                overdue[at] += left
    return Ageing(
        Money(not_due, currency), tuple(Money(each, currency) for each in overdue), Money(unapplied, currency)
    )


def _together(parts: list[Ageing], currency: str) -> Ageing:
    not_due, unapplied = zero(currency), zero(currency)
    overdue = [zero(currency) for _ in BUCKETS]
    for each in parts:
        not_due, unapplied = not_due + each.not_due, unapplied + each.unapplied
        overdue = [sum_ + part for sum_, part in zip(overdue, each.overdue, strict=True)]
    return Ageing(not_due, tuple(overdue), unapplied)


async def statement(desk: Desk, customer_id: str, period: Period) -> Statement:
    """Every invoice and payment of a customer in a period. Needs ``see_money``."""
    await desk.require("see_money")
    party = await parties.row_of(desk, customer_id, "customer")
    if not await desk.may("account.move.line"):
        raise Denied(
            "This needs the right 'see_money': the server lets this user not read account.move.line.",
            right="see_money",
            hint="Have an administrator of the Tryton server add the user to the group Accounting.",
        )
    currency = (await desk.base()).company.currency
    rows = await desk.rpc.search_read(
        "account.invoice",
        [["type", "=", "out"], ["state", "in", ["posted", "paid"]], ["party", "=", party["id"]]],
        [*_FIELDS, *_BOOKED],
    )
    entries: list[tuple[date, str, str, str | None, Decimal]] = []
    for row in rows:
        if row["currency."]["code"] != currency:
            continue
        invoice, _ = _as_of(row, period.end, past=False)
        total = Decimal(row["total_amount"])
        entries.append((row["invoice_date"], invoice.number, invoice.kind, invoice.order, total))
        for line in row["payment_lines."]:
            number = str((line["move."] or {}).get("number") or line["id"])
            amount = _paid(line)
            entries.append((line["date"], number, "payment" if amount > 0 else "refund", invoice.number, -amount))
    entries.sort(key=lambda each: (each[0], each[2] == "payment", each[1]))
    opening = Money(sum((amount for day, *_, amount in entries if day < period.start), ZERO), currency)
    balance, movements = opening, []
    for day, number, kind, document, amount in entries:
        if period.start <= day <= period.end:
            balance = balance + Money(amount, currency)
            movements.append(Movement(day, number, kind, document, Money(amount, currency), balance))  # type: ignore[arg-type]
    name = party["name"] or customer_id
    return Statement(party["code"] or customer_id, name, period, opening, tuple(movements), balance)
