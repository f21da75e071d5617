"""What a session is at one point of its log: the values that decisions are made from.

Invariant: all of it is plain data that encodes with msgspec (a snapshot is nothing else), and its size is bounded by
the conversation since the last compaction and by ledgers. Only ``fold`` changes it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Literal

import msgspec
from msgspec import Struct, field

from . import events as ev
from .config import Environment, ToolRules
from .messages import Message, ToolCall, Usage
from .sizes import Size
from .text import REPEAT_NOTICE

Contents = Mapping[str, bytes]


class Call(Struct, gc=False):
    """One tool call of the newest assistant message, from request to result."""

    call: ToolCall
    index: int
    seq: int
    """Event of the assistant message it stands in."""
    status: Literal["new", "asked", "approved", "denied", "started", "uncertain", "done", "cut"] = "new"
    """``cut``: a fork or a rollback left it behind, open; it is only closed."""
    attempts: int = 0
    arguments: str | None = None
    """Canonical arguments a person was shown, once asked."""
    digest: str | None = None
    deadline: float | None = None
    versions: dict[str, str] = field(default_factory=dict)
    """Versions of the records that the person was shown."""
    offer: ev.Offer | None = None
    reason: str | None = None
    """What the person said with the decision."""
    decision: str | None = None
    """The decision that stands."""
    decided_by: str | None = None
    edited: bool = False
    """A person changed its arguments."""
    doubted: bool = False
    """Its outcome was not known at some time."""
    resolved: str | None = None
    """What was found out about it."""
    result: Message | None = None
    failed: bool = False
    """The result is an error."""
    result_seq: int = 0
    size: Size = Size()
    """Of the result."""

    def may_have_happened(self, run: Run | None) -> bool:
        """Whether it was begun, could have changed something, and gave no result so far."""
        if self.status == "cut":
            return self.doubted
        return bool(self.attempts) and (run is None or run.rules(self.call.name).tier != "READ")


class Entry(Struct, gc=False):
    """A message of the conversation, with the calls it made."""

    seq: int
    message: Message
    size: Size
    """Of the message, its calls included, their results not."""
    calls: list[Call] = field(default_factory=list)
    note: bool = False
    """Written by the runtime, not by a person."""


class Repeat(Struct, gc=False):
    """How often a call gave the same result, without a write between."""

    count: int
    result: str
    """Digest of the result."""

    def is_same(self, content: str) -> bool:
        """Whether ``content`` is the same result again."""
        return self.result == result_digest(content)


_READ_AT = ('"as_of', '"read_at', '"retrieved_at', '"fetched_at', '"generated_at', '"timestamp')
"""Keys of the moment at which a result was read."""
_READ_AT_LENGTH = 80
"""Characters at the end of a result in which such a key is looked for."""


def result_digest(content: str) -> str:
    """Tells results apart, whatever notice the runtime put behind them. Two that differ only in the moment at which
    they were read, where that stands last, are the same: else whatever says it would never repeat.
    """
    content = content.removesuffix(REPEAT_NOTICE)
    last_key = content.rfind('":', -_READ_AT_LENGTH)
    if last_key > 0 and content.endswith(_READ_AT, 0, last_key):
        content = content[:last_key]
    return hashlib.blake2b(content.encode(), digest_size=12).hexdigest()


MISTAKES = ("validation", "unknown_tool", "denied")
"""Errors of calls that never ran; the same one made again counts as a repeat."""
LONGEST_GAP = 300.0
"""Seconds. A longer silence between two events of a run is taken for a pause (a crash, a machine asleep), not for
work.
"""


class Run(Struct):
    """Counters of the run that is going on or ended last."""

    run_id: str
    by: str
    environment: Environment
    environment_name: str
    model: str
    last_at: float
    """Unix seconds of the newest event of the run."""
    calibration: dict[str, float] = field(default_factory=dict)
    """What tokens were estimated with."""
    estimated: int = 0
    """Tokens of the newest request, as estimated."""
    overflowed: bool = False
    """The endpoint found the request of this step too long once."""
    active: float = 0.0
    """Seconds the run has been at work, pauses between processes not counted."""
    steps: int = 0
    attempt: int = 0
    """Requests sent for the current step."""
    waited: float = 0.0
    """Seconds of waiting between attempts of the current step."""
    retry_at: float | None = None
    failure: str | None = None
    """The last failed attempt, when there is no further one."""
    calls: int = 0
    usage: Usage = Usage()
    cost: ev.Cost | None = None
    repeats: dict[str, Repeat] = field(default_factory=dict)
    finish_reason: str = "stop"
    """How the newest answer ended."""
    checked: int = 0
    """Event of the newest answer whose figures were traced."""
    flags: tuple[str, ...] = ()
    """Remarks of the model client on the newest answer."""
    nudged: tuple[str, ...] = ()
    refused: dict[str, int] = field(default_factory=dict)
    """How often a repeat was refused, by tool and digest."""
    trail: list[str] = field(default_factory=list)
    """The newest calls, by tool, digest and result: where a cycle shows."""
    ending: str | None = None
    """Why a guard ends the run."""
    interrupted: bool = False
    end: ev.LoopEnd | None = None

    def seconds(self, now: float) -> float:
        """Seconds at work until ``now``."""
        return self.active + min(max(0.0, now - self.last_at), LONGEST_GAP)

    def worked(self, now: float) -> None:
        """Counts the time since the newest event."""
        gap = now - self.last_at
        self.last_at = now
        if gap > 0:
            self.active += gap if gap < LONGEST_GAP else LONGEST_GAP

    def rules(self, tool: str) -> ToolRules:
        """What the environment says of a tool; of an unknown one, the most careful."""
        return self.environment.tools.get(tool) or ToolRules("DANGEROUS", repeatable=False)


class State(Struct):
    """Everything later decisions depend on."""

    session_id: str = ""
    seq: int = 0
    salt: str = ""
    owner: str | None = None
    tenant: str | None = None
    profile: str | None = None
    parent: ev.Parent | None = None
    run: Run | None = None
    entries: list[Entry] = field(default_factory=list)
    size: Size = Size()
    """Of all entries and results."""
    dropped: int = 0
    """Newest event that no longer reaches the model."""
    taken_back: list[tuple[int, int]] = field(default_factory=list)
    """Events that rollbacks left behind, first and last: no part of the conversation any more."""
    summary: str | None = None
    pinned: tuple[str, ...] = ()
    """Facts of what no longer reaches the model that always do."""
    doubts: list[Call] = field(default_factory=list)
    """Calls of unknown outcome whose messages no longer reach the model."""
    front: str | None = None
    """What the model reads in the place of all that; made once, when it changes."""
    failed_summaries: int = 0
    """Since the last compaction."""
    settling: bool = False
    """A compaction is going on: what there is to leave out goes at once."""
    ceiling: int | None = None
    """Tokens that the endpoint was found to take, as estimated; None: nothing was found."""
    manifest: list[str] = field(default_factory=list)
    """Contents of the messages of the last request, in order."""
    manifest_seq: int = 0
    queue: list[ev.MessageQueued] = field(default_factory=list)
    said: dict[str, str] = field(default_factory=dict)
    """Client message ids and digests of what was said under them."""
    grants: dict[str, ev.TrustGranted] = field(default_factory=dict)
    session_calls: int = 0
    untrusted_read: bool = False
    """Text by outsiders has been read: tools with egress ask from here on."""
    outputs: dict[str, ev.Truncation] = field(default_factory=dict)
    """Outputs that the model saw only a part of, by call; the newest hundred."""

    @property
    def running(self) -> bool:
        """A run has begun and not ended."""
        return self.run is not None and self.run.end is None

    def open_calls(self) -> list[Call]:
        """Calls of the newest message that have no result yet."""
        return [call for call in self.entries[-1].calls if call.result is None] if self.entries else []

    def find_doubted(self, call_id: str) -> Call | None:
        """The newest call of that id whose outcome was not known at some time, however far back."""
        for entry in reversed(self.entries):
            for call in entry.calls:
                if call.call.id == call_id and call.doubted and call.result is not None:
                    return call
        return next((call for call in reversed(self.doubts) if call.call.id == call_id), None)

    def find_call(self, call_id: str) -> Call | None:
        """A call of the newest assistant message."""
        for entry in reversed(self.entries):
            for call in entry.calls:
                if call.call.id == call_id:
                    return call
            if entry.calls:
                break
        return None


def content_hash(data: bytes, salt: str = "") -> str:
    """The name of a content. With the session's salt, so that erased content cannot be guessed from its name."""
    return hashlib.blake2b(data, digest_size=20, key=salt.encode()).hexdigest()


def digest_parts(parts: tuple[ev.Part, ...]) -> str:
    """Tells two messages apart that came under one client message id."""
    return hashlib.blake2b(msgspec.json.encode(parts), digest_size=16).hexdigest()


_environments: dict[bytes, Environment] = {}


def environment_of(data: bytes) -> Environment:
    """Decodes a stored environment; the few that a process meets are kept, since every run names one."""
    known = _environments.get(data)
    if known is None:
        if len(_environments) > 64:
            _environments.clear()
        known = _environments[data] = msgspec.json.decode(data, type=Environment)
    return known
