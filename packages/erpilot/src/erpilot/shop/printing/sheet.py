"""What stands on the page of a document, in the language of the reader, before it is drawn.

Invariant: only what the customer may see: no cost, margin, stock or record of other customers, and no note but that of
a quotation, which is written for them; every amount is one of the document, with its currency, and says whether tax
is in it. Controls and marks of direction, which could make a page read otherwise than it is stored, are taken out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Literal

from ..documents import Order
from ..values import Company

Language = Literal["zh", "en"]

_WORDS: dict[str, tuple[str, str]] = {
    "quotation": ("Quotation", "报价单"),
    "sale": ("Order", "销售订单"),
    "purchase": ("Purchase order", "采购订单"),
    "return": ("Return", "退货单"),
    "number": ("Number", "编号"),
    "date": ("Date", "日期"),
    "valid_until": ("Valid until", "有效期至"),
    "promised": ("Delivery", "交货日期"),
    "customer": ("Customer", "客户"),
    "supplier": ("Supplier", "供应商"),
    "line": ("No.", "序号"),
    "sku": ("Code", "编码"),
    "name": ("Description", "品名规格"),
    "quantity": ("Quantity", "数量"),
    "unit": ("Unit", "单位"),
    "unit_price": ("Unit price", "单价"),
    "discount": ("Discount", "折扣"),
    "tax_rate": ("Tax", "税率"),
    "amount": ("Amount", "金额"),
    "subtotal": ("Without tax", "未税金额"),
    "tax": ("Tax", "税额"),
    "total": ("Total", "合计"),
    "included": ("Prices include tax. Currency: {currency}.", "价格含税。币种：{currency}。"),
    "added": (
        "Prices do not include tax; it is added below. Currency: {currency}.",
        "价格未税，税额另列。币种：{currency}。",
    ),
    "note": ("Note", "备注"),
    "cancelled": ("Cancelled", "已取消"),
}


_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\ud800-\udfff\ufffe\uffff]"
)


@dataclass(frozen=True, slots=True)
class Sheet:
    """Texts of a page. ``facts`` and ``sums``: (label, value); ``right``: columns that hold numbers."""

    language: Language
    company: str
    title: str
    number: str
    facts: tuple[tuple[str, str], ...]
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    right: frozenset[int]
    sums: tuple[tuple[str, str], ...]
    terms: str
    note: tuple[str, str] | None
    stamp: str | None


def sheet_of(order: Order, company: Company, language: Language) -> Sheet:
    """The page of a document."""

    def word(key: str) -> str:
        english, chinese = _WORDS[key]
        return chinese if language == "zh" else english

    head, totals = order.head, order.totals
    currency = head.total.currency
    facts = [(word("number"), head.number), (word("date"), _day(head.date))]
    if order.valid_until is not None:
        facts.append((word("valid_until"), _day(order.valid_until)))
    if head.promised is not None and head.kind != "quotation":
        facts.append((word("promised"), _day(head.promised)))
    facts.append((word("supplier" if head.kind == "purchase" else "customer"), _seen(head.party)))
    with_discount = any(line.discount for line in order.lines)
    columns = ["line", "sku", "name", "quantity", "unit", "unit_price"]
    columns += ["discount"] if with_discount else []
    columns += ["tax_rate", "amount"]
    rows = []
    for line in order.lines:
        cells = [
            str(line.line),
            _seen(line.sku),
            _seen(" ".join(part for part in (line.name, line.specification) if part)),
            _number(line.ordered),
            _seen(line.unit),
            f"{line.unit_price:,f}",
        ]
        cells += [f"{_number(line.discount)}%" if line.discount else ""] if with_discount else []
        cells += [f"{_number(line.tax_rate * 100)}%", f"{line.amount.amount:,f}"]
        rows.append(tuple(cells))
    numbers = ("quantity", "unit_price", "discount", "tax_rate", "amount")
    return Sheet(
        language=language,
        company=_seen(company.name),
        title=word(head.kind),
        number=head.number,
        facts=tuple(facts),
        head=tuple(word(column) for column in columns),
        rows=tuple(rows),
        right=frozenset(place for place, column in enumerate(columns) if column in numbers),
        sums=(
            (word("subtotal"), f"{totals.subtotal.amount:,f} {currency}"),
            (word("tax"), f"{totals.tax.amount:,f} {currency}"),
            (word("total"), f"{totals.total.amount:,f} {currency}"),
        ),
        terms=word("included" if order.tax_included else "added").format(currency=currency),
        note=(word("note"), _seen(order.note)) if order.note and head.kind == "quotation" else None,
        stamp=word("cancelled") if head.state == "cancelled" else None,
    )


def _seen(text: str) -> str:
    return _UNSEEN.sub("", text)


def _day(day: date) -> str:
    return day.isoformat()


def _number(value: Decimal) -> str:
    text = f"{value:,f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
