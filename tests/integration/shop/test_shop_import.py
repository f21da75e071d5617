"""Spreadsheets brought into the embedded shop: files as people have them, limits, one change that can be taken back."""

from __future__ import annotations

import csv
import struct
import zipfile
import zlib
from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import get_args

import pytest
import xlsxwriter

import erpilot.shop
from erpilot.shop.backend import Write
from erpilot.shop.embedded.shop import EmbeddedShop
from erpilot.shop.errors import Conflict, Denied, NotFound, Refused
from erpilot.shop.importing import extent, sheets
from erpilot.shop.importing.applying import Options, apply_plan, plan_import, read_files
from erpilot.shop.importing.keeping import ImportFolder
from erpilot.shop.importing.planning import Plan
from erpilot.shop.importing.problems import UnreadableFile
from erpilot.shop.importing.words import Language, sentence
from tests.support import messy_books
from tests.support.messy_books import Expected

_FOLDERS = (
    Path(__file__).parents[2] / "fixtures" / "northwind",
    Path(erpilot.shop.__file__).parent / "data" / "northwind",
)


def northwind(name: str) -> Path:
    """A file of the Northwind sample."""
    return next(path for folder in _FOLDERS if (path := folder / name).exists())


@pytest.fixture
def shop(fresh: EmbeddedShop) -> EmbeddedShop:
    return fresh


async def planned(shop: EmbeddedShop, *paths: Path, **options: object) -> Plan:
    chosen = Options(**options)  # type: ignore[arg-type]
    return await plan_import(shop, await read_files(paths, chosen), chosen)


def write(key: str = "k") -> Write:
    return Write(key, "me")


# --- as people have them


@pytest.mark.parametrize(("book", "ending"), [("products", "xlsx"), ("counts", "xlsx"), ("past_orders", "csv")])
async def test_a_messy_workbook_gives_what_is_right_in_it_and_names_the_rest_by_row_and_column(
    shop: EmbeddedShop, tmp_path: Path, book: str, ending: str
) -> None:
    path = tmp_path / f"{book}.{ending}"
    expected: Expected = getattr(messy_books, book)(path)
    plan = await planned(shop, path)
    assert plan.rows == expected.rows
    assert plan.new + plan.changed + plan.unchanged == expected.taken
    assert plan.left_out == expected.rows - expected.taken
    told = sorted((each.row, each.column, each.code) for each in plan.problems.kept)
    assert told == sorted(expected.problems)
    total = {"products": "list_price", "counts": "quantity", "past_orders": "amount"}[book]
    assert plan.sums[total] == expected.total
    for problem in plan.problems.kept:
        for language in get_args(Language):
            assert sentence(problem.code, problem.values, language)


async def test_a_messy_workbook_is_applied_as_one_change_and_taken_back_as_one(
    shop: EmbeddedShop, tmp_path: Path
) -> None:
    path = tmp_path / "goods.xlsx"
    messy_books.products(path)
    plan = await planned(shop, path)
    await apply_plan(shop, plan, reason="goods.xlsx", write=write())
    found = await shop.get_products(["XL-002", "007", "6900000000035"])
    assert (found["XL-002"].name, found["XL-002"].specification) == ("抽 纸", "3层 100抽")
    assert [unit.name for unit in found["XL-002"].units] == ["提", "箱"]
    assert found["007"].list_price == Decimal("0.5")
    assert not found["007"].active
    assert found["6900000000035"].list_price == 1008
    assert (await planned(shop, path)).empty, "the second time nothing is left to do"
    await shop.undo("k", reason="x", write=write("undo"))
    assert await shop.get_products(["XL-002", "007"]) == {}
    assert (await planned(shop, path)).new == plan.new


