"""The warehouse: corrections after a count, and moves between warehouses.

Invariant: on hand is the sum of the ledger; a correction states what was expected and is refused when the stock is not
that any more; a transfer keeps the sum and takes only what is available.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from ..errors import Unsupported
from ..values import Quantity
from .outcome import Write, Written


@dataclass(frozen=True, slots=True)
class Adjustment:
    """``set``: what was counted is on hand now; ``change``: so much more (or, negative, less). ``expected``: what was
    on hand, in base units, when the person agreed. ``warehouse`` by code; ``quantity`` in a unit of the product.
    """

    sku: str
    warehouse: str
    mode: Literal["set", "change"]
    quantity: Quantity
    expected: Quantity


@dataclass(frozen=True, slots=True)
class TransferLine:
    """A product and how much of it moves, in a unit of the product."""

    sku: str
    quantity: Quantity


class Warehousing(Protocol):
    """Needs ``stock``."""

    kind: str

    async def adjust_stock(self, adjustments: Sequence[Adjustment], *, reason: str, write: Write) -> Written:
        """Corrects stock, all of it or none. ``changes``: ``on_hand`` of each SKU@WAREHOUSE, before and after. Raises
        ``Conflict`` when the stock is not the expected one, ``NeedsConfirmation`` (token
        ``below_reserved:SKU@WAREHOUSE``) when less than is reserved would be left, ``Refused`` below zero.
        """
        raise Unsupported("adjust_stock", self.kind)

    async def transfer_stock(
        self, lines: Sequence[TransferLine], *, source: str, target: str, note: str | None = None, write: Write
    ) -> Written:
        """Moves goods from one warehouse to another (by code). Raises ``Refused`` for more than is available."""
        raise Unsupported("transfer_stock", self.kind)
