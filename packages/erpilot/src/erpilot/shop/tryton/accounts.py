"""What a customer owes, and may still owe.

Invariant: used = owed + not invoiced; all from the server's own sums, in the company's currency.
"""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

from ..documents import Customer
from ..values import ZERO, Money, zero
from ..verbs.reading import Account
from . import parties
from .desk import Desk, together


async def account(desk: Desk, customer_id: str) -> Account:
    """Needs ``see_money``. Raises ``NotFound``."""
    await desk.require("see_money")
    return await _account(desk, await parties.row_of(desk, customer_id, "customer"))


async def known(desk: Desk, party: dict[str, Any]) -> Account | None:
    """The account of a party that was read, None for who may not see it."""
    return await _account(desk, party) if "see_money" in await desk.rights() else None


async def _account(desk: Desk, row: dict[str, Any]) -> Account:
    base = await desk.base()
    customer: Customer = parties.customer_of(row, base)
    currency = base.company.currency
    invoices, waiting = await together(
        open_invoices(desk, [["party", "=", row["id"]], ["type", "=", "out"]]),
        _not_invoiced(desk, row["id"]),
    )
    owed, late = zero(currency), zero(currency)
    dues: list[date] = []
    for each in invoices:
        if each["currency."]["code"] != currency:
            continue
        left = Money(Decimal(each["amount_to_pay"] or 0), currency)
        owed = owed + left
        due = due_of(each)
        if left.amount > 0 and due < desk.today:
            late = late + left
            dues.append(due)
    return Account(customer, owed, Money(waiting, currency), late, min(dues, default=None))


async def open_invoices(desk: Desk, domain: list[Any]) -> list[dict[str, Any]]:
    """Posted invoices on which something is to be paid."""
    fields = ["number", "party", "currency.code", "total_amount", "amount_to_pay", "invoice_date", "type", "_timestamp"]
    fields += ["party.code", "party.name", "payment_term_date", "sales.number"]
    fields = [name for name in fields if name != "payment_term_date"]
    if await desk.may("account.move.line"):
        fields.append("lines_to_pay.maturity_date")
    return await desk.rpc.search_read("account.invoice", [["state", "=", "posted"], *domain], fields)


def due_of(row: dict[str, Any]) -> date:
    """When the last part of an invoice is due; its own day where that is not to be seen."""
    dues = [each["maturity_date"] for each in row.get("lines_to_pay.") or () if each["maturity_date"]]
    found: date = max(dues, default=row["invoice_date"])
    return found


async def _not_invoiced(desk: Desk, party: int) -> Decimal:
    """What confirmed sales of a customer come to that no posted invoice asks for yet."""
    rows = await desk.rpc.search_read(
        "sale.sale",
        [["party", "=", party], ["state", "in", ["confirmed", "processing"]]],
        ["total_amount", "invoices.state", "invoices.total_amount"],
    )
    left = ZERO
    for row in rows:
        asked = sum(
            (Decimal(each["total_amount"]) for each in row["invoices."] if each["state"] in ("posted", "paid")), ZERO
        )
        left += max(Decimal(row["total_amount"] or 0) - asked, ZERO)
    return left
