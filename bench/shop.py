"""What reports cost over a million order lines, against the SQL alone that gives the same figures.

Invariant: both sides read the same file and come to the same sum, which is checked; the bare side is one statement (and
one for the number of orders, which the report tells) and fetches everything; CPU time counts, the best of the turns.
"""

from __future__ import annotations

import asyncio
import random
import sqlite3
import tempfile
import time
from collections.abc import Awaitable, Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from bench.peers import FOLDER
from bench.report import Line
from erpilot.shop.embedded.shop import EmbeddedShop
from erpilot.shop.seed.build import ensure_shop
from erpilot.shop.values import Period
from erpilot.shop.verbs.reporting import GroupBy, SalesQuery

LINES = 1_000_000
AT_MOST = 1.5
TODAY = date(2026, 11, 30)
_PER_ORDER = 5
_SIGN = "CASE d.kind WHEN 'return' THEN -1 ELSE 1 END"
_SUMS = (
    f"d.currency, SUM({_SIGN} * l.gross), SUM({_SIGN} * l.net), "
    "SUM(CASE d.kind WHEN 'return' THEN l.gross ELSE 0 END), "
    f"SUM({_SIGN} * l.sold), MIN(l.base_unit), MAX(l.base_unit), MAX(d.date)"
)
_WHERE = (
    "WHERE d.kind IN ('sale', 'return') AND d.state IN ('confirmed', 'in_progress', 'done') AND d.date BETWEEN ? AND ?"
)
_FROM = f"FROM document d JOIN line l ON l.document_id = d.id {_WHERE}"
_BARE: dict[GroupBy, str] = {
    "product": f"SELECT l.product_id, {_SUMS}, COUNT(DISTINCT d.id) {_FROM} GROUP BY l.product_id, d.currency",
    "customer": f"SELECT d.party_id, {_SUMS} {_FROM} GROUP BY d.party_id, d.currency",
    "month": f"SELECT substr(d.date, 1, 7), {_SUMS} {_FROM} GROUP BY 1, d.currency",
}
_ORDERS = f"SELECT {{key}}, d.currency, COUNT(*) FROM document d {_WHERE} AND d.kind = 'sale' GROUP BY 1, 2"
_ORDER_KEYS: dict[GroupBy, str] = {"customer": "d.party_id", "month": "substr(d.date, 1, 7)", "product": "''"}


def shop(*, quick: bool) -> tuple[list[Line], list[dict[str, Any]]]:
    """The lines of the report, and every single measurement."""
    (FOLDER / "work").mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=FOLDER / "work") as folder:
        return asyncio.run(_shop(Path(folder), LINES // 10 if quick else LINES, 2 if quick else 3))


async def _shop(folder: Path, count: int, turns: int) -> tuple[list[Line], list[dict[str, Any]]]:
    path = folder / "shop.db"
    ensure_shop(path, TODAY)
    _fill(path, count)
    embedded, connection = EmbeddedShop(path, today=TODAY), sqlite3.connect(path, check_same_thread=False)
    lines, raw = list[Line](), list[dict[str, Any]]()
    whole = Period(TODAY - timedelta(729), TODAY, "Asia/Shanghai")
    try:
        for group, statement in _BARE.items():
            query = SalesQuery(whole, group_by=group)

            async def ours(query: SalesQuery = query) -> int:
                return sum(figures.revenue.minor for figures in (await embedded.sales(query)).total.values())

            async def bare(group: GroupBy = group, statement: str = statement) -> int:
                return await asyncio.to_thread(_fetch, connection, group, statement, whole)

            best = await _best({"erpilot": ours, "bare": bare}, turns)
            raw.append({"report": f"sales by {group}", "lines": count, **best})
            figure = f"{best['erpilot'] * 1000:.0f} ms CPU, bare {best['bare'] * 1000:.0f} ms"
            name = f"sales by {group} over {count:,} order lines"
            lines.append(Line(name, figure, best["erpilot"] / best["bare"], at_most=AT_MOST))
    finally:
        embedded.close()
        connection.close()
    return lines, raw


async def _best(sides: dict[str, Callable[[], Awaitable[int]]], turns: int) -> dict[str, float]:
    """CPU seconds of the best turn of each; all have to come to the same sum."""
    best: dict[str, float] = {}
    sums = set[int]()
    for _ in range(turns):
        for name, side in sides.items():
            began = time.process_time()
            sums.add(await side())
            seconds = time.process_time() - began
            best[name] = min(best.get(name, seconds), seconds)
    assert len(sums) == 1, f"the sides differ: {sums}"
    return best


def _fetch(connection: sqlite3.Connection, group: GroupBy, statement: str, period: Period) -> int:
    days = (period.start.isoformat(), period.end.isoformat())
    rows = connection.execute(statement, days).fetchall()
    connection.execute(_ORDERS.format(key=_ORDER_KEYS[group]), days).fetchall()
    return sum(int(row[2]) for row in rows)


def _fill(path: Path, count: int) -> None:
    """Orders of two years, of five lines each, over all products and customers."""
    chance = random.Random(1)  # the same shop every time
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA synchronous = OFF")
    connection.execute("BEGIN")
    goods = connection.execute(
        "SELECT p.id, p.name, u.name FROM product p JOIN unit u ON u.product_id = p.id AND u.position = 0"
    ).fetchall()
    parties = [
        row[0] for row in connection.execute("SELECT id FROM party WHERE role = 'customer' AND currency = 'CNY'")
    ]
    (first,) = connection.execute("SELECT max(id) + 1 FROM document").fetchone()
    orders = count // _PER_ORDER
    connection.executemany(
        "INSERT INTO document (id, number, serial, kind, party_id, date, state, shipped, invoiced, currency, "
        "tax_included, total, warehouse) VALUES (?, ?, ?, ?, ?, ?, 'done', 'full', 'full', 'CNY', 1, 0, 'MAIN')",
        (
            (
                first + place,
                f"B-{place}",
                place,
                "return" if place % 50 == 0 else "sale",
                chance.choice(parties),
                (TODAY - timedelta(chance.randrange(730))).isoformat(),
            )
            for place in range(orders)
        ),
    )
    connection.executemany(
        "INSERT INTO line (document_id, line, product_id, name, specification, unit, factor, base_unit, ordered, "
        "delivered, unit_price, price_origin, discount, tax_rate, amount, tax, sold, gross, net, cost) "
        "VALUES (?, ?, ?, ?, '', ?, '1', ?, 1000, 1000, '1', 'rule', '0', '0.13', ?, 0, 1000, ?, ?, ?)",
        (
            (first + place, line, row, name, unit, unit, amount, amount, amount * 100 // 113, amount // 2)
            for place in range(orders)
            for line, (row, name, unit) in enumerate(chance.sample(goods, _PER_ORDER), 1)
            for amount in (chance.randrange(100, 100_000),)
        ),
    )
    connection.execute("COMMIT")
    connection.execute("ANALYZE")
    connection.close()
