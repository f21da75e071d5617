"""The rules of the house for what is sold, the same when it is shown and when it is made.

Invariant: what is shown to a person for approval passes every rule that making it will check.
"""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal

from .concerns import Concern
from .errors import Invalid, Refused
from .pricing import HUNDRED, Quote
from .values import ZERO, Company, rounded

MOST_DAYS = 365
TOLERANCE = Decimal("0.01")
"""Per cent; an amount is rounded, so what was taken off is not exactly the discount."""


def valid_until(today: date, days: int) -> date:
    """The last day of a quotation that is valid for so many days. Raises ``Invalid``."""
    if not 1 <= days <= MOST_DAYS:
        raise Invalid(f"A quotation cannot be valid for {days} days: 1 to {MOST_DAYS} are possible.")
    return today + timedelta(days)


def price_concerns(quote: Quote, company: Company) -> list[Concern]:
    """Discounts (a lower price typed by hand is one) past the limit, and prices below cost. What the cost is, is not
    said.
    """
    over, below = [], []
    for line in quote.lines:
        full = line.quantity.value * line.rule_price
        taken = (1 - line.amount.amount / full) * HUNDRED if full else ZERO
        if taken > company.discount_limit + TOLERANCE:
            over.append(line.product.sku)
        cost = line.product.cost
        currency = line.amount.currency
        known = cost is not None and line.product.currency == currency
        if known and quote.net(line).amount < rounded((cost or ZERO) * line.base.value, currency):
            below.append(line.product.sku)
    found = []
    if over:
        values = {"limit": f"{company.discount_limit.normalize():f} %", "skus": ", ".join(dict.fromkeys(over))}
        found.append(Concern("discount", values, token="discount", right="discount_over"))
    if below:
        values = {"skus": ", ".join(dict.fromkeys(below))}
        found.append(Concern("below_cost", values, token="below_cost", right="discount_over"))
    return found


def check_quotable(quote: Quote, discount: Decimal, company: Company) -> None:
    """Raises ``Refused`` past the discount limit and for goods that are not sold any more."""
    if not 0 <= discount <= company.discount_limit:
        raise Refused(
            f"A discount of {discount:f} % is not allowed here: the limit is {company.discount_limit:f} %.",
            hint="Ask for a smaller discount, or have the owner make the quotation.",
        )
    check_sold(quote)


def check_sold(quote: Quote) -> None:
    """Raises ``Refused`` for goods that are not sold any more."""
    for line in quote.lines:
        if not line.product.active:
            raise Refused(f"{line.product.sku} {line.product.name} is discontinued and cannot be quoted.")
