"""From what a model wrote to records of the shop: products, quantities, parties; and the shop's errors to those of
tools.

Invariant: reading may take a name that is decided, and the answer names what was taken; writing takes exact codes and
names only. What the shop cannot do is answered with what there is instead.
"""

from __future__ import annotations

import asyncio
import re
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date, datetime
from decimal import Decimal, InvalidOperation

from agent_core.errors import ToolError, ToolErrorType

from ..shop.backend import ErpBackend, Found, LineWanted
from ..shop.catalogue import Product, Warehouse
from ..shop.documents import Customer, Kind, Order
from ..shop.errors import (
    Conflict,
    Denied,
    Invalid,
    NeedsConfirmation,
    NotFound,
    Refused,
    ShopError,
    Unauthenticated,
    Unavailable,
    UnknownOutcome,
    Unsupported,
)
from ..shop.matching import squeezed
from ..shop.numerals import in_digits
from ..shop.units import parse_quantity
from ..shop.values import rounded
from .shop_arguments import LineAsked

_TYPES: tuple[tuple[type[ShopError], ToolErrorType], ...] = (
    (NotFound, "validation"),
    (Invalid, "validation"),
    (Refused, "validation"),
    (NeedsConfirmation, "validation"),
    (Unsupported, "validation"),
    (Conflict, "expired"),
    (Denied, "denied"),
    (Unauthenticated, "denied"),
    (UnknownOutcome, "uncertain"),
)


@contextmanager
def answering() -> Iterator[None]:
    """Turns an error of the shop into one that the model can act on. Only an unreachable shop is worth another try."""
    try:
        yield
    except ShopError as error:
        kind: ToolErrorType = next((name for cls, name in _TYPES if isinstance(error, cls)), "execution")
        parts = [error.hint or "", f"Nearest: {'; '.join(error.nearest)}." if error.nearest else ""]
        hint = " ".join(part for part in parts if part) or None
        raise ToolError(error.message, hint=hint, type=kind, retry=isinstance(error, Unavailable)) from None


def stamp(now: datetime) -> str:
    """A time of reading, to the minute, with the offset from UTC."""
    return now.isoformat(timespec="minutes")


def described(product: Product) -> str:
    """A product in one line."""
    return " ".join(part for part in (product.sku, product.name, product.specification) if part)


async def known_products(backend: ErpBackend, asked: Sequence[str], *, exact: bool) -> dict[str, Product | NotFound]:
    """Each code or name with its product, or with why there is none."""
    found = await backend.get_products(list(dict.fromkeys(asked)))
    missing = [text for text in dict.fromkeys(asked) if text not in found]
    matches = await asyncio.gather(*(backend.find_products(text) for text in missing))
    result: dict[str, Product | NotFound] = dict(found)
    for text, match in zip(missing, matches, strict=True):
        result[text] = match.hits[0].record if match.decided and not exact else _no_product(text, match, exact)
    return result


def _no_product(text: str, match: Found[Product], exact: bool) -> NotFound:
    nearest = [described(hit.record) for hit in match.hits]
    if exact and match.decided:
        return NotFound(f"{text!r} is no SKU or barcode.", hint="Give the SKU.", nearest=nearest[:1])
    if match.total_count > 1 and match.hits[0].match == "name":
        return NotFound(
            f"{text!r} can mean {match.total_count} products.", hint="Ask which one is meant.", nearest=nearest
        )
    return NotFound(f"There is no product {text!r}.", hint="Use find_products.", nearest=nearest)


def quantity_of(product: Product, written: str, unit: str | None) -> LineWanted:
    """A line for ``written`` ("20", "3 箱") of a product. Raises ``Invalid``."""
    value, said = parse_quantity(written)
    if said and unit and product.unit(said) != product.unit(unit):
        raise Invalid(f"The quantity {written!r} of {product.sku} names another unit than {unit!r}.")
    return LineWanted(product.sku, product.quantity(value, said or unit))


async def lines_wanted(backend: ErpBackend, lines: Sequence[LineAsked], *, exact: bool = False) -> list[LineWanted]:
    """All lines, or one error that names everything wrong with them."""
    found = await known_products(backend, [line.sku for line in lines], exact=exact)
    wanted: list[LineWanted] = []
    problems: list[tuple[int, ShopError]] = []
    for at, line in enumerate(lines, 1):
        product = found[line.sku]
        if isinstance(product, NotFound):
            problems.append((at, product))
            continue
        try:
            wanted.append(quantity_of(product, line.qty, line.unit))
        except Invalid as error:
            problems.append((at, error))
    if problems:
        several = len(lines) > 1
        hints = dict.fromkeys(error.hint for _, error in problems if error.hint)
        raise Invalid(
            " ".join(f"Line {at}: {error.message}" if several else error.message for at, error in problems),
            hint=" ".join(hints) or None,
            nearest=[each for _, error in problems for each in error.nearest[:3]],
        )
    return wanted


async def one_product(backend: ErpBackend, text: str, *, exact: bool = False) -> Product:
    """The product that was named. Raises ``NotFound`` with those it could be."""
    product = (await known_products(backend, [text], exact=exact))[text]
    if isinstance(product, NotFound):
        raise product
    return product


