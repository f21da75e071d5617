"""Where the server's packages and prepared databases are kept, and the virtual environment that they make.

Invariant: everything lies under the user's cache folder, in a folder named by what it was made from (the lock, the seed
and the shop's data), so another checkout with the same shares it and a changed one never meets an old one. What is
incomplete has no mark and is made again.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import platformdirs

HERE = Path(__file__).parent
LOCK = HERE / "requirements.lock"
SHOP = Path(__file__).parents[3] / "packages/erpilot/src/erpilot/shop"


class SetUpFailed(Exception):
    """The Tryton server of the tests cannot be made; the sentence says what is missing."""


def say(text: str) -> None:
    """Progress, for the person who waits; past the capturing of pytest."""
    print(f"[tryton] {text}", file=sys.__stderr__, flush=True)


def cache() -> Path:
    """The folder of everything that is kept."""
    named = os.environ.get("ERPILOT_TEST_CACHE")
    folder = Path(named) if named else platformdirs.user_cache_path("erpilot-tests", appauthor=False)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@contextlib.contextmanager
def alone(name: str) -> Iterator[None]:
    """One process at a time; the others wait."""
    with (cache() / f"{name}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _digest(*paths: Path) -> str:
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:12]


def venv_folder() -> Path:
    """Of the environment for this lock and this Python."""
    return cache() / f"venv-{sys.version_info[0]}.{sys.version_info[1]}-{_digest(LOCK)}"


def lock_mark() -> str:
    """What an empty database is made from, as a name."""
    return _digest(LOCK)


def seed_mark() -> str:
    """What a prepared database is made from, as a name."""
    made_by = sorted([*HERE.glob("seed*.py"), *(SHOP / "seed").glob("*.py"), *(SHOP / "data").glob("*/*.csv")])
    return f"{_digest(LOCK)}_{_digest(*made_by)}"


def python() -> Path:
    """The interpreter of the environment, which is made first if it has to be. Raises ``SetUpFailed``."""
    folder = venv_folder()
    found = folder / "bin" / "python"
    mark = folder / "complete"
    if mark.exists():
        return found
    with alone("venv"):
        if mark.exists():
            return found
        started = time.monotonic()
        count = LOCK.read_text().count("==")
        say(f"installing a Tryton server ({count} packages, checked by hash) into {folder} ...")
        shutil.rmtree(folder, ignore_errors=True)
        environment = {
            name: value for name, value in os.environ.items() if name not in ("PIP_TARGET", "PIP_PREFIX", "PYTHONPATH")
        }
        environment |= {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_USER": "0", "PIP_NO_INPUT": "1"}
        for command in (
            [sys.executable, "-m", "venv", str(folder)],
            [str(found), "-m", "pip", "install", "-qq", "--no-deps", "--require-hashes", "-r", str(LOCK)],
        ):
            done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
            if done.returncode:
                last = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()[-1]
                raise SetUpFailed(f"The Tryton server for the tests could not be installed into {folder}: {last}")
        mark.touch()
        say(f"installed in {time.monotonic() - started:.0f} s")
    return found


def program(name: str) -> Path:
    """A program of the environment."""
    return python().with_name(name)
