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

from .reading import Asked, Item, is_chinese, pattern, read
from .turns import Results, Step, chosen, meant
from .wants import JOBS

_DOCUMENT, _VALID, _DISCOUNT, _BACK = (
    pattern(JOBS["quotation"][name]) for name in ("document", "valid", "discount", "back")
)
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
    missing = bool(asked.problem or asked.orders or not customer or not items or any(not item.qty for item in items))
    return Quotation(
        chinese,
        customer,
        items,
        _per_cent(discount[0]) if discount else "0",
        int(re.sub(r"\D", "", valid[0])) if valid and re.search(r"\d", valid[0]) else None,
        missing or any(not item.name for item in items),
        asked.piece[:40],
    )


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
