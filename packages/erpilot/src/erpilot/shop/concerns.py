"""What a person should know before an order is confirmed: expired validity, changed prices, shortages, credit.

Invariant: the same concerns are named in a preview and raised by the write; each that stops it has a token under which
it can be accepted, and the right that accepting takes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal

from .catalogue import StockLevel
from .documents import Line, Order
from .pricing import PricedLine
from .rights import Right
from .values import ZERO, Money
from .verbs.reading import Account

Code = Literal["discount", "below_cost", "expired", "price_changed", "short", "credit", "overdue"]


@dataclass(frozen=True, slots=True)
class Concern:
    """``token`` None: to be said, but it stops nothing. ``right``: what accepting it takes besides ``sell``."""

    code: Code
    values: Mapping[str, str]
    token: str | None = None
    right: Right | None = None


def expiry(order: Order, today: date) -> list[Concern]:
    """A quotation whose last day is over."""
    if order.valid_until is None or today <= order.valid_until:
        return []
    return [Concern("expired", {"valid_until": str(order.valid_until)}, token=f"expired:{order.valid_until}")]


def price_changes(lines: Sequence[Line], current: Sequence[PricedLine]) -> list[Concern]:
    """Lines of a list's price that costs something else now; the document keeps its own price."""
    return [
        Concern("price_changed", {"sku": line.sku, "quoted": str(line.unit_price), "current": str(now.unit_price)})
        for line, now in zip(lines, current, strict=True)
        if line.price_origin == "rule" and line.unit_price != now.unit_price
    ]


def shortages(lines: Sequence[Line], levels: Mapping[str, Sequence[StockLevel]], warehouse: str) -> list[Concern]:
    """What cannot be reserved in full in that warehouse (by code)."""
    found = []
    left = {
        sku: sum((level.available for level in each if level.warehouse.code == warehouse), ZERO)
        for sku, each in levels.items()
    }
    for line in lines:
        if line.sku not in left:
            continue
        wanted = line.open * line.factor
        missing = wanted - max(left[line.sku], ZERO)
        left[line.sku] -= wanted
        if missing > 0:
            values = {"sku": line.sku, "missing": f"{min(missing, wanted).normalize():f} {line.base_unit}"}
            found.append(Concern("short", values))
    return found


def credit(account: Account, total: Money) -> list[Concern]:
    """A limit that the order would pass, which stops it; debt that is overdue, which is said. Without terms nothing
    is sold on credit, so no limit is asked about.
    """
    found = []
    after = account.used + total
    if account.customer.terms and account.limit is not None and after.amount > account.limit.amount:
        values = {
            "limit": f"{account.limit.amount} {account.limit.currency}",
            "used": f"{account.used.amount} {account.used.currency}",
            "total": f"{total.amount} {total.currency}",
            "over": f"{(after - account.limit).amount} {after.currency}",
        }
        found.append(Concern("credit", values, token="credit", right="credit_over"))
    if account.overdue.amount > 0:
        values = {"overdue": f"{account.overdue.amount} {account.overdue.currency}", "since": str(account.oldest_due)}
        found.append(Concern("overdue", values))
    return found
