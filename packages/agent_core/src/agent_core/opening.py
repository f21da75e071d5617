"""What a run begins with, and what it leaves behind closed: a new message, a resume, the next message of the queue.

Invariant: pure functions of the newest state; a session whose run was cut short simply goes on, so mostly there is
nothing to append.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence

import msgspec

from . import events as ev
from .decide import close_calls, waits
from .errors import Refused
from .state import Run, State, digest_parts


def new_run_id() -> str:
    """Unique for ever."""
    return "run-" + secrets.token_hex(6)


def next_opening(
    state: State,
    begins: ev.RunStarted,
    said: ev.UserMessage | None,
    taking_back: Sequence[ev.DurableEvent] | None,
    now: float,
) -> list[ev.DurableEvent]:
    """What a drive of a session that there is begins with: calls that take something back, what is said, or what it
    needs to go on. What was said before under its id is not said again.

    Raises ``Refused`` when something else was said under that id.
    """
    if taking_back is not None:
        return [*abandonment(state), begins, *taking_back]
    if said is None:
        return resumption(state, begins, now)
    known = state.said.get(said.client_message_id or "")
    if known is None:
        return [*abandonment(state), begins, said]
    if known != digest_parts(said.content):
        raise Refused(f"Another message was sent under the id {said.client_message_id!r} before.")
    return resumption(state, begins, now)


def resumption(state: State, begins: ev.RunStarted, now: float) -> list[ev.DurableEvent]:
    """What has to be appended before a session can go on; nothing when it can, or when there is nothing to do."""
    run = state.run
    queued: list[ev.DurableEvent] = [begins, taken_from_queue(state)] if state.queue else []
    if run is None:  # a fork, or rolled back
        answered = not state.entries or (state.entries[-1].message.role == "assistant" and not state.entries[-1].calls)
        return queued if answered else [begins]
    if run.end is None:
        same = run.environment_name == begins.environment
        return [] if same else [msgspec.structs.replace(begins, resumes=run.run_id)]
    if run.end.reason == "awaiting_approval":
        return [] if waits(state, now) else [msgspec.structs.replace(begins, resumes=run.run_id)]
    return queued if run.end.completed else [begins]


def abandonment(state: State) -> list[ev.DurableEvent]:
    """Closes what a new message leaves behind: open calls, and a run that never ended."""
    events: list[ev.DurableEvent] = list(close_calls(state))
    if state.running and state.run is not None:
        events.append(ending(state.run, "interrupted", "The run was cut short and a new message followed."))
    return events


def ending(run: Run, reason: ev.EndReason, message: str | None) -> ev.LoopEnd:
    """The end of a run, with its sums."""
    return ev.LoopEnd(
        run_id=run.run_id,
        steps=run.steps,
        completed=reason == "completed",
        reason=reason,
        usage=run.usage,
        cost=run.cost,
        message=message,
    )


def next_in_queue(state: State) -> list[ev.DurableEvent]:
    """The run that the oldest waiting message begins, under the environment of the one that just ended."""
    run = state.run
    if run is None or not state.queue:
        return []
    begins = ev.RunStarted(
        run_id=new_run_id(),
        by=state.queue[0].author,
        environment=run.environment_name,
        model=run.model,
        base_seq=state.seq,
        calibration=run.calibration,
    )
    return [begins, taken_from_queue(state)]


def taken_from_queue(state: State) -> ev.UserMessage:
    """The oldest waiting message, said."""
    oldest = state.queue[0]
    return ev.UserMessage(
        content=oldest.content,
        author=oldest.author,
        client_message_id=oldest.client_message_id,
        context=oldest.context,
    )
