"""Starts ``erpilot`` without importing it anew each time: a process that has loaded everything forks for each command.

What runs is a process of its own, with its own streams, environment, folder and terminal, and dies like one; only the
time that the interpreter takes to load modules is saved. ``python -m tests.support.fork_server SOCKET`` is the server;
``run`` is what tests call.
"""

from __future__ import annotations

import array
import atexit
import contextlib
import importlib
import io
import json
import os
import pkgutil
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


class Running:
    """A command that was started. ``wait`` gives its exit code, negative for a signal, as ``subprocess`` does."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self.pid = int(_line(connection))

    def wait(self, timeout: float) -> int:
        """Raises ``TimeoutError`` and kills the command when it takes longer."""
        self._connection.settimeout(timeout)
        try:
            return int(_line(self._connection))
        except TimeoutError:
            os.kill(self.pid, signal.SIGKILL)
            raise
        finally:
            self._connection.close()


def run(
    arguments: Sequence[str | bytes], environment: Mapping[str, str], streams: Sequence[int], *, cwd: Path | None = None
) -> Running:
    """Starts a command on these three file descriptors; where they are a terminal, it becomes its own."""
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(_server())
    order = {
        "arguments": [os.fsdecode(argument) for argument in arguments],
        "environment": dict(environment),
        "cwd": str(cwd or ROOT),
    }
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", streams))]
    connection.sendmsg([json.dumps(order).encode("utf-8", "surrogatepass") + b"\n"], rights)
    return Running(connection)


_socket: list[str] = []


def _server() -> str:
    """The address of this test run's server, which is started once."""
    if not _socket:
        folder = tempfile.TemporaryDirectory(prefix="erpilot-tests-")
        address = f"{folder.name}/server"
        command = [sys.executable, "-m", "tests.support.fork_server", address]
        server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT)
        assert server.stdout is not None, "it is a pipe"
        assert server.stdout.readline() == b"ready\n", "the server did not start"
        _socket.append(address)

        def end() -> None:
            assert server.stdin is not None, "it is a pipe"
            server.stdin.close()
            server.wait(10)
            folder.cleanup()

        atexit.register(end)
    return _socket[0]


def _line(connection: socket.socket) -> bytes:
    data = b""
    while not data.endswith(b"\n"):
        piece = connection.recv(1)
        assert piece, "the server went away"
        data += piece
    return data


def _serve(address: str) -> None:
    """Serves until standard input ends."""
    _preload()
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(address)
    listening.listen(64)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the processes that wait for commands
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    while True:
        ready, _, _ = select.select([listening, sys.stdin], [], [])
        if sys.stdin in ready:
            return
        connection, _ = listening.accept()
        if os.fork() == 0:
            listening.close()
            os._exit(_attend(connection))
        connection.close()


def _attend(connection: socket.socket) -> int:
    """Starts one command and tells how it ends."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    data, rights, _, _ = connection.recvmsg(1 << 20, socket.CMSG_SPACE(3 * array.array("i").itemsize))
    while not data.endswith(b"\n"):
        data += connection.recv(1 << 20)
    streams = array.array("i")
    streams.frombytes(rights[0][2])
    pid = os.fork()
    if pid == 0:
        connection.close()
        _become(json.loads(data), list(streams))
    for number in streams:
        os.close(number)
    connection.sendall(f"{pid}\n".encode())
    _, status = os.waitpid(pid, 0)
    connection.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())
    return 0


def _become(order: dict[str, Any], streams: list[int]) -> None:
    """Turns this process into the command; never returns."""
    code = 1
    try:
        os.setsid()
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        os.closerange(3, 256)
        if os.isatty(0):
            import fcntl
            import termios

            fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        os.environ.clear()
        os.environ.update(order["environment"])
        time.tzset()
        os.chdir(order["cwd"])
        sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(0, "r", closefd=False)), encoding="utf-8")
        sys.stdout = io.TextIOWrapper(io.BufferedWriter(io.FileIO(1, "w", closefd=False)), encoding="utf-8")
        sys.stderr = io.TextIOWrapper(io.BufferedWriter(io.FileIO(2, "w", closefd=False)), encoding="utf-8")
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD):
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
        from erpilot.cli.main import main

        sys.argv = ["erpilot", *order["arguments"]]
        code = main(order["arguments"])
        for out in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                out.flush()
    finally:
        os._exit(code)


def _preload() -> None:
    """Loads what commands load, without running any of it."""
    import erpilot.cli

    for module in pkgutil.iter_modules(erpilot.cli.__path__, "erpilot.cli."):
        importlib.import_module(module.name)
    for name in ("erpilot.offline", "erpilot.toolsets.shop", "agent_core.model.client", "aiohttp", "prompt_toolkit"):
        importlib.import_module(name)
    for name in ("agent_core.store.export", "agent_core.diff", "agent_core.redecide", "agent_core.trace.jsonl"):
        importlib.import_module(name)


if __name__ == "__main__":
    _serve(sys.argv[1])