async def test_counts_are_set_or_added_in_the_unit_that_was_written(shop: EmbeddedShop, tmp_path: Path) -> None:
    path = tmp_path / "盘点.xlsx"
    messy_books.counts(path)
    before = (await shop.get_stock(["PA4-70"], warehouse="MAIN"))["PA4-70"][0].on_hand
    plan = await planned(shop, path)
    await apply_plan(shop, plan, reason="x", write=write())
    assert (await shop.get_stock(["PA4-70"], warehouse="MAIN"))["PA4-70"][0].on_hand == 118 * 5
    await shop.undo("k", reason="x", write=write("undo"))
    added = await planned(shop, path, mode="add")
    await apply_plan(shop, added, reason="x", write=write("k2"))
    assert (await shop.get_stock(["PA4-70"], warehouse="MAIN"))["PA4-70"][0].on_hand == before + 118 * 5


async def test_stock_that_moved_after_the_plan_is_a_conflict_and_changes_nothing(
    shop: EmbeddedShop, tmp_path: Path
) -> None:
    path = tmp_path / "c.xlsx"
    messy_books.counts(path)
    first, second = await planned(shop, path), await planned(shop, path)
    await apply_plan(shop, first, reason="x", write=write("a"))
    with pytest.raises(Conflict):
        await apply_plan(shop, second, reason="x", write=write("b"))


async def test_headings_in_two_lines_are_read_as_one(shop: EmbeddedShop, tmp_path: Path) -> None:
    path = tmp_path / "x.xlsx"
    messy_books.in_two_lines(path)
    plan = await planned(shop, path)
    assert plan.problems.total == 0
    assert [(each.sku, each.list_price, each.cost, each.base.name) for each in plan.products] == [
        ("T-1", Decimal("3.5"), Decimal(2), "个"),
        ("T-2", Decimal("4.5"), Decimal(3), "个"),
    ]


async def test_a_barcode_of_another_product_of_the_shop_is_an_error(shop: EmbeddedShop, tmp_path: Path) -> None:
    (known,) = (await shop.get_products(["PA4-70"])).values()
    barcode = next(unit.barcode for unit in known.units if unit.barcode)
    path = tmp_path / "x.csv"
    path.write_text(f"编码,名称,条码\nT-1,苹果,{barcode}\nPA4-70,{known.name},\n", encoding="utf-8")
    plan = await planned(shop, path)
    assert [(each.row, each.column, each.code) for each in plan.problems.kept] == [(2, "C", "same_barcode")]


async def test_what_a_file_does_not_say_of_a_product_stays(shop: EmbeddedShop, tmp_path: Path) -> None:
    (before,) = (await shop.get_products(["PA4-70"])).values()
    path = tmp_path / "x.csv"
    path.write_text(f"编码,名称,零售价\nPA4-70,{before.name},25.5\n", encoding="utf-8")
    plan = await planned(shop, path)
    assert (plan.changed, plan.sample[0].field) == (1, "list_price")
    await apply_plan(shop, plan, reason="x", write=write())
    (after,) = (await shop.get_products(["PA4-70"])).values()
    assert replace(after, list_price=before.list_price, version=before.version) == before


async def test_prices_come_with_their_day(shop: EmbeddedShop, tmp_path: Path) -> None:
    path = tmp_path / "prices.xlsx"
    messy_books.dated(path)
    plan = await planned(shop, path)
    assert (plan.kind, plan.changed) == ("prices", 1)
    assert plan.prices[0].start == date(2026, 12, 1)
    await apply_plan(shop, plan, reason="x", write=write())
    assert (await planned(shop, path)).empty


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gbk", "gb18030", "utf-16"])
@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
async def test_a_csv_is_read_in_every_encoding_and_with_every_separator_that_people_have(
    tmp_path: Path, encoding: str, separator: str
) -> None:
    rows = [("编码", "名称", "零售价"), *((f"T-{place}", f"中文商品{place}", f"{place}.5") for place in range(1, 40))]
    path = tmp_path / "x.csv"
    path.write_text("\r\n".join(separator.join(row) for row in rows), encoding=encoding, newline="")
    table = await read_files([path], Options())
    assert [record.values["name"] for record in table.records] == [row[1] for row in rows[1:]]


