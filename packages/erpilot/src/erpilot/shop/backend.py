"""What Erpilot asks of an ERP: a few verbs of the shop, the same for the embedded one and for real servers.

Invariant: no verb sets a state or writes a field; each write carries an idempotency key, and ``find_by_key`` tells
afterwards what became of it. Every record carries an opaque ``version``. Failures are those of ``errors``. Numbers
cover all records that match, never a page.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Generic, Literal, Protocol, TypeVar

from .catalogue import Product, StockLevel
from .documents import Customer, Kind, Order, OrderHead, State
from .pricing import PriceList, Quote
from .values import Company, Money, Quantity

T = TypeVar("T")
Match = Literal["code", "barcode", "name", "fuzzy"]
Capability = Literal[
    "find_products", "get_stock", "get_prices", "find_customers", "list_orders", "get_order", "create_quotation"
]


@dataclass(frozen=True, slots=True)
class Whoami:
    """Who asks, where, and what this backend can do for them."""

    user: str
    company: Company
    backend: str
    capabilities: frozenset[Capability]


@dataclass(frozen=True, slots=True)
class Hit(Generic[T]):
    """A record that a text may mean. ``score`` 0 to 1; ``unit``: the one whose barcode was given."""

    record: T
    match: Match
    score: float
    unit: str | None = None


@dataclass(frozen=True, slots=True)
class Found(Generic[T]):
    """One page of hits, best first. ``decided``: the first hit, alone, is meant."""

    hits: tuple[Hit[T], ...]
    total_count: int
    decided: bool


@dataclass(frozen=True, slots=True)
class OrderFilter:
    """Which documents; None does not restrict. ``text`` looks into numbers and notes; dates are included on both ends;
    ``promised_before``: promised up to that day and something still open."""

    kind: Kind | None = None
    party_id: str | None = None
    states: tuple[State, ...] = ()
    date_from: date | None = None
    date_to: date | None = None
    sku: str | None = None
    promised_before: date | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class OrderPage:
    """Newest first. ``total_count`` and ``total`` (by currency) are over all that match."""

    orders: tuple[OrderHead, ...]
    total_count: int
    total: dict[str, Money]


@dataclass(frozen=True, slots=True)
class LineWanted:
    """A product by its SKU and a quantity that it can be sold in."""

    sku: str
    quantity: Quantity


@dataclass(frozen=True, slots=True)
class QuotationDraft:
    """What a quotation is to say; prices come from the customer's price list. ``valid_days`` from the day it is made,
    so that a repeat on another day is still the same draft.
    """

    customer_id: str
    lines: tuple[LineWanted, ...]
    discount: Decimal
    valid_days: int
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Written:
    """The document that a key stands for. ``repeated``: an earlier call with the key had made it."""

    order: Order
    repeated: bool


class ErpBackend(Protocol):
    """An ERP. Reads may run at the same time; writes are one transaction each."""

    async def whoami(self) -> Whoami:
        """The person, the company and the capabilities."""
        ...

    def now(self) -> datetime:
        """The shop's time, in its zone."""
        ...

    async def find_products(
        self, text: str, *, category: str | None = None, in_stock: bool = False, limit: int = 5, offset: int = 0
    ) -> Found[Product]:
        """By code or barcode (which decide), else by name, specification and other names."""
        ...

    async def get_products(self, codes: Sequence[str]) -> dict[str, Product]:
        """Products by exact SKU or barcode, under the code asked for; what does not exist is not in it."""
        ...

    async def get_stock(
        self, skus: Sequence[str], *, warehouse: str | None = None
    ) -> dict[str, tuple[StockLevel, ...]]:
        """By SKU, a level for each warehouse (or the one named, by code or name). Raises ``NotFound`` for the
        warehouse.
        """
        ...

    async def get_prices(
        self,
        lines: Sequence[LineWanted],
        *,
        customer_id: str | None = None,
        price_list: str | None = None,
        on: date | None = None,
        discount: Decimal = Decimal(0),
    ) -> Quote:
        """Prices exactly these quantities, by the list named, else the customer's, else retail."""
        ...

    async def price_lists(self) -> tuple[PriceList, ...]:
        """All price lists, retail first."""
        ...

    async def find_customers(self, text: str, *, limit: int = 5, offset: int = 0) -> Found[Customer]:
        """By id (which decides), else by name and short names."""
        ...

    async def find_suppliers(self, text: str, *, limit: int = 5) -> Found[Customer]:
        """As ``find_customers``, among those the shop buys from."""
        ...

    async def list_orders(self, which: OrderFilter, *, limit: int = 20, offset: int = 0) -> OrderPage:
        """A page of what matches, and the totals of all of it."""
        ...

    async def get_order(self, number: str, kind: Kind | None = None) -> Order:
        """By number as people write it ("123", "SO-2026-0123", "订单123"). Raises ``NotFound`` with near numbers."""
        ...

    async def create_quotation(self, draft: QuotationDraft, *, key: str, by: str | None) -> Written:
        """Makes a quotation, once per ``key``. Raises ``Conflict`` when the key stands for another draft, ``Refused``
        past the discount limit.
        """
        ...

    async def find_by_key(self, key: str) -> Order | None:
        """The document that a write with this key made; None when it made none."""
        ...
