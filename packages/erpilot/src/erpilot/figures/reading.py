"""Reads the figures of a text: numbers as people write them, dates, times, and codes such as document numbers.

Invariant: pure, linear in the text. What only counts lines or steps (list numbering, ordinals, quarters, weekdays) is
no figure; words that merely contain a numeral (万一, 十分) are none either.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from .numerals import CHINESE, ENGLISH, SCALES, chinese, english

Kind = Literal["number", "percent", "discount", "date", "time", "code"]


@dataclass(frozen=True, slots=True)
class Mention:
    """A figure in its place. ``values``: what the number may be (5k is 5000, or 5 of something); of ``percent`` 5 for
    5 %, of ``discount`` the per cent off (5 for 9.5 折). ``parts``: (year, month, day) or (hour, minute), None where
    not said. ``numbers``: what a code is made of when it is none. ``about``: said to be approximate. ``stock``:
    which of the four words for stock stands beside it, as the field of results that has it. ``currency``, ``unit``:
    what stands beside it; ``direction``: 1 where it is said to be a rise, -1 a fall.
    """

    text: str
    kind: Kind
    start: int
    end: int
    values: tuple[Decimal, ...] = ()
    parts: tuple[int | None, ...] = ()
    numbers: tuple[Decimal, ...] = ()
    about: bool = False
    stock: str | None = None
    currency: str | None = None
    unit: str | None = None
    direction: int = 0


_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?"
    r"|Nov(?:ember)?|Dec(?:ember)?)"
)
_TH = r"(?:st|nd|rd|th)"
_CN = rf"[{CHINESE}]"
_NUMBER = r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?"
_TOKEN = re.compile(
    rf"""
    (?=[\d¥$€£+−第周初星礼前上下早晚傍凌中-]|{_CN}|(?<![A-Za-z0-9])[A-Za-z])
  (?:
    (?P<skip> 第\s*(?:\d+|{_CN}+) | (?<![A-Za-z0-9])\d+{_TH}\b(?!\s+(?:of\s+)?{_MONTH}\b) | (?<!\d)[1-4]\s*季度
        | (?<![A-Za-z0-9-])[QH][1-4](?![A-Za-z0-9-]) | (?:UTC|GMT)\s*[+-]\d{{1,2}}(?::\d\d)?
        | \b(?:step|option|top)\s+\d{{1,2}}(?![\d.]|,\d)
        | 前\s*\d{{1,2}}(?=\s*[条名位大行项]) | (?:[周初]|星期|礼拜){_CN}{{1,2}} | {_CN}(?=季度))
  | (?P<iso> (?<![\d-])(?P<iy>\d{{4}})-(?P<im>\d\d)-(?P<id>\d\d)(?![\d-])
        (?:[T\s]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?)
  | (?P<ymd> (?<!\d)(?P<yy>\d{{4}})\s?[-/.年]\s?(?P<ym>\d{{1,2}})
        (?:\s?[-/.月]\s?(?P<yd>\d{{1,2}})(?!\d)\s?[日号]?|\s?月(?:份)?))
  | (?P<year> (?<!\d)(?:19|20)\d\d(?=\s?年))
  | (?P<md> (?<![\d.])(?P<mm>\d{{1,2}})\s?月(?:\s?(?P<mdd>\d{{1,2}})\s?[日号])?)
  | (?P<cmd> (?P<cm>[一二三四五六七八九十]{{1,2}})月(?:(?P<cd>[一二三四五六七八九十]{{1,3}})[日号])?)
  | (?P<cyear> [一二][零〇一二三四五六七八九]{{3}}(?=年))
  | (?P<en1> \b(?P<e1m>{_MONTH})\.?\s+(?P<e1d>\d{{1,2}}){_TH}?(?![\d,.]*\d\s?[A-Za-z%])(?:,?\s+(?P<e1y>\d{{4}}))?\b)
  | (?P<en2> (?<![\d.,])(?P<e2d>\d{{1,2}}){_TH}?\s+(?:of\s+)?(?P<e2m>{_MONTH})\b\.?(?:,?\s+(?P<e2y>\d{{4}}))?)
  | (?P<en3> \b(?P<e3m>{_MONTH})\.?\s+(?P<e3y>(?:19|20)\d\d)\b)
  | (?P<phone> (?<![\w.,-])(?:1\d\d(?P<gap>[ -])\d{{4}}(?P=gap)\d{{4}}|0\d{{2,3}}[ ]\d{{7,8}})(?![\w-]|[.,]\d))
  | (?P<ctime> (?:(?P<later>下午|晚上|傍晚)|上午|早上|凌晨|中午)?\s?(?<![\d.:])(?P<ch>[01]?\d|2[0-4])\s?[点时]
        (?:\s?(?P<cmin>[0-5]?\d)\s?分|(?P<half>半)|整|钟|(?=[前后，。；、,.;\s]|$)))
  | (?P<time> (?<![\d:.])(?P<th>[01]?\d|2[0-4]):(?P<tm>[0-5]\d)(?::[0-5]\d)?(?![\d:]))
  | (?P<cpct> 百分之(?:(?P<cpn>{_NUMBER})|(?P<cpc>[{CHINESE}点]+)))
  | (?P<cn> [{CHINESE}](?:[{CHINESE}]|点(?=[{CHINESE}]))*)
  | (?P<words> \b(?:an?\s+(?=hundred|thousand|million))?(?:{ENGLISH})(?:[\s-]+(?:and\s+)?(?:{ENGLISH}))*\b)
  | (?P<times> {_NUMBER}(?=\s?[xX×*]\s?\d))
  | (?P<dashed> (?<![\w.-])\d+(?:-\d+)+(?![\w-]|\.\d))
  | (?P<code> (?<![A-Za-z0-9])(?=[A-Za-z0-9_-]{{0,60}}\d)(?=[A-Za-z0-9_-]{{0,60}}[A-Za-z])
        [A-Za-z0-9]+(?:[-_][A-Za-z0-9]+)*)
  | (?P<number> (?P<sign>(?<![\w.)\]-])[-−+])?(?P<money>[¥$€£]\s?)?(?P<sign2>[-−])?(?P<n>{_NUMBER}))
  )
    """,
    re.VERBOSE | re.IGNORECASE,
)
_BEHIND = re.compile(
    r"\s?(?:(?P<times>万亿|百万|亿|万|千(?![克米瓦])|百(?![货度])|(?:thousand|million|billion|mn|bn)\b|[kKmMwW](?![A-Za-z]))\s?)?"
    r"(?:(?P<percent>%|percent\b|per\scent\b|个百分点|pp\b)|(?P<mille>‰)|(?P<off>折(?![叠扣线])|成(?![本交品功员立为熟色套分都]))?)",
    re.IGNORECASE,
)
_SCALE = {
    "百": 100,
    "千": 1000,
    "k": 1000,
    "thousand": 1000,
    "万": 10**4,
    "w": 10**4,
    "百万": 10**6,
    "m": 10**6,
    "mn": 10**6,
    "million": 10**6,
    "亿": 10**8,
    "bn": 10**9,
    "billion": 10**9,
    "万亿": 10**12,
}
_ABOUT = re.compile(
    r"(?:约|大约|大概|近|将近|接近|差不多|超过|不到|~|≈|\b(?:about|around|approx\.?|approximately|roughly|nearly|almost|over|under"
    r"|circa|ca\.))\s*[¥$€£]?\s*$",
    re.IGNORECASE,
)
_ABOUT_BEHIND = re.compile(r"\s?(?:多|余(?!额|下)|左右|上下|出头|\bor so\b)", re.IGNORECASE)
_NUMBERING = re.compile(
    r"^[ \t>]*(?:[-*+•#]+[ \t]+|\|[ \t]*)?(?:\*\*|__)?[(（]?(\d{1,3})(?:[.)、）:：](?=[ \t]*[^\s\d])|[ \t]*\|)",
    re.MULTILINE,
)
_CIRCLED = re.compile("[\u2460-\u249b\u24ea-\u24ff\u2776-\u2793]")
_COUNTED = frozenset("箱件瓶盒台元块包袋支卷条套双打托吨斤克只部桶罐听张本把捆提米升公千")
"""What follows a single Chinese digit that is a figure; 三个 and 两种 are figures of speech."""
_WITH_UNIT = re.compile(r"x?(\d+)([A-Za-z]{0,12})", re.IGNORECASE)
_DIGITS = re.compile(r"\d+(?:\.\d+)?")


STOCK = ("available", "on_hand", "reserved", "incoming")
"""The four words for stock, as fields; one is never taken for another."""
_STOCK_BEFORE = re.compile(
    r"(?:(?P<available>可用|\bavailable)|(?P<on_hand>现有|\bon[ -]hand)|(?P<reserved>占用|\breserved)"
    r"|(?P<incoming>在途|\bincoming))"
    r"(?:数量?|库存|为|是|有|的|is|are|:|：|=|\*|\s){0,6}$",
    re.IGNORECASE,
)
_STOCK_BEHIND = re.compile(
    r"\s?(?:[a-z]{1,10}\s)?(?:(?P<available>available)|(?P<on_hand>on hand)|(?P<reserved>reserved)"
    r"|(?P<incoming>incoming))\b",
    re.IGNORECASE,
)


_CURRENCIES = {
    **dict.fromkeys(("¥", "元", "人民币", "cny", "rmb", "yuan"), "CNY"),
    **dict.fromkeys(("$", "美元", "美金", "usd", "dollar", "dollars"), "USD"),
    **dict.fromkeys(("€", "欧元", "eur", "euro", "euros"), "EUR"),
    **dict.fromkeys(("£", "英镑", "gbp"), "GBP"),
    **dict.fromkeys(("港元", "港币", "hkd"), "HKD"),
    **dict.fromkeys(("日元", "jpy"), "JPY"),
}
_MONEY = r"人民币|美元|美金|欧元|英镑|港元|港币|日元|元|\b(?:CNY|RMB|USD|EUR|GBP|HKD|JPY|yuan|dollars?|euros?)\b"
CURRENCY = re.compile(rf"[¥$€£]|{_MONEY}", re.IGNORECASE)
"""A currency in a text of a result or of an answer."""
_MONEY_BEFORE = re.compile(rf"({_MONEY}|[¥$€£])\s?[-+]?$", re.IGNORECASE)
_MONEY_BEHIND = re.compile(rf"\s?({_MONEY})", re.IGNORECASE)
_COINS = re.compile(
    r"[块元]([一二三四五六七八九]|\d(?!\d))(?:[角毛](?:([一二三四五六七八九]|\d)分?)?)?(?![\d一二三四五六七八九十百千万])"
)
GOODS = frozenset("箱瓶盒台包袋支卷套双打托吨斤克桶罐听捆提米升倍天日")
"""What goods and time are counted in; a list of a result is not as long as that."""
_UNITS = (
    "pack", "box", "boxes", "carton", "case", "pc", "piece", "bottle", "roll", "bag", "unit", "day", "times", "kg",
)  # fmt: skip
_UNIT_BEHIND = re.compile(rf"\s?(?:([\u4e00-\u9fff])|(?:({'|'.join(_UNITS)})s?\b))", re.IGNORECASE)
_ENDS = r"(?:了|约|by|of|to|:|：|\s|[-+¥$€£]){0,5}$"
_RISE = re.compile(
    rf"(?:增长|上涨|上升|增加|提高|涨|升|增|\bup|\brose|\brisen|\bgrew|\bincreased?|\bgrowth|\bgained)(?:幅|率|额)?{_ENDS}",
    re.I,
)
_FALL = re.compile(
    rf"(?:下降|下跌|减少|降低|跌|降|减|\bdown|\bfell|\bfallen|\bdecreased?|\bdropped|\bdeclined?)(?:幅|率|额)?{_ENDS}",
    re.I,
)


def currencies(text: str) -> frozenset[str]:
    """The currencies that a text names."""
    return frozenset(_CURRENCIES[each[0].lower()] for each in CURRENCY.finditer(text))


def _beside(text: str, start: int, end: int) -> tuple[str | None, str | None, int]:
    """The currency, the unit and the direction that stand beside a number."""
    sign = CURRENCY.search(text, start, end) or _MONEY_BEHIND.match(text, end)
    sign = sign or _MONEY_BEFORE.search(text, max(0, start - 8), start)
    money = None if sign is None else _CURRENCIES[sign[0].strip(" -+").lower()]
    unit = _UNIT_BEHIND.match(text, end)
    before = max(0, start - 20)
    direction = 1 if _RISE.search(text, before, start) else -1 if _FALL.search(text, before, start) else 0
    return money, None if unit is None else (unit[1] or unit[2]).lower(), direction


def _stock(text: str, start: int, end: int) -> str | None:
    beside = _STOCK_BEFORE.search(text, max(0, start - 24), start) or _STOCK_BEHIND.match(text, end)
    return None if beside is None else beside.lastgroup


def normal(text: str) -> str:
    """The text in the form in which figures are read and found: full-width signs and thin spaces made plain."""
    if text.isascii():
        return text
    text = re.sub("(?<=\\d)[\u00a0\u2009\u202f](?=\\d{3}(?!\\d))", ",", _CIRCLED.sub(" ", text))
    return unicodedata.normalize("NFKC", text).replace("−", "-").replace("\u2013", "-")


def mentions(text: str) -> list[Mention]:
    """The figures of a text in the form of ``normal``, in order."""
    text = _without_numbering(text)
    found: list[Mention] = []
    at = 0
    while (match := _TOKEN.search(text, at)) is not None:
        mention = _mention(text, match)
        at = max(match.end(), match.start() + 1) if mention is None else mention.end
        if mention is not None:
            found.append(mention)
    return found


def _without_numbering(text: str) -> str:
    """The numbers before the items of a list, and of the rows of a table, made blank: those that count up."""
    last = 0
    pieces, at = [], 0
    for match in _NUMBERING.finditer(text):
        number = int(match[1])
        if number in (1, last, last + 1):
            last = number
            pieces += [text[at : match.start(1)], " " * len(match[1])]
            at = match.end(1)
    return "".join((*pieces, text[at:]))


def _mention(text: str, match: re.Match[str]) -> Mention | None:
    kind, start, end = str(match.lastgroup), match.start(), match.end()
    if kind == "skip":
        return None
    if kind in _DATES:
        year, month, day = _date(kind, match)
        if (month is None or 1 <= month <= 12) and (day is None or 1 <= day <= 31):
            return Mention(text[start:end], "date", start, end, parts=(year, month, day))
        return _numbers(text, start, end)
    if kind == "time":
        return Mention(text[start:end], "time", start, end, parts=(int(match["th"]), int(match["tm"])))
    if kind == "ctime":
        hour, minute = int(match["ch"]), 30 if match["half"] else int(match["cmin"] or 0)
        later = match["later"] is not None and hour < 12
        return Mention(text[start:end], "time", start, end, parts=(hour + 12 * later, minute))
    if kind == "phone":
        return _joined(match[0], start, end)
    if kind == "cpct":
        value = Decimal(match["cpn"].replace(",", "")) if match["cpn"] else chinese(match["cpc"])
        return None if value is None else Mention(text[start:end], "percent", start, end, (value,))
    if kind == "cn":
        return _chinese(text, start, end)
    if kind == "words":
        value = english(match[0])
        return Mention(match[0], "number", start, end, (value,)) if value is not None and value > 10 else None
    if kind == "dashed":
        return _joined(match[0], start, end)
    if kind == "code":
        return _code(text, start, end)
    if kind == "times":
        return Mention(match[0], "number", start, end, (Decimal(match[0].replace(",", "")),))
    if (small := _COINS.match(text, end)) and "." not in match["n"]:
        return _with_coins(text, start, small, Decimal(match["n"].replace(",", "")))
    value = Decimal(match["n"].replace(",", ""))
    negative = "-" in (match["sign"] or "") + (match["sign2"] or "")
    return _number(text, start, end, -value if negative else value)


def _joined(written: str, start: int, end: int) -> Mention:
    """Numbers joined by hyphens or spaces: several, or the one number of a telephone."""
    parts = re.split("[ -]", written)
    joined = "".join(parts)
    values = (Decimal(joined),) if len(joined) >= 7 else ()
    return Mention(written, "code", start, end, values, numbers=tuple(map(Decimal, parts)))


def _with_coins(text: str, start: int, small: re.Match[str], value: Decimal) -> Mention:
    """3块5 is 3.5, 二十元六角五分 is 20.65."""
    coins = sum(
        (_coin(each) * Decimal(worth) for each, worth in ((small[1], "0.1"), (small[2], "0.01")) if each), Decimal(0)
    )
    written = text[start : small.end()]
    return Mention(written, "number", start, small.end(), (value + coins,), currency="CNY")


def _coin(written: str) -> Decimal:
    return Decimal(written) if written.isdigit() else chinese(written) or Decimal(0)


_DATES = ("iso", "ymd", "year", "md", "cmd", "cyear", "en1", "en2", "en3")


def _date(kind: str, match: re.Match[str]) -> tuple[int | None, int | None, int | None]:
    def number(name: str) -> int | None:
        return int(match[name]) if match[name] else None

    def word(name: str) -> int | None:
        value = chinese(match[name]) if match[name] else None
        return None if value is None else int(value)

    if kind == "iso":
        return number("iy"), number("im"), number("id")
    if kind == "ymd":
        return number("yy"), number("ym"), number("yd")
    if kind == "year":
        return int(match["year"]), None, None
    if kind == "md":
        return None, number("mm"), number("mdd")
    if kind == "cmd":
        return None, word("cm"), word("cd")
    if kind == "cyear":
        return word("cyear"), None, None
    month = _MONTHS.index(match[f"e{kind[2]}m"][:3].lower()) + 1
    return number(f"e{kind[2]}y"), month, None if kind == "en3" else number(f"e{kind[2]}d")


def _number(text: str, start: int, end: int, value: Decimal) -> Mention:
    """A number with what stands around it: a scale, a sign of per cent, a word that makes it approximate."""
    about = _ABOUT.search(text, max(0, start - 16), start) is not None
    values: tuple[Decimal, ...] = (value,)
    behind = _BEHIND.match(text, end)
    assert behind is not None, "it matches nothing as well"
    if times := behind["times"]:
        scaled = value * _SCALE[times.lower()]
        values = (scaled, value) if times in "kKmMwW" else (scaled,)
        about, end = True, behind.end("times")
    kind: Kind = "number"
    if behind["percent"]:
        kind, end = "percent", behind.end()
    elif behind["mille"]:
        kind, end, values = "percent", behind.end(), tuple(each / 10 for each in values)
    elif (off := behind["off"]) and value > 0:
        kind, end = ("discount" if off == "折" else "percent"), behind.end()
        values = (100 - (value * 10 if value < 10 else value),) if off == "折" else (value * 10,)
    about = about or _ABOUT_BEHIND.match(text, end) is not None
    stock = _stock(text, start, end) if kind == "number" else None
    beside = _beside(text, start, end)
    return Mention(text[start:end].strip(), kind, start, end, values, (), (), about, stock, *beside)


def _numbers(text: str, start: int, end: int) -> Mention:
    """What looked like a date and is none."""
    numbers = tuple(Decimal(each) for each in _DIGITS.findall(text[start:end]))
    return Mention(text[start:end], "code", start, end, numbers=numbers)


def _chinese(text: str, start: int, end: int) -> Mention | None:
    written, behind = text[start:end], text[end : end + 1]
    if written[-1] == "千" and behind in tuple("克米瓦"):
        written, end, behind = written[:-1], end - 1, "千"
    value = chinese(written) if written else None
    if value is None or written[0] in SCALES - {"十", "拾"}:
        return None
    scaled = any(sign in SCALES for sign in written) and len(written) > 1
    if behind == "折" or (behind == "成" and text[end + 1 : end + 2] not in tuple("本交品功员立为熟色套分都")):
        percent = 100 - (value * 10 if value < 10 else value) if behind == "折" else value * 10
        kind: Kind = "discount" if behind == "折" else "percent"
        return Mention(text[start : end + 1], kind, start, end + 1, (percent,))
    if not scaled and not (behind in _COUNTED and behind and written != "一"):
        return None
    if not scaled and len(written) > 1 and "点" not in written:
        return None  # 三四箱 is no figure
    about = _ABOUT_BEHIND.match(text, end) is not None or _ABOUT.search(text, max(0, start - 16), start) is not None
    if small := _COINS.match(text, end):
        return _with_coins(text, start, small, value)
    return Mention(written, "number", start, end, (value,), (), (), about, None, *_beside(text, start, end))


def _code(text: str, start: int, end: int) -> Mention:
    written = text[start:end]
    if (found := _WITH_UNIT.fullmatch(written)) is None:
        return Mention(written, "code", start, end)
    number, unit = Decimal(found[1]), found[2].lower()
    scale = _SCALE.get(unit, 1) if written[0] not in "xX" else 1
    return Mention(written, "code", start, end, (number * scale, number) if scale > 1 else (number,), about=scale > 1)
