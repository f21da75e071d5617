"""What the shop's tools accept: small schemas for small models, generous in form, strict in meaning.

Invariant: nothing is guessed. "3 箱" is a quantity with a unit, "#123" a number; what cannot be read one way only is
refused.
"""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

Query = Annotated[str, Field(max_length=200), WithJsonSchema({"type": "string"})]
Text = Annotated[str | None, Field(max_length=200), WithJsonSchema({"type": "string"})]
"""Optional text: null and absence are the same."""
Note = Annotated[str | None, Field(max_length=500), WithJsonSchema({"type": "string"})]
Day = Annotated[date | None, WithJsonSchema({"type": "string", "description": "YYYY-MM-DD"})]
Flag = Annotated[bool | None, WithJsonSchema({"type": "boolean"})]


def _written(value: Any) -> Any:
    """A number as the text it was written as: 20 and "20" are the same quantity."""
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def listed(value: Any) -> Any:
    """One thing where a list is asked for is a list of one."""
    return [value] if isinstance(value, str | int | float | dict) else value


Written = Annotated[str, BeforeValidator(_written), Field(max_length=100), WithJsonSchema({"type": "string"})]
Amount = Annotated[
    str | None,
    BeforeValidator(_written),
    Field(max_length=40),
    WithJsonSchema({"type": "string", "description": "8000.50"}),
]
"""Optional money, in the currency of whom it is about."""
Limit = Annotated[int, Field(ge=1, le=20)]
Days = Annotated[int, Field(ge=1, le=3650)]
Offset = Annotated[int, Field(ge=0, le=100_000)]
Percent = Annotated[
    str,
    BeforeValidator(_written),
    Field(max_length=20),
    WithJsonSchema({"type": "string", "description": "5 = 5 % off = 9.5 折"}),
]
Quantities = Annotated[
    list[Written] | None,
    BeforeValidator(listed),
    WithJsonSchema({"type": "array", "items": {"type": "string"}, "description": 'for each sku: 20 or "3 箱"'}),
]
Names = Annotated[tuple[Written, ...], BeforeValidator(listed), Field(max_length=50)]
Skus = Annotated[list[Written], BeforeValidator(listed), Field(min_length=1, max_length=30)]
State = Literal["draft", "quoted", "confirmed", "in_progress", "done", "cancelled", "open", "partly_delivered"]
"""Those of documents, and two of what is owed: ``open`` (goods are), ``partly_delivered`` (some went out)."""
States = Annotated[
    list[State] | None,
    BeforeValidator(listed),
    WithJsonSchema(
        {
            "type": "array",
            "items": {"type": "string", "enum": list(get_args(State))},
        }
    ),
]
Kind = Annotated[
    Literal["quotation", "sale", "purchase", "return"] | None,
    WithJsonSchema({"type": "string", "enum": ["quotation", "sale", "purchase", "return"]}),
]


class LineAsked(BaseModel):
    """A product and how much of it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    sku: Written
    qty: Annotated[Written, Field(description='20 or "3 箱"')]
    unit: Annotated[Text, Field(description="default: the base unit")] = None


Lines = Annotated[list[LineAsked], BeforeValidator(listed), Field(min_length=1, max_length=30)]
