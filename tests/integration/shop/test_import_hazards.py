"""What a spreadsheet can do to whoever reads it: reach further than memory does, hide that it has no value, say an
amount in another money, name a thing that is nearly another one.
"""

from __future__ import annotations

import zipfile
from decimal import Decimal
from pathlib import Path

import pytest
import xlsxwriter

from erpilot.shop.embedded.shop import EmbeddedShop
from erpilot.shop.importing import extent, sheets
from erpilot.shop.importing.applying import Options, plan_import, read_files
from erpilot.shop.importing.planning import Plan
from erpilot.shop.importing.problems import UnreadableFile

_BOOK = (
    '<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats'
    '.org/officeDocument/2006/relationships"><sheets><sheet name="S" sheetId="1" r:id="rId1"/></sheets></workbook>'
)
_PLACES = "http://schemas.openxmlformats.org/package/2006/relationships"
_KINDS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def _relation(kind: str, target: str) -> str:
    return (
        f'<Relationships xmlns="{_PLACES}"><Relationship Id="rId1" Type="{_KINDS}/{kind}" Target="{target}"/>'
        "</Relationships>"
    )


def cell(place: str, text: str) -> str:
    return f'<c r="{place}" t="inlineStr"><is><t>{text}</t></is></c>'


HEAD = f'<row r="1">{cell("A1", "code")}{cell("B1", "name")}{cell("C1", "price")}</row>'
GOOD = f'<row r="2">{cell("A2", "T-1")}{cell("B2", "apple")}<c r="C2"><v>5</v></c></row>'


def book(
    path: Path, rows: str, *, part: str = "worksheets/sheet1.xml", encoding: str = "utf-8", texts: str = ""
) -> Path:
    """A workbook of one sheet, written by hand."""
    sheet = (
        f'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>{rows}</sheetData>'
    )
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("_rels/.rels", _relation("officeDocument", "xl/workbook.xml"))
        archive.writestr("xl/workbook.xml", _BOOK)
        archive.writestr("xl/_rels/workbook.xml.rels", _relation("worksheet", part))
        archive.writestr(f"xl/{part}", (sheet + "</worksheet>").encode(encoding))
        if texts:
            archive.writestr("xl/sharedStrings.xml", f"<sst>{texts}</sst>")
    return path


def csv(path: Path, text: str, encoding: str = "utf-8") -> Path:
    path.write_text(text, encoding=encoding, newline="")
    return path


def refused(path: Path) -> str:
    with pytest.raises(UnreadableFile) as caught:
        sheets.open_sheets(path)
    return caught.value.code


async def planned(shop: EmbeddedShop, path: Path, **options: object) -> Plan:
    chosen = Options(**options)  # type: ignore[arg-type]
    return await plan_import(shop, await read_files([path], chosen), chosen)


def told(plan: Plan) -> list[tuple[int, str, str]]:
    return [(each.row, each.column, each.code) for each in plan.problems.kept]


@pytest.fixture
def shop(fresh: EmbeddedShop) -> EmbeddedShop:
    return fresh


# --- how far a sheet reaches


@pytest.mark.parametrize(
    ("far", "options"),
    [
        (f'<row r="3">{cell("XFD1048576", "x")}</row>', {}),
        (f"<row r='1048576'>{cell('XFD1048576', 'x')}</row>".replace('"', "'"), {}),
        (f'<row r = "1048576">{cell("XFD1048576", "x")}</row>'.replace("r=", "r = "), {}),
        (f'<row\tr="1048576">{cell("XFD1048576", "x")}</row>'.replace("<c r", "<c\nr"), {}),
        (f"<row>{cell('xfd1048576', 'x')}</row>", {}),
        (f'<row r="3">{cell("XFD1048576", "x")}</row>', {"part": "other/place.xml"}),
        (f'<row r="3">{cell("XFD1048576", "x")}</row>', {"encoding": "utf-16"}),
        (f'<row r="99999999999">{cell("A99999999999", "x")}</row>', {}),
        ('<x:row r="9"><x:c r="XFD1048576"><x:v>1</x:v></x:c></x:row>', {}),
        (f'<row r="3"><c r="XFD1048576"><!--{"-" * 3_000_000}--><v>1</v></c></row>', {}),
        ('<row r="3">' + "<c><v>1</v></c>" * 300 + "</row>", {}),
    ],
)
def test_a_value_that_stands_far_away_is_refused_however_its_place_is_written(
    tmp_path: Path, far: str, options: dict[str, str]
) -> None:
    path = book(tmp_path / "x.xlsx", HEAD + GOOD + far, **options)
    assert refused(path) in ("too_many_rows", "too_many_columns", "too_many_cells", "not_a_workbook")


