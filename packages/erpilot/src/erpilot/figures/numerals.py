"""Numbers written as words: 三千二, 一万两千, 三点五; "two thousand five hundred".

Invariant: what is no number in its entirety is None; nothing is guessed from a part.
"""

from __future__ import annotations

import re
from decimal import Decimal

_DIGITS = {
    sign: value
    for value, signs in enumerate(("零〇", "一壹", "二两俩贰", "三叁", "四肆", "五伍", "六陆", "七柒", "八捌", "九玖"))
    for sign in signs
}
_SMALL = {"十": 10, "拾": 10, "百": 100, "佰": 100, "千": 1000, "仟": 1000}
_LARGE = {"万": 10_000, "亿": 100_000_000}
CHINESE = "".join((*_DIGITS, *_SMALL, *_LARGE))
SCALES = frozenset((*_SMALL, *_LARGE))

_ONES = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16,
    "seventeen": 17, "eighteen": 18, "nineteen": 19,
}  # fmt: skip
_TENS = {"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90}
_SCALED = {"hundred": 100, "thousand": 1000, "million": 1_000_000, "billion": 1_000_000_000}
ENGLISH = "|".join((*_ONES, *_TENS, *_SCALED))


def chinese(written: str) -> Decimal | None:
    """The value: 三千二 is 3200, 三千零二 is 3002, 二〇二六 is 2026, 三点五 is 3.5."""
    whole, point, behind = written.partition("点")
    if point and not (behind and all(sign in _DIGITS for sign in behind)):
        return None
    value = _whole(whole)
    if value is None or not point:
        return None if value is None else Decimal(value)
    return Decimal(f"{value}.{''.join(str(_DIGITS[sign]) for sign in behind)}")


def _whole(written: str) -> int | None:
    if not written or any(sign not in CHINESE for sign in written):
        return None
    if len(written) > 1 and all(sign in _DIGITS for sign in written):
        return int("".join(str(_DIGITS[sign]) for sign in written))
    total = part = digit = 0
    scale, pending = 1, False
    for sign in written:
        if sign in _DIGITS:
            if pending and _DIGITS[sign] and digit:
                return None  # two digits side by side within a number with scales
            digit, pending = _DIGITS[sign], True
            scale = scale if _DIGITS[sign] else 1  # 两百五 is 250, 两百零五 is 205
        elif sign in _SMALL:
            part += (digit if pending else 1) * _SMALL[sign]
            scale, digit, pending = _SMALL[sign], 0, False
        else:
            part = (part + digit) or 1
            total = (total + part) * _LARGE[sign] if sign == "亿" else total + part * _LARGE[sign]
            scale, part, digit, pending = _LARGE[sign], 0, 0, False
    return total + part + digit * (max(scale // 10, 1) if pending else 1)


def english(written: str) -> Decimal | None:
    """The value of number words joined by spaces, hyphens and "and"."""
    words = [word for word in re.split(r"[\s-]+", written.lower()) if word != "and"]
    total = part = 0
    for place, word in enumerate(words):
        if word in _ONES:
            part += _ONES[word]
        elif word in _TENS:
            part += _TENS[word]
        elif word in ("a", "an") and place == 0 and len(words) > 1:
            part = 1
        elif word == "hundred":
            part = (part or 1) * 100
        elif word in _SCALED:
            total, part = total + (part or 1) * _SCALED[word], 0
        else:
            return None
    return Decimal(total + part) if words else None
