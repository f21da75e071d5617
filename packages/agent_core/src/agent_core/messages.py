"""The values that cross the model boundary: messages in, model events out.

Invariant: no object of a vendor's SDK, of an HTTP client or of the event log appears here, so that a model client can
be written against this module alone. Everything is frozen and encodes with msgspec.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any, Literal, Protocol, runtime_checkable

from msgspec import Struct

Role = Literal["system", "user", "assistant", "tool"]
FinishReason = Literal["stop", "tool_calls", "length", "content_filter"]
ArgumentsError = Literal["truncated", "invalid_json", "not_an_object"]


class Event(Struct, frozen=True, tag_field="type", tag=True, kw_only=True, gc=False):
    """Base of everything that a run yields. ``v`` is the version of the type's schema, for upcasters.

    What is frozen is a tree without cycles, so the garbage collector need not look at it.
    """

    v: int = 1


class TextDelta(Event, frozen=True):
    """A piece of the visible answer."""

    text: str


class ReasoningDelta(Event, frozen=True):
    """A piece of the model's reasoning; never part of the answer."""

    text: str


class TextWithdrawn(Event, frozen=True):
    """All text of this step shown so far is void; what stays of it is sent again."""

    reason: str = ""


class ToolCall(Struct, frozen=True, omit_defaults=True, gc=False):
    """One call as the model asked for it, whole.

    ``arguments`` is JSON text. A call with an ``error`` is never run: it is answered with that error and goes back into
    the history with ``{}`` for arguments, because endpoints refuse a history with broken JSON for ever.
    """

    id: str
    name: str
    arguments: str
    raw_name: str | None = None
    """What stood on the wire, when it differs from ``name``."""
    repaired: bool = False
    """Strict parsing of the joined fragments failed, or a string had to be unwrapped."""
    known: bool = True
    """False: no such tool was offered."""
    error: ArgumentsError | None = None
    raw_arguments: str | None = None
    """The joined text as it came, when it could not be used or had to be repaired."""
    extra: dict[str, Any] | None = None
    """Unknown keys of the call (signatures and the like) that the same endpoint wants back."""


class Usage(Struct, frozen=True, omit_defaults=True, gc=False):
    """Token counts as reported; None where the endpoint reported nothing."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    total_tokens: int | None = None
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None

    def plus(self, other: Usage | None) -> Usage:
        """Field-wise sum; a count that neither side reports stays None."""
        if other is None:
            return self
        return Usage(
            _sum(self.prompt_tokens, other.prompt_tokens),
            _sum(self.completion_tokens, other.completion_tokens),
            _sum(self.total_tokens, other.total_tokens),
            _sum(self.cached_tokens, other.cached_tokens),
            _sum(self.cache_write_tokens, other.cache_write_tokens),
            _sum(self.reasoning_tokens, other.reasoning_tokens),
        )


def _sum(mine: int | None, theirs: int | None) -> int | None:
    return theirs if mine is None else mine if theirs is None else mine + theirs


class StreamEnd(Struct, frozen=True):
    """Exactly one per stream, always last. A stream that broke raises ``ModelError`` instead."""

    usage: Usage | None = None
    finish_reason: FinishReason = "stop"
    raw_finish_reason: str | None = None
    refusal: str | None = None
    flags: tuple[str, ...] = ()
    replay: dict[str, Any] | None = None
    """Provider keys that the assistant message of the next request must carry, for this endpoint only."""
    audio_transcript: str | None = None
    """What was said in an audio answer."""
    other_choices: tuple[dict[str, Any], ...] = ()
    """The alternatives, where more than one was asked for: index, text, finish_reason, tool_calls."""


ModelEvent = TextDelta | ReasoningDelta | TextWithdrawn | ToolCall | StreamEnd


class Message(Struct, frozen=True, omit_defaults=True, gc=False):
    """One message of a conversation, in the form every endpoint can be given."""

    role: Role
    content: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    replay: dict[str, Any] | None = None
    origin: str | None = None
    """The endpoint ``replay`` and the calls' ``extra`` came from; they are sent to no other."""


class ToolSchema(Struct, frozen=True):
    """What a model is told of a tool. ``parameters`` is an inlined JSON Schema of type object."""

    name: str
    description: str
    parameters: dict[str, Any]


class Wire(Struct, frozen=True):
    """One request as bytes: ``frame[0] + messages joined by a comma + frame[1] + tools + frame[2]``.

    Cut this way, each message and each tool set is stored once, and a request can be rebuilt by code that knows nothing
    of the endpoint. ``tools`` is empty when none are offered (``frame[1]`` then holds no key for them).
    """

    frame: tuple[str, str, str]
    messages: tuple[bytes, ...]
    tools: bytes = b""

    def body(self) -> bytes:
        """The exact bytes of the request body."""
        head, middle, tail = self.frame
        return b"".join((head.encode(), b",".join(self.messages), middle.encode(), self.tools, tail.encode()))


def model_name(model: ModelClient) -> str:
    """The name a client goes by: its own, or that of its class when it says none."""
    name = getattr(model, "name", None)
    return name if isinstance(name, str) and name else type(model).__name__


@runtime_checkable
class ModelClient(Protocol):
    """Anything that can take a turn in a conversation. ``name`` may be left out (see ``model_name``)."""

    @property
    def name(self) -> str:
        """``provider:model`` or a plain name; prices and calibration go by it."""
        ...

    def stream_chat(
        self, messages: Sequence[Message], tools: Sequence[ToolSchema] = (), **options: Any
    ) -> AsyncIterator[ModelEvent]:
        """Streams one turn and ends with one ``StreamEnd``, or raises ``ModelError``."""
        ...


@runtime_checkable
class WireModel(ModelClient, Protocol):
    """A client that shows the bytes it will send, so that the log can hold them."""

    @property
    def origin(self) -> str:
        """Identifies the endpoint and model; provider keys go back only to where they came from."""
        ...

    def prepare(self, messages: Sequence[Message]) -> Sequence[Message]:
        """The conversation as the endpoint wants it (merged roles, say); the same objects where nothing changes."""
        ...

    def render_message(self, message: Message) -> bytes:
        """One message as JSON bytes."""
        ...

    def render_tools(self, tools: Sequence[ToolSchema]) -> bytes:
        """The tool set as JSON bytes; empty when there are none."""
        ...

    def frame(self, has_tools: bool, **options: Any) -> tuple[str, str, str]:
        """The rest of the body, around the messages and the tools."""
        ...

    def stream(self, wire: Wire, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> AsyncIterator[ModelEvent]:
        """Sends exactly ``wire``; the rest says what it was made of."""
        ...


def measured_as(model: ModelClient) -> str:
    """What is learnt of how a model counts tokens goes by this: its endpoint and name, else the name alone."""
    origin = getattr(model, "origin", None)
    return origin if isinstance(origin, str) else model_name(model)
