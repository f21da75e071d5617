"""Every write once: its key, what it changed, who and when; written in the transaction of the effect itself.

Invariant: a key stands for one effect. A repeat of the same request gets what the first one did, another request under
the key is a ``Conflict``; an effect without its entry, or an entry without its effect, cannot be.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from ..errors import Conflict, Invalid
from ..values import Money
from ..verbs.outcome import FieldChange, Verb, Write, Written
from . import orders
from .acting import Acting
from .facts import digest, fact, fact_text


@dataclass(frozen=True, slots=True)
class Made:
    """What a write did, before it is entered. ``is_document``: ``number`` is that of an order."""

    number: str
    changes: tuple[FieldChange, ...] = ()
    linked: tuple[str, ...] = ()
    is_document: bool = False
    undoable: bool = False
    reason: str | None = None
    undoes: str | None = None


def once(
    connection: sqlite3.Connection,
    acting: Acting,
    verb: Verb,
    write: Write,
    request: tuple[object, ...],
    work: Callable[[], Made],
) -> Written:
    """Runs ``work`` unless the key has done it already."""
    if not write.key:
        raise Invalid("A write needs a key.")
    asked = digest(verb, *request)
    if known := connection.execute("SELECT digest FROM effect WHERE key = ?", (write.key,)).fetchone():
        if known[0] != asked:
            raise Conflict("This key was already used for another request; nothing was changed.")
        return replace(_by_key(connection, write.key), repeated=True)
    made = work()
    _enter(connection, acting, verb, write, asked, made)
    return Written(
        verb=verb,
        key=write.key,
        number=made.number,
        at=acting.now.replace(microsecond=0),
        by=write.by or acting.user,
        changes=made.changes,
        linked=made.linked,
        document=orders.by_number(connection, made.number) if made.is_document else None,
        undoable=made.undoable,
    )


def by_key(connection: sqlite3.Connection, key: str) -> Written | None:
    """What the write with this key did."""
    if connection.execute("SELECT 1 FROM effect WHERE key = ?", (key,)).fetchone() is None:
        return None
    return replace(_by_key(connection, key), repeated=True)


def _enter(connection: sqlite3.Connection, acting: Acting, verb: Verb, write: Write, asked: str, made: Made) -> None:
    row = connection.execute(
        "INSERT INTO effect (key, verb, digest, number, linked, is_document, undoable, undoes, at, by, approved_by, "
        "reason) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            write.key,
            verb,
            asked,
            made.number,
            json.dumps(made.linked, ensure_ascii=False),
            made.is_document,
            made.undoable,
            made.undoes,
            acting.now.isoformat(timespec="seconds"),
            write.by or acting.user,
            write.approved_by,
            made.reason,
        ),
    ).lastrowid
    connection.executemany("INSERT OR IGNORE INTO link VALUES (?, ?)", [(number, row) for number in made.linked])
    connection.executemany(
        "INSERT INTO change VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            (
                row,
                at,
                each.subject.partition("@")[0],
                each.subject,
                each.field,
                fact_text(each.before),
                fact_text(each.after),
            )
            for at, each in enumerate(made.changes)
        ),
    )


def without_costs(changes: Sequence[FieldChange]) -> tuple[FieldChange, ...]:
    """What is left for those who may not see costs: nothing of a product's cost, no money of a purchase."""
    return tuple(
        each
        for each in changes
        if each.field != "cost"
        and not (each.subject.startswith("PO-") and (isinstance(each.before, Money) or isinstance(each.after, Money)))
    )


def changes_of(connection: sqlite3.Connection, row: int) -> tuple[FieldChange, ...]:
    """The changes of the effect in that row."""
    rows = connection.execute(
        "SELECT subject, field, before, after FROM change WHERE effect_id = ? ORDER BY position", (row,)
    )
    return tuple(FieldChange(subject, field, fact(before), fact(after)) for subject, field, before, after in rows)


def _by_key(connection: sqlite3.Connection, key: str) -> Written:
    row, verb, number, linked, is_document, undoable, at, by = connection.execute(
        "SELECT id, verb, number, linked, is_document, undoable, at, by FROM effect WHERE key = ?", (key,)
    ).fetchone()
    undone = connection.execute("SELECT 1 FROM effect WHERE undoes = ?", (key,)).fetchone()
    return Written(
        verb=verb,
        key=key,
        number=number,
        at=datetime.fromisoformat(at),
        by=by,
        changes=changes_of(connection, row),
        linked=tuple(json.loads(linked)),
        document=orders.by_number(connection, number) if is_document else None,
        undoable=bool(undoable) and undone is None,
    )
