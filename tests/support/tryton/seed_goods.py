"""Parties, warehouses, goods and price lists of the example shop, in Tryton's terms.

Invariant: units of a product are those of its unit category, so products share a category only when they are packed the
same way; other names of products and parties are identifiers without a type, which Tryton's own search finds.
"""

from __future__ import annotations

import datetime as dt
from decimal import ROUND_HALF_UP, Decimal
from typing import TYPE_CHECKING, Any

from erpilot.shop.catalogue import Product
from erpilot.shop.documents import Customer
from erpilot.shop.seed.goods import Goods
from erpilot.shop.seed.parties import tier_steps
from erpilot.shop.seed.trade import WAREHOUSES

if TYPE_CHECKING:
    from .seed import Books

LISTS = {"retail": "零售价", "wholesale": "批发价", "vip": "VIP价", "export": "批发价"}
SHARES = {"零售价": ("1",), "批发价": ("0.88", "0.84", "0.80"), "VIP价": ("0.85", "0.81", "0.78")}
"""Per list, what the first and each further tier costs as a share of the list price."""


def without_tax(product: Product, price: Decimal) -> Decimal:
    """A price of the example shop, which includes tax, as Tryton keeps it."""
    return (price / (1 + product.tax_rate)).quantize(Decimal("0.01"), ROUND_HALF_UP)


async def parties(books: Books) -> None:
    """Warehouses, price lists, customers and suppliers."""
    await _warehouses(books)
    await _lists(books)
    known = {each.id: each for each in (*books.trade.parties.customers, *books.trade.parties.suppliers)}
    ids = await books.create("party.party", [_party(books, each) for each in known.values()])
    books.party = dict(zip(known, ids, strict=True))
    for row in await books.find("party.address", [], "party"):
        books.address.setdefault(row["party"], row["id"])


def _party(books: Books, party: Customer) -> dict[str, Any]:
    record: dict[str, Any] = {
        "name": party.name,
        "code": party.id,
        "addresses": [("create", [{"city": party.city or "", "attn": party.contact or ""}])],
        "identifiers": [("create", [{"type": None, "code": name} for name in party.short_names])],
        "customer_payment_term": books.term[party.terms],
        "supplier_payment_term": books.term[party.terms],
        "sale_price_list": books.price_list[LISTS[party.price_list]],
    }
    if party.credit_limit and party.credit_limit.amount:
        record["credit_limit_amount"] = party.credit_limit.amount
    return record


async def _warehouses(books: Books) -> None:
    first = (await books.find("stock.location", [("type", "=", "warehouse")], "id"))[0]["id"]
    places = await books.rpc.read("stock.location", [first], ["input_location", "output_location", "storage_location"])
    (code, name), *others = WAREHOUSES
    await books.rpc.act("model.stock.location.write", [first], {"code": code, "name": name})
    books.warehouse[code], books.storage[code] = first, places[0]["storage_location"]
    for code, name in others:
        made = await books.create(
            "stock.location",
            [{"name": f"{name} {part}", "code": f"{code}-{part}", "type": "storage"} for part in ("IN", "OUT", "STO")],
        )
        place = dict(zip(("input_location", "output_location", "storage_location"), made, strict=True))
        (books.warehouse[code],) = await books.create(
            "stock.location", [{"name": name, "code": code, "type": "warehouse", **place}]
        )
        books.storage[code] = place["storage_location"]
    lost = await books.find("stock.location", [("type", "=", "lost_found")])
    for each in books.warehouse.values():
        await books.rpc.act("model.stock.location.write", [each], {"lost_found_location": lost[0]["id"]})


async def _lists(books: Books) -> None:
    records = [
        {
            "name": name,
            "company": books.company,
            "unit": "product_default",
            "price": "list_price",
            "tax_included": False,
        }
        for name in SHARES
    ]
    books.price_list = dict(zip(SHARES, await books.create("product.price_list", records), strict=True))


