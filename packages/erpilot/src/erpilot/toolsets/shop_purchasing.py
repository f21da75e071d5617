"""The tool that makes a purchase order.

Invariant: a draft at the supplier's prices; minimums not met and cheaper suppliers are shown before a person agrees.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from agent_core.events import Change, Notice
from agent_core.tools.tool import Tool

from ..shop.backend import ErpBackend, Write, Written
from ..shop.errors import Denied, Unsupported
from ..shop.values import Money, zero
from ..shop.verbs.buying import PurchaseDraft, PurchaseDraftLine, SupplierOffer
from . import shop_results as r
from .shop_arguments import Day, Lines, Note, Query, Text
from .shop_resolve import lines_wanted, not_past, supplier_meant, warehouse_meant
from .shop_writing import Plan, writing


def purchasing_tools(backend: ErpBackend) -> list[Tool]:
    """Writing tools over one backend."""

    @writing(
        backend,
        "documents",
        target=lambda supplier, **_: supplier.strip().upper(),
        varies=("lines", "expected", "note"),
    )
    async def create_purchase_order(
        supplier: Query, lines: Lines, expected: Day = None, warehouse: Text = None, note: Note = None
    ) -> Plan:
        """Make a draft purchase order at the supplier's prices. `supplier`: id; `sku`: exact; `expected`: by when. A
        person confirms first, and sees costs, minimums not met, cheaper suppliers."""
        not_past(expected, backend.now().date(), "expected")
        who = await supplier_meant(backend, supplier, exact=True)
        wanted = await lines_wanted(backend, lines, exact=True)
        place = (await warehouse_meant(backend, warehouse, exact=True)).code if warehouse else None
        offers = await _offers(backend, [line.sku for line in wanted])
        products = await backend.get_products([line.sku for line in wanted])
        changes, notices = [Change("supplier", None, f"{who.name} ({who.id})")], list[Notice]()
        accepts, totals, seen = set[str](), dict[str, Money](), dict[str, str]()
        for line in wanted:
            product = products[line.sku]
            base = product.to_base(line.quantity).value
            record = f"{product.sku} {product.name}"
            asked = f"{r.plain(line.quantity.value)} {line.quantity.unit}"
            mine = next((each for each in offers if each.sku == line.sku and each.supplier_id == who.id), None)
            if mine is None:
                changes.append(Change("line", None, asked, record))
                continue
            count = base / product.unit(mine.unit).factor
            cost = Money(count * mine.price.amount, mine.price.currency)
            totals[cost.currency] = totals.get(cost.currency, zero(cost.currency)) + cost
            seen[f"offer {line.sku}"] = f"{mine.price.amount} {mine.price.currency}/{mine.unit}"
            text = f"{asked} x {mine.price.amount}/{mine.unit} = {cost.amount} {cost.currency}"
            changes.append(Change("line", None, text, record))
            if count < mine.min_qty:
                told = {"sku": line.sku, "minimum": f"{r.plain(mine.min_qty)} {mine.unit}", "supplier": who.name}
                notices.append(Notice("below_supplier_minimum", told))
                accepts.add(f"below_minimum:{line.sku}")
            notices += _cheaper(line.sku, mine, offers, {u.name: u.factor for u in product.units})
        changes += [Change("total", None, f"{money.amount} {money.currency}") for money in totals.values()]
        if expected is not None:
            changes.append(Change("expected", None, expected.isoformat()))
        draft = PurchaseDraft(
            who.id, tuple(PurchaseDraftLine(line.sku, line.quantity) for line in wanted), expected, place, note
        )

        async def act(write: Write, shown: Mapping[str, str]) -> Written:
            del shown
            return await backend.create_purchase(draft, write=write)

        return Plan(
            "new_purchase",
            tuple(changes),
            act,
            notices=tuple(notices),
            measures={f"total {currency}": money.amount for currency, money in totals.items()},
            seen=seen,
            accepts=frozenset(accepts),
        )

    return [create_purchase_order]


async def _offers(backend: ErpBackend, skus: list[str]) -> tuple[SupplierOffer, ...]:
    try:
        return await backend.supplier_offers(skus=skus)
    except (Denied, Unsupported):
        return ()


def _cheaper(
    sku: str, mine: SupplierOffer, offers: tuple[SupplierOffer, ...], factors: Mapping[str, Decimal]
) -> list[Notice]:
    """The supplier who charges least, where it is another one."""

    def per_base(offer: SupplierOffer) -> Decimal:
        return offer.price.amount / factors[offer.unit]

    others = [each for each in offers if each.sku == sku and each.price.currency == mine.price.currency]
    best = min(others, key=per_base)
    if per_base(best) >= per_base(mine):
        return []
    price = f"{best.price.amount} {best.price.currency}/{best.unit}"
    return [Notice("cheaper_supplier", {"sku": sku, "supplier": best.supplier, "price": price})]
