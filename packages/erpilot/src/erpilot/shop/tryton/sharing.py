"""What is held for an order: its share of what is on hand, among all that is owed of the same goods.

Invariant: for a product in a warehouse the shares of all orders come to what ``stock`` calls reserved, so never to more
than is on hand. What the server has assigned counts first, the rest goes to the oldest promise, as in the built-in
shop.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any, Final

from ..documents import Order
from ..values import ZERO
from . import stock
from .desk import Base, Desk, optional, together
from .order_rows import SALE, Model, goods_lines, order_of, units_in

OF_SALES: Final = ["sale.sale_date", "sale.shipping_date"]


@dataclass(frozen=True, slots=True)
class Owed:
    """Goods that are to go out, in base units: ``assigned`` of them by the server; ``sale`` None: for no sale.
    ``due``: the promised day, else that of the order.
    """

    sale: int | None
    due: date
    quantity: Decimal
    assigned: Decimal = ZERO


async def order_with(desk: Desk, row: dict[str, Any], model: Model, others: tuple[str, ...] = ()) -> Order:
    """A document from its whole row, with what is held for each line."""
    base = await desk.base_knowing(units_in(row))
    held = await _held(desk, base, row) if model is SALE else {}
    return order_of(row, model, base, held, others)


def shared_out(here: Decimal, owed: Iterable[Owed]) -> dict[int | None, Decimal]:
    """By sale, what it has of ``here``."""
    turns = sorted(owed, key=lambda each: (each.due, each.sale is None, each.sale or 0))
    left, found = max(here, ZERO), defaultdict[int | None, Decimal](Decimal)
    for each in turns:
        taken = min(each.assigned, left)
        found[each.sale] += taken
        left -= taken
    for each in turns:
        taken = min(each.quantity - each.assigned, left)
        found[each.sale] += taken
        left -= taken
    return dict(found)


async def _held(desk: Desk, base: Base, row: dict[str, Any]) -> dict[int, Decimal]:
    """By product, in its default unit; nothing is asked for an order of which nothing is still to go out."""
    units, places = _to_go_out(base, row)
    if not units:
        return {}
    ids = list(units)
    there, moves, lines = await together(
        together(*(_on_hand(desk, ids, place) for place in places)),
        stock.moves(desk, [["product", "in", ids], stock.PLANNED, _OUT], ["state", "shipment", "sale", *OF_SALES]),
        optional(lambda: stock.confirmed_lines(desk, ids, ["sale", *OF_SALES]), []),
    )
    base = await desk.base_knowing({each["unit"] for each in (*moves, *lines)})
    owed = _owed(desk, base, units, moves, lines)
    found: dict[int, Decimal] = defaultdict(Decimal)
    for place, here in zip(places, there, strict=True):
        for product in ids:
            claims = owed.get((product, place), [])
            # Who may not see quantities is told what the server has assigned.
            on_hand = sum((each.assigned for each in claims), ZERO) if here is None else here.get(product, ZERO)
            found[product] += shared_out(on_hand, claims).get(row["id"], ZERO)
    return found


_OUT: Final = [
    "OR",
    [["to_location.type", "=", "customer"]],
    [["state", "=", "assigned"], ["shipment", "like", "stock.shipment.out,%"]],
]
"""To customers; and where goods are picked first, from the shelves, since then those moves are the assigned ones."""


async def _on_hand(desk: Desk, ids: list[int], place: int) -> dict[int, Decimal] | None:
    """None for who may not see quantities."""
    found: dict[int, Decimal] | None = await optional(lambda: stock.on_hand(desk, ids, place), None)
    return found


def _to_go_out(base: Base, row: dict[str, Any]) -> tuple[dict[int, int], list[int]]:
    """Default units by product of what is open, and the warehouses that it goes out of."""
    units: dict[int, int] = {}
    places: set[int] = set()
    if row["state"] not in ("confirmed", "processing"):
        return units, []
    for line in goods_lines(row):
        planned = [move["from_location"] for move in line["moves."] if move["state"] in ("draft", "assigned")]
        if line["quantity"] > 0 and (planned or row["state"] == "confirmed"):
            units[line["product."]["id"]] = line["product."]["default_uom"]
            places |= {base.inside[each] for each in planned if each in base.inside}
    if row["state"] == "confirmed" and row["warehouse."]:
        places.add(row["warehouse."]["id"])
    return units, sorted(places)


def _owed(
    desk: Desk, base: Base, units: dict[int, int], moves: Sequence[dict[str, Any]], lines: Sequence[dict[str, Any]]
) -> dict[tuple[int, int], list[Owed]]:
    """By product and warehouse."""
    picking: dict[tuple[str, int], Decimal] = defaultdict(Decimal)
    leaving = []
    for move in moves:
        if move["to_location"] in base.inside:
            quantity = base.to_base(move["quantity"], move["unit"], units[move["product"]])
            picking[str(move["shipment"]), move["product"]] += quantity
        else:
            leaving.append(move)
    found: dict[tuple[int, int], list[Owed]] = defaultdict(list)
    for move in leaving:
        quantity = base.to_base(move["quantity"], move["unit"], units[move["product"]])
        if move["state"] == "assigned":
            assigned = quantity
        else:
            of = str(move["shipment"]), move["product"]
            assigned = min(quantity, picking[of])
            picking[of] -= assigned
        place = base.inside.get(move["from_location"], 0)
        found[move["product"], place].append(Owed(move["sale"], _due(desk, move), quantity, assigned))
    for line in lines:
        quantity = base.to_base(line["quantity"], line["unit"], units[line["product"]])
        found[line["product"], line["sale."]["warehouse"]].append(Owed(line["sale"], _due(desk, line), quantity))
    return found


def _due(desk: Desk, row: dict[str, Any]) -> date:
    """The day promised for the sale of a move or line, else the day of the sale, else what is planned."""
    sale = row.get("sale.") or {}
    found: date = sale.get("shipping_date") or sale.get("sale_date") or row.get("planned_date") or desk.today
    return found
