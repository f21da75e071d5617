"""Requests stay within their budget or are refused, and what has to go goes in whole turns, in large steps."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_core import events as ev
from agent_core.config import ContextPolicy
from agent_core.context.build import build_context, build_messages, frame_size, request_tokens
from agent_core.context.front import NOTED, STOPPED
from agent_core.context.ladder import Summarise, TooLarge, asked_cut, next_cut
from agent_core.context.summary import (
    entries_in,
    extract,
    most_tokens,
    read_answer,
    record,
    request,
    summarised,
)
from agent_core.context.tokens import PER_MESSAGE, estimate_text
from agent_core.fold import apply
from agent_core.messages import Message
from agent_core.model.wire import render_message
from agent_core.sizes import CONSERVATIVE, message_size, total
from agent_core.state import State
from tests.support.logs import CONTENTS, START, answer, asked, begun, call, finished, folded, said, started
from tests.support.requests import check_conversation

SYSTEM = "You are careful."
_text = st.sampled_from(["short", "库存 " * 60, "x" * 700, "y" * 5000, "库" * 3000, "", "z" * 40_000])


class Told(State):
    """A state that is told in a line, however long its texts are."""

    def __repr__(self) -> str:
        said = [
            (
                one.message.role[0],
                len(one.message.content or ""),
                [len(c.result.content or "") if c.result else c.status for c in one.calls],
            )
            for one in self.entries
        ]
        return f"Told({said})"


@st.composite
def conversations(draw: st.DrawFn) -> State:
    events: list[Any] = [*begun()]
    for turn in range(draw(st.integers(0, 6))):
        for step in range(draw(st.integers(0, 3))):
            ids = [f"c{turn}.{step}.{n}" for n in range(draw(st.integers(1, 3)))]
            arguments = draw(st.sampled_from(["{}", '{"key":"' + "k" * 9000 + '"}']))
            events.append(answer(draw(_text) or None, *(call(name, arguments=arguments) for name in ids)))
            uncertain = ev.Fault("uncertain", "not known")
            events += [
                finished(name, draw(_text) or "-", error=draw(st.sampled_from([None, uncertain]))) for name in ids
            ]
        if draw(st.booleans()):
            events.append(answer(draw(_text) or "fine"))
        events.append(said(draw(_text) or "next"))
    for name in draw(st.lists(st.sampled_from("abc"), max_size=2, unique=True)):
        events += [answer(None, call(name)), finished(name, draw(_text) or "-")]
    if draw(st.booleans()):
        events += [answer(None, call("open", "change")), asked("open")]
    return msgspec.convert(msgspec.to_builtins(folded(*events)), Told)


def settle(
    state: State, policy: ContextPolicy, *, system: str = SYSTEM, fails: int = 0
) -> tuple[list[ev.ContextCompacted], TooLarge | None]:
    """Compacts as a driver does, until the request fits or is refused; ``fails``: summaries that fail at first."""
    done: list[ev.ContextCompacted] = []
    for _ in range(80):
        found: Any = next_cut(state, policy, system, 0)
        if found is None or isinstance(found, TooLarge):
            return done, found
        if isinstance(found, Summarise):
            found = (
                ev.SummaryFailed(from_seq=found.from_seq, to_seq=found.to_seq, kind="timeout", message="slow")
                if (fails > 0)
                else summed(state, found, policy)
            )
            fails -= 1
        if isinstance(found, ev.ContextCompacted):
            done.append(found)
        apply(state, ev.Recorded("s", state.seq + 1, START, found), CONTENTS)
    raise AssertionError("it has to end")


def summed(state: State, wanted: Summarise, policy: ContextPolicy) -> ev.ContextCompacted | ev.SummaryFailed:
    entries = entries_in(state, wanted)
    text = extract(state, entries, most_tokens(state, entries, policy), CONSERVATIVE)
    event = summarised(state, wanted, policy, text, (), record(state, entries))
    if event is None:
        return ev.SummaryFailed(from_seq=wanted.from_seq, to_seq=wanted.to_seq, kind="unusable", message="empty")
    return event


def contents(state: State) -> list[str]:
    return [message.content or "" for message in build_messages(state, SYSTEM)]


@given(conversations(), st.sampled_from([150, 400, 1500, 6000, 24_000]), st.integers(0, 3))
@settings(max_examples=50, deadline=None)
def test_a_request_is_within_its_budget_or_refused_and_keeps_what_it_must(
    state: State, budget: int, fails: int
) -> None:
    before = request_tokens(state, SYSTEM, 0)
    questions = [entry for entry in state.entries if entry.message.role == "user"]
    open_calls = [each.call.id for each in state.open_calls()]
    doubts = [each.call.id for entry in state.entries for each in entry.calls if each.status == "uncertain"]
    policy = ContextPolicy(budget_tokens=budget)
    done, refused = settle(state, policy, fails=fails)
    assert before > budget or not done
    request = build_context(state, policy, SYSTEM)
    check_conversation(request.messages)
    assert request.messages[0] == Message("system", SYSTEM), "the system prompt is whole"
    asked = questions[-1].message.content or ""
    assert any((one.content or "").endswith(asked) for one in request.messages), "what was asked last is whole"
    assert [each.call.id for each in state.open_calls()] == open_calls
    known = [each.call.id for entry in state.entries for each in entry.calls] + [one.call.id for one in state.doubts]
    assert set(doubts) <= set(known), "what may have happened is not forgotten"
    assert all(one.call.id in (state.front or "") for one in state.doubts)
    assert (refused is not None) == (request.tokens > budget)
    again = build_context(state, policy, SYSTEM)
    assert [render_message(one) for one in again.messages] == [render_message(one) for one in request.messages]


@given(conversations(), st.sampled_from([400, 1500, 6000]))
@settings(max_examples=20, deadline=None)
def test_sizes_that_are_kept_as_a_sum_are_those_of_the_messages(state: State, budget: int) -> None:
    settle(state, ContextPolicy(budget_tokens=budget))
    calls = [each for entry in state.entries for each in entry.calls]
    unanswered = {each.call.id for each in calls if each.result is None}
    messages = [one for one in build_messages(state, SYSTEM) if one.tool_call_id not in unanswered]
    assert total(map(message_size, messages)) == state.size.plus(frame_size(state, SYSTEM))


@given(conversations())
@settings(max_examples=20, deadline=None)
def test_what_fits_is_left_alone(state: State) -> None:
    size = request_tokens(state, "sys", 0)
    assert next_cut(state, ContextPolicy(budget_tokens=size), "sys", 0) is None
    assert next_cut(state, ContextPolicy(budget_tokens=size + 7), "sys", 7) is None, "tool schemas count too"


def test_single_results_are_clipped_before_anything_else() -> None:
    state = folded(*begun(), answer(None, call("c1")), finished("c1", "x" * 60_000), answer("ok"), said("and now?"))
    done, _ = settle(state, ContextPolicy(budget_tokens=8000))
    assert done[0].kind == "clipped"
    assert "dropped" not in [event.kind for event in done]
    assert len(state.entries) == 4


def test_old_results_are_left_out_first_and_the_newest_stay() -> None:
    turns: list[Any] = []
    for number in range(5):
        turns += [answer(None, call(f"c{number}")), started(f"c{number}"), finished(f"c{number}", "r" * 3000)]
        turns += [answer("seven"), said(f"question {number}")]
    state = folded(*begun(), *turns)
    done, _ = settle(state, ContextPolicy(budget_tokens=4000))
    assert [event.kind for event in done] == ["masked"]
    read = [text for text in contents(state) if "older result of 3000 characters" in text]
    assert 2 <= len(read) <= 4
    assert contents(state)[-3] == "r" * 3000
    assert len(state.entries) == 16, "no message went"


def test_a_long_conversation_is_summarised_from_its_oldest_turns_on_and_the_front_says_so() -> None:
    turns: list[Any] = []
    for number in range(60):
        turns += [answer("a" * 300), said(f"question {number} " + "q" * 300)]
    state = folded(*begun(), *turns)
    policy = ContextPolicy(budget_tokens=8000)
    done, _ = settle(state, policy)
    assert [event.kind for event in done] == ["summarised"]
    assert done[0].from_seq == 3
    system, front, noted, oldest = build_messages(state, SYSTEM)[:4]
    assert (system.content, noted) == (SYSTEM, NOTED)
    assert "record of what they came to" in (front.content or "")
    gone = int((oldest.content or "").split()[1])
    assert f"question {gone - 1}" in (front.content or "")
    assert "The conversation began with: 还有货吗？" in (front.content or "")
    assert (oldest.content or "").startswith("question")
    assert request_tokens(state, SYSTEM, 0) <= 0.55 * policy.budget_tokens


def test_a_summary_that_fails_is_tried_with_less_and_then_the_turns_are_dropped_and_it_is_said() -> None:
    turns: list[Any] = []
    for number in range(60):
        turns += [answer("a" * 300), said(f"question {number} " + "q" * 300)]
    state, policy = folded(*begun(), *turns), ContextPolicy(budget_tokens=8000)
    first: Any = next_cut(state, policy, SYSTEM, 0)
    failed = ev.SummaryFailed(from_seq=first.from_seq, to_seq=first.to_seq, kind="timeout", message="slow")
    apply(state, ev.Recorded("s", state.seq + 1, START, failed), CONTENTS)
    second: Any = next_cut(state, policy, SYSTEM, 0)
    assert (first.less, second.less) == (False, True)
    assert second.to_seq < first.to_seq
    apply(state, ev.Recorded("s", state.seq + 1, START, failed), CONTENTS)
    third: Any = next_cut(state, policy, SYSTEM, 0)
    assert (third.kind, third.from_seq, third.to_seq) == ("dropped", first.from_seq, first.to_seq)
    apply(state, ev.Recorded("s", state.seq + 1, START, third), CONTENTS)
    assert "could not be summarised" in contents(state)[1]
    assert state.failed_summaries == 0


def test_a_summary_is_never_longer_than_what_it_stands_for() -> None:
    state = folded(*begun(), answer("short"), said("b"), answer("short"), said("c"))
    policy = ContextPolicy(budget_tokens=24_000)
    wanted = asked_cut(state, "boss")
    assert wanted is not None
    assert summarised(state, wanted, policy, "words " * 900, (), "") is None
    assert summarised(state, wanted, policy, "", (), "") is None
    fits = summarised(state, wanted, policy, "ok", (), "")
    assert fits is None or fits.summary == "ok"


def test_facts_are_kept_only_where_their_figures_were_said_and_changes_are_pinned_by_themselves() -> None:
    made = [
        answer(None, call("c1", "change", '{"key":"a"}')),
        started("c1", "change"),
        finished("c1", "SQ-77", "change"),
    ]
    state = folded(*begun(), *made, answer("Quoted at 12.50. " + "x" * 900), said("next"))
    policy = ContextPolicy()
    wanted = asked_cut(state, "boss")
    assert wanted is not None
    source = record(state, entries_in(state, wanted))
    event = summarised(state, wanted, policy, "A quotation.", ("promised 12.50", "promised 13"), source)
    assert event is not None
    assert "promised 12.50" in event.pinned
    assert "promised 13" not in event.pinned
    assert any("SQ-77" in fact and "change" in fact for fact in event.pinned)


def test_promises_and_rules_are_pinned_in_the_words_they_were_said_in() -> None:
    log = [
        answer("好，已报价 38.50 元。承诺 12 月 5 日前送达。"),
        said("以后给鑫源的价格一律不含税。雨伞还有吗？\n\n[today: 2026-11-30]"),
        answer("15 in stock. I promised nothing else."),
        said("And you must not order any?"),
        answer("x" * 3000),
        said("next"),
    ]
    state, policy = folded(*begun(), *log), ContextPolicy()
    wanted = asked_cut(state, "boss")
    assert wanted is not None
    event = summarised(state, wanted, policy, "Stock and a price.", (), record(state, entries_in(state, wanted)))
    assert event is not None
    assert event.pinned[1:] == (
        "承诺 12 月 5 日前送达。",
        "以后给鑫源的价格一律不含税。",
        "I promised nothing else.",
    )


@pytest.mark.parametrize(
    ("answer", "summary", "facts"),
    [
        ("They met.\nFACTS\n- one\n- two", "They met.", ["one", "two"]),
        ("他们见了面。\n\n**事实**\n1. 一\n2、二", "他们见了面。", ["一", "二"]),
        ("They met.\n\nFACTS: what matters\n* one", "They met.", ["one"]),
        ("FACTS: stock\n\n- one\n- two", "- one\n- two", ["one", "two"]),
        ("Only a text, no list.", "Only a text, no list.", []),
        ("FACTS", "", []),
        ("", "", []),
    ],
)
def test_an_answer_is_read_also_where_it_holds_to_half_of_what_was_asked(
    answer: str, summary: str, facts: list[str]
) -> None:
    assert read_answer(answer) == (summary, facts)


def test_a_model_is_asked_in_the_language_of_the_record_and_within_its_budget() -> None:
    english, chinese = (
        request(text, ContextPolicy(), 4000)[1].content or "" for text in ("They met. " * 3000, "他们见了面。" * 3000)
    )
    assert "FACTS" in english
    assert "事实" in chinese
    assert all(estimate_text(text) <= 0.75 * 4000 for text in (english, chinese))


def test_a_call_of_unknown_outcome_stays_known_and_can_be_resolved_after_its_turn_is_gone() -> None:
    doubt = finished("c1", "{}", "change", error=ev.Fault("uncertain", "it is not known"), attempts=1)
    begin = [*begun(), answer(None, call("c1", "change")), started("c1", "change"), doubt]
    state = folded(*begin, said("b"), answer("a" * 900), said("c"))
    gone = ev.ContextCompacted(kind="dropped", from_seq=3, to_seq=8)
    apply(state, ev.Recorded("s", state.seq + 1, START, gone), CONTENTS)
    assert "call c1" in contents(state)[1]
    assert state.find_doubted("c1") is not None
    found = ev.OutcomeResolved(call_id="c1", outcome="happened", by="boss", content="it was done")
    apply(state, ev.Recorded("s", state.seq + 1, START, found), CONTENTS)
    assert state.doubts == []
    assert "it was done" in contents(state)[1]


def test_within_one_long_turn_what_was_done_first_goes_and_the_question_stays() -> None:
    steps: list[Any] = []
    for number in range(40):
        steps += [answer("thinking " * 60, call(f"c{number}")), finished(f"c{number}", "r" * 120)]
    state = folded(*begun(), *steps)
    done, refused = settle(state, ContextPolicy(budget_tokens=4000))
    assert refused is None
    assert "summarised" in [event.kind for event in done]
    messages = build_messages(state, SYSTEM)
    check_conversation(messages)
    assert messages[3].content == "还有货吗？"
    assert messages[-1].content == "r" * 120


def test_many_results_in_one_message_share_the_room() -> None:
    ids = [f"c{number}" for number in range(300)]
    results = [finished(name, "r" * (100 + 40 * number)) for number, name in enumerate(ids)]
    state = folded(*begun(), answer(None, *map(call, ids)), *results)
    policy = ContextPolicy(budget_tokens=30_000)
    done, refused = settle(state, policy)
    assert refused is None
    assert [event.kind for event in done] == ["clipped"]
    assert request_tokens(state, SYSTEM, 0) <= policy.budget_tokens
    assert contents(state)[3] == "r" * 100, "what was short anyway stays whole"
    check_conversation(build_messages(state, SYSTEM))


@pytest.mark.parametrize("text", ["q" * 100_000, "问" * 100_000])
def test_a_message_that_is_larger_than_the_window_is_refused_and_does_not_stop_the_next_one(text: str) -> None:
    state = folded(*begun(), answer("ok"), said(text))
    policy = ContextPolicy()
    _, refused = settle(state, policy)
    assert refused is not None
    assert refused.question
    apply(state, ev.Recorded("s", state.seq + 1, START, said("shorter")), CONTENTS)
    _, refused = settle(state, policy)
    assert refused is None
    assert contents(state)[-1] in ("shorter", f"{STOPPED}shorter")


def test_a_question_of_100_000_characters_that_fits_is_sent_whole() -> None:
    text = "q" * 100_000
    state = folded(*begun(), answer("ok"), said(text))
    _, refused = settle(state, ContextPolicy(budget_tokens=60_000))
    assert refused is None
    assert contents(state)[-1] == text


def test_arguments_that_cannot_be_clipped_do_not_make_it_go_round_for_ever() -> None:
    state = folded(*begun(), answer("x" * 3000, call("c1", arguments='{"a":"' + "k" * 90_000 + '"}')), finished("c1"))
    _, refused = settle(state, ContextPolicy(budget_tokens=4000))
    assert refused is not None
    assert not refused.question


def test_the_endpoint_has_the_last_word_on_how_much_fits() -> None:
    turns: list[Any] = []
    for number in range(30):
        turns += [answer("a" * 300), said(f"question {number} " + "q" * 300)]
    sent = ev.StepStarted(step=1, attempt=1, request=ev.Manifest((), ""), estimated_tokens=8000)
    failed = ev.ModelAttemptFailed(
        step=1, attempt=1, kind="context_overflow", message="too long", wait=0.0, remedy="compact_history"
    )
    state = folded(*begun(), *turns, sent, failed)
    assert state.ceiling == 6000
    done, _ = settle(state, ContextPolicy(budget_tokens=24_000))
    assert done
    assert request_tokens(state, SYSTEM, 0) <= 6000
    other = msgspec.structs.replace(begun()[1], model="larger")
    apply(state, ev.Recorded("s", state.seq + 1, START, other), CONTENTS)
    assert state.ceiling is None


def test_a_wish_to_compact_takes_all_turns_but_the_newest() -> None:
    state = folded(*begun(), answer("one"), said("two"), answer("two"), said("three"))
    wanted = asked_cut(state, "boss")
    assert wanted == Summarise(3, 6, by="boss")
    assert asked_cut(folded(*begun(), answer("one")), "boss") is None


def test_estimates_count_wide_characters_one_by_one() -> None:
    assert estimate_text("") == 0
    assert estimate_text("abcdef") == 2
    assert estimate_text("库存") == 2
    assert estimate_text("库存abc") == 3
    assert estimate_text("😀🎉👍") == 3
    assert estimate_text("ราคา") == 4
    assert PER_MESSAGE > 0


@given(st.text(), st.text())
def test_estimates_grow_with_the_text(one: str, other: str) -> None:
    assert estimate_text(one + other) >= max(estimate_text(one), estimate_text(other))
    assert estimate_text(one + other) <= estimate_text(one) + estimate_text(other)
