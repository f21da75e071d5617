"""Purchases: what is on the way, and what suppliers charge.

Invariant: ordered = received + cancelled + to come, from the moves of each line; who may not see costs sees no amount.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from typing import Any, Final

from ..errors import ShopError
from ..values import ZERO, Money, totals
from ..verbs.buying import Purchase, PurchaseFilter, PurchaseLine, PurchasePage, SupplierOffer
from . import parties, products
from .access import explained
from .desk import Base, Desk, plain, relative
from .order_rows import version_of
from .products import escaped
from .states import state_of, states_domain

MODEL: Final = "purchase.purchase"
MOST: Final = 2000
_FIELDS: Final = [
    "number",
    "state",
    "shipment_state",
    "party.code",
    "party.name",
    "purchase_date",
    "delivery_date",
    "create_date",
    "warehouse.name",
    "currency.code",
    "total_amount",
    "_timestamp",
    "lines._timestamp",
    "lines.type",
    "lines.product.code",
    "lines.product.name",
    "lines.quantity",
    "lines.unit",
    "lines.moves.state",
    "lines.moves.quantity",
    "lines.moves.unit",
    "lines.moves_ignored",
]


async def page(desk: Desk, which: PurchaseFilter, limit: int, offset: int) -> PurchasePage:
    """The earliest expected first, and the totals of all that match."""
    base, sees_cost = await desk.base(), "see_cost" in await desk.rights()
    domain: list[Any] = []
    if which.supplier_id:
        domain.append(["party.code", "ilike", escaped(which.supplier_id.strip())])
    if which.states:
        domain.append(states_domain(which.states, purchase=True))
    if which.sku:
        row = (await products.rows_of(desk, [which.sku]))[which.sku]
        domain.append(["lines.product", "=", row["id"]])
    if which.open_only:
        domain.append(["state", "in", ["draft", "quotation", "confirmed", "processing"]])
    try:
        rows = await desk.rpc.search_read(MODEL, domain, _FIELDS, order=[("id", "ASC")], limit=MOST)
    except ShopError as error:
        raise await explained(desk.rpc, error, "buy", (MODEL, "read")) from error
    found = [_purchase(row, base, desk.today, sees_cost=sees_cost) for row in rows]
    if which.open_only:
        found = [each for each in found if any(line.to_come > 0 for line in each.lines)]
    if which.expected_by is not None:
        last = which.expected_by
        found = [each for each in found if each.expected is not None and each.expected <= last]
    found.sort(key=lambda each: (each.expected or date.max, each.number))
    return PurchasePage(
        tuple(found[offset : offset + limit]), len(found), totals(each.total for each in found if each.total)
    )


def _purchase(row: dict[str, Any], base: Base, today: date, *, sees_cost: bool) -> Purchase:
    state = state_of(row["state"], row["shipment_state"])
    lines = tuple(_line(each, base, over=state in ("cancelled",)) for each in row["lines."] if _is_product(each))
    expected: date | None = row["delivery_date"]
    open_ = any(line.to_come > 0 for line in lines)
    confirmed = state in ("confirmed", "in_progress", "done")
    late = (today - expected).days if expected and open_ and confirmed else 0
    party = row["party."]
    return Purchase(
        number=row["number"] or f"#{row['id']}",
        supplier_id=party["code"] or f"#{party['id']}",
        supplier=party["name"] or "",
        date=row["purchase_date"] or row["create_date"].date(),
        expected=expected,
        state=state,
        warehouse=(row["warehouse."] or {}).get("name") or "",
        lines=lines,
        confirmed=confirmed,
        days_late=max(late, 0),
        total=Money(Decimal(row["total_amount"] or 0), row["currency."]["code"]) if sees_cost else None,
        version=version_of(row),
    )


def _is_product(row: dict[str, Any]) -> bool:
    return row["type"] == "line" and bool(row["product."])


def _line(row: dict[str, Any], base: Base, *, over: bool) -> PurchaseLine:
    unit = base.units[row["unit"]]
    received, given_up, ignored = ZERO, ZERO, set(row["moves_ignored"])
    for move in row["moves."]:
        quantity = plain(move["quantity"] * relative(base.units[move["unit"]].factor, unit.factor))
        if move["id"] in ignored:
            given_up += quantity
        elif move["state"] == "done":
            received += quantity
    ordered = plain(row["quantity"])
    received = min(received, ordered)
    left = ordered - received
    return PurchaseLine(
        row["product."]["code"] or "",
        row["product."]["name"],
        unit.name,
        ordered,
        received,
        left if over else min(given_up, left),
    )


async def offers(desk: Desk, skus: Sequence[str], supplier_id: str | None) -> tuple[SupplierOffer, ...]:
    """What suppliers charge, the cheapest per base unit first. Needs ``see_cost`` or ``buy``."""
    await desk.require("see_cost", "buy")
    base = await desk.base()
    domain: list[Any] = []
    if supplier_id:
        domain.append(["party", "=", (await parties.row_of(desk, supplier_id, "supplier"))["id"]])
    if skus:
        rows = await products.rows_of(desk, skus)
        ids, templates = [row["id"] for row in rows.values()], [row["template"] for row in rows.values()]
        domain.append(["OR", ["product", "in", ids], [["product", "=", None], ["template", "in", templates]]])
    found: list[tuple[Decimal, SupplierOffer]] = []
    wanted = {sku.casefold() for sku in skus}
    for row in await _offer_rows(desk, domain):
        for product in [row["product."]] if row["product."] else row["template."]["products."]:
            if wanted and (product["code"] or "").casefold() not in wanted:
                continue
            for price in row["prices."]:
                found.append(_offer(row, product, price, base))
    found.sort(key=lambda each: (each[0], each[1].supplier_id))
    return tuple(offer for _, offer in found)


async def _offer_rows(desk: Desk, domain: list[Any]) -> list[dict[str, Any]]:
    return await desk.rpc.search_read(
        "purchase.product_supplier",
        domain,
        [
            "party.code",
            "party.name",
            "currency.code",
            "lead_time",
            "unit",
            "product.code",
            "product.default_uom",
            "template.products.code",
            "template.products.default_uom",
            "prices.quantity",
            "prices.unit_price",
        ],
        limit=MOST,
    )


def _offer(
    row: dict[str, Any], product: dict[str, Any], price: dict[str, Any], base: Base
) -> tuple[Decimal, SupplierOffer]:
    """With what a base unit costs."""
    unit = base.units[row["unit"]]
    factor = relative(unit.factor, base.units[product["default_uom"]].factor)
    lead = row["lead_time"]
    asked = Decimal(price["unit_price"] or 0)
    offer = SupplierOffer(
        sku=product["code"] or f"#{product['id']}",
        supplier_id=row["party."]["code"] or f"#{row['party.']['id']}",
        supplier=row["party."]["name"] or "",
        unit=unit.name,
        price=Money(asked, row["currency."]["code"]),
        min_qty=plain(Decimal(price["quantity"] or 0)),
        pack=plain(unit.rounding),
        lead_days=lead.days if lead is not None else 0,
    )
    return asked / factor, offer
