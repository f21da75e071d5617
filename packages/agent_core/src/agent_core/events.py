"""Every event of the log: frozen, tagged by ``type``, versioned by ``v``.

Invariant: what was once written stays readable for ever. A type is never reused for another meaning; a field is only
added, with a default; a change of meaning raises the default of ``v`` and adds an upcaster (see ``codec``). Unknown
fields and types survive, because stores keep and hand on the payload's bytes.
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

from .messages import Event, ReasoningDelta, TextDelta, TextWithdrawn, ToolCall, Usage
from .values import Artifact as Artifact
from .values import Change as Change
from .values import Cost as Cost
from .values import Fault as Fault
from .values import Figure as Figure
from .values import FilePart as FilePart
from .values import Frozen as Frozen
from .values import Manifest as Manifest
from .values import Notice as Notice
from .values import Offer as Offer
from .values import Parent as Parent
from .values import Part as Part
from .values import Preview as Preview
from .values import TextPart as TextPart
from .values import Truncation as Truncation

# --- durable events

EndReason = Literal[
    "completed", "max_steps", "guard", "budget", "interrupted", "awaiting_approval", "model_error", "error"
]


class SessionStarted(Event, frozen=True):
    """First event of a session, also of a fork (whose earlier events are its parent's)."""

    owner: str | None = None
    tenant: str | None = None
    profile: str | None = None
    parent: Parent | None = None
    salt: str = ""
    """Key of the content hashes of this session, so that erased content cannot be guessed from them."""


class RunStarted(Event, frozen=True):
    """A run begins. ``environment`` is the hash of everything its decisions depend on (see ``state.Environment``)."""

    run_id: str
    by: str
    environment: str
    model: str
    base_seq: int
    resumes: str | None = None
    """The run that this one goes on with (after an approval): its counters go on too."""
    calibration: dict[str, float] = {}
    """Tokens per character by script, as learnt so far for the model."""


class UserMessage(Event, frozen=True):
    """What a person said. A repeat of ``client_message_id`` with the same content is the same message."""

    content: tuple[Part, ...]
    author: str
    client_message_id: str | None = None
    context: tuple[Frozen, ...] = ()


class MessageQueued(Event, frozen=True):
    """A message that arrived while a run was going; the next run begins with it."""

    content: tuple[Part, ...]
    author: str
    client_message_id: str | None = None
    context: tuple[Frozen, ...] = ()


class StepStarted(Event, frozen=True):
    """A request is about to be sent."""

    step: int
    attempt: int
    request: Manifest
    estimated_tokens: int


class ModelAttemptFailed(Event, frozen=True):
    """A request failed; ``wait`` seconds until the next attempt, None when there is none."""

    step: int
    attempt: int
    kind: str
    message: str
    wait: float | None
    status: int | None = None
    remedy: str | None = None
    shown: bool = False
    """Text of the attempt had been shown and was withdrawn."""
    retryable: bool | None = None
    """What the failure itself said: worth sending again, after ``retry_after`` seconds. None: not recorded."""
    retry_after: float | None = None


class AssistantMessage(Event, frozen=True):
    """What the model answered, whole. Times in seconds from the sending of the request."""

    step: int
    content: str | None
    tool_calls: tuple[ToolCall, ...] = ()
    reasoning: str | None = None
    finish_reason: str = "stop"
    raw_finish_reason: str | None = None
    refusal: str | None = None
    flags: tuple[str, ...] = ()
    replay: dict[str, Any] | None = None
    origin: str | None = None
    time_to_first_token: float | None = None
    duration: float | None = None


class StepEnd(Event, frozen=True):
    """The model's part of a step is over: right after its message, before its tools."""

    step: int
    outcome: Literal["message", "failed", "interrupted"]
    usage: Usage | None = None
    cost: Cost | None = None
    """None: no price is known for the model, or it reported no usage."""


class ApprovalRequested(Event, frozen=True):
    """A call waits for a person. ``digest`` is that of the canonical arguments; ``deadline`` in Unix seconds."""

    call_id: str
    index: int
    tool: str
    tier: str
    arguments: str
    digest: str
    preview: Preview
    target: str | None = None
    versions: dict[str, str] = {}
    """Versions of the records that the preview was made from."""
    deadline: float | None = None
    why: str = "tier"
    """``tier``, ``rule``, ``egress`` (untrusted text was read), ``changed`` (the records or the arguments are not what
    was shown)."""
    offer: Offer | None = None


class ApprovalDecided(Event, frozen=True):
    """The answer to an ``ApprovalRequested``, bound to its digest."""

    call_id: str
    digest: str
    decision: Literal["approved", "denied", "expired", "cancelled"]
    by: str
    reason: str | None = None
    arguments: str | None = None
    """Edited arguments; they are shown and asked again."""
    grant_id: str | None = None
    """The standing grant that allowed it, when no person was asked."""
    channel: str | None = None


class TrustGranted(Event, frozen=True):
    """A person lets later calls of this kind run unasked, within limits, until ``expires`` (Unix seconds)."""

    grant_id: str
    tool: str
    by: str
    target: str | None = None
    limits: dict[str, Any] = {}
    expires: float | None = None
    origin: str | None = None
    """The call whose question it answered."""


class TrustRevoked(Event, frozen=True):
    """A grant ends."""

    grant_id: str
    by: str
    reason: str | None = None


class ToolCallStarted(Event, frozen=True):
    """The intent: durable before the effect. ``idempotency_key`` is the same on every attempt."""

    call_id: str
    index: int
    attempt: int
    tool: str
    digest: str
    idempotency_key: str
    target: str | None = None
    """What the call is about, as rules and grants name it."""


class ToolCallFinished(Event, frozen=True):
    """The outcome of a call, as soon as it is known. A refused or cached call has no ``ToolCallStarted``."""

    call_id: str
    index: int
    tool: str
    ok: bool
    content: str
    """What the model reads: the output, or the structured error as JSON."""
    error: Fault | None = None
    digest: str = ""
    duration: float = 0.0
    attempts: int = 0
    cached: bool = False
    truncated: Truncation | None = None
    artifacts: tuple[Artifact, ...] = ()
    target: str | None = None
    """What a call that was answered without being started is about."""


class OutcomeResolved(Event, frozen=True):
    """What was found out about an ``uncertain`` call."""

    call_id: str
    outcome: Literal["happened", "did_not_happen", "send_again"]
    by: str
    content: str | None = None
    source: Literal["person", "backend"] = "person"


class GuardTripped(Event, frozen=True):
    """A guard spoke: which, on what evidence, and what it did."""

    guard: str
    action: Literal["answered", "warned", "ended"]
    evidence: dict[str, Any]
    call_ids: tuple[str, ...] = ()


class ContextCompacted(Event, frozen=True):
    """Events ``from_seq`` to ``to_seq`` reach later requests only in this form."""

    kind: Literal["clipped", "masked", "summarised", "dropped"]
    from_seq: int
    to_seq: int
    summary: str | None = None
    pinned: tuple[str, ...] = ()
    usage: Usage | None = None
    cost: Cost | None = None
    keep: int | None = None
    """Characters kept of a clipped result."""
    by: str | None = None
    """Who asked for it; None: the runtime found that the request no longer fits."""


class SummaryFailed(Event, frozen=True):
    """Events ``from_seq`` to ``to_seq`` could not be summarised; ``kind`` as in ``ModelAttemptFailed``."""

    from_seq: int
    to_seq: int
    kind: str
    message: str
    usage: Usage | None = None
    cost: Cost | None = None
    by: str | None = None
    """As in ``ContextCompacted``."""


class AnswerChecked(Event, frozen=True):
    """The figures of the answer at ``answer_seq`` and where each came from."""

    answer_seq: int
    figures: tuple[Figure, ...] = ()
    untraced: tuple[str, ...] = ()


class RolledBack(Event, frozen=True):
    """The conversation goes on from ``to_seq``. Money, counters, effects and revocations stay as they are."""

    to_seq: int
    by: str
    reason: str | None = None


class SessionLabelled(Event, frozen=True):
    """What a session is called, and whether it is put away; None where that stays as it was."""

    by: str
    title: str | None = None
    archived: bool | None = None


class RunInterrupted(Event, frozen=True):
    """Somebody stopped the run."""

    by: str
    where: str | None = None


class LoopEnd(Event, frozen=True):
    """The run is over, or waits. ``completed`` is True only for the reason ``completed``."""

    run_id: str
    steps: int
    completed: bool
    reason: EndReason
    usage: Usage | None = None
    cost: Cost | None = None
    message: str | None = None
    """One sentence for a person, when the run did not complete."""


DurableEvent = (
    SessionStarted
    | RunStarted
    | UserMessage
    | MessageQueued
    | StepStarted
    | ModelAttemptFailed
    | AssistantMessage
    | StepEnd
    | ApprovalRequested
    | ApprovalDecided
    | TrustGranted
    | TrustRevoked
    | ToolCallStarted
    | ToolCallFinished
    | OutcomeResolved
    | GuardTripped
    | ContextCompacted
    | SummaryFailed
    | AnswerChecked
    | RolledBack
    | SessionLabelled
    | RunInterrupted
    | LoopEnd
)


# --- events that are only shown


class ToolProgress(Event, frozen=True):
    """A running tool says how far it is. ``fraction`` is 0 to 1, None when unknown."""

    call_id: str
    text: str
    fraction: float | None = None


ShownEvent = TextDelta | ReasoningDelta | TextWithdrawn | ToolProgress


class UnknownEvent(Event, frozen=True, tag=False):
    """An event of a newer program: kept and handed on byte for byte, ignored by the fold."""

    type: str
    payload: bytes


AnyEvent = DurableEvent | ShownEvent | UnknownEvent


class Recorded(Struct, frozen=True, gc=False):
    """An event in its place. ``seq`` and ``hash`` are None for what is not durable; ``at`` is Unix seconds, UTC."""

    session_id: str
    seq: int | None
    at: float
    event: AnyEvent
    hash: str | None = None
