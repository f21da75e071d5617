"""Tables out, spreadsheets in, pages to print: through the tools, as files on the disk."""

from __future__ import annotations

import csv
import io
import json
import re
import stat
import sys
import zlib
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from python_calamine import CalamineWorkbook

from agent_core import events as ev
from agent_core.loop import AgentLoop
from agent_core.messages import Message
from agent_core.testing import ScriptedModel
from erpilot.shop.backend import Write
from erpilot.shop.embedded.shop import EmbeddedShop
from erpilot.shop.errors import Invalid, Unavailable
from erpilot.shop.exporting.files import TableFile, closed
from erpilot.shop.importing.applying import Options, apply_plan, plan_import, read_files
from erpilot.shop.importing.keeping import ImportFolder
from erpilot.shop.printing import pdf
from erpilot.shop.printing.html import html
from erpilot.shop.printing.sheet import Language, Sheet, sheet_of
from erpilot.shop.rights import rights_of
from erpilot.toolsets.shop import shop_tools
from erpilot.toolsets.shop_files import with_files
from tests.support import messy_books
from tests.support.loops import collect, of_type

EVIL = ("=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", " =1", "＝1")


# --- tables out


@pytest.mark.parametrize("text", EVIL)
def test_a_text_never_begins_like_a_formula(text: str) -> None:
    assert closed(text) == f"'{text}"


@given(st.text(max_size=30))
@settings(max_examples=100)
def test_a_closed_text_begins_with_nothing_that_a_spreadsheet_acts_on(text: str) -> None:
    assert not closed(text).lstrip(" ").startswith(("=", "+", "-", "@", "\t", "\r"))
    assert closed(text).endswith(text)


def written(folder: Path, form: Any, rows: Sequence[Sequence[Any]]) -> Path:
    file = TableFile(folder, "t", form, ["a", "=b"])
    file.add(rows)
    return file.finish()


ROWS = [
    *[(text, Decimal("-12.50")) for text in EVIL],
    ("007", 3),
    ('中文, "引号"\n行', date(2026, 11, 30)),
    (None, True),
]


def test_a_csv_is_read_by_excel_as_utf_8_and_holds_no_formula(tmp_path: Path) -> None:
    path = written(tmp_path, "csv", ROWS)
    data = path.read_bytes()
    assert data.startswith(b"\xef\xbb\xbf")
    rows = list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline="")))
    assert rows[0] == ["a", "'=b"]
    for (text, _), row in zip(ROWS[: len(EVIL)], rows[1:], strict=False):
        assert row == [f"'{text}", "-12.50"], "a number stays one, also below zero"
    assert rows[-3:] == [["007", "3"], ['中文, "引号"\n行', "2026-11-30"], ["", "True"]]


def test_a_workbook_keeps_texts_texts_and_numbers_numbers(tmp_path: Path) -> None:
    path = written(tmp_path, "xlsx", ROWS)
    book = CalamineWorkbook.from_path(path)
    rows = book.get_sheet_by_index(0).to_python()
    assert rows[0] == ["a", "=b"]
    assert rows[1] == ["=1+1", -12.5]
    assert rows[-3:] == [["007", 3.0], ['中文, "引号"\n行', date(2026, 11, 30)], ["", True]]
    import zipfile

    with zipfile.ZipFile(path) as archive:
        assert b"<f>" not in archive.read("xl/worksheets/sheet1.xml"), "there is no formula in it"


def test_a_number_of_more_digits_than_a_cell_holds_loses_none(tmp_path: Path) -> None:
    path = written(tmp_path, "xlsx", [("x", Decimal("12345678901234567.89"))])
    assert CalamineWorkbook.from_path(path).get_sheet_by_index(0).to_python()[1][1] == "12345678901234567.89"


def test_a_file_is_whole_or_not_there_and_none_is_written_over(tmp_path: Path) -> None:
    first, second = (written(tmp_path, "csv", [("x", place)]) for place in range(2))
    assert (first.name, second.name) == ("t.csv", "t-2.csv")
    file = TableFile(tmp_path, "../../evil name", "csv", ["a"])
    file.add([("x",)])
    file.abandon()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["t-2.csv", "t.csv"]
    if sys.platform != "win32":
        assert stat.S_IMODE(first.stat().st_mode) == 0o600


