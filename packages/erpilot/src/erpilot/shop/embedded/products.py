"""Reading products and their stock from the file.

Invariant: a code or barcode decides and is never matched in part; on hand is the sum of the ledger's moves, reserved
the sum of the reservations, incoming what is open on purchases.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterable, Sequence
from datetime import date
from decimal import Decimal

from ..backend import Found, Hit
from ..catalogue import Arrival, Product, StockLevel, Unit, Warehouse
from ..errors import NotFound
from ..matching import Candidate, decided, fold, rank, squeezed
from ..values import ZERO
from .schema import quantity
from .search import propose

_COLUMNS = (
    "p.id, p.sku, p.name, p.specification, p.category, p.tax_rate, p.list_price, p.currency, p.min_order, p.cost, "
    "p.active, p.aliases, p.version, p.stocked"
)
_BARCODE = re.compile(r"\d{8}|\d{12,14}")


def load(connection: sqlite3.Connection, ids: Sequence[int]) -> dict[int, Product]:
    """Products by their row, with units."""
    if not ids:
        return {}
    marks = ", ".join("?" * len(ids))
    units: dict[int, list[Unit]] = {each: [] for each in ids}
    for owner, name, factor, barcode, whole in connection.execute(
        f"SELECT product_id, name, factor, barcode, whole FROM unit WHERE product_id IN ({marks}) "
        "ORDER BY product_id, position",
        ids,
    ):
        units[owner].append(Unit(name, Decimal(factor), barcode, bool(whole)))
    rows = connection.execute(f"SELECT {_COLUMNS} FROM product p WHERE p.id IN ({marks})", ids)
    return {
        row[0]: Product(
            sku=row[1],
            name=row[2],
            specification=row[3],
            category=row[4],
            units=tuple(units[row[0]]),
            tax_rate=Decimal(row[5]),
            list_price=Decimal(row[6]),
            currency=row[7],
            min_order=quantity(row[8]),
            cost=Decimal(row[9]) if row[9] is not None else None,
            active=bool(row[10]),
            aliases=tuple(json.loads(row[11])),
            version=str(row[12]),
            stocked=bool(row[13]),
        )
        for row in rows
    }


def _exact(connection: sqlite3.Connection, code: str) -> tuple[int, str, str | None] | None:
    """(row, "code" or "barcode", unit of the barcode) of the product with exactly this code."""
    code = fold(code).replace(" ", "")
    if row := connection.execute("SELECT id FROM product WHERE sku = ?", (code,)).fetchone():
        return row[0], "code", None
    if row := connection.execute("SELECT product_id, name FROM unit WHERE barcode = ?", (code,)).fetchone():
        return row[0], "barcode", row[1]
    return None


def by_codes(connection: sqlite3.Connection, codes: Sequence[str]) -> dict[str, Product]:
    """Products by exact SKU or barcode."""
    rows = {code: found[0] for code in codes if (found := _exact(connection, code))}
    products = load(connection, sorted(set(rows.values())))
    return {code: products[row] for code, row in rows.items()}


def rows_of(connection: sqlite3.Connection, skus: Iterable[str]) -> dict[str, int]:
    """The row of each SKU. Raises ``NotFound`` for one that does not exist."""
    wanted = list(dict.fromkeys(skus))
    known: dict[str, int] = {}
    for at in range(0, len(wanted), 500):
        some = wanted[at : at + 500]
        marks = ", ".join("?" * len(some))
        found = connection.execute(f"SELECT sku, id FROM product WHERE sku IN ({marks})", some)
        known.update((sku.casefold(), row) for sku, row in found)
    for sku in wanted:
        if sku.casefold() not in known:
            raise NotFound(f"There is no product {sku[:40]}.")
    return {sku: known[sku.casefold()] for sku in wanted}


def find(
    connection: sqlite3.Connection, text: str, category: str | None, in_stock: bool, limit: int, offset: int
) -> Found[Product]:
    """Products that ``text`` can mean."""
    exact = _exact(connection, text) if text.strip() else None
    if exact:
        row, how, unit = exact
        product = load(connection, [row])[row]
        hit = Hit(product, "barcode" if how == "barcode" else "code", 1.0, unit)
        return Found((hit,) if offset == 0 else (), 1, decided=True)
    if _BARCODE.fullmatch(fold(text).replace(" ", "")):
        return Found((), 0, decided=False)
    if not text.strip():
        return _listed(connection, category, in_stock, limit, offset)
    ranked = rank(text, _candidates(connection, text, category, in_stock))
    shown = [each for each in ranked if each.coverage >= 0.5 * ranked[0].coverage]
    here = shown[offset : offset + limit]
    products = load(connection, [int(each.key) for each in here])
    hits = tuple(Hit(products[int(each.key)], "name" if each.whole else "fuzzy", each.score) for each in here)
    return Found(hits, len(shown), decided(shown))


def _listed(
    connection: sqlite3.Connection, category: str | None, in_stock: bool, limit: int, offset: int
) -> Found[Product]:
    """Without a text: all of a category, by SKU."""
    wanted = categories(connection, category) if category else []
    only = f"AND category IN ({', '.join('?' * len(wanted))})" if wanted else ""
    rows = [row for (row,) in connection.execute(f"SELECT id FROM product WHERE active {only} ORDER BY sku", wanted)]
    if in_stock:
        stocked = _stocked(connection, rows)
        rows = [row for row in rows if row in stocked]
    products = load(connection, rows[offset : offset + limit])
    hits = tuple(Hit(products[row], "name", 1.0) for row in rows[offset : offset + limit])
    return Found(hits, len(rows), decided=len(rows) == 1)


def _candidates(connection: sqlite3.Connection, text: str, category: str | None, in_stock: bool) -> list[Candidate]:
    """What the index proposes, as far as the category and the stock allow."""
    proposed = [int(ref) for ref in propose(connection, "product", text)]
    marks = ", ".join("?" * len(proposed))
    wanted = categories(connection, category) if category else None
    rows = [
        row
        for row in connection.execute(
            f"SELECT id, name, aliases, specification, active, category FROM product WHERE id IN ({marks})", proposed
        )
        if wanted is None or row[5] in wanted
    ]
    stocked = _stocked(connection, [row[0] for row in rows]) if in_stock else {row[0] for row in rows}
    return [
        Candidate(str(row[0]), (row[1], *json.loads(row[2])), row[3], bool(row[4])) for row in rows if row[0] in stocked
    ]


def categories(connection: sqlite3.Connection, text: str) -> list[str]:
    """Categories of that name, or whose name contains it. Raises ``NotFound`` with those there are."""
    known = [name for (name,) in connection.execute("SELECT DISTINCT category FROM product ORDER BY category")]
    asked = squeezed(text)
    found = [name for name in known if squeezed(name) == asked] or [n for n in known if asked and asked in squeezed(n)]
    if not found:
        raise NotFound(f"There is no category {text.strip()[:40]!r}.", nearest=known)
    return found


def _stocked(connection: sqlite3.Connection, rows: Sequence[int]) -> set[int]:
    return {row for row, (hand, held) in _sums(connection, rows).items() if hand > held}


def _sums(connection: sqlite3.Connection, rows: Sequence[int]) -> dict[int, tuple[int, int]]:
    marks = ", ".join("?" * len(rows))
    hand = dict(
        connection.execute(
            f"SELECT product_id, sum(qty) FROM move WHERE product_id IN ({marks}) GROUP BY product_id", rows
        ).fetchall()
    )
    held = dict(
        connection.execute(
            f"SELECT product_id, sum(qty) FROM reservation WHERE product_id IN ({marks}) GROUP BY product_id", rows
        ).fetchall()
    )
    return {row: (hand.get(row, 0), held.get(row, 0)) for row in rows}


def warehouses(connection: sqlite3.Connection, named: str | None) -> list[Warehouse]:
    """All warehouses, or the one of that code or name. Raises ``NotFound``."""
    known = [Warehouse(*row) for row in connection.execute("SELECT code, name FROM warehouse ORDER BY position")]
    if named is None or not named.strip():
        return known
    asked = squeezed(named)
    found = [w for w in known if asked in (squeezed(w.code), squeezed(w.name))]
    found = found or [w for w in known if asked and (asked in squeezed(w.name) or asked in squeezed(w.code))]
    if len(found) != 1:
        raise NotFound(f"There is no warehouse {named.strip()[:40]!r}.", nearest=[f"{w.code} {w.name}" for w in known])
    return found


def stock(
    connection: sqlite3.Connection, skus: Sequence[str], warehouse: str | None
) -> dict[str, tuple[StockLevel, ...]]:
    """Levels of each SKU in each warehouse."""
    places = warehouses(connection, warehouse)
    rows = rows_of(connection, skus)
    if not rows:
        return {}
    ids = sorted(set(rows.values()))
    marks = ", ".join("?" * len(ids))
    hand = _by_place(connection, f"SELECT product_id, warehouse, sum(qty) FROM move WHERE product_id IN ({marks})", ids)
    held = _by_place(
        connection, f"SELECT product_id, warehouse, sum(qty) FROM reservation WHERE product_id IN ({marks})", ids
    )
    coming: dict[tuple[int, str], list[Arrival]] = {}
    for row, place, number, promised, state, is_open, factor in connection.execute(
        "SELECT l.product_id, d.warehouse, d.number, d.promised, d.state, l.ordered - l.delivered - l.cancelled, "
        "l.factor FROM line l INDEXED BY line_open JOIN document d ON d.id = l.document_id WHERE d.kind = 'purchase' "
        f"AND d.state IN ('quoted', 'confirmed', 'in_progress') AND l.product_id IN ({marks}) "
        "AND l.ordered > l.delivered + l.cancelled ORDER BY d.promised, d.number",
        ids,
    ):
        arrival = Arrival(quantity(is_open) * Decimal(factor), date.fromisoformat(promised), number, state != "quoted")
        coming.setdefault((row, place), []).append(arrival)
    waiting = _waiting(connection, ids)
    return {
        sku: tuple(
            StockLevel(
                sku,
                place,
                quantity(hand.get((row, place.code), 0)),
                quantity(held.get((row, place.code), 0)),
                tuple(coming.get((row, place.code), ())),
                waiting.get((row, place.code), ZERO),
            )
            for place in places
        )
        for sku, row in rows.items()
    }


def _by_place(connection: sqlite3.Connection, select: str, ids: Sequence[int]) -> dict[tuple[int, str], int]:
    rows = connection.execute(f"{select} GROUP BY product_id, warehouse", ids)
    return {(row, place): total for row, place, total in rows}


def _waiting(connection: sqlite3.Connection, ids: Sequence[int]) -> dict[tuple[int, str], Decimal]:
    """Owed on confirmed sales without stock held for it, by product and warehouse, in base units."""
    found: dict[tuple[int, str], Decimal] = {}
    for row, place, is_open, factor, held in connection.execute(
        "SELECT l.product_id, d.warehouse, l.ordered - l.delivered - l.cancelled, l.factor, coalesce(r.qty, 0) "
        "FROM line l INDEXED BY line_open JOIN document d ON d.id = l.document_id "
        "LEFT JOIN reservation r ON r.document_id = l.document_id AND r.line = l.line "
        "WHERE d.kind = 'sale' AND d.state IN ('confirmed', 'in_progress') "
        f"AND l.product_id IN ({', '.join('?' * len(ids))}) AND l.ordered > l.delivered + l.cancelled",
        ids,
    ):
        missing = quantity(is_open) * Decimal(factor) - quantity(held)
        if missing > 0:
            found[row, place] = found.get((row, place), ZERO) + missing
    return found
