"""Finds the table in a file and reads its rows as values, with everything that is wrong said by row and column.

Invariant: nothing of the shop is looked at here, so the same file gives the same rows. A row with an error is left out
and counted; the first ``MOST_PROBLEMS`` are kept in words, the others as numbers.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .cells import Unclear, is_empty, may_be_comma
from .fields import FIELDS, Record, reader_of
from .formulas import ERRORS, Broken
from .headings import LOOKED_AT, Column, Headings, read_headings
from .kinds import KINDS, WHOLE, Kind, KindOfFile
from .problems import Problem, UnreadableFile, column_letters
from .sheets import Cell, Row, Sheet, open_sheets

MOST_PROBLEMS = 500
_SUM = re.compile(
    r"(?:本页|本单|本日|本月|以上|全部|期末|金额|数量)?(?:合计|总计|小计|共计|累计)(?:金额|数量|总额)?(?:[:：].*)?"
    r"|(?:page|grand|sub)?-?totals?(?:[:：].*|amount|quantity)?|sum[:：]?",
    re.IGNORECASE,
)
_NOTE = re.compile(
    r"(?:制表|制单|填表|审核|复核|经手|经办|打印|备注|说明|签字|签名|盖章|日期|注|负责人|仓管|财务|主管)[^:：]{0,4}[:：].*"
    r"|(?:prepared|checked|approved|printed|notes?|remarks?|signature|signed|date|page)\b[^:：]{0,12}[:：].*",
    re.IGNORECASE,
)
_HINTS: tuple[tuple[str, Kind], ...] = (
    ("供应商|supplier|vendor", "suppliers"),
    ("客户|customer|client", "customers"),
    ("盘点|库存|实盘|stock|count|inventory", "stock"),
    ("价目|调价|价格|price", "prices"),
    ("订单|销售单|销售明细|order", "orders"),
    ("商品|产品|货品|物料|product|goods|item", "products"),
)


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

    def take_back(self, row: int) -> None:
        """Forgets what was said of the row that is being read: it is no record."""
        while self.kept and self.kept[-1].row == row:
            self.counts[self.kept[-1].code] -= 1
            self.errors -= self.kept.pop().severity == "error"
        self.bad_rows.discard(row)

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
    if kind not in ("order_heads", "order_lines") and (unknown := headings.unknown(mapping or {})):
        raise UnreadableFile("no_such_column", name=unknown[0])
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
        if name not in FIELDS and name != "-":
            raise UnreadableFile("no_such_field", name=name, known=", ".join(sorted(FIELDS)))


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
    columns = [(column, reader_of(column)) for column in table.headings.columns.values()]
    width = 0
    commas: set[Column] = set()
    required = KINDS[table.kind].required
    keys = {column.index for column, _ in columns if column.field in required[0]}
    problems, records = table.problems, table.records
    for number, cells in table.sheet.rows():
        if number <= table.headings.row:
            width = len(cells)
            continue
        record = Record(number, {})
        for column, read in columns:
            cell = cells[column.index] if column.index < len(cells) else None
            if type(cell) is Broken or (type(cell) is str and cell[:1] == "#" and cell.strip().upper() in ERRORS):
                code = "formula_error" if cell else "formula_without_value"
                problems.add(Problem(number, column.letters, code, {"text": str(cell)}))
                continue
            if cell is None or cell == "" or is_empty(cell):
                continue
            try:
                read(cell, record)
            except Unclear as unclear:
                if unclear.code == "decimal_comma":
                    commas.add(column)
                values = {"text": _quoted(cell), "field": column.field, **unclear.values}
                problems.add(Problem(number, column.letters, unclear.code, values))
        if not record.values and number not in problems.bad_rows:
            continue
        if (found := _below(cells, record, keys, required)) is not None:
            problems.take_back(number)
            problems.add(Problem(number, column_letters(found[0]), found[1], severity="warning"))
            continue
        table.rows += 1
        if table.sheet.encoding and len(cells) > width and (more := [cell for cell in cells[width:] if cell]):
            problems.add(Problem(number, column_letters(width), "cell_too_many", {"text": _quoted(more[0])}))
        for group in required:
            if not any(name in record.values for name in group) and number not in problems.bad_rows:
                letters = next((column.letters for column, _ in columns if column.field in group), "")
                problems.add(Problem(number, letters, "missing", {"field": group[0]}))
        if number not in problems.bad_rows:
            records.append(record)
    if commas:
        _refuse_doubtful(table, commas)


def _refuse_doubtful(table: Table, columns: set[Column]) -> None:
    """In a column where decimal commas were found, 1,234 and 1.234 are not taken either."""
    taken = {record.row for record in table.records}
    for number, cells in table.sheet.rows():
        for column in columns:
            if number in taken and column.index < len(cells) and may_be_comma(cells[column.index]):
                values = {"text": _quoted(cells[column.index])}
                table.problems.add(Problem(number, column.letters, "decimal_comma", values))
    table.records = [record for record in table.records if record.row not in table.problems.bad_rows]


def _below(
    cells: Sequence[Cell], record: Record, keys: set[int], required: Sequence[tuple[str, ...]]
) -> tuple[int, str] | None:
    """Where a row says that it holds sums, or a note to the table, and which of them: in the place of what names a
    record, or in a row that lacks such a thing.
    """
    for index in keys:
        cell = cells[index] if index < len(cells) else None
        if type(cell) is str and (code := _says(cell)):
            return index, code
    for group in required:
        if not any(name in record.values for name in group):
            said = ((at, _says(cell)) for at, cell in enumerate(cells[:8]) if type(cell) is str)
            return next(((at, code) for at, code in said if code), None)
    return None


def _says(cell: str) -> str | None:
    if len(cell) <= 20 and _SUM.fullmatch(cell.replace(" ", "")):
        return "sum_row"
    return "note_row" if len(cell) <= 60 and _NOTE.fullmatch(cell.strip()) else None


def _quoted(cell: Cell) -> str:
    text = str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)
    return text if len(text) <= 40 else f"{text[:40]}…"
