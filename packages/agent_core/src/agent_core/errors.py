"""Every error that crosses a public boundary of the runtime, each with one sentence for whoever can act on it.

Invariant: the message of each class is fit to be shown to a person as it stands; nothing here carries a secret.
"""

from __future__ import annotations

from typing import Literal, get_args

from msgspec import Struct

ToolErrorType = Literal[
    "validation",
    "unknown_tool",
    "timeout",
    "execution",
    "denied",
    "expired",
    "limit",
    "repeated_call",
    "cancelled",
    "uncertain",
]

ModelErrorKind = Literal[
    "rate_limit",
    "quota",
    "overloaded",
    "server_error",
    "auth",
    "context_overflow",
    "unsupported_parameter",
    "invalid_request",
    "tool_generation_failed",
    "bad_response",
    "stream_error",
    "stream_truncated",
    "empty_stream",
    "unreachable",
    "timeout",
    "tls",
    "model_not_found",
]


class AgentError(Exception):
    """Something the runtime refuses or cannot do."""


class Partial(Struct, frozen=True):
    """What had been read of a stream before it broke. None of its calls may be run."""

    text: str = ""
    reasoning: str = ""
    tool_calls_started: int = 0


class ModelError(AgentError):
    """The endpoint refused, failed or could not be reached.

    ``retryable``: worth sending again after ``retry_after`` seconds, or with ``remedy`` applied (to ``param``, which
    goes by ``replacement`` there). ``code`` is as on the wire. ``partial`` is what had been read before; a retry starts
    from nothing.
    """

    def __init__(
        self,
        kind: ModelErrorKind,
        message: str,
        *,
        retryable: bool = False,
        retry_after: float | None = None,
        remedy: str | None = None,
        status: int | None = None,
        code: str | int | None = None,
        param: str | None = None,
        replacement: str | None = None,
        failed_generation: str | None = None,
        partial: Partial | None = None,
    ) -> None:
        super().__init__(message)
        self.kind: ModelErrorKind = kind
        self.message = message
        self.retryable = retryable
        self.retry_after = retry_after
        self.remedy = remedy
        self.status = status
        self.code = code
        self.param = param
        self.replacement = replacement
        self.failed_generation = failed_generation
        self.partial = partial or Partial()


class ToolError(AgentError):
    """Raised by a tool to answer the model with a structured error.

    ``hint`` says what to try instead. ``retry`` asks for the call to be run again (only where that is safe).
    """

    def __init__(
        self, message: str, *, hint: str | None = None, type: ToolErrorType = "execution", retry: bool = False
    ) -> None:
        if type not in get_args(ToolErrorType):
            raise ValueError(f"{type!r} is no type of error of a tool")
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.type: ToolErrorType = type
        self.retry = retry


class StoreError(AgentError):
    """The log cannot be read or written."""


class UnknownSession(StoreError):
    """There is no such session."""


class Conflict(StoreError):
    """The log went on meanwhile: ``expected_seq`` is not its head."""

    def __init__(self, session_id: str, expected: int, actual: int) -> None:
        super().__init__(f"Session {session_id} is at event {actual}, not {expected}.")
        self.session_id = session_id
        self.expected = expected
        self.actual = actual


class Fenced(StoreError):
    """Another process has taken the session over; this one may not append any more."""


class Busy(StoreError):
    """Another process drives the session."""

    def __init__(self, session_id: str, holder: str) -> None:
        super().__init__(f"Session {session_id} is driven by {holder}.")
        self.session_id = session_id
        self.holder = holder


class DamagedLog(StoreError):
    """A stored event does not match its hash, or cannot be read. ``file``: the exported session that it stands in."""

    def __init__(self, session_id: str, seq: int, why: str, file: str | None = None) -> None:
        super().__init__(f"Session {session_id}: event {seq} is damaged ({why}).")
        self.session_id = session_id
        self.seq = seq
        self.why = why
        self.file = file


class Erased(StoreError):
    """The payload of an event was removed for good, as somebody had asked for."""

    def __init__(self, session_id: str, seq: int) -> None:
        super().__init__(f"Session {session_id}: event {seq} and what belongs to it were erased for good.")
        self.session_id = session_id
        self.seq = seq


class Refused(AgentError):
    """A command whose precondition does not hold (a decision that came too late, an id used twice)."""


class Malformed(Refused):
    """What was given cannot be taken at any time: an empty message, characters that are not text."""
