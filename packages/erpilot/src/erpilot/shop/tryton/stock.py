"""Stock by warehouse: on hand, reserved, waiting, and what arrives.

Invariant: on hand is what moves that are done come to; reserved is what confirmed sales are owed as far as it is there,
waiting the rest; nothing planned is ever counted as on hand. All in the product's default unit.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from ..catalogue import Arrival, StockLevel
from ..values import ZERO
from . import products
from .desk import Base, Desk, Place, optional, plain, together

PLANNED = ["state", "in", ["draft", "assigned"]]


@dataclass
class Flow:
    """What is planned for one product in one warehouse, in base units."""

    owed: Decimal = ZERO
    arrivals: list[Arrival] = field(default_factory=list)


async def levels(desk: Desk, skus: Sequence[str], warehouse: str | None) -> dict[str, tuple[StockLevel, ...]]:
    """By SKU, a level for each warehouse, or for the one named. Raises ``NotFound``."""
    base = await desk.base()
    places = (base.place(warehouse),) if warehouse and warehouse.strip() else base.places
    rows = await products.rows_of(desk, skus)
    by_row = await figures(desk, base, {row["id"]: row["default_uom"] for row in rows.values()}, places)
    return {
        sku: tuple(_level(row["code"] or f"#{row['id']}", place, by_row[row["id"], place.id]) for place in places)
        for sku, row in rows.items()
    }


def _level(sku: str, place: Place, known: tuple[Decimal, Flow]) -> StockLevel:
    on_hand, flow = known
    reserved = min(flow.owed, max(on_hand, ZERO))
    arrivals = tuple(sorted(flow.arrivals, key=lambda each: (each.date, each.document)))
    return StockLevel(sku, place.warehouse, on_hand, reserved, arrivals, flow.owed - reserved)


async def available(desk: Desk, ids: Sequence[int]) -> dict[int, Decimal]:
    """What may be promised now of products, over all warehouses."""
    base = await desk.base()
    rows = await desk.rpc.read("product.product", list(ids), ["default_uom"], context=products.EVERY)
    known = await figures(desk, base, {row["id"]: row["default_uom"] for row in rows}, base.places)
    total: dict[int, Decimal] = defaultdict(Decimal)
    for (row, _), (on_hand, flow) in known.items():
        total[row] += on_hand - min(flow.owed, max(on_hand, ZERO))
    return total


async def figures(
    desk: Desk, base: Base, units: dict[int, int], places: Sequence[Place]
) -> dict[tuple[int, int], tuple[Decimal, Flow]]:
    """On hand and what is planned, by product and warehouse; ``units``: default unit by product."""
    ids = list(units)
    named = ["origin.rec_name"] if await desk.may("purchase.purchase") else []
    there, leaving, coming, promised, asked = await together(
        together(*(on_hand(desk, ids, place.id) for place in places)),
        moves(desk, [["product", "in", ids], PLANNED, ["to_location.type", "=", "customer"]], []),
        moves(desk, [["product", "in", ids], PLANNED, ["from_location.type", "=", "supplier"]], named),
        optional(lambda: confirmed_lines(desk, ids, []), []),
        optional(lambda: _requested(desk, ids), []),
    )
    flows: dict[tuple[int, int], Flow] = defaultdict(Flow)
    for move in leaving:
        quantity = base.to_base(move["quantity"], move["unit"], units[move["product"]])
        flows[move["product"], base.inside.get(move["from_location"], 0)].owed += quantity
    for move in coming:
        quantity = base.to_base(move["quantity"], move["unit"], units[move["product"]])
        document = _document(move)
        day = move["planned_date"] or desk.today
        place = base.inside.get(move["to_location"], 0)
        flows[move["product"], place].arrivals.append(Arrival(quantity, day, document, confirmed=True))
    for line in promised:
        quantity = base.to_base(line["quantity"], line["unit"], units[line["product"]])
        flows[line["product"], line["sale."]["warehouse"]].owed += quantity
    for line in asked:
        quantity = base.to_base(line["quantity"], line["unit"], units[line["product"]])
        order = line["purchase."]
        day = line["delivery_date"] or order["delivery_date"] or desk.today
        arrival = Arrival(quantity, day, order["number"] or f"#{order['id']}", order["state"] != "quotation")
        flows[line["product"], order["warehouse"]].arrivals.append(arrival)
    return {
        (row, place.id): (here.get(row, ZERO), flows[row, place.id])
        for place, here in zip(places, there, strict=True)
        for row in ids
    }


async def on_hand(desk: Desk, ids: Sequence[int], location: int) -> dict[int, Decimal]:
    """What is in a place and those inside it now, by product."""
    where = {"locations": [location], "with_childs": True, "stock_date_end": desk.today, "forecast": False}
    rows = await desk.rpc.read("product.product", list(ids), ["quantity"], context={**products.EVERY, **where})
    return {row["id"]: plain(Decimal(row["quantity"] or 0)) for row in rows}


async def moves(desk: Desk, domain: list[Any], more: list[str]) -> list[dict[str, Any]]:
    """Moves that match, with ``more`` fields."""
    return await desk.rpc.search_read(
        "stock.move",
        domain,
        ["product", "quantity", "unit", "planned_date", "from_location", "to_location", *more],
    )


def _document(move: dict[str, Any]) -> str:
    """The purchase that a move is for: Tryton names it behind an at sign, as in "24 瓶 [X] @ PO-0001". Nothing for who
    may not see purchases.
    """
    name = str((move.get("origin.") or {}).get("rec_name") or "")
    return name.rpartition("@")[2].strip()


async def confirmed_lines(desk: Desk, ids: Sequence[int], more: list[str]) -> list[dict[str, Any]]:
    """Lines of sales that are confirmed and of which the server has made no moves yet."""
    return await desk.rpc.search_read(
        "sale.line",
        [["product", "in", list(ids)], ["sale.state", "=", "confirmed"], ["quantity", ">", 0]],
        ["product", "quantity", "unit", "sale.warehouse", *more],
    )


async def _requested(desk: Desk, ids: Sequence[int]) -> list[dict[str, Any]]:
    """Lines of purchases that the supplier has been asked for, or that wait to be processed."""
    return await desk.rpc.search_read(
        "purchase.line",
        [["product", "in", list(ids)], ["purchase.state", "in", ["quotation", "confirmed"]], ["quantity", ">", 0]],
        [
            "product",
            "quantity",
            "unit",
            "delivery_date",
            "purchase.number",
            "purchase.state",
            "purchase.delivery_date",
            "purchase.warehouse",
        ],
    )
