"""What a quantity costs: price lists with tiers, discount, tax, rounding.

Invariant: a price comes from a price list and the quantity of its line, or is marked as manual; each amount is
rounded once, per line, to the currency's smallest unit, so lines and tax add up to the total exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import ROUND_CEILING, Decimal

from .catalogue import Product, Unit
from .documents import Customer, Line, PriceOrigin, Totals, add_up
from .errors import Invalid, Refused
from .values import ZERO, Money, Quantity, rounded

HUNDRED = Decimal(100)


@dataclass(frozen=True, slots=True)
class PriceList:
    """Who pays what. ``taxed`` False: no tax at all (export). ``aliases``: other names for it."""

    code: str
    name: str
    currency: str
    tax_included: bool
    aliases: tuple[str, ...] = ()
    taxed: bool = True


@dataclass(frozen=True, slots=True)
class PriceTier:
    """From ``from_qty`` base units on, a base unit costs ``price``; from ``valid_from`` to ``valid_until``, both
    included.
    """

    from_qty: Decimal
    price: Decimal
    valid_from: date
    valid_until: date


@dataclass(frozen=True, slots=True)
class NextTier:
    """From this quantity of the unit on, it costs less."""

    from_qty: Decimal
    unit: str
    unit_price: Decimal


@dataclass(frozen=True, slots=True)
class PricedLine:
    """A price for exactly ``quantity``; ``unit_price`` and ``list_price`` per unit as asked, ``min_qty`` in that
    unit.
    """

    product: Product
    quantity: Quantity
    base: Quantity
    unit_price: Decimal
    list_price: Decimal
    rule: str
    tier_from: Decimal | None
    next_tier: NextTier | None
    min_qty: Decimal
    discount: Decimal
    tax_rate: Decimal
    amount: Money
    tax: Money
    valid_until: date
    origin: PriceOrigin = "rule"
    rule_price: Decimal = ZERO
    """What the list says, also where a price was typed by hand."""

    @property
    def below_minimum(self) -> bool:
        """Less than the smallest quantity that is sold."""
        return self.quantity.value < self.min_qty


@dataclass(frozen=True, slots=True)
class Quote:
    """Priced lines for a customer (or for nobody in particular) and their totals."""

    customer: Customer | None
    price_list: PriceList
    lines: tuple[PricedLine, ...]
    on: date

    @property
    def totals(self) -> Totals:
        """From the lines."""
        pairs = [(line.amount, line.tax) for line in self.lines]
        return add_up(pairs, self.price_list.currency, tax_included=self.price_list.tax_included)

    def net(self, line: PricedLine) -> Money:
        """A line without tax."""
        return line.amount - line.tax if self.price_list.tax_included else line.amount

    @property
    def valid_until(self) -> date:
        """The day the first of the prices ends."""
        return min(line.valid_until for line in self.lines)


def line_amounts(
    qty: Decimal, unit_price: Decimal, discount: Decimal, tax_rate: Decimal, currency: str, *, tax_included: bool
) -> tuple[Money, Money]:
    """Amount (discount in per cent taken off) and the tax in it or on it."""
    amount = Money(qty * unit_price * (HUNDRED - discount) / HUNDRED, currency)
    base = amount.amount * tax_rate
    return amount, Money(base / (1 + tax_rate) if tax_included else base, currency)


def share(amount: Money, part: Decimal, whole: Decimal) -> Money:
    """The part of an amount that falls on ``part`` of ``whole``. Differences of growing shares add up to the amount."""
    return Money(amount.amount * part / whole, amount.currency)


def with_tax(line: Line, *, tax_included: bool) -> Money:
    """What the whole line costs, tax included."""
    return line.amount if tax_included else line.amount + line.tax


@dataclass(frozen=True, slots=True)
class LineFigures:
    """What of a line counts as sold: not what was cancelled. ``sold`` in base units; ``gross`` with tax, ``net``
    without.
    """

    sold: Decimal
    gross: Money
    net: Money


def figures(line: Line, *, tax_included: bool) -> LineFigures:
    """Of the line as it is now."""
    kept = line.ordered - line.cancelled
    gross = share(with_tax(line, tax_included=tax_included), kept, line.ordered)
    return LineFigures(kept * line.factor, gross, gross - share(line.tax, kept, line.ordered))


def price_line(
    product: Product,
    quantity: Quantity,
    tiers: Sequence[PriceTier],
    price_list: PriceList,
    list_price: Decimal,
    on: date,
    discount: Decimal = Decimal(0),
    by_hand: Decimal | None = None,
) -> PricedLine:
    """Prices ``quantity`` on a day. ``list_price`` per base unit, in the list's currency; ``by_hand``: typed, per unit
    as asked, instead of the list's. Raises ``Refused`` without a price.
    """
    unit = product.unit(quantity.unit)
    base = product.to_base(quantity)
    valid = sorted((t for t in tiers if t.valid_from <= on <= t.valid_until), key=lambda tier: tier.from_qty)
    reached = [tier for tier in valid if tier.from_qty <= base.value] or valid[:1]
    if not reached:
        raise Refused(
            f"{product.sku} {product.name} has no price in {price_list.name} on {on}.",
            hint="Ask for another day or another price list.",
        )
    tier = reached[-1]
    further = next((t for t in valid if t.from_qty > base.value and t.price < tier.price), None)
    by_rule = rounded(tier.price * unit.factor, price_list.currency)
    unit_price = by_rule if by_hand is None else _typed(by_hand, price_list.currency)
    tax_rate = product.tax_rate if price_list.taxed else ZERO
    amount, tax = line_amounts(
        quantity.value, unit_price, discount, tax_rate, price_list.currency, tax_included=price_list.tax_included
    )
    tiered = tier is not valid[0]
    return PricedLine(
        product=product,
        quantity=quantity,
        base=base,
        unit_price=unit_price,
        list_price=rounded(list_price * unit.factor, price_list.currency),
        rule=f"{price_list.name} ≥ {tier.from_qty.normalize():f} {product.base.name}" if tiered else price_list.name,
        tier_from=_up(tier.from_qty, unit.factor, whole=unit.whole) if tiered else None,
        next_tier=_next_tier(further, unit, price_list.currency) if further else None,
        min_qty=_up(product.min_order, unit.factor, whole=unit.whole),
        discount=discount,
        tax_rate=tax_rate,
        amount=amount,
        tax=tax,
        valid_until=tier.valid_until,
        origin="rule" if by_hand is None else "manual",
        rule_price=by_rule,
    )


def _typed(price: Decimal, currency: str) -> Decimal:
    if not price.is_finite() or price < 0 or price != rounded(price, currency):
        raise Invalid(f"A price of {price} {currency} cannot be.", hint=f"{currency} has whole smallest units only.")
    return rounded(price, currency)


def _next_tier(tier: PriceTier, unit: Unit, currency: str) -> NextTier:
    from_qty = _up(tier.from_qty, unit.factor, whole=unit.whole)
    return NextTier(from_qty, unit.name, rounded(tier.price * unit.factor, currency))


def _up(base: Decimal, factor: Decimal, *, whole: bool) -> Decimal:
    """Base units in a unit, up to the next whole one where only whole ones exist."""
    if whole:
        return (base / factor).to_integral_value(ROUND_CEILING)
    return (base / factor).quantize(Decimal("0.001"))
