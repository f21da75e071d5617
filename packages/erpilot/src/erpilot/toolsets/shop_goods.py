"""Tools that read goods: products, their units, stock, prices.

Invariant: names may be resolved where they are decided, and the answer names what was taken; nothing is changed.
"""

from __future__ import annotations

from agent_core.tools.tool import Tool

from ..shop.backend import ErpBackend
from ..shop.errors import Denied, Invalid, NotFound, Unsupported
from . import shop_answers as answers
from . import shop_results as r
from .shop_arguments import Day, Flag, Limit, Lines, Offset, Quantities, Query, Skus, Text
from .shop_kit import next_offset, reading
from .shop_resolve import (
    answering,
    customer_meant,
    known_products,
    lines_wanted,
    one_product,
    quantity_of,
    stamp,
    warehouse_meant,
)
from .shop_supply import ProductDetail, product_detail


def goods_tools(backend: ErpBackend) -> list[Tool]:
    @reading("products", "stock")
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
            following = next_offset(offset, len(found.hits), found.total_count)
            return answers.product_matches(asked, found, levels, following, stamp(backend.now()))

    @reading("products", "stock")
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
            place = (await warehouse_meant(backend, warehouse)).code if warehouse and warehouse.strip() else None
            levels = await backend.get_stock(list({product.sku for _, product in products}), warehouse=place)
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

    @reading("products", "prices", "customers")
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

    @reading("products", "prices", "suppliers")
    async def get_product(sku: Query) -> ProductDetail:
        """One product: units with factors and barcodes, smallest quantity, tax, category, list price, suppliers."""
        with answering():
            product = await one_product(backend, sku)
            try:
                offers = await backend.supplier_offers(skus=[product.sku])
            except (Denied, Unsupported):  # who may not see what is paid still may know what is sold
                offers = ()
            return product_detail(product, offers, stamp(backend.now()))

    return [find_products, get_product, check_stock, get_price]
