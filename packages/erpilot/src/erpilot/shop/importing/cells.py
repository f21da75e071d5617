"""What a cell says: text, codes, numbers, money, yes or no, dates, however people wrote them.

Invariant: a value is read in one way or refused with the reason; nothing is rounded, and a code never loses a digit.
"""

from __future__ import annotations

import re
import unicodedata
from datetime import date, datetime, timedelta
from decimal import Decimal

from .sheets import Cell


class Unclear(Exception):
    """The cell cannot be read as what it should be; ``code`` and ``values`` are for ``words``."""

    def __init__(self, code: str, **values: str) -> None:
        super().__init__(code)
        self.code, self.values = code, values


_PLAIN = re.compile(r"[+-]?\d{1,15}(?:\.\d{1,10})?")
_NUMBER = re.compile(
    r"[(]?(?P<sign>[+-]?)\s*(?:¥|￥|(?:US|HK)?\$|€|£|RMB|CNY|USD|EUR)?\s*(?P<sign2>-?)"
    r"(?P<number>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)\s*(?P<scale>[万千]?)[)]?\s*(?P<unit>(?:[^\d\s.,+()-].*)?)",
    re.IGNORECASE,
)
_HIDDEN = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\uffff"
"""Characters that nobody sees: controls, marks of direction, spaces without width."""
_UNSEEN = re.compile(f"[{_HIDDEN}]")
_UNTIDY = re.compile(f"^\\s|\\s$|\\s\\s|[\t\n\r{_HIDDEN}]")
_SIMPLE = re.compile(r"([¥￥]?)(\d{1,15}(?:\.\d{1,10})?) ?([元箱件个瓶包盒]?)")
_COMMA = re.compile(r"[^\d,.]*(?:\d{1,3}(?:[. ]\d{3})+,\d+|\d+,(?:\d{1,2}|\d{4,}))(?![\d,.]).*")
"""A number with a decimal comma, which is none here: in most of these tables a comma parts thousands."""
_MAY_BE_COMMA = re.compile(r"[^\d,.]*\d{1,3}[.,]\d{3}(?![\d,.]).*")
_CURRENCIES = {
    **dict.fromkeys(("¥", "元", "块", "圆", "元整", "rmb", "cny", "人民币"), "CNY"),
    **dict.fromkeys(("$", "us$", "usd", "美元", "美金"), "USD"),
    **dict.fromkeys(("€", "eur", "欧元"), "EUR"),
    **dict.fromkeys(("£", "gbp", "英镑"), "GBP"),
    **dict.fromkeys(("hk$", "hkd", "港元", "港币"), "HKD"),
    **dict.fromkeys(("jpy", "日元", "日圆"), "JPY"),
}
_SIGN = re.compile(r"[(]?[+-]?\s*(¥|us\$|hk\$|\$|€|£|rmb|cny|usd|eur)", re.IGNORECASE)
_MONEY_WORDS = frozenset({*_CURRENCIES, "/", "-"})
_OFF = re.compile(r"(?:(\d{1,2}(?:\.\d+)?)|([一二三四五六七八九]{1,2}))\s*折")
_YES = frozenset({"是", "有", "y", "yes", "true", "1", "√", "✓", "✔", "对", "启用", "上架", "在售", "active", "正常"})
_NO = frozenset(
    {
        "否",
        "无",
        "n",
        "no",
        "false",
        "0",
        "×",
        "x",
        "✗",
        "错",
        "停用",
        "下架",
        "停售",
        "inactive",
        "discontinued",
        "停产",
    }
)
_NOTHING = frozenset({"", "-", "--", "—", "——", "/", "\\", "n/a", "na", "null", "none", "无"})
_LONGEST_NOTHING = 12
"""Characters, with some room for spaces."""
_DATE = re.compile(
    r"(?P<y>\d{4})\s*[-/.年]\s*(?P<m>\d{1,2})\s*[-/.月]\s*(?P<d>\d{1,2})\s*日?(?:[T\s].*)?"
    r"|(?P<y8>(?:19|20)\d\d)(?P<m8>\d\d)(?P<d8>\d\d)"
    r"|(?P<d3>\d{1,2})[-\s](?P<mon>[A-Za-z]{3,9})[-\s,]+(?P<y3>\d{4})"
    r"|(?P<mon4>[A-Za-z]{3,9})\s+(?P<d4>\d{1,2}),?\s+(?P<y4>\d{4})"
)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_EPOCH = date(1899, 12, 30)
"""Day 0 of Excel's serial numbers, as far as they are after February 1900."""


