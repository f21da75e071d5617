"""The index behind fuzzy search: which records share characters or words with a text.

Invariant: the index only proposes; ``matching`` decides on the records themselves. Looking up is by index, never a
walk over all.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from ..matching import grams, query_grams

PROPOSED = 80


def index(connection: sqlite3.Connection, kind: str, ref: str, texts: Iterable[str]) -> None:
    """Makes a record findable by its texts."""
    index_many(connection, kind, [(ref, texts)])


def index_many(connection: sqlite3.Connection, kind: str, records: Iterable[tuple[str, Iterable[str]]]) -> None:
    """Makes many records findable, each by its texts."""
    rows = (
        (kind, gram, ref) for ref, texts in records for gram in sorted({gram for text in texts for gram in grams(text)})
    )
    connection.executemany("INSERT OR IGNORE INTO gram VALUES (?, ?, ?)", rows)


def forget(connection: sqlite3.Connection, kind: str, ref: str, texts: Iterable[str]) -> None:
    """Takes a record out that was indexed with these texts."""
    found = {gram for text in texts for gram in grams(text)}
    connection.executemany("DELETE FROM gram WHERE kind = ? AND gram = ? AND ref = ?", [(kind, g, ref) for g in found])


def propose(connection: sqlite3.Connection, kind: str, text: str) -> list[str]:
    """References of the records that share most with ``text``."""
    asked = sorted(query_grams(text))[:100]
    if not asked:
        return []
    words = [gram for gram in asked if gram.startswith("w:") and len(gram) > 3]
    marks = ", ".join("?" * len(asked))
    prefixes = " ".join("UNION SELECT ref, gram FROM gram WHERE kind = ? AND gram >= ? AND gram < ?" for _ in words)
    values: list[str] = [kind, *asked]
    for word in words:
        values += [kind, word, f"{word}\uffff"]
    rows = connection.execute(
        "SELECT ref, count(*) AS shared FROM "
        f"(SELECT ref, gram FROM gram WHERE kind = ? AND gram IN ({marks}) {prefixes}) "
        f"GROUP BY ref ORDER BY shared DESC, ref LIMIT {PROPOSED}",
        values,
    )
    return [ref for ref, _ in rows]
