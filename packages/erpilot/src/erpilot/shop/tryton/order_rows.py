"""Rows of the server as documents: what is read of one, and what it means.

Invariant: ordered = delivered + cancelled + open on every line, from the moves of the line; line amounts and taxes add
up to the server's own total, to the cent. The version changes with the record and with each of its lines.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any, Final

from ..documents import Delivery, Invoice, Kind, Line, Order, OrderHead, Payment, Progress, State, progress
from ..rights import Right
from ..values import ZERO, Money
from .desk import Base, plain, relative
from .keys import words_of_people
from .states import invoiced_of, kind_of, shipped_of, state_of

BY_HAND: Final = "manual price 手工价"
"""Note of a line whose price was typed; Tryton has no other place for it."""


@dataclass(frozen=True, slots=True)
class Model:
    """Names of a kind of document on the server."""

    name: str
    line: str
    date: str
    promised: str
    shipment: str


SALE: Final = Model("sale.sale", "sale.line", "sale_date", "shipping_date", "stock.shipment.out")
PURCHASE: Final = Model("purchase.purchase", "purchase.line", "purchase_date", "delivery_date", "stock.shipment.in")

_COMMON: Final = [
    "number",
    "reference",
    "state",
    "shipment_state",
    "invoice_state",
    "party.code",
    "party.name",
    "total_amount",
    "currency.code",
    "_timestamp",
    "lines._timestamp",
    "create_date",
]
HEAD: Final = {
    SALE.name: [*_COMMON, "sale_date", "quotation_date", "shipping_date", "lines.moves_ignored"],
    PURCHASE.name: [*_COMMON, "purchase_date", "delivery_date"],
}
_WHOLE: Final = [
    "untaxed_amount",
    "tax_amount",
    "comment",
    "warehouse.name",
    "warehouse.code",
    "shipments",
    "lines.type",
    "lines.product.code",
    "lines.product.name",
    "lines.product.description",
    "lines.product.default_uom",
    "lines.quantity",
    "lines.unit",
    "lines.unit_price",
    "lines.amount",
    "lines.taxes.type",
    "lines.taxes.rate",
    "lines.note",
    "lines.moves_ignored",
    "lines.moves.state",
    "lines.moves.quantity",
    "lines.moves.unit",
    "lines.moves.effective_date",
    "lines.moves.shipment",
    "lines.moves.from_location",
]
_OF_SALES: Final = [
    "quotation_expire",
    "lines.base_price",
    "lines.discount_rate",
    "shipments.number",
    "shipments.state",
    "shipments.reference",
    "shipments.effective_date",
    "shipments.warehouse.name",
]
_MONEY: Final = [
    "lines.invoice_lines.quantity",
    "lines.invoice_lines.unit",
    "lines.invoice_lines.invoice.state",
    "invoices.number",
    "invoices.state",
    "invoices.type",
    "invoices.invoice_date",
    "invoices.total_amount",
    "invoices.amount_to_pay",
    "invoices.currency.code",
    "invoices._timestamp",
]
_BOOKED: Final = [
    "invoices.lines_to_pay.maturity_date",
    "invoices.payment_lines.date",
    "invoices.payment_lines.debit",
    "invoices.payment_lines.credit",
    "invoices.payment_lines.move.number",
    "invoices.payment_lines.move.journal.name",
]


def fields_of(model: Model, held: frozenset[Right], *, books: bool) -> list[str]:
    """Everything of a document that the person may read. ``books``: lines of the accounts too."""
    fields = [*HEAD[model.name], *_WHOLE]
    if model is SALE:
        fields += _OF_SALES
    if "see_money" in held:
        fields += [*_MONEY, *_BOOKED] if books else _MONEY
    return list(dict.fromkeys(fields))


def kind_of_row(row: dict[str, Any], model: Model) -> Kind:
    """Quotation, sale or purchase."""
    return "purchase" if model is PURCHASE else kind_of(row["state"], row["sale_date"])


def date_of(row: dict[str, Any], model: Model) -> date:
    """The day of the order, else of the quotation, else of the record."""
    quoted = row.get("quotation_date")
    found: date = row[model.date] or quoted or row["create_date"].date()
    return found


def version_of(row: dict[str, Any]) -> str:
    """The server's time stamp of the record, and a digest of those of its lines."""
    lines = "|".join(f"{each['id']}:{each['_timestamp']}" for each in row["lines."])
    return f"{row['_timestamp']}~{hashlib.sha256(lines.encode()).hexdigest()[:12]}"


def timestamp_of(version: str) -> str:
    """The part of a version that the server checks."""
    return version.partition("~")[0]