def is_empty(cell: Cell) -> bool:
    """Whether nothing stands there, or a sign for nothing."""
    if type(cell) is str:
        return len(cell) <= _LONGEST_NOTHING and cell.strip().casefold() in _NOTHING
    return cell is None


def normal(text: str) -> str:
    """Full-width signs made plain; spaces of all kinds at the ends, doubled ones, and what nobody sees taken out."""
    if unicodedata.is_normalized("NFKC", text) and not _UNTIDY.search(text):
        return text
    return " ".join(unicodedata.normalize("NFKC", _UNSEEN.sub("", text)).split())


def text_of(cell: Cell) -> str:
    """A name or a note."""
    if isinstance(cell, str):
        return normal(cell)
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float):
        return _whole(cell)
    return "" if cell is None else str(cell)


def code_of(cell: Cell) -> str:
    """A code, number or barcode; one that a spreadsheet has shortened to 6.9E+12 is refused."""
    if isinstance(cell, float):
        if abs(cell) >= 1e15:
            raise Unclear("code_lost_digits")
        return _whole(cell)
    text = text_of(cell).removeprefix("'")
    if re.fullmatch(r"\d(?:\.\d+)?E\+\d+", text, re.IGNORECASE):
        raise Unclear("code_lost_digits")
    return text


def _whole(number: float) -> str:
    return str(int(number)) if number.is_integer() else repr(number)


def number_of(cell: Cell) -> tuple[Decimal, str | None]:
    """A number and the unit that stands behind it, if one does: "1,200.50 元", "12箱", "1.2万", "(300)" is -300."""
    if isinstance(cell, bool):
        raise Unclear("not_a_number")
    if isinstance(cell, int):
        return Decimal(cell), None
    if isinstance(cell, float):
        if cell != cell or cell in (float("inf"), float("-inf")):
            raise Unclear("not_a_number")
        # a spreadsheet keeps 15 digits: what it adds behind them is how it stores 0.1
        return Decimal(int(cell)) if cell == int(cell) and abs(cell) < 1e15 else Decimal(f"{cell:.15g}"), None
    if not isinstance(cell, str):
        raise Unclear("not_a_number")
    if simple := _SIMPLE.fullmatch(cell):
        return Decimal(simple[2]), simple[3] or None
    if _PLAIN.fullmatch(cell):
        return Decimal(cell), None
    text = normal(cell)
    found = _NUMBER.fullmatch(text)
    if found is None:
        raise Unclear("decimal_comma" if _COMMA.fullmatch(text) else "not_a_number")
    value = Decimal(found["number"].replace(",", "")) * {"万": 10_000, "千": 1000, "": 1}[found["scale"]]
    in_brackets = text.startswith("(")
    if in_brackets != (")" in text[: len(text) - len(found["unit"])]):
        raise Unclear("not_a_number")
    negative = "-" in (found["sign"] + found["sign2"]) or in_brackets
    unit = found["unit"].strip().rstrip(".")
    if found["scale"] and unit == "克":
        raise Unclear("not_a_number")
    return -value if negative else value, unit or None


def may_be_comma(cell: Cell) -> bool:
    """Whether 1,234 or 1.234 stands there, which is another number where people write decimal commas."""
    return isinstance(cell, str) and _MAY_BE_COMMA.fullmatch(normal(cell)) is not None


def amount_of(cell: Cell) -> tuple[Decimal, str | None, str | None]:
    """Money: a number, the unit that it is for ("12.50 元/箱") and its currency, if they are said."""
    if not isinstance(cell, str):
        return *number_of(cell), None
    if (simple := _SIMPLE.fullmatch(cell)) and simple[3] in ("", "元"):
        return Decimal(simple[2]), None, "CNY" if simple[1] or simple[3] else None
    value, unit = number_of(cell)
    sign = _SIGN.match(normal(cell))
    currency = _CURRENCIES[sign[1].casefold()] if sign else None
    if unit is None:
        return value, None, currency
    money, slash, per = (part.strip() for part in unit.partition("/"))
    said = _CURRENCIES.get(money.casefold())
    if (said is None and (money or not slash) and unit not in _MONEY_WORDS) or (slash and money and not per):
        raise Unclear("not_an_amount")
    if None not in (said, currency) and said != currency:
        raise Unclear("not_an_amount")
    return value, per or None, said or currency


