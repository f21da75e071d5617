"""Opens a file as sheets of rows: XLSX through calamine, CSV in the encodings and with the separators people have.

Invariant: what a file would take is counted before it is given to a reader that trusts it: its bytes while they are
unpacked, its rows and columns while they pass by. A file over a limit is refused with the limit named; rows are read
one at a time.
"""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time
from pathlib import Path
from typing import Any, TypeAlias

from ..exporting.files import opened
from . import extent
from .extent import megabytes
from .formulas import broken_cells, may_be_broken
from .problems import UnreadableFile

Cell: TypeAlias = str | float | int | bool | date | datetime | time | None
Row: TypeAlias = tuple[int, list[Cell]]
"""The number of a row in the sheet, from 1, and its cells from column A."""

MOST_BYTES = 50 * 1024 * 1024
"""Of a file as it lies on the disk."""
MOST_SHEETS = 200
_CHUNK = 256 * 1024
_LOOKED_AT = 4 * 1024 * 1024
_SEPARATORS = ",;\t|"
_OLE = b"\xd0\xcf\x11\xe0"
_PROTECTED = "EncryptedPackage".encode("utf-16-le")
_OTHERS = (
    (b"%PDF", "PDF"),
    (b"\x89PNG", "PNG"),
    (b"\xff\xd8\xff", "JPEG"),
    (b"GIF8", "GIF"),
    (b"{\\rtf", "RTF"),
    (b"Rar!", "RAR"),
    (b"7z\xbc\xaf", "7z"),
    (b"\x1f\x8b", "gzip"),
    (b"SQLite format 3", "SQLite"),
    (b"<!doctype html", "HTML"),
    (b"<html", "HTML"),
    (b"<table", "HTML"),
    (b"<?xml", "XML"),
)
"""What other files begin with, in folded case, whatever they are called."""


@dataclass(slots=True)
class Sheet:
    """A sheet, or the one table of a CSV file. An XLSX sheet is laid out once, until ``release``."""

    name: str
    path: Path
    encoding: str | None = None
    separator: str = ","
    broken: bool = False
    """Whether the file shows signs of formulas without a value."""
    laid_out: Any = field(default=None, repr=False, compare=False)

    def rows(self) -> Iterator[Row]:
        """The rows that are not empty, from the first one on."""
        return _csv_rows(self) if self.encoding else _xlsx_rows(self)

    def release(self) -> None:
        """Lets go of what was laid out."""
        self.laid_out = None


def open_sheets(path: Path, *, encoding: str | None = None) -> list[Sheet]:
    """The visible sheets of a file, in order. ``encoding``: of a CSV, None: found out. Raises ``UnreadableFile``."""
    try:
        size = path.stat().st_size
        if size > MOST_BYTES:
            raise UnreadableFile("file_too_large", size=megabytes(size), limit=megabytes(MOST_BYTES))
        with path.open("rb") as file:
            begins = file.read(64)
    except OSError as error:
        raise UnreadableFile("file_unreadable", name=path.name, why=error.strerror or error) from None
    if not begins:
        raise UnreadableFile("file_empty")
    if begins.startswith(b"PK\x03\x04"):
        return _xlsx_sheets(path)
    if begins.startswith(_OLE):
        raise UnreadableFile("protected" if _PROTECTED in path.read_bytes() else "old_workbook")
    text = begins.removeprefix(codecs.BOM_UTF8).lstrip()
    for sign, kind in _OTHERS:
        if text.lower().startswith(sign.lower()):
            raise UnreadableFile("other_kind", kind=kind)
    return [_csv_sheet(path, encoding)]


# --- XLSX


def _xlsx_sheets(path: Path) -> list[Sheet]:
    from python_calamine import CalamineWorkbook, SheetTypeEnum, SheetVisibleEnum

    broken = extent.check_workbook(path, may_be_broken)
    try:
        with CalamineWorkbook.from_path(path) as book:
            shown = [
                sheet.name
                for sheet in book.sheets_metadata
                if sheet.visible == SheetVisibleEnum.Visible and sheet.typ == SheetTypeEnum.WorkSheet
            ]
    except BaseException as error:  # calamine has one of its own for each part that can be broken, and its panics
        raise _unreadable(error) from None
    if not shown:
        raise UnreadableFile("no_sheet")
    if len(shown) > MOST_SHEETS:
        raise UnreadableFile("too_many_sheets", sheets=len(shown), limit=MOST_SHEETS)
    return [Sheet(name, path, broken=broken) for name in shown]


def _unreadable(error: BaseException) -> BaseException:
    """What is raised in the place of an error of the reader."""
    if isinstance(error, UnreadableFile | KeyboardInterrupt | SystemExit | GeneratorExit | MemoryError):
        return error
    return UnreadableFile("not_a_workbook", why=str(error)[:200] or type(error).__name__)


