"""Sessions, and what is said in them."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal

from msgspec import Meta

from agent_core.messages import Usage

from .approvals import Approval, Doubt, Grant
from .base import Answer, Body, ClientId, Text

SessionStatus = Literal["idle", "running", "stopped", "waiting", "completed", "interrupted", "failed"]


class SessionSummary(Answer, frozen=True):
    """A session in a list."""

    session_id: str
    title: str
    """As it was named, else the beginning of the first message."""
    owner: str | None
    profile: str | None
    status: SessionStatus
    created_at: float
    updated_at: float
    head: int
    archived: bool
    approvals: int
    """Questions that wait for a person."""
    uncertain: int
    """Calls whose outcome is not known."""
    steps: int
    usage: Usage
    costs: dict[str, Decimal]
    parent: str | None = None
    parent_seq: int | None = None


class SessionList(Answer, frozen=True):
    """``next``: to be given as ``before`` for the rest; null at the end."""

    sessions: tuple[SessionSummary, ...]
    next: str | None = None


class QueuedMessage(Answer, frozen=True):
    """A message that waits for the run to end."""

    text: str
    author: str
    client_message_id: str | None


class Session(Answer, frozen=True):
    """One session: what a list says, and what is open in it."""

    summary: SessionSummary
    approvals: tuple[Approval, ...]
    uncertain: tuple[Doubt, ...]
    grants: tuple[Grant, ...]
    queue: tuple[QueuedMessage, ...]


class SessionChange(Body, frozen=True):
    """What is not given stays."""

    title: Annotated[str, Meta(min_length=1, max_length=200)] | None = None
    archived: bool | None = None


class Say(Body, frozen=True):
    """A message for a session; a new one without ``session_id``. A repeat of ``client_message_id`` with the same
    message is the same message."""

    message: Text
    session_id: Annotated[str, Meta(min_length=1, max_length=200)] | None = None
    client_message_id: ClientId | None = None
    profile: Annotated[str, Meta(min_length=1, max_length=100)] | None = None


class Queue(Body, frozen=True):
    """A message that is said when the run that is going on has completed."""

    message: Text
    client_message_id: ClientId | None = None


class Accepted(Answer, frozen=True):
    """It was taken; what comes of it stands in the events."""

    session_id: str
    head: int
    running: bool
    changed: bool = True
    """False: there was nothing to do, or it had been done before."""
