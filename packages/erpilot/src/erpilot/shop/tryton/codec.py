"""What Tryton's JSON-RPC says for numbers and days, and back.

Invariant: no number passes through binary floating point on its way in; a quantity goes out as the JSON number that its
decimal text is, an amount as Tryton's tagged decimal. What is not known here is refused, never guessed.
"""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from typing import Any

from ..errors import Invalid


def encode(message: object) -> bytes:
    """A request as JSON. ``Decimal`` becomes a tagged decimal (money); quantities are floats: see ``number``. Raises
    ``Invalid`` for text that is none (a lone surrogate).
    """
    try:
        return json.dumps(message, default=_tagged, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        raise Invalid("The text has a character that cannot be: half of one.", hint="Type it anew.") from None


def decode(body: bytes) -> Any:
    """An answer. JSON numbers with a point (quantities) and tagged decimals both become ``Decimal``. Raises
    ``ValueError`` for what is no JSON.
    """
    return json.loads(body, object_hook=_untagged, parse_float=Decimal)


def number(quantity: Decimal) -> float:
    """A quantity for one of Tryton's float fields: the float whose shortest text is the decimal's."""
    return float(quantity)


def _tagged(value: object) -> object:
    if isinstance(value, Decimal):
        return {"__class__": "Decimal", "decimal": f"{value:f}"}
    if isinstance(value, dt.datetime):  # before date, which it is too
        return {
            "__class__": "datetime",
            "year": value.year,
            "month": value.month,
            "day": value.day,
            "hour": value.hour,
            "minute": value.minute,
            "second": value.second,
            "microsecond": value.microsecond,
        }
    if isinstance(value, dt.date):
        return {"__class__": "date", "year": value.year, "month": value.month, "day": value.day}
    if isinstance(value, dt.timedelta):
        return {"__class__": "timedelta", "seconds": value.total_seconds()}
    if isinstance(value, frozenset | set):
        return sorted(value)
    raise TypeError(f"{type(value).__name__} cannot be sent to Tryton")


def _untagged(fields: dict[str, Any]) -> Any:
    match fields.get("__class__"):
        case "Decimal":
            return Decimal(fields["decimal"])
        case "date":
            return dt.date(fields["year"], fields["month"], fields["day"])
        case "datetime":
            # Tryton's times are in UTC and say no zone.
            return dt.datetime(
                fields["year"],
                fields["month"],
                fields["day"],
                fields["hour"],
                fields["minute"],
                fields["second"],
                fields["microsecond"],
                tzinfo=dt.UTC,
            )
        case "timedelta":
            return dt.timedelta(seconds=float(fields["seconds"]))
        case _:
            return fields
