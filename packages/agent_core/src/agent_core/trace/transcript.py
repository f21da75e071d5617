"""A conversation as a list of small values: what a log and a trace have in common when somebody reads them.

Invariant: the values depend on durable events alone, in the order of the log; a call is one value that fills as its
fate becomes known. So the log and a trace of the same session give the same list.
"""

from __future__ import annotations

from decimal import Decimal

from msgspec import Struct, field

from .. import events as ev
from ..messages import Usage


class Item(Struct, tag_field="kind", omit_defaults=True, kw_only=True):
    """Base of all values. ``seq`` is the event it began with."""

    seq: int


class Opened(Item, tag="session"):
    """The session begins, or branches off ``parent``. Times in Unix seconds."""

    session_id: str
    at: float
    profile: str | None = None
    parent: str | None = None
    parent_seq: int | None = None


class Began(Item, tag="run"):
    """A run begins, or goes on (``resumed``). ``environment``: name of the content that its decisions depend on."""

    run_id: str
    model: str
    by: str
    at: float
    resumed: bool = False
    environment: str = ""


class Said(Item, tag="user"):
    """A person's message, and what was frozen into it (kind, text). ``queued``: it waits for the run to end."""

    author: str
    text: str
    at: float
    context: tuple[tuple[str, str], ...] = ()
    queued: bool = False


class Step(Item, tag="step"):
    """One turn of the model. ``ordinal`` counts the turns of the session; seconds from the sending of the request."""

    ordinal: int
    step: int
    attempts: int = 1
    text: str | None = None
    reasoning: str | None = None
    refusal: str | None = None
    calls: tuple[str, ...] = ()
    finish_reason: str | None = None
    duration: float | None = None
    time_to_first_token: float | None = None
    outcome: str | None = None
    """None: the log breaks off in the middle of the turn."""
    usage: Usage | None = None
    amount: Decimal | None = None
    currency: str | None = None
    failures: tuple[str, ...] = ()
    """What went wrong with earlier attempts."""


class Use(Item, tag="tool"):
    """One tool call and what became of it."""

    call_id: str
    step: int
    index: int
    tool: str
    arguments: str
    started_at: float | None = None
    finished_at: float | None = None
    attempts: int = 0
    ok: bool | None = None
    """None: there is no result yet."""
    content: str | None = None
    error: str | None = None
    """Type of the structured error."""
    duration: float = 0.0
    cached: bool = False
    total: int | None = None
    """Characters of the whole output, where ``content`` is a part of it."""


class Question(Item, tag="approval"):
    """A call that waits for a person, and the answer. ``digest``: of the arguments that were shown; ``deadline`` in
    Unix seconds.
    """

    call_id: str
    tool: str
    tier: str
    arguments: str
    preview: ev.Preview
    digest: str = ""
    target: str | None = None
    why: str = "tier"
    offer: ev.Offer | None = None
    deadline: float | None = None
    decision: str | None = None
    by: str | None = None
    reason: str | None = None
    edited: str | None = None
    """The arguments that the person wants instead; they are asked again."""
    grant_id: str | None = None


class Remark(Item, tag="remark"):
    """Anything else that bears on the conversation: a guard, a compaction, an interruption, a rollback, a grant."""

    about: str
    facts: dict[str, str] = field(default_factory=dict)


class Ended(Item, tag="end"):
    """The run is over, or waits."""

    run_id: str
    reason: str
    steps: int
    at: float
    message: str | None = None
    usage: Usage | None = None
    amount: Decimal | None = None
    currency: str | None = None


AnyItem = Opened | Began | Said | Step | Use | Question | Remark | Ended
