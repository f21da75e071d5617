"""Files of products, counts and prices against the products of the shop.

Invariant: a product is found by its exact code or barcode, never by its name; what a file does not say of a product
stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import Literal

from ..backend import Adjustment, ErpBackend, FieldChange
from ..catalogue import Product, StockLevel, Unit, Warehouse
from ..errors import Invalid, ShopError
from ..matching import squeezed
from ..pricing import PriceList
from ..values import ZERO, Quantity
from ..verbs.control import PriceChange, PriceRule
from .fields import Record
from .planning import Mode, Plan, Reporter
from .reading import Table

CHUNK = 2_000
"""Codes that the shop is asked about at once."""
TAX_RATE = Decimal("0.13")
CATEGORY = "未分类"
BASE_UNIT, PACK_UNIT = "件", "箱"
MOST_NEAR = 20
"""Unknown codes and names for which something near is looked for."""
FAR = 3
"""A price that is so many times another one, or so small a part of it, is pointed out."""


async def products_of(backend: ErpBackend, codes: Iterable[str]) -> dict[str, Product]:
    """Products by exact code or barcode; asked in pieces."""
    wanted = list(dict.fromkeys(codes))
    found: dict[str, Product] = {}
    for at in range(0, len(wanted), CHUNK):
        found |= await backend.get_products(wanted[at : at + CHUNK])
    return found


async def nearest_products(
    backend: ErpBackend, records: Iterable[Record], known: Mapping[str, Product]
) -> dict[str, str]:
    """What is near the first codes that no product has, or has the name that stands beside them, as it is told."""
    unknown = {code_in(record): record for record in records if code_in(record) not in known}
    near = {}
    for code, record in list(unknown.items())[:MOST_NEAR]:
        for text in filter(None, (code, record.values.get("name"))):
            if hits := (await backend.find_products(text, limit=2)).hits:
                near[code] = " → " + ", ".join(f"{hit.record.sku} {hit.record.name}" for hit in hits) + "?"
                break
    return near


async def plan_products(backend: ErpBackend, table: Table) -> Plan:
    """New products, and those that change."""
    plan, report = Plan("products", "set", table.rows, table.problems), Reporter(table)
    known = await products_of(backend, (record.values["sku"] for record in table.records))
    coded = await products_of(backend, (each.values["barcode"] for each in table.records if "barcode" in each.values))
    currency = (await backend.whoami()).company.currency
    rows: dict[str, int] = {}
    barcodes: dict[str, str] = {}
    made: list[Product] = []
    for record in table.records:
        sku = record.values["sku"]
        if (first := rows.setdefault(sku.casefold(), record.row)) != record.row:
            report.error(record, "sku", "duplicate", key=sku, first=first)
            continue
        before = known.get(sku)
        if before is not None and before.sku.casefold() != sku.casefold():
            report.error(record, "sku", "same_barcode", text=sku, other=before.sku)
            continue
        if record.money and not report.in_currency(record, currency, "list_price", "cost"):
            continue
        product = _product(record, before, currency, report)
        if product is None:
            continue
        if barcode := record.values.get("barcode"):
            if (other := coded.get(barcode)) is not None and other.sku.casefold() != sku.casefold():
                barcodes[barcode] = other.sku
            if barcodes.setdefault(barcode, sku) != sku:
                report.error(record, "barcode", "same_barcode", text=barcode, other=barcodes[barcode])
                continue
        if "list_price" in record.values:
            plan.add_to("list_price", product.list_price)
        if before is None:
            plan.new += 1
            plan.show(FieldChange(sku, "name", None, product.name))
        elif replace(product, version=before.version) == before:
            plan.unchanged += 1
            continue
        else:
            plan.changed += 1
            plan.show(_first_change(before, product))
            if product.list_price != before.list_price:
                far_off(report, record, "list_price", before.list_price, product.list_price)
        made.append(product)
    plan.products = made
    return plan


_SHOWN_FIELDS = ("list_price", "cost", "name", "specification", "category", "tax_rate", "min_order", "active")


def _first_change(before: Product, after: Product) -> FieldChange:
    """What a person is shown of a product that changes."""
    for name in _SHOWN_FIELDS:
        old, new = getattr(before, name), getattr(after, name)
        if old != new:
            return FieldChange(
                before.sku, name, *(int(each) if isinstance(each, bool) else each for each in (old, new))
            )
    units = [", ".join(f"{unit.name} {unit.factor.normalize():f}" for unit in each.units) for each in (before, after)]
    return FieldChange(before.sku, "units", *units)


def _product(record: Record, before: Product | None, currency: str, report: Reporter) -> Product | None:
    values = record.values
    units = _units(record, before, report)
    if units is None:
        return None
    price = before.list_price if before else ZERO
    if "list_price" in values:
        per_base = _per_base(values["list_price"], (record.units or {}).get("list_price"), values["sku"], units)
        if per_base is None:
            said = (record.units or {}).get("list_price")
            report.error(record, "list_price", "price_per_unit", text=said, sku=values["sku"])
            return None
        price = per_base
    cost = values.get("cost", before.cost if before else None)
    if cost is not None and price and price < cost:
        report.warning(record, "list_price", "below_cost", text=price)
    active = values.get("active", before.active if before else True)
    if "discontinued" in values:
        active = not values["discontinued"]
    minimum = values.get("min_order", before.min_order if before else Decimal(1))
    if minimum <= 0:
        minimum = Decimal(1)
    if before is not None:
        return replace(
            before,
            name=values["name"],
            specification=values.get("specification", before.specification),
            category=values.get("category", before.category),
            units=units,
            tax_rate=values.get("tax_rate", before.tax_rate),
            list_price=price,
            min_order=minimum,
            cost=cost,
            active=active,
        )
    return Product(
        sku=values["sku"],
        name=values["name"],
        specification=values.get("specification", ""),
        category=values.get("category", CATEGORY),
        units=units,
        tax_rate=values.get("tax_rate", TAX_RATE),
        list_price=price,
        currency=currency,
        min_order=minimum,
        cost=cost,
        active=active,
    )


def _units(record: Record, before: Product | None, report: Reporter) -> tuple[Unit, ...] | None:
    values = record.values
    said = values.get("unit")
    factor = values.get("pack_factor")
    if before is None:
        base = Unit(said or BASE_UNIT, Decimal(1), values.get("barcode"))
        if factor is None or factor <= 1:
            return (base,)
        name = values.get("pack_unit", PACK_UNIT)
        if name == base.name:
            report.error(record, "pack_unit", "unit_differs", sku=values["sku"], known=base.name, text=name)
            return None
        return base, Unit(name, factor)
    if said is not None and said != before.base.name:
        report.error(record, "unit", "unit_differs", sku=before.sku, known=before.base.name, text=said)
        return None
    units = list(before.units)
    if "barcode" in values and not any(unit.barcode == values["barcode"] for unit in units):
        units[0] = replace(units[0], barcode=values["barcode"])
    if factor is not None and factor > 1:
        name = values.get("pack_unit", PACK_UNIT)
        place = next((place for place, unit in enumerate(units) if unit.name == name), None)
        if place is None:
            units.append(Unit(name, factor))
        elif place:
            units[place] = replace(units[place], factor=factor)
    return tuple(units)


def _per_base(price: Decimal, unit: str | None, sku: str, units: tuple[Unit, ...]) -> Decimal | None:
    """A price per base unit from one per the unit that was said; None where there is no such unit."""
    del sku
    if unit is None or unit == units[0].name:
        return price
    factor = next((each.factor for each in units if each.name == unit), None)
    return None if factor is None else round(price / factor, 4)


def far_off(report: Reporter, record: Record, name: str, before: Decimal, after: Decimal) -> None:
    if before > 0 and not before / FAR < after < before * FAR:
        report.warning(record, name, "far_off", field=name, before=before, after=after)


async def plan_stock(backend: ErpBackend, table: Table, mode: Mode) -> Plan:
    """Corrections: what was counted is on hand (``set``), or so much more came (``add``)."""
    plan, report = Plan("stock", mode, table.rows, table.problems), Reporter(table)
    known = await products_of(backend, (code_in(record) for record in table.records))
    near = await nearest_products(backend, table.records, known)
    places = await backend.warehouses()
    skus = list(dict.fromkeys(product.sku for product in known.values()))
    levels: dict[str, tuple[StockLevel, ...]] = {}
    for at in range(0, len(skus), CHUNK):
        levels |= await backend.get_stock(skus[at : at + CHUNK])
    rows: dict[tuple[str, str], int] = {}
    made: list[Adjustment] = []
    accepted: set[str] = set()
    for record in table.records:
        product = known.get(code_in(record))
        if product is None:
            report.error(record, "sku", "unknown_product", text=code_in(record), nearest=near.get(code_in(record), ""))
            continue
        place = _place(places, record.values.get("warehouse"))
        if place is None:
            names = ", ".join(each.name for each in places)
            report.error(record, "warehouse", "unknown_warehouse", text=record.values["warehouse"], known=names)
            continue
        if (first := rows.setdefault((product.sku, place.code), record.row)) != record.row:
            report.error(record, "sku", "duplicate", key=f"{product.sku} {place.name}", first=first)
            continue
        counted = _counted(record, product, report)
        if counted is None:
            continue
        plan.add_to("quantity", record.values["on_hand"])
        level = next(each for each in levels[product.sku] if each.warehouse.code == place.code)
        after = counted if mode == "set" else level.on_hand + counted
        if after == level.on_hand:
            plan.unchanged += 1
            continue
        plan.changed += 1
        subject, base = f"{product.sku}@{place.code}", product.base.name
        plan.show(FieldChange(subject, "on_hand", Quantity(level.on_hand, base), Quantity(after, base)))
        if mode == "set" and level.on_hand >= 10 and not level.on_hand / 10 < after < level.on_hand * 10:
            report.warning(record, "on_hand", "far_off", field="on_hand", before=level.on_hand, after=after)
        if after < level.reserved:
            accepted.add(f"below_reserved:{subject}")
            report.warning(record, "on_hand", "below_reserved", sku=product.sku, text=level.reserved)
        amount = Quantity(counted, base)
        made.append(Adjustment(product.sku, place.code, _mode(mode), amount, Quantity(level.on_hand, base)))
    plan.adjustments, plan.accepted = made, frozenset(accepted)
    return plan


def _mode(mode: Mode) -> Literal["set", "change"]:
    return "set" if mode == "set" else "change"


def code_in(record: Record) -> str:
    """What names the product of a record."""
    return str(record.values.get("sku") or record.values["barcode"])


def _place(places: Sequence[Warehouse], named: str | None) -> Warehouse | None:
    if named is None:
        return places[0]
    asked = squeezed(named)
    return next((each for each in places if asked in (squeezed(each.code), squeezed(each.name))), None)


def _counted(record: Record, product: Product, report: Reporter) -> Decimal | None:
    """What stands there, in base units."""
    value = record.values["on_hand"]
    said = (record.units or {}).get("on_hand") or record.values.get("unit")
    try:
        unit = product.unit(said)
        if value:
            return product.to_base(product.quantity(value, unit.name)).value
    except Invalid:
        units = ", ".join(each.name for each in product.units)
        try:
            whole = product.unit(said).name
        except Invalid:
            report.error(record, "on_hand", "unknown_unit", sku=product.sku, text=said, known=units)
        else:
            report.error(record, "on_hand", "not_whole", sku=product.sku, unit=whole, text=value)
        return None
    return ZERO


async def plan_prices(backend: ErpBackend, table: Table) -> Plan:
    """Prices that change, from their start on."""
    plan, report = Plan("prices", "set", table.rows, table.problems), Reporter(table)
    known = await products_of(backend, (code_in(record) for record in table.records))
    near = await nearest_products(backend, table.records, known)
    lists, today = await backend.price_lists(), backend.now().date()
    rows: dict[tuple[str, str, Decimal, date], int] = {}
    made: list[PriceChange] = []
    for record in table.records:
        product = known.get(code_in(record))
        if product is None:
            report.error(record, "sku", "unknown_product", text=code_in(record), nearest=near.get(code_in(record), ""))
            continue
        chosen = price_list_named(lists, record.values.get("price_list"))
        if chosen is None:
            names = ", ".join(each.name for each in lists)
            report.error(record, "price_list", "unknown_price_list", text=record.values["price_list"], known=names)
            continue
        if not report.in_currency(record, chosen.currency, "price"):
            continue
        start = record.values.get("start", today)
        if start < today:
            report.error(record, "start", "past_start", text=start)
            continue
        said = (record.units or {}).get("price") or record.values.get("unit")
        price = _per_base(record.values["price"], said, product.sku, product.units)
        if price is None:
            report.error(record, "price", "price_per_unit", text=said, sku=product.sku)
            continue
        from_qty = record.values.get("from_qty") or Decimal(1)
        key = (product.sku, chosen.code, from_qty, start)
        if (first := rows.setdefault(key, record.row)) != record.row:
            report.error(record, "sku", "duplicate", key=f"{product.sku} {chosen.name}", first=first)
            continue
        rule = PriceRule(start, (product.sku,), price_lists=(chosen.code,), price=price, from_qty=from_qty)
        try:
            found = await backend.plan_prices(rule)
        except ShopError as error:
            report.error(record, "price", "refused", why=error.message)
            continue
        plan.add_to("price", record.values["price"])
        if not found.changes:
            plan.unchanged += 1
            continue
        for change in found.changes:
            plan.show(FieldChange(product.sku, chosen.code, change.before, change.after))
            if change.before is not None:
                far_off(report, record, "price", change.before, change.after)
        if found.below_cost:
            report.warning(record, "price", "below_cost", text=price)
        if found.changes[0].before is None:
            plan.new += 1
        else:
            plan.changed += 1
        made += found.changes
    plan.prices = made
    return plan


def price_list_named(lists: Sequence[PriceList], named: str | None) -> PriceList | None:
    """The list of that code, name or other name; None named: the first, retail."""
    if named is None:
        return lists[0]
    asked = squeezed(named)
    return next((each for each in lists if asked in map(squeezed, (each.code, each.name, *each.aliases))), None)
