"""A Tryton server as an ``ErpBackend``: one person's view of one database.

Invariant: constructing it reaches nothing; every verb asks for the right it takes before it reads; what is not
overridden here is not offered.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal

from ..backend import ErpBackend, Whoami, offered
from ..catalogue import Product, StockLevel, Warehouse
from ..documents import Customer, Kind, Order
from ..pricing import PriceList, Quote
from ..verbs.reading import Found, LineWanted, OrderFilter, OrderPage
from . import orders, parties, prices, products, stock
from .desk import Desk
from .rpc import Rpc


class TrytonShop(ErpBackend):
    """The shop in a Tryton database, as the user of ``rpc`` sees it. ``discount_limit``: per cent that a quotation may
    take off without more rights, which Tryton does not know.
    """

    kind = "tryton"

    def __init__(self, rpc: Rpc, *, discount_limit: Decimal = Decimal(15)) -> None:
        self._desk = Desk(rpc, discount_limit)

    @property
    def rpc(self) -> Rpc:
        """The connection."""
        return self._desk.rpc

    async def whoami(self) -> Whoami:
        """See ``ErpBackend``."""
        base = await self._desk.base()
        return Whoami(self.rpc.user, base.company, self.kind, offered(type(self)), await self._desk.rights())

    def now(self) -> datetime:
        """See ``ErpBackend``."""
        return self._desk.now()

    async def close(self) -> None:
        """Ends the session; the shop cannot be used afterwards."""
        await self.rpc.close()

    async def find_products(
        self, text: str, *, category: str | None = None, in_stock: bool = False, limit: int = 5, offset: int = 0
    ) -> Found[Product]:
        """See ``Reading``."""
        return await products.find(self._desk, text, category=category, in_stock=in_stock, limit=limit, offset=offset)

    async def get_products(self, codes: Sequence[str]) -> dict[str, Product]:
        """See ``Reading``."""
        base = await self._desk.base()
        rows = await products.by_code(self._desk, codes)
        return {code: products.product_of(row, base) for code, row in rows.items()}

    async def warehouses(self) -> tuple[Warehouse, ...]:
        """See ``Reading``."""
        return tuple(place.warehouse for place in (await self._desk.base()).places)

    async def get_stock(
        self, skus: Sequence[str], *, warehouse: str | None = None
    ) -> dict[str, tuple[StockLevel, ...]]:
        """See ``Reading``."""
        return await stock.levels(self._desk, skus, warehouse)

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
        return await prices.quote(self._desk, lines, customer_id, price_list, on, discount)

    async def price_lists(self) -> tuple[PriceList, ...]:
        """See ``Reading``."""
        return tuple((await self._desk.base()).lists.values())

    async def find_customers(self, text: str, *, limit: int = 5, offset: int = 0) -> Found[Customer]:
        """See ``Reading``."""
        return await parties.find(self._desk, "customer", text, limit, offset)

    async def find_suppliers(self, text: str, *, limit: int = 5) -> Found[Customer]:
        """See ``Reading``."""
        return await parties.find(self._desk, "supplier", text, limit, 0)

    async def list_orders(self, which: OrderFilter, *, limit: int = 20, offset: int = 0) -> OrderPage:
        """See ``Reading``."""
        return await orders.page(self._desk, which, limit, offset)

    async def get_order(self, number: str, kind: Kind | None = None) -> Order:
        """See ``Reading``."""
        return await orders.get(self._desk, number, kind)
