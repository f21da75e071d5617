"""The tables that come with the product: providers of models, and list prices with their day.

Invariant: plain data from the files beside this module; loads nothing else.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache
from importlib import resources
from typing import Any


@dataclass(frozen=True, slots=True)
class Provider:
    """Where models are to be had. ``local``: on a machine of one's own, without key or price."""

    name: str
    title: str
    base_url: str
    models: tuple[str, ...]
    key_variable: str | None = None
    local: bool = False
    cache_marks: Mapping[str, str] = field(default_factory=dict)
    """Beginnings of the names of models that cache only what is marked, and where the marks go (see ``Profile``)."""


@cache
def providers() -> dict[str, Provider]:
    """The known providers by name."""
    return {
        name: Provider(
            name,
            entry["title"],
            entry["base_url"],
            tuple(entry["models"]),
            entry.get("key_variable"),
            entry.get("local", False),
            entry.get("cache_marks", {}),
        )
        for name, entry in table("providers.toml").items()
    }


def prices_as_of() -> str:
    """The day of the price table."""
    return str(table("prices.toml")["as_of"])


def default_exchange_rate() -> Decimal:
    """CNY per USD, as of the day of the price table."""
    return Decimal(table("prices.toml")["cny_per_usd"])


@cache
def table(name: str) -> dict[str, Any]:
    """A file of this package, as TOML."""
    return tomllib.loads(resources.files(__package__).joinpath(name).read_text(encoding="utf-8"))