async def goods(books: Books) -> None:
    """Units, categories, products, offers of suppliers, and the tiers of the price lists."""
    everything = books.goods
    packed = await _units(books)
    names = list(dict.fromkeys(each.product.category for each in everything))
    category = dict(zip(names, await books.create("product.category", [{"name": name} for name in names]), strict=True))
    accounting = {
        rate: (
            await books.create(
                "product.category",
                [
                    {
                        "name": f"货物 {rate * 100:.0f}%",
                        "accounting": True,
                        "account_revenue": books.account["revenue"],
                        "account_expense": books.account["expense"],
                        "customer_taxes": [("add", [tax])],
                    }
                ],
            )
        )[0]
        for rate, tax in books.tax.items()
    }
    await books.create(
        "product.template",
        [_template(books, each, packed, category, accounting[each.product.tax_rate]) for each in everything],
    )
    books.product = {row["code"]: row["id"] for row in await books.find("product.product", [], "code")}
    books.step("goods")
    await _tiers(books)
    books.step("price lists")


async def _units(books: Books) -> dict[str, int]:
    """The base unit of every product, by SKU."""
    seen: dict[tuple[tuple[str, Decimal], ...], dict[str, int]] = {}
    for each in books.goods:
        packing = tuple((unit.name, unit.factor) for unit in each.product.units)
        if packing not in seen:
            name = " ".join(f"{unit}{'' if factor == 1 else f'={factor:f}'}" for unit, factor in packing)
            (category,) = await books.create("product.uom.category", [{"name": name}])
            records = []
            for unit in each.product.units:
                digits = 0 if unit.whole else 3
                records.append(
                    {
                        "name": unit.name,
                        "symbol": unit.name,
                        "category": category,
                        "factor": float(unit.factor),
                        "rate": round(1 / float(unit.factor), 12),
                        "rounding": float(Decimal(1).scaleb(-digits)),
                        "digits": digits,
                    }
                )
            ids = await books.create("product.uom", records)
            seen[packing] = dict(zip([unit.name for unit in each.product.units], ids, strict=True))
        for name, made in seen[packing].items():
            books.unit[each.product.sku, name] = made
    return {each.product.sku: books.unit[each.product.sku, each.product.base.name] for each in books.goods}


def _template(
    books: Books, goods: Goods, packed: dict[str, int], category: dict[str, int], accounting: int
) -> dict[str, Any]:
    product, unit = goods.product, packed[goods.product.sku]
    barcodes = [{"type": "ean", "code": product.base.barcode}] if product.base.barcode else []
    names = [{"type": None, "code": alias} for alias in product.aliases]
    cost = product.cost or product.list_price
    offer = {
        "party": books.party[goods.supplier],
        "company": books.company,
        "currency": books.currency["CNY"],
        "lead_time": dt.timedelta(days=7),
        "prices": [("create", [{"quantity": 0.0, "unit_price": cost}])],
    }
    return {
        "name": product.name,
        "code": product.sku,
        "type": "goods",
        "default_uom": unit,
        "salable": product.active,
        "sale_uom": unit,
        "purchasable": True,
        "purchase_uom": unit,
        "list_price": without_tax(product, product.list_price),
        "account_category": accounting,
        "categories": [("add", [category[product.category]])],
        "product_suppliers": [("create", [offer])],
        "products": [
            (
                "create",
                [
                    {
                        "description": product.specification,
                        "cost_price": cost,
                        "identifiers": [("create", [*barcodes, *names])],
                    }
                ],
            )
        ],
    }


async def _tiers(books: Books) -> None:
    """Steps of the everyday goods, product by product; for the rest what the first tier costs."""
    for name, shares in SHARES.items():
        lines: list[dict[str, Any]] = []
        for at, share in reversed(list(enumerate(shares))):
            if at == 0:
                lines.append({"formula": f"list_price * Decimal('{share}')"})
                continue
            lines += [
                {
                    "product": books.product[each.product.sku],
                    "quantity": float(tier_steps(each)[at - 1]),
                    "formula": f"list_price * Decimal('{share}')",
                }
                for each in books.goods
                if each.everyday
            ]
        numbered = [{"sequence": at, **line} for at, line in enumerate(lines, 1)]
        await books.rpc.act(
            "model.product.price_list.write", [books.price_list[name]], {"lines": [("create", numbered)]}
        )
