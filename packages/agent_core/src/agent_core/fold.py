"""The fold: how each event moves the state of a session on.

Invariant: ``apply`` is a function of the state, the event and content-addressed data only (no clock, no I/O), so
folding the same log always gives the same state.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from . import events as ev
from .context.moves import OVERFLOWED, add_entry, ceiling, compact
from .fold_calls import cut_off, decided, finished, requested, resolved, started, tripped
from .hidden_text import remove, removed_notice
from .messages import Message, Usage
from .state import Call, Contents, Entry, Run, State, digest_parts, environment_of


def fold(
    items: Iterable[ev.Recorded],
    contents: Contents,
    state: State | None = None,
    before: Iterable[ev.Recorded] = (),
) -> State:
    """The state after ``items``, from the beginning or from an earlier ``state`` (which is left alone).

    ``before``: the events that ``state`` was made of; without them, a rollback raises ``ValueError``.
    """
    folded = State() if state is None else msgspec.convert(msgspec.to_builtins(state), State)
    known = list(before)
    complete = bool(known) or folded.seq == 0
    for item in items:
        if isinstance(item.event, ev.RolledBack) and complete:
            apply(folded, item, contents, conversation_at(known, item.event.to_seq, contents))
        else:
            apply(folded, item, contents)
        known.append(item)
    return folded


def conversation_at(items: Sequence[ev.Recorded], seq: int, contents: Contents) -> State:
    """The state at event ``seq`` of a log, as far as the conversation goes: what rollbacks before it left behind is not
    in it, also not in its counters. A call that is open there and was begun later is known to have been begun.
    """
    kept, wanted = [], seq
    for item in reversed(items):
        if item.seq is not None and item.seq <= wanted:
            kept.append(item)
            if isinstance(item.event, ev.RolledBack):
                wanted = min(item.event.to_seq, item.seq - 1)
    state = State()
    for item in reversed(kept):
        apply(state, item, contents, state)
    for item in items:
        if item.seq is None or item.seq <= seq:
            continue
        if closes_exchange(item.event):
            break
        if isinstance(item.event, ev.ToolCallStarted) and (call := state.find_call(item.event.call_id)) is not None:
            call.attempts = item.event.attempt
    return state


def closes_exchange(event: ev.AnyEvent) -> bool:
    """Whether what follows is about other calls than what stands before."""
    return isinstance(event, ev.UserMessage | ev.AssistantMessage | ev.RolledBack | ev.SessionStarted)


def message_text(parts: tuple[ev.Part, ...], context: tuple[ev.Frozen, ...]) -> str:
    """What the model reads of a user message: the text, then what was frozen into it."""
    text = "\n\n".join(part.text if isinstance(part, ev.TextPart) else _file_named(part.name) for part in parts)
    frozen = "\n".join(f"[{item.kind}: {item.text}]" for item in context)
    return f"{text}\n\n{frozen}" if frozen else text


def _file_named(name: str) -> str:
    cleaned, removed = remove(name)
    return f"[file: {cleaned}]" + (removed_notice(removed) if removed else "")


def apply(state: State, item: ev.Recorded, contents: Contents, earlier: State | None = None) -> None:
    """Moves ``state`` one event on, in place. Events of unknown types only move ``seq``.

    ``earlier``: needed for a ``RolledBack``, the conversation that it goes back to (see ``conversation_at``).
    """
    event, seq = item.event, item.seq
    if seq is None:
        return
    state.seq = seq
    run = state.run
    if run is not None and run.end is None:
        run.worked(item.at)
    if (handler := _HANDLERS.get(type(event))) is not None:
        handler(state, event, seq, item)
    elif isinstance(event, ev.RunStarted):
        _run_started(state, event, item, contents)
    elif isinstance(event, ev.RolledBack):
        _rolled_back(state, event, seq, earlier)


def _session_started(state: State, event: ev.SessionStarted, seq: int, item: ev.Recorded) -> None:
    state.session_id, state.salt = item.session_id, event.salt
    state.parent = event.parent
    if event.parent is None:
        state.owner, state.tenant, state.profile = event.owner, event.tenant, event.profile
        return
    # A fork: the conversation and its owner come along, what is open, what waits and what was trusted does not.
    state.owner, state.tenant = event.owner or state.owner, event.tenant or state.tenant
    state.profile = event.profile or state.profile
    cut_off(state, state.run)
    for queued in state.queue:
        state.said.pop(queued.client_message_id or "", None)
    state.run, state.queue, state.grants = None, [], {}
    state.manifest, state.manifest_seq = [], 0


def _run_started(state: State, event: ev.RunStarted, item: ev.Recorded, contents: Contents) -> None:
    before = state.run
    if before is not None and before.environment_name == event.environment:
        environment = before.environment
    else:
        environment = environment_of(contents[event.environment])
    run = Run(
        event.run_id, event.by, environment, event.environment, event.model, item.at, calibration=event.calibration
    )
    state.ceiling = ceiling(state, event, before)
    if before is not None and event.resumes == before.run_id:
        run.steps, run.calls, run.usage, run.cost = before.steps, before.calls, before.usage, before.cost
        run.repeats, run.refused, run.nudged = before.repeats, before.refused, before.nudged
        run.trail, run.flags, run.active = before.trail, before.flags, before.active
        run.checked = before.checked
        if before.end is None:  # it was cut short: what had been decided about its end still holds
            run.interrupted, run.ending = before.interrupted, before.ending
    state.run = run


def _user_message(state: State, event: ev.UserMessage, seq: int, item: ev.Recorded) -> None:
    add_entry(state, seq, Message("user", message_text(event.content, event.context)))
    if event.client_message_id is not None:
        state.said[event.client_message_id] = digest_parts(event.content)
    for queued in state.queue:
        if queued.client_message_id == event.client_message_id and (
            event.client_message_id is not None or queued.content == event.content
        ):
            state.queue.remove(queued)
            break


def _message_queued(state: State, event: ev.MessageQueued, seq: int, item: ev.Recorded) -> None:
    state.queue.append(event)
    if event.client_message_id is not None:
        state.said[event.client_message_id] = digest_parts(event.content)


def _step_started(state: State, event: ev.StepStarted, seq: int, item: ev.Recorded) -> None:
    run = state.run
    if run is not None:
        run.attempt, run.retry_at = event.attempt, None
        run.estimated = event.estimated_tokens
    state.settling = False
    if event.request.base is None:
        state.manifest = list(event.request.added)
    else:
        state.manifest.extend(event.request.added)
    state.manifest_seq = seq


def _attempt_failed(state: State, event: ev.ModelAttemptFailed, seq: int, item: ev.Recorded) -> None:
    run = state.run
    if run is None:
        return
    if event.wait is None:
        run.failure = event.message
    else:
        run.waited += event.wait
        run.retry_at = item.at + event.wait
    if event.kind == "context_overflow":
        run.overflowed = True
        state.ceiling = min(int(run.estimated * OVERFLOWED), state.ceiling or run.estimated)


def _assistant_message(state: State, event: ev.AssistantMessage, seq: int, item: ev.Recorded) -> None:
    message = Message(
        "assistant", event.content or event.refusal, event.tool_calls, replay=event.replay, origin=event.origin
    )
    entry = add_entry(state, seq, message)
    entry.calls = [Call(call, index, seq) for index, call in enumerate(event.tool_calls)]
    if state.run is not None:
        state.run.steps += 1
        state.run.attempt, state.run.waited, state.run.overflowed = 0, 0.0, False
        if state.ceiling is not None and state.run.estimated > state.ceiling:
            state.ceiling = None  # it takes more than it was found to take
        state.run.flags, state.run.finish_reason = event.flags, event.finish_reason


def _step_end(state: State, event: ev.StepEnd, seq: int, item: ev.Recorded) -> None:
    _count_usage(state, event.usage, event.cost)


def _count_usage(state: State, usage: Usage | None, cost: ev.Cost | None) -> None:
    run = state.run
    if run is None:
        return
    run.usage = run.usage.plus(usage)
    if cost is not None:
        run.cost = cost if run.cost is None else ev.Cost(run.cost.amount + cost.amount, cost.currency)


def _trust_granted(state: State, event: ev.TrustGranted, seq: int, item: ev.Recorded) -> None:
    state.grants[event.grant_id] = event


def _trust_revoked(state: State, event: ev.TrustRevoked, seq: int, item: ev.Recorded) -> None:
    state.grants.pop(event.grant_id, None)


def _compacted(state: State, event: ev.ContextCompacted, seq: int, item: ev.Recorded) -> None:
    compact(state, event)
    state.manifest, state.manifest_seq = [], 0
    _count_usage(state, event.usage, event.cost)


def _summary_failed(state: State, event: ev.SummaryFailed, seq: int, item: ev.Recorded) -> None:
    if event.by is None:
        state.failed_summaries += 1
    _count_usage(state, event.usage, event.cost)


def _answer_checked(state: State, event: ev.AnswerChecked, seq: int, item: ev.Recorded) -> None:
    if state.run is not None:
        state.run.checked = event.answer_seq


def _rolled_back(state: State, event: ev.RolledBack, seq: int, earlier: State | None) -> None:
    if earlier is None:
        raise ValueError(f"a rollback to event {event.to_seq} needs the conversation at that event")
    state.taken_back = [*earlier.taken_back, (min(event.to_seq, seq - 1) + 1, seq)]
    run = earlier.run
    if earlier is not state:
        state.entries = msgspec.convert(msgspec.to_builtins(earlier.entries), list[Entry])
        state.dropped, state.summary, state.outputs = earlier.dropped, earlier.summary, dict(earlier.outputs)
        state.size, state.pinned, state.front = earlier.size, earlier.pinned, earlier.front
        state.doubts = msgspec.convert(msgspec.to_builtins(earlier.doubts), list[Call])
        state.failed_summaries, state.settling = earlier.failed_summaries, earlier.settling
    cut_off(state, run)
    state.run, state.manifest, state.manifest_seq = None, [], 0


def _interrupted(state: State, event: ev.RunInterrupted, seq: int, item: ev.Recorded) -> None:
    if state.running and state.run is not None:
        state.run.interrupted = True


def _loop_end(state: State, event: ev.LoopEnd, seq: int, item: ev.Recorded) -> None:
    if state.run is not None:
        state.run.end = event


_HANDLERS: dict[type, Any] = {
    ev.SessionStarted: _session_started,
    ev.UserMessage: _user_message,
    ev.MessageQueued: _message_queued,
    ev.StepStarted: _step_started,
    ev.ModelAttemptFailed: _attempt_failed,
    ev.AssistantMessage: _assistant_message,
    ev.StepEnd: _step_end,
    ev.ApprovalRequested: requested,
    ev.ApprovalDecided: decided,
    ev.TrustGranted: _trust_granted,
    ev.TrustRevoked: _trust_revoked,
    ev.ToolCallStarted: started,
    ev.ToolCallFinished: finished,
    ev.OutcomeResolved: resolved,
    ev.GuardTripped: tripped,
    ev.ContextCompacted: _compacted,
    ev.SummaryFailed: _summary_failed,
    ev.AnswerChecked: _answer_checked,
    ev.RunInterrupted: _interrupted,
    ev.LoopEnd: _loop_end,
}
