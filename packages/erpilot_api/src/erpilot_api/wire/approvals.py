"""Questions that wait for a person, the answers, and what was allowed in advance."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta

from agent_core.events import Offer, Preview

from .base import Answer, Body

Action = Literal["approve", "deny", "edit", "always"]


class Approval(Answer, frozen=True):
    """A call that waits for a person. ``arguments`` is JSON text; ``digest`` binds an answer to them."""

    session_id: str
    session_title: str
    session_owner: str | None
    call_id: str
    seq: int
    asked_at: float
    tool: str
    tier: str
    arguments: str
    digest: str
    preview: Preview
    why: str
    may: tuple[Action, ...]
    """What the person who asked for this list may answer."""
    target: str | None = None
    deadline: float | None = None
    offer: Offer | None = None


class ApprovalList(Answer, frozen=True):
    """All that wait, the oldest first."""

    approvals: tuple[Approval, ...]


class Decide(Body, frozen=True):
    """An answer to an approval. ``digest``: of the question that was seen, so that no other one is answered.
    ``arguments``: edited ones; they are shown and asked again. ``always``: also takes the offer."""

    decision: Literal["approve", "deny"]
    digest: Annotated[str, Meta(max_length=200)] | None = None
    reason: Annotated[str, Meta(max_length=4000)] | None = None
    arguments: dict[str, Any] | None = None
    always: bool = False


class Decision(Answer, frozen=True):
    """The decision about a call that stands."""

    session_id: str
    call_id: str
    decision: Literal["approved", "denied", "expired", "cancelled"]
    by: str | None
    reason: str | None = None
    running: bool = False
    """The session goes on by itself."""


class Doubt(Answer, frozen=True):
    """A call whose outcome is not known."""

    session_id: str
    call_id: str
    tool: str
    arguments: str
    message: str


class Resolve(Body, frozen=True):
    """What was found out about a call whose outcome was not known."""

    outcome: Literal["happened", "did_not_happen", "send_again"]
    content: Annotated[str, Meta(min_length=1, max_length=4000)] | None = None


class Grant(Answer, frozen=True):
    """A standing grant: calls it covers run unasked."""

    session_id: str
    grant_id: str
    tool: str
    by: str
    target: str | None
    limits: dict[str, Any]
    expires: float | None


class GrantList(Answer, frozen=True):
    """Grants that stand."""

    grants: tuple[Grant, ...]
