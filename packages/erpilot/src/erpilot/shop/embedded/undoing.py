"""The opposite of what was done, by the shop's own actions.

Invariant: nothing is erased from the ledger or the history; what cannot be taken back (goods that went out, money that
was booked) is refused with what to do instead; what others have built on is a conflict.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from functools import partial

from ..catalogue import Product
from ..documents import Customer
from ..errors import Conflict, NotFound, Refused
from ..rights import Right
from ..values import Money, Quantity
from ..verbs.control import ImportedCustomer, PriceChange
from ..verbs.outcome import FieldChange, Verb, Write
from ..verbs.selling import CustomerDraft
from . import (
    base_data,
    document_rows,
    ledger,
    ordering,
    orders,
    parties,
    past_orders,
    price_changes,
    products,
    quoting,
    search,
)
from .acting import Acting
from .effects import Made, changes_of
from .schema import stored


@dataclass(frozen=True, slots=True)
class _Back:
    """What is taken back: the changes of one write to ``number``; by whom, why, and within which write."""

    connection: sqlite3.Connection
    acting: Acting
    number: str
    changes: Sequence[FieldChange]
    reason: str
    write: Write


Undo = Callable[[_Back], tuple[FieldChange, ...]]

RIGHTS: dict[Verb, tuple[Right, ...]] = {
    "create_quotation": ("sell",),
    "update_draft": ("sell",),
    "confirm_quotation": ("sell",),
    "create_order": ("sell",),
    "cancel_order": ("sell", "buy"),
    "deliver_order": ("stock",),
    "return_order": ("stock",),
    "create_customer": ("sell", "catalogue"),
    "adjust_stock": ("stock",),
    "transfer_stock": ("stock",),
    "create_purchase": ("buy",),
    "record_payment": ("money",),
    "refund": ("money",),
    "set_prices": ("prices",),
    "import_products": ("catalogue",),
    "import_customers": ("catalogue",),
    "import_suppliers": ("catalogue",),
    "import_orders": ("catalogue",),
    "undo": ("sell",),
}
"""What undoing each write needs: one of these, as the write did."""

INSTEAD = {
    "deliver_order": "Take the goods back with a return.",
    "return_order": "Deliver the goods again on a new order.",
    "record_payment": "Pay it back with a refund.",
    "refund": "Record the payment again.",
    "cancel_order": "Make the order again.",
}


def undo(connection: sqlite3.Connection, acting: Acting, key: str, reason: str, write: Write) -> Made:
    """Takes back what the write with that key did."""
    row = connection.execute("SELECT id, verb, number, undoable FROM effect WHERE key = ?", (key,)).fetchone()
    if not row:
        raise NotFound("There is no write with this key.")
    effect, verb, number, undoable = row
    if connection.execute("SELECT 1 FROM effect WHERE undoes = ?", (key,)).fetchone():
        raise Refused(f"{number} ({verb}) is undone already; nothing was changed.")
    how = _OPPOSITES.get(verb)
    if not undoable or how is None:
        raise Refused(f"{verb} ({number}) cannot be undone.", hint=INSTEAD.get(verb))
    later = connection.execute(
        "SELECT verb FROM effect WHERE number = ? AND id > ? AND undoes IS NULL "
        "AND key NOT IN (SELECT undoes FROM effect WHERE undoes IS NOT NULL)",
        (number, effect),
    ).fetchone()
    if later:
        raise Conflict(f"{number} has changed since ({later[0]}); nothing was changed.", hint="Look at it again.")
    changes = how(_Back(connection, acting, number, changes_of(connection, effect), reason, write))
    is_document = verb in ("update_draft", "create_quotation", "create_order", "confirm_quotation", "create_purchase")
    return Made(number, changes, is_document=is_document, reason=reason.strip() or None, undoes=key)


def _cancel(back: _Back) -> tuple[FieldChange, ...]:
    order = orders.by_number(back.connection, back.number)
    based_on = replace(back.write, version=order.head.version)
    done = ordering.cancel(back.connection, back.acting, back.number, back.reason.strip() or "undone", False, based_on)
    if order.head.kind == "sale" and order.source:
        source = orders.by_number(back.connection, order.source)
        if source.head.kind == "quotation" and source.head.state == "done":
            document_rows.refresh(back.connection, orders.row_of(back.connection, order.source), "quoted")
            return (*done.changes, FieldChange(order.source, "state", "done", "quoted"))
    return done.changes


def _draft_back(back: _Back) -> tuple[FieldChange, ...]:
    """The change is the last one of the draft that was not undone, or ``undo`` had refused."""
    (key,) = back.connection.execute(
        "SELECT key FROM effect WHERE number = ? AND verb = 'update_draft' "
        "AND key NOT IN (SELECT undoes FROM effect WHERE undoes IS NOT NULL) ORDER BY id DESC LIMIT 1",
        (back.number,),
    ).fetchone()
    return quoting.change_back(back.connection, back.number, back.changes, key)


def _move_back(back: _Back) -> tuple[FieldChange, ...]:
    """The opposite moves; what the stock has done since stays."""
    found = []
    steps = []
    for change in back.changes:
        assert isinstance(change.before, Quantity), "stock changes are quantities"
        assert isinstance(change.after, Quantity), "stock changes are quantities"
        sku, _, place = change.subject.partition("@")
        steps.append((change.before.value - change.after.value, sku, place, change.before.unit))
    # What comes in first, so that a transfer back is never short of what it brings itself.
    for difference, sku, place, unit in sorted(steps, reverse=True):
        (row,) = products.rows_of(back.connection, [sku]).values()
        before = ledger.on_hand(back.connection, row, place)
        if difference < 0 and -stored(difference) > max(0, before - ledger.reserved(back.connection, row, place)):
            raise Conflict(f"What came to {place} of {sku} is held or gone by now; nothing was changed.")
        ledger.move(back.connection, back.acting, row, place, stored(difference), "undo", back.number)
        ledger.allocate(back.connection, row, place)
        was = Quantity(Decimal(before) / 1000, unit)
        found.append(FieldChange(f"{sku}@{place}", "on_hand", was, Quantity(was.value + difference, unit)))
    return tuple(found)


def _prices_back(back: _Back) -> tuple[FieldChange, ...]:
    again = []
    for change in back.changes:
        sku, price_list, from_qty = change.subject.split("@")
        start = max(date.fromisoformat(change.field.removeprefix("price from ")), back.acting.today)
        assert isinstance(change.after, Decimal), "a price is a number"
        if isinstance(change.before, Decimal):
            again.append(PriceChange(sku, price_list, Decimal(from_qty), change.after, change.before, start))
            continue
        (row,) = products.rows_of(back.connection, [sku]).values()
        back.connection.execute(
            "DELETE FROM price WHERE product_id = ? AND list = ? AND from_qty = ? AND valid_from = ?",
            (row, price_list, stored(Decimal(from_qty)), start.isoformat()),
        )
    if again:
        price_changes.set_all(back.connection, back.acting, again, back.reason, back.write)
    return tuple(FieldChange(each.subject, each.field, each.after, each.before) for each in back.changes)


def _customer_away(back: _Back) -> tuple[FieldChange, ...]:
    _remove_party(back.connection, back.number, "customer")
    return tuple(FieldChange(each.subject, each.field, each.after, None) for each in back.changes)


def _remove_party(connection: sqlite3.Connection, number: str, role: parties.Role) -> None:
    for table in ("document", "invoice", "payment"):
        if connection.execute(f"SELECT 1 FROM {table} WHERE party_id = ? LIMIT 1", (number,)).fetchone():
            raise Conflict(f"{number} is used by now; nothing was changed.")
    if connection.execute("SELECT 1 FROM offer WHERE supplier = ? LIMIT 1", (number,)).fetchone():
        raise Conflict(f"{number} has offers by now; nothing was changed.")
    party = parties.get(connection, number, role)
    search.forget(connection, role, number, (party.name, *party.short_names))
    connection.execute("DELETE FROM party WHERE id = ?", (number,))


def _parties_back(role: parties.Role, back: _Back) -> tuple[FieldChange, ...]:
    restored = []
    for subject, fields in _by_subject(back.changes).items():
        if "name" in fields and fields["name"].before is None:
            _remove_party(back.connection, subject, role)
            continue
        now = parties.get(back.connection, subject, role)
        _still(subject, fields, partial(_customer_field, now))
        restored.append(ImportedCustomer(subject, _customer_before(now, fields)))
    if restored:
        base_data.import_customers(back.connection, back.acting, restored, "add_or_change", role)
    return tuple(FieldChange(each.subject, each.field, each.after, each.before) for each in back.changes)


def _customer_field(customer: Customer, name: str) -> object:
    return ";".join(customer.short_names) if name == "short_names" else getattr(customer, name)


def _customer_before(now: Customer, fields: dict[str, FieldChange]) -> CustomerDraft:
    def was(name: str) -> object:
        return fields[name].before if name in fields else _customer_field(now, name)

    limit, terms = was("credit_limit"), was("terms")
    assert limit is None or isinstance(limit, Money), "as it was written"
    assert isinstance(terms, int), "as they were written"
    contact, city = was("contact"), was("city")
    return CustomerDraft(
        name=str(was("name")),
        price_list=str(was("price_list")),
        short_names=tuple(filter(None, str(was("short_names")).split(";"))),
        terms=terms,
        credit_limit=limit,
        contact=None if contact is None else str(contact),
        city=None if city is None else str(city),
    )


def _orders_back(back: _Back) -> tuple[FieldChange, ...]:
    return past_orders.orders_away(back.connection, back.changes)


def _products_back(back: _Back) -> tuple[FieldChange, ...]:
    restored = []
    for sku, fields in _by_subject(back.changes).items():
        (row,) = products.rows_of(back.connection, [sku]).values()
        now = products.load(back.connection, [row])[row]
        if "name" in fields and fields["name"].before is None:
            _remove_product(back.connection, row, now)
            continue
        _still(sku, fields, partial(base_data.said_of, now))
        restored.append(base_data.with_fields(now, {name: each.before for name, each in fields.items()}))
    if restored:
        base_data.import_products(back.connection, back.acting, restored, "add_or_change", back.write)
    return tuple(FieldChange(each.subject, each.field, each.after, each.before) for each in back.changes)


def _remove_product(connection: sqlite3.Connection, row: int, product: Product) -> None:
    for table in ("line", "move", "offer"):
        if connection.execute(f"SELECT 1 FROM {table} WHERE product_id = ? LIMIT 1", (row,)).fetchone():
            raise Conflict(f"{product.sku} is used by now; nothing was changed.")
    search.forget(connection, "product", str(row), (product.name, product.specification, *product.aliases))
    for table in ("price", "unit"):
        connection.execute(f"DELETE FROM {table} WHERE product_id = ?", (row,))
    connection.execute("DELETE FROM product WHERE id = ?", (row,))


def _by_subject(changes: Sequence[FieldChange]) -> dict[str, dict[str, FieldChange]]:
    found: dict[str, dict[str, FieldChange]] = {}
    for change in changes:
        found.setdefault(change.subject, {})[change.field] = change
    return found


def _still(subject: str, fields: dict[str, FieldChange], now: Callable[[str], object]) -> None:
    for name, change in fields.items():
        if now(name) != change.after:
            raise Conflict(f"{name} of {subject} has changed since; nothing was changed.")


_OPPOSITES: dict[Verb, Undo] = {
    "create_quotation": _cancel,
    "update_draft": _draft_back,
    "create_order": _cancel,
    "confirm_quotation": _cancel,
    "create_purchase": _cancel,
    "adjust_stock": _move_back,
    "transfer_stock": _move_back,
    "set_prices": _prices_back,
    "create_customer": _customer_away,
    "import_customers": partial(_parties_back, "customer"),
    "import_suppliers": partial(_parties_back, "supplier"),
    "import_orders": _orders_back,
    "import_products": _products_back,
}
