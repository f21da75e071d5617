"""What holds of the fold of any log at all, however little sense it makes."""

from __future__ import annotations

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_core import events as ev
from agent_core.context.build import build_messages
from agent_core.context.front import STOPPED
from agent_core.fold import fold
from agent_core.state import State
from tests.support.generated import logs
from tests.support.logs import CONTENTS, recorded


@given(logs(), st.data())
@settings(max_examples=40, deadline=None)
def test_a_log_can_be_folded_in_two_parts_at_any_place(log: list[ev.Recorded], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(log)))
    whole = fold(log, CONTENTS)
    first = fold(log[:place], CONTENTS)
    before = msgspec.json.encode(first)
    assert fold(log[place:], CONTENTS, first, log[:place]) == whole
    assert msgspec.json.encode(first) == before, "the earlier state is left alone"
    snapshot = msgspec.json.decode(before, type=State)
    assert fold(log[place:], CONTENTS, snapshot, log[:place]) == whole, "a snapshot is nothing else than the state"


@given(logs())
@settings(max_examples=40, deadline=None)
def test_each_call_of_any_log_is_followed_by_one_result_and_where_an_answer_is_missing_it_is_said(
    log: list[ev.Recorded],
) -> None:
    state = fold(log, CONTENTS)
    messages = build_messages(state, "system")
    assert messages[0].role == "system"
    assert (messages[0].content or "").startswith("system")
    notes = {entry.message.content for entry in state.entries if entry.note}
    position = 1
    while position < len(messages):
        message = messages[position]
        assert message.role in ("user", "assistant")
        if message.role == "user" and messages[position - 1].role in ("user", "tool"):
            assert message.content in notes or (message.content or "").startswith(STOPPED)
        results = messages[position + 1 : position + 1 + len(message.tool_calls)]
        assert [result.tool_call_id for result in results] == [one.id for one in message.tool_calls]
        assert all(result.role == "tool" and result.content is not None for result in results)
        position += 1 + len(results)


@given(logs())
@settings(max_examples=30, deadline=None)
def test_events_of_other_programs_only_move_the_number(log: list[ev.Recorded]) -> None:
    at_once = recorded([item.event for item in log], step=0.0)
    known = [item for item in at_once if not isinstance(item.event, ev.UnknownEvent)]
    with_unknown, without = fold(at_once, CONTENTS), fold(known, CONTENTS)
    assert with_unknown.seq == len(log)
    with_unknown.seq = without.seq
    assert with_unknown == without