def currency_of_heading(inside: str | None) -> str | None:
    """The currency that a heading names in its brackets: 单价(元/箱) is in CNY, Price (USD) in USD."""
    return None if inside is None else _CURRENCIES.get(inside.partition("/")[0].strip().casefold())


def unit_of_heading(inside: str | None) -> str | None:
    """The unit that a heading names in its brackets; a currency is none: 单价(元) has no unit, 单价(元/箱) has 箱."""
    if inside is None or inside.casefold() in _MONEY_WORDS or inside == "%":
        return None
    money, slash, per = inside.partition("/")
    if slash:
        return per.strip() or None if money.strip().casefold() in _MONEY_WORDS else None
    return inside


def share_of(cell: Cell) -> Decimal:
    """A rate as a fraction: 13 %, 13 and 0.13 are the same."""
    value, unit = number_of(cell)
    if unit not in (None, "%"):
        raise Unclear("not_a_rate")
    share = value / 100 if unit == "%" or value >= 1 else value
    if not 0 <= share < 1:
        raise Unclear("not_a_rate")
    return share


def discount_of(cell: Cell, *, bare: bool) -> Decimal:
    """What is taken off, as a fraction: 5 %, 0.05 and 9.5 折 are the same. What may as well be what is left is refused:
    95 %, 0.95, 1; and where ``bare`` is False, 9.5 too.
    """
    if isinstance(cell, str) and (off := _OFF.fullmatch(normal(cell))):
        left = (
            Decimal(off[1])
            if off[1]
            else Decimal("".join(str("一二三四五六七八九".index(sign) + 1) for sign in off[2]))
        )
        return 1 - (left / 10 if left < 10 else left / 100)
    value, unit = number_of(cell)
    if unit not in (None, "%"):
        raise Unclear("not_a_rate")
    if unit is None and (value == 1 or (value > 1 and not bare)):
        raise Unclear("discount_two_meanings")
    share = value / 100 if unit == "%" or value > 1 else value
    if not 0 <= share <= Decimal("0.5"):
        raise Unclear("discount_two_meanings" if 0 < share <= 1 else "not_a_rate")
    return share


def flag_of(cell: Cell) -> bool:
    """Yes or no."""
    if isinstance(cell, bool):
        return cell
    word = text_of(cell).casefold()
    if word in _YES:
        return True
    if word in _NO:
        return False
    raise Unclear("not_yes_or_no")


def date_of(cell: Cell) -> date:
    """A day: a date of the spreadsheet, its serial number, or a text; 3/4/2026 is refused: it has two meanings."""
    if isinstance(cell, datetime):
        return cell.date()
    if isinstance(cell, date):
        return cell
    if isinstance(cell, int | float) and not isinstance(cell, bool):
        if 20_000 <= cell < 80_000:
            return _EPOCH + timedelta(int(cell))
        if isinstance(cell, int) and abs(cell) > 10**9:
            raise Unclear("not_a_date")
        cell = _whole(float(cell))
    if not isinstance(cell, str):
        raise Unclear("not_a_date")
    text = normal(cell)
    found = _DATE.fullmatch(text)
    if found is None:
        raise Unclear("date_two_meanings" if re.fullmatch(r"\d{1,2}/\d{1,2}/\d{2,4}", text) else "not_a_date")
    try:
        if found["y"]:
            return date(int(found["y"]), int(found["m"]), int(found["d"]))
        if found["y8"]:
            return date(int(found["y8"]), int(found["m8"]), int(found["d8"]))
        month, day, year = (
            (found["mon"], found["d3"], found["y3"]) if found["mon"] else (found["mon4"], found["d4"], found["y4"])
        )
        return date(int(year), _MONTHS.index(month[:3].casefold()) + 1, int(day))
    except ValueError:
        raise Unclear("not_a_date") from None
