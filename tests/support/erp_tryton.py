"""A Tryton server as a world of the conformance suite: one server for all cases, new records for each.

What a case needs to be there first is made by the server's administrator, past the product; the cases themselves see
people of the shop only.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from erpilot.shop.backend import ErpBackend
from erpilot.shop.catalogue import Product
from erpilot.shop.documents import Customer
from erpilot.shop.errors import NeedsConfirmation
from erpilot.shop.rights import Role
from erpilot.shop.tryton.rpc import Rpc
from erpilot.shop.tryton.shop import TrytonShop
from erpilot.shop.values import zone_of
from tests.support.erp_world import Goods, World, fresh
from tests.support.tryton.people import password
from tests.support.tryton.server import TrytonServer


@dataclass
class Sessions:
    """What is known of people once they have logged in: their sessions, base data and rights. Every case has an event
    loop of its own, and connections with it, but a login costs the server a password hash.
    """

    _known: dict[str, tuple[Any, ...]] = field(default_factory=dict)

    def give(self, shop: TrytonShop) -> None:
        """Lets a new shop go on with what is known of its user."""
        rpc, desk = shop.rpc, shop._desk
        if rpc.user in self._known:
            rpc._headers, rpc.context, rpc.user_id, rpc._suffix, desk._base, desk._fields = self._known[rpc.user]
            if desk._base is not None:
                desk.zone = zone_of(desk._base[1].company.zone)

    def keep(self, shop: TrytonShop) -> None:
        """Remembers, and lets the shop be closed without a logout."""
        rpc, desk = shop.rpc, shop._desk
        if rpc._headers:
            known = (rpc._headers, rpc.context, rpc.user_id, rpc._suffix, desk._base, desk._fields)
            self._known[rpc.user] = known
            rpc._headers = {}


class TrytonWorld:
    """A world over one server."""

    main, second = "MAIN", "EAST"
    price_list, currency = "批发价", "CNY"

    def __init__(self, server: TrytonServer, sessions: Sessions, facts: dict[str, int]) -> None:
        self._server, self._sessions, self._facts = server, sessions, facts
        self._shops: list[TrytonShop] = []
        self._admin = self._as("admin").rpc
        self._owner = self.person("owner")

    @property
    def backend(self) -> ErpBackend:
        """As the owner."""
        return self._owner

    def person(self, *roles: Role) -> TrytonShop:
        """As somebody with these roles: users of the server, one for each role."""
        (user,) = roles or ("nobody",)
        return self._as(user)

    def _as(self, user: str) -> TrytonShop:
        shop = TrytonShop(Rpc(self._server.url, self._server.database, user, password(user)))
        self._sessions.give(shop)
        self._shops.append(shop)
        return shop

    async def close(self) -> None:
        """Closes all connections."""
        for shop in self._shops:
            self._sessions.keep(shop)
            await shop.aclose()

    async def product(self, goods: Goods = Goods()) -> Product:
        """A new product."""
        sku = fresh("P")
        units = await self._units(goods.case)
        template = {
            "name": f"{goods.name} {sku}",
            "code": sku,
            "type": "goods",
            "default_uom": units,
            "salable": True,
            "sale_uom": units,
            "purchasable": True,
            "purchase_uom": units,
            "list_price": goods.price,
            "account_category": await self._one(f"taxed {goods.tax_rate}", "product.category", self._taxed(goods)),
            "products": [("create", [{"cost_price": goods.cost or Decimal(0)}])],
        }
        (made,) = await self._admin.act("model.product.template.create", [template])
        (row,) = await self._admin.search_read("product.product", [["template", "=", made]], ["id"])
        await self._priced(row["id"], goods)
        await self._stocked(row["id"], goods)
        return (await self._owner.get_products([sku]))[sku]

    async def _stocked(self, product: int, goods: Goods) -> None:
        """What is there at the start."""
        counts = []
        for place, value in goods.stock.items():
            code = {"main": self.main, "second": self.second}[place]
            if value:
                location = await self._one(f"storage {code}", "stock.location", await self._storage(code))
                lines = [("create", [{"product": product, "quantity": float(value)}])]
                counts.append({"company": 1, "location": location, "empty_quantity": "keep", "lines": lines})
        if counts:
            made = await self._admin.act("model.stock.inventory.create", counts)
            await self._admin.act("model.stock.inventory.confirm", made)

    async def _storage(self, code: str) -> list[Any]:
        (row,) = await self._admin.search_read("stock.location", [["code", "=", code]], ["storage_location"])
        return [["id", "=", row["storage_location"]]]

    def _taxed(self, goods: Goods) -> list[Any]:
        return [["accounting", "=", True], ["customer_taxes.rate", "=", goods.tax_rate]]

    async def _units(self, case: Decimal) -> int:
        """个 with cases of so many; its id."""
        name = f"个 箱={case:f} (tests)"
        if name not in self._facts:
            found = await self._admin.search_read("product.uom.category", [["name", "=", name]], ["id"])
            if not found:
                (category,) = await self._admin.act("model.product.uom.category.create", [{"name": name}])
                common = {"category": category, "rounding": 1.0, "digits": 0}
                factor = float(case)
                units = [
                    {**common, "name": "个", "symbol": "个", "factor": 1.0, "rate": 1.0},
                    {**common, "name": "箱", "symbol": "箱", "factor": factor, "rate": round(1 / factor, 12)},
                ]
                await self._admin.act("model.product.uom.create", units)
            domain = [["category.name", "=", name], ["name", "=", "个"]]
            (row,) = await self._admin.search_read("product.uom", domain, ["id"])
            self._facts[name] = row["id"]
        return self._facts[name]

    async def _priced(self, product: int, goods: Goods) -> None:
        """The steps of the price list of the customers."""
        lists = await self._one("list", "product.price_list", [["name", "=", self.price_list]])
        steps = {Decimal(0): goods.price, **goods.tiers}
        lines = [
            {"product": product, "quantity": float(start), "formula": f"Decimal('{price}')", "sequence": -at}
            for at, (start, price) in enumerate(sorted(steps.items()), 1)
        ]
        await self._admin.act("model.product.price_list.write", [lists], {"lines": [("create", lines)]})

    async def _one(self, name: str, model: str, domain: list[Any]) -> int:
        """The id of a record that everybody uses."""
        if name not in self._facts:
            rows = await self._admin.search_read(model, domain, ["id"], limit=1)
            self._facts[name] = rows[0]["id"]
        return self._facts[name]

    async def customer(self, *, name: str | None = None, terms: int = 30, limit: Decimal | None = None) -> Customer:
        """A new customer."""
        number = fresh("K")
        record: dict[str, Any] = {
            "name": name or f"客户 {number}",
            "code": number,
            "addresses": [("create", [{"city": "上海市", "attn": "联系人"}])],
            "sale_price_list": await self._one("list", "product.price_list", [["name", "=", self.price_list]]),
            "customer_payment_term": await self._term(terms),
        }
        if limit is not None:
            record["credit_limit_amount"] = limit
        await self._admin.act("model.party.party.create", [record])
        return (await self._owner.find_customers(number)).hits[0].record

    async def _term(self, days: int) -> int:
        domain = [["lines.relativedeltas.days", "=", days]]
        return await self._one(f"{days} days", "account.invoice.payment_term", domain)

    async def supplier(self) -> Customer:
        """A new supplier, who offers something."""
        number = fresh("S")
        (party,) = await self._admin.act(
            "model.party.party.create",
            [{"name": f"供应商 {number}", "code": number, "addresses": [("create", [{"city": "宁波市"}])]}],
        )
        template = await self._one("any template", "product.template", [["purchasable", "=", True]])
        offer = {"party": party, "template": template, "company": 1, "currency": await self._cny()}
        await self._admin.act("model.purchase.product_supplier.create", [offer])
        return (await self._owner.find_suppliers(number)).hits[0].record

    async def _cny(self) -> int:
        return await self._one("CNY", "currency.currency", [["code", "=", "CNY"]])

    async def arrival(self, product: Product, quantity: Decimal, *, days: int, confirmed: bool = True) -> str:
        """A purchase that the supplier has promised, or has been asked for."""
        supplier = await self.supplier()
        (party,) = await self._admin.search_read("party.party", [["code", "=", supplier.id]], ["addresses"])
        (row,) = await self._admin.search_read("product.product", [["code", "=", product.sku]], ["default_uom"])
        line = {
            "type": "line",
            "product": row["id"],
            "unit": row["default_uom"],
            "quantity": float(quantity),
            "unit_price": Decimal(5),
        }
        purchase = {
            "company": 1,
            "party": party["id"],
            "invoice_address": party["addresses"][0],
            "currency": await self._cny(),
            "warehouse": await self._one("main", "stock.location", [["code", "=", self.main]]),
            "purchase_date": self._today(),
            "delivery_date": self._today() + timedelta(days),
            "lines": [("create", [line])],
        }
        (made,) = await self._admin.act("model.purchase.purchase.create", [purchase])
        await self._press("quote", made)
        if confirmed:
            await self._press("confirm", made)
        (told,) = await self._admin.read("purchase.purchase", [made], ["number"])
        return str(told["number"])

    async def _press(self, button: str, purchase: int) -> None:
        for _ in range(10):
            try:
                await self._admin.act(f"model.purchase.purchase.{button}", [purchase])
            except NeedsConfirmation as warning:
                await self._admin.act("model.res.user.warning.skip", warning.token, False)
            else:
                return

    def _today(self) -> date:
        return self._owner.now().date()


def opened(server: TrytonServer) -> Callable[[], AbstractAsyncContextManager[World]]:
    """Worlds over that server."""
    sessions, facts = Sessions(), dict[str, int]()

    @asynccontextmanager
    async def open_world() -> AsyncIterator[World]:
        world = TrytonWorld(server, sessions, facts)
        try:
            await world.backend.whoami()  # so that its clock is the company's
            yield world
        finally:
            await world.close()

    return open_world