def head_of(row: dict[str, Any], model: Model, base: Base) -> OrderHead:
    """A document without its lines."""
    party, currency = row["party."], row["currency."]["code"]
    state = state_of(row["state"], row["shipment_state"])
    if state in ("done", "confirmed") and _all_given_up(row):
        state = "cancelled"
    return OrderHead(
        number=row["number"] or f"#{row['id']}",
        kind=kind_of_row(row, model),
        party_id=party["code"] or f"#{party['id']}",
        party=party["name"] or party["code"] or "",
        date=date_of(row, model),
        promised=row[model.promised],
        state=state,
        shipped=shipped_of(row["shipment_state"]) if state != "cancelled" else "none",
        invoiced=invoiced_of(row["invoice_state"], row["shipment_state"]),
        total=Money(Decimal(row["total_amount"] or 0), currency),
        version=version_of(row),
    )


def _all_given_up(row: dict[str, Any]) -> bool:
    """Every line was given up after its moves were cancelled, so nothing went out."""
    lines = [each for each in row["lines."] if each.get("type", "line") == "line"]
    given_up = [each for each in lines if each.get("moves_ignored")]
    if not given_up or len(given_up) < len(lines):
        return False
    return not any(move["state"] == "done" for each in lines for move in each.get("moves.") or ())


def order_of(
    row: dict[str, Any], model: Model, base: Base, held: dict[int, Decimal], others: tuple[str, ...] = ()
) -> Order:
    """A document from a row with ``fields_of``. ``held``: what is held for it by product, in the default unit."""
    head = head_of(row, model, base)
    lines = _lines(row, base, head.total.currency, held)
    if head.state != "cancelled" or model is PURCHASE:
        owed = [(line.delivered, line.ordered - line.cancelled) for line in lines]
        shipped, state = progress(owed), head.state
        if state == "in_progress" and any(line.cancelled for line in lines) and not any(line.open for line in lines):
            state = "done"
    else:
        shipped, state = "none", head.state
        lines = tuple(_taken_back(line) for line in lines)
    invoiced = _invoiced(lines) if "invoices." in row else head.invoiced
    head = _with(head, state, shipped, invoiced)
    place = row["warehouse."] or {}
    return Order(
        head=head,
        tax_included=False,
        warehouse=place.get("name") or "",
        lines=lines,
        deliveries=_deliveries(row, base),
        payments=_payments(row, head.total.currency),
        valid_until=row.get("quotation_expire") if head.kind == "quotation" else None,
        source=None,
        note=(row["comment"] or "").strip() or None,
        other_matches=others,
        invoices=tuple(invoice_of(each, row, head) for each in row.get("invoices.") or () if each["number"]),
        server_state=row["state"],
    )


def _with(head: OrderHead, state: State, shipped: Progress, invoiced: Progress) -> OrderHead:
    values = {name: getattr(head, name) for name in OrderHead.__slots__}
    return OrderHead(**{**values, "state": state, "shipped": shipped, "invoiced": invoiced})


def _taken_back(line: Line) -> Line:
    values = {name: getattr(line, name) for name in Line.__slots__}
    return Line(**{**values, "cancelled": line.ordered - line.delivered, "held": ZERO})


def goods_lines(row: dict[str, Any]) -> list[dict[str, Any]]:
    """Lines with a product, in the order of the document; their place is their number."""
    return [each for each in row["lines."] if each["type"] == "line" and each["product."]]


def units_in(row: dict[str, Any]) -> set[int]:
    """The units of lines and products, as far as they are named."""
    lines = goods_lines(row)
    return {each["unit"] for each in lines} | {each["product."]["default_uom"] for each in lines}


def _lines(row: dict[str, Any], base: Base, currency: str, held: dict[int, Decimal]) -> tuple[Line, ...]:
    left = dict(held)
    found = [_line(at, each, base, currency, left) for at, each in enumerate(goods_lines(row), 1)]
    # The server rounds taxes over the document, we by line: the largest line takes the cent between the two.
    between = Decimal(row["tax_amount"] or 0) - sum((line.tax.amount for line in found), ZERO)
    if between and found and len(found) == len([each for each in row["lines."] if each["type"] == "line"]):
        largest = max(range(len(found)), key=lambda at: found[at].tax.amount)
        values = {name: getattr(found[largest], name) for name in Line.__slots__}
        tax = Money(found[largest].tax.amount + between, currency)
        found[largest] = Line(**{**values, "tax": tax})
    return tuple(found)


