"""Makes the file of the embedded shop: whole, or not at all.

Invariant: a file under its final name is complete; it is filled under another name and linked in one step, so an
interrupted or a second, simultaneous seeding leaves nothing half made and overwrites nothing.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
import uuid
from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from pathlib import Path

from ..catalogue import Product
from ..documents import Customer
from ..embedded import schema, search
from ..errors import Unavailable
from ..values import Company
from .entries import entries, warehouse_moves
from .goods import load_goods
from .history import happen
from .ledger import Ledger
from .money import keep_books
from .offers import offers
from .parties import LISTS, load_parties, tiers
from .stocktake import on_hand, opening_moves, reservations
from .store import Store
from .trade import WAREHOUSES, Trade

TODAY = date(2026, 11, 30)
"""The day of the example shop when no other is asked for."""
COMPANY = Company("掌柜示例商贸有限公司")
_ABANDONED_SECONDS = 600


def ensure_shop(path: Path, today: date | None) -> None:
    """Makes the shop at ``path`` if there is none. Raises ``Unavailable`` when the folder cannot be written."""
    if path.exists():
        return
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _clear_abandoned(path)
        try:
            _fill(temporary, today or TODAY)
            _publish(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)
    except (OSError, sqlite3.OperationalError) as error:
        raise Unavailable(
            f"The shop cannot be made in {path.parent}: {error}.", hint="Check the folder and its rights."
        ) from None


def _publish(temporary: Path, path: Path) -> None:
    """Gives the finished file its name, unless another process was first: then that one's is as good."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        return
    except OSError:  # a file system without hard links: renaming is the next best, and refuses to overwrite on Windows
        if not path.exists():
            temporary.replace(path)


def _clear_abandoned(path: Path) -> None:
    """Removes what seedings that were killed long ago left behind."""
    for left in path.parent.glob(f".{path.name}.*.new*"):
        try:
            if time.time() - left.stat().st_mtime > _ABANDONED_SECONDS:
                left.unlink(missing_ok=True)
        except OSError:
            continue


def _fill(path: Path, today: date) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        connection.execute("PRAGMA journal_mode = OFF")
        connection.execute("PRAGMA synchronous = OFF")
        schema.create(connection)
        connection.execute("BEGIN")
        trade = Trade(load_goods(), load_parties(), today)
        happen(trade)
        trade.moves += warehouse_moves()
        _base_data(connection, trade)
        store = Store(connection, trade)
        store.documents()
        moves = [*opening_moves(trade), *trade.moves]
        store.moves(moves)
        store.reservations(reservations(trade))
        books = Ledger(connection, trade, store.rows)
        books.money(keep_books(trade))
        books.offers(offers(trade))
        books.people()
        books.history(entries(trade, on_hand(moves)))
        books.counters()
        connection.execute("COMMIT")
        connection.execute("ANALYZE")
        connection.execute("PRAGMA journal_mode = WAL")
    finally:
        connection.close()
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def _base_data(connection: sqlite3.Connection, trade: Trade) -> None:
    facts = {
        "today": trade.today.isoformat(),
        "company": COMPANY.name,
        "zone": COMPANY.zone,
        "currency": COMPANY.currency,
    }
    connection.executemany("INSERT INTO meta VALUES (?, ?)", facts.items())
    connection.executemany(
        "INSERT INTO warehouse VALUES (?, ?, ?)", [(code, name, at) for at, (code, name) in enumerate(WAREHOUSES)]
    )
    connection.executemany(
        "INSERT INTO price_list VALUES (?, ?, ?, ?, ?, ?, ?)",
        [
            (each.code, each.name, each.currency, each.tax_included, each.taxed, _json(each.aliases), at)
            for at, each in enumerate(LISTS)
        ],
    )
    for at, goods in enumerate(trade.goods):
        _product(connection, at + 1, goods.product)
        for chosen in LISTS:
            connection.executemany(
                "INSERT INTO price VALUES (?, ?, ?, ?, ?, ?)",
                [
                    (
                        at + 1,
                        chosen.code,
                        tier.valid_from.isoformat(),
                        schema.stored(tier.from_qty),
                        str(tier.price),
                        tier.valid_until.isoformat(),
                    )
                    for tier in tiers(goods, chosen.code, at, trade.today)
                ],
            )
    for role, parties in (("customer", trade.parties.customers), ("supplier", trade.parties.suppliers)):
        for party in parties:
            _party(connection, role, party)


def _product(connection: sqlite3.Connection, row: int, product: Product) -> None:
    connection.execute(
        "INSERT INTO product VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?)",
        (
            row,
            product.sku,
            product.name,
            product.specification,
            product.category,
            str(product.tax_rate),
            str(product.list_price),
            product.currency,
            schema.stored(product.min_order),
            _text(product.cost),
            product.active,
            _json(product.aliases),
            product.stocked,
        ),
    )
    connection.executemany(
        "INSERT INTO unit VALUES (?, ?, ?, ?, ?, ?)",
        [(row, at, unit.name, str(unit.factor), unit.barcode, unit.whole) for at, unit in enumerate(product.units)],
    )
    search.index(connection, "product", str(row), (product.name, product.specification, *product.aliases))


def _party(connection: sqlite3.Connection, role: str, party: Customer) -> None:
    connection.execute(
        "INSERT INTO party VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1)",
        (
            party.id,
            role,
            party.name,
            _json(party.short_names),
            party.price_list,
            party.currency,
            party.terms,
            party.credit_limit.minor if party.credit_limit else None,
            party.contact,
            party.city,
        ),
    )
    search.index(connection, role, party.id, (party.name, *party.short_names))


def _json(values: Iterable[str]) -> str:
    return json.dumps(list(values), ensure_ascii=False)


def _text(value: Decimal | None) -> str | None:
    return None if value is None else str(value)
