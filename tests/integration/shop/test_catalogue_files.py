"""D1 and D2 of the fault catalogue: tables out hold no formula and come back as they were; spreadsheets that are bombs
are refused while they are looked at, with little time and memory.
"""

from __future__ import annotations

import csv
import io
import json
import re
import struct
import subprocess
import sys
import time
import zipfile
import zlib
from collections.abc import Callable, Sequence
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import xlsxwriter
from hypothesis import given, settings
from hypothesis import strategies as st
from python_calamine import CalamineWorkbook

from agent_core import events as ev
from agent_core.messages import Message
from erpilot.shop.backend import Write
from erpilot.shop.catalogue import Product, Unit
from erpilot.shop.embedded.shop import EmbeddedShop
from erpilot.shop.exporting.files import Format, TableFile, closed, opened
from erpilot.shop.importing import extent, sheets
from erpilot.shop.importing.applying import Options, apply_plan, plan_import, read_files
from erpilot.shop.importing.problems import UnreadableFile
from erpilot.toolsets.shop import shop_tools
from erpilot.toolsets.shop_files import with_files
from tests.support.loops import collect, loop_over, of_type

SIGNS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
EVIL = [f"{before}{sign}cmd|' /C calc'!A0" for sign in SIGNS for before in ("", " ", "'", "''")]

# --- D1


def table(folder: Path, form: Format, rows: Sequence[Sequence[Any]]) -> Path:
    """A file of these rows under two headings, one of which is a formula."""
    file = TableFile(folder, "t", form, ["名称", "=1+1"])
    file.add(rows)
    return file.finish()


def test_d1_no_text_of_a_csv_is_a_formula_and_reading_it_back_gives_the_original(tmp_path: Path) -> None:
    path = table(tmp_path, "csv", [(text, Decimal("-12.50")) for text in EVIL])
    heads, *rows = csv.reader(io.StringIO(path.read_bytes().decode("utf-8-sig"), newline=""))
    assert heads == ["名称", "'=1+1"]
    assert [row[0] for row in rows] == [f"'{text}" for text in EVIL]
    assert {row[1] for row in rows} == {"-12.50"}, "a number stays one"
    (sheet,) = sheets.open_sheets(path)
    assert [cells[0] for _, cells in sheet.rows()][1:] == EVIL


def test_d1_no_text_of_a_workbook_is_a_formula_a_link_or_a_number(tmp_path: Path) -> None:
    texts = [*EVIL, "https://example.com", "007", "1e5", "{=1+1}", "<f>1</f>"]
    path = table(tmp_path, "xlsx", [(text, Decimal("-12.5")) for text in texts])
    heads, *rows = CalamineWorkbook.from_path(path).get_sheet_by_index(0).to_python()
    assert heads == ["名称", "=1+1"]
    plain = [text.replace("\r", "\n") for text in texts]  # XML knows one end of a line
    assert [str(row[0]).replace("\r", "\n") for row in rows] == plain
    assert {row[1] for row in rows} == {-12.5}
    with zipfile.ZipFile(path) as archive:
        xml = archive.read("xl/worksheets/sheet1.xml").decode()
        assert not [name for name in archive.namelist() if name.startswith("xl/worksheets/_rels")], "no links"
    assert re.search(r"<f[ >/]", xml) is None
    assert len(re.findall(r'<c r="A\d+"[^>]* t="(?:inlineStr|s)"', xml)) == len(texts) + 1


@given(st.text(alphabet=st.sampled_from("'= +-@\t\r\n＝＋－＠a1"), max_size=8))
@settings(max_examples=150)
def test_d1_closing_a_text_loses_nothing_of_it(text: str) -> None:
    assert opened(closed(text)) == text
    assert not closed(text).lstrip(" ").startswith(SIGNS)


