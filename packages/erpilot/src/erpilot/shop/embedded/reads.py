"""The embedded shop's reads.

Invariant: costs, contacts and purchases of who may not see them are left out before anything leaves the file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal

from ..catalogue import Product, StockLevel, Warehouse
from ..documents import Customer, Kind, Order
from ..pricing import PriceList, Quote
from ..verbs.reading import Account, Found, LineWanted, OrderFilter, OrderPage, Reading
from . import accounts, orders, parties, prices, products
from .base import EmbeddedDesk


class EmbeddedReading(EmbeddedDesk, Reading):
    """See ``Reading``."""

    async def find_products(
        self, text: str, *, category: str | None = None, in_stock: bool = False, limit: int = 5, offset: int = 0
    ) -> Found[Product]:
        """See ``Reading``."""
        self._window(limit, offset)
        found = await self._database.read(lambda c: products.find(c, text, category, in_stock, limit, offset))
        if "see_cost" in self._rights:
            return found
        return replace(found, hits=tuple(replace(hit, record=self._shown(hit.record)) for hit in found.hits))

    async def get_products(self, codes: Sequence[str]) -> dict[str, Product]:
        """See ``Reading``."""
        found = await self._database.read(lambda c: products.by_codes(c, codes))
        return {code: self._shown(product) for code, product in found.items()}

    async def warehouses(self) -> tuple[Warehouse, ...]:
        """See ``Reading``."""
        return tuple(await self._database.read(lambda c: products.warehouses(c, None)))

    async def get_stock(
        self, skus: Sequence[str], *, warehouse: str | None = None
    ) -> dict[str, tuple[StockLevel, ...]]:
        """See ``Reading``."""
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
        """See ``Reading``."""
        day = on or self.now().date()
        quote = await self._database.read(lambda c: prices.quote(c, lines, customer_id, price_list, day, discount))
        if "see_cost" in self._rights:
            return quote
        return replace(quote, lines=tuple(replace(line, product=self._shown(line.product)) for line in quote.lines))

    async def price_lists(self) -> tuple[PriceList, ...]:
        """See ``Reading``."""
        return await self._database.read(prices.lists)

    async def find_customers(self, text: str, *, limit: int = 5, offset: int = 0) -> Found[Customer]:
        """See ``Reading``."""
        self._window(limit, offset)
        return self._reachable(await self._database.read(lambda c: parties.find(c, "customer", text, limit, offset)))

    async def find_suppliers(self, text: str, *, limit: int = 5) -> Found[Customer]:
        """See ``Reading``."""
        return self._reachable(await self._database.read(lambda c: parties.find(c, "supplier", text, limit, 0)))

    async def get_account(self, customer_id: str) -> Account:
        """See ``Reading``."""
        acting = self._acting("see_money")
        return await self._database.read(lambda c: accounts.account(c, customer_id, acting.today))

    async def list_orders(self, which: OrderFilter, *, limit: int = 20, offset: int = 0) -> OrderPage:
        """See ``Reading``. Purchases are only listed for those who may see costs."""
        self._window(limit, offset)
        if which.kind == "purchase":
            self._acting("see_cost")
        purchases = "see_cost" in self._rights
        return await self._database.read(lambda c: orders.page(c, which, limit, offset, purchases=purchases))

    async def get_order(self, number: str, kind: Kind | None = None) -> Order:
        """See ``Reading``. A purchase needs ``see_cost``."""
        order = await self._database.read(lambda c: orders.get(c, number, kind))
        if order.head.kind == "purchase":
            self._acting("see_cost")
        return order

    def _shown(self, product: Product) -> Product:
        return product if "see_cost" in self._rights else replace(product, cost=None)

    def _reachable(self, found: Found[Customer]) -> Found[Customer]:
        if "see_contacts" in self._rights:
            return found
        return replace(found, hits=tuple(replace(h, record=replace(h.record, contact=None)) for h in found.hits))
