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
    r"[(]?(?P<sign>[+-]?)\s*(?:¥|￥|\$|€|£|RMB|CNY|USD|EUR|US\$)?\s*(?P<sign2>-?)"
    r"(?P<number>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)\s*(?P<scale>[万千]?)[)]?\s*(?P<unit>(?:[^\d\s.,+()-].*)?)",
    re.IGNORECASE,
)
_UNTIDY = re.compile("^\\s|\\s$|\\s\\s|[\t\n\r\u200b\ufeff]")
_SIMPLE = re.compile(r"[¥￥]?(\d{1,15}(?:\.\d{1,10})?) ?([元箱件个瓶包盒]?)")
_MONEY_WORDS = frozenset({"元", "块", "圆", "rmb", "cny", "usd", "eur", "人民币", "美元", "元整", "/", "-"})
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
_NOTHING = frozenset(
    {"", "-", "--", "—", "——", "/", "\\", "n/a", "na", "null", "none", "无", "#n/a", "#value!", "#ref!"}
)
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
    """Full-width signs made plain, spaces of all kinds at the ends and doubled ones taken out."""
    if unicodedata.is_normalized("NFKC", text) and not _UNTIDY.search(text):
        return text
    return " ".join(unicodedata.normalize("NFKC", text.replace("\u200b", "").replace("\ufeff", "")).split())


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
        return Decimal(simple[1]), simple[2] or None
    if _PLAIN.fullmatch(cell):
        return Decimal(cell), None
    text = normal(cell)
    found = _NUMBER.fullmatch(text)
    if found is None:
        raise Unclear("not_a_number")
    value = Decimal(found["number"].replace(",", "")) * {"万": 10_000, "千": 1000, "": 1}[found["scale"]]
    in_brackets = text.startswith("(")
    if in_brackets != (")" in text[: len(text) - len(found["unit"])]):
        raise Unclear("not_a_number")
    negative = "-" in (found["sign"] + found["sign2"]) or in_brackets
    unit = found["unit"].strip().rstrip(".")
    if found["scale"] and unit == "克":
        raise Unclear("not_a_number")
    return -value if negative else value, unit or None


def amount_of(cell: Cell) -> tuple[Decimal, str | None]:
    """Money: a number, and the unit that it is for ("12.50 元/箱"), if one is said."""
    value, unit = number_of(cell)
    if unit is None or unit.casefold() in _MONEY_WORDS:
        return value, None
    money, slash, per = unit.partition("/")
    if slash and (not money.strip() or money.strip().casefold() in _MONEY_WORDS) and per.strip():
        return value, per.strip()
    raise Unclear("not_an_amount")


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
