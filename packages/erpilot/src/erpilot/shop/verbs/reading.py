"""Looking things up: products, stock, prices, parties and documents.

Invariant: numbers cover all records that match, never a page; what the person may not see (cost, contacts) is None.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Generic, Literal, Protocol, TypeVar

from ..catalogue import Product, StockLevel, Warehouse
from ..documents import Customer, Kind, Order, OrderHead, State
from ..errors import Unsupported
from ..pricing import PriceList, Quote
from ..values import Money, Quantity

T = TypeVar("T")
Match = Literal["code", "barcode", "name", "fuzzy"]


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
    ``promised_before``: promised up to that day and something still open; ``open_only``: goods are still owed;
    ``partly_delivered``: some went out and some are owed; ``source``: made from, or returned from, that document.
    """

    kind: Kind | None = None
    party_id: str | None = None
    states: tuple[State, ...] = ()
    date_from: date | None = None
    date_to: date | None = None
    sku: str | None = None
    promised_before: date | None = None
    text: str | None = None
    warehouse: str | None = None
    open_only: bool = False
    partly_delivered: bool = False
    source: str | None = None


@dataclass(frozen=True, slots=True)
class OrderPage:
    """Newest first. ``total_count`` and ``total`` (by currency) are over all that match."""

    orders: tuple[OrderHead, ...]
    total_count: int
    total: dict[str, Money]


@dataclass(frozen=True, slots=True)
class LineWanted:
    """A product by its SKU and a quantity that it can be sold in. ``unit_price``: typed by hand, per unit as asked,
    instead of the price list's; ``discount`` in per cent, instead of the document's.
    """

    sku: str
    quantity: Quantity
    unit_price: Decimal | None = None
    discount: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Account:
    """A customer's credit in their currency. ``used`` = ``owed`` (open invoices less unapplied credits) +
    ``not_invoiced`` (confirmed and not invoiced yet); ``free`` None when there is no limit.
    """

    customer: Customer
    owed: Money
    not_invoiced: Money
    overdue: Money
    oldest_due: date | None

    @property
    def used(self) -> Money:
        """What counts against the limit."""
        return self.owed + self.not_invoiced

    @property
    def limit(self) -> Money | None:
        """None: no limit was set."""
        return self.customer.credit_limit

    @property
    def free(self) -> Money | None:
        """What may still be bought on credit; less than nothing when the limit is passed."""
        return None if self.limit is None else self.limit - self.used


class Reading(Protocol):
    """The reads that everyone at the desk needs. They may run at the same time."""

    kind: str

    async def find_products(
        self, text: str, *, category: str | None = None, in_stock: bool = False, limit: int = 5, offset: int = 0
    ) -> Found[Product]:
        """By code or barcode (which decide), else by name, specification and other names."""
        raise Unsupported("find_products", self.kind)

    async def get_products(self, codes: Sequence[str]) -> dict[str, Product]:
        """Products by exact SKU or barcode, under the code asked for; what does not exist is not in it."""
        raise Unsupported("get_products", self.kind)

    async def warehouses(self) -> tuple[Warehouse, ...]:
        """All places with stock, the main one first."""
        raise Unsupported("warehouses", self.kind)

    async def get_stock(
        self, skus: Sequence[str], *, warehouse: str | None = None
    ) -> dict[str, tuple[StockLevel, ...]]:
        """By SKU, a level for each warehouse (or the one named, by code or name), with what arrives by date and
        document. Raises ``NotFound`` for the warehouse.
        """
        raise Unsupported("get_stock", self.kind)

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
        raise Unsupported("get_prices", self.kind)

    async def price_lists(self) -> tuple[PriceList, ...]:
        """All price lists, retail first."""
        raise Unsupported("price_lists", self.kind)

    async def find_customers(self, text: str, *, limit: int = 5, offset: int = 0) -> Found[Customer]:
        """By id (which decides), else by name and short names."""
        raise Unsupported("find_customers", self.kind)

    async def find_suppliers(self, text: str, *, limit: int = 5) -> Found[Customer]:
        """As ``find_customers``, among those the shop buys from."""
        raise Unsupported("find_suppliers", self.kind)

    async def get_account(self, customer_id: str) -> Account:
        """Terms, limit, used, free and overdue. Needs ``see_money``. Raises ``NotFound``."""
        raise Unsupported("get_account", self.kind)

    async def list_orders(self, which: OrderFilter, *, limit: int = 20, offset: int = 0) -> OrderPage:
        """A page of what matches, and the totals of all of it."""
        raise Unsupported("list_orders", self.kind)

    async def get_order(self, number: str, kind: Kind | None = None) -> Order:
        """By number as people write it ("123", "SO-2026-0123", "订单123"). Raises ``NotFound`` with near numbers."""
        raise Unsupported("get_order", self.kind)
