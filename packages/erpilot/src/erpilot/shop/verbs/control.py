"""Prices, base data and the record of who changed what.

Invariant: a price change names the price it replaces and is refused when that is not the price any more; quotations
that are open keep their prices; the history is only ever added to.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, Protocol

from ..catalogue import Product
from ..errors import Unsupported
from ..values import Quantity
from .outcome import FieldChange, Verb, Write, Written
from .selling import CustomerDraft


@dataclass(frozen=True, slots=True)
class PriceRule:
    """Which prices are to change and how. Products by ``skus`` or ``category``; ``price_lists`` by code, none: all of
    the shop's currency; ``percent`` (5 = dearer by 5 %) or ``price`` per base unit, of the tier ``from_qty`` (None:
    the first with ``price``, all with ``percent``). ``rounding``: to a multiple of it, half up. From ``start`` on.
    """

    start: dt.date
    skus: tuple[str, ...] = ()
    category: str | None = None
    price_lists: tuple[str, ...] = ()
    percent: Decimal | None = None
    price: Decimal | None = None
    from_qty: Decimal | None = None
    rounding: Decimal = Decimal("0.01")


@dataclass(frozen=True, slots=True)
class PriceChange:
    """A price per base unit of one tier, from ``start`` on. ``before`` None: there was none."""

    sku: str
    price_list: str
    from_qty: Decimal
    before: Decimal | None
    after: Decimal
    start: dt.date


@dataclass(frozen=True, slots=True)
class PricePlan:
    """What a rule comes to. ``below_cost``: SKUs that would sell below cost (empty without ``see_cost``);
    ``unchanged``: prices that stay the same.
    """

    rule: PriceRule
    changes: tuple[PriceChange, ...]
    below_cost: tuple[str, ...]
    unchanged: int


@dataclass(frozen=True, slots=True)
class HistoryFilter:
    """Whose history. ``subject``: number, SKU, party id; the rest restricts; dates are included on both ends."""

    subject: str | None = None
    by: str | None = None
    verbs: tuple[Verb, ...] = ()
    date_from: dt.date | None = None
    date_to: dt.date | None = None


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One write: who, when, what before and after, why, and who agreed. ``undone_by``: the key of the write that took
    it back. ``server_word``: what the ERP itself calls it, where it is not one of Erpilot's writes (``verb`` None).
    """

    at: dt.datetime
    by: str | None
    verb: Verb | None
    number: str
    changes: tuple[FieldChange, ...]
    reason: str | None = None
    approved_by: str | None = None
    key: str | None = None
    undoable: bool = False
    undone_by: str | None = None
    server_word: str | None = None


@dataclass(frozen=True, slots=True)
class HistoryPage:
    """Newest first; ``total_count`` of all that match."""

    entries: tuple[HistoryEntry, ...]
    total_count: int


@dataclass(frozen=True, slots=True)
class ImportedCustomer:
    """A customer of a file. ``id`` None: a new one, numbered by the shop."""

    id: str | None
    draft: CustomerDraft


ImportMode = Literal["add", "add_or_change"]


@dataclass(frozen=True, slots=True)
class ImportedLine:
    """What was sold, in a unit of the product, at a price per that unit; ``discount`` in per cent."""

    sku: str
    quantity: Quantity
    unit_price: Decimal
    discount: Decimal = Decimal(0)


@dataclass(frozen=True, slots=True)
class ImportedOrder:
    """A sale from before the shop kept its books here. ``warehouse`` by code, None: the main one."""

    number: str
    customer_id: str
    date: dt.date
    lines: tuple[ImportedLine, ...]
    warehouse: str | None = None


class Control(Protocol):
    """Prices need ``prices``, imports ``catalogue``, the history ``see_history``."""

    kind: str

    async def plan_prices(self, rule: PriceRule) -> PricePlan:
        """What a rule would change; changes nothing. Raises ``Invalid`` for a rule that says too little or too much."""
        raise Unsupported("plan_prices", self.kind)

    async def set_prices(self, changes: Sequence[PriceChange], *, reason: str | None = None, write: Write) -> Written:
        """Sets prices, all or none. Raises ``Conflict`` when a ``before`` is not the price any more, ``Refused`` for a
        start that is past.
        """
        raise Unsupported("set_prices", self.kind)

    async def import_products(
        self, products: Sequence[Product], *, mode: ImportMode = "add_or_change", write: Write
    ) -> Written:
        """Adds products, or changes those of the same SKU, all or none; what is equal stays as it is. ``list_price``
        becomes the retail price. Raises ``Refused`` where stock forbids a change of units.
        """
        raise Unsupported("import_products", self.kind)

    async def import_customers(
        self, customers: Sequence[ImportedCustomer], *, mode: ImportMode = "add_or_change", write: Write
    ) -> Written:
        """Adds customers, or changes those of the same id, all or none."""
        raise Unsupported("import_customers", self.kind)

    async def import_suppliers(
        self, suppliers: Sequence[ImportedCustomer], *, mode: ImportMode = "add_or_change", write: Write
    ) -> Written:
        """As ``import_customers``, among those the shop buys from."""
        raise Unsupported("import_suppliers", self.kind)

    async def import_orders(self, orders: Sequence[ImportedOrder], *, write: Write) -> Written:
        """Adds sales that are done, all or none, for reports and repeats: no stock moves, nothing is owed for them.
        Raises ``Refused`` when a number is taken, and for a day that is to come.
        """
        raise Unsupported("import_orders", self.kind)

    async def history(self, which: HistoryFilter, *, limit: int = 20, offset: int = 0) -> HistoryPage:
        """Who changed what, newest first."""
        raise Unsupported("history", self.kind)
