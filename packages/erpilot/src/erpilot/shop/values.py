"""Money, quantities and the shop's calendar.

Invariant: every number is a ``Decimal``; money is rounded to its currency's smallest unit, half up, and never added
across currencies; a quantity is never without its unit.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta, timezone, tzinfo
from decimal import ROUND_HALF_UP, Decimal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from .errors import Invalid

CURRENCY_DIGITS = {"CNY": 2, "USD": 2, "EUR": 2, "GBP": 2, "HKD": 2, "TWD": 2, "SGD": 2, "JPY": 0, "KRW": 0, "VND": 0}
"""Decimal places of the smallest unit (ISO 4217)."""

ZERO = Decimal(0)


def digits_of(currency: str) -> int:
    """Decimal places of ``currency``. Raises ``Invalid`` for one the shop does not know."""
    try:
        return CURRENCY_DIGITS[currency]
    except KeyError:
        raise Invalid(
            f"There is no currency {currency!r}.", hint=f"Currencies: {', '.join(CURRENCY_DIGITS)}."
        ) from None


def rounded(amount: Decimal, currency: str) -> Decimal:
    """``amount`` in whole smallest units of ``currency``, half up."""
    return amount.quantize(Decimal(1).scaleb(-digits_of(currency)), ROUND_HALF_UP)


@dataclass(frozen=True, slots=True)
class Money:
    """An amount in one currency, always in whole smallest units."""

    amount: Decimal
    currency: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "amount", rounded(self.amount, self.currency))

    def __add__(self, other: Money) -> Money:
        return Money(self.amount + self._same(other), self.currency)

    def __sub__(self, other: Money) -> Money:
        return Money(self.amount - self._same(other), self.currency)

    def _same(self, other: Money) -> Decimal:
        if other.currency != self.currency:
            raise ValueError(f"{self.currency} and {other.currency} cannot be added")
        return other.amount

    @property
    def minor(self) -> int:
        """The amount in smallest units (fen, cents)."""
        return int(self.amount.scaleb(digits_of(self.currency)))

    @classmethod
    def from_minor(cls, minor: int, currency: str) -> Money:
        """The inverse of ``minor``."""
        return cls(Decimal(minor).scaleb(-digits_of(currency)), currency)


def zero(currency: str) -> Money:
    """No money, in ``currency``."""
    return Money(ZERO, currency)


def totals(amounts: Iterable[Money]) -> dict[str, Money]:
    """The sum of each currency, apart."""
    sums: dict[str, Money] = {}
    for money in amounts:
        sums[money.currency] = sums.get(money.currency, zero(money.currency)) + money
    return sums


@dataclass(frozen=True, slots=True)
class Quantity:
    """How much, of which unit."""

    value: Decimal
    unit: str


@dataclass(frozen=True, slots=True)
class Company:
    """Whose shop it is. ``zone``: IANA name. ``discount_limit``: per cent that a quotation may take off without more
    rights. Weeks start on Monday (``week_start`` 0).
    """

    name: str
    zone: str = "Asia/Shanghai"
    currency: str = "CNY"
    week_start: int = 0
    discount_limit: Decimal = Decimal(15)


@dataclass(frozen=True, slots=True)
class Period:
    """From ``start`` to ``end``, both included, as days of the shop's zone."""

    start: date
    end: date
    zone: str
    name: str = ""

    def __post_init__(self) -> None:
        if self.end < self.start:
            raise Invalid(f"The period from {self.start} to {self.end} ends before it starts.")


def week_of(day: date, company: Company) -> Period:
    """The week that ``day`` is in."""
    start = day - timedelta(days=(day.weekday() - company.week_start) % 7)
    return Period(start, start + timedelta(days=6), company.zone, "week")


def zone_of(name: str) -> tzinfo:
    """The zone of that IANA name. China's is fixed, and known also where the machine has no zone data."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        if name == "Asia/Shanghai":
            return timezone(timedelta(hours=8), name)
        raise Invalid(f"The time zone {name!r} is not known on this machine.") from None
