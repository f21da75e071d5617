"""The environment of the measured peers: ``.bench/peers`` in this checkout, made from the hashed lock on demand.

Invariant: nothing outside the checkout is touched, and an environment that was not made to its end is made again.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / ".bench"
_LOCK = ROOT / "bench/requirements-peers.lock"


def peers_python() -> Path:
    """The interpreter of the environment, which is made first if it does not fit the lock. Raises
    ``CalledProcessError``.
    """
    environment = FOLDER / "peers"
    python = environment / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    mark, wanted = environment / "made-from", f"{environment} {sys.version}\n{_LOCK.read_text()}"
    if not mark.is_file() or mark.read_text() != wanted:
        print("Making .bench/peers from bench/requirements-peers.lock ...", file=sys.stderr)
        shutil.rmtree(environment, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", environment], check=True)
        install = ("-m", "pip", "install", "-qq", "--disable-pip-version-check", "--require-hashes", "-r", _LOCK)
        subprocess.run((python, *install), check=True)
        mark.write_text(wanted)
    return python
