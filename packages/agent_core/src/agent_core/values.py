"""The values that stand inside events.

Invariant: frozen, plain, encodable with msgspec; the same rules of change as for events hold for them.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from msgspec import Struct

from .errors import ToolErrorType


class TextPart(Struct, frozen=True, tag_field="kind", tag="text"):
    """Text as it was written."""

    text: str


class FilePart(Struct, frozen=True, tag_field="kind", tag="file"):
    """A file, kept by the hash of its content."""

    name: str
    media_type: str
    content: str
    size: int


Part = TextPart | FilePart


class Frozen(Struct, frozen=True, omit_defaults=True):
    """Something volatile (today's date, a recalled fragment) as it was when the message was sent."""

    kind: str
    text: str
    sources: tuple[int, ...] = ()
    """Events it was taken from."""


class Parent(Struct, frozen=True):
    """Where a forked session branched off: it inherits the parent's events 1 to ``seq``."""

    session_id: str
    seq: int


class Manifest(Struct, frozen=True, omit_defaults=True):
    """Which stored contents a request was made of.

    The messages are those of the request of the ``StepStarted`` at event ``base`` followed by ``added``; without a
    base, ``added`` alone. ``frame`` and ``tools`` are contents too (see ``messages.Wire``), and so is ``form``: how
    values were made bytes (see ``requests.Form``), None for the canonical form.
    """

    added: tuple[str, ...]
    frame: str
    tools: str | None = None
    base: int | None = None
    form: str | None = None


class Cost(Struct, frozen=True):
    """Money, exact."""

    amount: Decimal
    currency: str


class Fault(Struct, frozen=True, omit_defaults=True):
    """Why a call has no result, for whoever can act on it."""

    type: ToolErrorType
    message: str
    hint: str | None = None


class Truncation(Struct, frozen=True):
    """How much of an output the model was given, in characters, and the whole by hash."""

    total: int
    shown: int
    whole: str | None = None


class Artifact(Struct, frozen=True):
    """A file that a call produced, kept by hash."""

    name: str
    media_type: str
    content: str
    size: int


class Change(Struct, frozen=True):
    """One field of one record, before and after, in the words of the shop."""

    field: str
    before: str | None
    after: str | None
    record: str | None = None


class Notice(Struct, frozen=True, omit_defaults=True):
    """Something to know besides, in no language: a screen has words for the codes it knows, with places for
    ``values``.
    """

    code: str
    values: dict[str, str] = {}


class Preview(Struct, frozen=True, omit_defaults=True):
    """What a write would do, for the person who decides. ``title`` and the fields of changes may be codes, for which
    a screen has words in the person's language.
    """

    title: str
    changes: tuple[Change, ...] = ()
    notes: tuple[str, ...] = ()
    asked_by: str | None = None
    """The record whose text led to the call, where known: as the tool says, else the call that read the values."""
    measures: dict[str, Decimal] = {}
    """How much it is about, by name (a total, a quantity): what a standing grant can limit."""
    notices: tuple[Notice, ...] = ()
    raised: bool = False
    """More than such a call usually is: asked every time, as if the tool were DANGEROUS; no grant covers it."""


class Offer(Struct, frozen=True, omit_defaults=True):
    """A standing grant that a person may give with the answer, and what it would cover."""

    sentence: str
    target: str | None = None
    limits: dict[str, Any] = {}
    """``same``: arguments that have to be these; ``max``: the largest value of each measure, as decimal text."""
    seconds: float | None = None


class Figure(Struct, frozen=True, omit_defaults=True):
    """A number of an answer and where it came from."""

    text: str
    call_id: str | None = None
    path: str | None = None
    derivation: str | None = None
