"""The tools of the shop: what the model may ask of an ERP, as names, schemas and tiers.

Invariant: a tool resolves, asks the backend, and answers facts; every READ changes nothing, and the one WRITE is
shown before it runs and makes one document per call, however often it is tried.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from pydantic import Field

from agent_core.events import Preview
from agent_core.tools.tool import Reconciled, Tier, Tool, ToolContext, tool

from ..shop.backend import ErpBackend, OrderFilter
from ..shop.errors import Invalid, NotFound
from . import shop_answers as answers
from . import shop_quotation as quotation
from . import shop_results as r
from .shop_arguments import (
    Day,
    Flag,
    Kind,
    Limit,
    Lines,
    Note,
    Offset,
    Percent,
    Quantities,
    Query,
    Skus,
    States,
    Text,
    Written,
)
from .shop_quotation import QuotationAsked
from .shop_resolve import answering, customer_meant, known_products, lines_wanted, party_meant, quantity_of, stamp

MAX_OUTPUT = 16_000
"""Characters; thirty lines of a quotation with stock are about 15,000, and half a JSON document is of no use."""


BACKEND = "shop"


def shop_tools(backend: ErpBackend) -> list[Tool]:
    """The tools over one backend, in a fixed order."""
    return [*_reading_goods(backend), *_reading_trade(backend), *_quoting(backend)]


def _reads(*keys: str) -> Callable[..., tuple[str, ...]]:
    """Keys of what a tool touches: kinds of records, whatever the arguments."""
    return lambda **arguments: keys


def _next(offset: int, shown: int, total: int) -> int | None:
    return offset + shown if shown and offset + shown < total else None


def _reading_goods(backend: ErpBackend) -> list[Tool]:
    @tool(max_output=MAX_OUTPUT, backend=BACKEND, untrusted=True, reads=_reads("products", "stock"))
    async def find_products(
        query: Query = "",
        barcode: Text = None,
        category: Text = None,
        in_stock: Flag = None,
        limit: Limit = 5,
        offset: Offset = 0,
    ) -> r.ProductMatches:
        """Find products by name, specification, SKU or barcode. `decided`: the first candidate alone is meant; else
        ask.
        """
        with answering():
            asked = (barcode or query).strip()
            found = await backend.find_products(
                asked, category=category, in_stock=bool(in_stock), limit=limit, offset=offset
            )
            skus = [hit.record.sku for hit in found.hits]
            levels = await backend.get_stock(skus) if skus else {}
            following = _next(offset, len(found.hits), found.total_count)
            return answers.product_matches(asked, found, levels, following, stamp(backend.now()))

    @tool(max_output=MAX_OUTPUT, backend=BACKEND, untrusted=True, reads=_reads("products", "stock"))
    async def check_stock(
        skus: Skus,
        quantities: Quantities = None,
        warehouse: Text = None,
        by_date: Day = None,
        unit: Text = None,
    ) -> r.StockReport:
        """Stock of products: on_hand, reserved, available (= on_hand - reserved) and incoming purchases, in all and by
        warehouse, in base units. With `quantities`: whether they are there (`shortage`), or when (`complete_on`)."""
        with answering():
            if quantities is not None and len(quantities) != len(skus):
                raise Invalid(
                    f"There are {len(skus)} skus but {len(quantities)} quantities.", hint="One for each, in order."
                )
            now = backend.now()
            if by_date is not None and by_date < now.date():
                raise Invalid(f"The day {by_date} is past: today is {now.date()}.")
            found = await known_products(backend, skus, exact=False)
            missing = [(text, each) for text, each in found.items() if isinstance(each, NotFound)]
            if len(missing) == len(found):
                raise missing[0][1]
            products = [
                (at, product) for at, text in enumerate(skus) if not isinstance(product := found[text], NotFound)
            ]
            levels = await backend.get_stock(list({product.sku for _, product in products}), warehouse=warehouse)
            lines = [
                answers.stock_of(
                    product,
                    levels[product.sku],
                    wanted=quantity_of(product, quantities[at], unit).quantity if quantities else None,
                    unit=unit,
                    by_date=by_date,
                    today=now.date(),
                )
                for at, product in products
            ]
            unknown = [r.NotFound(asked=text, nearest=list(error.nearest)) for text, error in missing]
            return r.StockReport(products=lines, not_found=unknown, by_date=by_date, as_of=stamp(now))

    @tool(max_output=MAX_OUTPUT, backend=BACKEND, untrusted=True, reads=_reads("products", "prices", "customers"))
    async def get_price(
        lines: Lines, customer: Text = None, price_list: Text = None, date: Day = None
    ) -> r.PriceReport:
        """Price of exactly these quantities for a customer or a price list (retail, wholesale, vip; default retail):
        unit price, list price, rule, next tier, minimum, tax, totals, validity."""
        with answering():
            meant = await customer_meant(backend, customer)
            wanted = await lines_wanted(backend, lines)
            quote = await backend.get_prices(
                wanted, customer_id=meant.id if meant else None, price_list=price_list, on=date
            )
            return answers.price_report(quote, stamp(backend.now()))

    return [find_products, check_stock, get_price]


def _reading_trade(backend: ErpBackend) -> list[Tool]:
    @tool(max_output=MAX_OUTPUT, backend=BACKEND, untrusted=True, reads=_reads("customers"))
    async def find_customers(query: Query, limit: Limit = 5, offset: Offset = 0) -> r.CustomerMatches:
        """Find customers by id, name or short name. `decided`: the first candidate alone is meant; else ask."""
        with answering():
            found = await backend.find_customers(query, limit=limit, offset=offset)
            following = _next(offset, len(found.hits), found.total_count)
            lists = await backend.price_lists()
            return answers.customer_matches(query, found, lists, following, stamp(backend.now()))

    @tool(max_output=MAX_OUTPUT, backend=BACKEND, untrusted=True, reads=_reads("documents", "customers", "products"))
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
    ) -> r.OrderPage:
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
            following = _next(offset, len(page.orders), page.total_count)
            return answers.order_page(page, following, stamp(backend.now()))

    @tool(max_output=MAX_OUTPUT, backend=BACKEND, untrusted=True, reads=_reads("documents"))
    async def get_order(
        number: Annotated[Written, Field(description="123 or SO-2026-0123")],
        kind: Kind = None,
    ) -> r.OrderDetail:
        """One document whole: lines (ordered, delivered, returned, cancelled, open), totals, deliveries with tracking,
        payments. A bare number means the newest sale."""
        with answering():
            order = await backend.get_order(number, kind)
            return answers.order_detail(order, stamp(backend.now()))

    return [find_customers, find_orders, get_order]


def _quoting(backend: ErpBackend) -> list[Tool]:
    @tool(
        max_output=MAX_OUTPUT, backend=BACKEND, untrusted=True, reads=_reads("products", "stock", "prices", "customers")
    )
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
        writes=_reads("documents"),
    )
    async def create_quotation(
        customer: Query,
        lines: Lines,
        ctx: ToolContext,
        discount_percent: Percent = "0",
        valid_days: int = 7,
        note: Note = None,
    ) -> r.QuotationCreated:
        """Save a quotation at current prices. `customer`: id or exact name; `sku`: exact. A person confirms first."""
        with answering():
            asked = QuotationAsked(customer, lines, discount_percent, valid_days, note)
            return await quotation.make(backend, asked, key=ctx.idempotency_key, by=ctx.user)

    return [preview_quote, create_quotation]


def _customer_named(customer: str, **others: object) -> str:
    del others
    return customer.strip()
