"""What models may call, by subject."""

from __future__ import annotations

import tomllib
from importlib import resources


def found_by() -> dict[str, str]:
    """By the name of a tool, further words that a search finds it by."""
    return tomllib.loads(resources.files(__package__).joinpath("found_by.toml").read_text(encoding="utf-8"))
