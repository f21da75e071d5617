"""What leaves the house: every value of a table in its own cell, charts that show what they say, pages without traps;
and sums that hold at midnight and for any span.
"""

from __future__ import annotations

import random
import sqlite3
from collections import defaultdict
from dataclasses import replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from pydantic import BaseModel
from python_calamine import CalamineWorkbook

from agent_core.tools.tool import ToolContext
from erpilot.cli.reporting import _largest
from erpilot.shop.backend import LineWanted, OrderDraft, Write
from erpilot.shop.embedded.shop import EmbeddedShop
from erpilot.shop.exporting.files import TableFile
from erpilot.shop.printing import pdf
from erpilot.shop.printing.html import html
from erpilot.shop.printing.sheet import sheet_of
from erpilot.shop.reports.charts import MOST_BARS, Bar, vega_lite
from erpilot.shop.values import Period, Quantity
from erpilot.shop.verbs.reporting import GroupBy, SalesQuery
from erpilot.toolsets.shop import shop_tools
from erpilot.toolsets.shop_export import _columns, write_table


@pytest.fixture
def shop(fresh: EmbeddedShop) -> EmbeddedShop:
    return fresh


# --- files


async def test_amounts_by_age_stand_in_columns_of_their_own_and_stay_numbers(
    shop: EmbeddedShop, tmp_path: Path
) -> None:
    tools, context = shop_tools(shop), ToolContext("", "", "")
    path, head, _ = await write_table(tools, "list_receivables", {}, tmp_path, "xlsx", "en", context)
    book = CalamineWorkbook.from_path(path)
    assert book.sheet_names == ["data", "about"]
    _, *rows = book.get_sheet_by_index(0).to_python()
    ages = [place for place, name in enumerate(head) if name.startswith("overdue by age")]
    assert len(ages) == 4
    for row in rows:
        cents = [round(Decimal(str(row[place])) * 100) for place in (*ages, head.index("overdue"))]
        assert sum(cents[:-1]) == cents[-1]
    about = {row[0]: row[1] for row in book.get_sheet_by_index(1).to_python()}
    assert any(isinstance(value, float) for name, value in about.items() if "outstanding" in str(name))


async def test_the_sheets_of_a_chinese_file_have_chinese_names(shop: EmbeddedShop, tmp_path: Path) -> None:
    tools, context = shop_tools(shop), ToolContext("", "", "")
    path, *_ = await write_table(tools, "list_receivables", {}, tmp_path, "xlsx", "zh", context)
    assert CalamineWorkbook.from_path(path).sheet_names == ["数据", "说明"]


class _Row(BaseModel):
    name: str
    last_sale: date | None = None
    value: Decimal | None = None
    parts: list[BaseModel] | None = None


def test_a_value_that_only_a_late_row_has_keeps_its_column() -> None:
    rows: list[BaseModel] = [_Row(name="a")] * 500
    late = _Row(name="b", last_sale=date(2026, 11, 30))
    assert _columns([*rows, late], more=False) == [("name",), ("last_sale",)]
    assert _columns(rows, more=True) == [("name",), ("last_sale",), ("value",)], "what is not here yet may come"


@pytest.mark.parametrize("form", ["csv", "xlsx"])
def test_a_text_that_no_file_can_hold_does_not_break_it(tmp_path: Path, form: Any) -> None:
    file = TableFile(tmp_path, "t", form, ["a"])
    file.add([("x\ud800\uffff\x07y",)])
    path = file.finish()
    if form == "xlsx":
        assert CalamineWorkbook.from_path(path).get_sheet_by_index(0).to_python()[1] == ["x\ufffd\ufffd\x07y"]
    else:
        assert "x\ufffd\ufffd" in path.read_text("utf-8-sig")


# --- charts


def test_two_things_of_one_name_are_two_bars() -> None:
    chart = vega_lite([Bar("胶带", Decimal(3)), Bar("胶带", Decimal(4)), Bar("纸", Decimal(5))], title="t", unit="CNY")
    names = [value["name"] for value in chart["data"]["values"]]
    assert names == ["胶带 #1", "胶带 #2", "纸"]


def test_a_chart_that_leaves_something_out_says_so_and_a_line_ends_with_the_newest() -> None:
    bars = [Bar(str(n), Decimal(n)) for n in range(500)]
    chart = vega_lite(bars, title="2026", unit="CNY")
    assert chart["title"] == f"2026 ({MOST_BARS} / 500)"
    line = vega_lite(bars, title="2026", unit="CNY", shape="line")
    assert [line["data"]["values"][place]["name"] for place in (0, -1)] == ["100", "499"]
    assert vega_lite(bars[:3], title="2026", unit="CNY")["title"] == "2026"


