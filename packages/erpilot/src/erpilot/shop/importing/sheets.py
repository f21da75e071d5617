"""Opens a file as sheets of rows: XLSX through calamine, CSV in the encodings and with the separators people have.

Invariant: what a file would take is counted before it is given to a reader that trusts it: its bytes while they are
unpacked, its rows and columns while they pass by. A file over a limit is refused with the limit named; rows are read
one at a time.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, time
from pathlib import Path
from typing import Any, TypeAlias

from ..exporting.files import opened
from .problems import UnreadableFile

Cell: TypeAlias = str | float | int | bool | date | datetime | time | None
Row: TypeAlias = tuple[int, list[Cell]]
"""The number of a row in the sheet, from 1, and its cells from column A."""

MOST_BYTES = 50 * 1024 * 1024
"""Of a file as it lies on the disk."""
MOST_UNPACKED = 400 * 1024 * 1024
"""Of all parts of an XLSX together, unpacked."""
MOST_ROWS = 200_000
MOST_COLUMNS = 256
MOST_CELLS = 6_000_000
MOST_SHEETS = 200
_CHUNK = 256 * 1024
_ROW = re.compile(rb'<(?:\w{1,9}:)?row\b[^>]{0,200}?\br="(\d{1,9})"')
_FAR_COLUMN = re.compile(rb'r="([A-Z]{2,3})\d')  # begins with what can be searched for at once
_OVERLAP = 256
"""Bytes of a piece that are looked at again with the next one, so that nothing is cut in two."""
_SEPARATORS = ",;\t|"
_OLE = b"\xd0\xcf\x11\xe0"


@dataclass(slots=True)
class Sheet:
    """A sheet, or the one table of a CSV file. An XLSX sheet is laid out once, until ``release``."""

    name: str
    path: Path
    encoding: str | None = None
    separator: str = ","
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
            raise UnreadableFile("file_too_large", size=_megabytes(size), limit=_megabytes(MOST_BYTES))
        with path.open("rb") as file:
            begins = file.read(8)
    except OSError as error:
        raise UnreadableFile("file_unreadable", name=path.name, why=error.strerror or error) from None
    if not begins:
        raise UnreadableFile("file_empty")
    if begins.startswith(b"PK\x03\x04"):
        return _xlsx_sheets(path)
    if begins.startswith(_OLE):
        raise UnreadableFile("old_or_protected")
    return [_csv_sheet(path, encoding)]


def _megabytes(size: int) -> str:
    return f"{size / 1024 / 1024:.0f} MB"


# --- XLSX


def _xlsx_sheets(path: Path) -> list[Sheet]:
    from python_calamine import CalamineWorkbook, SheetTypeEnum, SheetVisibleEnum

    check_workbook(path)
    try:
        with CalamineWorkbook.from_path(path) as book:
            shown = [
                sheet.name
                for sheet in book.sheets_metadata
                if sheet.visible == SheetVisibleEnum.Visible and sheet.typ == SheetTypeEnum.WorkSheet
            ]
    except Exception as error:  # calamine has an exception of its own for each part that can be broken
        raise UnreadableFile("not_a_workbook", why=str(error)[:200] or type(error).__name__) from None
    if not shown:
        raise UnreadableFile("no_sheet")
    if len(shown) > MOST_SHEETS:
        raise UnreadableFile("too_many_sheets", sheets=len(shown), limit=MOST_SHEETS)
    return [Sheet(name, path) for name in shown]


def check_workbook(path: Path) -> None:
    """Unpacks every part, counting, and looks where the cells of its sheets stand. Raises ``UnreadableFile``."""
    try:
        with zipfile.ZipFile(path) as archive, path.open("rb") as file:
            if len(archive.infolist()) > 10_000:
                raise UnreadableFile("too_many_parts")
            left = MOST_UNPACKED
            for part in archive.infolist():
                if part.filename.startswith(("/", "\\")) or ".." in re.split(r"[/\\]", part.filename):
                    raise UnreadableFile("not_a_workbook", why="a part leads out of the file")
                is_sheet = re.fullmatch(r"xl/worksheets/[^/]+\.xml", part.filename, re.IGNORECASE) is not None
                left -= _check_part(file, part, left, is_sheet=is_sheet)
    except (zipfile.BadZipFile, zlib.error, struct.error, OSError, NotImplementedError, ValueError) as error:
        raise UnreadableFile("not_a_workbook", why=str(error)[:200]) from None


def _check_part(file: io.BufferedReader, part: zipfile.ZipInfo, left: int, *, is_sheet: bool) -> int:
    """Bytes of a part, unpacked. What its header says of its size is not believed."""
    if part.flag_bits & 1:
        raise UnreadableFile("old_or_protected")
    file.seek(part.header_offset)
    header = file.read(30)
    name_length, extra_length = struct.unpack("<HH", header[26:30])
    file.seek(part.header_offset + 30 + name_length + extra_length)
    total, rows, cells, last_row, columns, kept = 0, 0, 0, 0, 0, b""
    for piece in _unpacked(file, part):
        total += len(piece)
        if total > left:
            raise UnreadableFile("unpacks_too_large", limit=_megabytes(MOST_UNPACKED))
        if is_sheet:
            rows += piece.count(b"<row") - piece.count(b"<rowBreaks") + piece.count(b":row")
            cells += piece.count(b"<c ") + piece.count(b":c ")
            if rows > MOST_ROWS:  # also of those that all call themselves the first one
                raise UnreadableFile("too_many_rows", rows=f"> {MOST_ROWS}", limit=MOST_ROWS)
            if cells > MOST_CELLS:
                raise UnreadableFile("too_many_cells", limit=MOST_CELLS)
            text = kept + piece
            last_row = max([last_row, *map(int, _ROW.findall(text))])
            columns = max(columns, max(map(_column, set(_FAR_COLUMN.findall(text))), default=26))
            _check_extent(last_row, columns)
            kept = text[-_OVERLAP:]
    return total


def _unpacked(file: io.BufferedReader, part: zipfile.ZipInfo) -> Iterator[bytes]:
    rest = part.compress_size
    if part.compress_type == zipfile.ZIP_STORED:
        while rest > 0 and (piece := file.read(min(_CHUNK, rest))):
            rest -= len(piece)
            yield piece
        return
    if part.compress_type != zipfile.ZIP_DEFLATED:
        raise UnreadableFile("not_a_workbook", why=f"compression {part.compress_type}")
    packed = zlib.decompressobj(-15)
    while rest > 0 and not packed.eof and (piece := file.read(min(_CHUNK, rest))):
        rest -= len(piece)
        while piece and not packed.eof:
            yield packed.decompress(piece, 4 * _CHUNK)
            piece = packed.unconsumed_tail


def _column(letters: bytes) -> int:
    value = 0
    for letter in letters:
        value = value * 26 + letter - 64
    return value


def _check_extent(rows: int, columns: int) -> None:
    if rows > MOST_ROWS:
        raise UnreadableFile("too_many_rows", rows=rows, limit=MOST_ROWS)
    if columns > MOST_COLUMNS:
        raise UnreadableFile("too_many_columns", columns=columns, limit=MOST_COLUMNS)
    if rows * columns > MOST_CELLS:
        raise UnreadableFile("too_many_cells", limit=MOST_CELLS)


def _xlsx_rows(sheet: Sheet) -> Iterator[Row]:
    from python_calamine import CalamineWorkbook

    try:
        if sheet.laid_out is None:
            with CalamineWorkbook.from_path(sheet.path) as book:
                sheet.laid_out = book.get_sheet_by_name(sheet.name)
        cells = sheet.laid_out
        if (begins := cells.start) is None:
            return
        left: list[Cell] = [None] * begins[1]
        for number, row in enumerate(cells.iter_rows(), 1):
            # rows come from the first of the sheet on, columns from the first with a value; empty is an empty text
            if row[0] != "" or any(cell != "" for cell in row):
                yield number, row if not left else [*left, *row]
    except UnreadableFile:
        raise
    except Exception as error:
        raise UnreadableFile("not_a_workbook", why=str(error)[:200] or type(error).__name__) from None


# --- CSV


def _csv_sheet(path: Path, encoding: str | None) -> Sheet:
    found = encoding or encoding_of(path)
    try:
        with path.open(encoding=found, newline="") as file:
            begins = file.read(64 * 1024)
    except (UnicodeError, LookupError):
        raise UnreadableFile("wrong_encoding", encoding=found) from None
    if "\0" in begins:
        raise UnreadableFile("not_a_table")
    return Sheet(path.stem, path, found, separator_of(begins))


def encoding_of(path: Path) -> str:
    """What its mark says; else UTF-8 if all of it is; else GB 18030, which holds GBK and GB 2312."""
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
            return name
    raise UnreadableFile("wrong_encoding", encoding="UTF-8 / GB 18030")


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
                if number > MOST_ROWS:
                    raise UnreadableFile("too_many_rows", rows=f"> {MOST_ROWS}", limit=MOST_ROWS)
                if len(row) > MOST_COLUMNS:
                    raise UnreadableFile("too_many_columns", columns=len(row), limit=MOST_COLUMNS)
                if any(row):
                    yield number, [opened(cell) if cell[:1] == "'" else cell for cell in row]
    except UnicodeError:
        raise UnreadableFile("wrong_encoding", encoding=sheet.encoding or "") from None
    except csv.Error as error:
        raise UnreadableFile("not_a_table_why", why=error) from None
