"""What happened in the example shop: two years of documents around its day, from one seed.

Invariant: nothing here depends on anything but the tables, the seed and the shop's day; moving the day moves every
date and changes nothing else. Numbers are names: their year is that of the series, not of the date.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from decimal import Decimal

from ..catalogue import Product
from ..documents import Customer, Delivery, Kind, Line, Order, OrderHead, Payment, PriceOrigin, State, add_up, progress
from ..pricing import PriceList, PriceTier, line_amounts, price_line
from ..values import Money, Quantity
from .goods import Goods
from .parties import LISTS, Parties, tiers

SEED = 20261130
CARRIERS = (("顺丰速运", "SF"), ("德邦物流", "DPK"), ("中通快运", "ZTO"), ("自有车队", ""))
NOTES = ("送货前先打电话", "周末不收货", "要开专票", "外包装写门店号", "放传达室", "款到发货")
METHODS = ("微信", "支付宝", "银行转账", "现金")
WAREHOUSES = (("MAIN", "总仓"), ("EAST", "东门店"))


@dataclass(frozen=True, slots=True)
class Move:
    """Stock that came (positive) or went, in base units; ``day`` from the shop's day."""

    sku: str
    warehouse: str
    quantity: Decimal
    reason: str
    document: str | None
    day: int


@dataclass
class Trade:
    """Everything that happened so far, and what the generators draw from."""

    goods: list[Goods]
    parties: Parties
    today: date
    rng: random.Random = field(default_factory=lambda: random.Random(SEED))
    orders: list[tuple[Order, str]] = field(default_factory=list)
    """With the code of the warehouse."""
    moves: list[Move] = field(default_factory=list)
    _tiers: dict[tuple[str, str], list[PriceTier]] = field(default_factory=dict)
    _deliveries: int = 0
    _payments: int = 0

    def __post_init__(self) -> None:
        self.by_sku = {each.product.sku: each for each in self.goods}
        self.position = {each.product.sku: at for at, each in enumerate(self.goods)}
        self.customer = {each.id: each for each in self.parties.customers}
        self.supplier = {each.id: each for each in self.parties.suppliers}
        self.everyday = [each for each in self.goods if each.everyday and each.product.active]
        self.others = [each for each in self.goods if not each.everyday and each.product.active]

    def day(self, offset: int) -> date:
        """The day that many days from the shop's."""
        return self.today + timedelta(offset)

    def chance(self, share: float) -> bool:
        """True that often."""
        return self.rng.random() < share

    def tiers_of(self, sku: str, price_list: str) -> list[PriceTier]:
        """Prices of a product in a list."""
        key = (sku, price_list)
        if key not in self._tiers:
            self._tiers[key] = tiers(self.by_sku[sku], price_list, self.position[sku], self.today)
        return self._tiers[key]

    def next_delivery(self) -> str:
        """A new number of a delivery."""
        self._deliveries += 1
        return f"DN-2026-{self._deliveries:04d}"

    def next_payment(self) -> str:
        """A new number of a payment."""
        self._payments += 1
        return f"PAY-{self._payments:04d}"


def list_of(code: str) -> PriceList:
    """The price list with that code."""
    return next(each for each in LISTS if each.code == code)


def sold(
    trade: Trade,
    customer: Customer,
    offset: int,
    at: int,
    sku: str,
    qty: Decimal,
    unit: str,
    discount: Decimal = Decimal(0),
) -> Line:
    """A line at the price of its day."""
    product = trade.by_sku[sku].product
    prices, chosen = trade.tiers_of(sku, customer.price_list), list_of(customer.price_list)
    priced = price_line(product, Quantity(qty, unit), prices, chosen, product.list_price, trade.day(offset), discount)
    return _line(product, at, qty, unit, priced.unit_price, priced.tax_rate, priced.amount, priced.tax, discount)


def bought(product: Product, at: int, qty: Decimal, unit: str) -> Line:
    """A purchase line at cost, tax not included."""
    cost = (product.cost or product.list_price) * product.unit(unit).factor
    amount, tax = line_amounts(qty, cost, Decimal(0), product.tax_rate, "CNY", tax_included=False)
    return _line(product, at, qty, unit, cost, product.tax_rate, amount, tax, Decimal(0))


def _line(
    product: Product,
    at: int,
    qty: Decimal,
    unit: str,
    price: Decimal,
    rate: Decimal,
    amount: Money,
    tax: Money,
    off: Decimal,
) -> Line:
    origin: PriceOrigin = "rule"
    return Line(
        line=at,
        sku=product.sku,
        name=product.name,
        specification=product.specification,
        unit=unit,
        factor=product.unit(unit).factor,
        base_unit=product.base.name,
        ordered=qty,
        unit_price=price,
        tax_rate=rate,
        amount=amount,
        tax=tax,
        discount=off,
        price_origin=origin,
    )


