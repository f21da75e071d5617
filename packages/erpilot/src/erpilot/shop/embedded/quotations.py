"""Writing quotations into the file.

Invariant: one key makes one document; a key that comes again with the same draft gets that document, with another
draft it is refused. Everything happens in the transaction that the caller opened.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from dataclasses import replace
from datetime import datetime

from ..backend import QuotationDraft, Write, Written
from ..errors import Conflict
from ..pricing import PricedLine
from ..rules import check_quotable, valid_until
from ..values import Company
from . import orders, prices, products
from .schema import stored

WAREHOUSE_OF_QUOTATIONS = "SELECT code FROM warehouse ORDER BY position LIMIT 1"


def create(
    connection: sqlite3.Connection, draft: QuotationDraft, write: Write, now: datetime, company: Company
) -> Written:
    """Makes the quotation, or finds the one that this key has made."""
    digest = _digest(draft)
    if made := connection.execute("SELECT id, digest FROM document WHERE key = ?", (write.key,)).fetchone():
        if made[1] != digest:
            raise Conflict("This key was already used for another quotation; nothing was changed.")
        return replace(_written(connection, made[0]), repeated=True)
    last_day = valid_until(now.date(), draft.valid_days)
    quote = prices.quote(connection, draft.lines, draft.customer_id, None, now.date(), draft.discount)
    check_quotable(quote, draft.discount, company)
    serial = connection.execute("SELECT max(serial) + 1 FROM document WHERE kind = 'quotation'").fetchone()[0] or 1001
    (warehouse,) = connection.execute(WAREHOUSE_OF_QUOTATIONS).fetchone()
    row = connection.execute(
        "INSERT INTO document (number, serial, kind, party_id, date, valid_until, state, shipped, invoiced, currency, "
        "tax_included, total, warehouse, note, key, digest, created_by, created_at) "
        "VALUES (?, ?, 'quotation', ?, ?, ?, 'quoted', 'none', 'none', ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            f"Q-{serial}",
            serial,
            draft.customer_id,
            now.date().isoformat(),
            last_day.isoformat(),
            quote.price_list.currency,
            quote.price_list.tax_included,
            quote.totals.total.minor,
            warehouse,
            draft.note,
            write.key,
            digest,
            write.by,
            now.isoformat(timespec="seconds"),
        ),
    ).lastrowid
    assert row is not None
    rows = products.rows_of(connection, [line.product.sku for line in quote.lines])
    for position, line in enumerate(quote.lines, 1):
        _insert_line(connection, row, position, rows[line.product.sku], line)
    return _written(connection, row)


def by_key(connection: sqlite3.Connection, key: str) -> Written | None:
    """What this key made."""
    made = connection.execute("SELECT id FROM document WHERE key = ?", (key,)).fetchone()
    return replace(_written(connection, made[0]), repeated=True) if made else None


def _written(connection: sqlite3.Connection, row: int) -> Written:
    key, by, at = connection.execute("SELECT key, created_by, created_at FROM document WHERE id = ?", (row,)).fetchone()
    order = orders.by_row(connection, row)
    return Written("create_quotation", key, order.head.number, datetime.fromisoformat(at), by, document=order)


def _insert_line(connection: sqlite3.Connection, document: int, position: int, product: int, line: PricedLine) -> None:
    unit = line.product.unit(line.quantity.unit)
    connection.execute(
        "INSERT INTO line (document_id, line, product_id, name, specification, unit, factor, base_unit, ordered, "
        "unit_price, price_origin, discount, tax_rate, amount, tax) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'rule', ?, ?, ?, ?)",
        (
            document,
            position,
            product,
            line.product.name,
            line.product.specification,
            unit.name,
            str(unit.factor),
            line.base.unit,
            stored(line.quantity.value),
            str(line.unit_price),
            str(line.discount),
            str(line.tax_rate),
            line.amount.minor,
            line.tax.minor,
        ),
    )


def _digest(draft: QuotationDraft) -> str:
    lines = [[line.sku, f"{line.quantity.value.normalize():f}", line.quantity.unit] for line in draft.lines]
    said = [draft.customer_id, lines, f"{draft.discount.normalize():f}", draft.valid_days, draft.note]
    return hashlib.sha256(json.dumps(said, ensure_ascii=False).encode()).hexdigest()
