"""Whether a recorded event and the one that today's code would append say the same.

Invariant: what decides is compared; what only words it is told apart; what the clock or chance puts in (durations,
deadlines, ids of runs) is held to its kind.
"""

from __future__ import annotations

from typing import Any, Literal

from .. import events as ev

_SLACK = 120.0
"""Seconds that may lie between a decision and its event: a preview was waited for."""


def compare(
    now: ev.AnyEvent, item: ev.Recorded, *, with_cost: bool = True
) -> Literal["decision", "effect", "rendering"] | None:
    """None when they say the same. ``with_cost``: whether sums of money count."""
    recorded = item.event
    if type(now) is not type(recorded):
        started = isinstance(now, ev.ToolCallStarted) or isinstance(recorded, ev.ToolCallStarted)
        return "effect" if started else "decision"
    if _essence(now, with_cost) != _essence(recorded, with_cost) or not _as_long(now, recorded):
        return "effect" if isinstance(now, ev.ToolCallStarted) else "decision"
    return None if _words(now) == _words(recorded) else "rendering"


def _essence(event: ev.AnyEvent, with_cost: bool) -> Any:
    match event:
        case ev.StepStarted():
            return event.step, event.attempt
        case ev.ToolCallStarted():
            return event.call_id, event.index, event.attempt, event.tool, event.digest, event.idempotency_key
        case ev.ToolCallFinished(error=error):
            kind = None if error is None else error.type
            return event.call_id, event.index, event.tool, event.ok, kind, event.digest, event.cached
        case ev.GuardTripped():
            evidence = {key: value for key, value in event.evidence.items() if key != "note"}
            return event.guard, event.action, event.call_ids, evidence
        case ev.ApprovalRequested(offer=offer):
            may = None if offer is None else (offer.target, offer.limits, offer.seconds)
            about = (event.call_id, event.index, event.tool, event.tier, event.arguments, event.digest, event.target)
            return *about, event.why, may
        case ev.ApprovalDecided():
            return event.call_id, event.digest, event.decision, event.by, event.grant_id, event.channel
        case ev.ContextCompacted():
            return event.kind, event.from_seq, event.to_seq, event.keep
        case ev.SummaryFailed():
            return event.from_seq, event.to_seq
        case ev.LoopEnd():
            cost = event.cost if with_cost else None
            return event.reason, event.completed, event.steps, event.usage, cost
        case _:
            return event


def _as_long(now: ev.AnyEvent, recorded: ev.AnyEvent) -> bool:
    """Whether two questions may be answered until about the same time."""
    one, other = getattr(now, "deadline", None), getattr(recorded, "deadline", None)
    if one is None or other is None:
        return one is other
    return bool(abs(one - other) <= _SLACK)


def _words(event: ev.AnyEvent) -> Any:
    match event:
        case ev.StepStarted():
            return event.estimated_tokens
        case ev.ToolCallFinished():
            return event.content, event.error
        case ev.GuardTripped():
            return event.evidence.get("note")
        case ev.ApprovalRequested(offer=offer):
            return None if offer is None else offer.sentence
        case ev.LoopEnd():
            return event.message
        case ev.ContextCompacted(kind="dropped"):
            return event.pinned
        case _:
            return None
