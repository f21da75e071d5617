"""What an import costs: reading, checking and writing a workbook of 100,000 products, against the same done bare.

Invariant: the bare side uses the same reader, makes the same checks of each cell in straight code, and puts the same
rows into the same tables with ``executemany``, once; both sides work on the same file and the same disk, in turns. CPU
time counts, since other work on the machine makes none of it.
"""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import tempfile
import time
import tracemalloc
from collections.abc import Iterator
from datetime import date
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import xlsxwriter
from python_calamine import CalamineWorkbook

from bench.peers import FOLDER
from bench.report import Line
from erpilot.shop.backend import Write
from erpilot.shop.embedded.shop import EmbeddedShop
from erpilot.shop.importing.applying import Options, apply_plan, plan_import, read_files
from erpilot.shop.matching import grams
from erpilot.shop.seed.build import ensure_shop

ROWS = 100_000
AT_MOST = 2.0
_HEAD = ("编码", "名称", "规格", "类别", "单位", "零售价", "成本价", "税率", "条码")


def importing(*, quick: bool) -> tuple[list[Line], list[dict[str, Any]]]:
    """The lines of the report, and every single measurement."""
    (FOLDER / "work").mkdir(parents=True, exist_ok=True)
    rows, turns = (20_000, 1) if quick else (ROWS, 2)
    with tempfile.TemporaryDirectory(dir=FOLDER / "work") as folder:
        return asyncio.run(_importing(Path(folder), rows, turns))


async def _importing(folder: Path, rows: int, turns: int) -> tuple[list[Line], list[dict[str, Any]]]:
    book, empty = folder / "goods.xlsx", folder / "empty.db"
    _write_book(book, rows)
    ensure_shop(empty, date(2026, 11, 30))
    ours, bare, raw = list[float](), list[float](), list[dict[str, Any]]()
    for turn in range(turns):
        for name, measure in (("bare", _bare), ("erpilot", _ours)):
            path = folder / f"{name}.db"
            shutil.copy(empty, path)
            began = time.process_time()
            count = await measure(book, path)
            seconds = time.process_time() - began
            assert count == rows, f"{name} took {count} of {rows} rows"
            (ours if name == "erpilot" else bare).append(seconds)
            raw.append({"import": name, "turn": turn, "seconds": seconds, "rows": rows})
            path.unlink()
    path, rows = folder / "memory.db", min(rows, 20_000)
    _write_book(book, rows)
    shutil.copy(empty, path)
    tracemalloc.start()
    await _ours(book, path)
    peak = tracemalloc.get_traced_memory()[1] / 1024 / 1024
    tracemalloc.stop()
    best, other = min(ours), min(bare)
    raw.append({"import": "peak", "mb": peak})
    figure = f"{best:.2f} s CPU, bare {other:.2f} s"
    return [
        Line(f"import of {raw[0]['rows']:,} products from XLSX", figure, best / other, at_most=AT_MOST),
        Line(f"Python's memory at its most for {rows:,}; KB a row", f"{peak:.0f} MB", peak * 1024 / rows),
    ], raw


def _write_book(path: Path, rows: int) -> None:
    book = xlsxwriter.Workbook(str(path), {"constant_memory": True})
    sheet = book.add_worksheet("商品")
    sheet.write_row(0, 0, _HEAD)
    for place in range(1, rows + 1):
        sheet.write_row(
            place,
            0,
            (
                f"B-{place:06d}",
                f"测试商品 {place % 977} 号 {place}",
                f"{place % 50} 寸",
                f"类别{place % 40}",
                "件",
                f"{place % 500}.{place % 90 + 10}元",
                round(place % 500 * 0.6, 2),
                "13%",
                f"69{place:011d}",
            ),
        )
    book.close()


async def _ours(book: Path, path: Path) -> int:
    shop = EmbeddedShop(path)
    try:
        plan = await plan_import(shop, await read_files([book], Options()), Options())
        assert plan.problems.errors == 0, plan.problems.kept[:3]
        await apply_plan(shop, plan, reason="bench", write=Write("bench", "bench"))
        return plan.new
    finally:
        shop.close()


async def _bare(book: Path, path: Path) -> int:
    return await asyncio.to_thread(_bare_import, book, path)


def _bare_import(book: Path, path: Path) -> int:
    goods = list(_checked(book))
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("BEGIN IMMEDIATE")
    (first,) = connection.execute("SELECT max(id) + 1 FROM product").fetchone()
    known = {sku for (sku,) in connection.execute("SELECT sku FROM product")}
    assert not any(sku in known for sku, *_ in goods)
    numbered = list(enumerate(goods, first))
    connection.executemany(
        "INSERT INTO product VALUES (?, ?, ?, ?, ?, ?, ?, 'CNY', 1000, ?, 1, '[]', 1, 1)",
        (
            (row, sku, name, specification, category, tax, price, cost)
            for row, (sku, name, specification, category, _, price, cost, tax, _) in numbered
        ),
    )
    connection.executemany(
        "INSERT INTO unit VALUES (?, 0, ?, '1', ?, 1)", ((row, each[4], each[8]) for row, each in numbered)
    )
    connection.executemany(
        "INSERT INTO price VALUES (?, 'retail', '2026-11-30', 1000, ?, '9999-12-31')",
        ((row, each[5]) for row, each in numbered),
    )
    connection.executemany(
        "INSERT OR IGNORE INTO gram VALUES ('product', ?, ?)",
        (
            (gram, str(row))
            for row, each in numbered
            for gram in sorted({gram for text in (each[1], each[2]) for gram in grams(text)})
        ),
    )
    effect = connection.execute(
        "INSERT INTO effect (key, verb, digest, number, linked, is_document, undoable, at) "
        "VALUES ('bare', 'import_products', '', 'IMP-1', '[]', 0, 1, '2026-11-30')"
    ).lastrowid
    connection.executemany(
        "INSERT INTO change VALUES (?, ?, ?, ?, 'name', NULL, ?)",
        ((effect, place, each[0], each[0], f"s:{each[1]}") for place, each in enumerate(goods)),
    )
    connection.execute("COMMIT")
    connection.close()
    return len(goods)


def _checked(book: Path) -> Iterator[tuple[str, ...]]:
    """The rows, each cell checked as what it has to be."""
    seen: set[str] = set()
    barcodes: set[str] = set()
    with CalamineWorkbook.from_path(book) as opened:
        rows = opened.get_sheet_by_index(0).iter_rows()
        assert tuple(next(rows)) == _HEAD
        for sku, name, specification, category, unit, price, cost, tax, barcode in rows:
            if not isinstance(sku, str) or not isinstance(name, str) or not sku or not name or sku in seen:
                raise ValueError(f"a row without a code or a name: {sku!r}")
            seen.add(sku)
            if len(sku) > 64 or len(name) > 200 or barcode in barcodes:
                raise ValueError(f"{sku}: too long, or a barcode twice")
            barcodes.add(str(barcode))
            try:
                amount = Decimal(str(price).strip().removesuffix("元").replace(",", ""))
                paid = Decimal(f"{cost:.15g}" if isinstance(cost, float) else str(cost))
                rate = Decimal(str(tax).strip().removesuffix("%")) / 100
            except InvalidOperation:
                raise ValueError(f"{sku}: no number") from None
            if amount < 0 or paid < 0 or not 0 <= rate < 1:
                raise ValueError(f"{sku}: a number that cannot be")
            yield (
                sku, " ".join(name.split()), " ".join(str(specification).split()), str(category), str(unit),
                str(amount), str(paid), str(rate), str(barcode),
            )  # fmt: skip
