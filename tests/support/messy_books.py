"""Workbooks as a Chinese shop keeps them: titles over the sheet, headings with units, numbers and dates as text, rows
of sums, typing errors. Each says what has to come of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import xlsxwriter


@dataclass(frozen=True)
class Expected:
    """``rows`` below the headings, without sums and blanks; ``taken``: those without an error; ``problems``: (row,
    column, code) of each; ``total``: what the taken rows come to.
    """

    rows: int
    taken: int
    problems: tuple[tuple[int, str, str], ...]
    total: Decimal


def products(path: Path) -> Expected:
    """Goods: a title that spans the sheet, a note, blank rows, headings in row 5, every kind of mess in the cells."""
    book = xlsxwriter.Workbook(path)
    other = book.add_worksheet("说明")
    other.write(0, 0, "本表每月更新，勿改格式")
    sheet = book.add_worksheet("商品")
    bold = book.add_format({"bold": True})
    sheet.merge_range("A1:I1", "鑫隆日杂批发部  商品资料表", bold)
    sheet.write("A2", "制表：王姐")
    sheet.write("H2", "2026年11月")
    head = ("序号", "商品 编码*", "品名", "规格型号", "单位", "零售价（元）", "税率", "箱规", "条形码", "是否上架")
    sheet.write_row("A5", head, bold)
    rows: list[tuple[Any, ...]] = [
        (1, "XL-001", "洗衣液", "2kg", "瓶", 19.9, "13%", 6, "6901234560011", "是"),
        (2, "XL-002", " 抽 纸 ", "３层 100抽", "提", "¥12.50", 13, "24提", "6901234560028", "√"),
        (3, 6900000000035, "毛巾", "", "条", "1,008.00元", 0.13, "", "", "上架"),
        (4, "007", "火柴", "小盒", "盒", "０．５", "13％", "1", "", "否"),
        (5, "XL-005", "蚊香", "10 盘", "盒", "待定", "13%", "", "", "是"),
        (6, "XL-006", "", "大", "个", 3, "13%", "", "", "是"),
        (7, "XL-001", "洗衣液（重复）", "2kg", "瓶", 19.9, "13%", "", "", "是"),
        (8, "6.90123E+12", "丢位数的码", "", "个", 3, "13%", "", "", "是"),
        (9, "XL-009", "灯泡", "9W", "只", -5, "13%", "", "", "是"),
        (10, "XL-010", "电池", "5号", "板", "8.8", "130%", "", "", "是"),
        (11, "XL-011", "胶水", "50ml", "支", "2.00元/支", "13%", "", "6901234560011", "是"),
        (12, "XL-012", "纸杯", "50只", "包", "1.2万", "13%", "", "", "也许"),
        (13, "XL-013", "保鲜膜", "30cm", "卷", "6.6 元/卷", "13%", 40, "", ""),
    ]
    for place, row in enumerate(rows, 5):
        for column, value in enumerate(row):
            sheet.write(place, column, value)
    sheet.write_row("A20", ("合计", "", "", "", "", "=SUM(F6:F18)"))
    book.close()
    return Expected(
        rows=13,
        taken=5,
        problems=(
            (10, "F", "not_a_number"),
            (11, "C", "missing"),
            (12, "B", "duplicate"),
            (13, "B", "code_lost_digits"),
            (14, "F", "negative"),
            (15, "G", "not_a_rate"),
            (16, "I", "same_barcode"),
            (17, "J", "not_yes_or_no"),
            (20, "A", "sum_row"),
        ),
        total=Decimal("19.9") + Decimal("12.5") + Decimal(1008) + Decimal("0.5") + Decimal("6.6"),
    )


def counts(path: Path) -> Expected:
    """A count of two warehouses: quantities in cases, as text, for products of the example shop."""
    book = xlsxwriter.Workbook(path)
    sheet = book.add_worksheet("11月盘点")
    sheet.merge_range("B2:F2", "库存盘点表")
    sheet.write("B3", "盘点日期：2026/11/30")
    sheet.write_row("B4", ("商品编码", "商品名称", "仓库", "账面数", "实盘数(包)", "备注"))
    rows: list[tuple[Any, ...]] = [
        ("PA4-70", "A4 纸", "总仓", 400, "118箱", ""),
        ("BV-COLA-500", "可乐", "东门店", 48, 48, "没动"),
        ("OF-TAPE-45", "胶带", "总仓", 0, "1,050 卷", ""),
        ("NO-SUCH", "没有这个", "总仓", 0, 5, ""),
        ("HW-CUP-500", "保温杯", "西仓", 0, 5, ""),
        ("HW-CUP-500", "保温杯", "MAIN", 0, "五个", ""),
        ("PA4-70", "A4 纸", "总仓", 0, 3, "重复"),
        ("FD-SOY-500", "酱油", "总仓", 0, "3.5瓶", ""),
    ]
    for place, row in enumerate(rows, 4):
        for column, value in enumerate(row, 1):
            sheet.write(place, column, value)
    sheet.write_row("B14", ("总计", "", "", "", 9999))
    book.close()
    return Expected(
        rows=8,
        taken=2,
        problems=(
            (6, "F", "unknown_unit"),
            (8, "B", "unknown_product"),
            (9, "D", "unknown_warehouse"),
            (10, "F", "not_a_number"),
            (11, "B", "duplicate"),
            (12, "F", "not_whole"),
            (14, "B", "sum_row"),
        ),
        total=Decimal(118) + 1050,
    )


def past_orders(path: Path) -> Expected:
    """One row a line, dates in four forms, in GBK with semicolons."""
    lines = [
        "销售明细 导出时间 2026-11-30;;;;;;",
        "单据编号;开单日期;客户名称;商品编码;数量;含税单价;折扣率",
        "XS-1;2026/10/8;鑫源商行;PA4-70;5 箱;98.30;",
        "XS-1;2026/10/8;鑫源商行;OF-TAPE-45;20;2.82;5%",
        "XS-2;20261009;鑫源商行;PA4-70;10;20;",
        "XS-3;2026年10月10日;福满楼酒家;FD-SOY-500;12;9.9元;",
        "XS-4;10/11/2026;鑫源商行;PA4-70;1;20;",
        "XS-5;2026.10.12;查无此人;PA4-70;1;20;",
        "XS-6;2026-12-25;鑫源商行;PA4-70;1;20;",
        "XS-7;2026-10-13;鑫源商行;PA4-70;1;20;",
        "XS-7;2026-10-14;鑫源商行;OF-TAPE-45;1;3;",
        "合计;;;;;;",
    ]
    path.write_text("\r\n".join(lines), encoding="gb18030", newline="")
    money = Decimal("98.30") * 5 + Decimal("2.82") * 20 * Decimal("0.95") + Decimal(200) + Decimal("9.9") * 12
    return Expected(
        rows=9,
        taken=4,
        problems=(
            (7, "B", "date_two_meanings"),
            (8, "C", "unknown_customer"),
            (9, "B", "in_future"),
            (11, "B", "order_differs"),
            (12, "A", "sum_row"),
        ),
        total=money,
    )


def in_two_lines(path: Path) -> None:
    """Headings in two lines: one spans the prices, the others span both lines."""
    book = xlsxwriter.Workbook(path)
    sheet = book.add_worksheet("表")
    sheet.merge_range("A1:E1", "商品表")
    for column, heading in enumerate(("编码", "名称")):
        sheet.merge_range(1, column, 2, column, heading)
    sheet.merge_range("C2:D2", "价格")
    sheet.write_row("C3", ("零售价", "成本价"))
    sheet.merge_range("E2:E3", "单位")
    sheet.write_row("A4", ("T-1", "苹果", 3.5, 2, "个"))
    sheet.write_row("A5", ("T-2", "梨", "4.5元", "3元", "个"))
    book.close()


def dated(path: Path) -> None:
    """Prices with a start as a real date, with English headings."""
    book = xlsxwriter.Workbook(path)
    sheet = book.add_worksheet("Prices")
    day = book.add_format({"num_format": "dd/mm/yyyy"})
    sheet.write_row("A1", ("SKU", "New price", "Price list", "Valid from"))
    sheet.write_row("A2", ("PA4-70", 23.5, "retail"))
    sheet.write_datetime("D2", datetime(2026, 12, 1), day)  # noqa: DTZ001
    book.close()
