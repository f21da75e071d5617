"""What a column is: headings in Chinese and English, with units in brackets, under titles that span the sheet.

Invariant: a heading stands for a field by this table, never by likeness; what is not known is shown as left out.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .problems import Problem, column_letters
from .sheets import Cell

LOOKED_AT = 30
"""Rows at the top among which the headings are looked for."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column that is used. ``unit``: what stands in brackets behind the heading ("库存(箱)")."""

    index: int
    heading: str
    field: str
    unit: str | None = None

    @property
    def letters(self) -> str:
        """As the spreadsheet names it."""
        return column_letters(self.index)


@dataclass(frozen=True, slots=True)
class Headings:
    """The row of headings and what each column is. ``unused``: (letters, heading) of those that are left out."""

    row: int
    columns: dict[str, Column]
    unused: tuple[tuple[str, str], ...] = ()
    problems: tuple[Problem, ...] = ()
    known: int = field(default=0)

    def unknown(self, mapping: Mapping[str, str]) -> list[str]:
        """Of the columns that a person named, by letters or heading, those that are not here."""
        here = {text.casefold() for column in self.columns.values() for text in (column.letters, column.heading)}
        here |= {text.casefold() for column in self.unused for text in column}
        return [name for name in mapping if name.strip().casefold() not in here]


def plain(heading: str) -> tuple[str, str | None]:
    """A heading as it stands in the tables, and what stands in its brackets: "库 存(箱)*" is 库存 and 箱."""
    text = unicodedata.normalize("NFKC", heading).strip().strip("*：: ")
    bracket = re.search(r"[(\[【<]([^)\]】>]*)[)\]】>]\s*$", text)
    inside = bracket[1].strip() if bracket else None
    text = text[: bracket.start()] if bracket else text
    if inside is None and (slash := re.fullmatch(r"(\D+?)\s*/\s*(\S{1,6})", text)):
        text, inside = slash[1], slash[2]
    return re.sub(r"[\s_\-.*：:、#]+", "", text).casefold(), inside or None


def read_headings(
    row: int, cells: Sequence[Cell], names: Mapping[str, str], wanted: Mapping[str, str] | None = None
) -> Headings:
    """What the columns under these headings are. ``names``: plain heading to field, the surest first, so that of two
    columns for one field the surer one is taken; ``wanted``: field by column letters or heading, as a person said,
    before anything else.
    """
    columns: dict[str, Column] = {}
    ranks: dict[str, int] = {}
    order = {name: place for place, name in enumerate(names)}
    unused, problems, known = [], [], 0
    said = {key.strip().casefold(): value for key, value in (wanted or {}).items()}
    for index, cell in enumerate(cells):
        heading = str(cell).strip() if cell is not None else ""
        letters = column_letters(index)
        if not heading and letters.casefold() not in said:
            continue
        name, unit = plain(heading)
        chosen = said.get(letters.casefold()) or said.get(heading.casefold()) or names.get(name)
        if chosen is None and unit is not None:
            chosen = names.get(plain(heading.replace("(", "").replace(")", "").replace("（", "").replace("）", ""))[0])
        if chosen is None or chosen == "-":
            unused.append((letters, heading))
            continue
        column = Column(index, heading, chosen, unit)
        rank = -1 if letters.casefold() in said or heading.casefold() in said else order.get(name, len(order))
        if chosen in columns:
            other = columns[chosen]
            if rank < ranks[chosen]:
                columns[chosen], ranks[chosen], column, other = column, rank, other, column
            values = {"first": other.letters, "column": column.letters, "field": chosen}
            problems.append(Problem(row, column.letters, "heading_twice", values, "warning"))
            unused.append((column.letters, column.heading))
            continue
        known += 1
        columns[chosen], ranks[chosen] = column, rank
    return Headings(row, columns, tuple(unused), tuple(problems), known)
