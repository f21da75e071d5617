"""What the shop's tools answer: the exact JSON that models, planners, tests and other programs read.

Invariant: facts only, named and language-neutral. Money and quantities are decimal numbers as JSON strings
("1234.50", "480"), never floats; a quantity names its unit; an amount stands beside its currency and says whether tax
is in it. Absent means not known or not applicable: a field without a value is left out, lists are always there.
``as_of`` is the time of reading, to the minute, with the shop's offset from UTC; it stands last, so that a repeated
result can be told (see ``agent_core.state.result_digest``).
"""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, PlainSerializer, SerializerFunctionWrapHandler, model_serializer


def plain(value: Decimal) -> str:
    """A decimal without exponent and without trailing zeros: "480", "0.5"."""
    text = format(value, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


Qty = Annotated[Decimal, PlainSerializer(plain, return_type=str)]
Rate = Annotated[Decimal, PlainSerializer(plain, return_type=str)]
Amount = Annotated[Decimal, PlainSerializer(lambda value: format(value, "f"), return_type=str)]
"""Money, with as many digits as its currency has (a unit price may have more)."""

OrderKind = Literal["quotation", "sale", "purchase", "return"]
OrderState = Literal["draft", "quoted", "confirmed", "in_progress", "done", "cancelled"]
Progress = Literal["none", "partial", "full"]
Match = Literal["code", "barcode", "name", "fuzzy"]


class Fact(BaseModel):
    """Base of every result: immutable, silent about what has no value, and with the time of reading at its end."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @model_serializer(mode="wrap")
    def _without_absent(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        told = {key: value for key, value in handler(self).items() if value is not None}
        if "as_of" in told:
            told["as_of"] = told.pop("as_of")
        return told


class UnitFact(Fact):
    """One ``unit`` is ``factor`` base units."""

    unit: str
    factor: Qty


class ProductCandidate(Fact):
    """``match``: code and barcode are exact; name: all of the query is in the name; fuzzy: a part of it. ``score`` 0
    to 1.
    """

    sku: str
    name: str
    specification: str | None = None
    category: str
    base_unit: str
    units: list[UnitFact]
    active: bool
    available: Qty
    """In ``base_unit``, over all warehouses: on hand less reserved."""
    match: Match
    score: float
    scanned_unit: str | None = None
    """The unit whose barcode was given."""


class ProductMatches(Fact):
    """``decided``: the first candidate, alone, is meant. ``next``: the offset of the following page."""

    query: str
    decided: bool
    candidates: list[ProductCandidate]
    total_count: int
    next: int | None = None
    as_of: str


class Arrival(Fact):
    """A purchase on its way. Unconfirmed: the supplier has not promised it. ``days_late``: it should have come."""

    qty: Qty
    date: dt.date
    document: str
    confirmed: bool
    days_late: int | None = None


class StockAt(Fact):
    """One warehouse. ``available`` = ``on_hand`` - ``reserved``; ``incoming`` counts confirmed arrivals only."""

    warehouse: str
    warehouse_name: str
    on_hand: Qty
    reserved: Qty
    available: Qty
    incoming: Qty
    incoming_unconfirmed: Qty | None = None
    arrivals: list[Arrival]
    forecast: Qty | None = None
    """Available plus confirmed arrivals up to ``by_date``."""


class InUnit(Fact):
    """What is available, as whole ``unit`` of ``factor`` base units each, and the ``rest`` in base units."""

    unit: str
    factor: Qty
    available: Qty
    rest: Qty


class StockOfProduct(Fact):
    """One product over the warehouses asked about; every quantity in ``base_unit``, ``in_unit`` apart.

    ``wanted`` and what follows stand there when a quantity was given: ``shortage`` = wanted - available (0 when
    enough); ``complete_on``: the day on which confirmed arrivals cover it, absent when none do; ``enough_by_date``:
    on ``by_date``.
    """

    sku: str
    name: str
    specification: str | None = None
    base_unit: str
    on_hand: Qty
    reserved: Qty
    available: Qty
    incoming: Qty
    incoming_unconfirmed: Qty | None = None
    forecast: Qty | None = None
    in_unit: InUnit | None = None
    wanted: Qty | None = None
    shortage: Qty | None = None
    enough: bool | None = None
    complete_on: dt.date | None = None
    enough_by_date: bool | None = None
    units: list[UnitFact]
    warehouses: list[StockAt]


class NotFound(Fact):
    """What was asked for and does not exist, with the nearest that do."""

    asked: str
    nearest: list[str]


class StockReport(Fact):
    """Products in the order asked."""

    products: list[StockOfProduct]
    not_found: list[NotFound]
    by_date: dt.date | None = None
    as_of: str


class CustomerRef(Fact):
    """Who it is, and the price list that applies."""

    id: str
    name: str
    price_list: str
    currency: str


class Tier(Fact):
    """From this quantity on (in ``unit``), a ``unit`` costs ``unit_price``."""

    from_qty: Qty
    unit: str
    unit_price: Amount


class PricedLine(Fact):
    """A price for exactly this quantity, per ``unit`` as asked. ``rule`` says where it came from: the price list, or
    the tier of it ("批发价 ≥ 100 个"). ``amount`` = qty x unit_price - discount, rounded; ``tax`` is the tax in or on
    it.
    """

    sku: str
    name: str
    specification: str | None = None
    qty: Qty
    unit: str
    base_qty: Qty
    base_unit: str
    unit_price: Amount
    list_price: Amount
    """What a ``unit`` costs without a customer's price list or tier."""
    rule: str
    tier_from: Qty | None = None
    next_tier: Tier | None = None
    min_qty: Qty
    """In ``unit``."""
    below_minimum: bool
    discount_percent: Rate | None = None
    amount: Amount
    tax_rate: Rate
    tax: Amount


class PriceReport(Fact):
    """``subtotal`` (without tax) + ``tax`` = ``total``. Without a customer the retail list applies."""

    customer: CustomerRef | None = None
    price_list: str
    currency: str
    tax_included: bool
    lines: list[PricedLine]
    subtotal: Amount
    tax: Amount
    total: Amount
    valid_until: dt.date
    as_of: str


class CustomerCandidate(Fact):
    """``match`` and ``score`` as for products."""

    id: str
    name: str
    short_names: list[str]
    price_list: str
    currency: str
    city: str | None = None
    match: Match
    score: float


class CustomerMatches(Fact):
    """``decided``: the first candidate, alone, is meant."""

    query: str
    decided: bool
    candidates: list[CustomerCandidate]
    total_count: int
    next: int | None = None
    as_of: str


class QuoteLine(PricedLine):
    """A priced line with its stock, in base units. ``shortage`` = base_qty - available (0 when enough)."""

    available: Qty
    shortage: Qty
    complete_on: dt.date | None = None


class QuotePreview(PriceReport):
    """As a price report, with stock. Saves nothing. ``shortages`` and ``below_minimum`` list the SKUs concerned."""

    lines: list[QuoteLine]  # type: ignore[assignment]
    discount_percent: Rate
    shortages: list[str]
    below_minimum: list[str]
