"""What every verb works with: the connection, what hardly ever changes (units, places, lists), the person's rights.

Invariant: base data are read together and kept for some minutes, rights for some seconds; a right is asked for before
anything is read for it. Rights are what the server's own access tables say, never a setting of ours.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta, tzinfo
from decimal import Decimal
from typing import Any

from ..catalogue import Unit, Warehouse
from ..concerns import Concern
from ..errors import Denied, Invalid, NeedsConfirmation, NotFound, ShopError
from ..matching import squeezed
from ..pricing import PriceList
from ..rights import MEANINGS, Right, require
from ..values import CURRENCY_DIGITS, Company, zone_of
from ..verbs.outcome import Write
from .access import Held, held_rights
from .rpc import Rpc

BASE_SECONDS = 300
RIGHTS_SECONDS = 30
USUAL_LISTS = (("wholesale", "批发"), ("retail", "零售", "散客"), ("vip", "会员", "大客户"), ("export", "出口"))
"""Words of which one, said of a price list, means a list whose name has any of them; Tryton's lists have no codes."""
FAR = timedelta(days=365 * 30)


@dataclass(frozen=True, slots=True)
class Place:
    """A warehouse with the ids of its own location and of the one goods are kept in."""

    id: int
    storage: int
    warehouse: Warehouse


@dataclass(frozen=True, slots=True)
class UnitRow:
    """A unit of measure: ``factor`` to the reference of its category, ``rounding`` of its quantities."""

    id: int
    name: str
    category: int
    factor: Decimal
    rounding: Decimal


@dataclass(frozen=True)
class Base:
    """What hardly ever changes, by id."""

    company: Company
    company_id: int
    company_party: int
    units: dict[int, UnitRow]
    by_category: dict[int, tuple[UnitRow, ...]]
    places: tuple[Place, ...]
    inside: dict[int, int]
    """The warehouse that a location is in."""
    lists: dict[int, PriceList]
    currencies: dict[int, str]
    price_digits: int

    def units_of(self, default: int) -> tuple[Unit, ...]:
        """Units of a product with that default unit, which comes first; then the smaller ones before the larger."""
        base = self.units[default]
        others = [unit for unit in self.by_category[base.category] if unit.id != default]
        others.sort(key=lambda unit: unit.factor)
        return tuple(
            Unit(unit.name, relative(unit.factor, base.factor), whole=unit.rounding >= 1) for unit in (base, *others)
        )

    def unit_id(self, default: int, name: str) -> int:
        """The id of the unit of that name in the category of the default one."""
        category = self.units[default].category
        return next(unit.id for unit in self.by_category[category] if unit.name == name)

    def to_base(self, quantity: Decimal, unit: int, default: int) -> Decimal:
        """A quantity of a unit in the default one."""
        return plain(quantity * relative(self.units[unit].factor, self.units[default].factor))

    def place(self, named: str) -> Place:
        """The warehouse of that code or name. Raises ``NotFound`` with those there are."""
        asked = squeezed(named)
        for place in self.places:
            if asked in (squeezed(place.warehouse.code), squeezed(place.warehouse.name)):
                return place
        raise NotFound(
            f"There is no warehouse {named.strip()[:40]!r}.",
            nearest=[f"{each.warehouse.code} {each.warehouse.name}" for each in self.places],
        )

    def price_list(self, named: str) -> tuple[int, PriceList]:
        """The list of that name, or the only one that a usual word for lists fits. Raises ``NotFound`` with those there
        are.
        """
        asked = squeezed(named)
        for row, each in self.lists.items():
            if asked in map(squeezed, (each.code, each.name)):
                return row, each
        for words in USUAL_LISTS:
            alike = [row for row, each in self.lists.items() if any(word in squeezed(each.name) for word in words)]
            if len(alike) == 1 and any(word in asked for word in words):
                return alike[0], self.lists[alike[0]]
        raise NotFound(
            f"There is no price list {named.strip()[:40]!r}.", nearest=[each.name for each in self.lists.values()]
        )

    def currency_id(self, code: str) -> int:
        """Raises ``Invalid`` for a currency that the server does not have."""
        for row, each in self.currencies.items():
            if each == code:
                return row
        raise Invalid(
            f"The Tryton server has no currency {code!r}.", hint=f"It has {', '.join(self.currencies.values())}."
        )


