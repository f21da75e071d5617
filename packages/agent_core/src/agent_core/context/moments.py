"""Which time a question is about: yesterday, last week, on March 5th, three days ago, 上周, 昨天, 3月5日.

Invariant: pure, and generous: nobody says in which time zone a day is meant, so each range is widened by the hours that
zones lie apart. It only says what to prefer; what was said at another time can still be found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta

Range = tuple[float, float]
"""From and to, in Unix seconds."""

_APART = 14 * 3600.0
_DAYS = {"today": 0, "今天": 0, "今日": 0, "yesterday": 1, "昨天": 1, "昨日": 1, "前天": 2, "前日": 2}
_DAY = re.compile("|".join(_DAYS), re.IGNORECASE)
_AGO = re.compile(
    r"(\d{1,3}|[一两二三四五六七八九十]|a|an|one|two|three|four|five|six|seven)\s*"
    r"(天|日|周|星期|个星期|个月|月|days?|weeks?|months?)\s*(?:之前|以前|前|ago)",
    re.IGNORECASE,
)
_COUNTS = {
    **{word: number for number, word in enumerate("一二三四五六七八九十", 1)},
    **{word: number for number, word in enumerate(("one", "two", "three", "four", "five", "six", "seven"), 1)},
    "两": 2,
    "a": 1,
    "an": 1,
}
_PERIOD = re.compile(
    r"(?P<last>上个?|last\s+)(?:(?P<week>周|星期|week)|(?P<month>月|month))(?!\w*[一二三四五六日天])", re.IGNORECASE
)
_FULL = re.compile(r"(?<!\d)(\d{4})[-/年.](\d{1,2})[-/月.](\d{1,2})(?!\d)")
_SHORT = re.compile(r"(?<![\d年])(\d{1,2})月(\d{1,2})[日号]?(?!\d)")
_NAMES = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_ENGLISH = re.compile(
    rf"\b({'|'.join(_NAMES)})[a-z]*\.?\s+(\d{{1,2}})(?:st|nd|rd|th)?\b"
    rf"|\b(\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?({'|'.join(_NAMES)})[a-z]*\b",
    re.IGNORECASE,
)
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_WEEKDAY = re.compile(
    rf"(?P<last>上)?(?:周|星期|礼拜)(?P<zh>[一二三四五六日天])|\b(?:on|last)\s+(?P<en>{'|'.join(_WEEKDAYS)})\b",
    re.IGNORECASE,
)


def times_meant(question: str, now: float) -> list[Range]:
    """The times that a question names, as seen from ``now`` (Unix seconds); empty when it names none."""
    today = datetime.fromtimestamp(now, UTC).date()
    return [_range(first, last) for first, last in _days(question, today)]


def _days(text: str, today: date) -> Iterator[tuple[date, date]]:
    for match in _DAY.finditer(text):
        yield _one(today - timedelta(_DAYS[match[0].lower()]))
    for match in _AGO.finditer(text):
        count = int(match[1]) if match[1].isdigit() else _COUNTS[match[1].lower()]
        if match[2].lower().startswith(("天", "日", "day")):
            yield _one(today - timedelta(count))
        else:
            days = count * (30 if "月" in match[2] or match[2].lower().startswith("month") else 7)
            yield today - timedelta(days + days // 4), today - timedelta(days - days // 4)
    for match in _PERIOD.finditer(text):
        if match["week"]:
            monday = today - timedelta(today.weekday() + 7)
            yield monday, monday + timedelta(6)
        else:
            last = today.replace(day=1) - timedelta(1)
            yield last.replace(day=1), last
    for year, month, day in _FULL.findall(text):
        yield from _dated(int(year), int(month), int(day))
    for month, day in _SHORT.findall(text):
        yield from _nearest(int(month), int(day), today)
    for before, day, other, after in _ENGLISH.findall(text):
        yield from _nearest(_NAMES.index((before or after)[:3].lower()) + 1, int(day or other), today)
    for match in _WEEKDAY.finditer(text):
        wanted = (
            "一二三四五六日".find(match["zh"].replace("天", "日"))
            if match["zh"]
            else _WEEKDAYS.index(match["en"].lower())
        )
        back = (today.weekday() - wanted) % 7
        yield _one(today - timedelta(today.weekday() - wanted + 7 if match["last"] else back))


def _one(day: date) -> tuple[date, date]:
    return day, day


def _dated(year: int, month: int, day: int) -> Iterator[tuple[date, date]]:
    try:
        yield _one(date(year, month, day))
    except ValueError:
        return


def _nearest(month: int, day: int, today: date) -> Iterator[tuple[date, date]]:
    """That day of this year, of the last one where it is still to come."""
    found = list(_dated(today.year, month, day))
    yield from found if found and found[0][0] <= today else _dated(today.year - 1, month, day)


def _range(first: date, last: date) -> Range:
    begin = datetime(first.year, first.month, first.day, tzinfo=UTC).timestamp()
    end = datetime(last.year, last.month, last.day, tzinfo=UTC).timestamp() + 86_400.0
    return begin - _APART, end + _APART
