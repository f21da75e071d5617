"""Finds the table in a file and reads its rows as values, with everything that is wrong said by row and column.

Invariant: nothing of the shop is looked at here, so the same file gives the same rows. A row with an error is left out
and counted; the first ``MOST_PROBLEMS`` are kept in words, the others as numbers.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

from .cells import (
    Unclear,
    amount_of,
    code_of,
    date_of,
    flag_of,
    is_empty,
    number_of,
    share_of,
    text_of,
    unit_of_heading,
)
from .headings import LOOKED_AT, Column, Headings, read_headings
from .kinds import KINDS, WHOLE, Kind, KindOfFile
from .problems import Problem, UnreadableFile, column_letters
from .sheets import Cell, Row, Sheet, open_sheets

MOST_PROBLEMS = 500
_SUMS = frozenset({"合计", "总计", "小计", "共计", "grandtotal", "subtotal", "sub-total", "total", "totals", "sum"})
_HINTS: tuple[tuple[str, Kind], ...] = (
    ("供应商|supplier|vendor", "suppliers"),
    ("客户|customer|client", "customers"),
    ("盘点|库存|实盘|stock|count|inventory", "stock"),
    ("价目|调价|价格|price", "prices"),
    ("订单|销售单|销售明细|order", "orders"),
    ("商品|产品|货品|物料|product|goods|item", "products"),
)
_TEXT, _CODE, _NUMBER, _AMOUNT, _SHARE, _FLAG, _DATE = range(7)
_FIELDS: dict[str, tuple[int, int]] = {
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
    "discount": (_SHARE, 4),
    "active": (_FLAG, 0),
    "discontinued": (_FLAG, 0),
    "date": (_DATE, 0),
    "start": (_DATE, 0),
}
"""Field to how it is read, and the most characters or decimal places that it may have."""
MOST_VALUE = Decimal(10_000_000_000)


@dataclass(slots=True)
class Record:
    """A row as values by field; a field without a value is not there. ``units``: what stood behind numbers."""

    row: int
    values: dict[str, Any]
    units: dict[str, str] | None = None


@dataclass(slots=True)
class Problems:
    """What is wrong, in order of the rows, and how often each thing is."""

    kept: list[Problem] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    errors: int = 0
    bad_rows: set[int] = field(default_factory=set)

    def add(self, problem: Problem) -> None:
        """Takes a problem; an error leaves its row out."""
        self.counts[problem.code] += 1
        if problem.severity == "error":
            self.errors += 1
            self.bad_rows.add(problem.row)
        if len(self.kept) < MOST_PROBLEMS:
            self.kept.append(problem)

    @property
    def total(self) -> int:
        """All of them."""
        return sum(self.counts.values())


@dataclass(slots=True)
class Table:
    """What a sheet holds. ``rows``: those with values below the headings, sums left out."""

    kind: Kind
    sheet: Sheet
    headings: Headings
    records: list[Record]
    problems: Problems
    rows: int = 0


def read_table(
    path: Path,
    *,
    kind: Kind | None = None,
    sheet: str | None = None,
    mapping: Mapping[str, str] | None = None,
    encoding: str | None = None,
) -> Table:
    """The table of a file. ``mapping``: field by column letters or heading, "-" leaves a column out. Raises
    ``UnreadableFile`` when there is none, or more than one.
    """
    chosen, of_kind, headings = find_table(path, kind=kind, sheet=sheet, mapping=mapping, encoding=encoding)
    table = Table(of_kind.name, chosen, headings, [], Problems())
    for problem in headings.problems:
        table.problems.add(problem)
    try:
        _read_rows(table)
    finally:
        chosen.release()
    return table


def read_orders(heads: Table, lines: Table) -> Table:
    """Past orders from two tables: each line gets the date and the customer of its order."""
    known = {record.values["number"]: record for record in heads.records}
    records = []
    for record in lines.records:
        head = known.get(record.values["number"])
        if head is None:
            values = {"text": record.values["number"]}
            lines.problems.add(Problem(record.row, lines.headings.columns["number"].letters, "no_head", values))
            continue
        record.values = {**head.values, **record.values}
        records.append(record)
    lines.records, lines.kind = records, "orders"
    return lines


def find_table(
    path: Path, *, kind: Kind | None, sheet: str | None, mapping: Mapping[str, str] | None, encoding: str | None
) -> tuple[Sheet, KindOfFile, Headings]:
    """The sheet, what it holds, and its headings."""
    sheets = open_sheets(path, encoding=encoding)
    if sheet is not None:
        known = ", ".join(each.name for each in sheets)
        sheets = [each for each in sheets if each.name == sheet]
        if not sheets:
            raise UnreadableFile("no_such_sheet", name=sheet, known=known)
    _check_mapping(mapping)
    found = []
    for each in sheets:
        top = _top(each)
        best = max(
            (
                _scored(row, of_kind, mapping, f"{path.stem} {each.name}".casefold())
                for row in (*top, *_in_two_lines(top))
                for of_kind in _kinds(kind)
            ),
            key=lambda scored: scored[0],
            default=None,
        )
        if best is not None and best[3].known:
            found.append((each, best))
    usable = [(each, best) for each, best in found if best[1]]
    if len(usable) > 1:
        raise UnreadableFile("which_sheet", known=", ".join(each.name for each, _ in usable))
    if usable:
        each, best = usable[0]
        return each, best[2], best[3]
    if not found:
        examples = " / ".join(f"{of_kind.examples[0]} {of_kind.examples[1]}".strip() for of_kind in _kinds(kind))
        raise UnreadableFile("no_headings", examples=examples)
    _, (_, _, of_kind, headings) = max(found, key=lambda one: one[1][0])
    for group in of_kind.required:
        if not any(name in headings.columns for name in group):
            raise UnreadableFile("column_missing", field=" / ".join(group))
    raise UnreadableFile("no_headings", examples=" ".join(of_kind.examples))


def _kinds(kind: Kind | None) -> Sequence[KindOfFile]:
    return WHOLE if kind is None else (KINDS[kind],)


def _check_mapping(mapping: Mapping[str, str] | None) -> None:
    for name in (mapping or {}).values():
        if name not in _FIELDS and name != "-":
            raise UnreadableFile("no_such_field", name=name, known=", ".join(sorted(_FIELDS)))


def _top(sheet: Sheet) -> list[Row]:
    top = []
    for row in sheet.rows():
        top.append(row)
        if len(top) >= LOOKED_AT:
            break
    return top


def _in_two_lines(top: Sequence[Row]) -> Iterator[Row]:
    """Headings of which some stand in a second line, under one that spans several columns."""
    for (number, upper), (following, lower) in itertools.pairwise(top):
        texts = all(isinstance(cell, str) for cell in lower if cell is not None)
        if following == number + 1 and texts and len(lower) >= 2:
            width = max(len(upper), len(lower))
            upper, lower = ([*cells, *[None] * (width - len(cells))] for cells in (upper, lower))
            if sum(bool(below) and bool(above) for above, below in zip(upper, lower, strict=True)) <= 2:
                yield following, [below or above for above, below in zip(upper, lower, strict=True)]


def _scored(
    row: Row, of_kind: KindOfFile, mapping: Mapping[str, str] | None, called: str
) -> tuple[float, bool, KindOfFile, Headings]:
    """How much a row looks like the headings of a kind of file, and whether it has all that is needed."""
    headings = read_headings(row[0], row[1], of_kind.headings, mapping)
    complete = all(any(name in headings.columns for name in group) for group in of_kind.required)
    score = headings.known + 0.5 * len(of_kind.telling & headings.columns.keys()) + 2 * complete
    if headings.known:
        score += 1.5 * next((name == of_kind.name for pattern, name in _HINTS if re.search(pattern, called)), False)
        said = " ".join(column.heading for column in headings.columns.values()).casefold()
        score += next((name == of_kind.name for pattern, name in _HINTS[:2] if re.search(pattern, said)), False)
    return score, complete and headings.known >= 2, of_kind, headings


def _read_rows(table: Table) -> None:
    columns = [(column, _reader(column)) for column in table.headings.columns.values()]
    required = KINDS[table.kind].required
    keys = {column.index for column, _ in columns if column.field in required[0]}
    problems, records = table.problems, table.records
    for number, cells in table.sheet.rows():
        if number <= table.headings.row:
            continue
        record = Record(number, {})
        for column, read in columns:
            cell = cells[column.index] if column.index < len(cells) else None
            if cell is None or cell == "" or is_empty(cell):
                continue
            try:
                read(cell, record)
            except Unclear as unclear:
                values = {"text": _quoted(cell), "field": column.field, **unclear.values}
                problems.add(Problem(number, column.letters, unclear.code, values))
        if not record.values and number not in problems.bad_rows:
            continue
        if (at := _sum_at(cells, record, keys, required)) is not None:
            problems.add(Problem(number, column_letters(at), "sum_row", severity="warning"))
            problems.bad_rows.discard(number)
            continue
        table.rows += 1
        for group in required:
            if not any(name in record.values for name in group) and number not in problems.bad_rows:
                letters = next((column.letters for column, _ in columns if column.field in group), "")
                problems.add(Problem(number, letters, "missing", {"field": group[0]}))
        if number not in problems.bad_rows:
            records.append(record)


def _sum_at(cells: Sequence[Cell], record: Record, keys: set[int], required: Sequence[tuple[str, ...]]) -> int | None:
    """Where a row says that it holds sums: in the place of what names a record, or in a row that lacks such a thing."""
    for index in keys:
        cell = cells[index] if index < len(cells) else None
        if type(cell) is str and _says_sum(cell):
            return index
    for group in required:
        if not any(name in record.values for name in group):
            return next((at for at, cell in enumerate(cells[:8]) if type(cell) is str and _says_sum(cell)), None)
    return None


def _says_sum(cell: str) -> bool:
    return len(cell) <= 14 and cell.replace(" ", "").rstrip(":：").casefold() in _SUMS


def _quoted(cell: Cell) -> str:
    text = str(cell)
    return text if len(text) <= 40 else f"{text[:40]}…"


def _reader(column: Column) -> Callable[[Cell, Record], None]:
    """What puts a cell of this column into a record. Raises ``Unclear``."""
    name, (how, limit) = column.field, _FIELDS[column.field]
    if how in (_TEXT, _CODE):
        get = text_of if how == _TEXT else code_of

        def text(cell: Cell, record: Record) -> None:
            value = get(cell)
            if len(value) > limit:
                raise Unclear("too_long", limit=str(limit))
            record.values[name] = value

        return text
    if how in (_NUMBER, _AMOUNT):
        measure = number_of if how == _NUMBER else amount_of
        least = -limit
        usual = unit_of_heading(column.unit)

        def number(cell: Cell, record: Record) -> None:
            value, unit = measure(cell)
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
    other: Callable[[Cell], Any] = {_SHARE: share_of, _FLAG: flag_of, _DATE: date_of}[how]

    def value(cell: Cell, record: Record) -> None:
        record.values[name] = other(cell)

    return value
