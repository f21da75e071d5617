"""What today's code would append next, from the state before an event of a log.

Invariant: pure; it goes through the same functions as a driver does (``next_action``, ``admit``, ``put``), with the
world's part read from the log (see ``rejudge``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from .. import events as ev
from ..answers import AnswerChecker, checked
from ..asking import allowed_at_once, put
from ..context.build import request_tokens
from ..decide import CallModel, CheckAnswer, Finish, Note, SettleCalls, Summarise, close_calls, next_action
from ..opening import abandonment, ending
from ..state import Run, State
from ..tools.admission import DOUBT, Desk, admit
from ..tools.faults import finished_with
from ..tools.registry import Registry
from .rejudge import World


class Expectation(Struct):
    """Events in order, and the calls that get the result of another one (by id)."""

    events: list[ev.DurableEvent] = field(default_factory=list)
    twins: dict[str, str] = field(default_factory=dict)


def expected(
    state: State,
    items: Sequence[ev.Recorded],
    place: int,
    now: float,
    prompt: str,
    registry: Registry,
    checkers: Mapping[str, AnswerChecker],
) -> Expectation:
    """What a driver appends next on ``state``, which is that before ``items[place]``; ``now`` in Unix seconds. What a
    checker that is not among ``checkers`` found is taken as it was recorded.
    """
    run = state.run
    if run is None or run.end is not None:
        return Expectation([*close_calls(state)] if any(call.status == "cut" for call in state.open_calls()) else [])
    match next_action(state, now, prompt):
        case CallModel(step, attempt):
            tokens = request_tokens(state, prompt, run.environment.tool_tokens)
            manifest = ev.Manifest((), "")
            return Expectation([ev.StepStarted(step=step, attempt=attempt, request=manifest, estimated_tokens=tokens)])
        case SettleCalls(call_ids):
            return _settled(state, run, call_ids, World(registry, items, place), now)
        case Note(events):
            return Expectation([*events])
        case Summarise(from_seq, to_seq):
            return Expectation([_summed(from_seq, to_seq, items[place].event)])
        case CheckAnswer():
            checker, recorded = checkers.get(run.environment.config.answer_check or ""), items[place].event
            if checker is not None:
                return Expectation([checked(state, checker)])
            answer = ev.AnswerChecked(answer_seq=state.entries[-1].seq)
            same = isinstance(recorded, ev.AnswerChecked) and recorded.answer_seq == answer.answer_seq
            return Expectation([recorded if same else answer])  # type: ignore[list-item]
        case Finish(reason, message):
            return Expectation([ending(run, reason, message)])
    return Expectation()


def _summed(from_seq: int, to_seq: int, recorded: ev.AnyEvent) -> ev.ContextCompacted | ev.SummaryFailed:
    """What came of a summary is the world's; that this range was to be summarised is the runtime's."""
    if isinstance(recorded, ev.SummaryFailed):
        return ev.SummaryFailed(from_seq=from_seq, to_seq=to_seq, kind=recorded.kind, message=recorded.message)
    return ev.ContextCompacted(kind="summarised", from_seq=from_seq, to_seq=to_seq)


def left_behind(state: State, items: Sequence[ev.Recorded], place: int) -> Expectation:
    """What a new message or a rollback closes before it goes on, where one follows on ``items[place]``."""
    return Expectation([*abandonment(state)] if _is_left_behind(items, place) else [])


def _settled(state: State, run: Run, call_ids: tuple[str, ...], world: World, now: float) -> Expectation:
    calls = [call for call in state.open_calls() if call.call.id in call_ids]
    admission = admit(state, run, calls, Desk(world.judge, world.cached, now))
    events = list(admission.events)
    events += [finished_with(release.call, DOUBT, digest=release.judged.digest) for release in admission.doubtful]
    changed = [release for release in admission.release if world.has_changed(release.call)]
    asked = [
        *admission.ask,
        *((release.call, release.judged, "changed") for release in changed),
    ]
    for call, judged, why in asked:
        shown = world.shown(call, judged)
        events += [shown] if isinstance(shown, ev.ToolCallFinished) else put(state, run, call, judged, why, shown, now)
    if not allowed_at_once(events):
        events += [release.started() for release in admission.release if release not in changed]
    return Expectation(events, {call.call.id: twin for call, _, twin in admission.twins})


def _is_left_behind(items: Sequence[ev.Recorded], place: int) -> bool:
    """Whether a new message or a rollback closed here what it left behind: results and an end, right before it."""
    rest = [item.event for item in items[place : place + 200]]
    position = 0
    while position < len(rest) and isinstance(rest[position], ev.ToolCallFinished):
        position += 1
    if position < len(rest) and isinstance(end := rest[position], ev.LoopEnd) and end.reason == "interrupted":
        position += 1
    following = rest[position : position + 2]
    if position == 0 or not following:
        return False
    if isinstance(following[0], ev.RolledBack):
        return True
    begins = following[0]
    return isinstance(begins, ev.RunStarted) and begins.resumes is None and isinstance(following[-1], ev.UserMessage)
