"""Tryton's words for the state of a sale or a purchase, and ours, both ways.

Invariant: the state that is read from a record and the domain that finds records of that state agree. A sale without
goods that were sent is confirmed, also when Tryton already processes it; with all of them sent it is done, also when
it is not paid.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ..documents import Kind, Progress, State

SALE: Final[dict[State, list[Any]]] = {
    "draft": [["state", "=", "draft"]],
    "quoted": [["state", "=", "quotation"]],
    "confirmed": [
        "OR",
        ["state", "=", "confirmed"],
        [["state", "=", "processing"], ["shipment_state", "in", ["none", "waiting"]]],
    ],
    "in_progress": [["state", "=", "processing"], ["shipment_state", "in", ["partially shipped", "exception"]]],
    "done": ["OR", ["state", "=", "done"], [["state", "=", "processing"], ["shipment_state", "=", "sent"]]],
    "cancelled": [["state", "=", "cancelled"]],
}
PURCHASE: Final[dict[State, list[Any]]] = {
    **SALE,
    "confirmed": [
        "OR",
        ["state", "=", "confirmed"],
        [["state", "=", "processing"], ["shipment_state", "in", ["none", "waiting"]]],
    ],
    "in_progress": [["state", "=", "processing"], ["shipment_state", "in", ["partially shipped", "exception"]]],
    "done": ["OR", ["state", "=", "done"], [["state", "=", "processing"], ["shipment_state", "=", "received"]]],
}
OPEN_QUOTATION: Final = ["draft", "quotation"]
SOLD: Final = ["confirmed", "processing", "done"]


def state_of(state: str, shipment_state: str) -> State:
    """Our word for a record of these two states."""
    if state == "quotation":
        return "quoted"
    if state == "processing":
        if shipment_state in ("none", "waiting"):
            return "confirmed"
        return "done" if shipment_state in ("sent", "received") else "in_progress"
    words: dict[str, State] = {"draft": "draft", "confirmed": "confirmed", "done": "done", "cancelled": "cancelled"}
    return words.get(state, "in_progress")


def shipped_of(shipment_state: str) -> Progress:
    """How far goods are out, or in."""
    if shipment_state in ("sent", "received"):
        return "full"
    return "partial" if shipment_state in ("partially shipped", "exception") else "none"


def invoiced_of(invoice_state: str, shipment_state: str) -> Progress:
    """How far it is invoiced, as far as the header says: what is not out yet may have no invoice yet."""
    if invoice_state in ("none", "pending"):
        return "none"
    return "partial" if shipment_state == "partially shipped" else "full"


def kind_of(state: str, sale_date: object) -> Kind:
    """A sale that was never confirmed is a quotation, also when it was taken back."""
    if state in OPEN_QUOTATION or (state == "cancelled" and not sale_date):
        return "quotation"
    return "sale"


def kind_domain(kind: Kind) -> list[Any]:
    """Sales of that kind."""
    if kind == "quotation":
        return ["OR", ["state", "in", OPEN_QUOTATION], [["state", "=", "cancelled"], ["sale_date", "=", None]]]
    return ["OR", ["state", "in", SOLD], [["state", "=", "cancelled"], ["sale_date", "!=", None]]]


def states_domain(states: Sequence[State], *, purchase: bool = False) -> list[Any]:
    """Records in one of these states."""
    words = PURCHASE if purchase else SALE
    return ["OR", *(list(words[state]) for state in states)]
