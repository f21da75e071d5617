"""How far an XLSX reaches, counted while it is unpacked: bytes, rows, columns, cells and what its texts come to.

Invariant: the reader of workbooks lays a sheet out as one rectangle and copies a text into every cell that shows it, so
whatever would make that large is refused here first. Any part can be a sheet, cells may stand anywhere or say nothing
of their place, and attributes may be written in every way that XML allows; the usual way is only counted faster. Rows
and cells that are only formatted, without a value, do not count.
"""

from __future__ import annotations

import io
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from .problems import UnreadableFile

MOST_UNPACKED = 400 * 1024 * 1024
"""Bytes of all parts together, unpacked."""
MOST_ROWS = 200_000
MOST_COLUMNS = 256
MOST_CELLS = 6_000_000
MOST_TEXT = 1024 * 1024 * 1024
"""Bytes of shared texts, each as often as it is shown."""
_LONG = 150
"""Bytes of a shared text that are too few to matter, however many cells there may be."""
_MOST_ROW_ELEMENTS, _MOST_CELL_ELEMENTS = 1_100_000, 8_000_000
"""Of a part, with those that hold no value; a sheet of Excel has 1,048,576 rows."""
_CHUNK = 256 * 1024
_KEPT = 64 * 1024
"""Bytes of a piece, at most, that are looked at again with the next one, so that no cell is cut in two."""
_PLACE = re.compile(rb"""r=["'][A-Za-z]*(\d+)["']""")
_FAR_COLUMN = re.compile(rb"""r=["']([A-Za-z]{2,})\d+["'](?!(?: s="\d+")?\s*/>)""")
_ATTRIBUTE = re.compile(rb"""\sr\s*=\s*(?=["'])""")
_CELL = re.compile(rb"<c[\s>/]")
_UNPLACED = re.compile(rb"<c(?![^>]*\sr=)[\s>/]")
_PREFIXED = re.compile(rb"<(/?)[\w.-]{1,60}:(?=(?:c|row|v|is|si|t)\b)")
_SHEET = re.compile(r"xl/worksheets/[^/]+\.xml", re.IGNORECASE)
_SHARED = re.compile(rb"""\st\s*=\s*["']s["']""")
_SHOWN = re.compile(rb"""\st\s*=\s*["']s["'][^>]*>\s*<(?:[\w.-]+:)?v>\s*(\d{1,9})""")


def check_workbook(path: Path, look: Callable[[bytes], bool] = lambda piece: False) -> bool:
    """Unpacks every part, counting, and looks where its cells stand; whether ``look`` has found something in a piece of
    any. Raises ``UnreadableFile``.
    """
    seen = False
    try:
        with zipfile.ZipFile(path) as archive, path.open("rb") as file:
            parts = archive.infolist()
            if len(parts) > 10_000:
                raise UnreadableFile("too_many_parts")
            names = [part.filename.casefold() for part in parts]
            if any(name.startswith(("/", "\\")) or ".." in re.split(r"[/\\]", name) for name in names):
                raise UnreadableFile("not_a_workbook", why="a part leads out of the file")
            if "mimetype" in names or any(name.endswith("workbook.bin") for name in names):
                raise UnreadableFile("other_workbook")
            left, longest, showing = MOST_UNPACKED, 0, 0
            for part in parts:
                counted = _check_part(file, part, left, (lambda piece: False) if seen else look)
                seen = seen or counted.seen
                left -= counted.bytes
                longest, showing = max(longest, counted.longest), showing + counted.showing
            if longest > _LONG and longest * showing > MOST_TEXT and _shown(file, parts) > MOST_TEXT:
                raise UnreadableFile("unpacks_too_large", limit=megabytes(MOST_TEXT))
    # What zipfile, zlib and struct say of an archive that is cut, damaged or packed in a way of its own; OSError and
    # ValueError: places that its directory names and that there are not.
    except (zipfile.BadZipFile, zlib.error, struct.error, OSError, NotImplementedError, ValueError) as error:
        raise UnreadableFile("not_a_workbook", why=str(error)[:200]) from None
    return seen


def megabytes(size: int) -> str:
    """A size as it is told."""
    return f"{size / 1024 / 1024:.0f} MB"


@dataclass(slots=True)
class _Counted:
    """Of a part. ``rows`` and ``columns``: how far its values reach; ``unplaced``: rows so far that do not begin by
    saying which one they are; ``run``: cells of the row that is being read that do not say it; ``tail``: bytes of the
    shared text that is being read; ``longest``: about as long as the longest of them; ``showing``: cells that show one;
    ``seen``: what is looked for is there.
    """

    is_sheet: bool
    bytes: int = 0
    row_elements: int = 0
    cell_elements: int = 0
    rows: int = 0
    columns: int = 26
    unplaced: int = 0
    run: int = 0
    tail: int = 0
    longest: int = 0
    showing: int = 0
    seen: bool = False


def _check_part(file: io.BufferedReader, part: zipfile.ZipInfo, left: int, look: Callable[[bytes], bool]) -> _Counted:
    name = part.filename.casefold()
    counted, kept, cut = _Counted(is_sheet=_SHEET.fullmatch(name) is not None), b"", b""
    for piece in _unpacked(file, part):
        if not counted.bytes and b"<" in piece[:4] and (b"\0" in piece[:4] or piece[:1] in (b"\xff", b"\xfe")):
            raise UnreadableFile("not_a_workbook", why="UTF-16")
        counted.bytes += len(piece)
        if counted.bytes > left:
            raise UnreadableFile("unpacks_too_large", limit=megabytes(MOST_UNPACKED))
        if _is_texts(part):
            _count_texts(counted, piece)
        elif counted.is_sheet or b"sheetData" in piece:
            counted.is_sheet = True
            piece = cut + piece
            end = piece.rfind(b"<")  # no mark is cut in two
            end = end if 0 <= len(piece) - end < _KEPT else len(piece)
            piece, cut = piece[:end], piece[end:]
            counted.seen = counted.seen or look(kept[-256:] + piece)
            kept = _count(counted, kept, piece)
    return counted


