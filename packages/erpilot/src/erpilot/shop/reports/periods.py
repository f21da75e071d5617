"""Spans of time by the names that people use, as days of the shop.

Invariant: weeks begin on the shop's first day of the week; what is still going on ends today; two spans that are
compared are equally long where the calendar has it so, and otherwise say so by their dates.
"""

from __future__ import annotations

import calendar
import re
from datetime import date, timedelta

from ..errors import Invalid
from ..values import Company, Period, week_of

NAMED = (
    "today",
    "yesterday",
    "this_week",
    "last_week",
    "this_month",
    "last_month",
    "this_quarter",
    "last_quarter",
    "this_year",
    "last_year",
)
HINT = f"One of {', '.join(NAMED)}, last_30_days, 2026-10, 2026-Q3, 2026, or 2026-10-01..2026-10-15."


def period_named(text: str, today: date, company: Company) -> Period:
    """The span that a name, a month, a quarter, a year, a day or two days with ".." between them stand for. Raises
    ``Invalid``.
    """
    name = text.strip().casefold().replace(" ", "_").replace("-_", "-")
    start, end = _days(name, today, company)
    if start is None or end is None:
        raise Invalid(f"{text.strip()[:40]!r} is no span of time.", hint=HINT)
    return Period(start, end, company.zone, name)


def _days(name: str, today: date, company: Company) -> tuple[date | None, date | None]:
    if name in NAMED:
        return _named(name, today, company)
    if found := re.fullmatch(r"last_(\d{1,4})_days", name):
        return today - timedelta(max(int(found[1]), 1) - 1), today
    if found := re.fullmatch(r"(\d{4}-\d\d-\d\d)\s*(?:\.\.|to|/|~)_?(\d{4}-\d\d-\d\d)", name.replace("_", "")):
        return _day(found[1]), _day(found[2])
    if re.fullmatch(r"\d{4}-\d\d-\d\d", name):
        return _day(name), _day(name)
    if found := re.fullmatch(r"(\d{4})-(\d\d?)", name):
        year, month = int(found[1]), int(found[2])
        if 1 <= month <= 12 and year:
            return date(year, month, 1), date(year, month, calendar.monthrange(year, month)[1])
    if found := re.fullmatch(r"(\d{4})-?q([1-4])", name):
        year, last = int(found[1]), int(found[2]) * 3
        if year:
            return date(year, last - 2, 1), date(year, last, calendar.monthrange(year, last)[1])
    if re.fullmatch(r"[1-9]\d{3}", name):
        return date(int(name), 1, 1), date(int(name), 12, 31)
    return None, None


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _named(name: str, today: date, company: Company) -> tuple[date, date]:
    which, _, span = name.partition("_")
    if not span:
        day = today if which == "today" else today - timedelta(1)
        return day, day
    if span == "week":
        this = week_of(today, company).start
        return (this, today) if which == "this" else (this - timedelta(7), this - timedelta(1))
    if span == "month":
        this = today.replace(day=1)
    elif span == "quarter":
        this = date(today.year, (today.month - 1) // 3 * 3 + 1, 1)
    else:
        this = date(today.year, 1, 1)
    if which == "this":
        return this, today
    end = this - timedelta(1)
    months = {"month": 1, "quarter": 3, "year": 12}[span]
    return _months_before(this, months), end


def _months_before(day: date, months: int) -> date:
    """The same day so many months before; the last of a month that is shorter."""
    at = day.year * 12 + day.month - 1 - months
    year, month = divmod(at, 12)
    if year < 1:
        raise Invalid("There is no time before the year 1.")
    return date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))


def compared(text: str, period: Period, today: date, company: Company) -> Period:
    """What a span is compared with: ``previous`` (the same days of the span before), ``last_year`` (a year before), or
    any span by its name. Raises ``Invalid``.
    """
    name = text.strip().casefold().replace(" ", "_")
    if name in ("last_year", "year_before", "same_period_last_year"):
        return Period(_months_before(period.start, 12), _months_before(period.end, 12), period.zone, "last_year")
    if name != "previous":
        return period_named(text, today, company)
    months = _whole_months(period, today)
    if months is not None:
        start = _months_before(period.start, months)
        end = _months_before(period.end, months)
        whole = period.end == _last_of_month(period.end) and not period.name.startswith("this_")
        return Period(start, _last_of_month(end) if whole else end, period.zone, "previous")
    length = timedelta((period.end - period.start).days + 1)
    if period.name in ("this_week", "last_week"):
        length = timedelta(7)
    return Period(period.start - length, period.end - length, period.zone, "previous")


def _whole_months(period: Period, today: date) -> int | None:
    """How many months a span takes that begins with one, and ends with one or is going on; None for other spans."""
    if period.start.day != 1:
        return None
    going_on = period.name.startswith("this_") and period.name != "this_week" and period.end == today
    if not going_on and period.end != _last_of_month(period.end):
        return None
    if going_on:
        return {"this_month": 1, "this_quarter": 3, "this_year": 12}[period.name]
    return (period.end.year - period.start.year) * 12 + period.end.month - period.start.month + 1


def _last_of_month(day: date) -> date:
    return day.replace(day=calendar.monthrange(day.year, day.month)[1])
