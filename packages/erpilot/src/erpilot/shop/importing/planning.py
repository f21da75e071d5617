"""What a file would do to the shop: new, changed, the same, left out, and what looks wrong; nothing is changed.

Invariant: a plan holds exactly what is applied; rows, and what they come to, are counted so that they can be compared
with the source.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal

from ..backend import Adjustment, FieldChange
from ..catalogue import Product
from ..verbs.control import ImportedCustomer, ImportedOrder, PriceChange
from .fields import Record
from .kinds import Kind
from .problems import Problem
from .reading import Problems, Table

Mode = Literal["set", "add"]
SHOWN = 20
"""Changes that a person is shown of each plan."""


@dataclass(slots=True)
class Plan:
    """``rows`` = ``new`` + ``changed`` + ``unchanged`` + ``left_out``, in rows of the file (of past orders: of their
    lines). ``sums``: what the taken rows come to, by name. ``accepted``: tokens of the warnings that the shop would
    raise and that are among the problems.
    """

    kind: Kind
    mode: Mode
    rows: int
    problems: Problems
    new: int = 0
    changed: int = 0
    unchanged: int = 0
    sums: dict[str, Decimal] = field(default_factory=dict)
    sample: list[FieldChange] = field(default_factory=list)
    products: Sequence[Product] = ()
    parties: Sequence[ImportedCustomer] = ()
    adjustments: Sequence[Adjustment] = ()
    prices: Sequence[PriceChange] = ()
    orders: Sequence[ImportedOrder] = ()
    accepted: frozenset[str] = frozenset()

    @property
    def left_out(self) -> int:
        """Rows with errors."""
        return self.rows - self.new - self.changed - self.unchanged

    @property
    def empty(self) -> bool:
        """Whether applying it would change nothing."""
        return not (self.new or self.changed)

    def show(self, change: FieldChange) -> None:
        """Keeps one of the first changes, to be shown."""
        if len(self.sample) < SHOWN:
            self.sample.append(change)

    def add_to(self, name: str, value: Decimal) -> None:
        """Adds to a sum."""
        self.sums[name] = self.sums.get(name, Decimal(0)) + value


@dataclass(slots=True)
class Reporter:
    """Says what is wrong with records of a table, by row and column."""

    table: Table

    def error(self, record: Record, field_name: str, code: str, **values: object) -> None:
        """The row is left out."""
        self._add(record, field_name, code, values, warning=False)

    def warning(self, record: Record, field_name: str, code: str, **values: object) -> None:
        """The row is taken."""
        self._add(record, field_name, code, values, warning=True)

    def in_currency(self, record: Record, expected: str, *fields: str) -> bool:
        """Whether no amount of the record names another currency than it would be booked in; says so where one does."""
        for name, currency in record.money:
            if currency != expected and name in fields:
                text = f"{record.values[name]} {currency}"
                self.error(record, name, "other_currency", text=text, other=currency, currency=expected)
                return False
        return True

    def _add(self, record: Record, field_name: str, code: str, values: dict[str, object], *, warning: bool) -> None:
        columns = self.table.headings.columns
        column = columns.get(field_name) or (columns.get("barcode") if field_name == "sku" else None)
        said = {name: plain(value) for name, value in values.items()}
        self.table.problems.add(
            Problem(record.row, column.letters if column else "", code, said, "warning" if warning else "error")
        )


def plain(value: object) -> str:
    """A value as it is said: numbers without trailing zeros."""
    if isinstance(value, Decimal):
        text = format(value, "f")
        return text.rstrip("0").rstrip(".") if "." in text else text
    return str(value)
