"""Many streams at once over HTTP, against a bare endpoint: CPU of a run, time to the first piece, memory of a stream,
and what readers that do not read cost the others.

Invariant: both servers get the same requests, one after the other in one round, from a client that does nothing but
look for marks in the bytes; each answer is checked to be whole.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import psutil

from bench.compare import WrongResult
from bench.peers import FOLDER, ROOT
from bench.report import Line
from bench.servers import KEY, USER
from erpilot_api.access import Access
from tests.support.scripted_server import PIECES

MODEL = "script-0+d20"
"""200 pieces of text, 20 ms between them."""
AT_ONCE = 300
CPU, STREAM_KB, DISTURBED = 2.0, 300.0, 2.0
"""Targets: CPU of a run against the bare endpoint; kilobytes of a run with its stream; time of a run beside readers
that do not read."""


class Run(NamedTuple):
    """One run as its client saw it: seconds to the first piece, and to the end."""

    first: float
    whole: float


class Load(NamedTuple):
    """Many runs at once. CPU seconds of the server; kilobytes that it grew by at most."""

    runs: list[Run]
    cpu: float
    grown: float

    def cpu_ms(self) -> float:
        """CPU milliseconds of one run."""
        return self.cpu * 1000 / len(self.runs)

    def first_ms(self) -> float:
        """The median time to the first piece."""
        return statistics.median(run.first for run in self.runs) * 1000


class Served:
    """A server that runs as a process."""

    def __init__(self, process: subprocess.Popen[bytes], address: str) -> None:
        self.process, self.address = psutil.Process(process.pid), address
        self.port = int(address.rsplit(":", 1)[1])
        self.token = Access(KEY, [USER]).token(USER.name)[0]

    def cpu(self) -> float:
        """CPU seconds so far."""
        used = self.process.cpu_times()
        return float(used.user + used.system)

    def kilobytes(self) -> float:
        """Resident memory."""
        return float(self.process.memory_info().rss) / 1024

    def request(self, method: str, path: str, body: bytes = b"") -> bytes:
        """The bytes of a request."""
        head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nAuthorization: Bearer {self.token}\r\n"
        about = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n" if body else ""
        return f"{head}{about}\r\n".encode() + body


@contextmanager
def started(*arguments: str) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """A program whose first line is its address; ended on the way out."""
    process = subprocess.Popen([sys.executable, "-m", *arguments], cwd=ROOT, stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None, "it is a pipe"
        address = process.stdout.readline().decode().strip()
        if not address:
            raise WrongResult(f"{arguments[0]} did not start")
        yield process, address
    finally:
        process.terminate()
        process.wait(30)
        if process.stdout is not None:
            process.stdout.close()


async def one_run(served: Served) -> Run:
    """Says something and reads the stream to its end."""
    reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
    began = time.perf_counter()
    writer.write(served.request("POST", "/api/chat/stream", b'{"message":"How many are there?"}'))
    first, pieces, tail = 0.0, 0, b""
    while True:
        data = await reader.read(65536)
        seen = tail + data
        pieces += seen.count(b'"TextDelta"') - tail.count(b'"TextDelta"')
        if pieces and not first:
            first = time.perf_counter() - began
        if b"event: done" in seen:
            break
        if not data:
            raise WrongResult(f"a stream broke off after {pieces} pieces: {seen[-200:]!r}")
        tail = seen[-20:]
    writer.close()
    with contextlib.suppress(ConnectionError):
        await writer.wait_closed()
    if pieces != len(PIECES):
        raise WrongResult(f"{pieces} pieces instead of {len(PIECES)}")
    return Run(first, time.perf_counter() - began)


async def load(served: Served, at_once: int) -> Load:
    """So many runs that begin together."""
    cpu, before, grown = served.cpu(), served.kilobytes(), 0.0
    tasks = [asyncio.create_task(one_run(served)) for _ in range(at_once)]
    while not all(task.done() for task in tasks):
        await asyncio.wait(tasks, timeout=0.25)
        grown = max(grown, served.kilobytes() - before)
    return Load([task.result() for task in tasks], served.cpu() - cpu, grown)


@contextlib.asynccontextmanager
async def stalled(served: Served, session: str, count: int) -> AsyncIterator[None]:
    """Readers of a session that open a stream and never read."""
    loop, sockets = asyncio.get_running_loop(), []
    try:
        for _ in range(count):
            made = socket.socket()
            sockets.append(made)
            made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            made.setblocking(False)
            await loop.sock_connect(made, ("127.0.0.1", served.port))
            await loop.sock_sendall(made, served.request("GET", f"/api/sessions/{session}/events?follow=always"))
        yield
    finally:
        for made in sockets:
            made.close()


async def long_session(served: Served) -> str:
    """A session with so many events that a reader who does not read is stuck at once."""
    reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
    body = b'{"message":"%s"}' % ("多" * 99_000).encode()
    writer.write(served.request("POST", "/api/chat/stream", body))
    seen = b""
    while b'"session_id":"' not in seen:
        seen += await reader.read(65536)
    session = seen.partition(b'"session_id":"')[2].partition(b'"')[0].decode()
    while b"event: done" not in seen:
        seen = seen[-20:] + await reader.read(65536)
    writer.close()
    return session


async def measure(ours: Served, bare: Served, rounds: int) -> tuple[list[Line], list[dict[str, Any]]]:
    """The lines of the report."""
    raw: list[dict[str, Any]] = []

    def noted(phase: str, kind: str, found: Load) -> Load:
        raw.append({"phase": phase, "server": kind, "cpu": found.cpu, "grown_kb": found.grown, "runs": found.runs})
        return found

    for served in (ours, bare):
        await load(served, 5)  # whatever is done once
    calm = [noted("20 at once", kind, await load(served, 20)) for kind, served in (("ours", ours), ("bare", bare))]
    pairs = [
        [noted("300 at once", kind, await load(served, AT_ONCE)) for kind, served in (("ours", ours), ("bare", bare))]
        for _ in range(rounds)
    ]
    mine, theirs = (min((pair[side] for pair in pairs), key=Load.cpu_ms) for side in (0, 1))
    before = ours.kilobytes()
    session = await long_session(ours)
    alone = await load(ours, 20)
    async with stalled(ours, session, AT_ONCE):
        await asyncio.sleep(1.0)
        held = (ours.kilobytes() - before) / AT_ONCE
        beside = await load(ours, 20)
    slowed = [statistics.median(run.whole for run in found.runs) for found in (alone, beside)]
    raw.append({"phase": "stalled", "kb": held, "alone": alone.runs, "beside": beside.runs})
    grown = pairs[0][0].grown / AT_ONCE
    kilobytes = f"{grown:.0f} kB, bare {pairs[0][1].grown / AT_ONCE:.0f} kB"
    title = f"20 runs beside {AT_ONCE} readers that do not read ({held:.0f} kB each)"
    cpu = f"{mine.cpu_ms():.1f} ms CPU a run, bare {theirs.cpu_ms():.1f} ms"
    lines = [
        Line(f"{AT_ONCE} runs at once over HTTP, 20 ms a piece", cpu, mine.cpu_ms() / theirs.cpu_ms(), at_most=CPU),
        Line("first piece, 20 runs at once", _first(calm), calm[0].first_ms() / calm[1].first_ms()),
        Line(f"first piece, {AT_ONCE} runs at once", _first((mine, theirs)), mine.first_ms() / theirs.first_ms()),
        Line("memory of a run with its stream", kilobytes, grown / STREAM_KB, at_most=1.0),
        Line(title, f"{slowed[1]:.2f} s a run, alone {slowed[0]:.2f} s", slowed[1] / slowed[0], at_most=DISTURBED),
    ]
    return lines, raw


def _first(pair: Sequence[Load]) -> str:
    mine, theirs = pair
    return f"{mine.first_ms():.0f} ms, bare {theirs.first_ms():.0f} ms: {mine.first_ms() - theirs.first_ms():+.0f} ms"


def http(*, quick: bool) -> tuple[list[Line], list[dict[str, Any]]]:
    """The lines of the report, and every single measurement."""
    (FOLDER / "work").mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory(dir=FOLDER / "work") as folder,
        started("tests.support.scripted_server") as (_, base_url),
    ):
        about = ("--base-url", base_url, "--model", MODEL, "--folder", folder)
        with started("bench.servers", "ours", *about) as mine, started("bench.servers", "bare", *about) as theirs:
            return asyncio.run(measure(Served(*mine), Served(*theirs), 1 if quick else 2))