def _count(counted: _Counted, kept: bytes, piece: bytes) -> bytes:
    """Counts a piece, with what was kept of the one before; what is kept of this one."""
    text = kept + piece
    usual = (
        text.count(b"<c") == text.count(b'<c r="')
        and text.count(b"<row") == text.count(b'<row r="')
        and b":c" not in text
        and b":row" not in text
    )
    if not usual:
        text = _ATTRIBUTE.sub(b" r=", _PREFIXED.sub(rb"<\1", text))
    _count_elements(counted, text[len(kept) :], usual=usual)
    begins = text.rfind(b"<c")  # of the last cell: its value may come with the next piece
    begins = len(text) - 256 if begins < 0 else min(begins, len(text) - 256)
    last = max(text.rfind(b"</v"), text.rfind(b"</is"), text.rfind(b"</t"))
    valued = text if len(text) - begins > _KEPT else text[: last + 1]
    if valued:
        counted.rows = max(counted.rows, max(map(int, set(_PLACE.findall(valued))), default=0))
        counted.columns = max(counted.columns, max(map(column_number, set(_FAR_COLUMN.findall(valued))), default=0))
    _check_extent(counted)
    return text[max(begins, len(text) - _KEPT, 0) :]


def _count_elements(counted: _Counted, text: bytes, *, usual: bool) -> None:
    """Rows and cells, wherever they say that they are; those that do not say it stand behind those before them."""
    rows, cells = text.count(b"<row"), text.count(b"<c r=")
    counted.showing += text.count(b't="s"')
    if not usual:
        rows, cells = rows - text.count(b"<rowB"), len(_CELL.findall(text))
        counted.showing += len(_SHARED.findall(text))
        counted.unplaced += max(0, rows - text.count(b'<row r="'))
        counted.rows = max(counted.rows, counted.unplaced)
        if cells > text.count(b'<c r="'):
            for place, of_row in enumerate(text.split(b"<row")):
                here = len(_UNPLACED.findall(of_row))
                counted.run = here if place else counted.run + here
                counted.columns = max(counted.columns, counted.run)
    counted.row_elements += rows
    counted.cell_elements += cells


def _count_texts(counted: _Counted, text: bytes) -> None:
    """The longest shared text. Where none of a piece is long, every stretch of it holds an end of one."""
    long = any(text.find(b"si>", at, at + _LONG) < 0 for at in range(0, max(1, len(text) - _LONG), _LONG))
    if long or counted.tail + text.find(b"si>") > _LONG:
        counted.longest = max(counted.longest, *map(len, text.split(b"si>")), counted.tail + text.find(b"si>"))
    end = text.rfind(b"si>")
    counted.tail = counted.tail + len(text) if end < 0 else len(text) - end
    counted.longest = max(counted.longest, counted.tail)


def _check_extent(counted: _Counted) -> None:
    rows, columns = counted.rows, counted.columns
    if rows > MOST_ROWS or counted.row_elements > _MOST_ROW_ELEMENTS:
        raise UnreadableFile("too_many_rows", rows=rows if rows > MOST_ROWS else f"> {MOST_ROWS}", limit=MOST_ROWS)
    if columns > MOST_COLUMNS:
        raise UnreadableFile("too_many_columns", columns=columns, limit=MOST_COLUMNS)
    if rows * columns > MOST_CELLS or counted.cell_elements > _MOST_CELL_ELEMENTS:
        raise UnreadableFile("too_many_cells", limit=MOST_CELLS)


def _shown(file: io.BufferedReader, parts: Sequence[zipfile.ZipInfo]) -> int:
    """Bytes of the shared texts, each as often as cells show it."""
    lengths: list[int] = []
    for part in (part for part in parts if _is_texts(part)):
        rest = b""
        for piece in _unpacked(file, part):
            *texts, rest = (rest + piece).split(b"</si>")
            lengths += map(len, texts)
    shown = 0
    for part in (part for part in parts if not _is_texts(part)):
        kept = b""
        for piece in _unpacked(file, part):
            places = [*_SHOWN.finditer(text := kept + piece)]
            shown += sum(lengths[at] for match in places if (at := int(match[1])) < len(lengths))
            kept = text[max(len(text) - 256, places[-1].end() if places else 0) :]
    return shown


def _is_texts(part: zipfile.ZipInfo) -> bool:
    return part.filename.casefold().endswith("sharedstrings.xml")


def _unpacked(file: io.BufferedReader, part: zipfile.ZipInfo) -> Iterator[bytes]:
    """The pieces of a part. What its header says of its size is not believed."""
    if part.flag_bits & 1:
        raise UnreadableFile("protected")
    file.seek(part.header_offset)
    name_length, extra_length = struct.unpack("<HH", file.read(30)[26:30])
    file.seek(part.header_offset + 30 + name_length + extra_length)
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


def column_number(letters: bytes) -> int:
    """A is 1, Z is 26, AA is 27."""
    value = 0
    for letter in letters.upper()[:6]:
        value = value * 26 + letter - 64
    return value
