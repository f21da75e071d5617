"""A Tryton server with the example shop: made once, copied for each run, started, killed, started again.

Invariant: a prepared database is complete or not there; every run has a copy of its own. The server listens on
127.0.0.1 only and ends with the process that started it. Passwords here are those of a database that is thrown away.
"""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from . import environment, guard, postgres
from .environment import SetUpFailed, say
from .people import password

MODULES = (
    "account_invoice_stock",
    "purchase",
    "sale",
    "sale_credit_limit",
    "sale_discount",
    "sale_price_list",
    "sale_stock_quantity",
)

_SECONDS = 120
Step = Callable[[str], None]


@dataclass
class TrytonServer:
    """A running server: ``url`` and ``database`` are what a client needs, and ``people.password`` for its users."""

    url: str
    database: str
    _config: Path = field(repr=False)
    _process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    @property
    def port(self) -> int:
        """Of 127.0.0.1; stays the same when it is started again."""
        return int(self.url.rpartition(":")[2])

    def start(self) -> None:
        """Starts it and waits until it answers. Raises ``SetUpFailed``."""
        log = self._config.with_name("trytond.log")
        command = [str(environment.program("trytond")), "-c", str(self._config), "-d", self.database]
        self._process = postgres.guarded(signal.SIGTERM, command, log)
        until = time.monotonic() + _SECONDS
        while time.monotonic() < until:
            if self._process.poll() is not None:
                last = (log.read_text(errors="replace").strip() or "no message").splitlines()[-1]
                raise SetUpFailed(f"The Tryton server for the tests stopped: {last}")
            if _answers(self.port):
                return
            time.sleep(0.05)
        self.stop()
        raise SetUpFailed(f"The Tryton server for the tests did not answer within {_SECONDS} seconds.")

    def stop(self) -> None:
        """Ends it; the database stays."""
        if self._process is not None:
            postgres.end(self._process)
            self._process = None

    def kill(self) -> None:
        """Ends it the hard way, in the middle of whatever it does."""
        assert self._process is not None
        assert self._process.stdin is not None
        os.write(self._process.stdin.fileno(), guard.KILL)
        self._process.wait(_SECONDS)
        self.stop()


def _answers(port: int) -> bool:
    """Whether a server there tells its version."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        question = '{"id": 0, "method": "common.server.version", "params": []}'
        connection.request("POST", "/rpc/", question, {"Content-Type": "application/json"})
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


@contextlib.contextmanager
def tryton_server() -> Iterator[TrytonServer]:
    """A server with a fresh copy of the example shop. Raises ``SetUpFailed`` when it cannot be had."""
    named = postgres.named()
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="erpilot-tryton-")))
        if named:
            template = prepare_on(named)
            database = f"erpilot_run_{os.getpid()}_{os.urandom(3).hex()}"
            postgres.sql(named, f"CREATE DATABASE {database} TEMPLATE {template}")
            stack.callback(postgres.sql, named, f"DROP DATABASE {database} WITH (FORCE)")
            uri = named
        else:
            uri, database = stack.enter_context(postgres.cluster(prepare())), "shop"
        server = _server(folder, uri, database, worker=False)
        server.start()
        stack.callback(server.stop)
        yield server


def _server(folder: Path, uri: str, database: str, *, worker: bool) -> TrytonServer:
    """``worker``: leave what is done later to somebody else, so that the seed alone decides what is done when."""
    port = postgres.free_port()
    config = folder / "trytond.conf"
    config.write_text(
        f"[database]\nuri = {uri}/\n[web]\nlisten = 127.0.0.1:{port}\n"
        f"[session]\nauthentications = password\n[queue]\nworker = {worker}\n[bus]\nallow_subscribe = False\n"
    )
    return TrytonServer(f"http://127.0.0.1:{port}", database, config)


def prepare() -> Path:
    """The kept folder of our own PostgreSQL with the example shop in database ``shop``; made first if need be. An empty
    database with the modules is kept too, since making that takes longest and only another lock changes it.
    """
    empty, full = (environment.cache() / f"{name}-{mark}" for name, mark in _marks().items())
    environment.python()
    with environment.alone("shop"):
        if not full.exists():
            if not empty.exists():
                with postgres.cluster(keep=empty) as uri:
                    postgres.sql(uri, "CREATE DATABASE shop")
                    _build(uri, "shop", _activate)
            with postgres.cluster(empty, keep=full) as uri:
                _build(uri, "shop", _fill)
    return full


def prepare_on(uri: str) -> str:
    """As ``prepare``, on a PostgreSQL of somebody else: the name of a template database."""
    empty, full = (f"erpilot_{name}_{mark}" for name, mark in _marks().items())
    building = f"{full}_part"
    environment.python()

    def exists(name: str) -> bool:
        return postgres.sql(uri, f"SELECT 1 FROM pg_database WHERE datname = '{name}'") > 0

    with environment.alone("shop"):
        for name, template, work in ((empty, "template0", _activate), (full, empty, _fill)):
            if not exists(full) and not exists(name):
                postgres.sql(
                    uri,
                    f"DROP DATABASE IF EXISTS {building} WITH (FORCE)",
                    f"CREATE DATABASE {building} TEMPLATE {template} ENCODING 'UTF8'",
                )
                _build(uri, building, work)
                postgres.sql(uri, f"ALTER DATABASE {building} RENAME TO {name}")
    return full


def _marks() -> dict[str, str]:
    return {"empty": environment.lock_mark(), "shop": environment.seed_mark()}


def _build(uri: str, database: str, work: Callable[[TrytonServer, Path, Step], None]) -> None:
    started = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix="erpilot-tryton-"))
    try:
        server = _server(folder, uri, database, worker=True)
        work(server, folder, lambda text: say(f"{time.monotonic() - started:5.0f} s  {text}"))
        postgres.sql(uri, "DELETE FROM ir_queue", "VACUUM ANALYZE", database=database)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _activate(server: TrytonServer, folder: Path, step: Step) -> None:
    say(f"activating {len(MODULES)} modules of Tryton and what they need; this is done once, and takes some minutes")
    secret = folder / "password"
    secret.write_text(password("admin"))
    command = [str(environment.program("trytond-admin")), "-c", str(folder / "trytond.conf"), "-d", server.database]
    command += ["-u", *MODULES, "--activate-dependencies", "--email", "admin@example.com", "--password"]
    settings = {**os.environ, "TRYTONPASSFILE": str(secret)}
    done = subprocess.run(command, env=settings, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr.strip() or "no message").splitlines()[-1]
        raise SetUpFailed(f"The database of the Tryton server could not be made: {last}")
    step("activated")


def _fill(server: TrytonServer, _: Path, step: Step) -> None:
    from .seed import fill

    say("filling it with the example shop; this is done once for each state of the shop's data")
    server.start()
    try:
        # In a thread of its own: whoever asks for the server may have an event loop running.
        with ThreadPoolExecutor(1) as thread:
            thread.submit(asyncio.run, fill(server.url, server.database, step)).result()
    finally:
        server.stop()
    step("ready")
