"""What events do to calls: how far each is, what came of it, and how often the same one was made.

Invariant: as in ``fold``. A call gets one result, once; a decision counts only for the question that it answers.
"""

from __future__ import annotations

import msgspec

from . import events as ev
from .context.moves import add_entry, found_out, give_result
from .messages import Message
from .sizes import Size
from .state import MISTAKES, Repeat, Run, State, result_digest

LONGEST_TRAIL = 24
"""Calls that are looked at for cycles."""
MOST_OUTPUTS = 100
"""Cut outputs that can still be paged through."""


def requested(state: State, event: ev.ApprovalRequested, seq: int, item: ev.Recorded) -> None:
    """A call waits for a person."""
    if (call := state.find_call(event.call_id)) is not None:
        call.status, call.digest, call.arguments = "asked", event.digest, event.arguments
        call.deadline, call.versions, call.offer = event.deadline, event.versions, event.offer


def decided(state: State, event: ev.ApprovalDecided, seq: int, item: ev.Recorded) -> None:
    """A person answered, or nobody did in time."""
    call = state.find_call(event.call_id)
    if call is None or call.status != "asked" or call.digest != event.digest:
        return
    call.reason, call.decision, call.decided_by = event.reason, event.decision, event.by
    if event.decision == "approved" and event.arguments is not None:  # edited: a new question, with a new digest
        call.call = msgspec.structs.replace(call.call, arguments=event.arguments, repaired=False)
        call.status, call.digest, call.arguments, call.decision = "new", None, None, None
        call.edited = True
    else:
        call.status = "approved" if event.decision == "approved" else "denied"
        if event.decision == "expired":
            call.deadline = 0.0


def started(state: State, event: ev.ToolCallStarted, seq: int, item: ev.Recorded) -> None:
    """A call is about to run."""
    call = state.find_call(event.call_id)
    if call is None:
        return
    if call.attempts == 0 and state.run is not None:
        state.run.calls += 1
        state.session_calls += 1
    call.status, call.attempts, call.digest = "started", event.attempt, event.digest


def finished(state: State, event: ev.ToolCallFinished, seq: int, item: ev.Recorded) -> None:
    """A call has its result, which also counts for the guards."""
    call = state.find_call(event.call_id)
    if call is None or call.result is not None:
        return
    uncertain = event.error is not None and event.error.type == "uncertain" and call.status != "cut"
    call.doubted = uncertain or (call.doubted and call.status != "cut")
    call.status, call.failed = "uncertain" if uncertain else "done", not event.ok
    give_result(state, call, event.content, seq)
    run = state.run
    if event.truncated is not None:
        state.outputs[event.call_id] = event.truncated
        if len(state.outputs) > MOST_OUTPUTS:
            del state.outputs[next(iter(state.outputs))]
    if run is None or not event.digest:
        return
    rules = run.rules(event.tool)
    if rules.untrusted and (event.ok or call.attempts):
        state.untrusted_read = True  # what outsiders wrote may stand in an error, too
    key, result = f"{event.tool}:{event.digest}", None
    mistaken = event.error is not None and event.error.type in MISTAKES
    if call.attempts or event.cached or mistaken:
        result = result_digest(event.content)
        run.trail.append(f"{key}:{result}")
        del run.trail[:-LONGEST_TRAIL]
    if rules.tier != "READ" and call.attempts:
        run.repeats.clear()
        run.refused.clear()
    elif result is not None:
        known = run.repeats.get(key)
        if known is None or known.result != result:
            run.repeats[key] = Repeat(1, result)
        else:
            known.count += 1


def resolved(state: State, event: ev.OutcomeResolved, seq: int, item: ev.Recorded) -> None:
    """It was found out what became of a call of unknown outcome."""
    call = state.find_doubted(event.call_id)
    if call is None or call.status != "uncertain":
        return
    call.resolved = event.outcome
    if not any(call is one for one in state.entries[-1].calls):  # requests held it before: they begin anew
        state.manifest, state.manifest_seq = [], 0
    if call in state.doubts:
        found_out(state, call, event.content or event.outcome)
        return
    if event.outcome == "send_again":
        call.status, call.result = "approved", None
        state.size, call.size = state.size.minus(call.size), Size()
    else:
        call.status, call.failed = "done", event.outcome != "happened"
        if event.content is not None:
            give_result(state, call, event.content, seq)


def tripped(state: State, event: ev.GuardTripped, seq: int, item: ev.Recorded) -> None:
    """A guard spoke: of a call, or to the model."""
    run = state.run
    if run is None:
        return
    if event.guard in ("repeated_call", "cycle") and isinstance(key := event.evidence.get("call"), str):
        run.refused[key] = run.refused.get(key, 0) + 1
        if event.guard == "cycle":  # it goes round with the rest, so that the next one is seen to go on with it
            run.trail += [one for one in run.trail if one.rpartition(":")[0] == key][-1:]
            del run.trail[:-LONGEST_TRAIL]
    if event.action == "ended":
        run.ending = event.guard
    elif event.action == "warned":
        run.nudged = (*run.nudged, event.guard)
        if isinstance(note := event.evidence.get("note"), str):
            add_entry(state, seq, Message("user", note), note=True)


def cut_off(state: State, run: Run | None) -> None:
    """Takes the calls of the newest message out of everybody's hands: what is open gets no result of its own."""
    for call in state.entries[-1].calls if state.entries else ():
        if call.result is None:
            call.doubted = call.may_have_happened(run)
            call.status, call.decision = "cut", None
        else:
            call.status = "done"
