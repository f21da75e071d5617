"""Names of units: what people write, and the unit of a product that it can mean.

Invariant: a word never stands for a unit by likeness, only by this table; where it can mean two units of one product,
the product refuses it.
"""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal, InvalidOperation

from .errors import Invalid
from .numerals import in_digits

_ENGLISH: dict[str, tuple[str, ...]] = {
    "case": ("箱",),
    "carton": ("箱",),
    "ctn": ("箱",),
    "box": ("箱", "盒"),
    "bottle": ("瓶",),
    "can": ("听", "罐"),
    "bag": ("袋", "包"),
    "pack": ("包", "袋"),
    "packet": ("包", "袋"),
    "ream": ("包",),
    "roll": ("卷",),
    "pallet": ("托",),
    "piece": ("件", "个", "只", "支", "条", "台", "部"),
    "pcs": ("件", "个", "只", "支", "条", "台", "部"),
    "pc": ("件", "个", "只", "支", "条", "台", "部"),
    "unit": ("件", "个", "只", "支", "条", "台", "部"),
    "each": ("件", "个", "只", "支", "条", "台", "部"),
    "set": ("套",),
    "pair": ("双",),
    "bundle": ("提", "捆"),
    "dozen": ("打",),
    "kilo": ("kg",),
    "kilogram": ("kg",),
}
_CHINESE: dict[str, tuple[str, ...]] = {
    "公斤": ("kg",),
    "千克": ("kg",),
    "托盘": ("托",),
    "板": ("托",),
    "件": ("件", "个", "只", "台", "部"),
    "个": ("个", "件", "只"),
    "只": ("只", "个", "件"),
    "部": ("部", "台", "件"),
    "台": ("台", "部", "件"),
    "支": ("支", "件"),
    "条": ("条", "件"),
    "罐": ("罐", "听"),
    "听": ("听", "罐"),
}

_QUANTITY = re.compile(r"([+-]?(?:\d[\d,]*(?:\.\d+)?|\.\d+))\s*([^\d\s.,+-][^\d]*)?")


def unit_names(written: str) -> tuple[str, ...]:
    """The units that a word can mean, as the shop writes them. A counting word such as 件 or "pieces" stands for the
    one a product is counted in."""
    word = unicodedata.normalize("NFKC", written).strip().casefold()
    if word in _CHINESE:
        return _CHINESE[word]
    for form in (word, word.removesuffix("s"), word.removesuffix("es")):
        if form in _ENGLISH:
            return _ENGLISH[form]
    return (word,)


def parse_quantity(written: str) -> tuple[Decimal, str | None]:
    """ "20", "1,200", "3 箱" or "三箱" as a number and, if it says so, a unit. Raises ``Invalid``."""
    text = in_digits(unicodedata.normalize("NFKC", written).strip())
    found = _QUANTITY.fullmatch(text)
    if not found:
        raise Invalid(f"{text[:40]!r} is not a quantity.", hint='Write a number, or a number and a unit: "20", "3 箱".')
    try:
        value = Decimal(found[1].replace(",", ""))
    except InvalidOperation:
        raise Invalid(f"{text[:40]!r} is not a quantity.") from None
    return value, (found[2] or "").strip() or None