def test_a_name_leads_to_no_other_folder(tmp_path: Path) -> None:
    file = TableFile(tmp_path / "files", "../../etc/x", "csv", ["a"])
    assert file.finish().parent == tmp_path / "files"


def test_what_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "files").write_text("a file in the way")
    with pytest.raises(Unavailable):
        TableFile(tmp_path / "files", "t", "csv", ["a"])
    with pytest.raises(Invalid):
        TableFile(tmp_path, "t", "pdf", ["a"])  # type: ignore[arg-type]


# --- through the tools


def said(messages: Sequence[Message], name: str) -> str:
    """The newest value of a field of that name among the results."""
    found = [json.loads(m.content or "{}") for m in messages if m.role == "tool" and (m.content or "").startswith("{")]
    return str(next(each[name] for each in reversed(found) if name in each))


def agent(shop: EmbeddedShop, home: Path, *turns: Any) -> AgentLoop:
    return AgentLoop(model=ScriptedModel(turns), tools=with_files(shop_tools(shop), shop, home))


async def exported(shop: EmbeddedShop, home: Path, *turns: Any, **asked: str) -> tuple[Any, Any, Path]:
    """The answer that was shown, the answer of the export, the file."""

    def export(messages: Sequence[Message]) -> Any:
        return "export_table", {"table": said(messages, "table"), **asked}

    items = await collect(agent(shop, home, *turns, export, "done").run("x"))
    *_, shown, done = of_type(items, ev.ToolCallFinished)
    assert done.ok, done.content
    answer = json.loads(done.content)
    return json.loads(shown.content), answer, home / "files" / answer["file"]


async def test_a_file_holds_all_records_and_not_the_page_that_was_shown(shop: EmbeddedShop, tmp_path: Path) -> None:
    shown, done, path = await exported(shop, tmp_path, ("find_orders", {"kind": "sale", "limit": 2}), language="en")
    assert len(shown["orders"]) == 2
    assert done["rows"] == shown["total_count"]
    rows = CalamineWorkbook.from_path(path).get_sheet_by_index(0).to_python()
    assert len(rows) == shown["total_count"] + 1
    head = rows[0]
    money = sum(Decimal(str(row[head.index("total")])) for row in rows[1:] if row[head.index("currency")] == "CNY")
    assert money == Decimal(shown["total"]["CNY"]), "the file has the total of the answer"


async def test_the_file_of_a_report_has_its_rows_and_its_total(shop: EmbeddedShop, tmp_path: Path) -> None:
    call = ("stock_report", {"kind": "value", "limit": 3})
    shown, done, path = await exported(shop, tmp_path, call, format="csv", language="en")
    rows = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8-sig"))))
    assert len(rows) == done["rows"] == shown["total_count"]
    assert sum(Decimal(row["value"]) for row in rows) == Decimal(shown["total"])


async def test_a_report_is_exported_beyond_its_top(shop: EmbeddedShop, tmp_path: Path) -> None:
    call = ("sales_report", {"period": "this_year", "group_by": "product", "top": 2})
    shown, done, path = await exported(shop, tmp_path, call)
    assert len(shown["rows"]) == 2
    assert done["rows"] == shown["total_count"]
    about = CalamineWorkbook.from_path(path).get_sheet_by_name("说明").to_python()
    assert any(shown["definition"] == row[1] for row in about), "what was counted stands in the file"


async def test_the_same_table_has_the_same_handle_on_every_page(shop: EmbeddedShop, tmp_path: Path) -> None:
    calls = [("find_orders", {"kind": "sale", "limit": 2, "offset": offset}) for offset in (0, 2)]
    items = await collect(agent(shop, tmp_path, calls, "done").run("x"))
    handles = {json.loads(done.content)["table"] for done in of_type(items, ev.ToolCallFinished)}
    assert len(handles) == 1


@pytest.mark.parametrize("table", ["tbl-0000000000", "../../etc/passwd", "", "tbl-../x"])
async def test_what_is_no_table_is_refused(shop: EmbeddedShop, tmp_path: Path, table: str) -> None:
    items = await collect(agent(shop, tmp_path, ("export_table", {"table": table}), "done").run("x"))
    (done,) = of_type(items, ev.ToolCallFinished)
    assert done.error is not None
    assert done.error.type == "validation"
    assert not (tmp_path / "files").exists()


