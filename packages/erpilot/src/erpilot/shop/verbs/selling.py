"""The sales desk: quotations, orders, deliveries, returns, cancellations, new customers.

Invariant: documents move by these actions, never by setting a state; a price comes from a list or is marked as typed
by hand; past the discount limit or below cost needs ``discount_over``, past the credit limit ``credit_over``, and a
``NeedsConfirmation`` whose token (``Concern.token``) was accepted; a confirmed order reserves what is there.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Literal, Protocol

from ..errors import Unsupported
from ..values import Money, Quantity
from .outcome import Write, Written
from .reading import LineWanted


@dataclass(frozen=True, slots=True)
class QuotationDraft:
    """What a quotation is to say; prices come from the customer's price list. ``valid_days`` from the day it is made,
    so that a repeat on another day is still the same draft. ``discount`` in per cent, of the whole.
    """

    customer_id: str
    lines: tuple[LineWanted, ...]
    discount: Decimal
    valid_days: int
    note: str | None = None


@dataclass(frozen=True, slots=True)
class OrderDraft:
    """What an order is to say. ``warehouse`` by code, None: the main one; ``source``: number of the order that it
    repeats.
    """

    customer_id: str
    lines: tuple[LineWanted, ...]
    discount: Decimal = Decimal(0)
    promised: date | None = None
    warehouse: str | None = None
    note: str | None = None
    source: str | None = None


@dataclass(frozen=True, slots=True)
class LineEdit:
    """A change to one line of a draft or quotation, by its number; None leaves a field as it is. A price typed by hand
    stays when the quantity changes; a price of the list follows the quantity.
    """

    line: int
    quantity: Quantity | None = None
    unit_price: Decimal | None = None
    discount: Decimal | None = None
    remove: bool = False


@dataclass(frozen=True, slots=True)
class DraftChange:
    """Changes to a draft or a quotation that nobody has confirmed; None leaves as it is. ``discount`` is set on every
    line.
    """

    edits: tuple[LineEdit, ...] = ()
    added: tuple[LineWanted, ...] = ()
    discount: Decimal | None = None
    valid_until: date | None = None
    promised: date | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class LinePart:
    """Some of a line of an order, by the line's number, in a unit of the product."""

    line: int
    quantity: Quantity


@dataclass(frozen=True, slots=True)
class Parcel:
    """How goods leave. ``date`` None: today."""

    carrier: str | None = None
    tracking: str | None = None
    date: date | None = None


@dataclass(frozen=True, slots=True)
class ReturnedPart:
    """Goods of a line that come back. ``condition`` damaged: taken off the customer, but not into stock."""

    line: int
    quantity: Quantity
    condition: Literal["sellable", "damaged"] = "sellable"


@dataclass(frozen=True, slots=True)
class CustomerDraft:
    """A new customer. ``credit_limit`` None: no limit; ``terms`` in days."""

    name: str
    price_list: str
    short_names: tuple[str, ...] = ()
    terms: int = 0
    credit_limit: Money | None = None
    contact: str | None = None
    city: str | None = None


class Selling(Protocol):
    """Needs ``sell``; deliveries and returns need ``stock``."""

    kind: str

    async def create_quotation(self, draft: QuotationDraft, *, write: Write) -> Written:
        """Makes a quotation; nothing is reserved."""
        raise Unsupported("create_quotation", self.kind)

    async def update_draft(self, number: str, change: DraftChange, *, write: Write) -> Written:
        """Changes a draft or quotation. Raises ``Refused`` for what was confirmed, and without any line left."""
        raise Unsupported("update_draft", self.kind)

    async def confirm_quotation(
        self, number: str, *, promised: date | None = None, warehouse: str | None = None, write: Write
    ) -> Written:
        """Makes the order of a quotation (or confirms a draft order) and reserves. ``linked`` has the quotation.
        Raises ``NeedsConfirmation`` for each ``Concern`` not accepted, ``Refused`` when it was converted already.
        """
        raise Unsupported("confirm_quotation", self.kind)

    async def create_order(self, draft: OrderDraft, *, write: Write) -> Written:
        """Makes a confirmed order at current prices and reserves. Raises as ``confirm_quotation``."""
        raise Unsupported("create_order", self.kind)

    async def cancel_order(self, number: str, *, reason: str, rest_only: bool = False, write: Write) -> Written:
        """Cancels a quotation, an order of which nothing went out, a purchase; with ``rest_only`` what has not gone
        out. Releases what was reserved. Raises ``Refused`` when goods went out (a return is needed) and it is not
        for the rest only, and when nothing is left to cancel.
        """
        raise Unsupported("cancel_order", self.kind)

    async def deliver_order(
        self, number: str, parts: tuple[LinePart, ...], *, parcel: Parcel = Parcel(), write: Write
    ) -> Written:
        """Takes goods out for an order and invoices them; no parts: all that is open and reserved. ``linked`` has the
        delivery, then the invoice. Raises ``Refused`` for more than is open, on hand, or held for others.
        """
        raise Unsupported("deliver_order", self.kind)

    async def return_order(self, number: str, parts: tuple[ReturnedPart, ...], *, reason: str, write: Write) -> Written:
        """Takes goods back at the price really paid: a return document and a credit note (``linked``). The money is
        paid out by ``refund``. Raises ``Refused`` for more than was delivered and not returned yet.
        """
        raise Unsupported("return_order", self.kind)

    async def create_customer(self, draft: CustomerDraft, *, write: Write) -> Written:
        """Makes a customer; ``number`` is the id. Raises ``NeedsConfirmation`` when one of nearly that name exists."""
        raise Unsupported("create_customer", self.kind)
