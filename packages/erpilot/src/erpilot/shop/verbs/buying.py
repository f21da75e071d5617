"""Purchasing: what is on the way, what suppliers charge, and new purchase orders.

Invariant: ordered = received + cancelled + to come on every line; a purchase is confirmed when the supplier promised
it, and until then called unconfirmed.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Protocol

from ..documents import State
from ..errors import Unsupported
from ..values import Money, Quantity
from .outcome import Write, Written


@dataclass(frozen=True, slots=True)
class PurchaseFilter:
    """Which purchases; None does not restrict. ``open_only``: something is still to come; ``expected_by``: a day."""

    supplier_id: str | None = None
    states: tuple[State, ...] = ()
    sku: str | None = None
    open_only: bool = False
    expected_by: dt.date | None = None


@dataclass(frozen=True, slots=True)
class PurchaseLine:
    """A line of a purchase, in the unit it was ordered in. ``to_come`` = ordered - received - cancelled."""

    sku: str
    name: str
    unit: str
    ordered: Decimal
    received: Decimal
    cancelled: Decimal

    @property
    def to_come(self) -> Decimal:
        """Still on the way."""
        return self.ordered - self.received - self.cancelled


@dataclass(frozen=True, slots=True)
class Purchase:
    """A purchase with its lines. ``confirmed``: the supplier promised it; ``days_late`` 0 when it is not late or
    nothing is to come; ``total`` None without ``see_cost``; ``warehouse`` by name.
    """

    number: str
    supplier_id: str
    supplier: str
    date: dt.date
    expected: dt.date | None
    state: State
    warehouse: str
    lines: tuple[PurchaseLine, ...]
    confirmed: bool
    days_late: int
    total: Money | None
    version: str


@dataclass(frozen=True, slots=True)
class PurchasePage:
    """The earliest expected first; counts and totals are over all that match. ``total`` is empty without
    ``see_cost``.
    """

    purchases: tuple[Purchase, ...]
    total_count: int
    total: dict[str, Money]


@dataclass(frozen=True, slots=True)
class SupplierOffer:
    """What a supplier charges. ``price`` per ``unit``, tax not included; ``min_qty`` and ``pack`` in that unit."""

    sku: str
    supplier_id: str
    supplier: str
    unit: str
    price: Money
    min_qty: Decimal
    pack: Decimal
    lead_days: int


@dataclass(frozen=True, slots=True)
class PurchaseDraftLine:
    """A product to buy. ``unit_price`` None: the supplier's offer."""

    sku: str
    quantity: Quantity
    unit_price: Decimal | None = None


@dataclass(frozen=True, slots=True)
class PurchaseDraft:
    """A purchase order to make. ``expected`` None: by the supplier's lead time; ``warehouse`` by code, None: main."""

    supplier_id: str
    lines: tuple[PurchaseDraftLine, ...]
    expected: dt.date | None = None
    warehouse: str | None = None
    note: str | None = None


class Buying(Protocol):
    """Making purchases needs ``buy``; prices of suppliers need ``see_cost`` or ``buy``."""

    kind: str

    async def list_purchases(self, which: PurchaseFilter, *, limit: int = 20, offset: int = 0) -> PurchasePage:
        """What was ordered, received and is to come, by document."""
        raise Unsupported("list_purchases", self.kind)

    async def supplier_offers(
        self, *, skus: Sequence[str] = (), supplier_id: str | None = None
    ) -> tuple[SupplierOffer, ...]:
        """Offers for these products, or of this supplier; the cheapest per base unit first."""
        raise Unsupported("supplier_offers", self.kind)

    async def create_purchase(self, draft: PurchaseDraft, *, write: Write) -> Written:
        """Makes a draft purchase. Raises ``Refused`` without an offer and without a price, ``NeedsConfirmation`` (token
        ``below_minimum:SKU``) below what the supplier sells at least.
        """
        raise Unsupported("create_purchase", self.kind)
