"""Corrections of stock after a count.

Invariant: a correction is an inventory of Tryton that is confirmed once; it is refused when the stock is not the one
that was shown, or when somebody else corrects the same product in the same place at that moment. The key stands in a
note on the inventory, before it has any effect; an inventory without one, or not confirmed, has changed nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from ..errors import Conflict, Invalid, NeedsConfirmation, Refused, ShopError, UnknownOutcome
from ..values import ZERO, Quantity
from ..verbs.outcome import FieldChange, Write, Written
from ..verbs.stock import Adjustment
from . import keys, products, stock
from .access import explained
from .codec import number
from .desk import Base, Desk, Place
from .keys import Mark, mark
from .pressing import press

MODEL: Final = "stock.inventory"
RIGHTS: Final = ((MODEL, "create"), (MODEL, "write"))
LOOKED_AT: Final = 300
"""The newest inventories, among which a key is looked for."""


@dataclass(frozen=True, slots=True)
class Correction:
    """One product in one place, in base units."""

    row: dict[str, Any]
    place: Place
    unit: str
    before: Decimal
    after: Decimal

    @property
    def subject(self) -> str:
        """As in ``FieldChange``."""
        return f"{self.row['code']}@{self.place.warehouse.code}"


async def adjust_stock(desk: Desk, adjustments: Sequence[Adjustment], reason: str, write: Write) -> Written:
    """Corrects stock, once per key, all of it or none."""
    await desk.require("stock")
    if not adjustments:
        raise Invalid("Nothing is to be corrected.")
    if not reason.strip():
        raise Invalid("A correction needs a reason.")
    made = mark("adjust_stock", write, tuple(adjustments), reason)
    async with keys.lock(desk.rpc, write.key):
        known = await find(desk, made.key)
        if known:
            known[0].mark.check(made)
            if all(each.done for each in known):
                return await _answered(desk, known, write, reason, repeated=True)
        corrections = await _checked(desk, adjustments, write)
        ids = [each.row for each in known] or await _drafted(desk, corrections, made, write, reason)
        try:
            await _alone(desk, corrections, ids)
            await _confirm(desk, ids, write)
        except UnknownOutcome:
            now = await desk.rpc.read(MODEL, ids, ["state"])
            if any(each["state"] != "done" for each in now):
                raise
        except ShopError as error:
            await _withdrawn(desk, ids)
            raise await explained(desk.rpc, error, "stock", *RIGHTS) from error
        changes = tuple(
            FieldChange(each.subject, "on_hand", Quantity(each.before, each.unit), Quantity(each.after, each.unit))
            for each in corrections
        )
        found = await find(desk, made.key)
        number_ = ", ".join(each.number for each in found)
        return Written("adjust_stock", write.key, number_, desk.now(), write.by, changes)


async def _checked(desk: Desk, adjustments: Sequence[Adjustment], write: Write) -> list[Correction]:
    """What each correction comes to. Raises for what cannot be, is not expected, or has to be accepted first."""
    base = await desk.base()
    rows = await products.rows_of(desk, [each.sku for each in adjustments])
    units = {row["id"]: row["default_uom"] for row in rows.values()}
    known = await stock.figures(desk, base, units, base.places)
    found: list[Correction] = []
    for each in adjustments:
        row, place = rows[each.sku], base.place(each.warehouse)
        product = products.product_of(row, base)
        there, flow = known[row["id"], place.id]
        if product.to_base(each.expected).value != there:
            raise Conflict(
                f"{each.sku} in {place.warehouse.name} is {there:f} {product.base.name} now,"
                f" not {each.expected.value:f}.",
                hint="Look at the stock again.",
            )
        value = product.to_base(_countable(base, row, each)).value
        after = value if each.mode == "set" else there + value
        if after < 0:
            raise Refused(f"{each.sku} in {place.warehouse.name} would be {after:f} {product.base.name}.")
        reserved = min(flow.owed, max(there, ZERO))
        token = f"below_reserved:{row['code']}@{place.warehouse.code}"
        if after < reserved and token not in write.accepted:
            raise NeedsConfirmation(
                f"{reserved:f} {product.base.name} of {each.sku} are reserved, and {after:f} would be left.",
                token=token,
            )
        found.append(Correction(row, place, product.base.name, there, after))
    if len({each.subject for each in found}) != len(found):
        raise Invalid("A product is corrected twice in one place.")
    return found


def _countable(base: Base, row: dict[str, Any], asked: Adjustment) -> Quantity:
    """The quantity, if there can be such a one. Raises ``Invalid``."""
    product = products.product_of(row, base)
    unit = product.unit(asked.quantity.unit)
    value = asked.quantity.value
    if not value.is_finite() or (asked.mode == "set" and value < 0):
        raise Invalid(f"{value} {unit.name} of {asked.sku} cannot be counted.")
    if unit.whole and value != value.to_integral_value():
        raise Invalid(f"{value} {unit.name} of {asked.sku} cannot be: {unit.name} is counted whole.")
    return Quantity(value, unit.name)


async def _drafted(desk: Desk, corrections: Sequence[Correction], made: Mark, write: Write, reason: str) -> list[int]:
    """Inventories, one for each place, with the key on each; they have no effect yet."""
    base = await desk.base()
    by_place: dict[int, list[Correction]] = defaultdict(list)
    for each in corrections:
        by_place[each.place.id].append(each)
    records = []
    for parts in by_place.values():
        place = parts[0].place
        # Goods on their way through the warehouse were counted too, but are kept elsewhere in it.
        elsewhere = await stock.on_hand(desk, [each.row["id"] for each in parts], place.storage)
        lines = []
        for each in parts:
            counted = each.after - (each.before - elsewhere.get(each.row["id"], ZERO))
            if counted < 0:
                raise Refused(f"More of {each.row['code']} is being picked or received than would be left.")
            lines.append({"product": each.row["id"], "quantity": number(counted)})
        records.append(
            {
                "company": base.company_id,
                "location": place.storage,
                "date": desk.today,
                "empty_quantity": "keep",
                "lines": [("create", lines)],
            }
        )
    try:
        ids: list[int] = await desk.rpc.act(f"model.{MODEL}.create", records)
    except ShopError as error:
        raise await explained(desk.rpc, error, "stock", *RIGHTS) from error
    agreed = f", agreed by {write.approved_by}" if write.approved_by else ""
    message = f"{made.word} by {write.by or desk.rpc.user}{agreed}: {reason.strip()}"
    await desk.rpc.act("model.ir.note.create", [{"resource": f"{MODEL},{each}", "message": message} for each in ids])
    return ids


async def _alone(desk: Desk, corrections: Sequence[Correction], ids: Sequence[int]) -> None:
    """Raises ``Conflict`` when an older correction of one of these products is under way, or has just been made. Asked
    after our own became visible, so of two at least one sees the other.
    """
    base = await desk.base()
    rows = [each.row["id"] for each in corrections]
    open_ = await desk.rpc.search_read(
        MODEL,
        [
            ["state", "=", "draft"],
            ["id", "<", min(ids)],
            ["date", "=", desk.today],
            ["location", "in", [each.place.storage for each in corrections]],
            ["lines.product", "in", rows],
        ],
        ["id"],
    )
    noted = await _notes(desk, [each["id"] for each in open_])
    if noted:
        raise Conflict("Somebody else is correcting the same stock.", hint="Look at the stock again.")
    units = {each.row["id"]: each.row["default_uom"] for each in corrections}
    known = await stock.figures(desk, base, units, base.places)
    for each in corrections:
        if known[each.row["id"], each.place.id][0] != each.before:
            raise Conflict(f"The stock of {each.subject} has just changed.", hint="Look at the stock again.")


async def _confirm(desk: Desk, ids: list[int], write: Write) -> None:
    """All of them in one call, which is one transaction of the server."""
    if len(ids) == 1:
        await press(desk, MODEL, "confirm", ids[0], write)
    else:
        await desk.rpc.act(f"model.{MODEL}.confirm", ids)


async def _withdrawn(desk: Desk, ids: Sequence[int]) -> None:
    """Cancels drafts that came to nothing, so that they are in nobody's way."""
    rows = await desk.rpc.read(MODEL, list(ids), ["state"])
    drafts = [row["id"] for row in rows if row["state"] == "draft"]
    if drafts:
        await desk.rpc.act(f"model.{MODEL}.cancel", drafts)