async def test_a_table_is_read_under_the_rights_of_who_exports_it(shop: EmbeddedShop, tmp_path: Path) -> None:
    _, _, path = await exported(shop, tmp_path, ("stock_report", {"kind": "low"}), format="csv", language="en")
    assert "value" in path.read_text(encoding="utf-8-sig").splitlines()[0].split(",")
    clerk = shop.acting_as("clerk", ["clerk"])
    _, _, path = await exported(clerk, tmp_path, ("stock_report", {"kind": "low"}), format="csv", language="en")
    assert "value" not in path.read_text(encoding="utf-8-sig").splitlines()[0].split(",")


async def test_a_spreadsheet_is_read_then_applied_when_a_person_agrees_and_taken_back(
    fresh: EmbeddedShop, tmp_path: Path
) -> None:
    path, home = tmp_path / "商品.xlsx", tmp_path / "home"
    expected = messy_books.products(path)
    ImportFolder(home / "imports").keep([path], Options())

    def apply(messages: Sequence[Message]) -> Any:
        return "apply_import", {"handle": said(messages, "handle")}

    loop = agent(fresh, home, ("read_import_file", {"file": "商品.xlsx"}), apply, "done", "undone")
    items = await collect(loop.run("导进去"))
    (read,) = of_type(items, ev.ToolCallFinished)
    told = json.loads(read.content)
    assert (told["rows"], told["new"], told["left_out"]) == (13, expected.taken, 8)
    assert {(each["row"], each["column"]) for each in told["problems"]} == {(r, c) for r, c, _ in expected.problems}
    (asked,) = of_type(items, ev.ApprovalRequested)
    assert asked.tier == "DANGEROUS"
    assert await fresh.get_products(["XL-001"]) == {}, "nothing is applied before a person agreed"
    session = items[0].session_id
    await loop.decide(session, asked.call_id, approve=True, by="boss")
    items = await collect(loop.resume(session))
    (applied,) = of_type(items, ev.ToolCallFinished)
    assert applied.ok, applied.content
    assert (await fresh.get_products(["XL-001"]))["XL-001"].name == "洗衣液"
    (plan,) = await loop.undo_plan(session, 2)
    assert plan.undo is not None
    assert plan.undo.tool == "undo_change"


async def test_what_was_agreed_to_is_not_applied_to_a_price_that_has_changed_since(
    fresh: EmbeddedShop, tmp_path: Path
) -> None:
    (before,) = (await fresh.get_products(["PA4-70"])).values()
    home = tmp_path / "home"
    for name, price in (("一.csv", "30"), ("二.csv", "29")):
        (tmp_path / name).write_text(f"编码,名称,零售价\nPA4-70,{before.name},{price}\n", encoding="utf-8")
    ImportFolder(home / "imports").keep([tmp_path / "一.csv"], Options())

    def apply(messages: Sequence[Message]) -> Any:
        return "apply_import", {"handle": said(messages, "handle")}

    loop = agent(fresh, home, ("read_import_file", {"file": "一.csv"}), apply, "done", "done")
    items = await collect(loop.run("导进去"))
    (asked,) = of_type(items, ev.ApprovalRequested)
    other = await plan_import(fresh, await read_files([tmp_path / "二.csv"], Options()), Options())
    await apply_plan(fresh, other, reason="x", write=Write("other", "somebody"))
    session = items[0].session_id
    await loop.decide(session, asked.call_id, approve=True, by="boss")
    items = await collect(loop.resume(session))
    assert (await fresh.get_products(["PA4-70"]))["PA4-70"].list_price == 29
    assert of_type(items, ev.ApprovalRequested), "it is asked anew, with what is there now"


async def test_a_file_that_nobody_handed_over_is_not_read(shop: EmbeddedShop, tmp_path: Path) -> None:
    (tmp_path / "secret.csv").write_text("编码,名称\nA,b\n")
    for name in (str(tmp_path / "secret.csv"), "../secret.csv", "secret.csv"):
        items = await collect(agent(shop, tmp_path / "home", ("read_import_file", {"file": name}), "done").run("x"))
        (done,) = of_type(items, ev.ToolCallFinished)
        assert done.error is not None