def some_lines(trade: Trade, customer: Customer, offset: int, *, avoid: frozenset[str] = frozenset()) -> list[Line]:
    """What a customer usually orders: one to five products, everyday ones mostly, by the case where there is one."""
    count = 1 + trade.rng.randrange(5)
    lines: list[Line] = []
    chosen: set[str] = set(avoid)
    while len(lines) < count:
        pool = trade.everyday if trade.chance(0.7) else trade.others
        product = pool[trade.rng.randrange(len(pool))].product
        if product.sku in chosen:
            continue
        chosen.add(product.sku)
        qty, unit = some_quantity(trade, product)
        off = Decimal(5) if trade.chance(0.08) else Decimal(0)
        lines.append(sold(trade, customer, offset, len(lines) + 1, product.sku, qty, unit, off))
    return lines


def some_quantity(trade: Trade, product: Product) -> tuple[Decimal, str]:
    """A likely quantity of a product."""
    case = next((unit for unit in product.units if unit.name == "箱"), None)
    if case is not None and case.factor <= 60 and trade.chance(0.6) and product.list_price * case.factor < 1500:
        return Decimal(1 + trade.rng.randrange(8)), case.name
    most = 3 if product.list_price >= 500 else 12 if product.list_price >= 50 else 60
    return max(Decimal(1 + trade.rng.randrange(most)), product.min_order), product.base.name


def deliver(
    trade: Trade, number: str, warehouse: str, lines: list[Line], offset: int, share: list[Decimal], *, arrived: bool
) -> tuple[list[Line], Delivery]:
    """Ships ``share`` of each line's unit quantity; the lines with it, the parcel, and the moves in the ledger."""
    after, inside = [], []
    for line, qty in zip(lines, share, strict=True):
        if qty > 0:
            inside.append((line.sku, qty, line.unit))
            trade.moves.append(Move(line.sku, warehouse, -qty * line.factor, "delivery", number, offset))
        after.append(replace(line, delivered=line.delivered + qty))
    carrier, prefix = CARRIERS[trade.rng.randrange(len(CARRIERS))]
    tracking = f"{prefix}{trade.rng.randrange(10**9, 10**10)}" if prefix else None
    parcel = Delivery(
        trade.next_delivery(),
        trade.day(offset),
        "delivered" if arrived else "shipped",
        warehouse,
        carrier,
        tracking,
        tuple(inside),
    )
    return after, parcel


def receive(
    trade: Trade, number: str, warehouse: str, lines: list[Line], offset: int, share: list[Decimal]
) -> list[Line]:
    """Takes goods of a purchase in."""
    after = []
    for line, qty in zip(lines, share, strict=True):
        if qty > 0:
            trade.moves.append(Move(line.sku, warehouse, qty * line.factor, "receipt", number, offset))
        after.append(replace(line, delivered=line.delivered + qty))
    return after


def pay(trade: Trade, amount: Money, offset: int) -> Payment:
    """A payment on a day, never after the shop's."""
    method = METHODS[trade.rng.randrange(len(METHODS))]
    return Payment(trade.next_payment(), trade.day(min(offset, 0)), method, amount)


def document(
    trade: Trade,
    number: str,
    kind: Kind,
    party: Customer,
    offset: int,
    state: State,
    lines: list[Line],
    *,
    warehouse: str = "MAIN",
    promised: int | None = None,
    valid: int | None = None,
    deliveries: list[Delivery] | None = None,
    payments: list[Payment] | None = None,
    source: str | None = None,
    note: str | None = None,
) -> Order:
    """Puts a document together and records it; offsets are days from the shop's day."""
    currency = lines[0].amount.currency
    taxed_in = list_of(party.price_list).tax_included if kind != "purchase" else False
    total = add_up([(line.amount, line.tax) for line in lines], currency, tax_included=taxed_in).total
    head = OrderHead(
        number=number,
        kind=kind,
        party_id=party.id,
        party=party.name,
        date=trade.day(offset),
        promised=trade.day(promised) if promised is not None else None,
        state=state,
        shipped=progress([(line.delivered, line.ordered - line.cancelled) for line in lines]),
        invoiced=progress([(line.invoiced, line.ordered - line.cancelled) for line in lines]),
        total=total,
        version="1",
    )
    order = Order(
        head,
        taxed_in,
        warehouse,
        tuple(lines),
        tuple(deliveries or ()),
        tuple(payments or ()),
        trade.day(valid) if valid is not None else None,
        source,
        note,
    )
    trade.orders.append((order, warehouse))
    return order
