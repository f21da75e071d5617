"""The ledger of stock, and what of it is held for whom.

Invariant: on hand is the sum of the moves and never below zero; never more is reserved than is on hand; what becomes
free goes to the confirmed orders that wait for it, the oldest promise first. Quantities are stored thousandths of base
units.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from decimal import Decimal

from ..errors import Refused
from .acting import Acting
from .schema import quantity, stored

CHUNK = 500


def sums(connection: sqlite3.Connection, table: str, rows: Sequence[int]) -> dict[tuple[int, str], int]:
    """``move``: what is on hand; ``reservation``: what is held; of many products, by product and warehouse."""
    found: dict[tuple[int, str], int] = {}
    for at in range(0, len(rows), CHUNK):
        some = rows[at : at + CHUNK]
        for product, warehouse, total in connection.execute(
            f"SELECT product_id, warehouse, sum(qty) FROM {table} WHERE product_id IN ({', '.join('?' * len(some))}) "
            "GROUP BY product_id, warehouse",
            some,
        ):
            found[product, warehouse] = total
    return found


def awaited(connection: sqlite3.Connection) -> set[int]:
    """Products of which something is owed on confirmed sales."""
    rows = connection.execute(
        "SELECT DISTINCT l.product_id FROM document d JOIN line l ON l.document_id = d.id "
        "WHERE d.kind = 'sale' AND d.state IN ('confirmed', 'in_progress') "
        "AND l.ordered > l.delivered + l.cancelled"
    )
    return {row for (row,) in rows}


def move_many(
    connection: sqlite3.Connection, acting: Acting, moves: Iterable[tuple[int, str, int]], reason: str, document: str
) -> None:
    """Enters moves (product, warehouse, quantity) of which the caller knows that nothing ends below zero."""
    at = acting.now.isoformat(timespec="seconds")
    connection.executemany(
        "INSERT INTO move (product_id, warehouse, qty, reason, document, at, by) VALUES (?, ?, ?, ?, ?, ?, ?)",
        ((product, place, qty, reason, document, at, acting.user) for product, place, qty in moves if qty),
    )


def on_hand(connection: sqlite3.Connection, product: int, warehouse: str) -> int:
    """What is there."""
    found: int = connection.execute(
        "SELECT coalesce(sum(qty), 0) FROM move WHERE product_id = ? AND warehouse = ?", (product, warehouse)
    ).fetchone()[0]
    return found


def reserved(connection: sqlite3.Connection, product: int, warehouse: str) -> int:
    """What of it is held."""
    found: int = connection.execute(
        "SELECT coalesce(sum(qty), 0) FROM reservation WHERE product_id = ? AND warehouse = ?", (product, warehouse)
    ).fetchone()[0]
    return found


def available(connection: sqlite3.Connection, product: int, warehouse: str) -> int:
    """What is there and not held."""
    return on_hand(connection, product, warehouse) - reserved(connection, product, warehouse)


def is_stocked(connection: sqlite3.Connection, product: int) -> bool:
    """Whether stock is kept of it at all."""
    return bool(connection.execute("SELECT stocked FROM product WHERE id = ?", (product,)).fetchone()[0])


def move(
    connection: sqlite3.Connection,
    acting: Acting,
    product: int,
    warehouse: str,
    qty: int,
    reason: str,
    document: str,
) -> None:
    """Enters a move. Raises ``Refused`` when it would take more than there is."""
    if qty == 0:
        return
    if qty < 0 and on_hand(connection, product, warehouse) + qty < 0:
        sku, name = connection.execute("SELECT sku, name FROM product WHERE id = ?", (product,)).fetchone()
        there = quantity(on_hand(connection, product, warehouse))
        raise Refused(f"There are only {there:f} of {sku} {name} in {warehouse}; nothing was changed.")
    connection.execute(
        "INSERT INTO move (product_id, warehouse, qty, reason, document, at, by) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (product, warehouse, qty, reason, document, acting.now.isoformat(timespec="seconds"), acting.user),
    )


def hold(connection: sqlite3.Connection, document: int, line: int, product: int, warehouse: str, wanted: int) -> int:
    """Holds what is available for a line, up to ``wanted``; how much that is."""
    take = min(wanted, max(0, available(connection, product, warehouse)))
    if take > 0:
        connection.execute(
            "INSERT INTO reservation VALUES (?, ?, ?, ?, ?) "
            "ON CONFLICT (document_id, line) DO UPDATE SET qty = qty + excluded.qty",
            (document, line, product, warehouse, take),
        )
    return take


def release(connection: sqlite3.Connection, document: int, line: int, at_most: int | None = None) -> int:
    """Gives back what is held for a line, all or up to so much; how much that was."""
    row = connection.execute(
        "SELECT qty FROM reservation WHERE document_id = ? AND line = ?", (document, line)
    ).fetchone()
    if not row:
        return 0
    freed: int = row[0] if at_most is None else min(row[0], at_most)
    if freed == row[0]:
        connection.execute("DELETE FROM reservation WHERE document_id = ? AND line = ?", (document, line))
    elif freed:
        connection.execute(
            "UPDATE reservation SET qty = qty - ? WHERE document_id = ? AND line = ?", (freed, document, line)
        )
    return freed


def allocate(connection: sqlite3.Connection, product: int, warehouse: str) -> None:
    """Holds what is free for the confirmed orders that wait for it."""
    if available(connection, product, warehouse) <= 0:
        return
    waiting = connection.execute(
        "SELECT l.document_id, l.line, l.ordered - l.delivered - l.cancelled, l.factor, coalesce(r.qty, 0) "
        "FROM line l INDEXED BY line_open JOIN document d ON d.id = l.document_id "
        "LEFT JOIN reservation r ON r.document_id = l.document_id AND r.line = l.line "
        "WHERE d.kind = 'sale' AND d.state IN ('confirmed', 'in_progress') AND d.warehouse = ? AND l.product_id = ? "
        "AND l.ordered > l.delivered + l.cancelled ORDER BY coalesce(d.promised, d.date), d.id, l.line",
        (warehouse, product),
    ).fetchall()
    for document, line, is_open, factor, held in waiting:
        missing = stored(quantity(is_open) * Decimal(factor)) - held
        if missing > 0 and hold(connection, document, line, product, warehouse, missing) < missing:
            return


def shrink(connection: sqlite3.Connection, product: int, warehouse: str) -> None:
    """Lets go of what is held beyond what is there, the newest promise first."""
    over = -available(connection, product, warehouse)
    rows = connection.execute(
        "SELECT r.document_id, r.line, r.qty FROM reservation r JOIN document d ON d.id = r.document_id "
        "WHERE r.product_id = ? AND r.warehouse = ? ORDER BY coalesce(d.promised, d.date) DESC, d.id DESC, r.line DESC",
        (product, warehouse),
    ).fetchall()
    for document, line, held in rows:
        if over <= 0:
            return
        over -= release(connection, document, line, min(over, held))
