"""The tools of the shop: what the model may ask of an ERP, as names, schemas and tiers.

Invariant: a tool resolves, asks the backend, and answers facts; every READ changes nothing, and each WRITE is shown
before it runs and has one effect per call, however often it is tried.
"""

from __future__ import annotations

from agent_core.tools.tool import Tool

from ..shop.backend import ErpBackend
from .shop_buying import buying_tools
from .shop_goods import goods_tools
from .shop_history import history_tools
from .shop_money import money_tools
from .shop_orders import order_tools
from .shop_parties import party_tools
from .shop_quoting import quoting_tools


def shop_tools(backend: ErpBackend) -> list[Tool]:
    """All tools over one backend, in a fixed order."""
    return [
        *goods_tools(backend),
        *party_tools(backend),
        *order_tools(backend),
        *buying_tools(backend),
        *money_tools(backend),
        *history_tools(backend),
        *quoting_tools(backend),
    ]