@pytest.mark.parametrize("form", ["csv", "xlsx"])
async def test_d1_names_that_are_formulas_go_out_through_the_tools_and_come_back_as_they_were(
    fresh: EmbeddedShop, tmp_path: Path, form: str
) -> None:
    names = {f"EVIL-{place}": f"{sign}1+1 样品 {place}" for place, sign in enumerate(("=", "+", "-", "@", "＝"))}
    goods = [
        Product(sku, name, "", "饮料", (Unit("个", Decimal(1)),), Decimal("0.13"), Decimal("2.5"))
        for sku, name in names.items()
    ]
    await fresh.import_products(goods, write=Write("evil", "tester"))
    before = await fresh.get_products(list(names))

    def export(messages: Sequence[Message]) -> Any:
        found = json.loads(messages[-1].content or "")
        return "export_table", {"table": found["table"], "format": form, "language": "zh"}

    find = ("find_products", {"query": "样品", "limit": 10})
    loop, _ = loop_over([find], export, "done", tools=with_files(shop_tools(fresh), fresh, tmp_path))
    *_, done = of_type(await collect(loop.run("x", owner="owner")), ev.ToolCallFinished)
    assert done.ok, done.content
    path = tmp_path / "files" / json.loads(done.content)["file"]
    read = await read_files([path], Options(kind="products"))
    assert {record.values["sku"]: record.values["name"] for record in read.records} == {
        sku: product.name.replace("＝", "=")
        for sku, product in before.items()  # full-width signs are made plain
    }
    plan = await plan_import(fresh, read, Options(kind="products"))
    if not plan.empty:
        await apply_plan(fresh, plan, reason="x", write=Write("back", "tester"))
    after = await fresh.get_products(list(names))
    assert {sku: each.name.replace("＝", "=") for sku, each in before.items()} == {
        sku: each.name.replace("＝", "=") for sku, each in after.items()
    }


