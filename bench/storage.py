"""What the log costs: appends against bare SQLite with the same durability, reading and folding against bare decoding.

Invariant: both sides of a ratio do their work in short turns, one after the other, on the same disk and the same
events; the better half of the turns counts, since other work on the machine only ever slows a turn down.
"""

from __future__ import annotations

import asyncio
import sqlite3
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec

from agent_core import AgentLoop, LoopConfig, MemoryStore, SqliteStore, tool
from agent_core.events import DurableEvent, RunStarted, ShownEvent, ToolCallFinished
from agent_core.model.scripted import ScriptedModel
from agent_core.session import open_session
from bench import harness
from bench.peers import FOLDER
from bench.report import Line, mean
from tests.support.scripted_server import TEXT

SESSIONS = 50
"""That append at once."""
APPENDS, FOLD = 0.6, 0.2
"""How much of the bare speed is asked for."""
_STEPS = 40
_APPENDED = ToolCallFinished(
    call_id="call_1", index=0, tool="get_order", ok=True, content='{"order_id":"123","sku":"SKU-9"}' + "x" * 150
)


def storage(*, quick: bool) -> tuple[list[Line], list[dict[str, Any]]]:
    """The lines of the report, and every single measurement."""
    (FOLDER / "work").mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=FOLDER / "work") as folder:
        return asyncio.run(_storage(Path(folder), quick=quick))


async def _storage(folder: Path, *, quick: bool) -> tuple[list[Line], list[dict[str, Any]]]:
    turns, seconds = (4, 0.1) if quick else (12, 0.5)
    store, bare = SqliteStore(folder / "appends.db"), _bare(folder / "bare.db")
    single, together = _inserting(bare, 1, seconds), _inserting(bare, SESSIONS, seconds)
    appending = _appending(store, SESSIONS, seconds)
    one = await _rates(_appending(store, 1, seconds), single, turns)
    many = await _rates(appending, single, turns)
    batches = await _rates(appending, together, turns)
    bare.close()
    await store.aclose()
    path = folder / "reads.db"
    count = await _write_log(path, 2_000 if quick else 20_000)
    fold = await _rates(_folding(path, count), _decoding(path, count), 3 if quick else 5)
    lines, raw = [], []
    for name, (ours, theirs), target in (
        ("appends, one session", one, APPENDS),
        (f"appends, {SESSIONS} sessions at once", many, APPENDS),
        (f"the same against {SESSIONS} bare rows a transaction", batches, None),
        (f"reading and folding {count:,} events", fold, FOLD),
    ):
        speed, bare_speed = _better_half(ours), _better_half(theirs)
        figure = f"{speed:,.0f}/s against {bare_speed:,.0f}/s"
        lines.append(Line(name, figure, speed / bare_speed, at_least=target))
        raw.append({"phase": name, "ours": ours, "bare": theirs})
    return lines, raw


async def _rates(
    ours: Callable[[], Awaitable[float]], bare: Callable[[], Awaitable[float]], turns: int
) -> tuple[list[float], list[float]]:
    """Events per second in each turn of either side; a first turn does not count."""
    rates = [(await ours(), await bare()) for _ in range(turns + 1)][1:]
    return [one for one, _ in rates], [other for _, other in rates]


def _better_half(rates: list[float]) -> float:
    return mean(sorted(rates)[len(rates) // 2 :])


def _appending(store: SqliteStore, sessions: int, seconds: float) -> Callable[[], Awaitable[float]]:
    heads = [0] * sessions

    async def append(number: int, until: float) -> int:
        before = heads[number]
        while time.perf_counter() < until:
            await store.append(f"{sessions}-{number}", [_APPENDED], expected_seq=heads[number])
            heads[number] += 1
        return heads[number] - before

    async def turn() -> float:
        began = time.perf_counter()
        counts = await asyncio.gather(*(append(number, began + seconds) for number in range(sessions)))
        return sum(counts) / (time.perf_counter() - began)

    return turn


def _bare(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = FULL")
    db.execute("CREATE TABLE events (place INTEGER PRIMARY KEY, payload BLOB NOT NULL)")
    return db


def _inserting(db: sqlite3.Connection, rows: int, seconds: float) -> Callable[[], Awaitable[float]]:
    payload = msgspec.json.encode(_APPENDED)

    async def turn() -> float:
        count, began = 0, time.perf_counter()
        while time.perf_counter() < began + seconds:
            db.execute("BEGIN IMMEDIATE")
            db.executemany("INSERT INTO events (payload) VALUES (?)", [(payload,)] * rows)
            db.execute("COMMIT")
            count += rows
        return count / (time.perf_counter() - began)

    return turn


async def _write_log(path: Path, wanted: int) -> int:
    """A session of at least so many events: a run with many tool steps, again and again. Returns their number."""
    calls = [[("get_order", {"order_id": str(number)})] for number in range(_STEPS)]
    source = MemoryStore()
    loop = AgentLoop(
        model=ScriptedModel([*calls, TEXT]),
        tools=[tool(harness.get_order)],
        store=source,
        config=LoopConfig(system_prompt=harness.SYSTEM, max_steps=_STEPS + 1, max_calls=_STEPS),
    )
    harness.Task(f"script-{_STEPS}").begin()
    items = [item async for item in loop.run(harness.QUESTION) if item.seq is not None]
    events = [item.event for item in items]
    names = [event.environment for event in events if isinstance(event, RunStarted)]
    environments = await source.contents(items[0].session_id, names)
    store, head = SqliteStore(path), 0
    while head < wanted:
        batch = events[1:] if head else events
        await store.append("log", batch, expected_seq=head, contents=environments)
        head += len(batch)
    await store.aclose()
    return head


def _folding(path: Path, count: int) -> Callable[[], Awaitable[float]]:
    async def turn() -> float:
        store = SqliteStore(path)
        began = time.process_time()
        state = (await open_session(store, "log")).state
        took = time.process_time() - began
        await store.aclose()
        assert state.seq == count, "the whole log was folded"
        return count / took

    return turn


def _decoding(path: Path, count: int) -> Callable[[], Awaitable[float]]:
    decode = msgspec.json.Decoder(DurableEvent | ShownEvent).decode

    async def turn() -> float:
        db = sqlite3.connect(path)
        began = time.process_time()
        decoded = [decode(payload) for (payload,) in db.execute("SELECT payload FROM events ORDER BY place")]
        took = time.process_time() - began
        db.close()
        assert len(decoded) == count, "every row was decoded"
        return count / took

    return turn
