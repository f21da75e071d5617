"""Decides for each call of a message whether it runs, is answered at once, or waits for a person.

Invariant: pure. The verdicts depend on the state, the judged calls and the time given, in the order of the calls;
nothing that is not READ is released without a decision bound to the digest of exactly these arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct, field

from .. import events as ev
from ..messages import ToolCall
from ..state import Call, Run, State
from .faults import finished_with
from .registry import Judged

Judge = Callable[[ToolCall], Judged | ev.Fault]


class Release(Struct, frozen=True):
    """A call that runs now."""

    call: Call
    judged: Judged
    attempt: int
    key: str

    def started(self) -> ev.ToolCallStarted:
        """The intent, to be stored before the effect."""
        return ev.ToolCallStarted(
            call_id=self.call.call.id,
            index=self.call.index,
            attempt=self.attempt,
            tool=self.judged.tool.name,
            digest=self.judged.digest,
            idempotency_key=self.key,
        )


class Admission(Struct):
    """The verdicts on the calls of one message: events that settle some of them, and those that run or are to be
    asked.
    """

    events: list[ev.DurableEvent] = field(default_factory=list)
    release: list[Release] = field(default_factory=list)
    ask: list[tuple[Call, Judged]] = field(default_factory=list)


def admit(state: State, run: Run, calls: Sequence[Call], judge: Judge, now: float) -> Admission:
    """Judges ``calls`` in order. Counters of the run are taken as they will be once the earlier ones have been
    released.
    """
    admission = Admission()
    batch = _Batch(run)
    for call in calls:
        _admit_one(state, run, call, judge, now, batch, admission)
    return admission


class _Batch:
    """What the calls released so far in this batch will have done to the counters."""

    def __init__(self, run: Run) -> None:
        self.calls = run.calls
        self.same: dict[str, int] = {}
        self.refused = dict(run.refused)
        self.ended = run.ending is not None


def _admit_one(
    state: State, run: Run, call: Call, judge: Judge, now: float, batch: _Batch, admission: Admission
) -> None:
    if batch.ended:
        admission.events.append(
            finished_with(call, ev.Fault("cancelled", "The run was ended by a guard before this call."))
        )
        return
    verdict = _decided(call, now) or judge(call.call)
    if isinstance(verdict, ev.Fault):
        if verdict.type == "expired" and call.status == "asked":
            admission.events.append(
                ev.ApprovalDecided(call_id=call.call.id, digest=call.digest or "", decision="expired", by="clock")
            )
        admission.events.append(finished_with(call, verdict))
        return
    if call.attempts:  # a crash left it open, or a person said: send again
        _admit_again(state, call, verdict, admission)
        return
    if (limit := _over_limit(state, run, call, batch)) is not None:
        guard, fault, evidence = limit
        admission.events.append(
            ev.GuardTripped(guard=guard, action="answered", evidence=evidence, call_ids=(call.call.id,))
        )
        admission.events.append(finished_with(call, fault))
        return
    if verdict.tool.tier == "READ":
        if _refuse_repeat(run, call, verdict, batch, admission):
            return
    elif call.status != "approved" or call.digest != verdict.digest:
        admission.ask.append((call, verdict))
        return
    batch.calls += 1
    admission.release.append(Release(call, verdict, 1, idempotency_key(state.session_id, call)))


def idempotency_key(session_id: str, call: Call) -> str:
    """From the place of the call in the log: the same on every attempt, different for every call."""
    return f"{session_id}.{call.seq}.{call.index}"


def _decided(call: Call, now: float) -> ev.Fault | None:
    if call.status == "asked" and call.deadline is not None and now >= call.deadline:
        return ev.Fault("expired", "Nobody answered the question in time.", "Ask again if it is still wanted.")
    if call.status == "denied":
        if call.deadline == 0.0:
            return ev.Fault("expired", "Nobody answered the question in time.", "Ask again if it is still wanted.")
        said = f" They said: {call.reason}" if call.reason else ""
        return ev.Fault("denied", f"A person refused this call.{said}", "Do not repeat it; follow what was said.")
    return None


def _admit_again(state: State, call: Call, judged: Judged, admission: Admission) -> None:
    if judged.tool.repeatable or call.status == "approved":
        key = idempotency_key(state.session_id, call)
        admission.release.append(Release(call, judged, call.attempts + 1, key))
        return
    fault = ev.Fault(
        "uncertain",
        "The call was started, then the program stopped; whether it took effect is not known.",
        "A person has to look it up before anything is sent again.",
    )
    admission.events.append(finished_with(call, fault, digest=judged.digest))


def _over_limit(state: State, run: Run, call: Call, batch: _Batch) -> tuple[str, ev.Fault, dict[str, int]] | None:
    config = run.environment.config
    if call.index >= config.max_calls_per_step:
        limit = config.max_calls_per_step
        fault = ev.Fault(
            "limit", f"Only {limit} calls of one message are carried out.", "Ask for the rest in the next step."
        )
        return "calls_per_step", fault, {"index": call.index, "limit": limit}
    if batch.calls >= config.max_calls:
        limit = config.max_calls
        fault = ev.Fault("limit", f"The limit of {limit} calls per run is used up.", "Answer with what is known.")
        return "calls_per_run", fault, {"calls": batch.calls, "limit": limit}
    limit_session = config.max_calls_per_session
    in_session = state.session_calls + batch.calls - run.calls
    if limit_session is not None and in_session >= limit_session:
        fault = ev.Fault(
            "limit", f"The limit of {limit_session} calls per session is used up.", "Answer with what is known."
        )
        return "calls_per_session", fault, {"calls": in_session, "limit": limit_session}
    return None


def _refuse_repeat(run: Run, call: Call, judged: Judged, batch: _Batch, admission: Admission) -> bool:
    """Counts identical calls, those released in this batch included, and answers or ends as the ladder says."""
    key = f"{judged.tool.name}:{judged.digest}"
    known = run.repeats.get(key)
    seen = (known.count if known else 0) + batch.same.get(key, 0)
    allowed = run.environment.config.same_call_runs
    if seen < allowed:
        batch.same[key] = batch.same.get(key, 0) + 1
        return False
    ends = batch.refused.get(key, 0) > 0
    batch.refused[key] = batch.refused.get(key, 0) + 1
    batch.ended = batch.ended or ends
    evidence = {"call": key, "arguments": judged.arguments, "runs": seen, "refused": batch.refused[key]}
    admission.events.append(
        ev.GuardTripped(
            guard="repeated_call", action="ended" if ends else "answered", evidence=evidence, call_ids=(call.call.id,)
        )
    )
    fault = ev.Fault(
        "repeated_call",
        f"This call was made {seen} times with the same result.",
        "Use the result you have, or change the arguments; one more repeat ends the run.",
    )
    admission.events.append(finished_with(call, fault, digest=judged.digest))
    return True


def approval_request(
    call: Call, judged: Judged, preview: ev.Preview, target: str | None, deadline: float | None
) -> ev.ApprovalRequested:
    """The question for a person about one call."""
    return ev.ApprovalRequested(
        call_id=call.call.id,
        index=call.index,
        tool=judged.tool.name,
        tier=judged.tool.tier.value,
        arguments=judged.arguments,
        digest=judged.digest,
        preview=preview,
        target=target,
        deadline=deadline,
    )
