"""Tools that book money: what came in, what goes back.

Invariant: which invoices are settled by how much is shown first, with what stays open and what is left over as credit;
it runs on exactly those open amounts; a person confirms every time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from agent_core.events import Change, Notice
from agent_core.tools.tool import Tier, Tool

from ..shop.backend import ErpBackend, Write, Written
from ..shop.errors import Invalid, NotFound
from ..shop.values import Money, zero
from ..shop.verbs.money import AllocationWanted, OpenItem, PaymentDraft, RefundDraft
from .shop_arguments import Amount, Day, Query, Text, listed
from .shop_arguments import Written as Number
from .shop_delivery import Reason
from .shop_resolve import customer_meant, money_of
from .shop_writing import Plan, insisting, writing

MOST_ITEMS = 200


class Split(BaseModel):
    """How much of a payment is for which invoice; without an amount, all that is open of it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    invoice: Number
    amount: Amount = None


Splits = Annotated[tuple[Split, ...], BeforeValidator(listed), Field(max_length=50)]


def payment_tools(backend: ErpBackend) -> list[Tool]:
    """Writing tools over one backend."""

    @writing(backend, "money", "documents", target=lambda customer, **_: customer.strip().upper(), tier=Tier.DANGEROUS)
    async def record_payment(
        customer: Query,
        amount: Number,
        method: Annotated[str, Field(min_length=1, max_length=40)],
        invoices: Splits = (),
        date: Day = None,
        reference: Text = None,
        again: bool = False,
    ) -> Plan:
        """Book money from a customer. `customer`: id. Without `invoices`: the oldest first; what is left over stays as
        a credit. `again`: it really is another payment of the same amount. A person confirms every time."""
        who = await customer_meant(backend, customer, exact=True)
        if who is None:
            raise Invalid("No customer was named.")
        if date is not None and date > backend.now().date():
            raise Invalid(f"The day {date} is still to come.")
        paid = Money(money_of(amount, who.currency), who.currency)
        found = await backend.list_receivables(party_id=who.id, limit=20)
        items = [item for party in found.parties if party.currency == who.currency for item in party.items]
        items = [item for item in items if item.invoice.kind == "invoice"]
        parts = _split(items, invoices, paid) if invoices else _oldest_first(items, paid)
        rest = paid
        changes = [
            Change("customer", None, f"{who.name} ({who.id})"),
            Change("payment", None, f"{paid.amount} {paid.currency} {method.strip()}"),
        ]
        for item, part in parts:
            left = item.invoice.open - part
            rest = rest - part
            changes.append(
                Change("open", f"{item.invoice.open.amount}", f"{left.amount} {left.currency}", item.invoice.number)
            )
        if rest.amount:
            changes.append(Change("credit", None, f"{rest.amount} {rest.currency}"))
        if again:
            changes.append(Change("again", None, "yes"))
        if reference:
            changes.append(Change("reference", None, reference))
        seen = {f"open {item.invoice.number}": str(item.invoice.open.amount) for item, _ in parts}

        async def act(write: Write, shown: Mapping[str, str]) -> Written:
            del shown  # the open amounts are part of the draft, and compared before it runs
            allocations = tuple(
                AllocationWanted(item.invoice.number, part, expected_open=item.invoice.open) for item, part in parts
            )
            draft = PaymentDraft(who.id, paid, method.strip(), allocations, date, reference or None)
            return await insisting(lambda w: backend.record_payment(draft, write=w), write, again=again)

        return Plan(
            "record_payment",
            tuple(changes),
            act,
            notices=(Notice("over_payment", {"credit": f"{rest.amount} {rest.currency}"}),) if rest.amount else (),
            measures={f"amount {paid.currency}": paid.amount},
            seen=seen,
        )

    @writing(backend, "money", "documents", target=lambda source, **_: source.strip().upper(), tier=Tier.DANGEROUS)
    async def refund(
        source: Annotated[Number, Field(description="credit note or payment whose rest is paid out")],
        amount: Number,
        reason: Reason,
        currency: Text = None,
        method: Text = None,
    ) -> Plan:
        """Pay money back to a customer: the rest of a credit note (of a return) or of a payment. Without `method`: as
        the customer had paid. A person confirms every time."""
        unit = (currency or "").strip().upper() or (await backend.whoami()).company.currency
        back = Money(money_of(amount, unit), unit)
        changes = (
            Change("source", None, source.strip()),
            Change("refund", None, f"{back.amount} {back.currency}"),
            Change("method", None, method or "as paid"),
            Change("reason", None, reason.strip()),
        )

        async def act(write: Write, shown: Mapping[str, str]) -> Written:
            del shown
            return await backend.refund(RefundDraft(source.strip(), back, reason.strip(), method or None), write=write)

        return Plan("refund", changes, act, measures={f"amount {back.currency}": back.amount})

    return [record_payment, refund]


def _oldest_first(items: Sequence[OpenItem], paid: Money) -> list[tuple[OpenItem, Money]]:
    """What of a payment settles which invoice, the oldest due first."""
    parts, left = [], paid
    for item in sorted(items, key=lambda one: (one.invoice.due, one.invoice.number)):
        if left.amount <= 0:
            break
        part = min((item.invoice.open, left), key=lambda money: money.amount)
        parts.append((item, part))
        left = left - part
    return parts


def _split(items: Sequence[OpenItem], asked: Sequence[Split], paid: Money) -> list[tuple[OpenItem, Money]]:
    """The split that was asked for. Raises for invoices that are not open and for more than was paid or is open."""
    known = {item.invoice.number.casefold(): item for item in items}
    parts, used = list[tuple[OpenItem, Money]](), zero(paid.currency)
    for each in asked:
        item = known.get(each.invoice.strip().casefold())
        if item is None:
            raise NotFound(
                f"{each.invoice.strip()[:40]!r} is no open invoice of this customer.",
                nearest=[one.invoice.number for one in items[:5]],
            )
        left = paid - used
        most = min((item.invoice.open, left), key=lambda money: money.amount)
        part = most if each.amount is None else Money(money_of(each.amount, paid.currency), paid.currency)
        if part.amount > item.invoice.open.amount:
            raise Invalid(f"{item.invoice.number} has {item.invoice.open.amount} {part.currency} open, less than that.")
        used = used + part
        if used.amount > paid.amount or part.amount <= 0:
            raise Invalid(f"More is split than the {paid.amount} {paid.currency} that were paid.")
        parts.append((item, part))
    return parts
