"""Tools that price a whole list, and save it as a quotation.

Invariant: the one that saves is shown before it runs and makes one document per call, however often it is tried.
"""

from __future__ import annotations

from typing import Any

from agent_core.events import Preview
from agent_core.tools.tool import Reconciled, Tier, Tool, ToolContext, tool

from ..shop.backend import ErpBackend
from . import shop_quotation as quotation
from . import shop_results as r
from .shop_arguments import Lines, Note, Percent, Query, Text
from .shop_kit import BACKEND, MAX_OUTPUT, keys, reading
from .shop_quotation import QuotationAsked
from .shop_resolve import answering


def quoting_tools(backend: ErpBackend) -> list[Tool]:
    @reading("products", "stock", "prices", "customers")
    async def preview_quote(
        lines: Lines, customer: Text = None, discount_percent: Percent = "0", valid_days: int = 7
    ) -> r.QuotePreview:
        """Price a whole list with stock: shortages, minimums, totals. Saves nothing."""
        with answering():
            return await quotation.preview(backend, QuotationAsked(customer, lines, discount_percent, valid_days))

    async def shown_before(ctx: ToolContext, **arguments: Any) -> Preview:
        del ctx
        with answering():
            return await quotation.shown_before(backend, QuotationAsked(**arguments))

    async def versions(ctx: ToolContext, **arguments: Any) -> dict[str, str]:
        del ctx
        with answering():
            return await quotation.versions(backend, QuotationAsked(**arguments))

    async def reconcile(ctx: ToolContext, **arguments: Any) -> Reconciled:
        del arguments
        with answering():
            return await quotation.reconciled(backend, ctx.idempotency_key)

    @tool(
        tier=Tier.WRITE,
        idempotent=True,
        max_output=MAX_OUTPUT,
        preview=shown_before,
        target=_customer_named,
        varies=("lines", "discount_percent", "valid_days", "note"),
        versions=versions,
        reconcile=reconcile,
        backend=BACKEND,
        writes=keys("documents"),
    )
    async def create_quotation(
        customer: Query,
        lines: Lines,
        ctx: ToolContext,
        discount_percent: Percent = "0",
        valid_days: int = 7,
        note: Note = None,
    ) -> quotation.QuotationCreated:
        """Save a quotation at current prices. `customer`: id or exact name; `sku`: exact. A person confirms first."""
        with answering():
            asked = QuotationAsked(customer, lines, discount_percent, valid_days, note)
            return await quotation.make(backend, asked, key=ctx.idempotency_key, by=ctx.user)

    return [preview_quote, create_quotation]


def _customer_named(customer: str, **others: object) -> str:
    del others
    return customer.strip()
