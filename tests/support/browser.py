"""A browser for the tests of the page: one that is there, else Debian's package where it may be installed, else the
download of the test tool.

Invariant: without any of them the tests fail with one sentence; none is skipped.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

MISSING = (
    "The page is tested in a real browser, and there is none: install Chromium (Debian and Ubuntu: apt-get install"
    " chromium; elsewhere: python -m playwright install chromium) and run the tests again."
)
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--force-color-profile=srgb",
    "--font-render-hinting=none",
    # Whatever a page asks for elsewhere goes nowhere; that it asked is seen all the same.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)
_NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome", "msedge")
_PLACES = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "C:/Program Files/Google/Chrome/Application/chrome.exe",
    "C:/Program Files (x86)/Microsoft/Edge/Application/msedge.exe",
)
_PACKAGES = ("chromium", "fonts-noto-cjk")


@cache
def browser_path() -> str:
    """The program. Raises ``FileNotFoundError`` with ``MISSING`` when there is none to be had."""
    found = _there()
    if found is None and _may_install_packages():
        _install_packages()
        found = _there()
    if found is None:
        subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], check=False, timeout=600)
        found = _there()
    if found is None:
        raise FileNotFoundError(MISSING)
    return found


def _there() -> str | None:
    return next(filter(None, map(shutil.which, _NAMES)), None) or next(_files(), None)


def _files() -> Iterator[str]:
    yield from (place for place in _PLACES if Path(place).exists())
    folder = os.environ.get("PLAYWRIGHT_BROWSERS_PATH")
    caches = (
        [Path(folder)]
        if folder
        else [Path.home() / ".cache/ms-playwright", Path.home() / "Library/Caches/ms-playwright"]
    )
    for cached in caches:
        for pattern in ("chromium-*/chrome-*/chrome", "chromium-*/chrome-*/*.app/Contents/MacOS/*"):
            yield from (str(path) for path in sorted(cached.glob(pattern), reverse=True))


def _may_install_packages() -> bool:
    return sys.platform == "linux" and hasattr(os, "geteuid") and os.geteuid() == 0 and bool(shutil.which("apt-get"))


def _install_packages() -> None:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    options = ["-qq", "-o", "DPkg::Lock::Timeout=120"]
    for command in (["update"], ["install", "-y", "--no-install-recommends", *_PACKAGES]):
        subprocess.run(["apt-get", *options, *command], env=environment, check=False, timeout=600)