async def test_whoever_may_not_import_learns_nothing_of_the_files_that_were_handed_over(
    shop: EmbeddedShop, tmp_path: Path
) -> None:
    path, home = tmp_path / "商品.xlsx", tmp_path / "home"
    messy_books.products(path)
    kept = ImportFolder(home / "imports").keep([path], Options())
    tools = with_files(shop_tools(shop), shop, home, rights_of(["clerk"]))
    turns = [
        *(("read_import_file", {"file": name}) for name in ("商品.xlsx", kept.handle, "nobody's.xlsx")),
        ("apply_import", {"handle": kept.handle}),
    ]
    items = await collect(AgentLoop(model=ScriptedModel([turns, "done"]), tools=tools).run("x"))
    ended = of_type(items, ev.ToolCallFinished)
    assert len(ended) == 4
    for done in ended:
        assert not done.ok
        assert "'catalogue'" in done.content
    assert len({done.content for done in ended[:3]}) == 1, "whether the file is there or not"
    assert not of_type(items, ev.ApprovalRequested)


# --- pages


async def sheets(shop: EmbeddedShop) -> list[Sheet]:
    order = await shop.get_order("SO-2026-0123")
    return [sheet_of(order, shop.company, language) for language in get_args(Language)]


async def test_a_page_shows_the_document_and_nothing_of_the_house(shop: EmbeddedShop) -> None:
    order = await shop.get_order("SO-2026-0123")
    for sheet in await sheets(shop):
        page = html(sheet)
        for line in order.lines:
            assert line.sku in page
            assert f"{line.amount.amount:,f}" in page
        assert f"{order.totals.total.amount:,f} CNY" in page
        assert ("含税" in page) is (sheet.language == "zh")
        for cost in [product.cost for product in (await shop.get_products([li.sku for li in order.lines])).values()]:
            assert cost is None or f">{cost:,f}<" not in page
        assert "<script" not in page
        assert not re.search(r"https?://", page)


async def test_texts_of_the_shop_are_no_markup_on_a_page(shop: EmbeddedShop) -> None:
    (sheet, _) = await sheets(shop)
    evil = Sheet(
        **{
            **{name: getattr(sheet, name) for name in Sheet.__slots__},
            "note": ("备注", "<script>alert(1)</script>&<b>"),
            "rows": (("1", '"><img src=x onerror=1>', "<i>", "1", "个", "1", "1", "1"),),
        }
    )
    page = html(evil)
    assert "<script" not in page
    assert "<img" not in page
    assert "&lt;script&gt;" in page
    assert pdf.pdf(evil).startswith(b"%PDF-")


async def test_a_pdf_holds_the_chinese_text_of_the_page(shop: EmbeddedShop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf, "_FONTS", ())
    monkeypatch.delenv(pdf.FONT_VARIABLE, raising=False)
    pdf.font.cache_clear()
    (sheet, _) = await sheets(shop)
    data = pdf.pdf(sheet)
    pdf.font.cache_clear()
    assert b"/STSong-Light" in data
    text = _text_of(data)
    assert "销售订单" in text
    assert "鑫源商行" in text
    assert "6,952.00" in text


def _text_of(data: bytes) -> str:
    """The texts of the content streams, which are UCS-2 for this font."""
    import base64

    found = ""
    for stream in re.findall(rb"stream\r?\n(.*?)endstream", data, re.DOTALL):
        raw = zlib.decompress(
            base64.a85decode(stream.strip(), adobe=False)
            if not stream.strip().endswith(b"~>")
            else base64.a85decode(b"<~" + stream.strip(), adobe=True)
        )
        for piece in re.findall(rb"\(((?:[^()\\]|\\.)*)\)\s*Tj", raw, re.DOTALL):
            plain = re.sub(
                rb"\\([0-7]{3}|.)",
                lambda m: (
                    bytes([int(m[1], 8)])
                    if m[1].isdigit()
                    else {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"\b", b"f": b"\f"}.get(m[1], m[1])
                ),
                piece,
                flags=re.DOTALL,
            )
            found += plain.decode("utf-16-be", "ignore")
        found += "\n"
    return found
