"""The history of the example shop's last weeks: who made which document, and who counted what.

Invariant: an entry says nothing that the documents and the ledger do not say too.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from ..values import Quantity
from ..verbs.outcome import FieldChange, Verb
from .trade import Move, Trade

DAYS = 45
COUNTED = ("PA4-70", "EAST", Decimal(-1))
"""What yesterday's count corrected."""
MOVED = ("BV-NFSQ-550", Decimal(48))


@dataclass(frozen=True, slots=True)
class Entry:
    """A write of the past, at an hour of a day."""

    verb: Verb
    number: str
    day: date
    hour: int
    by: str
    changes: tuple[FieldChange, ...] = ()
    linked: tuple[str, ...] = ()
    is_document: bool = False
    reason: str | None = None


def warehouse_moves() -> list[Move]:
    """A count of yesterday and a transfer of last week."""
    sku, place, change = COUNTED
    moved, quantity = MOVED
    return [
        Move(sku, place, change, "count", "ADJ-0001", -1),
        Move(moved, "MAIN", -quantity, "transfer", "TR-0001", -6),
        Move(moved, "EAST", quantity, "transfer", "TR-0001", -6),
    ]


def entries(trade: Trade, on_hand: dict[tuple[str, str], Decimal]) -> list[Entry]:
    """By time. ``on_hand``: what is there today, by SKU and warehouse."""
    found = []
    verbs: dict[str, Verb] = {"quotation": "create_quotation", "sale": "create_order", "purchase": "create_purchase"}
    for order, _ in trade.orders:
        head = order.head
        if (trade.today - head.date).days > DAYS or head.kind not in verbs:
            continue
        by = "zhao" if head.kind == "purchase" else "chen"
        change = FieldChange(head.number, "total", None, head.total)
        found.append(Entry(verbs[head.kind], head.number, head.date, 9, by, (change,), is_document=True))
        if head.kind == "sale":
            for parcel in order.deliveries:
                found.append(
                    Entry("deliver_order", head.number, parcel.date, 15, "li", (), (parcel.number,), is_document=True)
                )
    sku, place, change_by = COUNTED
    unit = trade.by_sku[sku].product.base.name
    after = on_hand[sku, place]
    counted = FieldChange(f"{sku}@{place}", "on_hand", Quantity(after - change_by, unit), Quantity(after, unit))
    found.append(Entry("adjust_stock", "ADJ-0001", trade.day(-1), 16, "li", (counted,), reason="盘点，一包破损"))
    moved, quantity = MOVED
    unit = trade.by_sku[moved].product.base.name
    carried = FieldChange(moved, "transferred", None, Quantity(quantity, unit))
    found.append(Entry("transfer_stock", "TR-0001", trade.day(-6), 10, "li", (carried,), reason="东门店补货"))
    found.sort(key=lambda each: (each.day, each.hour, each.number))
    return found
