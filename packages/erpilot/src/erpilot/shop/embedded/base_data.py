"""Customers and products that are new, or change: one by one, or as a whole file.

Invariant: all of an import happens or none of it; what is equal already stays as it is and is not counted; a record
that was added or changed can be found by its names at once.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Any, cast

from ..catalogue import Product, Unit
from ..documents import Customer
from ..errors import Invalid, NeedsConfirmation, NotFound, Refused
from ..pricing import PriceList
from ..values import Money, digits_of
from ..verbs.control import ImportedCustomer, ImportMode
from ..verbs.outcome import FieldChange, Write
from ..verbs.selling import CustomerDraft
from . import document_rows, parties, prices, products, search
from .acting import Acting
from .effects import Made
from .schema import stored
from .series import following

LAST_DAY = date(9999, 12, 31)
CHUNK = 500
PRODUCT_FIELDS = (
    "name",
    "specification",
    "category",
    "tax_rate",
    "list_price",
    "min_order",
    "cost",
    "active",
    "stocked",
    "aliases",
    "units",
)


def create_customer(connection: sqlite3.Connection, acting: Acting, draft: CustomerDraft, write: Write) -> Made:
    """Makes a customer, unless one of nearly that name exists and nobody has said that it is another."""
    _check(document_rows.price_list_of(connection, draft.price_list), draft)
    found = parties.find(connection, "customer", draft.name, 5, 0)
    for hit in found.hits:
        token = f"similar:{hit.record.id}"
        if hit.match in ("code", "name") and hit.score > 0.95 and token not in write.accepted:
            raise NeedsConfirmation(f"There is {hit.record.id} {hit.record.name} already.", token=token)
    number = _insert(connection, [(None, draft)], "customer", prices.lists(connection))[0]
    return Made(number, (FieldChange(number, "name", None, draft.name.strip()),), undoable=True)


def _check(price_list: PriceList, draft: CustomerDraft) -> None:
    if not draft.name.strip():
        raise Invalid("A customer needs a name.")
    if not 0 <= draft.terms <= 365:
        raise Invalid(f"Terms of {draft.terms} days cannot be: 0 to 365 are possible.")
    limit = draft.credit_limit
    if limit is not None and (limit.amount < 0 or limit.currency != price_list.currency):
        raise Invalid(
            f"A credit limit of {limit.amount} {limit.currency} cannot be: {draft.price_list} is in "
            f"{price_list.currency}."
        )


def _insert(
    connection: sqlite3.Connection,
    drafts: Sequence[tuple[str | None, CustomerDraft]],
    role: parties.Role,
    lists: Sequence[PriceList],
) -> list[str]:
    """New parties; their ids."""
    chosen = {each.code: each for each in lists}
    numbers = [id_ or _next_id(connection, role) for id_, _ in drafts]
    rows = list(zip(numbers, (draft for _, draft in drafts), strict=True))
    connection.executemany(
        "INSERT INTO party VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1)",
        (
            (
                number, role, draft.name.strip(), json.dumps(draft.short_names, ensure_ascii=False), draft.price_list,
                chosen[draft.price_list].currency, draft.terms,
                draft.credit_limit.minor if draft.credit_limit else None, draft.contact, draft.city,
            )
            for number, draft in rows
        ),
    )  # fmt: skip
    search.index_many(connection, role, ((number, (draft.name, *draft.short_names)) for number, draft in rows))
    return numbers


def _next_id(connection: sqlite3.Connection, role: parties.Role) -> str:
    letter = "C" if role == "customer" else "S"
    while True:
        _, serial = following(connection, letter, first=1)
        number = f"{letter}{serial:03d}"
        if connection.execute("SELECT 1 FROM party WHERE id = ?", (number,)).fetchone() is None:
            return number


def import_customers(
    connection: sqlite3.Connection,
    acting: Acting,
    customers: Sequence[ImportedCustomer],
    mode: ImportMode,
    role: parties.Role = "customer",
) -> Made:
    """Adds customers (or suppliers), or changes those of the same id."""
    del acting
    lists = {each.code: each for each in prices.lists(connection)}
    ids = [each.id for each in customers if each.id is not None]
    if len({each.casefold() for each in ids}) != len(ids):
        raise Invalid("An id comes twice.")
    known = _roles(connection, ids)
    changes: list[FieldChange] = []
    new: list[tuple[str | None, CustomerDraft]] = []
    for each in customers:
        if each.draft.price_list not in lists:
            raise NotFound(f"There is no price list {each.draft.price_list!r}.", nearest=list(lists))
        _check(lists[each.draft.price_list], each.draft)
        taken = known.get((each.id or "").casefold())
        if taken is None:
            new.append((each.id, each.draft))
            continue
        if taken != role:
            raise Refused(f"{each.id} is a {taken}; nothing was changed.")
        if mode == "add":
            raise Refused(f"There is a {role} {each.id} already; nothing was changed.")
        changes += _change_customer(connection, parties.get(connection, each.id or "", role), each.draft, role)
    numbers = _insert(connection, new, role, list(lists.values()))
    changes += [
        FieldChange(number, "name", None, draft.name.strip()) for number, (_, draft) in zip(numbers, new, strict=True)
    ]
    number, _ = following(connection, "IMP")
    return Made(number, tuple(changes), undoable=True)


def _roles(connection: sqlite3.Connection, ids: Sequence[str]) -> dict[str, str]:
    """The role of each id that exists, by the id in lower case."""
    found: dict[str, str] = {}
    for at in range(0, len(ids), CHUNK):
        some = ids[at : at + CHUNK]
        marks = ", ".join("?" * len(some))
        rows = connection.execute(f"SELECT id, role FROM party WHERE id IN ({marks})", some)
        found.update((number.casefold(), role) for number, role in rows)
    return found


def _change_customer(
    connection: sqlite3.Connection, before: Customer, draft: CustomerDraft, role: parties.Role
) -> list[FieldChange]:
    price_list = document_rows.price_list_of(connection, draft.price_list)
    if price_list.currency != before.currency:
        raise Refused(f"The currency of {before.id} cannot change; nothing was changed.")
    old_limit, new_limit = before.credit_limit, draft.credit_limit
    pairs: list[tuple[str, str | int | Money | None, str | int | Money | None]] = [
        ("name", before.name, draft.name.strip()),
        ("short_names", ";".join(before.short_names), ";".join(draft.short_names)),
        ("price_list", before.price_list, price_list.code),
        ("terms", before.terms, draft.terms),
        ("credit_limit", old_limit, new_limit),
        ("contact", before.contact, draft.contact),
        ("city", before.city, draft.city),
    ]
    changed = [FieldChange(before.id, name, old, new) for name, old, new in pairs if old != new]
    if changed:
        connection.execute(
            "UPDATE party SET name = ?, short_names = ?, price_list = ?, terms = ?, credit_limit = ?, contact = ?, "
            "city = ?, version = version + 1 WHERE id = ?",
            (
                draft.name.strip(),
                json.dumps(draft.short_names, ensure_ascii=False),
                price_list.code,
                draft.terms,
                draft.credit_limit.minor if draft.credit_limit else None,
                draft.contact,
                draft.city,
                before.id,
            ),
        )
        search.forget(connection, role, before.id, (before.name, *before.short_names))
        search.index(connection, role, before.id, (draft.name, *draft.short_names))
    return changed


def import_products(
    connection: sqlite3.Connection, acting: Acting, goods: Sequence[Product], mode: ImportMode, write: Write
) -> Made:
    """Adds products, or changes those of the same SKU."""
    del write
    for product in goods:
        _check_product(product)
    if len({product.sku.casefold() for product in goods}) != len(goods):
        raise Invalid("A SKU comes twice.")
    known = _known(connection, [product.sku for product in goods])
    if mode == "add" and known:
        raise Refused(f"There is a product {min(known)} already; nothing was changed.")
    new = [product for product in goods if product.sku.casefold() not in known]
    changes = _add_products(connection, acting, new)
    for product in goods:
        if before := known.get(product.sku.casefold()):
            changes += _change_product(connection, acting, *before, product)
    number, _ = following(connection, "IMP")
    return Made(number, tuple(changes), undoable=True)


def _check_product(product: Product) -> None:
    if not product.sku.strip() or not product.name.strip() or not product.units:
        raise Invalid(f"The product {product.sku!r} needs a SKU, a name and a unit.")
    digits_of(product.currency)
    names = [unit.name for unit in product.units]
    if len(set(names)) != len(names) or product.base.factor != 1 or any(unit.factor <= 0 for unit in product.units):
        raise Invalid(f"The units of {product.sku} cannot be: {', '.join(names)}.")
    if not product.list_price.is_finite() or product.list_price < 0 or not 0 <= product.tax_rate < 1:
        raise Invalid(f"The price or the tax rate of {product.sku} cannot be.")
    if product.min_order <= 0 or (product.cost is not None and not product.cost >= 0):
        raise Invalid(f"The minimum or the cost of {product.sku} cannot be.")


def _known(connection: sqlite3.Connection, skus: Sequence[str]) -> dict[str, tuple[int, Product]]:
    """Those that exist, by SKU in lower case."""
    found: dict[str, tuple[int, Product]] = {}
    for at in range(0, len(skus), CHUNK):
        some = skus[at : at + CHUNK]
        marks = ", ".join("?" * len(some))
        rows = [row for (row,) in connection.execute(f"SELECT id FROM product WHERE sku IN ({marks})", some)]
        for row, product in products.load(connection, rows).items():
            found[product.sku.casefold()] = (row, product)
    return found


def _add_products(connection: sqlite3.Connection, acting: Acting, goods: Sequence[Product]) -> list[FieldChange]:
    first: int = connection.execute("SELECT coalesce(max(id), 0) + 1 FROM product").fetchone()[0]
    numbered = list(enumerate(goods, first))
    connection.executemany(
        "INSERT INTO product VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?)",
        (
            (
                row, p.sku, p.name, p.specification, p.category, str(p.tax_rate), str(p.list_price), p.currency,
                stored(p.min_order), None if p.cost is None else str(p.cost), p.active,
                json.dumps(p.aliases, ensure_ascii=False), p.stocked,
            )
            for row, p in numbered
        ),
    )  # fmt: skip
    connection.executemany(
        "INSERT INTO unit VALUES (?, ?, ?, ?, ?, ?)",
        (
            (row, at, unit.name, str(unit.factor), unit.barcode, unit.whole)
            for row, p in numbered
            for at, unit in enumerate(p.units)
        ),
    )
    (retail,) = connection.execute("SELECT code FROM price_list ORDER BY position LIMIT 1").fetchone()
    connection.executemany(
        "INSERT INTO price VALUES (?, ?, ?, ?, ?, ?)",
        (
            (row, retail, acting.today.isoformat(), stored(Decimal(1)), str(p.list_price), LAST_DAY.isoformat())
            for row, p in numbered
        ),
    )
    search.index_many(connection, "product", ((str(row), (p.name, p.specification, *p.aliases)) for row, p in numbered))
    return [FieldChange(p.sku, "name", None, p.name) for p in goods]


def _change_product(
    connection: sqlite3.Connection, acting: Acting, row: int, before: Product, after: Product
) -> list[FieldChange]:
    if before.base.name != after.base.name:
        raise Refused(f"The base unit of {before.sku} cannot change: stock is kept in it; nothing was changed.")
    changed = [
        FieldChange(before.sku, name, said_of(before, name), said_of(after, name))
        for name in PRODUCT_FIELDS
        if said_of(before, name) != said_of(after, name)
    ]
    if not changed:
        return []
    connection.execute(
        "UPDATE product SET name = ?, specification = ?, category = ?, tax_rate = ?, list_price = ?, min_order = ?, "
        "cost = ?, active = ?, aliases = ?, stocked = ?, version = version + 1 WHERE id = ?",
        (
            after.name, after.specification, after.category, str(after.tax_rate), str(after.list_price),
            stored(after.min_order), None if after.cost is None else str(after.cost), after.active,
            json.dumps(after.aliases, ensure_ascii=False), after.stocked, row,
        ),
    )  # fmt: skip
    if before.units != after.units:
        connection.execute("DELETE FROM unit WHERE product_id = ?", (row,))
        connection.executemany(
            "INSERT INTO unit VALUES (?, ?, ?, ?, ?, ?)",
            [(row, at, unit.name, str(unit.factor), unit.barcode, unit.whole) for at, unit in enumerate(after.units)],
        )
    if before.list_price != after.list_price:
        _set_retail(connection, acting, row, after)
    search.forget(connection, "product", str(row), (before.name, before.specification, *before.aliases))
    search.index(connection, "product", str(row), (after.name, after.specification, *after.aliases))
    return changed


def _set_retail(connection: sqlite3.Connection, acting: Acting, row: int, product: Product) -> None:
    from .price_changes import set_tier

    (retail,) = connection.execute("SELECT code FROM price_list ORDER BY position LIMIT 1").fetchone()
    set_tier(connection, row, retail, stored(Decimal(1)), product.list_price, acting.today)


def said_of(product: Product, field: str) -> str | Decimal | int | None:
    """A field as it stands in the history."""
    if field == "units":
        return _units(product)
    value = getattr(product, field)
    if field == "aliases":
        return ";".join(value)
    return int(value) if isinstance(value, bool) else cast("str | Decimal | None", value)


def with_fields(product: Product, said: Mapping[str, object]) -> Product:
    """The product with fields as the history has them; the inverse of ``said_of``."""
    values: dict[str, Any] = {name: getattr(product, name) for name in Product.__slots__}
    for field, value in said.items():
        if field == "units":
            values[field] = units_of(str(value))
        elif field == "aliases":
            values[field] = tuple(filter(None, str(value).split(";")))
        else:
            values[field] = bool(value) if field in ("active", "stocked") else value
    return Product(**values)


def _units(product: Product) -> str:
    """All about the units, so that they can be set back."""
    return "; ".join(
        f"{unit.name}={unit.factor.normalize():f}={unit.barcode or ''}={'whole' if unit.whole else 'any'}"
        for unit in product.units
    )


def units_of(written: str) -> tuple[Unit, ...]:
    """The inverse of ``_units``."""
    found = []
    for part in written.split("; "):
        name, factor, barcode, whole = part.rsplit("=", 3)
        found.append(Unit(name, Decimal(factor), barcode or None, whole == "whole"))
    return tuple(found)