def _xlsx_rows(sheet: Sheet) -> Iterator[Row]:
    from python_calamine import CalamineWorkbook

    try:
        if sheet.laid_out is None:
            with CalamineWorkbook.from_path(sheet.path) as book:
                broken = broken_cells(sheet.path, sheet.name) if sheet.broken else {}
                sheet.laid_out = book.get_sheet_by_name(sheet.name), broken
        cells, broken = sheet.laid_out
        if (begins := cells.start) is None:
            return
        left: list[Cell] = [None] * begins[1]
        for number, row in enumerate(cells.iter_rows(), 1):
            # rows come from the first of the sheet on, columns from the first with a value; empty is an empty text
            if number in broken:
                yield number, _with(broken[number], [*left, *row])
            elif row[0] != "" or any(cell != "" for cell in row):
                yield number, row if not left else [*left, *row]
    except BaseException as error:
        raise _unreadable(error) from None


def _with(broken: Mapping[int, Cell], row: list[Cell]) -> list[Cell]:
    row += [None] * (max(broken) + 1 - len(row))
    for column, cell in broken.items():
        row[column] = cell
    return row


# --- CSV


def _csv_sheet(path: Path, encoding: str | None) -> Sheet:
    found = encoding or encoding_of(path)
    try:
        if not getattr(codecs.lookup(found), "_is_text_encoding", True):
            raise LookupError
    except LookupError:
        raise UnreadableFile("no_such_encoding", encoding=found[:40]) from None
    try:
        with path.open(encoding=found, newline="") as file:
            begins = file.read(64 * 1024)
    except (UnicodeError, LookupError):
        raise UnreadableFile("wrong_encoding", encoding=found) from None
    if "\0" in begins:
        raise UnreadableFile("not_a_table")
    return Sheet(path.stem, path, found, separator_of(begins))


def encoding_of(path: Path) -> str:
    """What its mark says; else UTF-8 if all of it is; else GB 18030, which holds GBK and GB 2312. Text in which single
    bytes outside ASCII stand between Latin letters (é in cp1252) could be read so too, as other text, and is refused.
    """
    with path.open("rb") as file:
        begins = file.read(4)
        if begins.startswith(codecs.BOM_UTF8):
            return "utf-8-sig"
        if begins.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            return "utf-16"
        for name in ("utf-8", "gb18030"):
            file.seek(0)
            decoder = codecs.getincrementaldecoder(name)()
            try:
                while piece := file.read(_CHUNK):
                    decoder.decode(piece)
                decoder.decode(b"", final=True)
            except UnicodeDecodeError:
                continue
            if name == "gb18030":
                file.seek(0)
                _check_pairs(file.read(_LOOKED_AT))
            return name
    raise UnreadableFile("wrong_encoding", encoding="UTF-8 / GB 18030")


def _check_pairs(text: bytes) -> None:
    """Chinese comes in pairs of bytes, most of them both outside ASCII. Raises ``UnreadableFile`` where few are."""
    runs = [len(run) for run in re.findall(rb"[\x80-\xff]+", text)]
    if 2 * sum(run == 1 for run in runs) > len(runs):
        raise UnreadableFile("unclear_encoding")


def separator_of(text: str) -> str:
    """The character that splits most of the first lines into the same number of parts."""
    lines = [line for line in text.splitlines()[:50] if line.strip()][:-1] or text.splitlines()[:1]
    best, most = ",", 0
    for separator in _SEPARATORS:
        counts = [len(row) for row in csv.reader(lines, delimiter=separator)]
        usual = max(set(counts), key=lambda count: (counts.count(count), count), default=1)
        score = 0 if usual == 1 else counts.count(usual) * usual
        if score > most:
            best, most = separator, score
    return best


def _csv_rows(sheet: Sheet) -> Iterator[Row]:
    try:
        with sheet.path.open(encoding=sheet.encoding, newline="") as file:
            for number, row in enumerate(csv.reader(file, delimiter=sheet.separator), 1):
                if number > extent.MOST_ROWS:
                    raise UnreadableFile("too_many_rows", rows=f"> {extent.MOST_ROWS}", limit=extent.MOST_ROWS)
                if len(row) > extent.MOST_COLUMNS:
                    raise UnreadableFile("too_many_columns", columns=len(row), limit=extent.MOST_COLUMNS)
                if any(row):
                    yield number, [opened(cell) if cell[:1] == "'" else cell for cell in row]
    except UnicodeError:
        raise UnreadableFile("wrong_encoding", encoding=sheet.encoding or "") from None
    except csv.Error as error:
        raise UnreadableFile("not_a_table_why", why=error) from None
