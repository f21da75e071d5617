"""Chinese numerals as people write quantities: "三", "十二", "两百五", "一千零五", "半".

Invariant: only a numeral below ten thousand at the start of a text is read; every other text stays as it is.
"""

from __future__ import annotations

import re

_DIGITS = {
    sign: value
    for value, signs in enumerate(("零〇", "一", "二两俩", "三", "四", "五", "六", "七", "八", "九"))
    for sign in signs
}
_SCALES = {"十": 10, "百": 100, "千": 1000}
_SIGNS = "".join((*_DIGITS, *_SCALES))
_NUMERAL = re.compile(f"半(?!半)|[{_SIGNS}]+(?![{_SIGNS}万亿半])")


def in_digits(text: str) -> str:
    """The text with the numeral that it begins with in digits: "三十二箱" is "32箱"."""
    found = _NUMERAL.match(text)
    return f"{_value(found[0])}{text[found.end() :]}" if found else text


def _value(numeral: str) -> str:
    if numeral == "半":
        return "0.5"
    total, digits, scale = 0, 0, 1
    for sign in numeral:
        if sign in _SCALES:
            scale = _SCALES[sign]
            total, digits = total + (digits or 1) * scale, 0
        else:
            digits = digits * 10 + _DIGITS[sign]
            scale = scale if _DIGITS[sign] else 1  # 两百五 is 250, 两百零五 is 205
    return str(total + digits * max(scale // 10, 1))
