"""Spans of time by their names, and what they are compared with."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from erpilot.shop.errors import Invalid
from erpilot.shop.reports.charts import Bar, vega_lite
from erpilot.shop.reports.periods import NAMED, compared, period_named
from erpilot.shop.values import Company

SHOP = Company("x")
TODAY = date(2026, 11, 18)  # a Wednesday


def days(name: str, today: date = TODAY) -> tuple[date, date]:
    period = period_named(name, today, SHOP)
    return period.start, period.end


@pytest.mark.parametrize(
    ("name", "start", "end"),
    [
        ("today", "2026-11-18", "2026-11-18"),
        ("Yesterday", "2026-11-17", "2026-11-17"),
        ("this week", "2026-11-16", "2026-11-18"),
        ("last_week", "2026-11-09", "2026-11-15"),
        ("this_month", "2026-11-01", "2026-11-18"),
        ("last_month", "2026-10-01", "2026-10-31"),
        ("this_quarter", "2026-10-01", "2026-11-18"),
        ("last_quarter", "2026-07-01", "2026-09-30"),
        ("this_year", "2026-01-01", "2026-11-18"),
        ("last_year", "2025-01-01", "2025-12-31"),
        ("last_30_days", "2026-10-20", "2026-11-18"),
        ("2026-02", "2026-02-01", "2026-02-28"),
        ("2026-Q3", "2026-07-01", "2026-09-30"),
        ("2024", "2024-01-01", "2024-12-31"),
        ("2026-10-01..2026-10-15", "2026-10-01", "2026-10-15"),
        ("2026-10-05", "2026-10-05", "2026-10-05"),
    ],
)
def test_a_span_has_the_days_of_the_shop(name: str, start: str, end: str) -> None:
    assert days(name) == (date.fromisoformat(start), date.fromisoformat(end))


@pytest.mark.parametrize("name", ["", "soon", "2026-13", "2026-Q5", "2026-02-30", "2026-10-15..2026-10-01", "0000"])
def test_what_is_no_span_is_refused(name: str) -> None:
    with pytest.raises(Invalid):
        period_named(name, TODAY, SHOP)


@pytest.mark.parametrize(
    ("name", "with_", "start", "end"),
    [
        ("this_month", "previous", "2026-10-01", "2026-10-18"),
        ("last_month", "previous", "2026-09-01", "2026-09-30"),
        ("2026-Q3", "previous", "2026-04-01", "2026-06-30"),
        ("2026-Q3", "last_year", "2025-07-01", "2025-09-30"),
        ("this_week", "previous", "2026-11-09", "2026-11-11"),
        ("today", "previous", "2026-11-17", "2026-11-17"),
        ("last_30_days", "previous", "2026-09-20", "2026-10-19"),
        ("2026-10-05..2026-10-09", "previous", "2026-09-30", "2026-10-04"),
        ("2026-10", "2025-12", "2025-12-01", "2025-12-31"),
        ("this_year", "previous", "2025-01-01", "2025-11-18"),
    ],
)
def test_a_span_is_compared_with_the_same_days_of_the_other_one(name: str, with_: str, start: str, end: str) -> None:
    found = compared(with_, period_named(name, TODAY, SHOP), TODAY, SHOP)
    assert (found.start, found.end) == (date.fromisoformat(start), date.fromisoformat(end))


def test_a_month_that_goes_on_at_its_last_day_is_compared_with_as_many_days() -> None:
    today = date(2026, 11, 30)
    found = compared("previous", period_named("this_month", today, SHOP), today, SHOP)
    assert (found.start, found.end) == (date(2026, 10, 1), date(2026, 10, 30))


@given(st.sampled_from(NAMED), st.dates(date(2000, 1, 1), date(2100, 1, 1)))
@settings(max_examples=80)
def test_every_named_span_ends_no_later_than_today_and_what_it_is_compared_with_lies_before_it(
    name: str, today: date
) -> None:
    period = period_named(name, today, SHOP)
    assert period.start <= period.end <= today
    other = compared("previous", period, today, SHOP)
    assert other.end < period.start
    if name.endswith(("day", "week")):
        assert other.end - other.start == period.end - period.start


@given(st.dates(date(2000, 1, 1), date(2100, 1, 1)))
@settings(max_examples=30)
def test_last_and_this_span_meet(today: date) -> None:
    for span in ("week", "month", "quarter", "year"):
        assert days(f"last_{span}", today)[1] + timedelta(1) == days(f"this_{span}", today)[0]


def test_a_chart_holds_its_values_and_loads_nothing() -> None:
    from decimal import Decimal

    spec = vega_lite([Bar("a", Decimal(3), Decimal(2))], title="t", unit="CNY", labels=("now", "then"))
    assert spec["data"] == {
        "values": [
            {"name": "a", "place": 0, "series": "now", "value": 3.0},
            {"name": "a", "place": 0, "series": "then", "value": 2.0},
        ]
    }
    assert "url" not in str(spec)
