"""The embedded shop's writes, by desk, and the reads that belong to them.

Invariant: each verb asks for its right first, then does its work and enters it in one transaction.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import replace

from ..catalogue import Product
from ..values import Period
from ..verbs.buying import Buying, PurchaseDraft, PurchaseFilter, PurchasePage, SupplierOffer
from ..verbs.control import (
    Control,
    HistoryFilter,
    HistoryPage,
    ImportedCustomer,
    ImportedOrder,
    ImportMode,
    PriceChange,
    PricePlan,
    PriceRule,
)
from ..verbs.money import Balances, MoneyDesk, PaymentDraft, RefundDraft, Statement
from ..verbs.outcome import Write, Written
from ..verbs.selling import (
    CustomerDraft,
    DraftChange,
    LinePart,
    OrderDraft,
    Parcel,
    QuotationDraft,
    ReturnedPart,
    Selling,
)
from ..verbs.stock import Adjustment, TransferLine, Warehousing
from . import (
    accounts,
    base_data,
    history,
    ordering,
    past_orders,
    paying,
    price_changes,
    purchasing,
    quoting,
    shipping,
    stocking,
)
from .base import EmbeddedDesk
from .effects import without_costs


class EmbeddedSelling(EmbeddedDesk, Selling):
    """See ``Selling``."""

    async def create_quotation(self, draft: QuotationDraft, *, write: Write) -> Written:
        """See ``Selling``."""
        me = self._acting("sell")
        return await self._write("create_quotation", write, (draft,), me, lambda c: quoting.create(c, me, draft, write))

    async def update_draft(self, number: str, change: DraftChange, *, write: Write) -> Written:
        """See ``Selling``."""
        me = self._acting("sell")
        return await self._write(
            "update_draft", write, (number, change), me, lambda c: quoting.update(c, me, number, change, write)
        )

    async def confirm_quotation(
        self, number: str, *, promised: dt.date | None = None, warehouse: str | None = None, write: Write
    ) -> Written:
        """See ``Selling``."""
        me = self._acting("sell")
        return await self._write(
            "confirm_quotation",
            write,
            (number, promised, warehouse),
            me,
            lambda c: ordering.confirm(c, me, number, promised, warehouse, write),
        )

    async def create_order(self, draft: OrderDraft, *, write: Write) -> Written:
        """See ``Selling``."""
        me = self._acting("sell")
        return await self._write("create_order", write, (draft,), me, lambda c: ordering.create(c, me, draft, write))

    async def cancel_order(self, number: str, *, reason: str, rest_only: bool = False, write: Write) -> Written:
        """See ``Selling``; a purchase needs ``buy``."""
        me = self._acting("sell", "buy")
        return await self._write(
            "cancel_order",
            write,
            (number, reason, rest_only),
            me,
            lambda c: ordering.cancel(c, me, number, reason, rest_only, write),
        )

    async def deliver_order(
        self, number: str, parts: tuple[LinePart, ...], *, parcel: Parcel = Parcel(), write: Write
    ) -> Written:
        """See ``Selling``."""
        me = self._acting("stock")
        return await self._write(
            "deliver_order",
            write,
            (number, parts, parcel),
            me,
            lambda c: shipping.deliver(c, me, number, parts, parcel, write),
        )

    async def return_order(self, number: str, parts: tuple[ReturnedPart, ...], *, reason: str, write: Write) -> Written:
        """See ``Selling``."""
        me = self._acting("stock")
        return await self._write(
            "return_order",
            write,
            (number, parts, reason),
            me,
            lambda c: shipping.take_back(c, me, number, parts, reason, write),
        )

    async def create_customer(self, draft: CustomerDraft, *, write: Write) -> Written:
        """See ``Selling``."""
        me = self._acting("sell", "catalogue")
        return await self._write(
            "create_customer", write, (draft,), me, lambda c: base_data.create_customer(c, me, draft, write)
        )


class EmbeddedWarehouse(EmbeddedDesk, Warehousing):
    """See ``Warehousing``."""

    async def adjust_stock(self, adjustments: Sequence[Adjustment], *, reason: str, write: Write) -> Written:
        """See ``Warehousing``."""
        me = self._acting("stock")
        return await self._write(
            "adjust_stock",
            write,
            (adjustments, reason),
            me,
            lambda c: stocking.adjust(c, me, adjustments, reason, write),
        )

    async def transfer_stock(
        self, lines: Sequence[TransferLine], *, source: str, target: str, note: str | None = None, write: Write
    ) -> Written:
        """See ``Warehousing``."""
        me = self._acting("stock")
        return await self._write(
            "transfer_stock",
            write,
            (lines, source, target, note),
            me,
            lambda c: stocking.transfer(c, me, lines, source, target, note, write),
        )


class EmbeddedBuying(EmbeddedDesk, Buying):
    """See ``Buying``."""

    async def list_purchases(self, which: PurchaseFilter, *, limit: int = 20, offset: int = 0) -> PurchasePage:
        """See ``Buying``."""
        self._window(limit, offset)
        me = self._acting()
        return await self._database.read(lambda c: purchasing.page(c, me, which, limit, offset))

    async def supplier_offers(
        self, *, skus: Sequence[str] = (), supplier_id: str | None = None
    ) -> tuple[SupplierOffer, ...]:
        """See ``Buying``."""
        self._acting("see_cost", "buy")
        return await self._database.read(lambda c: purchasing.offers(c, skus, supplier_id))

    async def create_purchase(self, draft: PurchaseDraft, *, write: Write) -> Written:
        """See ``Buying``."""
        me = self._acting("buy")
        return await self._write(
            "create_purchase", write, (draft,), me, lambda c: purchasing.create(c, me, draft, write)
        )


class EmbeddedMoney(EmbeddedDesk, MoneyDesk):
    """See ``MoneyDesk``."""

    async def list_receivables(
        self,
        *,
        party_id: str | None = None,
        as_of: dt.date | None = None,
        overdue_only: bool = False,
        limit: int = 20,
        offset: int = 0,
    ) -> Balances:
        """See ``MoneyDesk``."""
        self._window(limit, offset)
        acting = self._acting("see_money")
        day = as_of or acting.today
        return await self._database.read(
            lambda c: accounts.balances(
                c, "customer", day,
                party_id=party_id, due_by=None, overdue_only=overdue_only, limit=limit, offset=offset,
            )
        )  # fmt: skip

    async def list_payables(
        self,
        *,
        party_id: str | None = None,
        as_of: dt.date | None = None,
        due_by: dt.date | None = None,
        overdue_only: bool = False,
        limit: int = 20,
        offset: int = 0,
    ) -> Balances:
        """See ``MoneyDesk``."""
        self._window(limit, offset)
        acting = self._acting("see_money")
        day = as_of or acting.today
        return await self._database.read(
            lambda c: accounts.balances(
                c, "supplier", day,
                party_id=party_id, due_by=due_by, overdue_only=overdue_only, limit=limit, offset=offset,
            )
        )  # fmt: skip

    async def statement(self, customer_id: str, period: Period) -> Statement:
        """See ``MoneyDesk``."""
        self._acting("see_money")
        return await self._database.read(lambda c: accounts.statement(c, customer_id, period))

    async def record_payment(self, payment: PaymentDraft, *, write: Write) -> Written:
        """See ``MoneyDesk``."""
        me = self._acting("money")
        return await self._write(
            "record_payment", write, (payment,), me, lambda c: paying.record(c, me, payment, write)
        )

    async def refund(self, refund: RefundDraft, *, write: Write) -> Written:
        """See ``MoneyDesk``."""
        me = self._acting("money")
        return await self._write("refund", write, (refund,), me, lambda c: paying.refund(c, me, refund, write))


class EmbeddedControl(EmbeddedDesk, Control):
    """See ``Control``."""

    async def plan_prices(self, rule: PriceRule) -> PricePlan:
        """See ``Control``."""
        me = self._acting("prices")
        return await self._database.read(lambda c: price_changes.plan(c, me, rule))

    async def set_prices(self, changes: Sequence[PriceChange], *, reason: str | None = None, write: Write) -> Written:
        """See ``Control``."""
        me = self._acting("prices")
        return await self._write(
            "set_prices", write, (changes, reason), me, lambda c: price_changes.set_all(c, me, changes, reason, write)
        )

    async def import_products(
        self, products: Sequence[Product], *, mode: ImportMode = "add_or_change", write: Write
    ) -> Written:
        """See ``Control``."""
        me = self._acting("catalogue")
        return await self._write(
            "import_products",
            write,
            (products, mode),
            me,
            lambda c: base_data.import_products(c, me, products, mode, write),
        )

    async def import_customers(
        self, customers: Sequence[ImportedCustomer], *, mode: ImportMode = "add_or_change", write: Write
    ) -> Written:
        """See ``Control``."""
        me = self._acting("catalogue")
        return await self._write(
            "import_customers",
            write,
            (customers, mode),
            me,
            lambda c: base_data.import_customers(c, me, customers, mode),
        )

    async def import_suppliers(
        self, suppliers: Sequence[ImportedCustomer], *, mode: ImportMode = "add_or_change", write: Write
    ) -> Written:
        """See ``Control``."""
        me = self._acting("catalogue")
        return await self._write(
            "import_suppliers",
            write,
            (suppliers, mode),
            me,
            lambda c: base_data.import_customers(c, me, suppliers, mode, "supplier"),
        )

    async def import_orders(self, orders: Sequence[ImportedOrder], *, write: Write) -> Written:
        """See ``Control``."""
        me = self._acting("catalogue")
        return await self._write(
            "import_orders", write, (orders,), me, lambda c: past_orders.import_orders(c, me, orders, write)
        )

    async def history(self, which: HistoryFilter, *, limit: int = 20, offset: int = 0) -> HistoryPage:
        """See ``Control``."""
        self._window(limit, offset)
        self._acting("see_history")
        page = await self._database.read(lambda c: history.page(c, which, limit, offset))
        if "see_cost" in self._rights:
            return page
        return replace(page, entries=tuple(replace(each, changes=without_costs(each.changes)) for each in page.entries))