@dataclass(frozen=True, slots=True)
class Counted:
    """An inventory with a key of ours."""

    row: int
    number: str
    done: bool
    mark: Mark


async def find(desk: Desk, key: str) -> list[Counted]:
    """The inventories that a hashed key has made, as far as they are not withdrawn."""
    if not await desk.may(MODEL):
        return []
    rows = await desk.rpc.search_read(
        MODEL, [["state", "!=", "cancelled"]], ["number", "state"], order=[("id", "DESC")], limit=LOOKED_AT
    )
    by_resource = {f"{MODEL},{row['id']}": row for row in rows}
    found = []
    for note in await _notes(desk, [row["id"] for row in rows], key):
        row = by_resource[note["resource"]]
        for each in keys.marks(note["message"]):
            if each.key == key:
                found.append(Counted(row["id"], row["number"] or f"#{row['id']}", row["state"] == "done", each))
    return sorted(found, key=lambda each: each.row)


async def _notes(desk: Desk, ids: Sequence[int], key: str = "") -> list[dict[str, Any]]:
    """Notes of ours on inventories."""
    if not ids:
        return []
    domain = [
        ["resource", "in", [f"{MODEL},{each}" for each in ids]],
        ["message", "like", f"%erpilot:adjust\\_stock:{key}%"],
    ]
    return await desk.rpc.search_read("ir.note", domain, ["resource", "message"])


async def _answered(desk: Desk, known: Sequence[Counted], write: Write, reason: str, *, repeated: bool) -> Written:
    """What a correction that is done has changed, from its own lines."""
    changes = await changes_of(desk, [each.row for each in known])
    number_ = ", ".join(each.number for each in known)
    return Written("adjust_stock", write.key, number_, desk.now(), write.by, changes, repeated=repeated)


async def changes_of(desk: Desk, ids: Sequence[int]) -> tuple[FieldChange, ...]:
    """Stock before and after, from inventories that are done."""
    base = await desk.base()
    rows = await desk.rpc.read(
        MODEL,
        list(ids),
        ["location", "lines.product.code", "lines.product.default_uom", "lines.expected_quantity", "lines.quantity"],
    )
    found = []
    for row in rows:
        place = next((each for each in base.places if each.storage == row["location"]), None)
        code = place.warehouse.code if place else ""
        for line in row["lines."]:
            unit = base.units[line["product."]["default_uom"]].name
            before = Quantity(Decimal(line["expected_quantity"] or 0).normalize(), unit)
            after = Quantity(Decimal(line["quantity"] or 0).normalize(), unit)
            found.append(FieldChange(f"{line['product.']['code']}@{code}", "on_hand", before, after))
    return tuple(found)
