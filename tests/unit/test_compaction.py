"""Requests stay within their budget, and what has to go goes in whole turns."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from agent_core import events as ev
from agent_core.config import ContextPolicy
from agent_core.context.build import build_messages, compaction, request_tokens
from agent_core.context.tokens import PER_MESSAGE, estimate_text
from agent_core.fold import apply
from agent_core.state import State
from tests.support.logs import CONTENTS, START, answer, begun, call, finished, folded, said

_text = st.sampled_from(["short", "库存 " * 60, "x" * 700, "y" * 5000, "库" * 3000, "", "z" * 40_000])


@st.composite
def conversations(draw: st.DrawFn) -> State:
    events: list[Any] = [*begun()]
    for turn in range(draw(st.integers(0, 6))):
        for step in range(draw(st.integers(0, 3))):
            ids = [f"c{turn}.{step}.{n}" for n in range(draw(st.integers(1, 3)))]
            arguments = draw(st.sampled_from(["{}", '{"key":"' + "k" * 9000 + '"}']))
            events.append(answer(draw(_text) or None, *(call(name, arguments=arguments) for name in ids)))
            events += [finished(name, draw(_text) or "-") for name in ids]
        events += [answer(draw(_text) or "fine"), said(draw(_text) or "next")]
    return folded(*events)


def compacted(state: State, policy: ContextPolicy, system: str = "You are careful.") -> list[ev.ContextCompacted]:
    """Compacts as the loop does, until there is nothing more to do."""
    done: list[ev.ContextCompacted] = []
    while (event := compaction(state, policy, system, 0)) is not None:
        done.append(event)
        assert len(done) < 60, "it has to end"
        apply(state, ev.Recorded("s", state.seq + 1, START, event), CONTENTS)
    return done


@given(conversations(), st.sampled_from([150, 400, 1500, 6000, 24_000]))
@settings(max_examples=50, deadline=None)
def test_compaction_ends_keeps_turns_whole_and_the_newest_message_in(state: State, budget: int) -> None:
    newest = state.entries[-1].seq
    turns_before = [entry.seq for entry in state.entries if entry.message.role == "user"]
    before = request_tokens(state, "You are careful.", 0)
    done = compacted(state, ContextPolicy(budget_tokens=budget))
    assert before > budget or done == []
    messages = build_messages(state, "You are careful.")
    assert (messages[0].content or "").startswith("You are careful.")
    assert state.entries[-1].seq == newest
    assert state.entries[0].message.role == "user", "no turn is split"
    kept = [entry.seq for entry in state.entries if entry.message.role == "user"]
    assert kept == turns_before[-len(kept) :], "the oldest go first"
    if len(kept) > 1:
        assert request_tokens(state, "You are careful.", 0) <= budget, "only the newest turn may be larger"


@given(conversations())
@settings(max_examples=40, deadline=None)
def test_what_fits_is_left_alone(state: State) -> None:
    size = request_tokens(state, "sys", 0)
    assert compaction(state, ContextPolicy(budget_tokens=size), "sys", 0) is None
    assert compaction(state, ContextPolicy(budget_tokens=size + 7), "sys", 7) is None, "tool schemas count too"


def test_single_results_are_clipped_before_any_turn_is_dropped() -> None:
    state = folded(*begun(), answer(None, call("c1")), finished("c1", "x" * 60_000), answer("ok"), said("and now?"))
    done = compacted(state, ContextPolicy(budget_tokens=8000))
    assert [event.kind for event in done] == ["clipped"]
    result = state.entries[1].calls[0].result
    assert result is not None
    assert "60000 characters in all" in (result.content or "")
    assert len(state.entries) == 4


def test_a_summary_outlives_later_dropping() -> None:
    first = ev.ContextCompacted(kind="summarised", from_seq=1, to_seq=3, summary="They asked about stock.")
    second = ev.ContextCompacted(kind="dropped", from_seq=4, to_seq=6)
    state = folded(*begun(), answer(), said("b"), answer(), said("c"), first, second)
    assert "They asked about stock." in (build_messages(state, "sys")[0].content or "")


def test_dropping_makes_room_for_a_while_and_says_so() -> None:
    turns: list[Any] = []
    for number in range(40):
        turns += [answer("a" * 600), said(f"question {number} " + "q" * 300)]
    state = folded(*begun(), *turns)
    policy = ContextPolicy(budget_tokens=6000)
    (event,) = compacted(state, policy)
    assert event.kind == "dropped"
    assert request_tokens(state, "You are careful.", 0) <= policy.budget_tokens * policy.drop_to
    assert "left out" in (build_messages(state, "You are careful.")[0].content or "")


def test_arguments_that_cannot_be_clipped_do_not_make_it_go_round_for_ever() -> None:
    state = folded(*begun(), answer("x" * 3000, call("c1", arguments='{"a":"' + "k" * 90_000 + '"}')), finished("c1"))
    assert compacted(state, ContextPolicy(budget_tokens=4000)) == []


def test_estimates_count_wide_characters_one_by_one() -> None:
    assert estimate_text("") == 0
    assert estimate_text("abcdef") == 2
    assert estimate_text("库存") == 2
    assert estimate_text("库存abc") == 3
    assert PER_MESSAGE > 0


@given(st.text(), st.text())
def test_estimates_grow_with_the_text(one: str, other: str) -> None:
    assert estimate_text(one + other) >= max(estimate_text(one), estimate_text(other))
    assert estimate_text(one + other) <= estimate_text(one) + estimate_text(other)
