"""Cells of an XLSX that have no value to read: formulas that gave an error, or that nobody has calculated.

Invariant: the reader of workbooks shows both as empty; they are never taken for that, since a missing price is another
thing than a wrong one. Looked for only where the file has one.
"""

from __future__ import annotations

import re
import zipfile
from collections import defaultdict
from collections.abc import Mapping
from html import unescape
from pathlib import Path, PurePosixPath

from .extent import column_number

ERRORS = frozenset({"#N/A", "#VALUE!", "#REF!", "#DIV/0!", "#NAME?", "#NUM!", "#NULL!", "#SPILL!", "#CALC!"})
"""What a spreadsheet shows for a formula that failed; in a CSV it is all that is left of it."""
_CELL = re.compile(rb'<c r="([A-Z]{1,3})(\d{1,7})"([^>]*)>(.*?)</c>', re.DOTALL)
_VALUE = re.compile(rb"<v[^>]*>(.*?)</v>|<is\b", re.DOTALL)
_SHEET = re.compile(r"<(?:\w+:)?sheet\s[^>]*>")
_RELATION = re.compile(r"<(?:\w+:)?Relationship\s[^>]*>")
_CHUNK = 1024 * 1024
_LONGEST = 64 * 1024
"""Bytes of a cell, at most."""


class Broken(str):
    """A cell without a value: the error that stands there, or nothing where a formula was never calculated."""

    __slots__ = ()


def may_be_broken(text: bytes) -> bool:
    """Whether a piece of a sheet shows signs of such a cell."""
    if b't="e"' in text:
        return True
    return b"<f" in text and any(sign in text for sign in (b"</f></c>", b"</f><v></v>", b"</f><v/>", b'"/></c>'))


def broken_cells(path: Path, sheet: str) -> Mapping[int, Mapping[int, Broken]]:
    """Of a sheet, by row from 1 and column from 0."""
    found: dict[int, dict[int, Broken]] = defaultdict(dict)
    with zipfile.ZipFile(path) as archive:
        part = _part_of(archive, sheet)
        if part is None:
            return found
        with archive.open(part) as file:
            text = b""
            while piece := file.read(_CHUNK):
                text += piece
                end = text.rfind(b"</c>") + 4
                for match in _CELL.finditer(text, 0, end):
                    cell = _broken(match[3], match[4])
                    if cell is not None:
                        found[int(match[2])][column_number(match[1]) - 1] = cell
                text = text[max(end, len(text) - _LONGEST) :] if end >= 4 else text[-_LONGEST:]
    return found


def _broken(attributes: bytes, inside: bytes) -> Broken | None:
    value = _VALUE.search(inside)
    if b't="e"' in attributes:
        return Broken((value[1] or b"").decode("utf-8", "replace") if value else "")
    if b"<f" in inside and (value is None or value[1] == b"") and b't="str"' not in attributes:
        return Broken("")
    return None


def _part_of(archive: zipfile.ZipFile, sheet: str) -> str | None:
    """The part that holds a sheet."""
    names = {name.casefold(): name for name in archive.namelist()}
    try:
        book = archive.read(names["xl/workbook.xml"]).decode("utf-8")
        relations = archive.read(names["xl/_rels/workbook.xml.rels"]).decode("utf-8")
    except (KeyError, UnicodeDecodeError):
        return None
    wanted = next((_attribute(tag, "r:id") for tag in _SHEET.findall(book) if _attribute(tag, "name") == sheet), None)
    for tag in _RELATION.findall(relations):
        if wanted is not None and _attribute(tag, "Id") == wanted:
            target = _attribute(tag, "Target") or ""
            name = target.lstrip("/") if target.startswith("/") else str(PurePosixPath("xl") / target)
            return names.get(name.casefold())
    return None


def _attribute(tag: str, name: str) -> str | None:
    found = re.search(rf'\s{name}="([^"]*)"', tag)
    return None if found is None else unescape(found[1])
