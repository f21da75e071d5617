"""Writes what happened into the tables.

Invariant: every value is stored as the schema says (smallest units, thousandths, decimal text), in the order it
happened.
"""

from __future__ import annotations

import sqlite3
from datetime import datetime, time, timedelta
from decimal import Decimal

from ..documents import Order
from ..embedded.lines import line_sums, values_of
from ..embedded.schema import stored
from ..values import zone_of
from .trade import Move, Trade


class Store:
    """The rows of one trade, in one connection."""

    def __init__(self, connection: sqlite3.Connection, trade: Trade) -> None:
        self._connection = connection
        self._trade = trade
        self._products = {sku: at + 1 for sku, at in trade.position.items()}
        self.rows: dict[str, int] = {}

    def documents(self) -> None:
        """Documents by date, each with lines, deliveries and payments."""
        ordered = sorted(self._trade.orders, key=lambda each: (each[0].head.date, each[0].head.number))
        for row, (order, warehouse) in enumerate(ordered, 1):
            self.rows[order.head.number] = row
            self._head(row, order, warehouse)
            self._lines(row, order)
            self._deliveries(row, order)

    def moves(self, moves: list[Move]) -> None:
        """The ledger, by time."""
        zone = zone_of("Asia/Shanghai")
        rows = []
        for move in sorted(moves, key=lambda each: each.day):
            at = datetime.combine(self._trade.today + timedelta(move.day), time(9), zone)
            rows.append(
                (
                    self._products[move.sku],
                    move.warehouse,
                    stored(move.quantity),
                    move.reason,
                    move.document,
                    at.isoformat(timespec="seconds"),
                    "seed",
                )
            )
        self._connection.executemany(
            "INSERT INTO move (product_id, warehouse, qty, reason, document, at, by) VALUES (?, ?, ?, ?, ?, ?, ?)", rows
        )

    def reservations(self, held: list[tuple[str, int, str, str, Decimal]]) -> None:
        """What is held for open sales."""
        self._connection.executemany(
            "INSERT INTO reservation VALUES (?, ?, ?, ?, ?)",
            [
                (self.rows[number], line, self._products[sku], warehouse, stored(qty))
                for number, line, sku, warehouse, qty in held
            ],
        )

    def _head(self, row: int, order: Order, warehouse: str) -> None:
        head = order.head
        self._connection.execute(
            "INSERT INTO document (id, number, serial, kind, party_id, date, promised, valid_until, state, shipped, "
            "invoiced, currency, tax_included, total, warehouse, source, note) "
            f"VALUES ({', '.join('?' * 17)})",
            (
                row,
                head.number,
                int(head.number.rsplit("-", 1)[1]),
                head.kind,
                head.party_id,
                head.date.isoformat(),
                head.promised.isoformat() if head.promised else None,
                order.valid_until.isoformat() if order.valid_until else None,
                head.state,
                head.shipped,
                head.invoiced,
                head.total.currency,
                order.tax_included,
                head.total.minor,
                warehouse,
                order.source,
                order.note,
            ),
        )

    def _lines(self, row: int, order: Order) -> None:
        self._connection.executemany(
            f"INSERT INTO line VALUES ({', '.join('?' * 23)})",
            [
                values_of(
                    row,
                    line,
                    self._products[line.sku],
                    line_sums(line, self._trade.by_sku[line.sku].product, tax_included=order.tax_included),
                )
                for line in order.lines
            ],
        )

    def _deliveries(self, row: int, order: Order) -> None:
        for parcel in order.deliveries:
            key = self._connection.execute(
                "INSERT INTO delivery (number, document_id, date, state, warehouse, carrier, tracking) "
                "VALUES (?, ?, ?, ?, ?, ?, ?)",
                (
                    parcel.number,
                    row,
                    parcel.date.isoformat(),
                    parcel.state,
                    parcel.warehouse,
                    parcel.carrier,
                    parcel.tracking,
                ),
            ).lastrowid
            self._connection.executemany(
                "INSERT INTO delivery_line VALUES (?, ?, ?, ?, ?)",
                [(key, at, self._products[sku], stored(qty), unit) for at, (sku, qty, unit) in enumerate(parcel.lines)],
            )
