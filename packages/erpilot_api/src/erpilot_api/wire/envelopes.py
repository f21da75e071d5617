"""The envelopes around the events of a stream, and errors."""

from __future__ import annotations

from .approvals import Decision
from .base import Answer


class Start(Answer, frozen=True):
    """``event: start``, the first frame of every stream."""

    session_id: str
    after: int
    """The events that follow come after this one."""
    head: int
    """The newest event when the stream began."""
    running: bool
    """A run was going on then."""
    repeated: bool = False
    """The message had been sent before under its ``client_message_id``; this is the answer to it."""


class PartialStep(Answer, frozen=True):
    """``event: partial``: what had been shown of the step that is going on, for a reader who came in the middle. It
    takes the place of every delta of that step so far."""

    session_id: str
    step_seq: int
    """Event of the ``StepStarted`` it belongs to."""
    text: str
    reasoning: str


class Done(Answer, frozen=True):
    """``event: done``, the last frame of a stream that came to its end. A stream without it was cut off: ask again for
    what comes after the last ``id``."""

    session_id: str
    seq: int
    """The newest event that was sent, or that the reader had."""
    reason: str
    """The ``reason`` of the ``LoopEnd``; ``head`` when all that is stored was sent and nothing is going on."""


class Problem(Answer, frozen=True, omit_defaults=True):
    """RFC 9457. Also the data of ``event: error``, after which a stream ends."""

    type: str
    title: str
    status: int
    detail: str | None = None
    errors: tuple[str, ...] = ()
    """Where the body or a parameter is wrong."""
    session_id: str | None = None
    standing: Decision | None = None
    """The decision that stands, when another answer came too late."""
