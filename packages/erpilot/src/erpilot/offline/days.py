"""Days and spans of time as people name them, against the shop's today.

Invariant: a name has one meaning, which the answer writes out; weeks begin on Monday; "next Wednesday" and 下周三 are
that day of the coming week; a month without a year is the newest one that has begun.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta

from ..shop.numerals import in_digits

_DAYS = ("一", "二", "三", "四", "五", "六", "日天")
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH_NAMES = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    "nov(?:ember)?|dec(?:ember)?"
)
_WEEKDAY_NAMES = "mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:rs(?:day)?)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?"
_NUMBER = (
    r"\d+|[一二两三四五六七八九十百]+|"
    r"(?:a|one|two|three|four|five|six|seven|eight|nine|ten|twelve|thirty|sixty|ninety)\b"
)
_ENGLISH = {
    word: number
    for number, word in enumerate(
        ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    )
} | {"a": 1, "twelve": 12, "thirty": 30, "sixty": 60, "ninety": 90}


@dataclass(frozen=True, slots=True)
class Span:
    """From ``start`` to ``end``, both included. ``kind``: day, week, month, quarter, year or days."""

    start: date
    end: date
    kind: str

    def shifted(self, years: int = 0, months: int = 0) -> Span:
        """The same days so many years or months before; the last day of a shorter month where there is none."""
        return Span(_back(self.start, years, months), _back(self.end, years, months), self.kind)


def _back(day: date, years: int, months: int) -> date:
    count = day.year * 12 + day.month - 1 - years * 12 - months
    year, month = divmod(count, 12)
    return date(year, month + 1, min(day.day, month_end(date(year, month + 1, 1)).day))


def month_end(day: date) -> date:
    """The last day of the month that ``day`` is in."""
    return (day.replace(day=28) + timedelta(days=4)).replace(day=1) - timedelta(days=1)


def number(text: str) -> int:
    """A small number in digits, Chinese or English; 半 is none."""
    plain = text.strip().casefold()
    return _ENGLISH[plain] if plain in _ENGLISH else int(float(in_digits(plain)))


def _day(offset: int) -> Callable[[re.Match[str], date], Span]:
    return lambda found, today: Span(today + timedelta(offset), today + timedelta(offset), "day")


def _week(offset: int) -> Callable[[re.Match[str], date], Span]:
    def span(found: re.Match[str], today: date) -> Span:
        monday = today - timedelta(today.weekday()) + timedelta(7 * offset)
        return Span(monday, monday + timedelta(6), "week")

    return span


def _weekday(found: re.Match[str], today: date) -> Span:
    name = found["day"].casefold()
    at = next((n for n, signs in enumerate(_DAYS) if name in signs), None)
    at = _WEEKDAYS.index(name[:3]) if at is None else at
    week = {"上": -1, "last": -1, "下": 1, "next": 1}.get((found["which"] or "").casefold().strip(), 0)
    day = today - timedelta(today.weekday()) + timedelta(7 * week + at)
    if week == 0 and day < today and not found["which"]:
        day += timedelta(7)  # a bare day of the week that is over means the next one
    return Span(day, day, "day")


def _month(offset: int) -> Callable[[re.Match[str], date], Span]:
    def span(found: re.Match[str], today: date) -> Span:
        start = _back(today.replace(day=1), 0, -offset)
        return Span(start, month_end(start), "month")

    return span


def _named_month(found: re.Match[str], today: date) -> Span:
    name = found["month"].casefold()
    month = _MONTHS.index(name[:3]) + 1 if name[:3] in _MONTHS else number(name)
    year = found["year"]
    start = date(int(year), month, 1) if year else date(today.year - (month > today.month), month, 1)
    if found["past"] and not year:
        start = date(today.year - 1, month, 1)
    return Span(start, month_end(start), "month")


def _quarter(found: re.Match[str], today: date) -> Span:
    at = found["quarter"] or found.groupdict().get("q")
    ordinals = {"first": 1, "second": 2, "third": 3, "fourth": 4}
    now = (today.month - 1) // 3 + 1
    if at is None:
        back = 1 if (found["which"] or "").casefold() in ("上", "上个", "last", "previous") else 0
        start = _back(date(today.year, now * 3 - 2, 1), 0, 3 * back)
    else:
        quarter = ordinals.get(at.casefold()) or number(at)
        start = date(today.year - (quarter > now), quarter * 3 - 2, 1)
    return Span(start, month_end(_back(start, 0, -2)), "quarter")


def _year(offset: int) -> Callable[[re.Match[str], date], Span]:
    return lambda found, today: Span(date(today.year + offset, 1, 1), date(today.year + offset, 12, 31), "year")


def _last_days(found: re.Match[str], today: date) -> Span:
    unit = found["unit"].casefold()
    days = number(found["count"]) * (7 if unit[0] in "周星w" else 30 if unit[0] in "个月m" else 1)
    return Span(today - timedelta(max(days, 1) - 1), today, "days")


def _written(found: re.Match[str], today: date) -> Span:
    year = int(found["y"]) if found["y"] else today.year
    day = date(year, number(found["m"]), number(found["d"]))
    return Span(day, day, "day")


def _month_day(found: re.Match[str], today: date) -> Span:
    day = date(today.year, _MONTHS.index(found["month"][:3].casefold()) + 1, int(found["d"]))
    return Span(day, day, "day")


_W = r"(?:周|星期|礼拜)"
_KINDS: tuple[tuple[str, Callable[[re.Match[str], date], Span]], ...] = (
    (r"(?P<y>20\d\d)[-/年](?P<m>\d{1,2})[-/月](?P<d>\d{1,2})[日号]?", _written),
    (r"(?P<y>)(?P<m>\d{1,2})\s*月\s*(?P<d>\d{1,2})\s*[日号]", _written),
    (rf"\b(?P<month>{_MONTH_NAMES})\.? (?P<d>\d{{1,2}})(?:st|nd|rd|th)?\b(?! ?(?:cases?|boxes))", _month_day),
    (rf"(?:最近|近|过去|这)\s*(?P<count>{_NUMBER})\s*(?P<unit>天|日|个?星期|周|个?月)(?:内|里)?", _last_days),
    (
        rf"\b(?:in |over |for |during )?(?:the )?(?:last|past) (?P<count>{_NUMBER}) (?P<unit>days?|weeks?|months?)\b",
        _last_days,
    ),
    (rf"(?P<which>[上下这本])?个?{_W}(?P<day>[一二三四五六日天])(?![个天])", _weekday),
    (rf"\b(?:(?P<which>last|next|this) )?(?P<day>{_WEEKDAY_NAMES})\b", _weekday),
    (r"今[天日儿]|\btoday(?:'s)?\b", _day(0)),
    (r"昨[天日儿]|\byesterday(?:'s)?\b", _day(-1)),
    (r"前[天日](?!内)|\bthe day before yesterday\b", _day(-2)),
    (r"明[天日儿]|\btomorrow\b", _day(1)),
    (r"后天|\bthe day after tomorrow\b", _day(2)),
    (rf"[这本]个?{_W}|\bthis week(?:'s)?\b", _week(0)),
    (rf"上个?{_W}|\blast week(?:'s)?\b", _week(-1)),
    (rf"下个?{_W}|\bnext week(?:'s)?\b", _week(1)),
    (r"[这本当]个?月(?:份|以来)?|\b(?:this|the current) month(?:'s)?\b", _month(0)),
    (r"上个?月(?:份)?|\blast month(?:'s)?\b", _month(-1)),
    (r"下个?月|\bnext month(?:'s)?\b", _month(1)),
    (
        r"(?:今年)?(?:第?(?P<quarter>[一二三四1-4])季度|(?P<which>[这本上]个?)季度?)|"
        r"\bq(?P<q>[1-4])\b",
        _quarter,
    ),
    (r"\b(?:the )?(?:(?P<quarter>first|second|third|fourth)|(?P<which>this|last|previous)) quarter\b", _quarter),
    (r"今年|本年(?:度)?|\bthis year(?:'s)?\b", _year(0)),
    (r"去年|上一?年|\blast year(?:'s)?\b", _year(-1)),
    (
        r"(?:(?P<year>20\d\d)\s*年\s*)?(?P<past>去年)?(?P<month>\d{1,2}|十[一二]?|[一二三四五六七八九])\s*月(?:份)?(?!\d)",
        _named_month,
    ),
    (rf"\b(?:in |for )?(?P<past>)(?P<month>(?!may\b)(?:{_MONTH_NAMES}))(?: (?P<year>20\d\d))?\b", _named_month),
    (r"\b(?:in|for) (?P<past>)(?P<month>may)\b(?: (?P<year>20\d\d))?", _named_month),
)


_PATTERNS = [(re.compile(pattern, re.IGNORECASE), meaning) for pattern, meaning in _KINDS]


def spans(text: str, today: date) -> list[tuple[int, int, Span]]:
    """Where the text names a day or a span of days, and which; none overlaps another."""
    found: list[tuple[int, int, Span]] = []
    for pattern, meaning in _PATTERNS:
        for match in pattern.finditer(text):
            if match.end() == match.start() or any(a < match.end() and match.start() < b for a, b, _ in found):
                continue
            try:
                found.append((match.start(), match.end(), meaning(match, today)))
            except (ValueError, KeyError, IndexError):  # the 31st of a month that has none
                continue
    return sorted(found, key=lambda each: each[:2])
