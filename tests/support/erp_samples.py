"""One well-formed request for every capability: what a backend that lacks it must refuse, whatever it names."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable
from datetime import date
from decimal import Decimal

from erpilot.shop.backend import (
    Adjustment,
    Capability,
    CustomerDraft,
    DraftChange,
    ErpBackend,
    LineWanted,
    OrderDraft,
    OrderFilter,
    QuotationDraft,
    TransferLine,
    Write,
)
from erpilot.shop.values import Money, Period, Quantity
from erpilot.shop.verbs.buying import PurchaseDraft, PurchaseFilter
from erpilot.shop.verbs.control import HistoryFilter, PriceRule
from erpilot.shop.verbs.money import PaymentDraft, RefundDraft
from erpilot.shop.verbs.reporting import SalesQuery

ONE = Quantity(Decimal(1), "个")
LINES = (LineWanted("NONE-1", ONE),)
DAY = date(2026, 11, 2)
MONTH = Period(date(2026, 11, 1), date(2026, 11, 30), "Asia/Shanghai")
TEN = Money(Decimal(10), "CNY")


def _write() -> Write:
    return Write(f"sample-{uuid.uuid4().hex}", "tester")


SAMPLES: dict[Capability, Callable[[ErpBackend], Awaitable[object]]] = {
    "find_products": lambda b: b.find_products("x"),
    "get_products": lambda b: b.get_products(["NONE-1"]),
    "get_stock": lambda b: b.get_stock(["NONE-1"]),
    "get_prices": lambda b: b.get_prices(LINES),
    "price_lists": lambda b: b.price_lists(),
    "warehouses": lambda b: b.warehouses(),
    "find_customers": lambda b: b.find_customers("x"),
    "find_suppliers": lambda b: b.find_suppliers("x"),
    "get_account": lambda b: b.get_account("C-NONE"),
    "list_orders": lambda b: b.list_orders(OrderFilter()),
    "get_order": lambda b: b.get_order("SO-2026-9999"),
    "list_purchases": lambda b: b.list_purchases(PurchaseFilter()),
    "supplier_offers": lambda b: b.supplier_offers(skus=["NONE-1"]),
    "list_receivables": lambda b: b.list_receivables(),
    "list_payables": lambda b: b.list_payables(),
    "statement": lambda b: b.statement("C-NONE", MONTH),
    "sales": lambda b: b.sales(SalesQuery(MONTH)),
    "margin": lambda b: b.sales(SalesQuery(MONTH, "margin")),
    "quiet_customers": lambda b: b.quiet_customers(),
    "stock_report": lambda b: b.stock_report("low"),
    "suggest_purchases": lambda b: b.suggest_purchases(),
    "plan_prices": lambda b: b.plan_prices(PriceRule(DAY, skus=("NONE-1",), percent=Decimal(5))),
    "history": lambda b: b.history(HistoryFilter()),
    "create_quotation": lambda b: b.create_quotation(QuotationDraft("C-NONE", LINES, Decimal(0), 7), write=_write()),
    "update_draft": lambda b: b.update_draft("Q-999999", DraftChange(note="x"), write=_write()),
    "confirm_quotation": lambda b: b.confirm_quotation("Q-999999", write=_write()),
    "create_order": lambda b: b.create_order(OrderDraft("C-NONE", LINES), write=_write()),
    "cancel_order": lambda b: b.cancel_order("SO-2026-9999", reason="x", write=_write()),
    "deliver_order": lambda b: b.deliver_order("SO-2026-9999", (), write=_write()),
    "return_order": lambda b: b.return_order("SO-2026-9999", (), reason="x", write=_write()),
    "create_customer": lambda b: b.create_customer(CustomerDraft("x", "retail"), write=_write()),
    "adjust_stock": lambda b: b.adjust_stock(
        [Adjustment("NONE-1", "MAIN", "set", ONE, ONE)], reason="x", write=_write()
    ),
    "transfer_stock": lambda b: b.transfer_stock(
        [TransferLine("NONE-1", ONE)], source="MAIN", target="EAST", write=_write()
    ),
    "create_purchase": lambda b: b.create_purchase(PurchaseDraft("S-NONE", ()), write=_write()),
    "record_payment": lambda b: b.record_payment(PaymentDraft("C-NONE", TEN, "现金"), write=_write()),
    "refund": lambda b: b.refund(RefundDraft("CN-1", TEN, "x"), write=_write()),
    "set_prices": lambda b: b.set_prices([], write=_write()),
    "import_products": lambda b: b.import_products([], write=_write()),
    "import_customers": lambda b: b.import_customers([], write=_write()),
    "import_suppliers": lambda b: b.import_suppliers([], write=_write()),
    "import_orders": lambda b: b.import_orders([], write=_write()),
    "undo": lambda b: b.undo("none", reason="x", write=_write()),
}
