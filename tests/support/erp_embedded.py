"""The embedded shop as a world of the conformance suite: one file for all cases, new records for each."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import timedelta
from decimal import Decimal

from erpilot.shop.backend import Adjustment, ErpBackend
from erpilot.shop.catalogue import Product, Unit
from erpilot.shop.documents import Customer
from erpilot.shop.embedded.shop import EmbeddedShop
from erpilot.shop.rights import Role
from erpilot.shop.values import Money, Quantity
from erpilot.shop.verbs.buying import PurchaseDraft, PurchaseDraftLine
from erpilot.shop.verbs.control import ImportedCustomer, PriceChange
from erpilot.shop.verbs.selling import CustomerDraft
from tests.support.erp_world import Goods, World, fresh, write

ONE = Decimal(1)


class EmbeddedWorld:
    """A world over one file."""

    main, second = "MAIN", "EAST"
    price_list, currency = "wholesale", "CNY"

    def __init__(self, shop: EmbeddedShop) -> None:
        self._shop = shop
        self._owner = shop.acting_as("tester", ["owner"])

    @property
    def backend(self) -> ErpBackend:
        """As the owner."""
        return self._owner

    def person(self, *roles: Role) -> ErpBackend:
        """As somebody with these roles."""
        return self._shop.acting_as("another", roles)

    async def product(self, goods: Goods = Goods()) -> Product:
        """A new product."""
        sku = fresh("P")
        units = (Unit("个", ONE), Unit("箱", goods.case))
        record = Product(sku, f"{goods.name} {sku}", "", "合规", units, goods.tax_rate, goods.price, cost=goods.cost)
        await self._owner.import_products([record], write=write())
        today = self._owner.now().date()
        tiers = {ONE: goods.price, **goods.tiers}
        changes = [PriceChange(sku, self.price_list, start, None, price, today) for start, price in tiers.items()]
        await self._owner.set_prices(changes, write=write())
        for place, value in goods.stock.items():
            warehouse = {"main": self.main, "second": self.second}[place]
            counted = Adjustment(sku, warehouse, "set", Quantity(value, "个"), Quantity(Decimal(0), "个"))
            if value:
                await self._owner.adjust_stock([counted], reason="opening", write=write())
        return (await self._owner.get_products([sku]))[sku]

    async def customer(self, *, name: str | None = None, terms: int = 30, limit: Decimal | None = None) -> Customer:
        """A new customer."""
        number = fresh("K")
        money = None if limit is None else Money(limit, self.currency)
        draft = CustomerDraft(name or f"客户 {number}", self.price_list, (), terms, money, contact="联系人")
        await self._owner.import_customers([ImportedCustomer(number, draft)], write=write())
        return (await self._owner.find_customers(number)).hits[0].record

    async def supplier(self) -> Customer:
        """A new supplier, which no verb makes."""
        number = fresh("S")
        self._run(
            "INSERT INTO party VALUES (?, 'supplier', ?, '[]', 'wholesale', 'CNY', 30, NULL, NULL, NULL, 1)",
            (number, f"供应商 {number}"),
        )
        return (await self._owner.find_suppliers(number)).hits[0].record

    async def arrival(self, product: Product, quantity: Decimal, *, days: int, confirmed: bool = True) -> str:
        """A purchase that the supplier has promised, or has been asked for."""
        supplier = await self.supplier()
        line = PurchaseDraftLine(product.sku, Quantity(quantity, "个"), Decimal(5))
        expected = self._owner.now().date() + timedelta(days)
        made = await self._owner.create_purchase(PurchaseDraft(supplier.id, (line,), expected), write=write())
        state = "confirmed" if confirmed else "quoted"
        self._run("UPDATE document SET state = ? WHERE number = ?", (state, made.number))
        return made.number

    def _run(self, statement: str, values: tuple[str, ...]) -> None:
        """What stands for somebody else at the same file."""
        with sqlite3.connect(self._shop._database.path) as connection:
            connection.execute(statement, values)
        connection.close()


def opened(shop: EmbeddedShop) -> Callable[[], AbstractAsyncContextManager[World]]:
    """Worlds over that shop."""

    @asynccontextmanager
    async def open_world() -> AsyncIterator[World]:
        yield EmbeddedWorld(shop)

    return open_world
