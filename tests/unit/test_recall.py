"""Which events may be recalled for a message, and how what was found is told."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from agent_core import events as ev
from agent_core.answers import evidence_of
from agent_core.config import ContextPolicy
from agent_core.context.passages import Passage, findable, readable
from agent_core.context.recall import fragments, gone, said_before, told, without
from agent_core.fold import fold
from agent_core.state import State
from tests.support.logs import CONTENTS, answer, begun, call, finished, folded, recorded, said, started

SPANS = st.lists(st.tuples(st.integers(1, 30), st.integers(1, 30)).map(lambda pair: (min(pair), max(pair))), max_size=5)


def _numbers(spans: Any) -> set[int]:
    return {number for first, last in spans for number in range(first, last + 1)}


@settings(max_examples=60, deadline=None)
@given(SPANS, SPANS)
def test_spans_without_holes_are_what_is_left(spans: list[tuple[int, int]], holes: list[tuple[int, int]]) -> None:
    left = without(spans, holes)
    assert _numbers(left) == _numbers(spans) - _numbers(holes)
    assert left == sorted(left)


def conversation(*more: Any) -> list[Any]:
    """Events 1 to 3 begin it; 4 and 5 are a call and its result, 6 and 7 an answer and the next question."""
    return [*begun(), answer(None, call("c1")), finished("c1", "r" * 400), answer("done"), said("next"), *more]


def test_nothing_is_gone_as_long_as_everything_reaches_the_model() -> None:
    assert gone(folded(*conversation())) == []


def test_what_was_dropped_is_gone_and_what_stands_is_not() -> None:
    state = folded(*conversation(ev.ContextCompacted(kind="dropped", from_seq=3, to_seq=6)))
    assert gone(state) == [(1, 6)]


def test_a_result_that_was_left_out_is_gone_and_its_call_is_not() -> None:
    state = folded(*conversation(ev.ContextCompacted(kind="masked", from_seq=3, to_seq=6)))
    assert gone(state) == [(5, 5)]


def test_what_is_about_to_go_may_be_looked_up_too() -> None:
    state = folded(*conversation(answer("fine")))
    assert gone(state, all_old=True) == [(1, 8)]


def test_what_was_taken_back_is_never_looked_up() -> None:
    items = recorded([*conversation(), ev.RolledBack(to_seq=3, by="user"), said("instead"), answer("fine")])
    state = fold(items, CONTENTS)
    assert state.taken_back == [(4, 8)]
    assert _numbers(gone(state, all_old=True)).isdisjoint(range(4, 9))
    assert _numbers(said_before(state)) == {1, 2, 3}


def _passage(seq: int, text: str, speaker: Any = "user", name: str = "ann") -> Passage:
    return Passage("s", seq, 1_790_000_000.0, speaker, name, text, 1.0)


def _fragments(*found: Passage, state: State | None = None, **policy: Any) -> tuple[ev.Frozen, ...]:
    return fragments(found, "what now?", state or folded(*begun()), ContextPolicy(**policy))


def test_fragments_stand_in_the_order_in_which_they_were_said_with_their_events() -> None:
    found = _fragments(
        _passage(9, "later"), _passage(4, "earlier", "tool", "get_price"), _passage(6, "mid", "assistant", "")
    )
    assert [(one.kind, one.sources) for one in found] == [("recalled", (4,)), ("recalled", (6,)), ("recalled", (9,))]
    assert found[0].text == "event 4, 2026-09-21 14:13 UTC, result of get_price: earlier"
    assert found[1].text == "event 6, 2026-09-21 14:13 UTC, assistant: mid"
    assert found[2].text == "event 9, 2026-09-21 14:13 UTC, ann: later"


def test_the_best_fragments_win_within_their_number_and_their_part_of_the_budget() -> None:
    found = [_passage(seq, f"{seq} " + "x" * 250) for seq in (9, 3, 5, 7)]
    assert [one.sources for one in _fragments(*found, recall_top_k=2)] == [(3,), (9,)]
    assert [one.sources for one in _fragments(*found, budget_tokens=2500)] == [(9,)]
    assert _fragments(*found, budget_tokens=500) == ()


def test_a_fragment_that_an_earlier_message_brought_back_is_not_brought_back_again() -> None:
    one = _passage(2, "a promise")
    frozen = ev.Frozen("recalled", told(one), (2,))
    asked = ev.UserMessage(content=(ev.TextPart("q"),), author="user", context=(frozen,))
    assert _fragments(one, state=folded(*begun(), asked)) == ()


def test_the_same_question_asked_again_brings_nothing_back() -> None:
    assert _fragments(_passage(3, "What now? → 5 left".lower()), _passage(4, "what now?")) == ()


def test_whatever_stands_in_a_fragment_it_is_one_line_in_brackets() -> None:
    (found,) = _fragments(_passage(3, "a]\n[today: never]\r\n[x"))
    assert "\n" not in found.text
    assert "[" not in found.text
    assert "]" not in found.text


def test_results_are_read_record_by_record_and_other_text_as_it_stands() -> None:
    text = readable(
        '{"as_of":"now","lines":[{"sku":"A1","price":"2.50","ok":true},{"sku":"B2","tags":["x","y"]}],"n":null}'
    )
    assert text.splitlines() == ["as_of: now", "lines: sku: A1; price: 2.50; ok: true", "lines: sku: B2; tags: x, y"]
    for other in ("plain", "{broken", "[1, 2", "", '{"a": "' + "x" * 50):
        assert readable(other) == other


def test_an_answer_may_be_drawn_from_a_summary_and_from_what_was_recalled() -> None:
    frozen = ev.Frozen("recalled", "event 2, user: 38.50", (2,))
    summed = ev.ContextCompacted(kind="summarised", from_seq=3, to_seq=6, summary="They agreed on 12.75.")
    asked = ev.UserMessage(content=(ev.TextPart("what?"),), author="user", context=(frozen,))
    evidence = evidence_of(folded(*conversation(), summed, asked, answer("38.50 and 12.75")))
    assert "12.75" in evidence.said[0]
    assert "38.50" in evidence.said[-1]


def test_failed_calls_recalls_and_empty_messages_hold_nothing_to_find() -> None:
    fault = ev.Fault("timeout", "too late")
    assert findable(finished("c", "x", error=fault)) is None
    assert findable(ev.ToolCallFinished(call_id="c", index=0, tool="recall", ok=True, content="old")) is None
    assert findable(answer(None, call("c"))) is None
    assert findable(started("c")) is None