def test_rows_that_do_not_say_where_they_are_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extent, "MOST_ROWS", 100)
    assert refused(book(tmp_path / "x.xlsx", HEAD + "<row><c><v>1</v></c></row>" * 101)) == "too_many_rows"


async def test_rows_and_columns_that_are_only_formatted_do_not_count(shop: EmbeddedShop, tmp_path: Path) -> None:
    blank = "".join(f'<row r="{row}"><c r="A{row}" s="1"/></row>' for row in range(300_000, 1_048_577, 50))
    far = '<row r="1048576"><c r="XFD1048576" s="1"/></row>'
    plan = await planned(shop, book(tmp_path / "x.xlsx", HEAD + GOOD + blank + far))
    assert (plan.rows, plan.new, plan.problems.total) == (1, 1, 0)


def test_a_long_text_that_very_many_cells_show_is_refused_and_one_that_few_show_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extent, "MOST_TEXT", 1_000_000)
    texts = f"<si><t>{'x' * 20_000}</t></si><si><t>y</t></si>"

    def rows(text: int) -> str:
        return HEAD + "".join(f'<row r="{n}"><c r="A{n}" t="s"><v>{text}</v></c></row>' for n in range(2, 102))

    assert refused(book(tmp_path / "x.xlsx", rows(0), texts=texts)) == "unpacks_too_large"
    assert sheets.open_sheets(book(tmp_path / "y.xlsx", rows(1), texts=texts))


# --- other files


@pytest.mark.parametrize(
    ("begins", "code"),
    [
        (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "other_kind"),
        (b"\x89PNG\r\n\x1a\n", "other_kind"),
        (b"\r\n<html><table><tr><td>1</td></tr></table></html>", "other_kind"),
        (b"\xef\xbb\xbf<?xml version='1.0'?><Workbook/>", "other_kind"),
    ],
)
def test_another_file_under_the_name_of_a_spreadsheet_is_told_for_what_it_is(
    tmp_path: Path, begins: bytes, code: str
) -> None:
    for name in ("x.xlsx", "x.xls", "x.csv"):
        path = tmp_path / name
        path.write_bytes(begins * 20)
        assert refused(path) == code


def test_a_workbook_of_another_kind_is_refused(tmp_path: Path) -> None:
    for part in ("mimetype", "xl/workbook.bin"):
        path = tmp_path / "x.xlsx"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(part, "x")
        assert refused(path) == "other_workbook"


def test_latin_letters_with_accents_are_not_read_as_chinese(tmp_path: Path) -> None:
    path = csv(tmp_path / "x.csv", "code,name\nT-1,Côte de Blaye\nT-2,Château\nT-3,Röd Kaviar\n", "cp1252")
    assert refused(path) == "unclear_encoding"
    (sheet,) = sheets.open_sheets(path, encoding="cp1252")
    assert [row[1][1] for row in sheet.rows()][1] == "Côte de Blaye"
    (sheet,) = sheets.open_sheets(csv(path, "code,name\nT-1,镕基\nT-2,苹果\n", "gb18030"))
    assert sheet.encoding == "gb18030"


# --- cells without a value, and amounts


