"""What people call a day or a span of days, and which days that is, against the shop's today.

Invariant: a name has one meaning, which the answer writes out; weeks begin on Monday; "next Wednesday" and 下周三 are
that day of the coming week; a month without a year is the newest one that has begun.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, timedelta

from .amounts import NUMBER, number
from .span import Span, back, month_end

_DAYS = ("一", "二", "三", "四", "五", "六", "日天")
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH_NAMES = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    "nov(?:ember)?|dec(?:ember)?"
)
_WEEKDAY_NAMES = "mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:rs(?:day)?)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?"
_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "上": 1, "下": 2}


Meaning = Callable[[re.Match[str], date], Span]


def _day(offset: int) -> Meaning:
    return lambda found, today: Span(today + timedelta(offset), today + timedelta(offset), "day")


def _week(offset: int) -> Meaning:
    def span(found: re.Match[str], today: date) -> Span:
        monday = today - timedelta(today.weekday()) + timedelta(7 * offset)
        return Span(monday, monday + timedelta(6), "week")

    return span


def _weekend(offset: int) -> Meaning:
    def span(found: re.Match[str], today: date) -> Span:
        saturday = today - timedelta(today.weekday()) + timedelta(7 * offset + 5)
        return Span(saturday, saturday + timedelta(1), "days")

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


def _weekday_of_week(found: re.Match[str], today: date) -> Span:
    week = {"last": -1, "next": 1}.get(found["which"].casefold(), 0)
    day = today - timedelta(today.weekday()) + timedelta(7 * week + _WEEKDAYS.index(found["day"][:3].casefold()))
    return Span(day, day, "day")


def _month(offset: int) -> Meaning:
    def span(found: re.Match[str], today: date) -> Span:
        start = back(today.replace(day=1), 0, -offset)
        return Span(start, month_end(start), "month")

    return span


def _month_number(name: str) -> int:
    return _MONTHS.index(name[:3].casefold()) + 1 if name[:3].casefold() in _MONTHS else number(name)


def _named_year(found: re.Match[str], today: date) -> int | None:
    """The year that stands beside a month or a quarter: in digits, or 去年 and "last year"."""
    said = found.groupdict()
    if year := next((said[each] for each in ("year", "behind") if said.get(each)), None):
        return int(year)
    if said.get("past"):
        return today.year - 1
    return today.year if said.get("now") else None


def _newest(month: int, today: date, year: int | None) -> date:
    return date(year or today.year - (month > today.month), month, 1)


def _named_month(found: re.Match[str], today: date) -> Span:
    start = _newest(_month_number(found["month"]), today, _named_year(found, today))
    return Span(start, month_end(start), "month")


def _months(found: re.Match[str], today: date) -> Span:
    start = _newest(_month_number(found["a"]), today, _named_year(found, today))
    last = start.replace(month=_month_number(found["b"]))
    return Span(start, month_end(last), "range")


def _quarter(found: re.Match[str], today: date) -> Span:
    at = found["quarter"] or found.groupdict().get("q")
    now = (today.month - 1) // 3 + 1
    if at is None:
        earlier = 1 if (found["which"] or "").casefold() in ("上", "上个", "last", "previous") else 0
        start = back(date(today.year, now * 3 - 2, 1), 0, 3 * earlier)
    else:
        quarter = _ORDINALS.get(at.casefold()) or number(at)
        start = date(_named_year(found, today) or today.year - (quarter > now), quarter * 3 - 2, 1)
    return Span(start, month_end(back(start, 0, -2)), "quarter")


def _half(found: re.Match[str], today: date) -> Span:
    second = _ORDINALS[found["half"].casefold()] == 2
    start = date(_named_year(found, today) or today.year - (second and today.month < 7), 7 if second else 1, 1)
    return Span(start, month_end(back(start, 0, -5)), "half")


def _year(offset: int) -> Meaning:
    return lambda found, today: Span(date(today.year + offset, 1, 1), date(today.year + offset, 12, 31), "year")


def _numbered_year(found: re.Match[str], today: date) -> Span:
    year = _named_year(found, today) or today.year
    return Span(date(year, 1, 1), date(year, 12, 31), "year")


def _so_far(found: re.Match[str], today: date) -> Span:
    return Span(date(today.year, 1, 1), today, "range")


def _last_days(found: re.Match[str], today: date) -> Span:
    unit = found["unit"].casefold()
    days = number(found["count"]) * (7 if unit[0] in "周星w" else 30 if unit[0] in "个月m" else 1)
    return Span(today - timedelta(max(days, 1) - 1), today, "days")


def _days_ago(found: re.Match[str], today: date) -> Span:
    day = today - timedelta(number(found["count"]))
    return Span(day, day, "day")


def _written(found: re.Match[str], today: date) -> Span:
    year = int(found["y"]) if found["y"] else today.year
    day = date(year, number(found["m"]), number(found["d"]))
    return Span(day, day, "day")


def _written_days(found: re.Match[str], today: date) -> Span:
    month = _month_number(found["month"])
    return Span(date(today.year, month, number(found["a"])), date(today.year, month, number(found["b"])), "range")


def _month_day(found: re.Match[str], today: date) -> Span:
    year = int(found["year"]) if found["year"] else today.year
    day = date(year, _month_number(found["month"]), int(found["d"]))
    return Span(day, day, "day")


def _day_of_month(found: re.Match[str], today: date) -> Span:
    offset = {"上": -1, "last": -1, "下": 1, "next": 1}.get(found["which"].casefold(), 0)
    day = back(today.replace(day=1), 0, -offset).replace(day=number(found["d"]))
    return Span(day, day, "day")


def _days_of_month(found: re.Match[str], today: date) -> Span:
    first = back(today.replace(day=1), 0, -{"上": -1, "下": 1}.get(found["which"], 0))
    return Span(first.replace(day=number(found["a"])), first.replace(day=number(found["b"])), "range")


def _end(found: re.Match[str], today: date) -> Span:
    """The last day of a month or a year."""
    offset = {"上": -1, "去": -1, "last": -1, "下": 1, "明": 1, "next": 1}.get((found["which"] or "").casefold(), 0)
    if found["unit"].casefold() in ("年", "year"):
        day = date(today.year + offset, 12, 31)
    elif found["unit"].casefold() in ("月", "month"):
        day = month_end(back(today.replace(day=1), 0, -offset))
    else:
        day = month_end(_newest(_month_number(found["unit"]), today, None))
    return Span(day, day, "end")


_W = r"(?:周|星期|礼拜)"
_CN = r"(?:\d{1,2}|[一二三四五六七八九十]{1,3})"
KINDS: tuple[tuple[str, Meaning], ...] = (
    (r"(?P<y>20\d\d)[-/年](?P<m>\d{1,2})[-/月](?P<d>\d{1,2})[日号]?", _written),
    (rf"(?P<month>{_CN})\s*月\s*(?P<a>{_CN})\s*[日号]?\s*(?:到|至|[-–~])\s*(?P<b>{_CN})\s*[日号]", _written_days),
    (
        rf"\b(?P<month>{_MONTH_NAMES})\.? (?P<a>\d{{1,2}})\s*(?:-|–|to)\s*(?P<b>\d{{1,2}})\b(?! ?(?:cases?|boxes))",
        _written_days,
    ),
    (rf"(?P<y>)(?P<m>{_CN})\s*月\s*(?P<d>{_CN})\s*[日号]", _written),
    (
        rf"\b(?P<month>{_MONTH_NAMES})\.? (?P<d>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,? (?P<year>20\d\d))?"
        r"(?! ?(?:cases?|boxes))",
        _month_day,
    ),
    (rf"\b(?P<d>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? (?P<month>{_MONTH_NAMES})\b(?: (?P<year>20\d\d))?", _month_day),
    (
        rf"(?P<which>[上下这本])个?月(?:的)?(?P<a>{_CN})\s*[日号]?\s*(?:到|至|[-–~])\s*(?P<b>{_CN})\s*[日号]",
        _days_of_month,
    ),
    (rf"(?P<which>[上下这本])个?月(?:的)?(?P<d>{_CN})[日号]", _day_of_month),
    (r"(?P<which>[上下这本])?个?(?P<unit>月)(?:底|末)", _end),
    (r"(?P<which>去|今|明)?(?P<unit>年)(?:底|末)", _end),
    (
        r"\b(?:the )?end of (?:the )?(?:(?P<which>this|last|next) )?(?P<unit>month|year|" + _MONTH_NAMES + r")\b",
        _end,
    ),
    (rf"(?:最近|近|过去|这)\s*(?P<count>{NUMBER})\s*(?P<unit>天|日|个?星期|周|个?月)(?:内|里)?", _last_days),
    (
        rf"\b(?:in |over |for |during )?(?:the )?(?:last|past) (?P<count>{NUMBER}) (?P<unit>days?|weeks?|months?)\b",
        _last_days,
    ),
    (rf"(?P<count>{NUMBER})\s*天(?:之|以)?前(?![能可交发备])", _days_ago),
    (rf"\b(?P<count>{NUMBER}) days? ago\b", _days_ago),
    (rf"上上个?{_W}(?!末|[一二三四五六日天])", _week(-2)),
    (rf"下下个?{_W}(?!末|[一二三四五六日天])", _week(2)),
    (r"上上个?月(?:份)?", _month(-2)),
    (r"大前天", _day(-3)),
    (r"大后天", _day(3)),
    (rf"上个?{_W}末|\b(?:last|over the|at the|this past) weekend\b", _weekend(-1)),
    (rf"这个?{_W}末|\bthis weekend\b", _weekend(0)),
    (rf"(?P<which>[上下这本])?(?<![上下]上)(?<![上下]下)个?{_W}(?P<day>[一二三四五六日天])(?![个天])", _weekday),
    (rf"\b(?P<day>{_WEEKDAY_NAMES}) (?:of )?(?P<which>last|this|next) week\b", _weekday_of_week),
    (rf"\b(?:(?P<which>last|next|this) )?(?P<day>{_WEEKDAY_NAMES})\b", _weekday),
    (r"(?<!大)前[天日](?!内)|\b(?:the )?day before yesterday\b", _day(-2)),
    (r"(?<!大)后天|\b(?:the )?day after tomorrow\b", _day(2)),
    (r"今儿个|今[天日儿]|\btoday(?:'s)?\b", _day(0)),
    (r"昨[天日儿]|\byesterday(?:'s)?\b", _day(-1)),
    (r"明[天日儿]|\btomorrow\b", _day(1)),
    (rf"[这本]个?{_W}(?!末)|\bthis week(?:'s)?\b", _week(0)),
    (rf"(?<!上)上个?{_W}(?!末)|\blast week(?:'s)?\b", _week(-1)),
    (rf"(?<!下)下个?{_W}(?!末)|\bnext week(?:'s)?\b", _week(1)),
    (r"[这本当]个?月(?:份|以来)?|\b(?:this|the current) month(?:'s)?\b", _month(0)),
    (r"(?<!上)上个?月(?:份)?|\blast month(?:'s)?\b", _month(-1)),
    (r"(?<!下)下个?月|\bnext month(?:'s)?\b", _month(1)),
    (
        r"(?:(?P<year>20\d\d)\s*年\s*|(?P<past>去年)\s*|(?P<now>今年)\s*)?"
        r"(?:第?(?P<quarter>[一二三四1-4])季度|(?P<which>[这本上]个?)季度?)|"
        r"\bq(?P<q>[1-4])\b(?:,? (?:of )?(?P<behind>20\d\d))?",
        _quarter,
    ),
    (
        r"\b(?:the )?(?:(?P<quarter>first|second|third|fourth)|(?P<which>this|last|previous)) quarter\b"
        r"(?: of (?:(?P<year>20\d\d)|(?P<past>last year)|(?P<now>this year)))?",
        _quarter,
    ),
    (r"(?:(?P<year>20\d\d)\s*年|(?P<past>去年)|(?P<now>今年))?\s*(?P<half>[上下])半年", _half),
    (
        r"\b(?:the )?(?P<half>first|second) half of "
        r"(?:(?P<now>the year|this year)|(?P<past>last year)|(?P<year>20\d\d))",
        _half,
    ),
    (
        r"(?:(?P<year>20\d\d)\s*年\s*|(?P<past>去年)\s*|(?P<now>今年)\s*)?"
        rf"(?P<a>{_CN})\s*月?(?:份)?\s*(?:到|至|[-–~])\s*(?P<b>{_CN})\s*月(?:份)?(?!\d|[一二三四五六七八九十]+[日号])",
        _months,
    ),
    (
        r"(?:(?P<year>20\d\d)\s*年\s*|(?P<past>去年)\s*|(?P<now>今年)\s*)?"
        r"(?P<month>\d{1,2}|十[一二]?|[一二三四五六七八九])\s*月(?:份)?(?!\d)",
        _named_month,
    ),
    (r"今年(?:以来|到现在|至今)|\byear to date\b|\bytd\b|\bthis year so far\b", _so_far),
    (r"今年|本年(?:度)?|\bthis year(?:'s)?\b", _year(0)),
    (r"去年|上一?年|\blast year(?:'s)?\b", _year(-1)),
    (r"(?<!\d)(?P<year>20\d\d)\s*年(?:度)?(?!\d)|\b(?:in|for|during) (?P<behind>20\d\d)\b(?![-/])", _numbered_year),
    (
        rf"\b(?:in |for )?(?P<month>(?!may\b)(?:{_MONTH_NAMES}))"
        r"(?: (?P<year>20\d\d)|,? (?:of )?(?P<past>last year))?\b",
        _named_month,
    ),
    (r"\b(?:in|for) (?P<month>may)\b(?: (?P<year>20\d\d))?", _named_month),
)
