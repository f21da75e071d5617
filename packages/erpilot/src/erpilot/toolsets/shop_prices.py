"""The tool that changes prices.

Invariant: every price is named before and after, what is folded away is counted; open quotations keep theirs.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation

from agent_core.events import Change, Notice
from agent_core.tools.tool import Tier, Tool

from ..shop.backend import ErpBackend, Write, Written
from ..shop.errors import Invalid, Refused
from ..shop.verbs.control import PricePlan, PriceRule
from . import shop_results as r
from .shop_arguments import Amount, Day, Names, Note, Text
from .shop_resolve import one_product
from .shop_writing import MOST_SHOWN, Plan, folded, moved, writing


def price_tools(backend: ErpBackend) -> list[Tool]:
    """Writing tools over one backend."""

    @writing(
        backend, "prices", target=lambda skus=(), category=None, **_: category or ",".join(skus), tier=Tier.DANGEROUS
    )
    async def set_prices(
        start: Day = None,
        skus: Names = (),
        category: Text = None,
        price_lists: Names = (),
        percent: Amount = None,
        price: Amount = None,
        from_qty: Amount = None,
        rounding: Amount = None,
        reason: Note = None,
    ) -> Plan:
        """Change prices of products or a category from a day on: by `percent` (5 = dearer by 5 %) or to `price` (per
        base unit, of one price list). Open quotations keep theirs. A person confirms every time."""
        rule = PriceRule(
            start=start or backend.now().date(),
            skus=tuple([(await one_product(backend, sku, exact=True)).sku for sku in skus]),
            category=category,
            price_lists=price_lists,
            percent=_number(percent, "percent"),
            price=_number(price, "price"),
            from_qty=_number(from_qty, "from_qty"),
            rounding=_number(rounding, "rounding") or Decimal("0.01"),
        )
        plan = await backend.plan_prices(rule)
        if not plan.changes:
            raise Refused("No price would change by this.", hint="Check products, price lists and the new price.")

        async def act(write: Write, shown: Mapping[str, str]) -> Written:
            del shown
            return await backend.set_prices(plan.changes, reason=reason, write=write)

        return Plan(
            "set_prices",
            _price_changes(plan),
            act,
            notices=_price_notices(plan),
            seen={f"{each.sku}@{each.price_list}@{each.from_qty}": str(each.before) for each in plan.changes},
        )

    return [set_prices]


def _number(written: str | None, what: str) -> Decimal | None:
    if written is None:
        return None
    try:
        number = Decimal(written.strip().removesuffix("%").replace(",", "").strip())
    except InvalidOperation:
        raise Invalid(f"{what} {written[:40]!r} is not a number.") from None
    if not number.is_finite():
        raise Invalid(f"{what} {written[:40]!r} is not a number.")
    return number


def _price_changes(plan: PricePlan) -> tuple[Change, ...]:
    """The rule in words, and prices before and after."""
    products = len({each.sku for each in plan.changes})
    lists = sorted({each.price_list for each in plan.changes})
    head = [
        Change("prices_changed", None, f"{len(plan.changes)} ({products} SKU; {', '.join(lists)})"),
        Change("start", None, plan.rule.start.isoformat()),
        Change("rounding", None, str(plan.rule.rounding)),
    ]
    rows = [
        Change("price", *moved(each.before, each.after), f"{each.sku} {each.price_list} ≥ {r.plain(each.from_qty)}")
        for each in plan.changes[:MOST_SHOWN]
    ]
    return (*head, *rows)


def _price_notices(plan: PricePlan) -> tuple[Notice, ...]:
    notices = [Notice("quotations_keep", {})]
    if plan.below_cost:
        notices.append(Notice("below_cost", {"skus": ", ".join(plan.below_cost)}))
    if len(plan.changes) > MOST_SHOWN:
        notices.append(folded(len(plan.changes)))
    return tuple(notices)
