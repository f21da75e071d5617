"""The next number of each series: SO-2026-0166, Q-1021, DN-2026-0301.

Invariant: no number is given twice, and none is skipped by a write that did not happen (the counter is part of its
transaction).
"""

from __future__ import annotations

import sqlite3


def following(connection: sqlite3.Connection, series: str, *, first: int = 1, digits: int = 4) -> tuple[str, int]:
    """The next number of ``series`` ("SO-2026", "Q") and its serial."""
    serial: int = connection.execute(
        "INSERT INTO counter VALUES (?, ?) ON CONFLICT (series) DO UPDATE SET last = last + 1 RETURNING last",
        (series, first),
    ).fetchone()[0]
    return f"{series}-{serial:0{digits}d}", serial
