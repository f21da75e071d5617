"""Who changed what: the entries of the writes, newest first.

Invariant: entries are read as they were written; nobody changes them.
"""

from __future__ import annotations

import sqlite3
from datetime import datetime, timedelta
from typing import Any

from ..verbs.control import HistoryEntry, HistoryFilter, HistoryPage
from .effects import changes_of


def page(connection: sqlite3.Connection, which: HistoryFilter, limit: int, offset: int) -> HistoryPage:
    """A page of what matches, and how many there are."""
    where, values = _where(which)
    (count,) = connection.execute(f"SELECT count(*) FROM effect e WHERE {where}", values).fetchone()
    rows = connection.execute(
        "SELECT e.id, e.key, e.verb, e.number, e.at, e.by, e.approved_by, e.reason, e.undoable, u.key "
        f"FROM effect e LEFT JOIN effect u ON u.undoes = e.key WHERE {where} ORDER BY e.id DESC LIMIT ? OFFSET ?",
        (*values, limit, offset),
    ).fetchall()
    entries = tuple(
        HistoryEntry(
            at=datetime.fromisoformat(at),
            by=by,
            verb=verb,
            number=number,
            changes=changes_of(connection, row),
            reason=reason,
            approved_by=approved_by,
            key=key,
            undoable=bool(undoable) and undone_by is None,
            undone_by=undone_by,
        )
        for row, key, verb, number, at, by, approved_by, reason, undoable, undone_by in rows
    )
    return HistoryPage(entries, count)


def _where(which: HistoryFilter) -> tuple[str, list[Any]]:
    parts, values = ["1"], []
    if which.subject is not None:
        parts.append(
            "e.id IN (SELECT id FROM effect WHERE number = ? UNION SELECT effect_id FROM change WHERE about = ? "
            "UNION SELECT effect_id FROM link WHERE number = ?)"
        )
        values += [which.subject] * 3
    if which.by is not None:
        parts.append("e.by = ?")
        values.append(which.by)
    if which.verbs:
        parts.append(f"e.verb IN ({', '.join('?' * len(which.verbs))})")
        values += which.verbs
    if which.date_from is not None:
        parts.append("e.at >= ?")
        values.append(which.date_from.isoformat())
    if which.date_to is not None:
        parts.append("e.at < ?")
        values.append((which.date_to + timedelta(1)).isoformat())
    return " AND ".join(parts), values
