"""What the words of a job's tags amount to: documents, quantities, lengths of time, how many, how much money.

Invariant: a value is what the question says, in digits; what says nothing gives no value.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..shop.numerals import in_digits
from .amounts import number
from .reading import WORDS, pattern

DOCUMENT = pattern("<D>")
QTY = pattern(f"(?:{WORDS['scan']['qty']})")
_AMOUNT = pattern(r"(<Q>|an?|one)?\s*(<U>)?$")
_SPAN = re.compile(
    r"([\d一二两三四五六七八九十]+|\b[a-z]+|半)\s*-?(?=(个月|m|周|个?星期|w|年|y|天|日|d))", re.IGNORECASE
)
_DAYS = {"个": 30, "m": 30, "周": 7, "星": 7, "w": 7, "年": 365, "y": 365}


def units_of(said: str) -> list[str]:
    """The units of the quantities in a text; "" for one without."""
    return [_AMOUNT.findall(each.lower())[0][1] for each in QTY.findall(said)]


def slots(tags: Mapping[str, str]) -> dict[str, Any]:
    """``numbers``, ``qtys`` (number, unit), ``days``, ``top``, ``money``: as far as the tags say them."""
    qtys = []
    for amount, unit in (_AMOUNT.findall(each.lower())[0] for each in QTY.findall(tags.get("qty", ""))):
        qtys.append(("1" if re.match("[a-z]", amount) else in_digits(amount).replace(",", ""), unit))
    if not qtys and tags.get("qty"):
        qtys.append((tags["qty"].replace(",", ""), ""))
    return {
        "numbers": tuple(DOCUMENT.findall(tags["number"].replace("#", " "))) if "number" in tags else (),
        "qtys": tuple(qtys),
        "days": _days(tags.get("span") or tags.get("within", "")),
        "top": _top(f"{tags.get('top', '')} {tags.get('number_of', '')}"),
        "money": _money(tags.get("more_money", "")),
    }


def _days(said: str) -> int | None:
    found = _SPAN.search(said)
    if found is None:
        return None
    if found[1] == "半":  # 半年, 半个月
        return 15 if found[2].startswith("个") else 182
    scale = _DAYS.get(found[2][0].casefold(), 1)
    return number(found[1]) * (7 if "星期" in found[2] else scale)


def _top(said: str) -> int | None:
    found = re.search(r"\d+|[一二两三四五六七八九十]+|\b(?:three|five|ten)\b", said)
    return number(found[0]) if found else None


def _money(said: str) -> str | None:
    found = re.search(
        r"[\d.,]*\d\s*万?|[一二两三四五六七八九十百千]+万[一二两三四五六七八九]?千?|[一二两三四五六七八九]千", said
    )
    if found is None:
        return None
    return _chinese_money(found[0]) if not found[0][0].isdigit() and found[0][-1] != "万" else found[0].replace(",", "")


def _chinese_money(said: str) -> str:
    """一万五 is 15000, 三千 is 3000."""
    whole, _, rest = said.rpartition("万")
    thousands = int(in_digits(rest if rest.endswith("千") else f"{rest}千")) if rest else 0
    return str((int(in_digits(whole)) * 10000 if whole else 0) + thousands)
