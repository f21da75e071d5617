"""Purchases: what is on the way, what suppliers charge, new orders to them.

Invariant: ordered = received + cancelled + to come; a price is the supplier's offer or was typed; who may not see costs
sees none.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from ..catalogue import Product
from ..documents import Line
from ..errors import Invalid, NeedsConfirmation, NotFound, Refused
from ..pricing import line_amounts
from ..values import Money, rounded
from ..verbs.buying import Purchase, PurchaseDraft, PurchaseFilter, PurchaseLine, PurchasePage, SupplierOffer
from ..verbs.outcome import FieldChange, Write
from . import document_rows, parties, products
from .acting import Acting
from .effects import Made
from .schema import quantity

_OPEN = (
    "d.state IN ('draft', 'quoted', 'confirmed', 'in_progress') AND EXISTS (SELECT 1 FROM line l "
    "WHERE l.document_id = d.id AND l.ordered > l.delivered + l.cancelled)"
)


def page(
    connection: sqlite3.Connection, acting: Acting, which: PurchaseFilter, limit: int, offset: int
) -> PurchasePage:
    """The earliest expected first."""
    where, values = _where(connection, which)
    sums = connection.execute(
        f"SELECT d.currency, count(*), sum(d.total) FROM document d WHERE {where} GROUP BY d.currency", values
    ).fetchall()
    rows = connection.execute(
        "SELECT d.id, d.number, d.party_id, p.name, d.date, d.promised, d.state, w.name, d.total, d.currency, "
        "d.version FROM document d JOIN party p ON p.id = d.party_id JOIN warehouse w ON w.code = d.warehouse "
        f"WHERE {where} "
        "ORDER BY d.promised IS NULL, d.promised, d.number LIMIT ? OFFSET ?",
        (*values, limit, offset),
    ).fetchall()
    shown = "see_cost" in acting.rights
    return PurchasePage(
        tuple(_purchase(connection, row, acting.today, shown=shown) for row in rows),
        sum(count for _, count, _ in sums),
        {currency: Money.from_minor(total, currency) for currency, _, total in sums} if shown else {},
    )


def _where(connection: sqlite3.Connection, which: PurchaseFilter) -> tuple[str, list[Any]]:
    parts = ["d.kind = 'purchase'"]
    values: list[Any] = []
    if which.supplier_id:
        parts.append("d.party_id = ?")
        values.append(which.supplier_id)
    if which.states:
        parts.append(f"d.state IN ({', '.join('?' * len(which.states))})")
        values += which.states
    if which.sku:
        (row,) = products.rows_of(connection, [which.sku]).values()
        parts.append("d.id IN (SELECT document_id FROM line WHERE product_id = ?)")
        values.append(row)
    if which.open_only:
        parts.append(_OPEN)
    if which.expected_by:
        parts.append("d.promised <= ?")
        values.append(which.expected_by.isoformat())
    return " AND ".join(parts), values


def _purchase(connection: sqlite3.Connection, row: Sequence[Any], today: date, *, shown: bool) -> Purchase:
    lines = tuple(
        PurchaseLine(sku, name, unit, quantity(ordered), quantity(received), quantity(cancelled))
        for sku, name, unit, ordered, received, cancelled in connection.execute(
            "SELECT g.sku, l.name, l.unit, l.ordered, l.delivered, l.cancelled FROM line l "
            "JOIN product g ON g.id = l.product_id WHERE l.document_id = ? ORDER BY l.line",
            (row[0],),
        )
    )
    expected = date.fromisoformat(row[5]) if row[5] else None
    is_open = row[6] in ("draft", "quoted", "confirmed", "in_progress") and any(line.to_come > 0 for line in lines)
    return Purchase(
        number=row[1],
        supplier_id=row[2],
        supplier=row[3],
        date=date.fromisoformat(row[4]),
        expected=expected,
        state=row[6],
        warehouse=row[7],
        lines=lines,
        confirmed=row[6] in ("confirmed", "in_progress", "done"),
        days_late=max(0, (today - expected).days) if is_open and expected else 0,
        total=Money.from_minor(row[8], row[9]) if shown else None,
        version=str(row[10]),
    )


def offers(connection: sqlite3.Connection, skus: Sequence[str], supplier_id: str | None) -> tuple[SupplierOffer, ...]:
    """The cheapest per base unit first."""
    if supplier_id is not None:
        parties.get(connection, supplier_id, "supplier")
    if not skus and supplier_id is None:
        raise Invalid("Offers are looked up for products or for a supplier.")
    ids = list(products.rows_of(connection, skus).values())
    parts: list[str] = []
    values: list[Any] = []
    if ids:
        parts.append(f"o.product_id IN ({', '.join('?' * len(ids))})")
        values += ids
    if supplier_id is not None:
        parts.append("o.supplier = ?")
        values.append(supplier_id)
    rows = connection.execute(
        "SELECT g.sku, o.supplier, p.name, o.unit, o.price, o.currency, o.min_qty, o.pack, o.lead_days, u.factor "
        "FROM offer o JOIN product g ON g.id = o.product_id JOIN party p ON p.id = o.supplier "
        "JOIN unit u ON u.product_id = o.product_id AND u.name = o.unit "
        f"WHERE {' AND '.join(parts)}",
        values,
    ).fetchall()
    rows.sort(key=lambda r: (r[0], r[5], Decimal(r[4]) / Decimal(r[9]), r[1]))
    return tuple(
        SupplierOffer(r[0], r[1], r[2], r[3], Money(Decimal(r[4]), r[5]), quantity(r[6]), quantity(r[7]), r[8])
        for r in rows
    )


def create(connection: sqlite3.Connection, acting: Acting, draft: PurchaseDraft, write: Write) -> Made:
    """A draft purchase at the supplier's prices."""
    supplier = parties.get(connection, draft.supplier_id, "supplier")
    if not draft.lines:
        raise Invalid("A purchase needs at least one line.")
    if draft.expected is not None and draft.expected < acting.today:
        raise Invalid(f"The day {draft.expected} is past: today is {acting.today}.")
    known = products.by_codes(connection, [line.sku for line in draft.lines])
    for wanted in draft.lines:
        if wanted.sku not in known:
            raise NotFound(f"There is no product {wanted.sku}.")
    charged = {each.sku: each for each in offers(connection, list(known), supplier.id)}
    lines, lead = [], 0
    for at, wanted in enumerate(draft.lines, 1):
        product, offer = known[wanted.sku], charged.get(wanted.sku)
        quantity_ = product.quantity(wanted.quantity.value, wanted.quantity.unit)
        unit = product.unit(quantity_.unit)
        if offer is not None:
            _check_minimum(product, offer, quantity_.value * unit.factor, write)
            lead = max(lead, offer.lead_days)
        price = wanted.unit_price
        if price is None:
            if offer is None:
                raise Refused(f"{supplier.name} has no price for {product.sku} {product.name}.", hint="Give a price.")
            price = rounded(offer.price.amount / product.unit(offer.unit).factor * unit.factor, supplier.currency)
        if not price.is_finite() or price < 0:
            raise Invalid(f"A price of {price} cannot be.")
        amount, tax = line_amounts(
            quantity_.value, price, Decimal(0), product.tax_rate, supplier.currency, tax_included=False
        )
        lines.append(
            Line(
                at, product.sku, product.name, product.specification, unit.name, unit.factor, product.base.name,
                quantity_.value, price, product.tax_rate, amount, tax,
                price_origin="rule" if wanted.unit_price is None else "manual",
            )
        )  # fmt: skip
    expected = draft.expected or acting.today + timedelta(lead)
    _, number = document_rows.insert(
        connection,
        acting,
        "purchase",
        supplier.id,
        lines,
        currency=supplier.currency,
        tax_included=False,
        state="draft",
        warehouse=document_rows.warehouse_code(connection, draft.warehouse),
        promised=expected,
        note=draft.note,
    )
    total = Money(sum((line.amount.amount + line.tax.amount for line in lines), Decimal(0)), supplier.currency)
    changes = (FieldChange(number, "total", None, total), FieldChange(number, "expected", None, expected))
    return Made(number, changes, is_document=True, undoable=True)


def _check_minimum(product: Product, offer: SupplierOffer, base: Decimal, write: Write) -> None:
    token = f"below_minimum:{product.sku}"
    if base < offer.min_qty * product.unit(offer.unit).factor and token not in write.accepted:
        raise NeedsConfirmation(
            f"{offer.supplier} sells at least {offer.min_qty.normalize():f} {offer.unit} of {product.sku}.", token=token
        )
