"""What became of a write, by its key.

Invariant: a key that stands on nothing has done nothing; one that stands on a record has done what the record shows and
no more: the mark of a button that was not pressed is no effect, and the last mark on a record is the only one whose
button can have been pressed.
"""

from __future__ import annotations

from typing import Any

from ..verbs.outcome import Write, Written
from . import counting, delivering, keys, selling
from .desk import Desk, optional
from .keys import Mark
from .selling import MODEL

_MOVED: dict[str, tuple[str, ...]] = {
    "create_quotation": ("quotation", "confirmed", "processing", "done", "cancelled"),
    "create_order": ("confirmed", "processing", "done"),
    "confirm_quotation": ("confirmed", "processing", "done"),
}


async def find_by_key(desk: Desk, key: str) -> Written | None:
    """What the write with this key did; None when it did nothing."""
    hashed, write = keys.hashed(key), Write(key, None)
    for model in (MODEL, delivering.SHIPMENT):
        for row, mark in await _marked(desk, model, hashed):
            found = await _told(desk, model, row, mark, write)
            if found is not None:
                return found
    known = await counting.find(desk, hashed)
    if known and all(each.done for each in known):
        changes = await counting.changes_of(desk, [each.row for each in known])
        number = ", ".join(each.number for each in known)
        return Written("adjust_stock", key, number, desk.now(), None, changes, repeated=True)
    return None


async def _marked(desk: Desk, model: str, hashed: str) -> list[tuple[dict[str, Any], Mark]]:
    """Records with this key on them, the most advanced first."""
    domain = [["reference", "like", f"%erpilot:%:{hashed}:%"]]
    rows = await optional(
        lambda: desk.rpc.search_read(model, domain, ["reference", "state"], order=[("id", "ASC")]), []
    )
    rows.sort(key=lambda row: (row["state"] == "draft", row["id"]))
    return [(row, each) for row in rows for each in keys.marks(row["reference"]) if each.key == hashed]


async def _told(desk: Desk, model: str, row: dict[str, Any], mark: Mark, write: Write) -> Written | None:
    if model == delivering.SHIPMENT:
        return await delivering.told(desk, row["id"], write) if row["state"] == "done" else None
    if mark.verb == "cancel_order":
        _, order = await selling.order_at(desk, row["id"])
        over = order.head.state in ("cancelled", "done") and not any(line.open for line in order.lines)
    else:
        over = row["state"] in _MOVED.get(mark.verb, ())
    if mark.verb == "confirm_quotation" and _confirmed_by(row) != mark:
        return None
    return await selling.answered(desk, mark.verb, write, row["id"], repeated=True) if over else None


def _confirmed_by(row: dict[str, Any]) -> Mark | None:
    """The last key that was to confirm it."""
    found = [each for each in keys.marks(row["reference"]) if each.verb == "confirm_quotation"]
    return found[-1] if found else None