def relative(factor: Decimal, base: Decimal) -> Decimal:
    """One factor in terms of another, without the noise of Tryton's binary fractions."""
    share = factor / base
    whole = share.to_integral_value()
    if whole and abs(share - whole) < Decimal("1e-9"):
        return whole
    inverse = (base / factor).to_integral_value()
    if inverse and abs(base / factor - inverse) < Decimal("1e-9"):
        return Decimal(1) / inverse
    return plain(share)


def plain(value: Decimal) -> Decimal:
    """A quantity without the zeros that a float brings, to six places."""
    rounded = round(value, 6).normalize()
    return rounded if rounded.as_tuple().exponent <= 0 else rounded.quantize(Decimal(1))  # type: ignore[operator]


@dataclass
class Desk:
    """One person at one server."""

    rpc: Rpc
    discount_limit: Decimal = Decimal(15)
    zone: tzinfo = field(default_factory=lambda: zone_of("Asia/Shanghai"))
    _base: tuple[float, Base] | None = None
    _rights: tuple[float, Held] | None = None
    _fields: dict[str, frozenset[str]] = field(default_factory=dict)
    _loading: asyncio.Lock = field(default_factory=asyncio.Lock)

    def now(self) -> datetime:
        """The company's time, in its zone; until something was read, China's."""
        return datetime.now(self.zone)

    @property
    def today(self) -> date:
        """The company's day."""
        return self.now().date()

    @property
    def company(self) -> Company:
        """The company, once something was read. Raises ``Invalid`` before."""
        if self._base is None:
            raise Invalid("The Tryton server has not been asked yet.")
        return self._base[1].company

    async def base(self) -> Base:
        """The base data, read again after some minutes."""
        kept = self._base
        if kept is not None and time.monotonic() - kept[0] < BASE_SECONDS:
            return kept[1]
        async with self._loading:
            if self._base is kept:
                self._base = time.monotonic(), await _base(self.rpc, self.discount_limit)
            assert self._base is not None
            self.zone = zone_of(self._base[1].company.zone)
            return self._base[1]

    async def base_knowing(self, units: Iterable[int]) -> Base:
        """The base data, read again at once when a unit is newer than they are."""
        base = await self.base()
        if not set(units) <= base.units.keys():
            self._base = None
            base = await self.base()
        return base

    async def rights(self) -> frozenset[Right]:
        """What the person may do, as the server says."""
        return (await self._held()).rights

    async def may(self, model: str, mode: str = "read") -> bool:
        """Whether the server lets the person read (write, create, delete) records of a model in ``access.MODELS``."""
        return bool((await self._held()).access[model][mode])

    async def _held(self) -> Held:
        kept = self._rights
        if kept is None or time.monotonic() - kept[0] >= RIGHTS_SECONDS:
            kept = self._rights = time.monotonic(), await held_rights(self.rpc)
        return kept[1]

    async def has_field(self, model: str, name: str) -> bool:
        """Whether the server's model has that field, which may come from a module that is not installed."""
        if model not in self._fields:
            fields = await self.rpc.call(f"model.{model}.fields_get", [])
            self._fields[model] = frozenset(fields)
        return name in self._fields[model]

    async def require(self, *rights: Right) -> frozenset[Right]:
        """Raises ``Denied``, which names the first, unless one of them is held; all that are held."""
        held = await self.rights()
        if not any(right in held for right in rights):
            require(held, rights[0])
        return held

    async def settle(self, concerns: list[Concern], write: Write) -> None:
        """Raises for the first concern that stops the write: ``Denied`` without the right to accept it,
        ``NeedsConfirmation`` when nobody has accepted it.
        """
        held = await self.rights()
        for concern in concerns:
            if concern.token is None:
                continue
            said = ", ".join(f"{name} {value}" for name, value in concern.values.items())
            if concern.right is not None and concern.right not in held:
                raise Denied(
                    f"This needs the right {concern.right!r} ({MEANINGS[concern.right]}): {concern.code} ({said}).",
                    hint="Ask somebody who has it.",
                    right=concern.right,
                )
            if concern.token not in write.accepted:
                raise NeedsConfirmation(f"To be confirmed: {concern.code} ({said}).", token=concern.token)


