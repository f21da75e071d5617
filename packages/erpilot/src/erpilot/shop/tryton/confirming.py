"""A quotation becomes an order.

Invariant: the concerns are those of the preview; the key is written on the record before the button is pressed, so that
of two who confirm one does; the goods are assigned where the person may do that and they are there.
"""

from __future__ import annotations

from datetime import date
from typing import Any

from ..concerns import expiry, price_changes, shortages
from ..documents import Order
from ..errors import Conflict, Invalid, Refused, ShopError, UnknownOutcome
from ..values import Quantity
from ..verbs.outcome import Write, Written
from ..verbs.reading import LineWanted
from . import keys, orders, prices, stock
from .access import explained
from .desk import Desk, together
from .keys import mark
from .pressing import claim, press
from .selling import MODEL, RIGHTS, answered, credit_concerns, order_at

OPEN = ("draft", "quotation")


async def confirm_quotation(
    desk: Desk, number: str, promised: date | None, warehouse: str | None, write: Write
) -> Written:
    """Confirms a quotation, once per key."""
    await desk.require("sell")
    made = mark("confirm_quotation", write, number, promised, warehouse)
    row, _, _ = await orders.find_row(desk, number, None, light=True)
    async with keys.lock(desk.rpc, MODEL, row["id"]):
        row, order = await order_at(desk, row["id"])
        mine = [each for each in keys.marks(row["reference"]) if each.key == made.key]
        for each in mine:
            made.check(each)
        if mine and row["state"] not in OPEN:
            await reserve(desk, row["id"])
            return await answered(desk, "confirm_quotation", write, row["id"], repeated=True)
        if row["state"] not in OPEN:
            raise Refused(f"{order.head.number} is {order.head.state}: only open quotations can be confirmed.")
        if not mine:
            expect(order, write)
        place = await _checked(desk, row, order, promised, warehouse, write)
        try:
            if not mine:
                await claim(desk, MODEL, row, made)
            await _prepared(desk, row, order, promised, place, write)
            await press(desk, MODEL, "confirm", row["id"], write, timestamp=str(row["_timestamp"]))
        except UnknownOutcome:
            (now,) = await desk.rpc.read(MODEL, [row["id"]], ["state"])
            if now["state"] in OPEN:
                raise
        except ShopError as error:
            raise await explained(desk.rpc, error, "sell", *RIGHTS) from error
        await reserve(desk, row["id"])
        return await answered(desk, "confirm_quotation", write, row["id"], repeated=False, linked=(order.head.number,))


async def confirm_made(desk: Desk, row: int, write: Write) -> None:
    """The button of an order that was made with this write; its concerns were settled."""
    try:
        await press(desk, MODEL, "confirm", row, write)
    except UnknownOutcome:
        (now,) = await desk.rpc.read(MODEL, [row], ["state"])
        if now["state"] in OPEN:
            raise
    await reserve(desk, row)


def expect(order: Order, write: Write) -> None:
    """Raises ``Conflict`` when it is not the version that the write is based on, ``Invalid`` without a version."""
    if write.version is None:
        raise Invalid(f"A change of {order.head.number} has to say which version it is based on.")
    if write.version != order.head.version:
        raise Conflict(f"{order.head.number} was changed since it was shown.", hint="Read it again and decide anew.")


async def _checked(
    desk: Desk, row: dict[str, Any], order: Order, promised: date | None, warehouse: str | None, write: Write
) -> int:
    """The warehouse that it goes out of. Raises for what stops it."""
    base = await desk.base()
    if promised and promised < desk.today:
        raise Invalid(f"The day {promised} is past.")
    place = base.place(warehouse) if warehouse else None
    chosen = place.id if place else row["warehouse."]["id"]
    code = next((each.warehouse.code for each in base.places if each.id == chosen), "")
    wanted = [LineWanted(line.sku, Quantity(line.ordered, line.unit)) for line in order.lines]
    skus = [line.sku for line in order.lines]
    levels, known = await together(
        stock.levels(desk, skus, code or None), prices.known_of(desk, skus, order.head.party_id)
    )
    off = order.lines[0].discount
    quote = await prices.quote(desk, wanted, order.head.party_id, None, None, off, known=known)
    concerns = [*expiry(order, desk.today), *price_changes(order.lines, quote.lines)]
    concerns += shortages(order.lines, levels, code)
    concerns += await credit_concerns(desk, known, quote)
    await desk.settle(concerns, write)
    return int(chosen)


async def _prepared(
    desk: Desk, row: dict[str, Any], order: Order, promised: date | None, place: int, write: Write
) -> None:
    """What can only be changed in a draft: the promise, the warehouse, a validity that is over."""
    changes: dict[str, Any] = {}
    if promised and promised != row["shipping_date"]:
        changes["shipping_date"] = promised
    if place != row["warehouse."]["id"]:
        changes["warehouse"] = place
    if order.valid_until and order.valid_until < desk.today:
        changes |= {"quotation_date": desk.today, "quotation_validity": None}
    if changes and row["state"] == "quotation":
        await press(desk, MODEL, "draft", row["id"], write, timestamp=str(row["_timestamp"]))
        row["state"] = "draft"
    if changes:
        await desk.rpc.act(f"model.{MODEL}.write", [row["id"]], changes)
    if row["state"] == "draft":
        await press(desk, MODEL, "quote", row["id"], write)
        (now,) = await desk.rpc.read(MODEL, [row["id"]], ["_timestamp"])
        row["_timestamp"] = now["_timestamp"]


async def reserve(desk: Desk, row: int) -> None:
    """Has what is there assigned to the order, where the person may do that; else it is assigned at delivery."""
    if not await desk.may("stock.shipment.out", "write"):
        return
    (sale,) = await desk.rpc.read(MODEL, [row], ["shipments", "shipments.state"])
    waiting = [each["id"] for each in sale["shipments."] if each["state"] == "waiting"]
    for shipment in waiting:
        try:
            await desk.rpc.act("model.stock.shipment.out.assign_try", [shipment])
        except ShopError:
            # The order stands; what is not held now is held when it goes out.
            return
