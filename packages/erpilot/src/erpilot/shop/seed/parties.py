"""Customers, suppliers and price lists of the example shop.

Invariant: who pays which list, and every price, follow from the tables and the shop's day alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal

from ..documents import Customer
from ..pricing import PriceList, PriceTier
from ..values import Money, rounded
from .goods import Goods, table

LISTS = (
    PriceList("retail", "零售价", "CNY", tax_included=True, aliases=("零售", "散客价")),
    PriceList("wholesale", "批发价", "CNY", tax_included=True, aliases=("批发",)),
    PriceList("vip", "VIP价", "CNY", tax_included=True, aliases=("VIP 客户", "vip price", "大客户", "贵宾")),
    PriceList("export", "出口价", "USD", tax_included=False, aliases=("出口",), taxed=False),
)
SHARES: dict[str, tuple[str, ...]] = {
    "retail": ("1",),
    "wholesale": ("0.88", "0.84", "0.80"),
    "vip": ("0.85", "0.81", "0.78"),
    "export": ("0.90", "0.86"),
}
"""Per list, what the first and each further tier costs as a share of the list price."""

YUAN_PER_DOLLAR = Decimal("7.1")
CHANGE_DAY = -8
"""The last change of prices, in days from the shop's day."""
FIRST_DAY, LAST_DAY = -800, 31
ABROAD = 8


@dataclass(frozen=True, slots=True)
class Parties:
    """Everybody the shop trades with."""

    customers: list[Customer]
    suppliers: list[Customer]


def load_parties() -> Parties:
    """Own parties first, then made-up companies, then customers and suppliers abroad."""
    own = [(row["role"], _own(row)) for row in table("own/parties.csv")]
    shorts = {row["customer_id"]: tuple(row["short_names"].split(";")) for row in table("own/short_names.csv")}
    chinese = [
        Customer(
            id=row["customer_id"],
            name=row["company_name"],
            short_names=shorts[row["customer_id"]],
            price_list=("wholesale", "retail", "wholesale", "vip")[at % 4],
            currency="CNY",
            terms=(30, 0, 15, 60)[at % 4],
            credit_limit=Money(Decimal((30000, 0, 20000, 80000)[at % 4]), "CNY"),
            contact=row["contact_name"],
            city=row["city"],
        )
        for at, row in enumerate(table("faker-zh/customers.csv"))
    ]
    foreign = [
        Customer(
            id=row["customer_id"],
            name=row["company_name"],
            short_names=(),
            price_list="export",
            currency="USD",
            terms=30,
            credit_limit=Money(Decimal(10000), "USD"),
            contact=row["contact_name"],
            city=row["city"],
        )
        for row in list(table("northwind/customers.csv"))[:ABROAD]
    ]
    importers = [
        Customer(
            id=f"NS{int(row['supplier_id']):02d}",
            name=row["company_name"],
            short_names=(),
            price_list="wholesale",
            currency="CNY",
            terms=30,
            contact=row["contact_name"],
            city=row["city"],
        )
        for row in table("northwind/suppliers.csv")
    ]
    customers = [party for role, party in own if role == "customer"]
    suppliers = [party for role, party in own if role == "supplier"]
    return Parties([*customers, *chinese, *foreign], [*suppliers, *importers])


def _own(row: dict[str, str]) -> Customer:
    return Customer(
        id=row["id"],
        name=row["name"],
        short_names=tuple(row["short_names"].split(";")),
        price_list=row["price_list"],
        currency=row["currency"],
        terms=int(row["terms"]),
        credit_limit=Money(Decimal(row["credit_limit"]), row["currency"]) if row["credit_limit"] else None,
        contact=row["contact"] or None,
        city=row["city"] or None,
    )


def tiers(goods: Goods, price_list: str, at: int, today: date) -> list[PriceTier]:
    """All tiers of the goods at that position of the table. Every third had another price before the last change."""
    product = goods.product
    steps = (Decimal(1), *tier_steps(goods))
    first, last = today + timedelta(FIRST_DAY), today + timedelta(LAST_DAY)
    changed = today + timedelta(CHANGE_DAY)
    before = Decimal("0.96") if at % 2 else Decimal("1.04")
    spans = [(first, last, Decimal(1))]
    if at % 3 == 0:
        spans = [(first, changed - timedelta(1), before), (changed, last, Decimal(1))]
    found: list[PriceTier] = []
    for start, end, factor in spans:
        previous: Decimal | None = None
        for step, share in zip(steps, SHARES[price_list], strict=False):
            price = _price(product.list_price * factor * Decimal(share), price_list)
            if previous is None or price < previous:
                found.append(PriceTier(step, price, start, end))
                previous = price
    return found


def _price(yuan: Decimal, price_list: str) -> Decimal:
    if price_list == "export":
        return max(rounded(yuan / YUAN_PER_DOLLAR, "USD"), Decimal("0.01"))
    return max(rounded(yuan, "CNY"), Decimal("0.01"))


def tier_steps(goods: Goods) -> tuple[Decimal, Decimal]:
    """From which quantities on it costs less, in base units: 10 and 40 cases, or by what one costs."""
    case = next((unit.factor for unit in goods.product.units if unit.name == "箱"), None)
    if case is not None and goods.product.list_price < 100:
        return case * 10, case * 40
    price = goods.product.list_price
    if price >= 500:
        return Decimal(5), Decimal(20)
    return (Decimal(20), Decimal(100)) if price >= 50 else (Decimal(100), Decimal(500))
