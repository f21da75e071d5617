"""Tools that read documents: quotations, orders, purchases, returns.

Invariant: counts and totals cover all that match; what is still owed, and why it cannot go, comes from the lines.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from agent_core.tools.tool import Tool

from ..shop.backend import ErpBackend, OrderFilter
from ..shop.errors import Invalid, NotFound
from . import shop_documents as documents
from .shop_arguments import Day, Kind, Limit, Offset, States, Text, Written
from .shop_kit import next_offset, reading
from .shop_resolve import answering, known_products, party_meant, stamp


def order_tools(backend: ErpBackend) -> list[Tool]:
    @reading("documents", "customers", "products")
    async def find_orders(
        kind: Kind = None,
        customer: Text = None,
        state: States = None,
        date_from: Day = None,
        date_to: Day = None,
        sku: Text = None,
        promised_before: Annotated[Day, Field(description="still open and promised up to this day")] = None,
        text: Annotated[Text, Field(description="in numbers and notes")] = None,
        limit: Limit = 10,
        offset: Offset = 0,
    ) -> documents.OrderPage:
        """List documents, newest first. `total_count` and `total` cover all that match. `customer`: or a supplier."""
        with answering():
            if date_from and date_to and date_to < date_from:
                raise Invalid(f"The range from {date_from} to {date_to} ends before it starts.")
            party = await party_meant(backend, customer, kind)
            if sku:
                product = (await known_products(backend, [sku], exact=False))[sku]
                if isinstance(product, NotFound):
                    raise product
                sku = product.sku
            which = OrderFilter(kind, party, tuple(state or ()), date_from, date_to, sku or None, promised_before, text)
            page = await backend.list_orders(which, limit=limit, offset=offset)
            following = next_offset(offset, len(page.orders), page.total_count)
            return documents.order_page(page, following, stamp(backend.now()))

    @reading("documents")
    async def get_order(
        number: Annotated[Written, Field(description="123 or SO-2026-0123")],
        kind: Kind = None,
    ) -> documents.OrderDetail:
        """One document whole: lines (ordered, delivered, returned, cancelled, open), totals, deliveries with tracking,
        payments. A bare number means the newest sale."""
        with answering():
            order = await backend.get_order(number, kind)
            return documents.order_detail(order, stamp(backend.now()))

    return [find_orders, get_order]