async def test_a_formula_without_a_result_is_an_error_and_never_an_empty_cell(
    shop: EmbeddedShop, tmp_path: Path
) -> None:
    rows = (
        HEAD
        + f'<row r="2">{cell("A2", "T-1")}{cell("B2", "a")}<c r="C2"><f>1+1</f></c></row>'
        + f'<row r="3">{cell("A3", "T-2")}{cell("B3", "b")}<c r="C3" t="e"><f>1/0</f><v>#DIV/0!</v></c></row>'
        + f'<row r="4">{cell("A4", "T-3")}{cell("B4", "c")}<c r="C4"><f>2*2</f><v>4</v></c></row>'
        + f'<row r="5">{cell("A5", "T-4")}<c r="B5" t="e"><v>#N/A</v></c><c r="C5"><v>1</v></c></row>'
        + f'<row r="6">{cell("A6", "T-5")}{cell("B6", "e")}<c r="C6"><f t="shared" si="0"/></c></row>'
    )
    plan = await planned(shop, book(tmp_path / "x.xlsx", rows))
    assert [product.sku for product in plan.products] == ["T-3"]
    assert told(plan) == [
        (2, "C", "formula_without_value"),
        (3, "C", "formula_error"),
        (5, "B", "formula_error"),
        (6, "C", "formula_without_value"),
    ]
    plan = await planned(shop, csv(tmp_path / "x.csv", "code,name,price,cost\nT-1,a,1,#REF!\nT-2,b,#n/a,\n"))
    assert told(plan) == [(2, "D", "formula_error"), (3, "C", "formula_error")]


async def test_an_amount_in_another_currency_is_refused_wherever_it_says_so(shop: EmbeddedShop, tmp_path: Path) -> None:
    plan = await planned(
        shop, csv(tmp_path / "a.csv", "编码,名称,零售价,成本价\nT-1,a,$5,1\nT-2,b,5,3 EUR\nT-3,c,¥5,3元\n")
    )
    assert told(plan) == [(2, "C", "other_currency"), (3, "D", "other_currency")]
    plan = await planned(shop, csv(tmp_path / "b.csv", "编码,新价格(USD)\nPA4-70,5\n"))
    assert told(plan) == [(2, "B", "other_currency")]
    plan = await planned(shop, csv(tmp_path / "c.csv", "客户名称,账期,信用额度\n新客,30,$500\n"))
    assert told(plan) == [(2, "C", "other_currency")]
    head = "订单号,日期,客户,编码,数量,单价\n"
    plan = await planned(shop, csv(tmp_path / "d.csv", head + "Z-1,2026-10-08,鑫源商行,PA4-70,1,$20\n"))
    assert told(plan) == [(2, "F", "other_currency")]


async def test_where_decimal_commas_are_written_a_number_with_one_comma_is_not_taken_for_thousands(
    shop: EmbeddedShop, tmp_path: Path
) -> None:
    text = "code;name;price\nT-1;a;1,234\nT-2;b;12,5\nT-3;c;7\nT-4;d;1.234\n"
    plan = await planned(shop, csv(tmp_path / "x.csv", text))
    assert [product.sku for product in plan.products] == ["T-3"]
    assert told(plan) == [(2, "C", "decimal_comma"), (3, "C", "decimal_comma"), (5, "C", "decimal_comma")]
    plan = await planned(shop, csv(tmp_path / "x.csv", "code;name;price\nT-1;a;1,234\nT-3;c;7\n"))
    assert plan.sums["list_price"] == Decimal(1241)


async def test_a_comma_that_splits_a_number_of_a_csv_in_two_is_noticed(shop: EmbeddedShop, tmp_path: Path) -> None:
    plan = await planned(shop, csv(tmp_path / "x.csv", "code,name,price\nT-1,a,1,234\nT-2,b,5,\nT-3,c,6\n"))
    assert told(plan) == [(2, "D", "cell_too_many")]
    assert plan.sums["list_price"] == 11


