"""The rules of the house for quotations, the same when one is shown and when it is made.

Invariant: what is shown to a person for approval passes every rule that making it will check.
"""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal

from .errors import Invalid, Refused
from .pricing import Quote
from .values import Company

MOST_DAYS = 365


def valid_until(today: date, days: int) -> date:
    """The last day of a quotation that is valid for so many days. Raises ``Invalid``."""
    if not 1 <= days <= MOST_DAYS:
        raise Invalid(f"A quotation cannot be valid for {days} days: 1 to {MOST_DAYS} are possible.")
    return today + timedelta(days)


def check_quotable(quote: Quote, discount: Decimal, company: Company) -> None:
    """Raises ``Refused`` past the discount limit and for goods that are not sold any more."""
    if not 0 <= discount <= company.discount_limit:
        raise Refused(
            f"A discount of {discount:f} % is not allowed here: the limit is {company.discount_limit:f} %.",
            hint="Ask for a smaller discount, or have the owner make the quotation.",
        )
    for line in quote.lines:
        if not line.product.active:
            raise Refused(f"{line.product.sku} {line.product.name} is discontinued and cannot be quoted.")
