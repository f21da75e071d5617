"""Writes the books, the offers, the people and the history of the example shop into the tables.

Invariant: every counter stands at the highest number that was given, so that the next document continues the series.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from datetime import datetime, time

from ..embedded.facts import digest, fact_text
from ..embedded.schema import stored
from ..values import zone_of
from ..verbs.buying import SupplierOffer
from .entries import Entry
from .money import PEOPLE, Books
from .trade import Trade


class Ledger:
    """The rows behind the documents, in one connection. ``rows``: of each document, by number."""

    def __init__(self, connection: sqlite3.Connection, trade: Trade, rows: Mapping[str, int]) -> None:
        self._connection = connection
        self._trade = trade
        self._rows = rows

    def money(self, books: Books) -> None:
        """Invoices, payments, settlements."""
        invoices = {each.number: row for row, each in enumerate(books.invoices, 1)}
        self._connection.executemany(
            "INSERT INTO invoice VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1)",
            [
                (
                    invoices[each.number],
                    each.number,
                    each.kind,
                    each.role,
                    self._rows[each.document],
                    each.party_id,
                    each.date.isoformat(),
                    each.due.isoformat(),
                    each.total.currency,
                    each.total.minor,
                )
                for each in books.invoices
            ],
        )
        self._connection.executemany(
            "INSERT INTO payment VALUES (?, ?, ?, ?, ?, ?, ?, ?, NULL, ?)",
            [
                (
                    each.number,
                    each.party_id,
                    self._rows[each.document] if each.document else None,
                    each.direction,
                    each.date.isoformat(),
                    each.method,
                    each.amount.minor,
                    each.amount.currency,
                    each.source,
                )
                for each in books.payments
            ],
        )
        self._connection.executemany(
            "INSERT INTO settlement (invoice_id, payment, credit_id, amount, date) VALUES (?, ?, ?, ?, ?)",
            [
                (
                    invoices[each.invoice],
                    each.payment,
                    invoices[each.credit] if each.credit else None,
                    each.amount.minor,
                    each.date.isoformat(),
                )
                for each in books.settled
            ],
        )

    def offers(self, offers: list[SupplierOffer]) -> None:
        """What suppliers charge."""
        self._connection.executemany(
            "INSERT INTO offer VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (
                    self._trade.position[each.sku] + 1,
                    each.supplier_id,
                    each.unit,
                    str(each.price.amount),
                    each.price.currency,
                    stored(each.min_qty),
                    stored(each.pack),
                    each.lead_days,
                )
                for each in offers
            ],
        )

    def people(self) -> None:
        """Who works here, and as what."""
        self._connection.executemany(
            "INSERT INTO person VALUES (?, ?)", [(name, json.dumps(roles)) for name, roles in PEOPLE]
        )

    def history(self, entries: list[Entry]) -> None:
        """Who did what."""
        zone = zone_of("Asia/Shanghai")
        for row, entry in enumerate(entries, 1):
            at = datetime.combine(entry.day, time(entry.hour, row % 60), zone).isoformat(timespec="seconds")
            key = f"seed-{row}"
            self._connection.execute(
                "INSERT INTO effect VALUES (?, ?, ?, ?, ?, ?, ?, 0, NULL, ?, ?, NULL, ?)",
                (
                    row,
                    key,
                    entry.verb,
                    digest(key),
                    entry.number,
                    json.dumps(entry.linked),
                    entry.is_document,
                    at,
                    entry.by,
                    entry.reason,
                ),
            )
            self._connection.executemany("INSERT INTO link VALUES (?, ?)", [(each, row) for each in entry.linked])
            self._connection.executemany(
                "INSERT INTO change VALUES (?, ?, ?, ?, ?, ?, ?)",
                [
                    (row, at_, c.subject.partition("@")[0], c.subject, c.field, fact_text(c.before), fact_text(c.after))
                    for at_, c in enumerate(entry.changes)
                ],
            )

    def counters(self) -> None:
        """Where every series stands."""
        numbers: list[str] = [*self._rows, "ADJ-0001", "TR-0001"]
        for table in ("delivery", "invoice", "payment"):
            numbers += [number for (number,) in self._connection.execute(f"SELECT number FROM {table}")]
        last: dict[str, int] = {}
        for number in numbers:
            series, _, serial = number.rpartition("-")
            last[series] = max(last.get(series, 0), int(serial))
        self._connection.executemany("INSERT INTO counter VALUES (?, ?)", last.items())
