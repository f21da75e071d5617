"""When two results are the same one again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core.state import result_digest
from agent_core.text import REPEAT_NOTICE

TIMES = ["2026-11-30T05:03+08:00", "2026-11-30T05:04:01.123456Z", "2027-01-01 00:00"]
SAME = [
    '{"stock":"4","as_of":"%s"}',
    '{"stock": "4", "as_of": "%s"}',
    '{"rows":[{"a":1}],"read_at":"%s"}\n',
    '{"page":{"rows":[],"retrieved_at":"%s"}}',
]
APART = [
    '{"as_of":"%s","stock":"4"}',
    '{"stock":"4","delivery":"%s"}',
    "as_of %s",
    '{"as_of":"now","due":"%s"}',
    '{"as_of":"%s' + "x" * 100 + '"}',
]


@pytest.mark.parametrize("form", SAME)
def test_results_that_differ_in_the_moment_they_were_read_alone_are_the_same(form: str) -> None:
    assert len({result_digest(form % time) for time in TIMES}) == 1
    assert result_digest(form % TIMES[0] + REPEAT_NOTICE) == result_digest(form % TIMES[1])
    assert result_digest("{" + form % TIMES[0]) != result_digest(form % TIMES[0])


@pytest.mark.parametrize("form", APART)
def test_a_time_that_is_said_elsewhere_is_part_of_the_result(form: str) -> None:
    assert len({result_digest(form % time) for time in TIMES}) == len(TIMES)


@given(st.text(max_size=200), st.text(max_size=200))
def test_other_texts_are_told_apart(one: str, other: str) -> None:
    assert (result_digest(one) == result_digest(other)) == (one == other)
