"""Runs ``erpilot`` as a process, as a person would: with a home of its own, and nothing of this machine's settings.

``start`` is what anybody gets who types the command; ``erpilot`` saves loading the modules (see ``fork_server``).
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile

from .fork_server import run

QUESTION = "订单 123 里买了什么？现在还有货吗？报个价"
COMMAND = [sys.executable, "-m", "erpilot"]


@dataclass(frozen=True)
class Ended:
    """How a process ended and what it wrote."""

    code: int
    out: str
    err: str

    @property
    def session(self) -> str:
        """The session that the last lines name."""
        found = re.findall(r"\d{6}-[0-9a-f]{8}", self.err)
        assert found, self.err
        return str(found[-1])


def environment(home: Path, **more: str) -> dict[str, str]:
    """What the process sees: English and offline, unless ``more`` says otherwise."""
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH", "SYSTEMROOT", "TMPDIR") if name in os.environ}
    return {**kept, "HOME": str(home), "ERPILOT_HOME": str(home), "LANG": "C.UTF-8", "PYTHONUTF8": "1", **more}


def erpilot(
    home: Path,
    *arguments: str | bytes,
    stdin: bytes = b"",
    settings: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> Ended:
    """Runs a command to its end; not a terminal on any side."""
    with TemporaryFile() as given, TemporaryFile() as out, TemporaryFile() as err:
        given.write(stdin)
        given.seek(0)
        streams = [file.fileno() for file in (given, out, err)]
        code = run(arguments, environment(home, **(settings or {})), streams, cwd=cwd).wait(240)
        out.seek(0)
        err.seek(0)
        return Ended(code, out.read().decode(), err.read().decode())


def start(home: Path, arguments: Sequence[str], settings: Mapping[str, str] | None = None) -> subprocess.Popen[bytes]:
    """Starts a command and leaves it running."""
    return subprocess.Popen(
        [*COMMAND, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(home, **(settings or {})),
    )
