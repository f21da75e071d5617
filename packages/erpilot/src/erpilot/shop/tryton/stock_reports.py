"""Stock as lists to act on, and what to buy.

Invariant: stock is what the server's moves come to, by warehouse; a value is what the stock would cost at today's cost,
and is shown to nobody who may not see costs; what is negative is never set off against what is there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Any, Final

from ..errors import Invalid
from ..supplying import Needed, Offer, check_days, page_of, suggestion
from ..values import ZERO, Money, totals, zero
from ..verbs.buying import SupplierOffer
from ..verbs.reporting import StockKind, StockReport, StockRow, Suggestions
from . import parties, products, purchases, stock
from .desk import Base, Desk, Place, relative, together
from .products import GOODS
from .sales_reports import PAGE, left_of, pages
from .states import SOLD

DAYS: Final[dict[StockKind, int]] = {"low": 14, "slow": 90, "value": 0, "negative": 0}
USE_DAYS: Final = 30


@dataclass
class _Level:
    """A product in a warehouse, in base units."""

    row: dict[str, Any]
    place: Place
    unit: str
    on_hand: Decimal
    owed: Decimal
    incoming: Decimal
    asked_for: Decimal
    used: Decimal = ZERO
    last_sale: date | None = None
    last_arrival: date | None = None

    @property
    def reserved(self) -> Decimal:
        """What is owed, as far as it is there."""
        return min(self.owed, max(self.on_hand, ZERO))

    @property
    def there(self) -> Decimal:
        """Available, and promised by suppliers."""
        return self.on_hand - self.reserved + self.incoming


async def report(
    desk: Desk, kind: StockKind, warehouse: str | None, days: int | None, limit: int, offset: int
) -> StockReport:
    """See ``Reporting.stock_report``."""
    held = await desk.require("see_reports", "stock", "see_cost")
    if kind == "value":
        await desk.require("see_cost")
    span = DAYS[kind] if days is None else days
    if not 0 <= span <= 3650:
        raise Invalid(f"A stock report over {span} days cannot be meant.", hint="1 to 3650 days.")
    base, sees_cost = await desk.base(), "see_cost" in held
    places = (base.place(warehouse),) if warehouse and warehouse.strip() else base.places
    levels = await _levels(desk, base, places, USE_DAYS, with_use=kind in ("low", "slow"))
    own = base.company.currency
    rows = [
        StockRow(
            sku=level.row["code"] or "",
            name=" ".join(filter(None, (level.row["name"], level.row["description"]))),
            warehouse=level.place.warehouse.name,
            unit=level.unit,
            on_hand=level.on_hand,
            reserved=level.reserved,
            incoming=level.incoming,
            value=_value(level, own) if sees_cost else None,
            last_sale=level.last_sale,
            last_arrival=level.last_arrival,
            daily_use=round(level.used / USE_DAYS, 2) if kind == "low" else None,
            enough_for=max(0, int(level.there * USE_DAYS // level.used)) if kind == "low" else None,
        )
        for level in levels
        if _belongs(kind, level, span, desk.today)
    ]
    rows.sort(key=lambda row: (*_rank(kind, row), row.sku, row.warehouse))
    by_place = {place.warehouse.name: zero(own) for place in places}
    for row in rows:
        if row.value is not None and row.on_hand > 0:
            by_place[row.warehouse] = by_place[row.warehouse] + row.value
    negative = [_value(level, own) for level in levels if level.on_hand < 0] if sees_cost else []
    return StockReport(
        kind=kind,
        days=span,
        rows=tuple(rows[offset : offset + limit]),
        total_count=len(rows),
        total=totals([zero(own), *by_place.values()])[own] if sees_cost else None,
        by_warehouse=by_place if sees_cost else {},
        negative_total=totals([zero(own), *(each for each in negative if each)])[own] if sees_cost else None,
        without_cost=sum(row.value is None for row in rows) if sees_cost else 0,
        as_of=desk.now(),
    )


async def _levels(desk: Desk, base: Base, places: Sequence[Place], use_days: int, *, with_use: bool) -> list[_Level]:
    """Every product that has, had or awaits stock, by warehouse."""
    fields = ["code", "name", "description", "default_uom", "active", "salable", "template"]
    if "see_cost" in await desk.rights():
        fields.append("cost_price")
    rows = [row async for row in pages(desk, "product.product", list(GOODS), fields)]
    by_id = {row["id"]: row for row in rows}
    base = await desk.base_knowing(row["default_uom"] for row in rows)
    known: dict[tuple[int, int], tuple[Decimal, stock.Flow]] = {}
    for at in range(0, len(rows), PAGE):
        part = {row["id"]: row["default_uom"] for row in rows[at : at + PAGE]}
        known |= await stock.figures(desk, base, part, places)
    by_place = {place.id: place for place in places}
    found: dict[tuple[int, int], _Level] = {}
    for (row, place), (on_hand, flow) in known.items():
        found[row, place] = _Level(
            by_id[row],
            by_place[place],
            base.units[by_id[row]["default_uom"]].name,
            on_hand,
            flow.owed,
            sum((each.quantity for each in flow.arrivals if each.confirmed), ZERO),
            sum((each.quantity for each in flow.arrivals), ZERO),
        )
    if with_use:
        await together(_used(desk, base, found, desk.today - timedelta(use_days - 1)), _arrived(desk, base, found))
    return list(found.values())


async def _used(desk: Desk, base: Base, found: dict[tuple[int, int], _Level], since: date) -> None:
    """What was sold since a day, and when last."""
    domain = [
        ["sale.state", "in", SOLD],
        ["quantity", ">", 0],
        ["product", "!=", None],
        ["sale.sale_date", "<=", desk.today],
    ]
    fields = ["product", "quantity", "unit", "moves_ignored.quantity", "moves_ignored.unit"]
    fields += ["sale.sale_date", "sale.warehouse"]
    async for line in pages(desk, "sale.line", domain, fields):
        level = found.get((line["product"], line["sale."]["warehouse"]))
        if level is None:
            continue
        day = line["sale."]["sale_date"]
        level.last_sale = max(filter(None, (level.last_sale, day)), default=None)
        if day >= since:
            unit = base.units[level.row["default_uom"]]
            level.used += (
                line["quantity"] * left_of(line, base) * relative(base.units[line["unit"]].factor, unit.factor)
            )


async def _arrived(desk: Desk, base: Base, found: dict[tuple[int, int], _Level]) -> None:
    """When goods came in last, from a supplier or by a count."""
    domain = [["state", "=", "done"], ["from_location.type", "in", ["supplier", "lost_found"]]]
    async for move in pages(desk, "stock.move", domain, ["product", "to_location", "effective_date"]):
        level = found.get((move["product"], base.inside.get(move["to_location"], 0)))
        if level is not None:
            level.last_arrival = max(filter(None, (level.last_arrival, move["effective_date"])), default=None)


def _belongs(kind: StockKind, level: _Level, days: int, today: date) -> bool:
    if kind == "negative":
        return level.on_hand < 0
    if kind == "value":
        return level.on_hand > 0
    if kind == "low":
        active = bool(level.row["active"] and level.row["salable"])
        return active and level.used > 0 and level.there * USE_DAYS < level.used * days
    if level.on_hand <= 0:
        return False
    before = today - timedelta(days)
    is_new = level.last_arrival is not None and level.last_arrival > before
    return not is_new and (level.last_sale is None or level.last_sale <= before)


def _value(level: _Level, currency: str) -> Money | None:
    cost = level.row.get("cost_price")
    return Money(Decimal(cost) * level.on_hand, currency) if cost else None


def _rank(kind: StockKind, row: StockRow) -> tuple[Decimal, ...]:
    """Worst, or most valuable, first."""
    if kind == "low":
        return (Decimal(row.enough_for or 0), -(row.daily_use or ZERO))
    if kind == "negative":
        return (row.value.amount if row.value else ZERO, row.on_hand)
    return (-(row.value.amount if row.value else ZERO), -row.on_hand)


async def suggest(
    desk: Desk,
    *,
    warehouse: str | None,
    supplier_id: str | None,
    skus: Sequence[str],
    cover_days: int,
    history_days: int,
    limit: int,
    offset: int,
) -> Suggestions:
    """See ``Reporting.suggest_purchases``."""
    await desk.require("buy", "see_cost")
    check_days(cover_days, history_days)
    base = await desk.base()
    places = (base.place(warehouse),) if warehouse and warehouse.strip() else base.places
    if supplier_id:
        await parties.row_of(desk, supplier_id, "supplier")
    wanted = {row["id"] for row in (await products.rows_of(desk, skus)).values()} if skus else None
    levels, offers = await together(
        _levels(desk, base, places, history_days, with_use=True), purchases.offers(desk, (), supplier_id)
    )
    best: dict[str, SupplierOffer] = {}
    for offer in offers:  # the cheapest first
        best.setdefault(offer.sku, offer)
    together_: dict[int, list[_Level]] = defaultdict(list)
    for level in levels:
        together_[level.row["id"]].append(level)
    rows = []
    for row_id, parts in together_.items():
        row = parts[0].row
        if not (row["active"] and row["salable"]) or (wanted is not None and row_id not in wanted):
            continue
        known = best.get(row["code"] or "")
        if supplier_id and known is None:
            continue
        offer = None if known is None else _offer(base, row, known)
        rows.append(suggestion(_needed(row, parts), offer, cover_days, history_days))
    return page_of(
        rows,
        whole=wanted is not None,
        cover_days=cover_days,
        history_days=history_days,
        limit=limit,
        offset=offset,
    )


def _needed(row: dict[str, Any], parts: Sequence[_Level]) -> Needed:
    return Needed(
        row["code"] or "",
        " ".join(filter(None, (row["name"], row["description"]))),
        parts[0].unit,
        available=sum((part.on_hand - part.reserved for part in parts), ZERO),
        incoming=sum((part.asked_for for part in parts), ZERO),
        waiting=sum((part.owed - part.reserved for part in parts), ZERO),
        sold=sum((part.used for part in parts), ZERO),
    )


def _offer(base: Base, row: dict[str, Any], known: SupplierOffer) -> Offer:
    units = {unit.name: unit.factor for unit in base.units_of(row["default_uom"])}
    return Offer(
        known.supplier_id,
        known.supplier,
        known.unit,
        units[known.unit],
        known.price,
        known.min_qty,
        max(known.pack, Decimal(1)),
        known.lead_days,
    )
