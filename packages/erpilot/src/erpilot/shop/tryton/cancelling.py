"""Quotations and orders taken back, whole or what has not gone out.

Invariant: Tryton's own actions do it: a quotation is cancelled, a confirmed sale goes back to draft first, of one that
is processed the shipments are cancelled and given up. What has been invoiced or has gone out is not taken back here.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from ..documents import Order
from ..errors import Invalid, Refused, ShopError, UnknownOutcome
from ..verbs.outcome import FieldChange, Write, Written
from . import keys, orders
from .access import explained
from .confirming import expect
from .desk import Desk
from .keys import mark
from .order_rows import PURCHASE
from .pressing import claim, press
from .selling import MODEL, RIGHTS, order_at

SHIPMENT = "stock.shipment.out"
GIVEN_UP = ("cancelled", "done")
OPEN_SHIPMENTS = ("draft", "waiting", "assigned")


async def cancel_order(desk: Desk, number: str, reason: str, rest_only: bool, write: Write) -> Written:
    """Cancels, once per key."""
    await desk.require("sell")
    if not reason.strip():
        raise Invalid("A cancellation needs a reason.")
    made = mark("cancel_order", write, number, reason, rest_only)
    row, model, _ = await orders.find_row(desk, number, None, light=True)
    if model is PURCHASE:
        raise Refused("Purchases are cancelled in Tryton itself.")
    async with keys.lock(desk.rpc, MODEL, row["id"]):
        row, order = await order_at(desk, row["id"])
        mine = [each for each in keys.marks(row["reference"]) if each.key == made.key]
        for each in mine:
            made.check(each)
        if mine and _is_over(order):
            return _written(desk.now(), order, order, write, reason, repeated=True)
        if order.head.state == "cancelled":
            raise Refused(f"{order.head.number} is cancelled already.")
        if not mine:
            expect(order, write)
        _check(row, order, rest_only=rest_only)
        try:
            if not mine:
                await claim(desk, MODEL, row, made)
            await _cancel(desk, row, write)
        except UnknownOutcome:
            _, now = await order_at(desk, row["id"])
            if not _is_over(now):
                raise
        except ShopError as error:
            raise await explained(desk.rpc, error, "sell", *RIGHTS) from error
        await _noted(desk, row["id"], write, reason)
        _, after = await order_at(desk, row["id"])
        return _written(desk.now(), order, after, write, reason, repeated=False)


def _is_over(order: Order) -> bool:
    return order.head.state in GIVEN_UP and not any(line.open for line in order.lines)


def _check(row: dict[str, Any], order: Order, *, rest_only: bool) -> None:
    """Raises ``Refused`` for what cannot be taken back so."""
    number, out = order.head.number, any(line.delivered for line in order.lines)
    if not any(line.open for line in order.lines):
        raise Refused(f"Nothing is left to cancel on {number}.")
    if out and not rest_only:
        raise Refused(
            f"Goods of {number} went out: it cannot be cancelled whole.",
            hint="Cancel the rest, and take back what went out by a return.",
        )
    invoices = row.get("invoices.") or ()
    if any(each["state"] in ("posted", "paid") for each in invoices) and not out:
        raise Refused(f"{number} has been invoiced.", hint="It needs a credit note, in Tryton itself.")
    if out and row["invoice_state"] != "none" and any(each["state"] == "draft" for each in invoices):
        raise Refused(f"{number} has an invoice that is not posted yet.", hint="Post it or cancel it in Tryton first.")


async def _cancel(desk: Desk, row: dict[str, Any], write: Write) -> None:
    stamp = str(row["_timestamp"])
    if row["state"] == "confirmed":
        await press(desk, MODEL, "draft", row["id"], write, timestamp=stamp)
        await press(desk, MODEL, "cancel", row["id"], write)
    elif row["state"] in ("draft", "quotation"):
        await press(desk, MODEL, "cancel", row["id"], write, timestamp=stamp)
    else:
        await _give_up_goods(desk, row, write)
        await _give_up_invoices(desk, row)


async def _give_up_goods(desk: Desk, row: dict[str, Any], write: Write) -> None:
    """Cancels the shipments that are open, and ignores what they would have brought."""
    await desk.require("stock")
    for shipment in row["shipments."]:
        if shipment["state"] in OPEN_SHIPMENTS:
            await press(desk, SHIPMENT, "cancel", shipment["id"], write)
    (now,) = await desk.rpc.read(MODEL, [row["id"]], ["shipment_state", "lines.moves.state", "lines.moves_ignored"])
    moves = [
        move["id"]
        for line in now["lines."]
        for move in line["moves."]
        if move["state"] == "cancelled" and move["id"] not in line["moves_ignored"]
    ]
    if moves:
        asked = {"domain_moves": moves, "ignore_moves": moves, "recreate_moves": []}
        await _wizard(desk, "sale.handle.shipment.exception", asked, row["id"])


async def _give_up_invoices(desk: Desk, row: dict[str, Any]) -> None:
    """Cancels invoices that were never posted, and does without them."""
    (now,) = await desk.rpc.read(MODEL, [row["id"]], ["invoices.state", "invoices_ignored"])
    drafts = [each["id"] for each in now["invoices."] if each["state"] == "draft"]
    if not drafts:
        return
    try:
        await desk.rpc.act("model.account.invoice.cancel", drafts)
    except ShopError as error:
        raise await explained(desk.rpc, error, "money", ("account.invoice", "write")) from error
    asked = {"domain_invoices": drafts, "ignore_invoices": drafts, "recreate_invoices": []}
    await _wizard(desk, "sale.handle.invoice.exception", asked, row["id"])


async def _wizard(desk: Desk, name: str, asked: dict[str, Any], row: int) -> None:
    """The wizard that settles an exception of a sale."""
    where = {"active_model": MODEL, "active_id": row, "active_ids": [row]}
    session, _, _ = await desk.rpc.act(f"wizard.{name}.create", context=where)
    await desk.rpc.act(f"wizard.{name}.execute", session, {"ask": asked}, "handle", context=where)
    await desk.rpc.act(f"wizard.{name}.delete", session, context=where)


async def _noted(desk: Desk, row: int, write: Write, reason: str) -> None:
    """Leaves the reason as a note on the sale, for people; the sale is cancelled without it too."""
    agreed = f", agreed by {write.approved_by}" if write.approved_by else ""
    message = f"Cancelled by {write.by or desk.rpc.user}{agreed}: {reason.strip()}"
    try:
        await desk.rpc.act("model.ir.note.create", [{"resource": f"{MODEL},{row}", "message": message}])
    except ShopError:
        return


def _written(at: datetime, before: Order, after: Order, write: Write, reason: str, *, repeated: bool) -> Written:
    number = after.head.number
    changes = (
        FieldChange(number, "state", before.head.state, after.head.state),
        FieldChange(number, "reason", None, reason),
    )
    return Written("cancel_order", write.key, number, at, write.by, changes, document=after, repeated=repeated)