def _line(at: int, row: dict[str, Any], base: Base, currency: str, held: dict[int, Decimal]) -> Line:
    """Takes what it is owed of what is still ``held`` of its product."""
    product, unit = row["product."], base.units[row["unit"]]
    default = base.units[product["default_uom"]]
    sums = {"done": ZERO, "given_up": ZERO}
    given_up = set(row["moves_ignored"])
    for move in row["moves."]:
        quantity = plain(move["quantity"] * relative(base.units[move["unit"]].factor, unit.factor))
        if move["id"] in given_up:
            sums["given_up"] += quantity
        elif move["state"] in sums:
            sums[move["state"]] += quantity
    ordered = plain(row["quantity"])
    rate = sum((Decimal(tax["rate"]) for tax in row["taxes."] if tax["type"] == "percentage"), ZERO)
    amount = Money(Decimal(row["amount"] or 0), currency)
    discount = plain(Decimal(row.get("discount_rate") or 0) * 100)
    base_price = row.get("base_price")
    price = Decimal(base_price if base_price is not None and discount > 0 else row["unit_price"])
    back = ordered < 0  # a line of a return: nothing of it is owed
    delivered = ordered if back else min(sums["done"], ordered)
    cancelled = ZERO if back else min(sums["given_up"], ordered - delivered)
    factor = relative(unit.factor, default.factor)
    mine = min(held.get(product["id"], ZERO), plain((ordered - delivered - cancelled) * factor))
    held[product["id"]] = held.get(product["id"], ZERO) - mine
    return Line(
        line=at,
        sku=product["code"] or f"#{product['id']}",
        name=product["name"],
        specification=" ".join((product["description"] or "").split()),
        unit=unit.name,
        factor=factor,
        base_unit=default.name,
        ordered=abs(ordered),
        unit_price=_price(price),
        tax_rate=rate,
        amount=amount,
        tax=Money(amount.amount * rate, currency),
        discount=max(discount, ZERO),
        price_origin="manual" if (row["note"] or "").startswith(BY_HAND) else "rule",
        delivered=abs(delivered),
        cancelled=cancelled,
        invoiced=ZERO if back else _invoiced_quantity(row, base, ordered),
        held=mine,
    )


def _price(price: Decimal) -> Decimal:
    """With at least two places, and no more than it needs."""
    short = price.quantize(Decimal("0.01"))
    return short if short == price else price.normalize()


def _invoiced_quantity(row: dict[str, Any], base: Base, ordered: Decimal) -> Decimal:
    unit = base.units[row["unit"]]
    total = ZERO
    for each in row.get("invoice_lines.") or ():
        invoice = each["invoice."]
        if invoice and invoice["state"] in ("posted", "paid") and each["unit"]:
            total += plain(each["quantity"] * relative(base.units[each["unit"]].factor, unit.factor))
    return min(max(total, ZERO), ordered)


def _invoiced(lines: Sequence[Line]) -> Progress:
    return progress([(line.invoiced, line.ordered - line.cancelled) for line in lines])


def _deliveries(row: dict[str, Any], base: Base) -> tuple[Delivery, ...]:
    found = []
    for each in row.get("shipments.") or ():
        if each["state"] not in ("shipped", "done"):
            continue
        name = f"stock.shipment.out,{each['id']}"
        goods = tuple(
            (line["product."]["code"] or "", plain(move["quantity"]), base.units[move["unit"]].name)
            for line in goods_lines(row)
            for move in line["moves."]
            if move["shipment"] == name and move["state"] == "done"
        )
        day = each["effective_date"] or row["create_date"].date()
        number, place = each["number"] or f"#{each['id']}", (each["warehouse."] or {}).get("name") or ""
        tracking = words_of_people(each["reference"]) or None
        if each["state"] == "done":
            found.append(Delivery(number, day, "delivered", place, None, tracking, goods))
        else:
            found.append(Delivery(number, day, "shipped", place, None, tracking, goods))
    return tuple(sorted(found, key=lambda each: (each.date, each.number)))


def invoice_of(row: dict[str, Any], order: dict[str, Any] | None, head: OrderHead | None) -> Invoice:
    """An invoice as it stands; drafts have no number and are none yet."""
    currency = row["currency."]["code"]
    total, left = Decimal(row["total_amount"]), Decimal(row["amount_to_pay"] or 0)
    sign = -1 if total < 0 else 1
    zero = Money(ZERO, currency)
    day = row["invoice_date"] or date.min
    dues = [each["maturity_date"] for each in row.get("lines_to_pay.") or () if each["maturity_date"]]
    return Invoice(
        number=row["number"],
        kind="credit_note" if sign < 0 else "invoice",
        order=head.number if head else None,
        party_id=head.party_id if head else "",
        party=head.party if head else "",
        date=day,
        due=max(dues, default=day),
        total=Money(total * sign, currency),
        paid=Money((total - left) * sign, currency) if row["state"] in ("posted", "paid") else zero,
        credited=zero,
        version=str(row["_timestamp"]),
    )


def _payments(row: dict[str, Any], currency: str) -> tuple[Payment, ...]:
    found = []
    for invoice in row.get("invoices.") or ():
        for line in invoice.get("payment_lines.") or ():
            move = line["move."] or {}
            amount = Decimal(line["credit"] or 0) - Decimal(line["debit"] or 0)
            method = (move.get("journal.") or {}).get("name") or ""
            found.append(Payment(str(move.get("number") or line["id"]), line["date"], method, Money(amount, currency)))
    return tuple(sorted(found, key=lambda each: (each.date, each.number)))