async def together(*work: Awaitable[Any]) -> list[Any]:
    """All answers; the first failure, once all have ended, so that nothing goes on behind it."""
    answers = await asyncio.gather(*work, return_exceptions=True)
    for answer in answers:
        if isinstance(answer, BaseException):
            raise answer
    return list(answers)


async def _base(rpc: Rpc, discount_limit: Decimal) -> Base:
    await rpc.connect()
    company_id = rpc.context.get("company")
    if not company_id:
        raise Denied(
            "The Tryton user belongs to no company.", hint="Have an administrator give the user one.", right="company"
        )
    companies, units, locations, lists, currencies, digits = await together(
        rpc.read("company.company", [company_id], ["party", "party.name", "currency.code", "timezone"]),
        rpc.search_read("product.uom", [], ["name", "category", "factor", "rate", "rounding"]),
        rpc.search_read(
            "stock.location",
            [["type", "in", ["warehouse", "storage", "view"]]],
            ["name", "code", "type", "parent", "storage_location"],
            order=[("id", "ASC")],
        ),
        optional(lambda: rpc.search_read("product.price_list", [], ["name"], order=[("id", "ASC")]), []),
        rpc.search_read("currency.currency", [], ["code"]),
        optional(lambda: rpc.read("ir.configuration", [1], ["product_price_decimal"]), []),
    )
    company = companies[0]
    currency = company["currency."]["code"]
    rows = [_unit(row) for row in units]
    by_category: dict[int, list[UnitRow]] = {}
    for row in rows:
        by_category.setdefault(row.category, []).append(row)
    return Base(
        company=Company(
            company["party."]["name"], company["timezone"] or "Asia/Shanghai", currency, discount_limit=discount_limit
        ),
        company_id=company_id,
        company_party=company["party"],
        units={row.id: row for row in rows},
        by_category={category: tuple(each) for category, each in by_category.items()},
        places=tuple(
            Place(row["id"], row["storage_location"], Warehouse(row["code"] or str(row["id"]), row["name"]))
            for row in locations
            if row["type"] == "warehouse"
        ),
        inside=_inside(locations),
        lists={row["id"]: PriceList(row["name"], row["name"], currency, tax_included=False) for row in lists},
        currencies={row["id"]: row["code"] for row in currencies if row["code"] in CURRENCY_DIGITS},
        price_digits=int((digits[0].get("product_price_decimal") if digits else None) or 4),
    )


def _inside(locations: list[dict[str, Any]]) -> dict[int, int]:
    by_id = {row["id"]: row for row in locations}
    found = {}
    for row in locations:
        at: dict[str, Any] | None = row
        while at is not None and at["type"] != "warehouse":
            at = by_id.get(at["parent"])
        if at is not None:
            found[row["id"]] = at["id"]
    return found


def _unit(row: dict[str, Any]) -> UnitRow:
    factor, rate = Decimal(row["factor"] or 0), Decimal(row["rate"] or 0)
    exact = factor if factor >= 1 or not rate else Decimal(1) / rate
    return UnitRow(row["id"], row["name"], row["category"], exact, Decimal(row["rounding"]))


async def optional(ask: Callable[[], Awaitable[Any]], otherwise: Any) -> Any:
    """An answer, or something else where the server does not know what is asked for or lets this person not read it."""
    try:
        return await ask()
    except (Denied, Invalid):
        return otherwise
    except ShopError as error:
        from .failures import ServerRefused

        if isinstance(error, ServerRefused):
            return otherwise
        raise
