"""A very small embedded shop: two warehouses, two price lists, three products, two customers, a supplier.

For tests that need a shop of their own for each example, or want to compare all that is in it.
"""

from __future__ import annotations

import sqlite3
from datetime import date
from pathlib import Path

from erpilot.shop.embedded import schema, search
from erpilot.shop.embedded.shop import EmbeddedShop

TODAY = date(2026, 11, 30)
PRODUCTS = ("AA-1", "BB-2", "CC-3")
CUSTOMERS = ("K1", "K2")
WAREHOUSES = ("MAIN", "EAST")
_TABLES = (
    "document", "line", "reservation", "move", "delivery", "delivery_line", "invoice", "payment", "settlement",
    "price", "product", "party", "effect", "change", "counter",
)  # fmt: skip


def make(path: Path, *, stock: int = 60) -> None:
    """Makes the file; ``stock`` base units of each product in the main warehouse, half of it in the other."""
    connection = sqlite3.connect(path, isolation_level=None)
    schema.create(connection)
    connection.execute("BEGIN")
    facts = {"today": TODAY.isoformat(), "company": "小店", "zone": "Asia/Shanghai", "currency": "CNY"}
    connection.executemany("INSERT INTO meta VALUES (?, ?)", facts.items())
    connection.execute("INSERT INTO person VALUES ('owner', '[\"owner\"]')")
    connection.executemany("INSERT INTO warehouse VALUES (?, ?, ?)", [("MAIN", "总仓", 0), ("EAST", "东门店", 1)])
    connection.executemany(
        "INSERT INTO price_list VALUES (?, ?, 'CNY', ?, 1, '[]', ?)",
        [("retail", "零售价", 1, 0), ("wholesale", "批发价", 0, 1)],
    )
    for at, (sku, price, cost, rate) in enumerate(
        (("AA-1", "3.33", "2.00", "0.13"), ("BB-2", "0.07", None, "0.06"), ("CC-3", "19.99", "12.50", "0")), 1
    ):
        connection.execute(
            "INSERT INTO product VALUES (?, ?, ?, '', '杂货', ?, ?, 'CNY', 1000, ?, 1, '[]', 1, 1)",
            (at, sku, f"货 {sku}", rate, price, cost),
        )
        connection.executemany(
            "INSERT INTO unit VALUES (?, ?, ?, ?, NULL, 1)", [(at, 0, "个", "1"), (at, 1, "箱", "6")]
        )
        for price_list in ("retail", "wholesale"):
            connection.executemany(
                "INSERT INTO price VALUES (?, ?, '2020-01-01', ?, ?, '2030-12-31')",
                [(at, price_list, 1000, price), (at, price_list, 12_000, f"{float(price) * 0.9:.2f}")],
            )
        connection.executemany(
            "INSERT INTO move (product_id, warehouse, qty, reason, document, at, by) "
            "VALUES (?, ?, ?, 'opening', NULL, '2026-01-01T09:00:00+08:00', 'seed')",
            [(at, "MAIN", stock * 1000), (at, "EAST", stock * 500)] if stock else [],
        )
        search.index(connection, "product", str(at), (f"货 {sku}",))
    connection.executemany(
        "INSERT INTO party VALUES (?, ?, ?, '[]', ?, 'CNY', 30, ?, NULL, NULL, 1)",
        [
            ("K1", "customer", "客户一", "retail", 50_000),
            ("K2", "customer", "客户二", "wholesale", None),
            ("S1", "supplier", "供应商一", "retail", None),
        ],
    )
    connection.execute("COMMIT")
    connection.close()


def opened(path: Path, *, stock: int = 60) -> EmbeddedShop:
    """A new small shop."""
    make(path, stock=stock)
    return EmbeddedShop(path)


def everything(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """All rows of what a write may touch, to compare."""
    connection = sqlite3.connect(path)
    try:
        return {table: sorted(connection.execute(f"SELECT * FROM {table}").fetchall(), key=repr) for table in _TABLES}
    finally:
        connection.close()
