"""What each field of a record is, and how a cell of its column is read.

Invariant: a field is read in one way, whatever kind of file it stands in.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, cast

from .cells import (
    Unclear,
    amount_of,
    code_of,
    currency_of_heading,
    date_of,
    discount_of,
    flag_of,
    number_of,
    share_of,
    text_of,
    unit_of_heading,
)
from .headings import Column
from .sheets import Cell

_TEXT, _CODE, _NUMBER, _AMOUNT, _SHARE, _DISCOUNT, _FLAG, _DATE = range(8)
FIELDS: dict[str, tuple[int, int]] = {
    "sku": (_CODE, 64),
    "barcode": (_CODE, 64),
    "number": (_CODE, 40),
    "id": (_CODE, 40),
    "name": (_TEXT, 200),
    "specification": (_TEXT, 200),
    "category": (_TEXT, 100),
    "unit": (_TEXT, 20),
    "pack_unit": (_TEXT, 20),
    "short_name": (_TEXT, 100),
    "contact": (_TEXT, 100),
    "phone": (_CODE, 60),
    "city": (_TEXT, 60),
    "price_list": (_TEXT, 60),
    "warehouse": (_TEXT, 60),
    "customer": (_TEXT, 200),
    "pack_factor": (_NUMBER, 3),
    "min_order": (_NUMBER, 3),
    "on_hand": (_NUMBER, 3),
    "from_qty": (_NUMBER, 3),
    "quantity": (_NUMBER, 3),
    "terms": (_NUMBER, 0),
    "list_price": (_AMOUNT, 4),
    "cost": (_AMOUNT, 4),
    "price": (_AMOUNT, 4),
    "unit_price": (_AMOUNT, 4),
    "credit_limit": (_AMOUNT, 2),
    "tax_rate": (_SHARE, 4),
    "discount": (_DISCOUNT, 4),
    "active": (_FLAG, 0),
    "discontinued": (_FLAG, 0),
    "date": (_DATE, 0),
    "start": (_DATE, 0),
}
"""Field to how it is read, and the most characters or decimal places that it may have."""
MOST_VALUE = Decimal(10_000_000_000)


@dataclass(slots=True)
class Record:
    """A row as values by field; a field without a value is not there. ``units``: what stood behind numbers; ``money``:
    (field, currency) of the amounts that name one.
    """

    row: int
    values: dict[str, Any]
    units: dict[str, str] | None = None
    money: tuple[tuple[str, str], ...] = ()


def reader_of(column: Column) -> Callable[[Cell, Record], None]:
    """What puts a cell of this column into a record. Raises ``Unclear``."""
    name, (how, limit) = column.field, FIELDS[column.field]
    if how in (_TEXT, _CODE):
        get = text_of if how == _TEXT else code_of

        def text(cell: Cell, record: Record) -> None:
            value = get(cell)
            if len(value) > limit:
                raise Unclear("too_long", limit=str(limit))
            record.values[name] = value

        return text
    if how in (_NUMBER, _AMOUNT):
        least = -limit
        usual, usual_currency = unit_of_heading(column.unit), currency_of_heading(column.unit)
        monies: dict[tuple[object, str], tuple[tuple[str, str], ...]] = {}

        def number(cell: Cell, record: Record) -> None:
            if how == _NUMBER:
                value, unit = number_of(cell)
            else:
                value, unit, currency = amount_of(cell)
                if said_currency := currency or usual_currency:
                    key = record.money, said_currency
                    record.money = monies.setdefault(key, (*record.money, (name, said_currency)))
            if value < 0:
                raise Unclear("negative")
            if value > MOST_VALUE:
                raise Unclear("too_much")
            if cast(int, value.as_tuple().exponent) < least and value != round(value, limit):
                raise Unclear("too_precise", digits=str(limit))
            record.values[name] = value
            if said := unit or usual:
                record.units = {**(record.units or {}), name: said}

        return number
    if how == _DISCOUNT:
        bare = "折" not in column.heading

        def discount(cell: Cell, record: Record) -> None:
            record.values[name] = discount_of(cell, bare=bare)

        return discount
    other: Callable[[Cell], Any] = {_SHARE: share_of, _FLAG: flag_of, _DATE: date_of}[how]

    def value(cell: Cell, record: Record) -> None:
        record.values[name] = other(cell)

    return value
