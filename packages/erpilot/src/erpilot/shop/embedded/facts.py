"""Values of changes as text, and requests as digests.

Invariant: what is written reads back as the same value of the same type; equal requests have equal digests, whatever
the form of their numbers (5, 5.0).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from ..values import Money, Quantity
from ..verbs.outcome import Fact


def fact_text(fact: Fact) -> str | None:
    """A fact with its kind in front."""
    match fact:
        case None:
            return None
        case Money():
            return f"m:{fact.amount} {fact.currency}"
        case Quantity():
            return f"q:{fact.value.normalize():f} {fact.unit}"
        case Decimal():
            return f"n:{fact.normalize():f}"
        case date():
            return f"d:{fact.isoformat()}"
        case int():
            return f"i:{fact}"
        case str():
            return f"s:{fact}"


def fact(text: str | None) -> Fact:
    """The inverse of ``fact_text``."""
    if text is None:
        return None
    kind, _, rest = text.partition(":")
    match kind:
        case "m":
            amount, _, currency = rest.partition(" ")
            return Money(Decimal(amount), currency)
        case "q":
            value, _, unit = rest.partition(" ")
            return Quantity(Decimal(value), unit)
        case "n":
            return Decimal(rest)
        case "d":
            return date.fromisoformat(rest)
        case "i":
            return int(rest)
    return rest


def digest(*request: object) -> str:
    """What a request says, as a hash."""
    return hashlib.sha256(json.dumps(_plain(request), ensure_ascii=False, sort_keys=True).encode()).hexdigest()


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        return f"{value.normalize():f}"
    if is_dataclass(value) and not isinstance(value, type):
        return [type(value).__name__, *(_plain(getattr(value, field.name)) for field in fields(value))]
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    return value.isoformat() if isinstance(value, date) else value
