"""The tables of the embedded store, and how they came to be: numbered steps of SQL.

Invariant: a database is brought up to date in order, each step in one transaction with its number, before anything else
is done with it; one that a newer program wrote is refused before a byte of it is changed.

What a step may do: add tables, and add columns that are NULL or have a default. It never renames, removes or
reinterprets what an earlier program reads or writes. So a program that was running while a newer one updated the file
goes on reading and appending; only when it is started again it is refused, and says so. A change that cannot be made
this way needs a new file and an import (see ``export``).
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Sequence
from pathlib import Path

from ..errors import StoreError

STEPS: Sequence[str] = (
    """
    CREATE TABLE sessions (
        number INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        parent TEXT,
        parent_seq INTEGER NOT NULL DEFAULT 0,
        head INTEGER NOT NULL DEFAULT 0,
        head_hash BLOB NOT NULL,
        created_at INTEGER NOT NULL,
        updated_at INTEGER NOT NULL,
        generation INTEGER NOT NULL DEFAULT 0,
        holder TEXT,
        held_until REAL NOT NULL DEFAULT 0
    );
    CREATE TABLE events (
        place INTEGER PRIMARY KEY,
        at INTEGER NOT NULL,
        type TEXT NOT NULL,
        salt BLOB,
        payload BLOB,
        digest BLOB NOT NULL,
        hash BLOB NOT NULL
    );
    CREATE TABLE contents (
        session INTEGER NOT NULL,
        hash TEXT NOT NULL,
        data BLOB NOT NULL,
        PRIMARY KEY (session, hash)
    ) WITHOUT ROWID;
    """,
    """
    CREATE TABLE snapshots (
        place INTEGER PRIMARY KEY,
        schema TEXT NOT NULL,
        data BLOB NOT NULL,
        checksum BLOB NOT NULL
    );
    CREATE TABLE redactions (place INTEGER PRIMARY KEY, checksum BLOB NOT NULL);
    ALTER TABLE sessions ADD COLUMN erased_at INTEGER;
    """,
    """
    CREATE TABLE splices (
        session INTEGER NOT NULL,
        hash TEXT NOT NULL,
        place INTEGER NOT NULL,
        start INTEGER NOT NULL,
        length INTEGER NOT NULL,
        head BLOB NOT NULL,
        tail BLOB NOT NULL,
        PRIMARY KEY (session, hash)
    ) WITHOUT ROWID;
    """,
    """
    CREATE TABLE indexed (session INTEGER PRIMARY KEY, upto INTEGER NOT NULL);
    CREATE VIRTUAL TABLE words
        USING fts5(text, content = '', detail = none, columnsize = 0, tokenize = "ascii tokenchars '.'");
    """,
)
"""Step n brings a database from version n - 1 (``PRAGMA user_version``) to n. Never changed once released."""

SCHEMA_VERSION = len(STEPS)


def open_database(path: Path) -> sqlite3.Connection:
    """A connection to an up-to-date database that appends durably; makes the file and its folder, for their owner
    alone. Raises ``StoreError`` or what SQLite raises.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if not path.exists():
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    db = sqlite3.connect(path, timeout=30.0, isolation_level=None, check_same_thread=False)
    try:
        db.execute("PRAGMA busy_timeout = 30000")
        version = check_version(db, path)
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = FULL")
        if version < SCHEMA_VERSION:
            migrate(db, path)
    except BaseException:
        db.close()
        raise
    return db


def check_version(db: sqlite3.Connection, path: Path, known: int = SCHEMA_VERSION) -> int:
    """The version of a database; raises ``StoreError`` when it is newer than this program."""
    version: int = db.execute("PRAGMA user_version").fetchone()[0]
    if version > known:
        raise StoreError(
            f"{path} was written by a newer version (schema {version}, this one knows {known}). Update first."
        )
    return version


def migrate(db: sqlite3.Connection, path: Path, steps: Sequence[str] = STEPS) -> None:
    """Runs the steps that the database does not have yet, each in a transaction of its own."""
    for number, step in enumerate(steps, 1):
        db.execute("BEGIN IMMEDIATE")
        try:
            if check_version(db, path, len(steps)) < number:  # another process may have been quicker
                for statement in step.split(";"):
                    db.execute(statement)
                db.execute(f"PRAGMA user_version = {number}")
            db.execute("COMMIT")
        except BaseException:
            db.execute("ROLLBACK")
            raise
