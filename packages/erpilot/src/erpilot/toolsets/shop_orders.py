"""Tools that read documents: quotations, orders, purchases, returns.

Invariant: counts and totals cover all that match; what is still owed, and why it cannot go, comes from the lines.
"""

from __future__ import annotations

import asyncio
from datetime import date
from typing import Annotated

from pydantic import Field

from agent_core.tools.tool import Tool

from ..shop import documents as shop
from ..shop.backend import ErpBackend, OrderFilter, OrderPage
from ..shop.errors import Invalid
from . import shop_documents as documents
from .shop_arguments import Day, Kind, Limit, Offset, States, Text, Written
from .shop_kit import next_offset, reading
from .shop_resolve import answering, one_product, party_meant, stamp

_OWED = ("open", "partly_delivered")


def order_tools(backend: ErpBackend) -> list[Tool]:
    """Reading tools over one backend."""

    @reading("documents", "customers", "products", "stock")
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
        """List documents, newest first. `total_count` and `total` cover all that match. `customer`: or a supplier.
        Open ones say `days_late`, and what they are `blocked_by`."""
        with answering():
            if date_from and date_to and date_to < date_from:
                raise Invalid(f"The range from {date_from} to {date_to} ends before it starts.")
            party = await party_meant(backend, customer, kind)
            owed = [each for each in state or () if each in _OWED]
            which = OrderFilter(
                kind="sale" if owed and kind is None else kind,
                party_id=party,
                states=tuple(each for each in state or () if each not in _OWED),  # type: ignore[misc]
                date_from=date_from,
                date_to=date_to,
                sku=(await one_product(backend, sku)).sku if sku else None,
                promised_before=promised_before,
                text=text,
                open_only="open" in owed,
                partly_delivered="partly_delivered" in owed,
            )
            page = await backend.list_orders(which, limit=limit, offset=offset)
            today = backend.now().date()
            blocked = await _blocked(backend, page, today) if owed or promised_before else None
            following = next_offset(offset, len(page.orders), page.total_count)
            return documents.order_page(page, following, stamp(backend.now()), today=today, blocked=blocked)

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

    @reading("documents")
    async def get_quotation(
        number: Annotated[Written, Field(description="Q-1008 or 1008")],
    ) -> documents.OrderDetail:
        """One quotation whole: lines, prices, totals, validity, state, and the order made from it."""
        with answering():
            order = await backend.get_order(number, "quotation")
            made = await backend.list_orders(OrderFilter(kind="sale", source=order.head.number), limit=5)
            detail = documents.order_detail(order, stamp(backend.now()))
            return detail.model_copy(update={"made": [each.number for each in made.orders]})

    return [find_orders, get_order, get_quotation]


async def _blocked(backend: ErpBackend, page: OrderPage, today: date) -> dict[str, list[documents.Blocked]]:
    """What the open sales of a page wait for."""
    orders = await asyncio.gather(*(backend.get_order(head.number, head.kind) for head in page.orders))
    skus = dict.fromkeys(line.sku for order in orders for line in order.lines if line.open > line.reserved)
    products = await backend.get_products(list(skus)) if skus else {}
    goods = [sku for sku in skus if sku not in products or products[sku].stocked]
    levels = await backend.get_stock(goods) if goods else {}
    return {order.head.number: _of(order, levels, today) for order in orders}


def _of(order: shop.Order, levels: documents.Levels, today: date) -> list[documents.Blocked]:
    return documents.blocked_by(order, levels, today) if order.head.kind == "sale" else []