async def test_who_may_not_change_base_data_cannot_import(shop: EmbeddedShop, tmp_path: Path) -> None:
    path = tmp_path / "p.xlsx"
    messy_books.products(path)
    clerk = shop.acting_as("clerk", ["clerk"])
    with pytest.raises(Denied, match="catalogue"):
        await apply_plan(clerk, await planned(shop, path), reason="x", write=write())


# --- the files of Northwind


async def test_northwind_comes_in_whole_and_goes_out_again(shop: EmbeddedShop) -> None:
    steps = {
        "customers": ("customers.csv",),
        "suppliers": ("suppliers.csv",),
        "products": ("products.csv",),
        "orders": ("orders.csv", "order_lines.csv"),
    }
    counts = {"customers": 91, "suppliers": 29, "products": 77, "orders": 2155}
    sums = dict[str, Decimal]()
    for kind, names in steps.items():
        paths = [northwind(name) for name in names]
        plan = await planned(shop, *paths)
        assert (plan.kind, plan.rows, plan.left_out) == (kind, counts[kind], 0)
        assert plan.problems.errors == 0
        await apply_plan(shop, plan, reason="northwind", write=write(kind))
        assert (await planned(shop, *paths)).empty
        sums = plan.sums
    assert sums["amount"] == Decimal("1265793.0395"), "as its README says"
    assert sums["orders"] == 830
    with northwind("order_lines.csv").open(newline="") as file:
        quantity = sum(int(row["quantity"]) for row in csv.DictReader(file))
    assert sums["quantity"] == quantity
    order = await shop.get_order("10248")
    assert [line.ordered for line in order.lines] == [12, 10, 5]
    assert order.head.date == date(1996, 7, 4)
    with pytest.raises(Conflict, match="used by now"):
        await shop.undo("products", reason="x", write=write("too early"))
    for kind in reversed(steps):
        await shop.undo(kind, reason="x", write=write(f"undo {kind}"))
    with pytest.raises(NotFound):
        await shop.get_order("10248")


async def test_a_plan_that_changes_nothing_is_not_applied(shop: EmbeddedShop) -> None:
    paths = [northwind("suppliers.csv")]
    await apply_plan(shop, await planned(shop, *paths), reason="x", write=write("a"))
    with pytest.raises(Refused):
        await apply_plan(shop, await planned(shop, *paths), reason="x", write=write("b"))


# --- files that cannot be, or must not be, read


def refused(path: Path, **options: object) -> str:
    with pytest.raises(UnreadableFile) as caught:
        sheets.open_sheets(path, **options)  # type: ignore[arg-type]
    return caught.value.code


def test_a_workbook_that_unpacks_to_more_than_the_limit_is_refused_while_it_is_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extent, "MOST_UNPACKED", 4 * 1024 * 1024)
    path = tmp_path / "bomb.xlsx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", b"<a>" + b" " * (64 * 1024 * 1024))
    assert path.stat().st_size < 200_000
    assert refused(path) == "unpacks_too_large"


def test_a_header_that_lies_about_the_size_is_not_believed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extent, "MOST_UNPACKED", 1024 * 1024)
    path = tmp_path / "lie.xlsx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/sharedStrings.xml", b"x" * (8 * 1024 * 1024))
    data = path.read_bytes().replace(struct.pack("<I", 8 * 1024 * 1024), struct.pack("<I", 10))
    path.write_bytes(data)
    assert refused(path) == "unpacks_too_large"


def _sheet(tmp_path: Path, cells: str) -> Path:
    """A workbook whose one sheet has these cells."""
    path = tmp_path / "far.xlsx"
    book = xlsxwriter.Workbook(path)
    book.add_worksheet("s")
    book.close()
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    xml = parts["xl/worksheets/sheet1.xml"].decode()
    parts["xl/worksheets/sheet1.xml"] = xml.replace("<sheetData/>", f"<sheetData>{cells}</sheetData>").encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return path


