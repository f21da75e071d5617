"""Measures one client in its own process: runs the scripted task many times, checks every result, prints one JSON line.

Invariant: only the standard library is needed, so that each client can run in an environment that holds nothing but its
own packages. All clients call the same tools, and are told nothing of how they are measured.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import itertools
import json
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, NamedTuple

from tests.support.scripted_server import PIECES, TEXT

SYSTEM = "You are a shop assistant. Use the tools, then answer."
QUESTION = "Where is my order 123, is it in stock and what would 2 more cost?"


class Task:
    """One run of the task. The client says each piece of text as it comes, and returns the whole answer."""

    def __init__(self, model: str) -> None:
        self.model = model
        self.pieces: list[str] = []
        self.tool_runs: list[float] = []
        """CPU seconds of the process when each tool ran."""

    def begin(self) -> None:
        """Makes it the task that the tools belong to from here on, in this context."""
        _task.set(self)

    def say(self, piece: str) -> None:
        """A piece of text that a person would see now."""
        self.pieces.append(piece)

    def problem(self, answer: str) -> str | None:
        """What is wrong with the outcome."""
        runs = 3 if self.model.startswith("shop") else int(self.model.removeprefix("script-").partition("+")[0])
        if answer != TEXT or "".join(self.pieces) != TEXT:
            return f"a wrong answer: {answer[:60]!r}"
        if len(self.pieces) != len(PIECES):
            return f"{len(self.pieces)} pieces of text instead of {len(PIECES)}"
        return None if len(self.tool_runs) == runs else f"{len(self.tool_runs)} tool runs instead of {runs}"


_task: ContextVar[Task] = ContextVar("task")


async def get_order(order_id: str) -> dict[str, Any]:
    """An order with its line."""
    _task.get().tool_runs.append(time.process_time())
    return {"order_id": order_id, "sku": "SKU-9", "qty": 1, "status": "shipped"}


async def check_stock(sku: str) -> dict[str, Any]:
    """Stock on hand of a product."""
    _task.get().tool_runs.append(time.process_time())
    return {"sku": sku, "stock": 17}


async def get_quote(sku: str, qty: int) -> dict[str, Any]:
    """Price of a quantity of a product."""
    _task.get().tool_runs.append(time.process_time())
    return {"sku": sku, "qty": qty, "total": "42.00"}


def _schema(name: str, about: str, **parameters: str) -> dict[str, Any]:
    properties = {key: {"type": kind} for key, kind in parameters.items()}
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return {"type": "function", "function": {"name": name, "description": about, "parameters": schema}}


FUNCTIONS: dict[str, Callable[..., Awaitable[dict[str, Any]]]] = {
    function.__name__: function for function in (get_order, check_stock, get_quote)
}
TOOLS = [
    _schema("get_order", "An order with its line.", order_id="string"),
    _schema("check_stock", "Stock on hand of a product.", sku="string"),
    _schema("get_quote", "Price of a quantity of a product.", sku="string", qty="integer"),
]
"""The tools as a hand-written loop sends them."""

Run = Callable[[Task], Awaitable[str]]
"""Carries one task out; returns the final text."""


class Setting(NamedTuple):
    """Where a client finds its model, and a folder of its own for what it keeps."""

    variant: str
    base_url: str
    model: str
    folder: Path


Client = Callable[[Setting], AbstractAsyncContextManager[Run]]


def main(client: Client) -> None:
    """The program of a runner: one client carries all tasks out."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--variant", default="")
    parser.add_argument("--base-url", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--tasks", type=int, required=True)
    parser.add_argument("--at-once", type=int, default=1)
    parser.add_argument("--folder", required=True, help="where a folder for what the client keeps is made")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        setting = Setting(options.variant, options.base_url, options.model, Path(folder))
        print(json.dumps(asyncio.run(_measured(client, setting, options.tasks, options.at_once))))


async def _measured(client: Client, setting: Setting, tasks: int, at_once: int) -> dict[str, Any]:
    problems: list[str] = []

    async def carry_out(run: Run, numbers: Iterator[int], done: list[Task]) -> None:
        for _ in numbers:
            task = Task(setting.model)
            task.begin()
            if (problem := task.problem(await run(task))) is not None:
                problems.append(problem)
            task.pieces.clear()
            done.append(task)

    async def batch(run: Run, count: int) -> list[Task]:
        numbers, done = iter(range(count)), list[Task]()
        await asyncio.gather(*(carry_out(run, numbers, done) for _ in range(at_once)))
        return done

    async with client(setting) as run:
        await batch(run, max(2, at_once, tasks // 10))  # what is done once only does not count
        gc.collect()
        cpu, wall = time.process_time(), time.perf_counter()
        done = await batch(run, tasks)
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    return {
        "cpu_ms": cpu / tasks * 1e3,
        "wall_ms": wall / tasks * 1e3,
        "step_ms": _steps(done) if at_once == 1 else [],
        "problems": problems[:3],
    }


def _steps(tasks: list[Task]) -> list[float]:
    """CPU milliseconds between each tool run and the next one, the median over the tasks."""
    runs = zip(*(task.tool_runs for task in tasks), strict=False)
    return [
        statistics.median((later - sooner) * 1e3 for sooner, later in zip(one, next_one, strict=True))
        for one, next_one in itertools.pairwise(runs)
    ]
