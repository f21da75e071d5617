"""What goes with every write, and what every write answers.

Invariant: one key makes one effect. The same key with the same request gives the same result again (``repeated``),
with another request a ``Conflict``; ``find_by_key`` tells afterwards what a key has done. A write based on a version
that is not the record's any more is a ``Conflict`` and changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Literal, Protocol, get_args

from ..documents import Order
from ..errors import Unsupported
from ..rights import Right
from ..values import Company, Money, Quantity

Verb = Literal[
    "create_quotation",
    "update_draft",
    "confirm_quotation",
    "create_order",
    "cancel_order",
    "deliver_order",
    "return_order",
    "create_customer",
    "adjust_stock",
    "transfer_stock",
    "create_purchase",
    "record_payment",
    "refund",
    "set_prices",
    "import_products",
    "import_customers",
    "import_suppliers",
    "import_orders",
    "undo",
]
"""Everything that changes something."""

Read = Literal[
    "find_products",
    "get_products",
    "get_stock",
    "get_prices",
    "price_lists",
    "warehouses",
    "find_customers",
    "find_suppliers",
    "get_account",
    "list_orders",
    "get_order",
    "list_purchases",
    "supplier_offers",
    "list_receivables",
    "list_payables",
    "statement",
    "sales",
    "margin",
    "quiet_customers",
    "stock_report",
    "suggest_purchases",
    "plan_prices",
    "history",
]
"""Everything that can be asked; ``margin`` is the measure of ``sales`` that needs costs."""

Capability = Verb | Read
VERBS: tuple[Verb, ...] = get_args(Verb)
READS: tuple[Read, ...] = get_args(Read)
Fact = str | int | Decimal | Money | Quantity | date | None


@dataclass(frozen=True, slots=True)
class Whoami:
    """Who asks, where, what this backend can do for them, and what they may."""

    user: str
    company: Company
    backend: str
    capabilities: frozenset[Capability]
    rights: frozenset[Right]


@dataclass(frozen=True, slots=True)
class Write:
    """What goes with every write. ``key`` stands for the effect; ``version``: of the record as it was shown, None when
    something is made; ``accepted``: tokens of the warnings (``NeedsConfirmation``) that a person has passed over;
    ``approved_by``: who agreed, when it is not who asks.
    """

    key: str
    by: str | None
    version: str | None = None
    approved_by: str | None = None
    accepted: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field of one record, before and after; None: it was not there. ``subject``: number, SKU ("PA4-70"), SKU and
    warehouse ("PA4-70@MAIN"), party id, or SKU, price list and quantity ("PA4-70@vip@50").
    """

    subject: str
    field: str
    before: Fact
    after: Fact


@dataclass(frozen=True, slots=True)
class Written:
    """What a write did. ``number``: the document it made or changed; ``linked``: numbers of others that belong to it
    (delivery, invoice, credit note, source); ``document``: as it is now, for those that are orders; ``undoable``:
    ``undo`` with this key would be tried.
    """

    verb: Verb
    key: str
    number: str
    at: datetime
    by: str | None
    changes: tuple[FieldChange, ...] = ()
    linked: tuple[str, ...] = ()
    document: Order | None = None
    undoable: bool = False
    repeated: bool = False

    @property
    def order(self) -> Order:
        """The document, for verbs of orders."""
        assert self.document is not None, f"{self.verb} makes no order"
        return self.document


class Outcomes(Protocol):
    """Who asks, and what became of what was asked."""

    kind: str
    """Which ERP: "embedded", "tryton"."""

    async def whoami(self) -> Whoami:
        """The person, the company, the capabilities and the rights."""
        ...

    def now(self) -> datetime:
        """The shop's time, in its zone."""
        ...

    async def find_by_key(self, key: str) -> Written | None:
        """What the write with this key did; None when it did nothing. May be asked again and again."""
        ...

    async def undo(self, key: str, *, reason: str, write: Write) -> Written:
        """Takes back what the write ``key`` did, by the opposite action of the shop (a quotation is cancelled, a
        transfer goes back). Raises ``NotFound``, ``Refused`` (it has no opposite, or is undone already) and
        ``Conflict`` (what it touched has changed since).
        """
        raise Unsupported("undo", self.kind)
