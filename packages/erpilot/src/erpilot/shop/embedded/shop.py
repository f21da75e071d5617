"""The embedded shop as an ``ErpBackend``: verbs in, transactions on the file out.

Invariant: constructing it leaves a whole, seeded shop on disk or raises ``DamagedShop`` or ``Unavailable``; it owns
no state but the file.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

from ..backend import (
    ErpBackend,
    Found,
    LineWanted,
    OrderFilter,
    OrderPage,
    QuotationDraft,
    Whoami,
    Write,
    Written,
    offered,
)
from ..catalogue import Product, StockLevel
from ..documents import Customer, Kind, Order
from ..pricing import PriceList, Quote
from ..rights import RIGHTS
from ..seed.build import ensure_shop
from ..values import Company, zone_of
from . import orders, parties, prices, products, quotations, schema
from .database import Database, connect, explained


class EmbeddedShop(ErpBackend):
    """A shop in the SQLite file ``path``, which is made and filled on first use.

    ``today``: the shop's day. The example data are dated around one day, kept in the file, and the shop lives on it;
    another day given here moves the clock, not the data. The time of day is the real one.
    """

    kind = "embedded"

    def __init__(self, path: Path, *, today: date | None = None, user: str = "owner") -> None:
        ensure_shop(path, today)
        try:
            connection = connect(path)
            try:
                schema.check(connection, str(path))
                facts = dict(connection.execute("SELECT key, value FROM meta").fetchall())
            finally:
                connection.close()
        except sqlite3.DatabaseError as error:
            raise explained(error, path) from None
        self.company = Company(facts["company"], facts["zone"], facts["currency"])
        self._user = user
        self._today = today or date.fromisoformat(facts["today"])
        self._zone = zone_of(self.company.zone)
        self._database = Database(path)

    async def whoami(self) -> Whoami:
        """The person, the company and what this backend can do."""
        return Whoami(
            self._user,
            self.company,
            self.kind,
            offered(EmbeddedShop),
            frozenset(RIGHTS),
        )

    def now(self) -> datetime:
        """The shop's day, and the time of day in its zone."""
        return datetime.combine(self._today, datetime.now(self._zone).timetz())

    async def find_products(
        self, text: str, *, category: str | None = None, in_stock: bool = False, limit: int = 5, offset: int = 0
    ) -> Found[Product]:
        """See ``ErpBackend``."""
        return await self._database.read(lambda c: products.find(c, text, category, in_stock, limit, offset))

    async def get_products(self, codes: Sequence[str]) -> dict[str, Product]:
        """See ``ErpBackend``."""
        return await self._database.read(lambda c: products.by_codes(c, codes))

    async def get_stock(
        self, skus: Sequence[str], *, warehouse: str | None = None
    ) -> dict[str, tuple[StockLevel, ...]]:
        """See ``ErpBackend``."""
        return await self._database.read(lambda c: products.stock(c, skus, warehouse))

    async def get_prices(
        self,
        lines: Sequence[LineWanted],
        *,
        customer_id: str | None = None,
        price_list: str | None = None,
        on: date | None = None,
        discount: Decimal = Decimal(0),
    ) -> Quote:
        """See ``ErpBackend``."""
        day = on or self.now().date()
        return await self._database.read(lambda c: prices.quote(c, lines, customer_id, price_list, day, discount))

    async def price_lists(self) -> tuple[PriceList, ...]:
        """See ``ErpBackend``."""
        return await self._database.read(prices.lists)

    async def find_customers(self, text: str, *, limit: int = 5, offset: int = 0) -> Found[Customer]:
        """See ``ErpBackend``."""
        return await self._database.read(lambda c: parties.find(c, "customer", text, limit, offset))

    async def find_suppliers(self, text: str, *, limit: int = 5) -> Found[Customer]:
        """See ``ErpBackend``."""
        return await self._database.read(lambda c: parties.find(c, "supplier", text, limit, 0))

    async def list_orders(self, which: OrderFilter, *, limit: int = 20, offset: int = 0) -> OrderPage:
        """See ``ErpBackend``."""
        return await self._database.read(lambda c: orders.page(c, which, limit, offset))

    async def get_order(self, number: str, kind: Kind | None = None) -> Order:
        """See ``ErpBackend``."""
        return await self._database.read(lambda c: orders.get(c, number, kind))

    async def create_quotation(self, draft: QuotationDraft, *, write: Write) -> Written:
        """See ``ErpBackend``."""
        now = self.now()
        return await self._database.write(lambda c: quotations.create(c, draft, write, now, self.company))

    async def find_by_key(self, key: str) -> Written | None:
        """See ``ErpBackend``."""
        return await self._database.read(lambda c: quotations.by_key(c, key))

    def close(self) -> None:
        """Closes the file; the shop cannot be used afterwards."""
        self._database.close()
