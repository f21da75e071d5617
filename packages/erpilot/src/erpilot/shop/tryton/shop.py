"""A Tryton server as an ``ErpBackend``: one person's view of one database.

Invariant: constructing it reaches nothing; every verb asks for the right it takes before it reads; what is not
overridden here is not offered.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal

from ..backend import Capability, ErpBackend, Whoami, offered
from ..catalogue import Product, StockLevel, Warehouse
from ..documents import Customer, Kind, Order
from ..pricing import PriceList, Quote
from ..values import Company, Period
from ..verbs.buying import PurchaseFilter, PurchasePage, SupplierOffer
from ..verbs.money import Balances, Statement
from ..verbs.outcome import Write, Written
from ..verbs.reading import Account, Found, LineWanted, OrderFilter, OrderPage
from ..verbs.reporting import QuietCustomers, SalesQuery, SalesReport, StockKind, StockReport, Suggestions
from ..verbs.selling import LinePart, OrderDraft, Parcel, QuotationDraft
from ..verbs.stock import Adjustment
from . import (
    accounts,
    balances,
    cancelling,
    confirming,
    counting,
    delivering,
    orders,
    outcomes,
    parties,
    prices,
    products,
    purchases,
    sales_reports,
    selling,
    stock,
    stock_reports,
)
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
        return Whoami(
            self.rpc.user,
            base.company,
            self.kind,
            offered(type(self)) | frozenset[Capability]({"margin"}),
            await self._desk.rights(),
        )

    def now(self) -> datetime:
        """See ``ErpBackend``."""
        return self._desk.now()

    async def connect(self) -> None:
        """Logs in and reads what hardly ever changes; afterwards ``company`` is known."""
        await self._desk.base()

    @property
    def company(self) -> Company:
        """Whose shop it is; known once it is connected."""
        return self._desk.company

    async def aclose(self) -> None:
        """Ends the session; the shop cannot be used afterwards."""
        await self.rpc.close()

    async def find_products(
        self, text: str, *, category: str | None = None, in_stock: bool = False, limit: int = 5, offset: int = 0
    ) -> Found[Product]:
        """See ``Reading``."""
        return await products.find(self._desk, text, category=category, in_stock=in_stock, limit=limit, offset=offset)

    async def get_products(self, codes: Sequence[str]) -> dict[str, Product]:
        """See ``Reading``."""
        rows = await products.by_code(self._desk, codes)
        base = await self._desk.base()
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

    async def get_account(self, customer_id: str) -> Account:
        """See ``Reading``."""
        return await accounts.account(self._desk, customer_id)

    async def list_orders(self, which: OrderFilter, *, limit: int = 20, offset: int = 0) -> OrderPage:
        """See ``Reading``."""
        return await orders.page(self._desk, which, limit, offset)

    async def get_order(self, number: str, kind: Kind | None = None) -> Order:
        """See ``Reading``."""
        return await orders.get(self._desk, number, kind)

    async def list_purchases(self, which: PurchaseFilter, *, limit: int = 20, offset: int = 0) -> PurchasePage:
        """See ``Buying``."""
        return await purchases.page(self._desk, which, limit, offset)

    async def supplier_offers(
        self, *, skus: Sequence[str] = (), supplier_id: str | None = None
    ) -> tuple[SupplierOffer, ...]:
        """See ``Buying``."""
        return await purchases.offers(self._desk, skus, supplier_id)

    async def list_receivables(
        self,
        *,
        party_id: str | None = None,
        as_of: date | None = None,
        overdue_only: bool = False,
        limit: int = 20,
        offset: int = 0,
    ) -> Balances:
        """See ``MoneyDesk``."""
        return await balances.balances(
            self._desk,
            "out",
            party_id=party_id,
            as_of=as_of,
            overdue_only=overdue_only,
            due_by=None,
            limit=limit,
            offset=offset,
        )

    async def list_payables(
        self,
        *,
        party_id: str | None = None,
        as_of: date | None = None,
        due_by: date | None = None,
        overdue_only: bool = False,
        limit: int = 20,
        offset: int = 0,
    ) -> Balances:
        """See ``MoneyDesk``."""
        return await balances.balances(
            self._desk,
            "in",
            party_id=party_id,
            as_of=as_of,
            overdue_only=overdue_only,
            due_by=due_by,
            limit=limit,
            offset=offset,
        )

    async def statement(self, customer_id: str, period: Period) -> Statement:
        """See ``MoneyDesk``."""
        return await balances.statement(self._desk, customer_id, period)

    async def sales(self, query: SalesQuery) -> SalesReport:
        """See ``Reporting``. What something cost is its cost now, since Tryton keeps no other."""
        return await sales_reports.sales(self._desk, query)

    async def quiet_customers(
        self, *, quiet_days: int = 60, history_days: int = 365, least_orders: int = 3, limit: int = 20, offset: int = 0
    ) -> QuietCustomers:
        """See ``Reporting``."""
        return await sales_reports.quiet(
            self._desk,
            quiet_days=quiet_days,
            history_days=history_days,
            least_orders=least_orders,
            limit=limit,
            offset=offset,
        )

    async def stock_report(
        self,
        kind: StockKind,
        *,
        warehouse: str | None = None,
        days: int | None = None,
        limit: int = 50,
        offset: int = 0,
    ) -> StockReport:
        """See ``Reporting``."""
        return await stock_reports.report(self._desk, kind, warehouse, days, limit, offset)

    async def suggest_purchases(
        self,
        *,
        warehouse: str | None = None,
        supplier_id: str | None = None,
        skus: Sequence[str] = (),
        cover_days: int = 30,
        history_days: int = 30,
        limit: int = 50,
        offset: int = 0,
    ) -> Suggestions:
        """See ``Reporting``."""
        return await stock_reports.suggest(
            self._desk,
            warehouse=warehouse,
            supplier_id=supplier_id,
            skus=skus,
            cover_days=cover_days,
            history_days=history_days,
            limit=limit,
            offset=offset,
        )

    async def create_quotation(self, draft: QuotationDraft, *, write: Write) -> Written:
        """See ``Selling``."""
        return await selling.create_quotation(self._desk, draft, write)

    async def confirm_quotation(
        self, number: str, *, promised: date | None = None, warehouse: str | None = None, write: Write
    ) -> Written:
        """See ``Selling``. A quotation and its order are one document in Tryton, and keep their number."""
        return await confirming.confirm_quotation(self._desk, number, promised, warehouse, write)

    async def create_order(self, draft: OrderDraft, *, write: Write) -> Written:
        """See ``Selling``."""
        return await selling.create_order(self._desk, draft, write)

    async def cancel_order(self, number: str, *, reason: str, rest_only: bool = False, write: Write) -> Written:
        """See ``Selling``. Purchases are not cancelled from here."""
        return await cancelling.cancel_order(self._desk, number, reason, rest_only, write)

    async def deliver_order(
        self, number: str, parts: tuple[LinePart, ...], *, parcel: Parcel = Parcel(), write: Write
    ) -> Written:
        """See ``Selling``."""
        return await delivering.deliver_order(self._desk, number, parts, parcel, write)

    async def adjust_stock(self, adjustments: Sequence[Adjustment], *, reason: str, write: Write) -> Written:
        """See ``Warehousing``."""
        return await counting.adjust_stock(self._desk, adjustments, reason, write)

    async def find_by_key(self, key: str) -> Written | None:
        """See ``Outcomes``."""
        return await outcomes.find_by_key(self._desk, key)
