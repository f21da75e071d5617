"""Tools that change stock: corrections after a count, and moves between warehouses.

Invariant: "set to" and "change by" are two modes; warehouse and unit are named; what is on hand before and after is
shown for each place, and what runs is based on exactly that.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field

from agent_core.events import Change, Notice
from agent_core.tools.tool import Tier, Tool

from ..shop.backend import Adjustment, ErpBackend, TransferLine, Write, Written
from ..shop.catalogue import Product, StockLevel, Warehouse
from ..shop.errors import Invalid, Refused
from ..shop.units import parse_quantity
from ..shop.values import ZERO, Quantity
from . import shop_results as r
from .shop_arguments import Amount, Lines, Note, Query, Text
from .shop_arguments import Written as Number
from .shop_delivery import Reason
from .shop_resolve import lines_wanted, one_product, warehouse_meant
from .shop_writing import Plan, moved, writing


def stock_tools(backend: ErpBackend) -> list[Tool]:
    """Writing tools over one backend."""

    @writing(
        backend,
        "stock",
        target=lambda sku, warehouse, **_: f"{sku.strip().upper()}@{warehouse.strip().upper()}",
        tier=Tier.DANGEROUS,
    )
    async def adjust_stock(
        sku: Query,
        warehouse: Query,
        mode: Literal["set", "change"],
        qty: Annotated[Number, Field(description="set: what was counted; change: so much more, or -3 for less")],
        unit: Text,
        reason: Reason,
        system_qty: Annotated[Amount, Field(description="what the system showed when it was counted")] = None,
    ) -> Plan:
        """Correct the stock of a product in one warehouse after a count, a loss or a find. `sku`, `warehouse`: exact.
        A person confirms every time, and sees before, after, difference and value."""
        product = await one_product(backend, sku, exact=True)
        place = await warehouse_meant(backend, warehouse, exact=True)
        level = await _level(backend, product, place)
        value = _signed(product, qty, unit)
        factor = product.unit(value.unit).factor
        after = value.value * factor if mode == "set" else level.on_hand + value.value * factor
        if after < 0:
            raise Refused(
                f"{product.sku} in {place.name} would be {r.plain(after)} {product.base.name}: there are "
                f"{r.plain(level.on_hand)}."
            )
        if after == level.on_hand:
            raise Invalid(f"{product.sku} in {place.name} is {r.plain(after)} {product.base.name} already.")
        record, base = f"{product.sku} {product.name} @ {place.name}", product.base.name
        changes = [
            Change("on_hand", *moved(level.on_hand, after, base), record),
            Change("difference", None, f"{after - level.on_hand:+f} {base}", record),
        ]
        if product.cost is not None:
            worth = (after - level.on_hand) * product.cost
            changes.append(Change("value", None, f"{worth:+.2f} {product.currency}", record))
        changes.append(Change("reason", None, reason.strip()))
        notices, accepts = [], frozenset[str]()
        if after < level.reserved:
            notices.append(Notice("below_reserved", {"reserved": f"{r.plain(level.reserved)} {base}"}))
            accepts = frozenset({f"below_reserved:{product.sku}@{place.code}"})
        if system_qty is not None:
            counted = _signed(product, system_qty, unit)
            if counted.value * factor != level.on_hand:
                told = {"then": f"{r.plain(counted.value * factor)} {base}", "now": f"{r.plain(level.on_hand)} {base}"}
                notices.append(Notice("stock_moved", told))
        key = f"on_hand {product.sku}@{place.code}"

        async def act(write: Write, shown: Mapping[str, str]) -> Written:
            expected = Quantity(Decimal(shown.get(key, str(level.on_hand))), base)
            wanted = Adjustment(product.sku, place.code, mode, value, expected)
            return await backend.adjust_stock([wanted], reason=reason.strip(), write=write)

        return Plan(
            "adjust_stock",
            tuple(changes),
            act,
            notices=tuple(notices),
            seen={key: str(level.on_hand)},
            accepts=accepts,
        )

    @writing(
        backend,
        "stock",
        target=lambda source, target, **_: f"{source.strip().upper()}>{target.strip().upper()}",
        varies=("lines", "note"),
    )
    async def transfer_stock(lines: Lines, source: Query, target: Query, note: Note = None) -> Plan:
        """Move goods from one warehouse to another; only what is available. `source`, `target`: exact codes. A person
        confirms first, and sees both before and after."""
        here = await warehouse_meant(backend, source, exact=True)
        there = await warehouse_meant(backend, target, exact=True)
        if here.code == there.code:
            raise Invalid("Source and target are the same warehouse.")
        wanted = await lines_wanted(backend, lines, exact=True)
        products = await backend.get_products([line.sku for line in wanted])
        changes, seen, total = list[Change](), dict[str, str](), ZERO
        for line in wanted:
            product = products[line.sku]
            base = product.to_base(line.quantity)
            a, b = await _level(backend, product, here), await _level(backend, product, there)
            if base.value > a.available:
                raise Refused(
                    f"{product.sku} in {here.name}: {r.plain(a.available)} {base.unit} are available, not "
                    f"{r.plain(base.value)}.",
                    hint="Reserved stock is not moved.",
                )
            changes.append(
                Change("moves", None, f"{r.plain(line.quantity.value)} {line.quantity.unit}", _named(product))
            )
            for level, sign in ((a, -1), (b, 1)):
                record = f"{_named(product)} @ {level.warehouse.name}"
                after = level.on_hand + sign * base.value
                changes.append(Change("on_hand", *moved(level.on_hand, after, base.unit), record))
                seen[f"on_hand {product.sku}@{level.warehouse.code}"] = str(level.on_hand)
            total += base.value
        moves = [TransferLine(line.sku, line.quantity) for line in wanted]

        async def act(write: Write, shown: Mapping[str, str]) -> Written:
            del shown
            return await backend.transfer_stock(
                moves, source=here.code, target=there.code, note=note.strip() if note else None, write=write
            )

        return Plan("transfer_stock", tuple(changes), act, measures={"qty": total}, seen=seen)

    return [adjust_stock, transfer_stock]


def _named(product: Product) -> str:
    return f"{product.sku} {product.name}"


async def _level(backend: ErpBackend, product: Product, place: Warehouse) -> StockLevel:
    levels = (await backend.get_stock([product.sku], warehouse=place.code))[product.sku]
    return levels[0] if levels else StockLevel(product.sku, place, ZERO, ZERO)


def _signed(product: Product, written: str, unit: str | None) -> Quantity:
    """A quantity that may be nothing, or less than nothing."""
    text = written.strip().replace("\u2212", "-")
    minus, number = text.startswith("-"), text.lstrip("+-").strip()
    value, said = parse_quantity(number)
    name = product.unit(said or unit).name
    if said and unit and product.unit(said) != product.unit(unit):
        raise Invalid(f"The quantity {written!r} of {product.sku} names another unit than {unit!r}.")
    if value:
        product.quantity(value, name)
    return Quantity(-value if minus else value, name)