# --- rows that are no records, and records that are nearly others


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("合计", "sum_row"),
        ("总 计：", "sum_row"),
        ("本页合计", "sum_row"),
        ("合计金额：100", "sum_row"),
        ("Grand total", "sum_row"),
        ("Total:", "sum_row"),
        ("制表人：李四", "note_row"),
        ("审核:王五   日期:2026-11-30", "note_row"),
        ("备注：以上为含税价", "note_row"),
        ("Prepared by: Li", "note_row"),
    ],
)
async def test_what_stands_below_a_table_is_no_record(shop: EmbeddedShop, tmp_path: Path, text: str, code: str) -> None:
    for head, record in (("客户名称,城市", "{},"), ("编码,名称,零售价", "{},,100"), ("序号,客户名称,城市", "{},,杭州")):
        path = csv(tmp_path / "x.csv", f"{head}\n" + record.format(text) + "\n")
        plan = await planned(shop, path)
        assert (plan.rows, plan.new) == (0, 0), head
        assert told(plan) == [(2, "A", code)]


async def test_a_customer_that_is_nearly_another_one_is_pointed_out(shop: EmbeddedShop, tmp_path: Path) -> None:
    plan = await planned(shop, csv(tmp_path / "x.csv", "客户名称,城市\n鑫源商行有限公司,杭州\n全新的客户,杭州\n"))
    assert (plan.new, told(plan)) == (2, [(2, "A", "like_another")])
    assert "鑫源商行" in plan.problems.kept[0].values["other"]


async def test_an_unknown_product_is_told_with_what_is_near(shop: EmbeddedShop, tmp_path: Path) -> None:
    plan = await planned(shop, csv(tmp_path / "x.csv", "编码,名称,实盘数\nPA4-7O,复印纸,5\n"))
    assert told(plan) == [(2, "A", "unknown_product")]
    assert "复印纸" in plan.problems.kept[0].values["nearest"]


async def test_a_price_of_a_past_order_that_is_ten_times_the_usual_one_is_pointed_out(
    shop: EmbeddedShop, tmp_path: Path
) -> None:
    head = "订单号,日期,客户,编码,数量,单价\n"
    lines = (f"Z-{n},2026-10-08,鑫源商行,PA4-70,{what}\n" for n, what in enumerate(("1,225", "1箱,110", "0,20")))
    plan = await planned(shop, csv(tmp_path / "x.csv", head + "".join(lines)))
    assert told(plan) == [(2, "F", "far_off"), (4, "E", "zero")]
    assert (plan.new, plan.sums["amount"]) == (2, Decimal(335))


async def test_a_column_that_a_person_names_and_that_is_not_there_is_refused(
    shop: EmbeddedShop, tmp_path: Path
) -> None:
    path = csv(tmp_path / "x.csv", "编码,名称,\nT-1,a,5\n")
    with pytest.raises(UnreadableFile) as caught:
        await planned(shop, path, mapping={"Z": "list_price"})
    assert caught.value.code == "no_such_column"
    plan = await planned(shop, path, mapping={"C": "list_price"})
    assert plan.sums["list_price"] == 5, "a column without a heading can be named by its letter"


async def test_a_row_in_a_hidden_place_is_read_and_a_hidden_sheet_is_not(shop: EmbeddedShop, tmp_path: Path) -> None:
    path = tmp_path / "x.xlsx"
    made = xlsxwriter.Workbook(path)
    sheet = made.add_worksheet("商品")
    for place, row in enumerate((("编码", "名称", "零售价"), ("T-1", "a", 1), ("T-2", "b", 2))):
        sheet.write_row(place, 0, row)
    sheet.set_row(2, None, None, {"hidden": True})
    sheet.set_column(2, 2, None, None, {"hidden": True})
    other = made.add_worksheet("旧")
    other.write_row(0, 0, ("编码", "名称"))
    other.hide()
    made.close()
    plan = await planned(shop, path)
    assert (plan.new, plan.sums["list_price"]) == (2, Decimal(3))
