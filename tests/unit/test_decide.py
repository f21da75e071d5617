"""What is done next, from the state alone."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from agent_core import events as ev
from agent_core.config import ContextPolicy
from agent_core.decide import (
    LAST_STEP,
    NUDGES,
    CallModel,
    Finish,
    Idle,
    Note,
    SettleCalls,
    Summarise,
    close_calls,
    next_action,
    waits,
)
from agent_core.messages import Usage
from agent_core.state import State
from tests.support.logs import (
    START,
    answer,
    asked,
    begun,
    call,
    decided,
    ended,
    finished,
    folded,
    said,
    started,
    step_started,
)

NOW = START + 20


def action(*events: Any, now: float = NOW, **limits: Any) -> Any:
    return next_action(folded(*begun(), *events, limits=limits), now, "")


def test_without_a_run_there_is_nothing_to_do() -> None:
    assert next_action(State(), NOW, "") == Idle()
    assert action(ended()) == Idle()


def test_a_message_is_put_to_the_model() -> None:
    assert action() == CallModel(1, 1)


def test_an_attempt_that_a_crash_cut_off_is_made_again() -> None:
    assert action(step_started()) == CallModel(1, 2)


def test_a_failed_attempt_is_made_again_when_its_wait_is_over() -> None:
    failed = ev.ModelAttemptFailed(step=1, attempt=1, kind="overloaded", message="busy", wait=2.5)
    assert action(step_started(), failed) == CallModel(1, 2, START + 4 + 2.5)


def test_a_failure_without_a_next_attempt_ends_the_run() -> None:
    failed = ev.ModelAttemptFailed(step=1, attempt=1, kind="auth", message="The key was refused.", wait=None)
    assert action(step_started(), failed) == Finish("model_error", "The key was refused.")


def test_an_answer_completes_the_run() -> None:
    assert action(answer("ok")) == Finish("completed")


@pytest.mark.parametrize("flag", [*NUDGES, None])
def test_an_answer_that_is_none_is_asked_for_once_more_and_then_ends_the_run(flag: str | None) -> None:
    empty = answer(None if flag is None else "Let me look", flags=(flag,) if flag else ())
    name = flag or "empty_response"
    noted = action(empty)
    assert isinstance(noted, Note)
    (event,) = noted.events
    assert event == ev.GuardTripped(guard=name, action="warned", evidence={"step": 1, "note": NUDGES[name]})
    assert action(empty, event) == CallModel(2, 1)
    again = action(empty, event, empty)
    assert isinstance(again, Finish)
    assert again.reason == "model_error"


def test_an_empty_answer_at_the_last_step_ends_at_the_limit() -> None:
    stop = action(answer(" \n"), max_steps=1)
    assert isinstance(stop, Finish)
    assert stop.reason == "max_steps"


ONE_CALL = (answer(None, call("c1")), started("c1"), finished("c1"))
TOLD = ev.GuardTripped(guard="last_step", action="warned", evidence={"step": 1, "note": LAST_STEP})


def test_before_the_last_step_the_model_is_told_once_that_it_is_the_last() -> None:
    assert action(*ONE_CALL, max_steps=3) == CallModel(2, 1)
    assert action(*ONE_CALL, max_steps=2) == Note((TOLD,))
    assert action(*ONE_CALL, TOLD, max_steps=2) == CallModel(2, 1)
    failed = ev.ModelAttemptFailed(step=2, attempt=1, kind="overloaded", message="busy", wait=2.5)
    again = action(*ONE_CALL, TOLD, step_started(2), failed, max_steps=2)
    assert isinstance(again, CallModel)
    assert again.attempt == 2
    more = (answer(None, call("c2"), step=2), started("c2"), finished("c2"))
    assert action(*ONE_CALL, TOLD, *more, max_steps=2) == Finish("max_steps", ANY_SENTENCE)


def test_a_run_of_one_step_or_one_that_only_asked_is_told_nothing() -> None:
    assert action(max_steps=2) == CallModel(1, 1)
    assert action(max_steps=1) == CallModel(1, 1)
    assert action(answer("  "), max_steps=2) == action(answer("  "))


@pytest.mark.parametrize("text", ["(empty)", " (empty)\n"])
def test_an_answer_that_only_repeats_what_stands_for_an_empty_one_is_none(text: str) -> None:
    assert action(answer(text)) == action(answer(None))


def test_new_calls_are_settled_in_order() -> None:
    assert action(answer(None, call("c1"), call("c2"))) == SettleCalls(("c1", "c2"))


def test_calls_that_a_crash_left_open_are_settled_and_finished_ones_left_alone() -> None:
    open_calls = [
        answer(None, call("c1"), call("c2"), call("c3")),
        started("c1"),
        started("c2", index=1),
        finished("c1"),
    ]
    assert action(*open_calls) == SettleCalls(("c2", "c3"))


def test_when_all_calls_have_results_the_model_is_asked_again() -> None:
    assert action(answer(None, call("c1")), started("c1"), finished("c1")) == CallModel(2, 1)


def test_what_can_be_settled_is_settled_before_anybody_waits() -> None:
    calls = answer(None, call("c1", "change"), call("c2", "change"))
    assert action(calls, asked("c1")) == SettleCalls(("c2",))
    assert action(calls, asked("c1"), asked("c2")) == Finish("awaiting_approval", ANY_SENTENCE)
    assert action(calls, asked("c1"), asked("c2"), decided("c2")) == SettleCalls(("c2",))
    assert action(calls, asked("c1"), asked("c2"), decided("c2", "denied")) == SettleCalls(("c2",))


class _AnySentence(str):
    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and other.endswith(".")

    __hash__ = str.__hash__


ANY_SENTENCE = _AnySentence()


def test_a_question_that_nobody_answered_in_time_is_settled() -> None:
    question = [answer(None, call("c1", "change")), asked("c1", deadline=NOW)]
    assert action(*question, now=NOW - 1) == Finish("awaiting_approval", ANY_SENTENCE)
    assert action(*question, now=NOW) == SettleCalls(("c1",))


def test_a_call_of_unknown_outcome_waits_for_a_person() -> None:
    doubt = finished("c1", "?", "change", error=ev.Fault("uncertain", "?"))
    log = [answer(None, call("c1", "change")), started("c1", "change"), doubt]
    assert action(*log) == Finish("awaiting_approval", ANY_SENTENCE)
    assert waits(folded(*begun(), *log), NOW)
    happened = ev.OutcomeResolved(call_id="c1", outcome="happened", by="boss", content="done")
    assert action(*log, happened) == CallModel(2, 1)
    again = ev.OutcomeResolved(call_id="c1", outcome="send_again", by="boss")
    assert action(*log, again) == SettleCalls(("c1",))
    assert action(*log, said("leave it")) == CallModel(2, 1), "a new message goes on without it"


def test_an_interrupted_run_answers_its_open_calls_and_ends() -> None:
    calls = answer(None, call("c1"), call("c2", "change"), call("c3", "change"))
    log = [calls, started("c1"), started("c2", "change", index=1), asked("c3"), ev.RunInterrupted(by="user")]
    noted = action(*log)
    assert isinstance(noted, Note)
    kinds = {event.call_id: event.error.type for event in noted.events}  # type: ignore[union-attr]
    assert kinds == {"c1": "cancelled", "c2": "uncertain", "c3": "cancelled"}
    assert action(*log, *noted.events) == Finish("interrupted", ANY_SENTENCE)


def test_an_interrupt_beats_everything_else() -> None:
    assert action(answer("ok"), ev.RunInterrupted(by="user")) == Finish("interrupted", ANY_SENTENCE)
    assert action(ev.RunInterrupted(by="user"), max_steps=0) == Finish("interrupted", ANY_SENTENCE)


def test_a_guard_that_ends_the_run_answers_what_is_open_first() -> None:
    tripped = ev.GuardTripped(guard="repeated_call", action="ended", evidence={})
    noted = action(answer(None, call("c1")), tripped)
    assert isinstance(noted, Note)
    assert action(answer(None, call("c1")), tripped, *noted.events) == Finish("guard", ANY_SENTENCE)


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        ({"max_steps": 1}, "max_steps"),
        ({"max_tokens": 15}, "budget"),
        ({"max_cost": Decimal("0.5")}, "budget"),
        ({"max_seconds": 18.0}, "budget"),
    ],
)
def test_limits_are_looked_at_before_each_request(limits: dict[str, Any], reason: str) -> None:
    spent = ev.StepEnd(step=1, outcome="message", usage=Usage(10, 5, 15), cost=ev.Cost(Decimal("0.5"), "CNY"))
    log = [answer(None, call("c1")), spent, started("c1"), finished("c1")]
    stop = action(*log, **limits)
    assert isinstance(stop, Finish)
    assert stop.reason == reason
    generous: dict[str, Any] = {name: None if name != "max_steps" else 3 for name in limits}
    assert action(*log, **generous) == CallModel(2, 1)
    assert action(answer("ok"), spent, **limits) == Finish("completed"), "an answer within the limits is an answer"


def test_a_conversation_that_is_too_long_is_compacted_before_the_request() -> None:
    log = [answer("x" * 400), said("y" * 400), answer("x" * 400), said("now")]
    noted = action(*log, context=ContextPolicy(budget_tokens=300))
    assert noted == Summarise(3, 6)
    retried = action(*log, step_started(), context=ContextPolicy(budget_tokens=300))
    assert isinstance(retried, CallModel), "an attempt that is made again sends the same request"


@pytest.mark.parametrize(
    ("budget", "asked", "words"),
    [
        (300, "y" * 4000, "The message takes about 13"),
        (5, "hello", "The system prompt and the tools alone take about"),
    ],
)
def test_what_cannot_be_made_to_fit_is_said_in_a_sentence_with_figures(budget: int, asked: str, words: str) -> None:
    state = folded(*begun()[:2], said(asked), limits={"context": ContextPolicy(budget_tokens=budget)})
    stop = next_action(state, NOW, "You are careful. " * (budget == 5))
    assert isinstance(stop, Finish)
    assert stop.reason == "budget"
    assert words in (stop.message or "")


def test_calls_of_a_session_that_goes_on_without_them_are_closed() -> None:
    state = folded(*begun(), answer(None, call("c1"), call("c2", "change")), asked("c2"))
    closing: list[Any] = list(close_calls(state))
    assert [event.call_id for event in closing] == ["c1", "c2"]
    assert close_calls(folded(*begun(), answer())) == ()
