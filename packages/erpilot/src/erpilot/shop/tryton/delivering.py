"""Goods that go out for an order.

Invariant: only what the server itself could assign goes out, never by force; the key stands on the shipment before
anything is moved; what is not sent stays on the order, for another shipment.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, Final

from ..documents import Order
from ..errors import Conflict, Invalid, NotFound, Refused, ShopError, UnknownOutcome
from ..values import ZERO
from ..verbs.outcome import FieldChange, Write, Written
from ..verbs.selling import LinePart, Parcel
from . import keys, orders
from .access import explained
from .codec import number as as_float
from .confirming import expect, reserve
from .desk import Base, Desk, plain, relative
from .keys import Mark, mark
from .order_rows import PURCHASE, goods_lines
from .pressing import claim, press
from .selling import MODEL, order_at

SHIPMENT: Final = "stock.shipment.out"
OPEN: Final = ("draft", "waiting", "assigned")
RIGHTS: Final = ((SHIPMENT, "write"), ("stock.move", "write"))
FIELDS: Final = [
    "number",
    "state",
    "reference",
    "_timestamp",
    "outgoing_moves.product",
    "outgoing_moves.quantity",
    "outgoing_moves.unit",
    "outgoing_moves.origin",
    "outgoing_moves.state",
    "inventory_moves.product",
    "inventory_moves.quantity",
    "inventory_moves.unit",
    "inventory_moves.state",
]


async def deliver_order(desk: Desk, number: str, parts: Sequence[LinePart], parcel: Parcel, write: Write) -> Written:
    """Sends goods, once per key."""
    await desk.require("stock")
    made = mark("deliver_order", write, number, tuple(parts), parcel)
    row, model, _ = await orders.find_row(desk, number, "sale", light=True)
    if model is PURCHASE:
        raise Refused("Goods of a purchase come in, in Tryton itself.")
    async with keys.lock(desk.rpc, MODEL, row["id"]):
        row, order = await order_at(desk, row["id"])
        shipments = await _shipments(desk, row)
        mine = next((each for each in shipments if made.key in [m.key for m in keys.marks(each["reference"])]), None)
        if mine is not None:
            for each in keys.marks(mine["reference"]):
                if each.key == made.key:
                    made.check(each)
            if mine["state"] == "done":
                return await _answered(desk, row["id"], mine, order, write, repeated=True)
        _check(desk, order, parts, parcel)
        if mine is None:
            expect(order, write)
            mine = _chosen(shipments, order)
        try:
            await _send(desk, row, order, mine, parts, parcel, made, write)
        except UnknownOutcome:
            (now,) = await desk.rpc.read(SHIPMENT, [mine["id"]], ["state"])
            if now["state"] != "done":
                raise
        except ShopError as error:
            raise await explained(desk.rpc, error, "stock", *RIGHTS) from error
        return await _answered(desk, row["id"], mine, order, write, repeated=False)


async def _shipments(desk: Desk, row: dict[str, Any]) -> list[dict[str, Any]]:
    return await desk.rpc.read(SHIPMENT, [each["id"] for each in row["shipments."]], FIELDS)


def _check(desk: Desk, order: Order, parts: Sequence[LinePart], parcel: Parcel) -> None:
    """Raises for what cannot go out."""
    number = order.head.number
    if order.head.kind != "sale" or order.head.state not in ("confirmed", "in_progress"):
        raise Refused(f"{number} is {order.head.state}: nothing can go out for it.")
    if parcel.date and parcel.date > desk.today:
        raise Invalid(f"The day {parcel.date} is still to come.")
    lines = {line.line: line for line in order.lines}
    for part in parts:
        if part.line not in lines:
            raise NotFound(f"{number} has no line {part.line}.")
        if not part.quantity.value.is_finite() or part.quantity.value <= 0:
            raise Invalid(f"A quantity of {part.quantity.value} cannot go out.")
    if len({part.line for part in parts}) != len(parts):
        raise Invalid("A line is named twice.")


def _chosen(shipments: list[dict[str, Any]], order: Order) -> dict[str, Any]:
    """The shipment that is open. Raises ``Refused`` when there is none, or more than one."""
    waiting = [each for each in shipments if each["state"] in OPEN]
    if not waiting:
        raise Refused(f"{order.head.number} has no shipment to send in Tryton.", hint="Look at it in Tryton itself.")
    if len(waiting) > 1:
        raise Refused(f"{order.head.number} has several open shipments.", hint="Send them in Tryton itself.")
    return waiting[0]


async def _send(
    desk: Desk,
    row: dict[str, Any],
    order: Order,
    shipment: dict[str, Any],
    parts: Sequence[LinePart],
    parcel: Parcel,
    made: Mark,
    write: Write,
) -> None:
    base = await desk.base()
    if made not in keys.marks(shipment["reference"]):
        await claim(desk, SHIPMENT, shipment, made)
    if shipment["state"] == "draft":
        await press(desk, SHIPMENT, "wait", shipment["id"], write)
    if shipment["state"] in ("draft", "waiting"):
        await desk.rpc.act(f"model.{SHIPMENT}.assign_try", [shipment["id"]])
    if shipment["state"] in OPEN:
        (shipment_now,) = await desk.rpc.read(SHIPMENT, [shipment["id"]], FIELDS)
        lines = goods_lines(row)
        wanted = _asked(base, order, lines, parts) if parts else _there(base, lines, shipment_now)
        if not any(wanted.values()):
            raise Refused(f"Nothing of {order.head.number} is there to go out.")
        await _narrowed(desk, base, lines, shipment_now, wanted, write)
        record: dict[str, Any] = {"effective_date": parcel.date or desk.today}
        words = " ".join(filter(None, (parcel.carrier, parcel.tracking)))
        if words:
            record["reference"] = f"{words} {made.word}"
        await desk.rpc.act(f"model.{SHIPMENT}.write", [shipment["id"]], record)
    (shipment_now,) = await desk.rpc.read(SHIPMENT, [shipment["id"]], ["state"])
    steps = ("pick", "pack", "ship", "do")
    done = {"assigned": 0, "picked": 1, "packed": 2, "shipped": 3}.get(shipment_now["state"], 0)
    for button in steps[done:]:
        await press(desk, SHIPMENT, button, shipment["id"], write)


def _asked(base: Base, order: Order, lines: list[dict[str, Any]], parts: Sequence[LinePart]) -> dict[int, Decimal]:
    """By id of the line, in its unit. Raises ``Refused`` for more than is open."""
    found: dict[int, Decimal] = {}
    for part in parts:
        line, row = order.lines[part.line - 1], lines[part.line - 1]
        units = {unit.name: unit.factor for unit in base.units_of(row["product."]["default_uom"])}
        if part.quantity.unit not in units:
            raise Invalid(
                f"{part.quantity.unit!r} is not a unit of {line.sku}.", hint=f"Its units: {', '.join(units)}."
            )
        quantity = plain(part.quantity.value * units[part.quantity.unit] / line.factor)
        if quantity > line.open:
            raise Refused(f"Line {line.line} of {order.head.number} has only {line.open:f} {line.unit} open.")
        rounding = base.units[row["unit"]].rounding
        if quantity % rounding:
            raise Invalid(f"{quantity} {line.unit} of {line.sku} cannot be: {line.unit} goes out whole.")
        found[row["id"]] = quantity
    return found


def _there(base: Base, lines: list[dict[str, Any]], shipment: dict[str, Any]) -> dict[int, Decimal]:
    """What the server could assign, by line; in whole units of the line."""
    held: dict[int, Decimal] = defaultdict(Decimal)
    for move in shipment["inventory_moves."] or shipment["outgoing_moves."]:
        if move["state"] == "assigned":
            held[move["product"]] += move["quantity"] * base.units[move["unit"]].factor
    found: dict[int, Decimal] = {}
    for move in shipment["outgoing_moves."]:
        line = _line_of(move, lines)
        unit = base.units[line["unit"]]
        wanted = plain(move["quantity"] * relative(base.units[move["unit"]].factor, unit.factor))
        possible = (held[move["product"]] / unit.factor) // unit.rounding * unit.rounding
        sent = min(wanted, plain(possible))
        held[move["product"]] -= sent * unit.factor
        found[line["id"]] = found.get(line["id"], ZERO) + sent
    return found


def _line_of(move: dict[str, Any], lines: list[dict[str, Any]]) -> dict[str, Any]:
    origin = str(move["origin"] or "")
    for line in lines:
        if origin == f"sale.line,{line['id']}":
            return line
    raise Refused("The shipment holds goods of other orders too.", hint="Send it in Tryton itself.")


async def _narrowed(
    desk: Desk,
    base: Base,
    lines: list[dict[str, Any]],
    shipment: dict[str, Any],
    wanted: dict[int, Decimal],
    write: Write,
) -> None:
    """Makes the shipment hold exactly this, assigned. Raises ``Refused`` when it is not there."""
    changes: list[Any] = []
    left = dict(wanted)
    for move in shipment["outgoing_moves."]:
        line = _line_of(move, lines)
        unit = base.units[line["unit"]]
        held = plain(move["quantity"] * relative(base.units[move["unit"]].factor, unit.factor))
        sent = min(held, left.get(line["id"], ZERO))
        left[line["id"]] = left.get(line["id"], ZERO) - sent
        if not sent:
            changes.append(("delete", [move["id"]]))
        elif sent != held:
            changes.append(("write", [move["id"]], {"quantity": as_float(sent), "unit": line["unit"]}))
    if any(rest > 0 for rest in left.values()):
        raise Conflict("The shipment holds less than is to go out.", hint="Read the order again.")
    row = shipment["id"]
    if changes:
        if shipment["state"] == "assigned":
            await press(desk, SHIPMENT, "wait", row, write)
        await press(desk, SHIPMENT, "draft", row, write)
        await desk.rpc.act(f"model.{SHIPMENT}.write", [row], {"outgoing_moves": changes})
        await press(desk, SHIPMENT, "wait", row, write)
    if changes or shipment["state"] != "assigned":
        await desk.rpc.act(f"model.{SHIPMENT}.assign_try", [row])
        (now,) = await desk.rpc.read(SHIPMENT, [row], ["state"])
        if now["state"] != "assigned":
            raise Refused("Not all of that is there and free to go out.", hint="Send less, or what is there.")


async def _answered(
    desk: Desk, row: int, shipment: dict[str, Any], before: Order, write: Write, *, repeated: bool
) -> Written:
    """The order afterwards, with the delivery and the invoices that came of it."""
    (sent,) = await desk.rpc.read(SHIPMENT, [shipment["id"]], ["number"])
    await _invoice(desk, row)
    await reserve(desk, row)
    _, order = await order_at(desk, row)
    new = await _invoices_of(desk, shipment)
    delivered = {line.line: line.delivered for line in before.lines}
    changes = tuple(
        FieldChange(order.head.number, f"line {line.line} delivered", delivered.get(line.line), line.delivered)
        for line in order.lines
        if delivered.get(line.line) != line.delivered
    )
    return Written(
        "deliver_order",
        write.key,
        sent["number"],
        desk.now(),
        write.by,
        changes,
        linked=(sent["number"], *new),
        document=order,
        repeated=repeated,
    )


async def told(desk: Desk, shipment: int, write: Write) -> Written | None:
    """What a shipment that is done has brought; None when it is not for one sale."""
    (row,) = await desk.rpc.read(SHIPMENT, [shipment], FIELDS)
    lines = {str(move["origin"] or "") for move in row["outgoing_moves."]}
    ids = [int(origin.partition(",")[2]) for origin in lines if origin.startswith("sale.line,")]
    sales = {line["sale"] for line in await desk.rpc.read("sale.line", ids, ["sale"])}
    if len(sales) != 1:
        return None
    (sale,) = sales
    _, order = await order_at(desk, sale)
    return await _answered(desk, sale, row, order, write, repeated=True)


async def _invoices_of(desk: Desk, shipment: dict[str, Any]) -> tuple[str, ...]:
    """Numbers of the posted invoices that ask for what a shipment brought, as far as the person may read them."""
    model = "account.invoice.line"
    if not await desk.may(model) or not await desk.has_field(model, "stock_moves"):
        return ()
    moves = [["stock_moves.shipment", "=", f"{SHIPMENT},{shipment['id']}"], ["invoice.number", "!=", None]]
    rows = await desk.rpc.search_read(model, moves, ["invoice.number"])
    return tuple(sorted({row["invoice."]["number"] for row in rows}))


async def _invoice(desk: Desk, row: int) -> None:
    """Posts the invoices that the delivery brought, where the person keeps the books; else they wait as drafts."""
    if "money" not in await desk.rights():
        return
    (sale,) = await desk.rpc.read(MODEL, [row], ["invoices.state", "invoice_method"])
    drafts = [each["id"] for each in sale["invoices."] if each["state"] == "draft"]
    if drafts and sale["invoice_method"] == "fulfillment":
        await desk.rpc.act("model.account.invoice.post", drafts)