# --- D2


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The parts of an honest workbook."""
    path = tmp_path_factory.mktemp("honest") / "a.xlsx"
    book = xlsxwriter.Workbook(path)
    sheet = book.add_worksheet("一店")
    for place, row in enumerate((("编码", "名称"), ("A1", "苹果"))):
        sheet.write_row(place, 0, row)
    book.close()
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


class Many(bytes):
    """A piece that a part is made of, so many times over."""

    times = 1


def many(piece: bytes, times: int) -> Many:
    """The piece, ``times`` times."""
    part = Many(piece)
    part.times = times
    return part


def packed(path: Path, parts: dict[str, bytes], *, says: int | None = None) -> Path:
    """A workbook of these parts. What is large is packed once and written many times, so it costs little to make.
    ``says``: how large each part says that it is, None: the truth. Sums of parts that are large are wrong.
    """
    head, directory = io.BytesIO(), b""
    for name, data in parts.items():
        packer, times = zlib.compressobj(9, zlib.DEFLATED, -15), getattr(data, "times", 1)
        stream = (packer.compress(data) + packer.flush(zlib.Z_FULL_FLUSH)) * times + packer.flush()
        size = len(data) * times if says is None else says
        facts = struct.pack("<HHHHHLLLHH", 20, 0, 8, 0, 33, zlib.crc32(data), len(stream), size, len(name), 0)
        directory += b"PK\1\2\x14\0" + facts + struct.pack("<HHHLL", 0, 0, 0, 0, head.tell()) + name.encode()
        head.write(b"PK\3\4" + facts + name.encode() + stream)
    end = struct.pack("<HHHHLLH", 0, 0, len(parts), len(parts), len(directory), head.tell(), 0)
    path.write_bytes(head.getvalue() + directory + b"PK\5\6" + end)
    return path


GIGABYTE = 1024 * 1024 * 1024
ROWS = b'<row r="3"><c r="A3" t="inlineStr"><is><t>aaa</t></is></c></row>' * 16_384
TEXTS = b"<si><t>aaaaaaaaaaaaaaaaaaaaaaaa</t></si>" * 25_000


def of_texts(parts: dict[str, bytes]) -> dict[str, bytes]:
    """A gigabyte of texts."""
    return {**parts, "xl/sharedStrings.xml": many(TEXTS, GIGABYTE // len(TEXTS) + 1)}


def of_rows(parts: dict[str, bytes]) -> dict[str, bytes]:
    """A gigabyte of rows that all say that they are the third one."""
    return {**parts, "xl/worksheets/sheet1.xml": many(ROWS, GIGABYTE // len(ROWS) + 1)}


def of_cells(parts: dict[str, bytes]) -> dict[str, bytes]:
    """One row of very many cells that all say that they are the first one."""
    return {**parts, "xl/worksheets/sheet1.xml": many(b'<c r="A1"/>' * 100_000, 300)}


def of_beginnings(parts: dict[str, bytes]) -> dict[str, bytes]:
    """Beginnings of rows that never say which one they are."""
    return {**parts, "xl/worksheets/sheet1.xml": many(b"<row " * 200_000, 100)}


def of_sheets(parts: dict[str, bytes]) -> dict[str, bytes]:
    """A hundred thousand sheets, all of them the same part."""
    one = re.search(rb"<sheet [^>]*/>", parts["xl/workbook.xml"])
    assert one is not None
    every = b"".join(b'<sheet name="S%d" sheetId="%d" r:id="rId1"/>' % (n, n) for n in range(1, 100_001))
    return {**parts, "xl/workbook.xml": parts["xl/workbook.xml"].replace(one[0], every)}


def of_parts(parts: dict[str, bytes]) -> dict[str, bytes]:
    """More parts than a workbook of a shop has."""
    return {**parts, **{f"xl/worksheets/sheet{number}.xml": b"<worksheet/>" for number in range(2, 10_100)}}


def of_entities(parts: dict[str, bytes]) -> dict[str, bytes]:
    """A text that is a billion texts once its entities are put in."""
    names = "abcdefghij"
    steps = "".join(f'<!ENTITY {name} "{f"&{last};" * 10}">' for last, name in pairwise(names))
    texts = "".join(f"<si><t>{text}</t></si>" for text in ("编码", "名称", "&j;", "苹果"))
    whole = f'<!DOCTYPE sst [<!ENTITY a "lol">{steps}]><sst>{texts}</sst>'
    return {**parts, "xl/sharedStrings.xml": whole.encode()}


def of_ways_out(parts: dict[str, bytes]) -> dict[str, bytes]:
    """A part whose name leads out of wherever it would be unpacked."""
    return {**parts, "xl/../../../evil.txt": b"evil"}


def of_an_absolute_name(parts: dict[str, bytes]) -> dict[str, bytes]:
    """A part whose name is a path of the machine."""
    return {**parts, "/tmp/evil.txt": b"evil"}


def of_archives(parts: dict[str, bytes]) -> dict[str, bytes]:
    """Archives within archives, and no sheet."""
    inner = b"0" * 1_000_000
    for _ in range(6):
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for number in range(5):
                archive.writestr(f"{number}.zip", inner)
        inner = file.getvalue()
    return {"0.zip": inner}


BOMBS: dict[Callable[[dict[str, bytes]], dict[str, bytes]], str] = {
    of_texts: "unpacks_too_large",
    of_rows: "too_many_rows",
    of_cells: "too_many_cells",
    of_beginnings: "too_many_rows",
    of_sheets: "too_many_sheets",
    of_parts: "too_many_parts",
    of_entities: "not_a_workbook",
    of_ways_out: "not_a_workbook",
    of_an_absolute_name: "not_a_workbook",
    of_archives: "not_a_workbook",
}


def bare_seconds(parts: dict[str, bytes]) -> float:
    """What unpacking as much as is allowed takes here and now, of the processor's time."""
    (data,) = [each for each in of_texts(parts).values() if isinstance(each, Many)]
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    stream = (packer.compress(data) + packer.flush(zlib.Z_FULL_FLUSH)) * (extent.MOST_UNPACKED // len(data))
    unpacker, began = zlib.decompressobj(-15), time.process_time()
    while stream:
        unpacker.decompress(stream, 1024 * 1024)
        stream = unpacker.unconsumed_tail
    return time.process_time() - began


_LOOKS = """\
import asyncio, json, resource, sys, time
from pathlib import Path
from erpilot.shop.importing import applying, problems
for name in sys.argv[1:]:
    began = time.process_time()
    try:
        asyncio.run(applying.read_files([Path(name)], applying.Options()))
    except problems.UnreadableFile as error:
        print(json.dumps([error.code, str(error), time.process_time() - began]))
status = Path("/proc/self/status")  # getrusage also counts what the parent held while it began this process
lines = status.read_text().splitlines() if status.exists() else []
held = [line.split()[1] for line in lines if line.startswith("VmHWM:")]
print(int(held[0] if held else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) // 1024)
"""


class Looked(NamedTuple):
    """What a process that looked at all bombs, one after the other, told: the code, the sentence and the processor's
    seconds of each; the megabytes that it took, also in readers that are no Python; what lies there afterwards."""

    refusals: dict[str, tuple[str, str, float]]
    megabytes: int
    files: set[str]
    allowed: float


@pytest.fixture(scope="module")
def looked(parts: dict[str, bytes], tmp_path_factory: pytest.TempPathFactory) -> Looked:
    folder = tmp_path_factory.mktemp("bombs")
    paths = [packed(folder / f"{bomb.__name__}.xlsx", bomb(parts)) for bomb in BOMBS]
    assert all(path.stat().st_size < 4 * 1024 * 1024 for path in paths)
    # The two seconds of the catalogue where unpacking 400 MB takes a fifth of one; more on a slower machine.
    allowed = max(2.0, 10 * bare_seconds(parts))
    command = [sys.executable, "-c", _LOOKS, *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, encoding="utf-8", cwd=folder)
    *refusals, megabytes = map(json.loads, done.stdout.splitlines())
    names = [bomb.__name__ for bomb in BOMBS]
    files = {each.name for each in folder.iterdir()} - {path.name for path in paths}
    return Looked(dict(zip(names, refusals, strict=True)), megabytes, files, allowed)


@pytest.mark.parametrize("bomb", list(BOMBS), ids=[bomb.__name__ for bomb in BOMBS])
def test_d2_a_bomb_is_refused_with_a_sentence_in_little_time(
    looked: Looked, bomb: Callable[[dict[str, bytes]], dict[str, bytes]]
) -> None:
    code, sentence, seconds = looked.refusals[bomb.__name__]
    assert code == BOMBS[bomb]
    assert 10 < len(sentence) < 300
    assert seconds < looked.allowed


def test_d2_whoever_looks_at_bombs_stays_small_and_unpacks_nothing_to_anywhere(looked: Looked) -> None:
    assert looked.megabytes < 200
    assert looked.files == set()


def test_d2_a_file_that_lies_about_its_sizes_is_refused_all_the_same(tmp_path: Path, parts: dict[str, bytes]) -> None:
    path = packed(tmp_path / "lie.xlsx", of_texts(parts), says=100)
    with pytest.raises(UnreadableFile) as caught:
        sheets.open_sheets(path)
    assert caught.value.code == "unpacks_too_large"


async def test_d2_an_archive_inside_an_honest_workbook_is_left_packed(tmp_path: Path, parts: dict[str, bytes]) -> None:
    inner = packed(tmp_path / "inner.zip", {"a.txt": many(TEXTS, GIGABYTE // len(TEXTS))}).read_bytes()
    path = packed(tmp_path / "outer.xlsx", {**parts, "xl/embeddings/inner.zip": inner})
    table = await read_files([path], Options())
    assert [record.values for record in table.records] == [{"sku": "A1", "name": "苹果"}]
