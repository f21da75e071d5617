"""Which of the two languages Erpilot speaks to this person.

Invariant: loads nothing heavy, because every start passes here, that of ``--help`` too.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Literal

Lang = Literal["zh", "en"]


def language(arguments: Sequence[str], environment: Mapping[str, str]) -> Lang:
    """``--lang``, else ``$ERPILOT_LANG``, else the settings, else the locale; English where nothing says Chinese."""
    named = _option(arguments) or environment.get("ERPILOT_LANG", "").strip() or _configured(environment)
    return _known(named) or _of_locale(environment)


def _option(arguments: Sequence[str]) -> str:
    for index, argument in enumerate(arguments):
        if argument == "--":
            break
        if argument == "--lang" and index + 1 < len(arguments):
            return arguments[index + 1]
        if argument.startswith("--lang="):
            return argument.removeprefix("--lang=")
    return ""


def _configured(environment: Mapping[str, str]) -> str:
    """The line ``lang = "zh"`` of config.toml, found without a parser; what is wrong with it is said elsewhere."""
    from .home import CONFIG_NAME, home_of

    try:
        with open(home_of(environment) / CONFIG_NAME, encoding="utf-8", errors="replace") as file:
            found = re.search(r"""^\s*lang\s*=\s*["'](\w+)""", file.read(100_000), re.MULTILINE)
    except OSError:
        return ""
    return found[1] if found else ""


def _of_locale(environment: Mapping[str, str]) -> Lang:
    for variable in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if value := environment.get(variable):
            return _known(value) or "en"
    if sys.platform == "win32" or os.name == "nt":
        return _of_windows()
    return "en"


def _of_windows() -> Lang:
    import ctypes

    windll = getattr(ctypes, "windll", None)
    primary = windll.kernel32.GetUserDefaultUILanguage() & 0x3FF if windll is not None else 0
    return "zh" if primary == 0x04 else "en"


def _known(name: str) -> Lang | None:
    short = name.lower()[:2]
    return "zh" if short == "zh" else "en" if short == "en" else None
