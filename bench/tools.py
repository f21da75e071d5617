"""What tools cost: many sessions with many parallel calls against their CPU time and the longest sleep, memory of idle
sessions, and what the cache of results saves.

Invariant: the tools only sleep, so whatever is not CPU time or the longest chain of sleeps is time that the runtime
wasted; time in which the process could have run but other processes had the cores (Linux tells it) is none of it.
"""

from __future__ import annotations

import asyncio
import gc
import tempfile
import time
import tracemalloc
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from agent_core import AgentLoop, EventStore, LoopConfig, MemoryStore, Message, SqliteStore, Tier, tool
from agent_core.context.tokens import estimate_message
from agent_core.events import ToolCallFinished
from agent_core.model.scripted import ScriptedModel
from bench.peers import FOLDER
from bench.report import Line

SESSIONS, CALLS, NAP = 200, 10, 0.05
WALL, IDLE_KB = 1.2, 100.0
"""Targets: wall time against CPU time and the longest chain of sleeps; kilobytes of an idle session."""


def tools(*, quick: bool) -> tuple[list[Line], list[dict[str, Any]]]:
    """The lines of the report, and every single measurement."""
    (FOLDER / "work").mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=FOLDER / "work") as folder:
        return asyncio.run(_tools(Path(folder), 3 if quick else 7))


async def _tools(folder: Path, rounds: int) -> tuple[list[Line], list[dict[str, Any]]]:
    measured = [await _parallel(MemoryStore(), blocks=False) for _ in range(rounds + 1)][1:]
    best = min(measured, key=Spent.ratio)
    beside = min([await _parallel(MemoryStore(), blocks=True) for _ in range(rounds)], key=Spent.ratio)
    on_disk = [await _parallel(SqliteStore(folder / f"{number}.db"), blocks=False) for number in range(rounds)]
    disk = min(on_disk, key=Spent.ratio)
    idle = await _idle_kilobytes()
    name = f"{SESSIONS} sessions, {CALLS} tools of {NAP * 1000:.0f} ms each"
    lines = [
        Line(name, best.figure(), best.ratio(), at_most=WALL),
        Line("the same beside a tool that blocks its thread", beside.figure(), beside.ratio()),
        Line("the same with the logs on disk", disk.figure(), disk.ratio()),
        Line("memory of an idle session", f"{idle:.1f} kB", idle / IDLE_KB, at_most=1.0),
    ]
    raw: list[dict[str, Any]] = [
        {"phase": name, "rounds": [one._asdict() for one in measured]},
        {"phase": "blocking", **beside._asdict()},
        {"phase": "disk", "rounds": [one._asdict() for one in on_disk]},
        {"phase": "idle", "kb": idle},
    ]
    plain = await _reading(0.0)
    for words, found in (("without", plain), ("with", await _reading(30.0))):
        title = f"10 records read 5 times, 1 write, {words} the cache"
        figure = f"{found.executed} reads executed, {found.hits} from the cache, {found.tokens:,} tokens sent"
        lines.append(Line(title, figure, found.executed / plain.executed))
        raw.append({"phase": title, **found._asdict()})
    return lines, raw


class Spent(NamedTuple):
    """Seconds of one round: by the clock, on a core, and ready to run while others had the cores."""

    wall: float
    cpu: float
    queued: float

    def ratio(self) -> float:
        """The clock's time against the CPU time and the longest chain of sleeps."""
        return (self.wall - self.queued) / (self.cpu + NAP)

    def figure(self) -> str:
        """In words."""
        return f"wall {self.wall:.3f} s ({self.queued:.3f} s of it in the queue for a core), CPU {self.cpu:.3f} s"


def _queued() -> float:
    """Seconds that this thread was ready to run and had no core so far; 0 where the system does not say."""
    try:
        return int(Path("/proc/thread-self/schedstat").read_text().split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0


class Reading(NamedTuple):
    """What a script of reads came to. Tokens are those of all its requests."""

    executed: int
    hits: int
    tokens: int


@tool
async def nap(number: int) -> int:
    """Sleeps."""
    await asyncio.sleep(NAP)
    return number


@tool
def block(seconds: float) -> str:
    """Blocks its thread."""
    time.sleep(seconds)
    return "awake"


async def _parallel(store: EventStore, *, blocks: bool) -> Spent:
    """What all sessions took, each with one message of parallel calls and an answer."""
    turns = [[("nap", {"number": number}) for number in range(CALLS)]] * SESSIONS + ["done"] * SESSIONS
    loop = AgentLoop(model=ScriptedModel(turns), tools=[nap, block], store=store)
    beside = AgentLoop(model=ScriptedModel([("block", {"seconds": 1.0}), "done"]), tools=[block], store=MemoryStore())
    blocking = asyncio.ensure_future(_run(beside)) if blocks else None
    if blocking is not None:
        await asyncio.sleep(0.02)
    gc.collect()
    began, cpu, queued = time.perf_counter(), time.process_time(), _queued()
    await asyncio.gather(*(_run(loop) for _ in range(SESSIONS)))
    measured = Spent(time.perf_counter() - began, time.process_time() - cpu, _queued() - queued)
    if blocking is not None:
        await blocking
    await store.aclose()
    return measured


async def _run(loop: AgentLoop) -> str:
    """The id of a session that ran to its end."""
    session_id = ""
    async for item in loop.run("go"):
        session_id = item.session_id
    return session_id


async def _idle_kilobytes() -> float:
    """Kilobytes that a session takes which has run two calls and waits: its log in memory and its state, loaded."""
    turn: list[Any] = [("nap", {"number": 1}), ("nap", {"number": 2})]
    model = ScriptedModel([turn, "done"] * (SESSIONS + 1))
    loop = AgentLoop(model=model, tools=[nap], store=MemoryStore())
    await _run(loop)  # what is loaded once is no session's
    gc.collect()
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    states = [await loop.state(session_id) for session_id in [await _run(loop) for _ in range(SESSIONS)]]
    model.requests.clear()
    gc.collect()
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return (after - before) / len(states) / 1000


async def _reading(seconds: float) -> Reading:
    """The script that reads ten records five times and writes one of them in the middle, with results kept for
    ``seconds``."""
    executed = 0

    @tool(backend="shop", reads=lambda sku: [sku])
    async def read(sku: str) -> dict[str, Any]:
        """Reads a record."""
        nonlocal executed
        executed += 1
        return {"sku": sku, "on_hand": 7, "papers": f"{sku} " * 100}

    @tool(tier=Tier.WRITE, backend="shop", writes=lambda sku: [sku])
    async def count(sku: str) -> str:
        """Writes a record."""
        return "counted"

    everything: list[Any] = [("read", {"sku": f"SKU-{number}"}) for number in range(10)]
    turns = [everything, everything, [("count", {"sku": "SKU-3"})], everything, everything, everything, "done"]
    model = ScriptedModel(turns)
    config = LoopConfig(cache_seconds=seconds, same_call_runs=9, max_calls=99, auto_approve=("WRITE",))
    loop = AgentLoop(model=model, tools=[read, count], store=MemoryStore(), config=config)
    hits = 0
    async for item in loop.run("go"):
        hits += isinstance(item.event, ToolCallFinished) and item.event.cached
    return Reading(executed, hits, sum(_tokens(request.messages) for request in model.requests))


def _tokens(messages: Sequence[Message]) -> int:
    return sum(map(estimate_message, messages))
