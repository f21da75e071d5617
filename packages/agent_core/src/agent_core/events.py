"""Every event of the log: frozen, tagged by ``type``, versioned by ``v``; how they are encoded and read back.

Invariant: what was once written stays readable for ever. A type is never reused for another meaning; a field is only
added, with a default; a change of meaning raises ``VERSION`` and adds an upcaster. Unknown fields and unknown types survive,
because stores keep and hand on the payload's bytes and ``UnknownEvent`` carries them.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any, Literal, get_args

import msgspec
from msgspec import Struct

from .errors import ToolErrorType
from .messages import Event, ReasoningDelta, TextDelta, TextWithdrawn, ToolCall, Usage

# --- values inside events ------------------------------------------------------------------------------------------------


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

    The messages are those of the request of the ``StepStarted`` at event ``base`` followed by ``added``; without a base,
    ``added`` alone. ``frame`` and ``tools`` are contents too (see ``messages.Wire``).
    """

    added: tuple[str, ...]
    frame: str
    tools: str | None = None
    base: int | None = None


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


class Preview(Struct, frozen=True, omit_defaults=True):
    """What a write would do, for the person who decides."""

    title: str
    changes: tuple[Change, ...] = ()
    notes: tuple[str, ...] = ()
    asked_by: str | None = None
    """The record whose text led to the call, where known."""


class Figure(Struct, frozen=True, omit_defaults=True):
    """A number of an answer and where it came from."""

    text: str
    call_id: str | None = None
    path: str | None = None
    derivation: str | None = None


# --- durable events ------------------------------------------------------------------------------------------------------

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
    | AnswerChecked
    | RolledBack
    | RunInterrupted
    | LoopEnd
)


# --- events that are only shown ------------------------------------------------------------------------------------------


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


class Recorded(Struct, frozen=True):
    """An event in its place. ``seq`` and ``hash`` are None for what is not durable; ``at`` is Unix seconds, UTC."""

    session_id: str
    seq: int | None
    at: float
    event: AnyEvent
    hash: str | None = None


# --- encoding ------------------------------------------------------------------------------------------------------------

Upcaster = Callable[[dict[str, Any]], dict[str, Any]]
UPCASTERS: dict[tuple[str, int], Upcaster] = {}
"""(type, version) to a function that turns a payload of that version into one of the next."""

_BY_TYPE: dict[str, type[Event]] = {cls.__name__: cls for cls in (*get_args(DurableEvent), *get_args(ShownEvent))}
_CURRENT: dict[str, int] = {name: cls.__struct_defaults__[-1] for name, cls in _BY_TYPE.items()}
_encoder = msgspec.json.Encoder()
_decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder(DurableEvent | ShownEvent)


def encode(event: AnyEvent) -> bytes:
    """The payload as JSON bytes; the inverse of ``decode``."""
    return event.payload if type(event) is UnknownEvent else _encoder.encode(event)


def decode(payload: bytes) -> AnyEvent:
    """Reads a payload of any version. Raises ``ValueError`` when it is not an event at all."""
    try:
        event: AnyEvent = _decoder.decode(payload)
    except msgspec.ValidationError:
        return _decode_foreign(payload)
    except msgspec.DecodeError as error:
        raise ValueError(f"not JSON: {error}") from None
    return event if event.v == _CURRENT[type(event).__name__] else _decode_foreign(payload)


def type_name(event: AnyEvent) -> str:
    """The tag under which the event is stored."""
    return event.type if type(event) is UnknownEvent else type(event).__name__


def _decode_foreign(payload: bytes) -> AnyEvent:
    """A payload of an older or newer version, or of an unknown type."""
    raw = msgspec.json.decode(payload)
    if not isinstance(raw, dict) or not isinstance(raw.get("type"), str):
        raise ValueError("an event is a JSON object with a type")
    name, version = raw["type"], raw.get("v", 1)
    if name not in _BY_TYPE or not isinstance(version, int) or version > _CURRENT[name]:
        return UnknownEvent(type=name, payload=payload)
    while version < _CURRENT[name]:
        raw = UPCASTERS[name, version](raw)
        version += 1
    try:
        return msgspec.convert({**raw, "v": version}, _BY_TYPE[name])  # type: ignore[return-value]
    except msgspec.ValidationError as error:
        raise ValueError(f"not a valid {name}: {error}") from None
