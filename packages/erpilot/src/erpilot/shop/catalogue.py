"""Products, their units, and what is in stock of them.

Invariant: available = on hand - reserved; a conversion from a unit to the base unit and back is the identity; a unit
that a product does not have is refused with those it has.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from .errors import Invalid
from .units import unit_names
from .values import ZERO, Quantity

MOST = Decimal(10_000_000)
"""Base units; no line of this shop is larger, so more is a slip of the pen."""


@dataclass(frozen=True, slots=True)
class Unit:
    """One of it is ``factor`` base units. ``whole``: not sold in fractions."""

    name: str
    factor: Decimal
    barcode: str | None = None
    whole: bool = True


@dataclass(frozen=True, slots=True)
class Product:
    """A thing with its own code and stock (a variant is a product; ``specification`` tells it apart). ``units``
    begins with the base unit. ``min_order`` in base units; ``tax_rate`` as a fraction; ``list_price`` per base unit,
    tax included.
    """

    sku: str
    name: str
    specification: str
    category: str
    units: tuple[Unit, ...]
    tax_rate: Decimal
    list_price: Decimal
    currency: str = "CNY"
    min_order: Decimal = Decimal(1)
    cost: Decimal | None = None
    active: bool = True
    aliases: tuple[str, ...] = ()
    version: str = "1"
    stocked: bool = True
    """False: a service or freight, which no stock is kept of and which is never owed as goods."""

    @property
    def base(self) -> Unit:
        """The unit that stock is kept in."""
        return self.units[0]

    def unit(self, name: str | None) -> Unit:
        """The unit of that name, also in English ("cases"); None means the base unit. Raises ``Invalid``."""
        if name is None or not name.strip():
            return self.base
        wanted = unit_names(name)
        found = [unit for unit in self.units if unit.name in wanted]
        if len(found) == 1:
            return found[0]
        has = ", ".join(self._described(unit) for unit in self.units)
        problem = "could mean several units of" if found else "is not a unit of"
        raise Invalid(f"{name.strip()!r} {problem} {self.sku} {self.name}.", hint=f"Its units: {has}.")

    def _described(self, unit: Unit) -> str:
        return unit.name if unit is self.base else f"{unit.name} (= {unit.factor.normalize():f} {self.base.name})"

    def quantity(self, value: Decimal, unit_name: str | None) -> Quantity:
        """A quantity that can be sold. Raises ``Invalid`` for a unit, a sign, a fraction or a size that cannot be."""
        unit = self.unit(unit_name)
        if not value.is_finite() or value <= 0:
            raise Invalid(f"A quantity of {value} {unit.name} of {self.sku} cannot be: it must be more than zero.")
        if unit.whole and value != value.to_integral_value():
            raise Invalid(
                f"{value} {unit.name} of {self.sku} cannot be: {unit.name} is sold whole.",
                hint=f"{unit.name} = {unit.factor.normalize():f} {self.base.name}.",
            )
        if value * unit.factor > MOST or value != round(value, 3):
            raise Invalid(
                f"A quantity of {value} {unit.name} of {self.sku} cannot be meant.", hint="Check the quantity."
            )
        return Quantity(value, unit.name)

    def to_base(self, quantity: Quantity) -> Quantity:
        """The same quantity in base units."""
        return Quantity(quantity.value * self.unit(quantity.unit).factor, self.base.name)

    def from_base(self, quantity: Quantity, unit_name: str) -> Quantity:
        """The inverse of ``to_base``; not rounded, so it may have a fraction."""
        if quantity.unit != self.base.name:
            raise Invalid(f"{quantity.unit} is not the base unit of {self.sku}.")
        unit = self.unit(unit_name)
        return Quantity(quantity.value / unit.factor, unit.name)

    def split(self, base_value: Decimal, unit_name: str) -> tuple[Quantity, Quantity]:
        """Whole units and the rest in base units; together they are ``base_value``."""
        unit = self.unit(unit_name)
        count = base_value // unit.factor
        return Quantity(count, unit.name), Quantity(base_value - count * unit.factor, self.base.name)


@dataclass(frozen=True, slots=True)
class Warehouse:
    """A place with stock of its own."""

    code: str
    name: str


@dataclass(frozen=True, slots=True)
class Arrival:
    """Still to come from a purchase, in base units. ``confirmed``: the supplier promised it."""

    quantity: Decimal
    date: date
    document: str
    confirmed: bool


@dataclass(frozen=True, slots=True)
class StockLevel:
    """One product in one warehouse, in base units. ``waiting``: owed on confirmed sales, but no stock is held for it
    yet, so that what arrives goes there first.
    """

    sku: str
    warehouse: Warehouse
    on_hand: Decimal
    reserved: Decimal
    arrivals: tuple[Arrival, ...] = ()
    waiting: Decimal = ZERO

    @property
    def available(self) -> Decimal:
        """What may be promised now."""
        return self.on_hand - self.reserved

    @property
    def incoming(self) -> Decimal:
        """Confirmed arrivals, whenever they come."""
        return sum((each.quantity for each in self.arrivals if each.confirmed), ZERO)

    @property
    def incoming_unconfirmed(self) -> Decimal:
        """Arrivals that nobody has promised."""
        return sum((each.quantity for each in self.arrivals if not each.confirmed), ZERO)


def available_on(levels: tuple[StockLevel, ...], day: date, today: date) -> Decimal:
    """The forecast: available now and confirmed to arrive from ``today`` to ``day``, less what waits for it. A late
    purchase has no day that can be promised.
    """
    coming = (a.quantity for level in levels for a in level.arrivals if a.confirmed and today <= a.date <= day)
    return sum((level.available - level.waiting for level in levels), ZERO) + sum(coming, ZERO)


def complete_on(levels: tuple[StockLevel, ...], wanted: Decimal, today: date) -> date | None:
    """The first day on which ``wanted`` base units can be promised; ``today`` when they can now, None when never."""
    days = sorted({a.date for level in levels for a in level.arrivals if a.confirmed and a.date >= today} | {today})
    return next((day for day in days if available_on(levels, day, today) >= wanted), None)
