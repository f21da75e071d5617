"""An ERP that accounts for every request and every effect, and misbehaves when told to.

Invariant: ledger, requests and pending faults live in one SQLite file, so they survive the death of any process that
uses them; an effect is committed before anything about it is said.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from ..errors import ToolError
from ..events import Change, Preview
from ..failpoint import failpoint
from ..tools.tool import Tier, Tool, ToolContext, tool

Trouble = Literal["hang", "drop_reply", "error_500", "late", "kept_500"]
"""What the next request meets: no answer for an hour and no effect; the effect but no answer (the connection breaks); a
server error before the effect; the effect after ``late`` seconds, whether somebody still waits or not; a server error
that is kept and given again to every request with the same key."""

_SCHEMA = """
CREATE TABLE IF NOT EXISTS effects (place INTEGER PRIMARY KEY, key TEXT, tool TEXT, arguments TEXT, at REAL);
CREATE TABLE IF NOT EXISTS requests (
    place INTEGER PRIMARY KEY, key TEXT, tool TEXT, arguments TEXT, attempt INTEGER, began REAL, ended REAL
);
CREATE TABLE IF NOT EXISTS troubles (place INTEGER PRIMARY KEY, tool TEXT, kind TEXT);
CREATE TABLE IF NOT EXISTS kept_errors (key TEXT PRIMARY KEY);
"""


class Effect(Struct, frozen=True):
    """Something that was changed. ``at`` in Unix seconds."""

    key: str
    tool: str
    arguments: str
    at: float


class Asked(Struct, frozen=True):
    """A request that arrived, whatever became of it. ``ended`` is None while or when it was never answered."""

    key: str
    tool: str
    arguments: str
    attempt: int
    began: float
    ended: float | None


class ErpDouble:
    """``knows_keys``: a repeated idempotency key gives the first answer and no second effect.

    ``strict_keys``: a known key that comes with other arguments is refused. ``pace``: seconds each request takes.
    ``late``: seconds after which an effect comes that was delayed.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        knows_keys: bool = True,
        strict_keys: bool = True,
        pace: float = 0.0,
        late: float = 0.1,
    ) -> None:
        self.path = Path(path)
        self.knows_keys, self.strict_keys, self.pace, self.late = knows_keys, strict_keys, pace, late
        self._delayed: set[asyncio.Task[int]] = set()
        with self._open() as db:
            db.executescript(_SCHEMA)

    def trouble(self, tool_name: str, *kinds: Trouble) -> None:
        """The next requests to a tool meet these, in order."""
        with self._open() as db:
            db.executemany("INSERT INTO troubles (tool, kind) VALUES (?, ?)", [(tool_name, kind) for kind in kinds])

    def effects(self) -> list[Effect]:
        """The ledger, in order."""
        with self._open() as db:
            return [Effect(*row) for row in db.execute("SELECT key, tool, arguments, at FROM effects ORDER BY place")]

    def requests(self, tool_name: str | None = None) -> list[Asked]:
        """Every request that arrived, in order; of one tool when named."""
        query = "SELECT key, tool, arguments, attempt, began, ended FROM requests WHERE ? IN (tool, '') ORDER BY place"
        with self._open() as db:
            return [Asked(*row) for row in db.execute(query, (tool_name or "",))]

    def tools(self) -> list[Tool]:
        """``read_stock`` and ``read_price`` (READ), ``create_order`` (WRITE), ``delete_order`` (DANGEROUS)."""

        @tool
        async def read_stock(sku: str, ctx: ToolContext) -> dict[str, object]:
            """Pieces on hand of one product."""
            await self._read("read_stock", {"sku": sku}, ctx)
            return {"sku": sku, "on_hand": 7}

        @tool
        async def read_price(sku: str, ctx: ToolContext) -> dict[str, object]:
            """Price of one product."""
            await self._read("read_price", {"sku": sku}, ctx)
            return {"sku": sku, "price": "12.50", "currency": "CNY"}

        async def preview_order(sku: str, quantity: int, ctx: ToolContext) -> Preview:
            return Preview(f"Order {quantity} x {sku}", (Change("quantity", None, str(quantity), sku),))

        @tool(
            tier=Tier.WRITE,
            idempotent=self.knows_keys,
            preview=preview_order,
            target=lambda sku, quantity: f"product:{sku}",
        )
        async def create_order(sku: str, quantity: int, ctx: ToolContext) -> dict[str, object]:
            """Orders a quantity of one product."""
            return {"order": await self._apply("create_order", {"sku": sku, "quantity": quantity}, ctx)}

        @tool(tier=Tier.DANGEROUS, idempotent=self.knows_keys)
        async def delete_order(order: int, ctx: ToolContext) -> dict[str, object]:
            """Deletes an order for good."""
            return {"deleted": order, "entry": await self._apply("delete_order", {"order": order}, ctx)}

        return [read_stock, read_price, create_order, delete_order]

    async def _read(self, name: str, arguments: dict[str, object], ctx: ToolContext) -> None:
        place, trouble = self._arrived(name, _text(arguments), ctx)
        await self._suffer(trouble)
        if trouble == "drop_reply":
            raise ConnectionResetError("the connection broke before the reply")
        self._answered(place)

    async def _apply(self, name: str, arguments: dict[str, object], ctx: ToolContext) -> int:
        """Number of the effect in the ledger."""
        text = _text(arguments)
        place, trouble = self._arrived(name, text, ctx)
        if trouble == "kept_500" or self._keeps_error(ctx.idempotency_key):
            self._keep_error(ctx.idempotency_key)
            raise RuntimeError("the ERP answered 500")
        if trouble == "late":
            return await asyncio.shield(self._later(name, text, ctx.idempotency_key))
        await self._suffer(trouble)
        entry = self._commit(name, text, ctx.idempotency_key)
        failpoint("erp_applied", name)
        if trouble == "drop_reply":
            raise ConnectionResetError("the connection broke before the reply")
        self._answered(place)
        return entry

    def _arrived(self, name: str, arguments: str, ctx: ToolContext) -> tuple[int, str | None]:
        with self._open() as db:
            row = (ctx.idempotency_key, name, arguments, ctx.attempt, time.time())
            insert = "INSERT INTO requests (key, tool, arguments, attempt, began) VALUES (?, ?, ?, ?, ?)"
            place = db.execute(insert, row).lastrowid or 0
            found = db.execute(
                "SELECT place, kind FROM troubles WHERE tool = ? ORDER BY place LIMIT 1", (name,)
            ).fetchone()
            if found is not None:
                db.execute("DELETE FROM troubles WHERE place = ?", (found[0],))
            return place, found and found[1]

    async def _suffer(self, trouble: str | None) -> None:
        await asyncio.sleep(3600.0 if trouble == "hang" else self.pace)
        if trouble == "error_500":
            raise RuntimeError("the ERP answered 500")

    async def settled(self) -> None:
        """Waits for the effects that are delayed in this process."""
        await asyncio.gather(*self._delayed, return_exceptions=True)

    def _later(self, name: str, text: str, key: str) -> asyncio.Task[int]:
        async def work() -> int:
            await asyncio.sleep(self.late)
            return self._commit(name, text, key)

        task = asyncio.create_task(work())
        self._delayed.add(task)
        task.add_done_callback(self._delayed.discard)
        return task

    def _keeps_error(self, key: str) -> bool:
        with self._open() as db:
            return db.execute("SELECT 1 FROM kept_errors WHERE key = ?", (key,)).fetchone() is not None

    def _keep_error(self, key: str) -> None:
        with self._open() as db:
            db.execute("INSERT OR IGNORE INTO kept_errors VALUES (?)", (key,))

    def _commit(self, name: str, arguments: str, key: str) -> int:
        with self._open() as db:
            db.execute("BEGIN IMMEDIATE")
            if self.knows_keys:
                known = db.execute("SELECT place, arguments FROM effects WHERE key = ?", (key,)).fetchone()
                if known is not None and self.strict_keys and known[1] != arguments:
                    raise ToolError("This idempotency key was used with other arguments.", type="validation")
                if known is not None:
                    return int(known[0])
            insert = "INSERT INTO effects (key, tool, arguments, at) VALUES (?, ?, ?, ?)"
            return db.execute(insert, (key, name, arguments, time.time())).lastrowid or 0

    def _answered(self, place: int) -> None:
        with self._open() as db:
            db.execute("UPDATE requests SET ended = ? WHERE place = ?", (time.time(), place))

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self.path, timeout=30.0)) as db, db:
            yield db


def _text(arguments: dict[str, object]) -> str:
    return msgspec.json.encode(arguments, order="sorted").decode()
