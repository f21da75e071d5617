"""Tools that price a whole list, and save it as a quotation.

Invariant: the one that saves is shown before it runs and makes one document per call, however often it is tried.
"""

from __future__ import annotations

from agent_core.tools.tool import Tool

from ..shop.backend import ErpBackend
from . import shop_quotation as quotation
from . import shop_results as r
from .shop_arguments import Lines, Note, Percent, Query, Text
from .shop_kit import reading
from .shop_quotation import QuotationAsked
from .shop_resolve import answering
from .shop_writing import Plan, writing


def quoting_tools(backend: ErpBackend) -> list[Tool]:
    """Tools over one backend."""

    @reading("products", "stock", "prices", "customers")
    async def preview_quote(
        lines: Lines, customer: Text = None, discount_percent: Percent = "0", valid_days: int = 7
    ) -> r.QuotePreview:
        """Price a whole list with stock: shortages, minimums, totals. Saves nothing."""
        with answering():
            return await quotation.preview(backend, QuotationAsked(customer, lines, discount_percent, valid_days))

    @writing(
        backend,
        "documents",
        target=lambda customer, **_: customer.strip().upper(),
        varies=("lines", "discount_percent", "valid_days", "note"),
        answer=quotation.created,
    )
    async def create_quotation(
        customer: Query, lines: Lines, discount_percent: Percent = "0", valid_days: int = 7, note: Note = None
    ) -> Plan:
        """Save a quotation at current prices. `customer`: id, as find_customers tells it; `sku`: exact. A person
        confirms first."""
        asked = QuotationAsked(customer, lines, discount_percent, valid_days, note)
        return await quotation.plan(backend, asked)

    return [preview_quote, create_quotation]