async def customer_meant(backend: ErpBackend, text: str | None, *, exact: bool = False) -> Customer | None:
    """The customer that was named; None when none was. Raises ``NotFound`` with those it could be."""
    if text is None or not text.strip():
        return None
    found = await backend.find_customers(text)
    return _decided(found, text, "customer", exact=exact)


async def party_meant(backend: ErpBackend, text: str | None, kind: str | None) -> str | None:
    """The id of a customer or, of purchases, a supplier; of neither, whichever is decided."""
    if text is None or not text.strip():
        return None
    if kind == "purchase":
        return _decided(await backend.find_suppliers(text), text, "supplier", exact=False).id
    customers = await backend.find_customers(text)
    if kind is None and not customers.decided:
        suppliers = await backend.find_suppliers(text)
        if suppliers.decided:
            return suppliers.hits[0].record.id
    return _decided(customers, text, "customer", exact=False).id


async def supplier_meant(backend: ErpBackend, text: str, *, exact: bool = False) -> Customer:
    """The supplier that was named. Raises ``NotFound`` with those it could be."""
    return _decided(await backend.find_suppliers(text), text, "supplier", exact=exact)


async def warehouse_meant(backend: ErpBackend, text: str, *, exact: bool = False) -> Warehouse:
    """The warehouse of that code or name; reading also takes a text that holds the one or the other ("East shop").
    Raises ``NotFound`` with those there are."""
    places, asked = await backend.warehouses(), squeezed(text)
    found = [each for each in places if asked in (squeezed(each.code), squeezed(each.name))]
    if not found and not exact and asked:
        words = set(text.casefold().split())
        found = [each for each in places if each.code.casefold() in words or squeezed(each.name) in asked]
    if len(found) != 1:
        nearest = [f"{each.code} {each.name}" for each in places]
        raise NotFound(f"There is no warehouse {text.strip()[:60]!r}.", hint="Give its code.", nearest=nearest)
    return found[0]


async def order_named(backend: ErpBackend, number: str, kind: Kind | None = None) -> Order:
    """The document of exactly that number, as a write takes it. Raises ``NotFound`` for a part of one."""
    order = await backend.get_order(number, kind)
    if number.strip().casefold() != order.head.number.casefold():
        raise NotFound(
            f"{number.strip()[:40]!r} is not a whole document number.",
            hint=f"Give it as {order.head.number}, if that is the one.",
            nearest=[order.head.number, *order.other_matches],
        )
    return order


def _decided(found: Found[Customer], text: str, what: str, *, exact: bool) -> Customer:
    nearest = [f"{hit.record.id} {hit.record.name}" for hit in found.hits]
    if found.decided and (not exact or found.hits[0].record.id.casefold() == text.strip().casefold()):
        return found.hits[0].record
    if exact and found.decided:  # what a person lets pass for ever has to name one record
        raise NotFound(f"{text!r} is not the id of a {what}.", hint="Give the id.", nearest=nearest[:1])
    if found.total_count > 1:
        raise NotFound(
            f"{text!r} can mean {found.total_count} {what}s.", hint="Ask which one is meant.", nearest=nearest
        )
    raise NotFound(f"There is no {what} {text!r}.", nearest=nearest)


def money_of(written: str, currency: str) -> Decimal:
    """An amount of money more than nothing: "8000", "8,000.50", "2 万". Raises ``Invalid``."""
    text = unicodedata.normalize("NFKC", written).strip()
    if thousands := re.fullmatch(r"([^\d万]{1,9})万", text):  # 两万
        text = f"{in_digits(thousands[1])}万"
    text = in_digits(text)
    text = re.sub(r"^[¥$€£]|\s*(?:元|块|rmb|cny|usd)$", "", text, flags=re.IGNORECASE).replace(",", "").strip()
    scaled = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([万千]?)", text)
    if not scaled:
        raise Invalid(f"{written.strip()[:40]!r} is not an amount of money.", hint='Write it as "8000.50".')
    amount = Decimal(scaled[1]) * {"万": 10_000, "千": 1000, "": 1}[scaled[2]]
    if not amount or amount != rounded(amount, currency):
        raise Invalid(f"An amount of {amount} {currency} cannot be.", hint=f"Whole smallest units of {currency}.")
    return rounded(amount, currency)


def percent(value: str, what: str) -> Decimal:
    """A percentage from 0 to below 100. Raises ``Invalid``."""
    try:
        number = Decimal(value.strip().removesuffix("%").strip())
    except InvalidOperation:
        raise Invalid(f"{what} {value!r} is not a number.", hint="5 means 5 % off (9.5 折).") from None
    if not number.is_finite() or not 0 <= number < 100 or number != round(number, 2):
        raise Invalid(f"{what} {value} cannot be meant.", hint="5 means 5 % off (9.5 折); 0 to 99.99 is possible.")
    return number


def not_past(day: date | None, today: date, what: str) -> None:
    """Raises ``Invalid`` for a day before the shop's."""
    if day is not None and day < today:
        raise Invalid(f"{what} {day} is past: today is {today}.")
