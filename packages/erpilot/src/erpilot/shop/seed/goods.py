"""The goods of the example shop, from the packaged tables.

Invariant: the same tables give the same products, codes and barcodes, in the same order.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from importlib.resources import files

from ..catalogue import Product, Unit
from ..values import rounded

WHOLE = frozenset({"kg"})
_BRANCHES = {
    "手机通讯": "家电数码",
    "电视": "家电数码",
    "平板电脑": "家电数码",
    "笔记本": "家电数码",
    "厨卫大电": "家电数码",
    "硬盘": "家电数码",
    "T恤": "服装",
    "男鞋": "鞋类",
}
YUAN_PER_UNIT = 7
"""For prices of the imported food, whose table names no currency of this shop."""


@dataclass(frozen=True, slots=True)
class Goods:
    """A product with the stock it is to have at the end, in base units, and who supplies it."""

    product: Product
    main: Decimal
    east: Decimal
    supplier: str
    everyday: bool = False


def table(name: str) -> Iterator[dict[str, str]]:
    """The rows of a packaged table."""
    text = files("erpilot.shop").joinpath("data", *name.split("/")).read_text(encoding="utf-8-sig")
    yield from csv.DictReader(text.splitlines())


def ean13(number: int) -> str:
    """A valid barcode with a prefix of China (690 to 699), one for each number."""
    digits = f"{690 + number % 10}{number * 7919 % 10**9:09d}"
    odd_even = sum(int(digit) * (3 if at % 2 else 1) for at, digit in enumerate(digits))
    return f"{digits}{-odd_even % 10}"


def load_goods() -> list[Goods]:
    """All goods: everyday ones first, then the tables of others."""
    english = {row["chinese"]: row["english"] for row in table("own/words.csv")}
    goods = [*_own(), *_mall(english), *_litemall(english), *_northwind()]
    return [_with_barcodes(each, at) for at, each in enumerate(goods)]


def _with_barcodes(goods: Goods, at: int) -> Goods:
    product = goods.product
    units = tuple(
        unit if unit.barcode else Unit(unit.name, unit.factor, ean13(1000 + at * 10 + position), unit.whole)
        for position, unit in enumerate(product.units)
    )
    values = {name: getattr(product, name) for name in Product.__slots__}
    return Goods(Product(**{**values, "units": units}), goods.main, goods.east, goods.supplier, goods.everyday)


def _own() -> Iterator[Goods]:
    for row in table("own/goods.csv"):
        base = row["base_unit"]
        units = [Unit(base, Decimal(1), row["barcode"] or None, base not in WHOLE)]
        for part in filter(None, row["units"].split(";")):
            name, factor = part.split("=")
            units.append(Unit(name, Decimal(factor)))
        product = Product(
            sku=row["sku"],
            name=row["name"],
            specification=row["specification"],
            category=row["category"],
            units=tuple(units),
            tax_rate=Decimal(row["tax_rate"]),
            list_price=Decimal(row["list_price"]),
            min_order=Decimal(row["min_order"]),
            cost=rounded(Decimal(row["list_price"]) * Decimal("0.62"), "CNY"),
            active=row["sku"] != "EL-FAN-OLD",
            aliases=tuple(filter(None, row["aliases"].split(";"))),
        )
        yield Goods(product, Decimal(row["stock_main"]), Decimal(row["stock_east"]), row["supplier"], everyday=True)


def _in_english(text: str, english: dict[str, str]) -> tuple[str, ...]:
    """Words of the shop's glossary that occur in a text; longer ones first, so that 浅灰色 is not also 灰色."""
    found = []
    for chinese in sorted(english, key=lambda word: (-len(word), word)):
        if chinese in text:
            found.append(english[chinese])
            text = text.replace(chinese, " ")
    return tuple(found)


def _mall(english: dict[str, str]) -> Iterator[Goods]:
    names = {row["product_id"]: row for row in table("own/mall_names.csv")}
    heads = {row["product_id"]: row for row in table("mall/products.csv")}
    for row in table("mall/skus.csv"):
        head, short = heads[row["product_id"]], names[row["product_id"]]
        specification = " ".join(part.split(":", 1)[-1] for part in row["specification"].split(" "))
        price = Decimal(row["price"])
        category = _BRANCHES.get(head["category"], head["category"])
        unit = {"手机通讯": "部", "男鞋": "双", "T恤": "件"}.get(head["category"], "台")
        units = (Unit(unit, Decimal(1)), *((Unit("箱", Decimal(20)),) if unit == "件" else ()))
        product = Product(
            sku=row["sku_code"],
            name=short["name"],
            specification=specification,
            category=category,
            units=units,
            tax_rate=Decimal("0.13"),
            list_price=price,
            cost=rounded(price * Decimal("0.85"), "CNY"),
            aliases=(*short["aliases"].split(";"), *_in_english(specification, english)),
        )
        stock = Decimal(row["stock"])
        yield Goods(product, stock - stock // 4, stock // 4, "S006")


def _litemall(english: dict[str, str]) -> Iterator[Goods]:
    categories = {row["category_id"]: row["name"] for row in table("litemall/categories.csv")}
    heads = {row["product_id"]: row for row in table("litemall/products.csv")}
    counted: dict[str, int] = {}
    for row in table("litemall/skus.csv"):
        head = heads.get(row["product_id"])
        if head is None:
            continue
        counted[head["code"]] = counted.get(head["code"], 0) + 1
        variant = f"-{counted[head['code']]}" if row["specification"] != "标准" else ""
        price = Decimal(row["price"])
        units = [Unit(head["unit"], Decimal(1))]
        if price < 100:
            units.append(Unit("箱", Decimal(20)))
        product = Product(
            sku=f"LM{head['code']}{variant}",
            name=head["name"],
            specification="" if row["specification"] == "标准" else row["specification"],
            category=categories[head["category_id"]],
            units=tuple(units),
            tax_rate=Decimal("0.13"),
            list_price=price,
            cost=rounded(price * Decimal("0.55"), "CNY"),
            aliases=_in_english(head["name"], english),
        )
        stock = Decimal(row["stock"])
        yield Goods(product, stock - stock // 5, stock // 5, "S004")


def _northwind() -> Iterator[Goods]:
    categories = {row["category_id"]: row["name"] for row in table("northwind/categories.csv")}
    for row in table("northwind/products.csv"):
        price = rounded(Decimal(row["unit_price"]) * YUAN_PER_UNIT, "CNY")
        product = Product(
            sku=f"NW-{int(row['product_id']):03d}",
            name=row["name"],
            specification=row["quantity_per_unit"],
            category=f"进口食品 {categories[row['category_id']]}",
            units=(Unit("件", Decimal(1)), Unit("托", Decimal(60))),
            tax_rate=Decimal("0.13"),
            list_price=price,
            cost=rounded(price * Decimal("0.7"), "CNY"),
            active=row["discontinued"] == "0",
        )
        stock = Decimal(row["units_in_stock"])
        yield Goods(product, stock - stock // 4, stock // 4, f"NS{int(row['supplier_id']):02d}")
