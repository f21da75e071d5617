"""What each event changes, and what it leaves alone."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import msgspec
import pytest

from agent_core import events as ev
from agent_core.context.build import build_messages
from agent_core.decide import close_calls, waits
from agent_core.fold import fold, message_text
from agent_core.fold_calls import MOST_OUTPUTS
from agent_core.messages import Usage
from agent_core.state import LONGEST_GAP, State
from tests.support.logs import (
    CONTENTS,
    START,
    answer,
    asked,
    begun,
    call,
    decided,
    ended,
    finished,
    folded,
    recorded,
    said,
    started,
    step_started,
)

# --- sessions and runs


def test_the_first_event_says_whose_session_it_is() -> None:
    state = folded(ev.SessionStarted(owner="o", tenant="t", profile="p", salt="s"))
    assert (state.session_id, state.owner, state.tenant, state.profile, state.salt) == ("s", "o", "t", "p", "s")
    assert not state.running


def test_a_run_begins_with_counters_at_nothing_and_ends_with_its_reason() -> None:
    state = folded(*begun(), ended())
    assert state.run is not None
    assert state.run.end is not None
    assert (state.run.steps, state.run.calls, state.run.cost) == (0, 0, None)
    assert not state.running


def test_a_run_that_goes_on_keeps_the_counters_of_the_one_before() -> None:
    spent = ev.StepEnd(step=1, outcome="message", usage=Usage(10, 5, 15), cost=ev.Cost(Decimal(1), "CNY"))
    before = [*begun(), answer(None, call()), spent, started(), finished()]
    paused = folded(*before, ended("awaiting_approval"), begun(run_id="r2", resumes="r1")[1])
    assert paused.run is not None
    assert (paused.run.steps, paused.run.calls, paused.run.usage.total_tokens) == (1, 1, 15)
    assert paused.run.repeats
    assert paused.run.active == 6.0
    fresh = folded(*before, ended("awaiting_approval"), begun(run_id="r2")[1])
    assert fresh.run is not None
    assert (fresh.run.steps, fresh.run.calls, fresh.run.active) == (0, 0, 0.0)
    assert fresh.session_calls == 1, "calls of the session go on being counted"


@pytest.mark.parametrize(
    ("event", "field"),
    [
        (ev.RunInterrupted(by="user"), "interrupted"),
        (ev.GuardTripped(guard="repeated_call", action="ended", evidence={}), "ending"),
    ],
)
def test_an_end_that_was_decided_before_a_crash_still_holds_for_who_goes_on(event: Any, field: str) -> None:
    cut_short = folded(*begun(), event, begun(run_id="r2", resumes="r1")[1])
    assert getattr(cut_short.run, field)
    after_its_end = folded(*begun(), event, ended("interrupted"), begun(run_id="r2", resumes="r1")[1])
    assert not getattr(after_its_end.run, field)


def test_time_at_work_counts_pauses_between_processes_only_in_part() -> None:
    log = recorded([*begun(), step_started()])
    late = msgspec.structs.replace(log[-1], at=START + 50_000)
    state = fold([*log[:-1], late], CONTENTS)
    assert state.run is not None
    assert state.run.active == 1.0 + LONGEST_GAP
    assert state.run.seconds(START + 50_002) == state.run.active + 2.0
    assert state.run.seconds(START) == state.run.active, "a clock that goes back takes nothing away"


# --- messages


def test_what_is_volatile_stands_behind_the_message() -> None:
    parts = (ev.TextPart("one"), ev.FilePart("a.csv", "text/csv", "hash", 3), ev.TextPart("two"))
    assert message_text(parts, ()) == "one\n\n[file: a.csv]\n\ntwo"
    assert message_text(parts[:1], (ev.Frozen("today", "Monday"),)) == "one\n\n[today: Monday]"


def test_a_message_is_remembered_by_its_client_id_and_content() -> None:
    state = folded(*begun(), said("a", client_message_id="m1"), said("a", client_message_id="m2"))
    assert set(state.said) == {"m1", "m2"}
    assert state.said["m1"] == state.said["m2"]
    assert state.said["m1"] != folded(*begun(), said("b", client_message_id="m1")).said["m1"]


def queued(text: str, client_id: str | None = None) -> ev.MessageQueued:
    return ev.MessageQueued(content=(ev.TextPart(text),), author="user", client_message_id=client_id)


def test_a_queued_message_waits_until_it_is_said() -> None:
    waiting = folded(*begun(), queued("a", "m1"), queued("b"), queued("b"), queued("c", "m3"))
    assert [one.content for one in waiting.queue] == [(ev.TextPart(text),) for text in "abbc"]
    assert [entry.message.content for entry in waiting.entries] == ["还有货吗？"], "it is not part of the talk yet"
    assert "m1" in waiting.said
    after = folded(*begun(), queued("a", "m1"), queued("b"), queued("b"), said("a", client_message_id="m1"), said("b"))
    assert [one.content for one in after.queue] == [(ev.TextPart("b"),)]


# --- the model


def test_attempts_are_counted_until_the_answer_comes() -> None:
    failed = ev.ModelAttemptFailed(step=1, attempt=1, kind="overloaded", message="busy", wait=2.0)
    state = folded(*begun(), step_started(), failed, step_started(1, 2), failed)
    assert state.run is not None
    assert (state.run.attempt, state.run.waited) == (2, 4.0)
    assert state.run.retry_at == START + 6 + 2.0
    answered = folded(*begun(), step_started(), failed, step_started(1, 2), answer())
    assert answered.run is not None
    assert (answered.run.steps, answered.run.attempt, answered.run.waited, answered.run.retry_at) == (1, 0, 0.0, None)


def test_a_failure_without_a_next_attempt_is_kept_as_the_reason() -> None:
    state = folded(*begun(), ev.ModelAttemptFailed(step=1, attempt=1, kind="auth", message="no key", wait=None))
    assert state.run is not None
    assert state.run.failure == "no key"


def test_usage_and_cost_add_up_over_steps() -> None:
    steps = [
        ev.StepEnd(step=1, outcome="message", usage=Usage(10, 5, 15), cost=ev.Cost(Decimal("0.10"), "CNY")),
        ev.StepEnd(step=2, outcome="message"),
        ev.StepEnd(
            step=3, outcome="failed", usage=Usage(1, None, 1, cached_tokens=1), cost=ev.Cost(Decimal("0.2"), "CNY")
        ),
    ]
    run = folded(*begun(), *steps).run
    assert run is not None
    assert run.usage == Usage(11, 5, 16, cached_tokens=1)
    assert run.cost == ev.Cost(Decimal("0.30"), "CNY")


def test_a_refusal_stands_for_the_answer() -> None:
    state = folded(*begun(), answer(None, refusal="I must not."))
    assert state.entries[-1].message.content == "I must not."


def test_manifests_are_continued_or_begun_anew() -> None:
    log = [*begun(), step_started(1, 1, "a", "b"), step_started(2, 1, "c", base=4)]
    assert folded(*log).manifest == ["a", "b", "c"]
    assert folded(*log).manifest_seq == 5
    assert folded(*log, step_started(3, 1, "x")).manifest == ["x"]


# --- calls


def test_results_stand_in_the_order_of_the_calls_whatever_came_first() -> None:
    begin = [*begun(), answer(None, call("c1"), call("c2")), started("c1"), started("c2", index=1)]
    one = folded(*begin, finished("c1", "A"), finished("c2", "B", index=1))
    other = folded(*begin, finished("c2", "B", index=1), finished("c1", "A"))
    assert [m.content for m in build_messages(one, "")] == [m.content for m in build_messages(other, "")]
    assert [m.content for m in build_messages(one, "")][-2:] == ["A", "B"]


def test_a_second_result_of_a_call_changes_nothing() -> None:
    first = folded(*begun(), answer(None, call()), started(), finished(content="A"))
    second = folded(*begun(), answer(None, call()), started(), finished(content="A"), finished(content="B"))
    assert second.entries == first.entries


def test_an_id_of_an_earlier_message_is_never_taken_for_that_call() -> None:
    state = folded(*begun(), answer(None, call("c1")), finished("c1", "A"), answer(None, call("c1")), started("c1"))
    assert state.entries[1].calls[0].result is not None
    assert state.entries[2].calls[0].status == "started"
    assert [one.status for one in state.open_calls()] == ["started"]


def test_only_the_first_start_of_a_call_is_counted() -> None:
    state = folded(*begun(), answer(None, call()), started(), started(attempt=2))
    assert state.run is not None
    assert (state.run.calls, state.session_calls) == (1, 1)
    assert state.open_calls()[0].attempts == 2


def test_identical_results_of_reads_are_counted_until_something_is_written() -> None:
    def reading(call_id: str, content: str, step: int) -> list[Any]:
        return [answer(None, call(call_id), step=step), started(call_id), finished(call_id, content)]

    twice = [*begun(), *reading("c1", "7", 1), *reading("c2", "7", 2)]
    run = folded(*twice).run
    assert run is not None
    assert run.repeats["look_up:d1"].count == 2
    changed = folded(*twice, *reading("c3", "8", 3)).run
    assert changed is not None
    assert changed.repeats["look_up:d1"].count == 1
    written = folded(*twice, answer(None, call("c3", "change")), started("c3", "change"), finished("c3", tool="change"))
    assert written.run is not None
    assert written.run.repeats == {}
    refused = folded(
        *twice,
        answer(None, call("c3", "change")),
        finished("c3", tool="change", digest="", error=ev.Fault("denied", "no")),
    )
    assert refused.run is not None
    assert refused.run.repeats["look_up:d1"].count == 2, "a write that was refused wrote nothing"


def test_outputs_that_were_cut_are_found_by_call_the_newest_hundred() -> None:
    events: list[Any] = [*begun()]
    for number in range(MOST_OUTPUTS + 5):
        call_id = f"c{number}"
        events += [answer(None, call(call_id)), finished(call_id, truncated=ev.Truncation(9000, 4000, f"w{number}"))]
    outputs = folded(*events).outputs
    assert len(outputs) == MOST_OUTPUTS
    assert "c4" not in outputs
    assert outputs["c104"].whole == "w104"


# --- decisions


def test_a_decision_is_bound_to_the_arguments_that_were_shown() -> None:
    question = [*begun(), answer(None, call("c1", "change")), asked()]
    assert folded(*question).open_calls()[0].status == "asked"
    assert folded(*question, decided()).open_calls()[0].status == "approved"
    assert folded(*question, decided("c1", "denied", reason="no")).open_calls()[0].reason == "no"
    other = msgspec.structs.replace(decided(), digest="other")
    assert folded(*question, other).open_calls()[0].status == "asked"
    assert folded(*begun(), answer(None, call("c1", "change")), decided()).open_calls()[0].status == "new"


def test_the_first_decision_stands() -> None:
    question = [*begun(), answer(None, call("c1", "change")), asked()]
    state = folded(*question, decided("c1", "denied"), decided("c1", "approved"))
    assert state.open_calls()[0].status == "denied"


def test_edited_arguments_are_a_new_question() -> None:
    question = [*begun(), answer(None, call("c1", "change", '{"n":1}')), asked()]
    edited = folded(*question, decided(arguments='{"n":2}')).open_calls()[0]
    assert (edited.status, edited.call.arguments, edited.digest) == ("new", '{"n":2}', None)


def test_an_uncertain_call_has_a_result_and_waits_to_be_resolved() -> None:
    doubt = ev.Fault("uncertain", "who knows")
    log = [*begun(), answer(None, call("c1", "change")), asked(), decided(), started(tool="change")]
    log += [finished(content="?", tool="change", error=doubt)]
    state = folded(*log)
    assert state.entries[-1].calls[0].status == "uncertain"
    assert state.open_calls() == []

    def resolved(outcome: Any, content: str | None = None) -> Any:
        event = ev.OutcomeResolved(call_id="c1", outcome=outcome, by="boss", content=content)
        return folded(*log, event).entries[-1].calls[0]

    assert resolved("happened", "done").result.content == "done"
    assert resolved("happened", "done").status == "done"
    assert resolved("did_not_happen", "nothing").result.content == "nothing"
    again = resolved("send_again")
    assert (again.status, again.result, again.attempts) == ("approved", None, 1)
    settled = folded(
        *begun(), answer(None, call()), finished(), ev.OutcomeResolved(call_id="c1", outcome="send_again", by="x")
    )
    assert settled.open_calls() == [], "only what is uncertain can be resolved"


def test_grants_stand_until_they_are_revoked() -> None:
    grant = ev.TrustGranted(grant_id="g1", tool="change", by="boss")
    assert folded(*begun(), grant).grants == {"g1": grant}
    assert folded(*begun(), grant, ev.TrustRevoked(grant_id="g1", by="boss")).grants == {}
    assert folded(*begun(), ev.TrustRevoked(grant_id="g9", by="boss")).grants == {}


# --- guards and compaction


def test_a_warning_is_said_to_the_model_once_for_each_kind() -> None:
    warning = ev.GuardTripped(guard="empty_response", action="warned", evidence={"note": "[Answer.]"})
    state = folded(*begun(), answer(None), warning)
    assert state.entries[-1].note
    assert state.entries[-1].message.content == "[Answer.]"
    assert state.run is not None
    assert state.run.nudged == ("empty_response",)


def test_compaction_takes_whole_events_away_and_begins_a_new_manifest() -> None:
    log = [*begun(), answer("first"), said("second"), answer("third"), step_started(1, 1, "a")]
    dropped = folded(*log, ev.ContextCompacted(kind="dropped", from_seq=3, to_seq=4))
    assert [entry.seq for entry in dropped.entries] == [5, 6]
    assert (dropped.manifest, dropped.manifest_seq, dropped.dropped) == ([], 0, 4)
    assert "left out" in (build_messages(dropped, "sys")[1].content or "")
    summed = folded(*log, ev.ContextCompacted(kind="summarised", from_seq=3, to_seq=4, summary="They said hello."))
    front = build_messages(summed, "sys")[1]
    assert front.role == "user", "what results of tools went into does not speak as the system"
    assert "They said hello." in (front.content or "")


def test_clipping_shortens_what_is_in_its_range_only() -> None:
    log = [*begun(), answer("x" * 900), answer(None, call()), finished(content="y" * 900), answer("z" * 900)]
    state = folded(*log, ev.ContextCompacted(kind="clipped", from_seq=4, to_seq=5, keep=90))
    lengths = [len(message.content or "") for message in build_messages(state, "")]
    assert lengths[1] < 250
    assert lengths[3] < 250
    assert lengths[4] == 900
    assert state.entries[1].size.other < folded(*log).entries[1].size.other


# --- forks and rollback


_TAILS: dict[str, list[Any]] = {
    "fork": [ev.SessionStarted(parent=ev.Parent("s", 9), salt="new")],
    "rollback": [ev.RolledBack(to_seq=6, by="boss")],
}


@pytest.mark.parametrize("tail", ["fork", "rollback"])
def test_what_was_open_is_closed_truthfully(tail: str) -> None:
    grant = ev.TrustGranted(grant_id="g1", tool="change", by="boss")
    log = [*begun(), grant, queued("later"), answer(None, call("c1"), call("c2", "change"), call("c3", "change"))]
    log += [started("c1"), started("c2", "change", index=1), asked("c3")]
    after = [*log, *_TAILS[tail]]
    state = folded(*after)
    assert state.run is None
    assert (state.manifest, state.manifest_seq) == ([], 0)
    if tail == "fork":
        assert (state.grants, state.queue) == ({}, [])
        assert state.salt == "new"
    else:
        assert state.grants
        assert state.queue
    closed = folded(*after, *close_calls(state))
    assert closed.open_calls() == []
    assert not waits(closed, START + 99), "nobody has to decide about it here"
    contents = dict(_results(closed))
    assert '"cancelled"' in contents["c3"], "what was never begun did not happen"
    assert '"cancelled"' in contents["c1"], "a read that was cut off can be made again"
    assert '"uncertain"' in contents["c2"], "a write that had begun may have taken effect, whatever is taken back"


def _results(state: State) -> list[tuple[str, str]]:
    return [(one.call.id, one.result.content or "") for one in state.entries[-1].calls if one.result is not None]


def test_a_fork_keeps_the_results_that_it_inherits() -> None:
    log = [*begun(), answer(None, call()), started(), finished(content="7")]
    state = folded(*log, ev.SessionStarted(parent=ev.Parent("s", 6), salt="new"))
    assert [message.content for message in build_messages(state, "")][-1] == "7"


def test_a_rollback_takes_the_talk_back_and_nothing_else() -> None:
    log = [*begun(), answer("a"), said("b", client_message_id="m1"), answer(None, call("c1", "change")), asked()]
    log += [decided(), started(tool="change"), finished(tool="change"), answer("done")]
    state = folded(*log, ev.RolledBack(to_seq=4, by="boss"))
    assert [entry.seq for entry in state.entries] == [3, 4]
    assert state.session_calls == 1
    assert "m1" in state.said
    log.append(ev.RolledBack(to_seq=8, by="boss"))
    within = folded(*log, *close_calls(folded(*log)))
    result = within.entries[-1].calls[0].result
    assert result is not None
    assert '"uncertain"' in (result.content or ""), "a write that happened is not said to have been cancelled"
