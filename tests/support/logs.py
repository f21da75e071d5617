"""Logs written by hand, without a store or a clock."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from agent_core import events as ev
from agent_core.config import Environment, LoopConfig, ToolRules
from agent_core.fold import fold
from agent_core.messages import ToolCall
from agent_core.state import State
from agent_core.store.base import SHARED

START = 1_760_000_000.0
"""Unix seconds of the first event."""


def environment(**limits: Any) -> bytes:
    """What the decisions of a run depend on: ``look_up`` reads, ``change`` writes, ``drop`` is dangerous."""
    value = Environment(
        config=LoopConfig(**limits),
        model="scripted",
        tools={
            "look_up": ToolRules(),
            "change": ToolRules("WRITE", repeatable=False),
            "drop": ToolRules("DANGEROUS", repeatable=False),
        },
        system=SHARED + "system",
        tool_set=None,
    )
    return msgspec.json.encode(value)


ENVIRONMENT_NAME = SHARED + "environment"
CONTENTS: Mapping[str, bytes] = {ENVIRONMENT_NAME: environment()}
"""Contents of the logs here."""


def recorded(events: Iterable[Any], *, session_id: str = "s", first: int = 1, step: float = 1.0) -> list[ev.Recorded]:
    """The events in their places, ``step`` seconds apart."""
    return [
        ev.Recorded(session_id, seq, START + step * (seq - 1), event, None) for seq, event in enumerate(events, first)
    ]


def folded(*events: Any, limits: Mapping[str, Any] | None = None, step: float = 1.0) -> State:
    """The state after a log of these events."""
    contents = CONTENTS if limits is None else {ENVIRONMENT_NAME: environment(**limits)}
    return fold(recorded(events, step=step), contents)


def begun(**changes: Any) -> tuple[ev.SessionStarted, ev.RunStarted, ev.UserMessage]:
    """The first three events of every session."""
    run = ev.RunStarted(run_id="r1", by="user", environment=ENVIRONMENT_NAME, model="scripted", base_seq=0)
    return (
        ev.SessionStarted(owner="boss", salt="salt"),
        msgspec.structs.replace(run, **changes),
        said("还有货吗？"),
    )


def said(text: str, **changes: Any) -> ev.UserMessage:
    """A message of a person."""
    return ev.UserMessage(content=(ev.TextPart(text),), author="user", **changes)


def call(call_id: str = "c1", name: str = "look_up", arguments: str = "{}") -> ToolCall:
    """A call as a model asks for it."""
    return ToolCall(id=call_id, name=name, arguments=arguments)


def answer(text: str | None = "ok", *calls: ToolCall, step: int = 1, **changes: Any) -> ev.AssistantMessage:
    """What a model says."""
    return ev.AssistantMessage(step=step, content=text, tool_calls=calls, **changes)


def step_started(step: int = 1, attempt: int = 1, *added: str, base: int | None = None) -> ev.StepStarted:
    """A request is about to be sent."""
    manifest = ev.Manifest(added=added, frame=SHARED + "frame", base=base)
    return ev.StepStarted(step=step, attempt=attempt, request=manifest, estimated_tokens=10)


def started(call_id: str = "c1", tool: str = "look_up", *, index: int = 0, attempt: int = 1) -> ev.ToolCallStarted:
    """A call begins."""
    return ev.ToolCallStarted(
        call_id=call_id, index=index, attempt=attempt, tool=tool, digest="d1", idempotency_key=f"s.5.{index}"
    )


def finished(
    call_id: str = "c1", content: str = "7", tool: str = "look_up", *, index: int = 0, **changes: Any
) -> ev.ToolCallFinished:
    """A call has ended well, or with ``error``."""
    settings = {"ok": "error" not in changes, "digest": "d1", **changes}
    return ev.ToolCallFinished(call_id=call_id, index=index, tool=tool, content=content, **settings)


def asked(call_id: str = "c1", tool: str = "change", *, deadline: float | None = None) -> ev.ApprovalRequested:
    """A call waits for a person."""
    return ev.ApprovalRequested(
        call_id=call_id,
        index=0,
        tool=tool,
        tier="WRITE",
        arguments="{}",
        digest="d1",
        preview=ev.Preview("Change it"),
        deadline=deadline,
    )


def decided(call_id: str = "c1", decision: Any = "approved", **changes: Any) -> ev.ApprovalDecided:
    """A person answered."""
    return ev.ApprovalDecided(call_id=call_id, digest="d1", decision=decision, by="boss", **changes)


def ended(reason: Any = "completed", **changes: Any) -> ev.LoopEnd:
    """The run is over."""
    return ev.LoopEnd(run_id="r1", steps=1, completed=reason == "completed", reason=reason, **changes)
