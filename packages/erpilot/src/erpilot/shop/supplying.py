"""What to buy: one formula, whatever ERP the parts of it come from.

Invariant: every part of the formula stands in the row; a suggestion can be ordered as it is (whole packs, at least the
supplier's minimum).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal

from .errors import Invalid
from .values import ZERO, Money, totals
from .verbs.reporting import Suggestion, Suggestions

NO_OFFER_DAYS = 7
"""Lead time that is assumed where no supplier says one."""


@dataclass(frozen=True, slots=True)
class Needed:
    """A product in base units: what is there for sale, comes, is owed without stock held for it, and was sold in the
    days looked at.
    """

    sku: str
    name: str
    unit: str
    available: Decimal
    incoming: Decimal
    waiting: Decimal
    sold: Decimal


@dataclass(frozen=True, slots=True)
class Offer:
    """What a supplier asks: ``price``, ``minimum`` and ``pack`` in ``unit``, which is ``factor`` base units."""

    supplier: str
    name: str
    unit: str
    factor: Decimal
    price: Money
    minimum: Decimal
    pack: Decimal
    lead: int


def check_days(cover_days: int, history_days: int) -> None:
    """Raises ``Invalid`` for days that cannot be counted with."""
    if not 1 <= cover_days <= 365 or not 1 <= history_days <= 730:
        raise Invalid("Suggestions need 1 to 365 days to cover and 1 to 730 days of history.")


def suggestion(needed: Needed, offer: Offer | None, cover_days: int, history_days: int) -> Suggestion:
    """What to buy of a product; see ``Suggestion`` for the formula."""
    daily = needed.sold / history_days
    lead = offer.lead if offer else NO_OFFER_DAYS
    wanted = daily * (lead + cover_days) + needed.waiting - needed.available - needed.incoming
    factor, pack, minimum = (offer.factor, offer.pack, offer.minimum) if offer else (Decimal(1), Decimal(1), ZERO)
    amount = ZERO
    if wanted > 0:
        amount = (max(wanted / factor, minimum) / pack).to_integral_value(ROUND_CEILING) * pack
    return Suggestion(
        sku=needed.sku,
        name=needed.name,
        unit=needed.unit,
        available=needed.available,
        incoming=needed.incoming,
        waiting=needed.waiting,
        sold=needed.sold,
        daily_use=round(daily, 2),
        lead_days=lead,
        wanted=round(wanted, 2),
        supplier_id=offer.supplier if offer else None,
        supplier=offer.name if offer else None,
        purchase_unit=offer.unit if offer else needed.unit,
        quantity=amount,
        price=offer.price if offer else None,
        amount=Money(offer.price.amount * amount, offer.price.currency) if offer else None,
        history=needed.sold > 0,
    )


def page_of(
    looked_at: Sequence[Suggestion], *, whole: bool, cover_days: int, history_days: int, limit: int, offset: int
) -> Suggestions:
    """A page, the most urgent first; ``whole``: also of what nothing is wanted, since it was asked for by name."""
    rows = [row for row in looked_at if whole or row.wanted > 0]
    rows.sort(key=lambda row: (_lasts(row), row.sku))
    return Suggestions(
        cover_days,
        history_days,
        tuple(rows[offset : offset + limit]),
        len(rows),
        totals(row.amount for row in rows if row.amount is not None),
        sum(not row.history for row in looked_at),
    )


def _lasts(row: Suggestion) -> Decimal:
    """Days that what is there and comes will do."""
    left = row.available + row.incoming - row.waiting
    return left / row.daily_use if row.daily_use else Decimal(0 if left < 0 else 10_000)