@pytest.mark.parametrize(
    ("cells", "code"),
    [
        ('<row r="1048576"><c r="A1048576"><v>1</v></c></row>', "too_many_rows"),
        ('<row r="1"><c r="XFD1"><v>1</v></c></row>', "too_many_columns"),
        ('<row r="1"><c r="IV1"><v>1</v></c></row><row r="190000"><c r="A190000"><v>1</v></c></row>', "too_many_cells"),
        ('<row spans="1:1" r="900000"><c s="1" r="B900000"><v>1</v></c></row>', "too_many_rows"),
    ],
)
def test_a_cell_far_out_is_refused_before_its_sheet_is_laid_out(tmp_path: Path, cells: str, code: str) -> None:
    assert refused(_sheet(tmp_path, cells)) == code


def test_what_is_no_workbook_is_refused_in_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "x.xlsx"
    path.write_bytes(b"PK\x03\x04 and nothing else")
    assert refused(path) == "not_a_workbook"
    path.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600)
    assert refused(path) == "old_workbook"
    path.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le") + b"\0" * 600)
    assert refused(path) == "protected"
    path.write_bytes(b"")
    assert refused(path) == "file_empty"
    path.write_bytes(b"a,b\n\0\0\n" * 50)
    assert refused(path) == "not_a_table"
    path.write_bytes("编码,名称".encode("gbk"))
    assert refused(path, encoding="utf-8") == "wrong_encoding"
    assert refused(path, encoding="no-such") == "no_such_encoding"
    assert refused(path, encoding="base64") == "no_such_encoding"
    assert refused(tmp_path / "none.csv") == "file_unreadable"


def test_a_file_that_is_too_large_is_not_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sheets, "MOST_BYTES", 10)
    path = tmp_path / "x.csv"
    path.write_text("a,b\n" * 10)
    assert refused(path) == "file_too_large"


async def test_a_csv_with_more_rows_than_the_limit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extent, "MOST_ROWS", 5)
    path = tmp_path / "x.csv"
    path.write_text("编码,名称\n" + "A,b\n" * 10)
    with pytest.raises(UnreadableFile, match="at most 5"):
        await read_files([path], Options())


def test_a_damaged_part_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.xlsx"
    messy_books.products(path)
    data = bytearray(path.read_bytes())
    at = data.index(b"xl/worksheets/sheet1.xml") + 40
    data[at : at + 40] = zlib.compress(b"something else")[:2] + b"\xff" * 38
    path.write_bytes(bytes(data))
    assert refused(path) in ("not_a_workbook",)


async def test_several_sheets_that_could_be_meant_are_asked_about(tmp_path: Path) -> None:
    path = tmp_path / "two.xlsx"
    book = xlsxwriter.Workbook(path)
    for name in ("一店", "二店"):
        book.add_worksheet(name).write_column("A1", ("编码", "A1"))
        book.get_worksheet_by_name(name).write_column("B1", ("名称", "苹果"))
    book.close()
    with pytest.raises(UnreadableFile) as caught:
        await read_files([path], Options())
    assert (caught.value.code, caught.value.values["known"]) == ("which_sheet", "一店, 二店")
    assert len((await read_files([path], Options(sheet="二店"))).records) == 1


# --- kept files


def test_a_kept_file_is_found_by_handle_and_by_name_and_nothing_else_is(tmp_path: Path) -> None:
    folder, path = ImportFolder(tmp_path / "imports"), tmp_path / "goods.csv"
    path.write_text("编码,名称\nA,b\n")
    kept = folder.keep([path], Options())
    assert folder.named("goods.csv") == folder.named("goods") == folder.find(kept.handle) == kept
    path.unlink()
    assert kept.paths[0].read_text() == "编码,名称\nA,b\n"
    for name in ("../goods.csv", "/etc/passwd", "imp-../../x", "imp-000000000000", ""):
        with pytest.raises(NotFound):
            folder.named(name)
