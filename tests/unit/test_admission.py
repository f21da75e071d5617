"""Which calls of a message run, wait, or are answered at once; what a crash left open among them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core import events as ev
from agent_core.config import Rule
from agent_core.state import State
from agent_core.tools.admission import Admission, Desk, admit, cycle_length, idempotency_key
from agent_core.tools.registry import Registry
from agent_core.tools.tool import Tier, Tool
from tests.support.logs import answer, asked, begun, call, decided, finished, folded, started


async def _handler(key: str = "a") -> str:
    return key


SCHEMA = {"properties": {"key": {"type": "string"}}}
LOOK_UP = Tool.from_schema("look_up", "Looks up.", SCHEMA, _handler)
CHANGE = Tool.from_schema("change", "Changes.", SCHEMA, _handler, tier=Tier.WRITE)
KEYED = Tool.from_schema("change", "Changes.", SCHEMA, _handler, tier=Tier.WRITE, idempotent=True)
DROP = Tool.from_schema("drop", "Drops.", SCHEMA, _handler, tier=Tier.DANGEROUS)


def verdicts(state: State, *tools: Tool, now: float = 0.0, ids: Sequence[str] | None = None) -> Admission:
    registry = Registry(tools or (LOOK_UP, CHANGE, DROP))
    assert state.run is not None
    calls = [one for one in state.open_calls() if ids is None or one.call.id in ids]
    return admit(state, state.run, calls, Desk(registry.judge, lambda judged: None, now))


def ids(items: Sequence[Any]) -> list[str]:
    return [item.call.call.id if hasattr(item, "judged") else item[0].call.id for item in items]


def faults(admission: Admission) -> dict[str, str]:
    return {
        event.call_id: event.error.type
        for event in admission.events
        if isinstance(event, ev.ToolCallFinished) and event.error is not None
    }


def with_digest(log: list[Any], tool: Tool, arguments: str = "{}") -> list[Any]:
    """The log with the true digest of the arguments where it says ``d1``."""
    judged = Registry([tool]).judge(call("x", tool.name, arguments))
    assert not isinstance(judged, ev.Fault)
    return [
        msgspec.structs.replace(event, digest=judged.digest) if getattr(event, "digest", None) == "d1" else event
        for event in log
    ]


def test_a_read_runs_and_what_changes_something_is_asked() -> None:
    admission = verdicts(folded(*begun(), answer(None, call("a"), call("b", "change"), call("c", "drop"))))
    assert ids(admission.release) == ["a"]
    assert ids(admission.ask) == ["b", "c"]
    assert admission.events == []


def test_a_call_runs_only_with_an_answer_to_exactly_these_arguments() -> None:
    log = [*begun(), answer(None, call("c1", "change")), asked(), decided()]
    assert ids(verdicts(folded(*log)).ask) == ["c1"], "the digest that was approved is another one"
    right = with_digest(log, CHANGE)
    assert ids(verdicts(folded(*right)).release) == ["c1"]
    other = [*right[:3], answer(None, call("c1", "change", '{"key":"b"}')), *right[4:]]
    assert ids(verdicts(folded(*other)).ask) == ["c1"]
    assert verdicts(folded(*other)).release == []


@pytest.mark.parametrize(
    ("approved", "now"),
    [
        ('{"key":"a"}', '{"key":"b"}'),
        ('{"key":"a"}', '{"key":"a "}'),
        ('{"key":"19"}', '{"key":"18"}'),
        ('{"key":"a"}', "{}"),
        ('{"key":"a"}', '{"key":"\u0430"}'),
        ('{"key":"é"}', '{"key":"e\u0301"}'),
    ],
)
def test_one_character_of_difference_is_another_question(approved: str, now: str) -> None:
    log = with_digest([*begun(), answer(None, call("c1", "change", now)), asked(), decided()], CHANGE, approved)
    admission = verdicts(folded(*log))
    assert admission.release == []
    assert ids(admission.ask) == ["c1"]


def test_a_call_that_a_crash_left_open_runs_again_only_where_that_is_safe() -> None:
    log = [*begun(), answer(None, call("c1", "change")), asked(), decided(), started(tool="change")]
    state = folded(*with_digest(log, CHANGE))
    assert ids(verdicts(state).doubtful) == ["c1"]
    again = verdicts(state, KEYED)
    assert ids(again.release) == ["c1"]
    assert again.release[0].attempt == 2
    assert again.release[0].key == "s.4.0"
    read = folded(*with_digest([*begun(), answer(None, call()), started()], LOOK_UP))
    assert ids(verdicts(read).release) == ["c1"]


def test_a_write_that_was_begun_with_other_arguments_is_never_sent_again() -> None:
    log = [*begun(), answer(None, call("c1", "change")), asked(), decided(), started(tool="change")]
    for tools in ((KEYED,), (CHANGE,), (LOOK_UP,)):
        admission = verdicts(folded(*log), *tools)
        assert admission.release == admission.doubtful == []
        assert faults(admission) == {"c1": "uncertain"}


@pytest.mark.parametrize("tool", [CHANGE, KEYED], ids=["no keys", "keys"])
def test_the_twin_of_a_call_that_a_crash_left_open_does_not_run_beside_it(tool: Tool) -> None:
    log = [*begun(), answer(None, call("c1", "change"), call("c2", "change")), started(tool="change")]
    limits = {"rules": (Rule(effect="allow", tool="change"),)}
    another_digest = verdicts(folded(*log, limits=limits), tool)
    assert faults(another_digest) == {"c1": "uncertain", "c2": "repeated_call"}
    admission = verdicts(folded(*with_digest(log, tool), limits=limits), tool)
    assert "c2" not in ids(admission.release)
    if tool is KEYED:
        assert [(one[0].call.id, one[2]) for one in admission.twins] == [("c2", "c1")]
    else:
        assert faults(admission) == {"c2": "repeated_call"}


def test_the_same_call_twice_is_asked_once_and_run_once() -> None:
    twice = answer(None, call("a", "change"), call("b", "change"), call("c"), call("d"))
    admission = verdicts(folded(*begun(), twice))
    assert ids(admission.ask) == ["a"]
    assert faults(admission) == {"b": "repeated_call"}
    assert ids(admission.release) == ["c"]
    assert [(one[0].call.id, one[2]) for one in admission.twins] == [("d", "c")]


def test_keys_come_from_the_place_in_the_log_alone() -> None:
    state = folded(*begun(), answer(None, call("a"), call("b")))
    first, second = state.open_calls()
    assert idempotency_key("s", first) == "s.4.0"
    assert idempotency_key("s", second) == "s.4.1"
    edited = folded(*begun(), answer(None, call("a", arguments='{"key":"z"}')))
    assert idempotency_key("s", edited.open_calls()[0]) == "s.4.0"


def test_after_a_guard_ended_the_run_nothing_more_of_the_message_runs() -> None:
    ladder = [finished("c1", "7"), answer(None, call("c2"), step=2), finished("c2", "7")]
    third = [answer(None, call("c3"), step=3)]
    log = with_digest([*begun(), answer(None, call("c1")), *ladder, *third], LOOK_UP)
    state = folded(*_begun_calls(log))
    admission = verdicts(state)
    assert faults(admission) == {"c3": "repeated_call"}
    several = _begun_calls(
        with_digest(
            [*begun(), answer(None, call("c1")), *ladder, answer(None, call("c3"), call("c4"), call("c5", "change"))],
            LOOK_UP,
        )
    )
    admission = verdicts(folded(*several))
    assert faults(admission) == {"c3": "repeated_call", "c4": "repeated_call", "c5": "cancelled"}
    actions = [event.action for event in admission.events if isinstance(event, ev.GuardTripped)]
    assert actions == ["answered", "ended"]


def _begun_calls(log: list[Any]) -> list[Any]:
    """A start before each result, so that it counts as run."""
    items: list[Any] = []
    for event in log:
        if isinstance(event, ev.ToolCallFinished) and event.error is None:
            items.append(started(event.call_id))
        items.append(event)
    return items


# --- circles

_trail = st.lists(st.sampled_from(["a:1:x", "b:1:y", "c:1:z", "d:1:w", "a:1:q"]), max_size=24)


def plainly(trail: Sequence[str], key: str, rounds: int) -> int:
    """The same by trying every length."""
    longest = 0
    for period in (2, 3, 4):
        for length in range(period * rounds, len(trail) + 1):
            tail = trail[-length:]
            whole = all(tail[at] == tail[at - period] for at in range(period, length))
            if whole and len(set(tail[-period:])) > 1 and tail[-period].rpartition(":")[0] == key:
                longest = max(longest, length // period * period)
    return longest


@given(_trail, st.sampled_from(["a:1", "b:1", "c:1"]), st.integers(2, 3))
def test_a_circle_is_found_exactly_where_there_is_one(trail: list[str], key: str, rounds: int) -> None:
    assert cycle_length(trail, key, rounds) == plainly(trail, key, rounds)


@pytest.mark.parametrize("period", [2, 3, 4])
def test_a_circle_of_two_to_four_calls_is_found_after_its_second_round(period: int) -> None:
    names = [f"{letter}:1" for letter in "abcd"[:period]]
    trail = [f"{name}:result" for name in names]
    assert cycle_length(trail, names[0], 2) == 0
    assert cycle_length(trail * 2, names[0], 2) == period * 2
    assert cycle_length(trail * 2, names[1], 2) == 0, "another call leaves the circle"
    changed = [*trail, *trail[:-1], f"{names[-1]}:other"]
    assert cycle_length(changed, names[0], 2) == 0, "another result is no circle"
