"""The tools of the shop: what the model may ask of an ERP, as names, schemas and tiers.

Invariant: a tool resolves, asks the backend, and answers facts; every READ changes nothing, and each WRITE is shown
before it runs and has one effect per call, however often it is tried.
"""

from __future__ import annotations

from agent_core.tools.tool import Tool

from ..shop.backend import ErpBackend
from .shop_approvals import approval_tools
from .shop_buying import buying_tools
from .shop_customers import customer_tools
from .shop_delivery import delivery_tools
from .shop_drafts import draft_tools
from .shop_goods import goods_tools
from .shop_history import history_tools
from .shop_money import money_tools
from .shop_orders import order_tools
from .shop_parties import party_tools
from .shop_payments import payment_tools
from .shop_prices import price_tools
from .shop_purchasing import purchasing_tools
from .shop_quoting import quoting_tools
from .shop_reports import report_tools
from .shop_selling import selling_tools
from .shop_stock import stock_tools
from .shop_undo import undo_tools


def shop_tools(backend: ErpBackend) -> list[Tool]:
    """All tools over one backend, in a fixed order."""
    return [
        *goods_tools(backend),
        *party_tools(backend),
        *order_tools(backend),
        *buying_tools(backend),
        *money_tools(backend),
        *history_tools(backend),
        *approval_tools(backend),
        *report_tools(backend),
        *quoting_tools(backend),
        *selling_tools(backend),
        *draft_tools(backend),
        *delivery_tools(backend),
        *stock_tools(backend),
        *payment_tools(backend),
        *purchasing_tools(backend),
        *customer_tools(backend),
        *price_tools(backend),
        *undo_tools(backend),
    ]
