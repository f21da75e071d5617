"""Writes a table as CSV or XLSX, row by row, into one folder and nowhere else.

Invariant: a text never becomes a formula, whoever opens the file; numbers stay numbers and texts texts; a file is there
whole under its name or not at all, and none that exists is written over.
"""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias
from uuid import uuid4

from ..errors import Invalid, Unavailable

Format = Literal["csv", "xlsx"]
Value: TypeAlias = str | int | Decimal | bool | date | datetime | None
MOST_ROWS = 1_000_000
_FORMULA = re.compile("'* *[=+\\-@\t\r\n＝＋－＠]")
_UNSAFE = re.compile(r"[^\w.\-]+")
_NO_TEXT = re.compile("[\ud800-\udfff\ufffe\uffff]")
"""What neither UTF-8 nor XML can hold; a workbook with it would not open."""
_MOST_TEXT = 32_767
"""Characters of a cell in XLSX."""


def closed(text: str) -> str:
    """The text in a form that no spreadsheet takes for a formula, also behind spaces; ``opened`` undoes it."""
    return f"'{text}" if _FORMULA.match(text) else text


def opened(text: str) -> str:
    """The text that was closed; any other as it is."""
    return text[1:] if text.startswith("'") and _FORMULA.match(text, 1) else text


class Writer(Protocol):
    """Takes the rows of one table, in order."""

    rows: int

    def add(self, rows: Iterable[Sequence[Value]]) -> None:
        """Writes rows."""
        ...


class _Csv:
    """With a byte order mark, so that Excel reads it as UTF-8."""

    def __init__(self, path: Path, headings: Sequence[str]) -> None:
        self._file = path.open("x", encoding="utf-8-sig", newline="")
        self._writer = csv.writer(self._file)
        self._writer.writerow([closed(heading) for heading in headings])
        self.rows = 0

    def add(self, rows: Iterable[Sequence[Value]]) -> None:
        for row in rows:
            self._writer.writerow([_written(value) for value in row])
            self.rows += 1

    def about(self, facts: Sequence[tuple[str, Value]]) -> None:
        """What stands beside the table has no place in a CSV."""

    def close(self) -> None:
        self._file.close()


def _written(value: Value) -> str:
    if isinstance(value, str):
        return closed(_NO_TEXT.sub("\ufffd", value))
    if value is None:
        return ""
    if isinstance(value, Decimal):
        return format(value, "f")
    return value.isoformat() if isinstance(value, date) else str(value)


class _Xlsx:
    def __init__(self, path: Path, headings: Sequence[str], sheets: tuple[str, str]) -> None:
        import xlsxwriter

        options = {
            "constant_memory": True,
            "strings_to_formulas": False,
            "strings_to_urls": False,
            "strings_to_numbers": False,
        }
        self._book = xlsxwriter.Workbook(str(path), options)
        self._bold = self._book.add_format({"bold": True})
        self._date = self._book.add_format({"num_format": "yyyy-mm-dd"})
        self._time = self._book.add_format({"num_format": "yyyy-mm-dd hh:mm"})
        self._sheet = self._book.add_worksheet(sheets[0])
        self._sheet.freeze_panes(1, 0)
        self._about = sheets[1]
        self.rows = 0
        for column, heading in enumerate(headings):
            self._sheet.set_column(column, column, max(10, min(40, 2 * len(heading))))
            self._sheet.write_string(0, column, heading, self._bold)

    def add(self, rows: Iterable[Sequence[Value]]) -> None:
        for row in rows:
            self.rows += 1
            for column, value in enumerate(row):
                self._cell(self._sheet, self.rows, column, value)

    def about(self, facts: Sequence[tuple[str, Value]]) -> None:
        """A second sheet: totals, definition, time."""
        sheet = self._book.add_worksheet(self._about)
        sheet.set_column(0, 0, 24)
        sheet.set_column(1, 1, 60)
        for place, (name, value) in enumerate(facts):
            sheet.write_string(place, 0, name, self._bold)
            self._cell(sheet, place, 1, value)

    def _cell(self, sheet: Any, row: int, column: int, value: Value) -> None:
        if isinstance(value, bool):
            sheet.write_boolean(row, column, value)
        elif isinstance(value, Decimal) and len(value.as_tuple().digits) > 15:
            sheet.write_string(row, column, format(value, "f"))  # a cell holds 15 digits; none is lost this way
        elif isinstance(value, int | Decimal):
            sheet.write_number(row, column, value)
        elif isinstance(value, datetime):
            sheet.write_datetime(row, column, value.replace(tzinfo=None), self._time)
        elif isinstance(value, date):
            sheet.write_datetime(row, column, value, self._date)
        elif value is not None:
            sheet.write_string(row, column, _NO_TEXT.sub("\ufffd", value[:_MOST_TEXT]))

    def close(self) -> None:
        self._book.close()


class TableFile:
    """A file of ``folder`` in the making: ``add`` rows, then ``finish``; ``abandon`` leaves nothing. Raises
    ``Unavailable`` when the folder cannot be written. ``sheets``: names of the sheets of an XLSX, of the table and of
    what stands beside it.
    """

    def __init__(
        self,
        folder: Path,
        name: str,
        form: Format,
        headings: Sequence[str],
        sheets: tuple[str, str] = ("data", "about"),
    ) -> None:
        if form not in ("csv", "xlsx"):
            raise Invalid(f"A table cannot be written as {form!r}.", hint="csv or xlsx.")
        self._folder, self._form = folder, form
        self._name = _UNSAFE.sub("-", name).strip("-.")[:80] or "table"
        self._temporary = folder / f".{uuid4().hex}.new"
        self._closed = False
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._writer = (
                _Csv(self._temporary, headings) if form == "csv" else _Xlsx(self._temporary, headings, sheets)
            )
        except OSError as error:
            raise self._failed(error) from None

    @property
    def rows(self) -> int:
        """Rows written so far."""
        return self._writer.rows

    def add(self, rows: Iterable[Sequence[Value]]) -> None:
        """Writes rows. Raises ``Invalid`` past ``MOST_ROWS``."""
        try:
            self._writer.add(rows)
        except OSError as error:
            raise self._failed(error) from None
        if self.rows > MOST_ROWS:
            raise Invalid(f"The table has more than {MOST_ROWS} rows.", hint="Restrict it first.")

    def finish(self, facts: Sequence[tuple[str, Value]] = ()) -> Path:
        """Closes the file and gives it its name. ``facts``: what stands beside the table."""
        try:
            if facts:
                self._writer.about(facts)
            self._close()
            os.chmod(self._temporary, 0o600)
            return self._published()
        except OSError as error:
            raise self._failed(error) from None
        finally:
            self.abandon()

    def abandon(self) -> None:
        """Leaves no file behind but a finished one."""
        with suppress(OSError):
            self._close()
        with suppress(OSError):
            self._temporary.unlink(missing_ok=True)

    def _close(self) -> None:
        if not self._closed:
            self._closed = True
            self._writer.close()

    def _published(self) -> Path:
        for number in range(1, 10_000):
            path = self._folder / f"{self._name}{'' if number == 1 else f'-{number}'}.{self._form}"
            try:
                os.link(self._temporary, path)
                return path
            except FileExistsError:
                continue
            except OSError:  # a file system without hard links
                if not path.exists():
                    self._temporary.replace(path)
                    return path
        raise OSError("too many files of this name")

    def _failed(self, error: OSError) -> Unavailable:
        why = error.strerror or str(error)
        return Unavailable(
            f"The file cannot be written in {self._folder}: {why}.", hint="Check the disk and its rights."
        )
