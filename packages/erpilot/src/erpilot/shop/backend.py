"""What Erpilot asks of an ERP: verbs of the shop, the same for the embedded one and for real servers.

Invariant: no verb sets a state or writes a field; each write carries an idempotency key and the version it was based
on (``Write``), and ``find_by_key`` tells afterwards what became of it. Failures are those of ``errors``: what a backend
cannot do is missing in its capabilities and raises ``Unsupported``, what the person may not do raises ``Denied``.
Only reads and ``find_by_key`` may be repeated blindly.
"""

from __future__ import annotations

from typing import Protocol

from .verbs.buying import Buying
from .verbs.control import Control
from .verbs.money import MoneyDesk
from .verbs.outcome import (
    READS,
    VERBS,
    Capability,
    Fact,
    FieldChange,
    Outcomes,
    Read,
    Verb,
    Whoami,
    Write,
    Written,
)
from .verbs.reading import Account, Found, Hit, LineWanted, Match, OrderFilter, OrderPage, Reading
from .verbs.reporting import Reporting
from .verbs.selling import (
    CustomerDraft,
    DraftChange,
    LineEdit,
    LinePart,
    OrderDraft,
    Parcel,
    QuotationDraft,
    ReturnedPart,
    Selling,
)
from .verbs.stock import Adjustment, TransferLine, Warehousing

__all__ = [
    "READS",
    "VERBS",
    "Account",
    "Adjustment",
    "Capability",
    "CustomerDraft",
    "DraftChange",
    "ErpBackend",
    "Fact",
    "FieldChange",
    "Found",
    "Hit",
    "LineEdit",
    "LinePart",
    "LineWanted",
    "Match",
    "OrderDraft",
    "OrderFilter",
    "OrderPage",
    "Parcel",
    "QuotationDraft",
    "Read",
    "ReturnedPart",
    "TransferLine",
    "Verb",
    "Whoami",
    "Write",
    "Written",
    "offered",
]


class ErpBackend(Reading, Selling, Warehousing, Buying, MoneyDesk, Reporting, Control, Outcomes, Protocol):
    """An ERP as one person sees it. Reads may run at the same time; writes are one transaction each.

    An ERP's class inherits from this one: what it does not override raises ``Unsupported``.
    """


def offered(backend: type[object]) -> frozenset[Capability]:
    """The capabilities of a class: the verbs that it overrides. ``margin`` it adds by itself."""
    names: tuple[Capability, ...] = (*VERBS, *READS)
    return frozenset(name for name in names if getattr(backend, name, None) is not getattr(ErpBackend, name, None))
