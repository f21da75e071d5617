"""Words for the codes in which tools describe what they would do: fields, titles, notices; in English and Chinese.

Invariant: plain data; a code without words is shown as it stands, never hidden.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Language = Literal["zh", "en"]


def title(code: str, lang: Language) -> str:
    """The heading of a preview."""
    return _one(TITLES, code, lang)


def field(code: str, lang: Language) -> str:
    """The name of a field or a measure; what follows a space in its code (a number, a currency) stays behind it."""
    base, _, rest = code.partition(" ")
    if base not in FIELDS or not rest:
        return _one(FIELDS, code, lang)
    return f"{_one(FIELDS, base, lang)} {rest}"


def notice(code: str, values: Mapping[str, str], lang: Language) -> str:
    """A sentence; for a code without words, the code and the values as they stand."""
    if code in NOTICES:
        try:
            return _one(NOTICES, code, lang).format_map(values)
        except KeyError:  # a newer program has more to say
            pass
    return " ".join([code, *(f"{name}={value}" for name, value in values.items())])


def how_to_check(tool: str, lang: Language) -> str | None:
    """Where to look whether a call of this tool took effect."""
    return _one(CHECKS, tool, lang) if tool in CHECKS else None


def _one(words: Mapping[str, tuple[str, str]], code: str, lang: Language) -> str:
    if code not in words:
        return code
    english, chinese = words[code]
    return chinese if lang == "zh" else english


TITLES: dict[str, tuple[str, str]] = {
    "new_quotation": ("New quotation", "新报价单"),
}

FIELDS: dict[str, tuple[str, str]] = {
    "customer": ("customer", "客户"),
    "price_list": ("price list", "价目表"),
    "line": ("line", "明细"),
    "discount_percent": ("discount %", "折扣%"),
    "tax_included": ("tax (included)", "税额（已含）"),
    "tax_added": ("tax (added)", "税额（另加）"),
    "total": ("total", "合计"),
    "valid_until": ("valid until", "有效期至"),
    "note": ("note", "备注"),
}

NOTICES: dict[str, tuple[str, str]] = {
    "short": ("Short of {sku} {name}: {missing} missing, no date known.", "{sku} {name} 缺 {missing}，到货日期未知。"),
    "short_until": (
        "Short of {sku} {name}: {missing} missing, complete on {day}.",
        "{sku} {name} 缺 {missing}，{day} 可齐。",
    ),
    "below_minimum": (
        "{sku} {name}: less than the minimum of {minimum}.",
        "{sku} {name}：低于起订量 {minimum}。",
    ),
}

CHECKS: dict[str, tuple[str, str]] = {
    "create_quotation": (
        "Look for a quotation to this customer made at about that time; its lines must be those above.",
        "请查看这位客户在那个时间前后有没有新报价单，明细是否与上面一致。",
    ),
}
