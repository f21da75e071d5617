"""The one thing that the offline model writes: a quotation, when all of it was said.

Invariant: nothing is guessed. Customer, products and quantities are those of this message, or of the question right
before it where the message points back to it; what is missing or was not understood is asked, and a person confirms
the call like that of any model. One message makes at most one call.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from .amounts import number
from .reading import WORDS, Asked, Item, is_chinese, pattern, read
from .slots import QTY
from .turns import Results, Step, chosen, meant
from .wants import JOBS

_DOCUMENT, _VALID, _DISCOUNT, _BACK, _UNSURE, _WHOLE = (
    pattern(JOBS["quotation"][name]) for name in ("document", "valid", "discount", "back", "unsure", "whole")
)
_DENIED = pattern(f"(?:{JOBS['quotation']['denied']})(?:{JOBS['quotation']['document']})")
_LENGTH = re.compile(r"(\d+|[一二两三四五六七八九十]+)\s*(天|日|周|个?星期|个?月|days?|weeks?|months?)", re.IGNORECASE)
_SCALE = {"天": 1, "日": 1, "周": 7, "期": 7, "月": 30, "d": 1, "w": 7, "m": 30}
_DIGITS = {sign: digit for digit, sign in enumerate("零一二三四五六七八九")}
WRITES = "create_quotation"


@dataclass(frozen=True, slots=True)
class Quotation:
    """What a quotation is to say. ``missing``: not all of it was said; ``piece``: what was not understood."""

    chinese: bool
    customer: str | None
    items: tuple[Item, ...]
    discount: str
    days: int | None
    missing: bool
    piece: str = ""


def read_quotation(turns: Sequence[tuple[str, Results]]) -> Quotation | None:
    """The quotation that the last message asks for; None when it asks for none."""
    text = turns[-1][0] if turns else ""
    if not _DOCUMENT.search(text):
        return None
    back = _BACK.search(text) is not None
    valid, discount = _VALID.search(text), _DISCOUNT.search(text)
    rest = text
    for words in (_VALID, _DISCOUNT, _DOCUMENT, _BACK):
        rest = words.sub(" ", rest)
    chinese = is_chinese(text, text, None)
    asked = read(f"报价 {rest}" if chinese else f"quote {rest}") if rest.strip(" ,.:;!?") else Asked(chinese)
    before = meant(turns[:-1])[0] if back and len(turns) > 1 else Asked(chinese)
    items = asked.items or (before.items if back else ())
    customer = asked.customer or _only_name(asked, items, back) or (before.customer if back else None)
    if asked.items and not any(item.qty for item in asked.items) and back and before.items:
        items = before.items  # what stands there is who buys
    unsaid = not customer or not items or any(not item.qty or not item.name for item in items)
    loose = asked.piece[:40] if asked.problem else _loose_words(text, rest, asked, back)
    return Quotation(
        chinese,
        customer,
        items,
        _per_cent(discount[0]) if discount else "0",
        _days(valid[0]) if valid else None,
        bool(unsaid or asked.problem or asked.orders or loose),
        loose or asked.piece[:40],
    )


def _loose_words(text: str, rest: str, asked: Asked, back: bool) -> str:
    """Words that a quotation cannot take up: what denies or supposes it, a quantity that is not certain, a place, a
    list of prices, a price, a discount that is not that of the whole."""
    for words in (_DENIED, _UNSURE):
        if found := words.search(text):
            return found[0].strip(" ,.:;!?")
    discounts = list(_DISCOUNT.finditer(text))
    if len(discounts) > 1 or len(_VALID.findall(text)) > 1:
        return discounts[-1][0].strip(" ,") if len(discounts) > 1 else "; ".join(_VALID.findall(text)).strip(" ,")
    if discounts and len(asked.items) > 1:  # of one line, perhaps
        ahead, behind = text[: discounts[0].start()], text[discounts[0].end() :]
        whole = discounts[0][0].startswith(",") or _WHOLE.search(ahead) or not QTY.search(ahead)
        if not whole or (QTY.search(behind) and QTY.search(ahead)):
            return discounts[0][0].strip(" ,")
    if asked.place or asked.price_list:
        return asked.place or str(asked.price_list)
    priced = pattern(WORDS["scan"]["price"]).search(rest)
    return priced[0] if priced and not back else ""


def _days(said: str) -> int | None:
    """How many days a quotation is valid: 7 天, 两周, "2 weeks"."""
    found = _LENGTH.search(said)
    if found is None:
        return None
    return number(found[1]) * _SCALE[found[2][0].casefold() if found[2].isascii() else found[2][-1]]


def _only_name(asked: Asked, items: Sequence[Item], back: bool) -> str | None:
    """A name alone, without a quantity, beside what was priced before: who buys."""
    if back and len(items) == 1 and not items[0].qty and not asked.customer and len(items[0].name) > 1:
        return items[0].name
    return None


def _per_cent(said: str) -> str:
    """What is taken off, in per cent: 9.5 折, 95 折 and 九五折 are 5, 5% off is 5."""
    found = re.search(r"\d+(?:\.\d+)?", said)
    if "折" not in said:
        return found[0] if found else "0"
    digits = "".join(str(_DIGITS[sign]) for sign in said if sign in _DIGITS)
    rate = Decimal(found[0] if found else digits)
    kept = rate * 10 if rate < 10 else rate
    return format((100 - kept).normalize(), "f")


def quotation_steps(asked: Quotation, results: Results) -> list[Step] | None:
    """The calls known by now; None when a name is not decided, which is then told."""
    made = next((key for key in results if key.startswith(f"{WRITES} ")), None)
    who = Step("find_customers", {"query": asked.customer})
    goods = [(Step("find_products", {"query": item.name}), item) for item in asked.items]
    found = [who, *{step.key: step for step, _ in goods}.values()]
    if made is not None or any(step.key not in results for step in found):
        return found
    customer = chosen(results[who.key])
    records = [(chosen(results[step.key]), item) for step, item in goods]
    if customer is None or any(record is None for record, _ in records):
        return None
    lines = [
        {"sku": record["sku"], "qty": item.qty} | ({"unit": item.unit} if item.unit else {})
        for record, item in records
        if record is not None
    ]
    arguments = {"customer": customer["id"], "lines": lines, "discount_percent": asked.discount}
    more = {} if asked.days is None else {"valid_days": asked.days}
    return [*found, Step(WRITES, arguments | more)]
