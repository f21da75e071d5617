"""Numbers as people say them: in words, in two scripts, and those that are no number but an estimate.

Invariant: a word becomes digits only where it counts something that follows it, so that names keep theirs; what leaves
the number open ("two or three", 二三十, "20-30") is never read as one.
"""

from __future__ import annotations

import re

from ..shop.numerals import in_digits

_UNITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_TEENS = ("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen")
_DOZENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_ONES = {word: value for value, word in enumerate((*_UNITS, *_TEENS))}
_TENS = {word: 10 * value for value, word in enumerate(_DOZENS, start=2)}
_SCALES = {"hundred": 100, "thousand": 1000}
_WORDS = "|".join([*_ONES, *_TENS, *_SCALES])
_SAID = rf"(?:(?:an?|half|{_WORDS})(?:[ -](?:and[ -])?(?:{_WORDS}))*)"
NUMBER = rf"\d+|[一二两三四五六七八九十百]+|(?:a|{_WORDS})\b"
_COUNTED = (
    r"(?=\s+(?:cases?|boxe?s?|cartons?|ctns?|bottles?|cans?|bags?|pac(?:k|ket)s?|reams?|rolls?|pallets?|pieces?|pcs?|"
    r"units?|sets?|pairs?|bundles?|dozens?|kilos?|days?|weeks?|months?|quarters?|products?|items?|customers?|clients?|"
    r"biggest|largest|best|yuan|dollars?|on credit)\b)"
)
_SPOKEN = re.compile(rf"(?<![\w-])(?P<said>{_SAID}){_COUNTED}", re.IGNORECASE)
_HALF = re.compile(r"(?<![\w-])half an? (?=\w)", re.IGNORECASE)
_THOUSANDS = re.compile(r"(?<![\w.-])(\d+(?:\.\d+)?)k(?=\s+(?:on credit|yuan|rmb|cny|dollars?)\b)", re.IGNORECASE)
_SIGNS = "零〇一二两三四五六七八九十百千"
_NUMBERED = re.compile(rf"[{_SIGNS}]{{2,}}(?=\s*号\s*(?:订|报价|采购|退货)?单)")


def number(text: str) -> int:
    """A small number in digits, Chinese or English words; 半 is none."""
    plain = text.strip().casefold()
    if plain == "a":
        return 1
    return int(_value(plain)) if re.fullmatch(_SAID, plain) else int(float(in_digits(plain)))


def in_figures(text: str) -> str:
    """The text with spoken numbers in digits where they count what follows, numbers of documents where 号单 does."""
    text = _HALF.sub("0.5 ", text)
    text = _THOUSANDS.sub(lambda found: f"{float(found[1]) * 1000:.0f}", text)
    text = _SPOKEN.sub(lambda found: _said(found["said"]), text)
    return _NUMBERED.sub(lambda found: in_digits(found[0]), text)


def _said(words: str) -> str:
    """Digits for the words; "a" alone stays an article."""
    return words if words.casefold() in ("a", "an") else _value(words.casefold())


def _value(words: str) -> str:
    total, part = 0, 0
    for word in re.split(r"[ -]+", words):
        if word in _SCALES:
            part = max(part, 1) * _SCALES[word]
            if word == "thousand":
                total, part = total + part, 0
        elif word not in ("and", "a", "an"):
            if word == "half":
                return "0.5"
            part += _ONES.get(word, 0) + _TENS.get(word, 0)
    return str(total + part)