async def test_a_chart_of_quantities_shows_one_unit(shop: EmbeddedShop) -> None:
    from erpilot.toolsets.shop_report_charts import sales_chart

    report = await shop.sales(SalesQuery(_span(date(2026, 1, 1), date(2026, 11, 30)), "quantity", "product"))
    chart: Any = sales_chart(report)
    unit = chart["encoding"]["x"]["title"]
    currency = report.rows[0].figures.revenue.currency
    of_unit = {row.name for row in report.rows if (row.figures.unit, row.figures.revenue.currency) == (unit, currency)}
    assert {value["name"].partition(" #")[0] for value in chart["data"]["values"]} <= of_unit


def test_bars_of_different_currencies_are_not_measured_by_each_other() -> None:
    amounts = [("CNY", Decimal(10)), ("USD", Decimal(-3)), ("CNY", Decimal(7))]
    assert _largest(amounts) == {"CNY": Decimal(10), "USD": Decimal(3)}


# --- pages


async def test_what_nobody_sees_is_not_on_a_page_and_a_very_long_name_goes_over_pages(shop: EmbeddedShop) -> None:
    order = await shop.get_order("Q-1008")
    name = "a\x07\x1b\u202eb\ufeff\ud800" + "长" * 6000
    line = replace(order.lines[0], name=name, specification="")
    sheet = sheet_of(replace(order, lines=(line,), note="x\x00\ny"), shop.company, "zh")
    assert sheet.rows[0][2].startswith("ab长")
    assert sheet.note == ("备注", "x\ny")
    html(sheet).encode()
    assert pdf.pdf(sheet).count(b"/Type /Page\n") > 2
    for language in ("zh", "en"):
        assert "<tbody>\n</tbody>" in html(sheet_of(replace(order, lines=()), shop.company, language))


# --- sums


GROUPS: tuple[GroupBy, ...] = ("product", "customer", "day", "month")


def _span(start: date, end: date) -> Period:
    return Period(start, end, "Asia/Shanghai")


async def test_the_sales_of_any_span_are_what_the_tables_come_to(shop: EmbeddedShop, tmp_path: Path) -> None:
    connection = sqlite3.connect(shop._database.path)
    chance = random.Random(7)
    for _ in range(12):
        start = date(2024, 12, 1) + timedelta(chance.randrange(700))
        end = min(start + timedelta(chance.choice((0, 6, 30, 90, 400))), date(2026, 11, 30))
        report = await shop.sales(SalesQuery(_span(start, end), group_by=chance.choice(GROUPS)))
        wanted: dict[str, Decimal] = defaultdict(Decimal)
        lines = connection.execute(
            "SELECT d.kind, d.currency, l.amount + CASE d.tax_included WHEN 1 THEN 0 ELSE l.tax END, l.ordered,"
            " l.ordered - l.cancelled FROM line l JOIN document d ON d.id = l.document_id WHERE d.kind IN ('sale',"
            " 'return') AND d.state IN ('confirmed', 'in_progress', 'done') AND d.date BETWEEN ? AND ?",
            (start.isoformat(), end.isoformat()),
        )
        count = 0
        for kind, currency, gross, ordered, kept in lines:
            wanted[currency] += (1 if kind == "sale" else -1) * Decimal(gross) * kept / ordered
            count += 1
        for currency in wanted.keys() | report.total.keys():
            told = report.total[currency].revenue.minor if currency in report.total else 0
            assert abs(told - wanted[currency]) <= Decimal(count) / 2, "each line is rounded to a cent of its own"
    connection.close()


async def test_a_sale_belongs_to_the_day_that_it_is_in_the_shop(
    shop: EmbeddedShop, monkeypatch: pytest.MonkeyPatch
) -> None:
    zone = ZoneInfo("Asia/Shanghai")
    moments = (datetime(2026, 11, 29, 23, 59, tzinfo=zone), datetime(2026, 11, 30, 0, 1, tzinfo=zone))
    assert moments[0].astimezone(ZoneInfo("UTC")).date() == moments[1].astimezone(ZoneInfo("UTC")).date()
    before = {day: await _orders_on(shop, day) for day in (date(2026, 11, 29), date(2026, 11, 30))}
    for place, moment in enumerate(moments):
        monkeypatch.setattr(EmbeddedShop, "now", lambda self, moment=moment: moment)
        draft = OrderDraft("C001", (LineWanted("PA4-70", Quantity(Decimal(1), "包")),))
        await shop.create_order(draft, write=Write(f"k{place}", "me"))
    monkeypatch.setattr(EmbeddedShop, "now", lambda self: datetime(2026, 11, 30, 12, tzinfo=zone))
    for day, count in before.items():
        assert await _orders_on(shop, day) == count + 1


async def _orders_on(shop: EmbeddedShop, day: date) -> int:
    report = await shop.sales(SalesQuery(_span(day, day)))
    return sum(figures.orders for figures in report.total.values())
