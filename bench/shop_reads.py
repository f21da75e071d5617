"""What the layer of the embedded shop adds to a read, against its own SQL alone.

Invariant: the bare side runs the very statements of the read (written down while it ran once), in the same process and
on the same file, and fetches every row of them; turns of both alternate, and the median of each counts.
"""

from __future__ import annotations

import asyncio
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

from bench.peers import FOLDER
from bench.report import Line
from erpilot.shop.backend import LineWanted, OrderFilter
from erpilot.shop.embedded.shop import EmbeddedShop
from erpilot.shop.values import Quantity

TODAY = date(2026, 11, 30)
RATIO, MORE_MS = 1.3, 1.0
"""A read may take 1.3 times the bare statements, or a millisecond more."""
SKUS = ("PA4-70", "BV-COLA-500", "FD-SOY-500", "OF-TAPE-45", "HW-CUP-500")

Read = Callable[[], Awaitable[object]]


def shop_reads(*, quick: bool) -> tuple[list[Line], list[dict[str, Any]]]:
    """The lines of the report, and every single measurement."""
    (FOLDER / "work").mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=FOLDER / "work") as folder:
        return asyncio.run(_measured(Path(folder) / "shop.db", 40 if quick else 300))


def _reads(shop: EmbeddedShop) -> dict[str, Read]:
    wanted = [LineWanted(sku, Quantity(Decimal(3), "箱" if sku != "HW-CUP-500" else "个")) for sku in SKUS]
    return {
        "find_products by code": lambda: shop.find_products("PA4-70"),
        "get_stock of 5 products": lambda: shop.get_stock(SKUS),
        "get_prices of 5 lines": lambda: shop.get_prices(wanted, customer_id="C001"),
        "find_customers by id": lambda: shop.find_customers("C001"),
        "get_order": lambda: shop.get_order("SO-2026-0123"),
        "list_orders": lambda: shop.list_orders(OrderFilter(kind="sale")),
        "get_account": lambda: shop.get_account("C001"),
    }


async def _measured(path: Path, turns: int) -> tuple[list[Line], list[dict[str, Any]]]:
    shop = EmbeddedShop(path, today=TODAY)
    connection = sqlite3.connect(path, check_same_thread=False)
    lines, raw = list[Line](), list[dict[str, Any]]()
    try:
        for name, read in _reads(shop).items():
            statements = await _statements(shop, read)
            ours, bare = list[float](), list[float]()
            for _ in range(turns):
                began = time.perf_counter()
                await read()
                between = time.perf_counter()
                for statement in statements:
                    connection.execute(statement).fetchall()
                ours.append(between - began)
                bare.append(time.perf_counter() - between)
            raw.append({"read": name, "erpilot": ours, "bare": bare})
            lines.append(_line(name, statistics.median(ours) * 1000, statistics.median(bare) * 1000))
    finally:
        connection.close()
        shop.close()
    return lines, raw


def _line(name: str, ours: float, bare: float) -> Line:
    """The share of what is allowed that the layer takes: 1 is the limit."""
    share = (ours - bare) / max((RATIO - 1) * bare, MORE_MS)
    return Line(f"{name}: the layer, of what it may take", f"{ours:.2f} ms, bare {bare:.2f} ms", share, at_most=1.0)


async def _statements(shop: EmbeddedShop, read: Read) -> list[str]:
    """What a read sends to SQLite, with its values in it."""
    said: list[str] = []
    await asyncio.gather(*(read() for _ in range(8)))  # every thread has its connection now
    connections = list(shop._database._connections)
    for connection in connections:
        connection.set_trace_callback(said.append)
    await read()
    for connection in connections:
        connection.set_trace_callback(None)
    return [each for each in said if each.startswith(("SELECT", "\nSELECT", "WITH"))]
