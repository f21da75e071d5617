"""The times that a question names, as seen from one Monday."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_core.context.moments import times_meant

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC).timestamp()
MONDAY = date(2026, 11, 30)


def days(question: str) -> list[tuple[date, date]]:
    """First and last day meant, without the hours that time zones lie apart."""
    apart = timedelta(hours=14)
    return [
        (
            (datetime.fromtimestamp(begin, UTC) + apart).date(),
            (datetime.fromtimestamp(end, UTC) - apart - timedelta(seconds=1)).date(),
        )
        for begin, end in times_meant(question, NOW)
    ]


@pytest.mark.parametrize(
    ("question", "back"),
    [
        ("今天说的价", 0),
        ("昨天答应鑫源的价", 1),
        ("what did I promise yesterday?", 1),
        ("前天那张单", 2),
        ("三天前", 3),
        ("3 days ago", 3),
        ("十天之前说的", 10),
        ("周三说的", 5),
        ("on Wednesday", 5),
        ("上周三说的", 5),
        ("星期天", 1),
        ("last Friday", 3),
        ("2026-11-12 那次", 18),
        ("2026年11月12日", 18),
        ("11月12日答应的", 18),
        ("on November 12th", 18),
        ("12 Nov", 18),
        ("12月1日", 364),
    ],
)
def test_one_day(question: str, back: int) -> None:
    assert days(question) == [(MONDAY - timedelta(back), MONDAY - timedelta(back))]


@pytest.mark.parametrize(
    ("question", "first", "last"),
    [
        ("上周说的价", date(2026, 11, 23), date(2026, 11, 29)),
        ("last week", date(2026, 11, 23), date(2026, 11, 29)),
        ("上个月报的", date(2026, 10, 1), date(2026, 10, 31)),
        ("what we said last month", date(2026, 10, 1), date(2026, 10, 31)),
    ],
)
def test_a_week_or_a_month(question: str, first: date, last: date) -> None:
    assert days(question) == [(first, last)]


@pytest.mark.parametrize(
    "question", ["上次", "订单 123 有货吗", "单价 11.5 元", "2026-02-30", "monthly", "", "May I?", "3月份"]
)
def test_no_time(question: str) -> None:
    assert days(question) == []


@settings(max_examples=60, deadline=None)
@given(st.text(st.sampled_from("0123456789-/.年月日天周前上个三 ago last week month may")))
def test_whatever_is_asked_times_are_ranges_of_the_past_or_given_in_full(question: str) -> None:
    for begin, end in times_meant(question, NOW):
        assert begin < end
