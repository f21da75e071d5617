"""Decides for each call of a message whether it runs, is answered at once, or waits for a person.

Invariant: pure. The verdicts depend on the state, the judged calls and the time given, in the order of the calls;
nothing that has to be asked is released without a decision bound to the digest of exactly these arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct, field

from .. import events as ev
from ..messages import ToolCall
from ..permission import Verdict, Why, standing
from ..state import MISTAKES, Call, Run, State, result_digest
from ..text import REPEAT_NOTICE
from .cache import CachedResult
from .canonical import digest
from .faults import finished_with
from .registry import Judged


class Desk(Struct, frozen=True):
    """What the verdicts need besides the state: the judgement of arguments, results kept from before, and the time."""

    judge: Callable[[ToolCall], Judged | ev.Fault]
    cached: Callable[[Judged], CachedResult | None]
    now: float


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
            target=self.judged.target,
        )


class Admission(Struct):
    """The verdicts on the calls of one message."""

    events: list[ev.DurableEvent] = field(default_factory=list)
    """Answers and guards: calls that are settled already."""
    release: list[Release] = field(default_factory=list)
    ask: list[tuple[Call, Judged, Why]] = field(default_factory=list)
    twins: list[tuple[Call, Judged, str]] = field(default_factory=list)
    """Calls that are the same as an earlier one of this batch (its id): they get its result and do not run."""
    doubtful: list[Release] = field(default_factory=list)
    """Calls that a crash left open and that may not simply run again."""


DOUBT = ev.Fault(
    "uncertain",
    "The call was started, then the program stopped; whether it took effect is not known.",
    "A person has to look it up before anything is sent again.",
)
_USE_THAT = "Use the result of that call."
TWIN_IN_DOUBT = ev.Fault(
    "repeated_call", "The same call of this message was begun, and whether it took effect is not known.", _USE_THAT
)


class _Batch:
    """What the calls released so far in this batch will have done to the counters."""

    def __init__(self, run: Run) -> None:
        self.calls = run.calls
        self.same: dict[str, int] = {}
        self.released: dict[str, str] = {}
        self.doubtful: set[str] = set()
        self.asked: set[str] = set()
        self.refused = dict(run.refused)
        self.ended = run.ending is not None


def admit(state: State, run: Run, calls: Sequence[Call], desk: Desk) -> Admission:
    """Judges ``calls`` in order; the counters are taken as they will be once the earlier ones have run."""
    admission, batch = Admission(), _Batch(run)
    for call in calls:
        _admit_one(state, run, call, desk, batch, admission)
    return admission


def idempotency_key(session_id: str, call: Call) -> str:
    """From the place of the call in the log: the same on every attempt, different for every call."""
    return f"{session_id}.{call.seq}.{call.index}"


def _admit_one(state: State, run: Run, call: Call, desk: Desk, batch: _Batch, admission: Admission) -> None:
    if call.attempts and call.status != "approved":
        _admit_again(state, run, call, desk, batch, admission)
        return
    if batch.ended:
        fault = ev.Fault("cancelled", "The run was ended by a guard before this call.")
        admission.events.append(finished_with(call, fault))
        return
    verdict = _decided(call, desk.now) or desk.judge(call.call)
    if isinstance(verdict, ev.Fault):
        if verdict.type == "expired" and call.status == "asked":
            admission.events.append(
                ev.ApprovalDecided(call_id=call.call.id, digest=call.digest or "", decision="expired", by="clock")
            )
        _admit_mistake(run, call, verdict, batch, admission)
        return
    release = Release(call, verdict, call.attempts + 1, idempotency_key(state.session_id, call))
    if not call.attempts and (limit := _over_limit(state, run, call, batch)) is not None:
        admission.events += limit
        return
    tool = verdict.tool
    rules, target = run.rules(tool.name), verdict.target
    permission = standing(run.environment.config.rules, tool.name, rules, target, untrusted_read=state.untrusted_read)
    if _refuse_repeat(run, call, verdict.digest, verdict.arguments, target, batch, admission):
        return
    if permission.decision == "deny":
        admission.events.append(finished_with(call, _denied_by(permission), digest=verdict.digest, target=target))
        return
    key = f"{tool.name}:{verdict.digest}"
    if key in batch.asked:
        fault = ev.Fault("repeated_call", "The same call of this message waits for a person already.", _USE_THAT)
        admission.events.append(finished_with(call, fault, digest=verdict.digest, target=target))
        return
    if key in batch.doubtful:
        admission.events.append(finished_with(call, TWIN_IN_DOUBT, digest=verdict.digest, target=target))
        return
    if (twin := batch.released.get(key)) is not None:
        admission.twins.append((call, verdict, twin))
        return
    if permission.decision == "ask":
        if call.status != "approved" or call.digest != verdict.digest:
            # What was approved with other arguments is shown to a person again, whatever else would allow it.
            admission.ask.append((call, verdict, "changed" if call.status == "approved" else permission.why))
            batch.asked.add(key)
            return
    elif tool.tier == "READ" and (kept := desk.cached(verdict)) is not None:
        admission.events.append(_from_cache(run, call, verdict, kept))
        return
    batch.calls += 1
    batch.released[key] = call.call.id
    admission.release.append(release)


def _admit_again(state: State, run: Run, call: Call, desk: Desk, batch: _Batch, admission: Admission) -> None:
    """A call that a crash left open: it may only run again as exactly what was begun, and where that is safe."""
    verdict = desk.judge(call.call)
    if isinstance(verdict, ev.Fault) or verdict.digest != call.digest:
        if run.rules(call.call.name).tier != "READ":
            admission.events.append(finished_with(call, DOUBT, digest=call.digest or ""))
            if not isinstance(verdict, ev.Fault):
                batch.doubtful.add(f"{verdict.tool.name}:{verdict.digest}")
            return
        if isinstance(verdict, ev.Fault):
            admission.events.append(finished_with(call, verdict))
            return
    release = Release(call, verdict, call.attempts + 1, idempotency_key(state.session_id, call))
    key = f"{verdict.tool.name}:{verdict.digest}"
    if verdict.tool.repeatable:
        admission.release.append(release)
        batch.released[key] = call.call.id
    else:
        admission.doubtful.append(release)
        batch.doubtful.add(key)


def _decided(call: Call, now: float) -> ev.Fault | None:
    expired = ev.Fault("expired", "Nobody answered the question in time.", "Ask again if it is still wanted.")
    if call.status == "asked" and call.deadline is not None and now >= call.deadline:
        return expired
    if call.status != "denied":
        return None
    if call.decision == "expired":
        return expired
    said = f" They said: {call.reason}" if call.reason else ""
    return ev.Fault("denied", f"A person refused this call.{said}", "Do not repeat it; follow what was said.")


def _denied_by(permission: Verdict) -> ev.Fault:
    reason = permission.rule.reason if permission.rule is not None and permission.rule.reason else "A rule forbids it."
    return ev.Fault("denied", f"This call is not allowed. {reason}", "Go on without it.")


def _over_limit(state: State, run: Run, call: Call, batch: _Batch) -> list[ev.DurableEvent] | None:
    config = run.environment.config
    in_session = state.session_calls + batch.calls - run.calls
    if call.index >= config.max_calls_per_step:
        guard, used, limit, scope = "calls_per_step", call.index, config.max_calls_per_step, "message"
    elif batch.calls >= config.max_calls:
        guard, used, limit, scope = "calls_per_run", batch.calls, config.max_calls, "run"
    elif config.max_calls_per_session is not None and in_session >= config.max_calls_per_session:
        guard, used, limit, scope = "calls_per_session", in_session, config.max_calls_per_session, "session"
    else:
        return None
    hint = "Ask for the rest in the next step." if scope == "message" else "Answer with what is known."
    fault = ev.Fault("limit", f"Only {limit} calls per {scope} are carried out.", hint)
    tripped = ev.GuardTripped(
        guard=guard, action="answered", evidence={"used": used, "limit": limit}, call_ids=(call.call.id,)
    )
    return [tripped, finished_with(call, fault)]


def _admit_mistake(run: Run, call: Call, fault: ev.Fault, batch: _Batch, admission: Admission) -> None:
    """Answers a call that cannot be carried out as it stands. The same mistake again and again is a repeat, too."""
    if fault.type not in MISTAKES or call.status != "new":  # what a person said of it counts under its own digest
        admission.events.append(
            finished_with(call, fault, digest=(call.digest or "") if fault.type == "denied" else "")
        )
        return
    arguments = call.call.raw_arguments or call.call.arguments
    written = digest(arguments)
    if not _refuse_repeat(run, call, written, arguments, None, batch, admission):
        admission.events.append(finished_with(call, fault, digest=written))


def _refuse_repeat(
    run: Run, call: Call, written: str, arguments: str, target: str | None, batch: _Batch, admission: Admission
) -> bool:
    """Counts identical calls with identical results, those of this batch included, and answers or ends as the ladder
    says."""
    key = f"{call.call.name}:{written}"
    known = run.repeats.get(key)
    allowed = run.environment.config.same_call_runs
    seen = (known.count if known else 0) + batch.same.get(key, 0)
    guard = "repeated_call"
    if seen < allowed:
        seen, guard = cycle_length(run.trail, key, allowed), "cycle"
        if not seen:
            batch.same[key] = batch.same.get(key, 0) + 1
            return False
    ends = batch.refused.get(key, 0) > 0
    batch.refused[key] = batch.refused.get(key, 0) + 1
    batch.ended = batch.ended or ends
    evidence = {"call": key, "arguments": arguments, "runs": seen, "refused": batch.refused[key]}
    admission.events.append(
        ev.GuardTripped(
            guard=guard, action="ended" if ends else "answered", evidence=evidence, call_ids=(call.call.id,)
        )
    )
    message = (
        f"This call was made {seen} times with the same result."
        if guard == "repeated_call"
        else f"The last {seen} calls go round in a circle, and this one would go on with it."
    )
    hint = "Use the results you have, or try something else; one more repeat ends the run."
    fault = ev.Fault("repeated_call", message, hint)
    admission.events.append(finished_with(call, fault, digest=written, target=target))
    return True


def cycle_length(trail: Sequence[str], key: str, rounds_allowed: int) -> int:
    """How many calls at the end of ``trail`` form at least ``rounds_allowed`` whole rounds of one circle (of 2 to 4
    calls, with the same results each time round) that a call of ``key`` would go on with. 0 when there is none.
    """
    longest = 0
    for period in (2, 3, 4):
        length = period
        while length < len(trail) and trail[-length - 1] == trail[-length - 1 + period]:
            length += 1
        rounds = length // period
        distinct = len(set(trail[-period:])) > 1
        if rounds >= max(2, rounds_allowed) and distinct and trail[-period].rpartition(":")[0] == key:
            longest = max(longest, rounds * period)
    return longest


def _from_cache(run: Run, call: Call, judged: Judged, kept: CachedResult) -> ev.ToolCallFinished:
    known = run.repeats.get(f"{judged.tool.name}:{judged.digest}")
    notice = REPEAT_NOTICE if known is not None and known.result == result_digest(kept.content) else ""
    return ev.ToolCallFinished(
        call_id=call.call.id,
        index=call.index,
        tool=judged.tool.name,
        ok=True,
        content=kept.content + notice,
        digest=judged.digest,
        cached=True,
        target=judged.target,
    )
