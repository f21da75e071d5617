"""Measures this repository's runtime against hand-written loops on the same scripted model server, side by side.

Invariant: figures are compared within one run only. Rounds of all clients take turns, each in a process of its own, and
the best round of each counts, so that other work on the machine disturbs all of them alike. A wrong result of a task is
an error, never a figure.
"""

from __future__ import annotations

import json
import os
import random
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from bench.peers import FOLDER, ROOT, peers_python
from bench.report import Line, mean

BASE = "loop on openai"
"""What the ratios refer to."""


class Client(NamedTuple):
    """A runner and how it is started."""

    name: str
    python: Path
    module: str
    variant: str = ""


class Phase(NamedTuple):
    """One kind of measurement; ``limit`` is the ratio that ours on SQLite has to keep to."""

    name: str
    model: str
    tasks: int
    at_once: int
    target: float


PHASES = (
    Phase("burst", "shop", 500, 1, 0.18),
    Phase("paced", "shop+d5", 40, 10, 0.30),
    Phase("50 steps", "script-50", 5, 1, 0.10),
)
STEP_GROWTH = 1.2
"""How much more the last steps of 50 may cost than the first ones."""
SECONDS = 180
"""After which no further round begins; on a busy machine there are fewer rounds, but at least one."""
HELP = 0.3
"""How much of ``import openai`` the whole of ``erpilot --help`` may take."""


class WrongResult(Exception):
    """A client did not do the task."""


def compare(*, quick: bool) -> tuple[list[Line], list[dict[str, Any]]]:
    """The lines of the report, and every single measurement."""
    clients, raw, began = _clients(), list[dict[str, Any]](), time.monotonic()
    (FOLDER / "work").mkdir(parents=True, exist_ok=True)
    with _server() as base_url:
        for number in range(1 if quick else 3):
            if number and time.monotonic() - began > SECONDS:
                break
            for phase in PHASES:
                for client in random.sample(clients, len(clients)):
                    measured = _measure(client, phase, base_url, quick=quick)
                    raw.append({"phase": phase.name, "client": client.name, "round": number, **measured})
                    print(f"  {phase.name:9} {client.name:24} {measured['cpu_ms']:8.2f} ms CPU a task", file=sys.stderr)
    raw += _starts(clients[0].python, 3 if quick else 10)
    return _lines(raw, clients), raw


def _clients() -> list[Client]:
    ours = Path(sys.executable)
    return [
        Client(BASE, peers_python(), "openai_package"),
        Client("loop on aiohttp+msgspec", ours, "aiohttp_msgspec"),
        Client("ours, SQLite", ours, "agent_core", "sqlite"),
        Client("ours, in memory", ours, "agent_core", "memory"),
    ]


@contextmanager
def _server() -> Iterator[str]:
    command = [sys.executable, "-m", "tests.support.scripted_server"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().strip()
        finally:
            server.terminate()


def _measure(client: Client, phase: Phase, base_url: str, *, quick: bool) -> dict[str, Any]:
    tasks = max(1, phase.tasks // 5) if quick else phase.tasks
    command: list[str | Path] = [client.python, "-m", f"bench.runners.{client.module}", "--variant", client.variant]
    command += ["--base-url", base_url, "--model", phase.model, "--tasks", str(tasks)]
    command += ["--at-once", str(phase.at_once), "--folder", FOLDER / "work"]
    done = subprocess.run(command, cwd=ROOT, env=_environment(), capture_output=True, text=True, timeout=600)
    if done.returncode:
        raise WrongResult(f"{client.name}, {phase.name}: {done.stderr.strip()[-2000:]}")
    measured: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    if measured["problems"]:
        raise WrongResult(f"{client.name}, {phase.name}: {measured['problems'][0]}")
    return measured


def _environment() -> dict[str, str]:
    """Without proxies, and without what would make a client do something else."""
    foreign = ("OPENAI_", "HTTP_", "HTTPS_", "ALL_", "http_", "https_", "all_", "PYTHON")
    return {name: value for name, value in os.environ.items() if not name.startswith(foreign)}


def _starts(peers: Path, rounds: int) -> list[dict[str, Any]]:
    """CPU milliseconds of whole short-lived processes."""
    ours = Path(sys.executable)
    commands: dict[str, list[str | Path]] = {
        "python": [ours, "-c", "pass"],
        "import openai": [peers, "-c", "import openai"],
        "erpilot --help": [ours.with_name("erpilot"), "--help"],
        "import agent_core": [ours, "-c", "import agent_core"],
        "all that a run loads": [ours, "-c", "from agent_core import AgentLoop, SqliteStore, tool; import aiohttp"],
    }
    raw = []
    for number in range(rounds + 1):
        for name, command in commands.items():
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(command, env=_environment(), check=True, stdout=subprocess.DEVNULL)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            if number:  # the first time fills caches
                raw.append({"phase": "start", "client": name, "round": number, "cpu_ms": cpu * 1e3})
    return raw


def _lines(raw: list[dict[str, Any]], clients: Sequence[Client]) -> list[Line]:
    def best(phase: str, client: str) -> float:
        return min(float(each["cpu_ms"]) for each in raw if (each["phase"], each["client"]) == (phase, client))

    lines = []
    for phase in PHASES:
        base = best(phase.name, BASE)
        for client in clients:
            cpu = best(phase.name, client.name)
            target = phase.target if client.variant == "sqlite" else None
            lines.append(Line(f"{phase.name}: {client.name}", f"{cpu:.2f} ms", cpu / base, at_most=target))
    for client in clients:
        rounds = [each["step_ms"] for each in raw if (each["phase"], each["client"]) == ("50 steps", client.name)]
        steps = [min(times) for times in zip(*rounds, strict=True)]
        first, last = mean(steps[:5]), mean(steps[-5:])
        target = STEP_GROWTH if client.variant == "sqlite" else None
        figure = f"{first:.2f} → {last:.2f} ms"
        lines.append(Line(f"a step, first 5 → last 5: {client.name}", figure, last / first, at_most=target))
    base = best("start", "import openai")
    for name in dict.fromkeys(each["client"] for each in raw if each["phase"] == "start"):
        cpu = best("start", name)
        target = HELP if name == "erpilot --help" else None
        lines.append(Line(f"start: {name}", f"{cpu:.0f} ms", cpu / base, at_most=target))
    return lines
