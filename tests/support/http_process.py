"""The HTTP entrance in a process of its own, over a shop that accounts for every effect; it can be killed.

Invariant: everything lies in one folder, so the next process goes on where the last one ended. Writes are allowed in
advance: nothing waits for a person.
"""

from __future__ import annotations

import asyncio
import socket
import time
from pathlib import Path
from typing import Any

from agent_core.config import LoopConfig
from agent_core.loop import AgentLoop
from agent_core.store.sqlite import SqliteStore
from agent_core.testing import ErpDouble, ScriptedModel
from erpilot_api.access import Access
from erpilot_api.app import create_app
from erpilot_api.house import House
from erpilot_api.serving import Server, listen

from . import processes
from .http_api import IN_NO_HURRY, KEY, USERS


def serve(home: Path, port: int, delay: float, pace: float) -> None:
    """Serves until it is told to stop. ``delay``: seconds between two deltas; ``pace``: of each request to the shop."""
    asyncio.run(_serve(home, port, delay, pace))


async def _serve(home: Path, port: int, delay: float, pace: float) -> None:
    erp = ErpDouble(home / "erp.db", pace=pace)
    config = LoopConfig(system_prompt=processes.SYSTEM, cache_seconds=0.0, auto_approve=("WRITE",))
    model = ScriptedModel([processes.next_turn] * 10_000, delay=delay, delta=5)
    loop = AgentLoop(model=model, tools=erp.tools(), store=SqliteStore(home / "log.db"), config=config)
    house = House(loop.store, {"shop": loop}, Access(KEY, USERS))
    with listen("127.0.0.1", port) as listening:
        server = Server(create_app(house, paces=IN_NO_HURRY), house, (home / "started").touch)
        await server.serve(sockets=[listening])
    await loop.aclose()


def free_port() -> int:
    """A port that nobody listens on now; a server that is started again listens on the same one."""
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        return int(made.getsockname()[1])


def start(home: Path, port: int, *, delay: float = 0.0, pace: float = 0.0) -> Any:
    """The process, once it serves."""
    (home / "started").unlink(missing_ok=True)
    process = processes.start(serve, home, port, delay, pace)
    for _ in range(12_000):
        if (home / "started").exists():
            return process
        assert process.is_alive(), "the server ended before it served"
        time.sleep(0.01)
    raise AssertionError("the server did not begin to serve within two minutes")
