"""One SQLite file used by several threads and processes: connections, transactions, and errors in words.

Invariant: every read sees one moment of the shop (a transaction), every write is one ``BEGIN IMMEDIATE`` transaction
that is on disk when it is acknowledged (WAL, ``synchronous=FULL``) or did not happen.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from decimal import InvalidOperation
from pathlib import Path
from typing import TypeVar

from ..errors import Invalid, ShopError, Unavailable
from .schema import damaged

T = TypeVar("T")
BUSY_SECONDS = 5.0
READERS = 4


class Database:
    """Runs functions of a connection on threads of its own, so that no query holds up the event loop."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._threads = ThreadPoolExecutor(READERS, thread_name_prefix="erpilot-shop")
        self._local = threading.local()
        self._connections: list[sqlite3.Connection] = []
        self._lock = threading.Lock()

    async def read(self, query: Callable[[sqlite3.Connection], T]) -> T:
        """Runs ``query`` on one snapshot of the shop."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._transact, "BEGIN", query)

    async def write(self, change: Callable[[sqlite3.Connection], T]) -> T:
        """Runs ``change`` as one transaction; an exception undoes all of it."""
        running = asyncio.get_running_loop().run_in_executor(self._threads, self._transact, "BEGIN IMMEDIATE", change)
        # A cancelled caller must not make the outcome unknown: the transaction ends before the cancellation goes on.
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            await asyncio.wait([running])
            raise

    def look(self, query: str, values: tuple[str, ...]) -> tuple[str, ...] | None:
        """The first row of a small query, at once, on a connection of its own."""
        try:
            connection = connect(self.path)
            try:
                row: tuple[str, ...] | None = connection.execute(query, values).fetchone()
                return row
            finally:
                connection.close()
        except sqlite3.DatabaseError as error:
            raise explained(error, self.path) from None

    def close(self) -> None:
        """Ends the threads and closes the file."""
        self._threads.shutdown(wait=True)
        with self._lock:
            for connection in self._connections:
                connection.close()
            self._connections.clear()

    def _transact(self, begin: str, work: Callable[[sqlite3.Connection], T]) -> T:
        try:
            connection = self._connection()
            connection.execute(begin)
            try:
                result = work(connection)
                connection.execute("COMMIT")
                return result
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
        except ShopError:
            raise
        except sqlite3.DatabaseError as error:
            raise explained(error, self.path) from error
        except (UnicodeEncodeError, OverflowError, InvalidOperation):
            raise Invalid("A text or a number of this request is nothing that a shop can hold.") from None

    def _connection(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = connect(self.path)
            self._local.connection = connection
            with self._lock:
                self._connections.append(connection)
        return connection


def connect(path: Path) -> sqlite3.Connection:
    """A connection to an existing file, without implicit transactions."""
    connection = sqlite3.connect(
        f"{path.resolve().as_uri()}?mode=rw",
        uri=True,
        timeout=BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,
    )
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA synchronous = FULL")
    return connection


def explained(error: sqlite3.DatabaseError, path: Path) -> ShopError:
    """What SQLite said, as an error of the shop."""
    text = str(error)
    if "locked" in text or "busy" in text:
        return Unavailable("The shop is busy with another write; nothing was changed.", hint="Try again in a moment.")
    if isinstance(error, sqlite3.IntegrityError):
        return Unavailable(f"The shop refused an inconsistent change ({text}); nothing was changed.")
    if "full" in text or "readonly" in text or "unable to open" in text or "disk I/O" in text:
        return Unavailable(f"The shop's file {path} cannot be used: {text}.", hint="Check the disk and its rights.")
    return damaged(str(path))
