"""Reading customers and suppliers from the file.

Invariant: an id decides; a name never reaches over from customers to suppliers or back.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from typing import Any, Literal

from ..backend import Found, Hit
from ..documents import Customer
from ..errors import NotFound
from ..matching import Candidate, decided, fold, rank
from ..values import Money
from .search import propose

Role = Literal["customer", "supplier"]
_COLUMNS = "id, name, short_names, price_list, currency, terms, credit_limit, contact, city, version"


def _customer(row: Sequence[Any]) -> Customer:
    return Customer(
        id=row[0],
        name=row[1],
        short_names=tuple(json.loads(row[2])),
        price_list=row[3],
        currency=row[4],
        terms=row[5],
        credit_limit=Money.from_minor(row[6], row[4]) if row[6] is not None else None,
        contact=row[7],
        city=row[8],
        version=str(row[9]),
    )


def get(connection: sqlite3.Connection, party_id: str, role: Role) -> Customer:
    """The party with that id. Raises ``NotFound``."""
    row = connection.execute(f"SELECT {_COLUMNS} FROM party WHERE id = ? AND role = ?", (party_id, role)).fetchone()
    if not row:
        raise NotFound(f"There is no {role} {party_id[:40]}.")
    return _customer(row)


def find(connection: sqlite3.Connection, role: Role, text: str, limit: int, offset: int) -> Found[Customer]:
    """Parties that ``text`` can mean; without a text all of them, by id."""
    code = fold(text).replace(" ", "")
    row = connection.execute(f"SELECT {_COLUMNS} FROM party WHERE id = ? AND role = ?", (code, role)).fetchone()
    if row:
        return Found((Hit(_customer(row), "code", 1.0),) if offset == 0 else (), 1, decided=True)
    if not code:
        (count,) = connection.execute("SELECT count(*) FROM party WHERE role = ?", (role,)).fetchone()
        rows = connection.execute(
            f"SELECT {_COLUMNS} FROM party WHERE role = ? ORDER BY id LIMIT ? OFFSET ?", (role, limit, offset)
        )
        return Found(tuple(Hit(_customer(each), "name", 1.0) for each in rows), count, decided=False)
    ids = propose(connection, role, text)
    marks = ", ".join("?" * len(ids))
    found = {r[0]: _customer(r) for r in connection.execute(f"SELECT {_COLUMNS} FROM party WHERE id IN ({marks})", ids)}
    ranked = rank(text, [Candidate(each.id, (each.name, *each.short_names)) for each in found.values()])
    shown = [each for each in ranked if each.coverage >= 0.5 * ranked[0].coverage]
    hits = tuple(
        Hit(found[each.key], "name" if each.whole else "fuzzy", each.score) for each in shown[offset : offset + limit]
    )
    return Found(hits, len(shown), decided(shown))
