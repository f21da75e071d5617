"""The tool that changes a quotation or a draft which nobody has confirmed.

Invariant: every field that changes is shown before and after, the total too; a price typed by hand is marked as such
and stays when the quantity changes; past the discount limit or below cost it is asked every time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from agent_core.events import Change
from agent_core.tools.tool import Tool

from ..shop.backend import DraftChange, ErpBackend, LineEdit, LineWanted, Write, Written
from ..shop.catalogue import Product
from ..shop.documents import Line, Order, add_up
from ..shop.errors import Invalid, NotFound, Refused
from ..shop.pricing import Quote, line_amounts
from ..shop.rules import price_concerns
from ..shop.values import Money, Quantity
from . import shop_results as r
from .shop_arguments import Amount, Day, LineAsked, Note, listed
from .shop_arguments import Written as Number
from .shop_concerns import allowed, noticed, tokens
from .shop_resolve import lines_wanted, order_named, percent, quantity_of
from .shop_writing import Plan, moved, writing


class Edit(BaseModel):
    """A change to the line of a product; what is left out stays."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    sku: Number
    qty: Annotated[Amount, Field(description='150 or "3 箱"')] = None
    unit_price: Amount = None
    discount_percent: Amount = None
    remove: bool = False


Edits = Annotated[tuple[Edit, ...], BeforeValidator(listed), Field(max_length=30)]
Added = Annotated[tuple[LineAsked, ...], BeforeValidator(listed), Field(max_length=30)]


def draft_tools(backend: ErpBackend) -> list[Tool]:
    """Writing tools over one backend."""

    @writing(backend, "documents", target=lambda number, **_: number.strip().upper())
    async def update_draft(
        number: Number,
        lines: Edits = (),
        add: Added = (),
        discount_percent: Amount = None,
        valid_until: Day = None,
        ship_by: Day = None,
        note: Note = None,
    ) -> Plan:
        """Change a quotation or draft: quantities, prices typed by hand, discount (of the whole), lines, validity.
        `number`: whole, like Q-1008. A person sees before and after, and confirms."""
        order = await order_named(backend, number)
        if order.head.state not in ("draft", "quoted"):
            raise Refused(
                f"{order.head.number} is {order.head.state}: only a draft or an open quotation is changed.",
                hint="A confirmed order is cancelled, or returned in part, and made anew.",
            )
        change = await _change(backend, order, lines, add, discount_percent, valid_until, ship_by, note)
        after, quote = await _after(backend, order, change)
        concerns = price_concerns(quote, (await backend.whoami()).company)
        await allowed(backend, concerns)
        changes = _differences(order, after, change)
        if not changes:
            raise Invalid("Nothing would change: all of it is so already.")

        async def act(write: Write, shown: Mapping[str, str]) -> Written:
            del shown
            return await backend.update_draft(order.head.number, change, write=write)

        return Plan(
            "change_draft",
            tuple(changes),
            act,
            notices=noticed(concerns),
            measures={f"total {order.head.total.currency}": _total(after, order).amount},
            version=order.head.version,
            accepts=tokens(concerns),
            raised=bool(concerns),
        )

    return [update_draft]


async def _change(
    backend: ErpBackend,
    order: Order,
    edits: Sequence[Edit],
    add: Sequence[LineAsked],
    discount: str | None,
    valid_until: date | None,
    ship_by: date | None,
    note: str | None,
) -> DraftChange:
    products = await backend.get_products([line.sku for line in order.lines])
    return DraftChange(
        edits=tuple(_edit(order, products, each) for each in edits),
        added=tuple(await lines_wanted(backend, add, exact=True)) if add else (),
        discount=None if discount is None else percent(discount, "discount_percent"),
        valid_until=valid_until,
        promised=ship_by,
        note=note,
    )


def _edit(order: Order, products: Mapping[str, Product], edit: Edit) -> LineEdit:
    lines = [line for line in order.lines if line.sku.casefold() == edit.sku.casefold()]
    if len(lines) != 1:
        there = "more than one line" if lines else "no line"
        raise NotFound(
            f"{order.head.number} has {there} of {edit.sku!r}.",
            hint="Give the SKU of a line.",
            nearest=[f"{line.sku} {line.name}" for line in order.lines],
        )
    line = lines[0]
    quantity = None if edit.qty is None else quantity_of(products[line.sku], edit.qty, None).quantity
    if quantity is not None and edit.qty is not None and edit.qty.strip().replace(".", "").isdigit():
        quantity = quantity_of(products[line.sku], edit.qty, line.unit).quantity  # in the unit of the line
    return LineEdit(
        line.line,
        quantity,
        None if edit.unit_price is None else _price(edit.unit_price),
        None if edit.discount_percent is None else percent(edit.discount_percent, "discount_percent"),
        edit.remove,
    )


def _price(written: str) -> Decimal:
    try:
        price = Decimal(written.strip().replace(",", ""))
    except ArithmeticError:
        raise Invalid(f"{written[:40]!r} is not a price.", hint='Write it as "18.00".') from None
    if not price.is_finite() or price < 0 or price != round(price, 4):
        raise Invalid(f"A price of {written[:40]} cannot be.")
    return price


async def _after(backend: ErpBackend, order: Order, change: DraftChange) -> tuple[list[Line], Quote]:
    """The lines as they would be, at the prices that the rules or a person give them."""
    edits = {each.line: each for each in change.edits}
    kept = [line for line in order.lines if not (line.line in edits and edits[line.line].remove)]
    wanted = [_wanted(line, edits.get(line.line), change.discount) for line in kept]
    wanted += [
        replace(each, discount=change.discount) if change.discount is not None else each for each in change.added
    ]
    if not wanted:
        raise Refused(f"{order.head.number} would have no line left.", hint="Cancel it instead.")
    quote = await backend.get_prices(wanted, customer_id=order.head.party_id)
    after = []
    for at, priced in enumerate(quote.lines):
        base = kept[at] if at < len(kept) else None
        asked = wanted[at]
        price = priced.unit_price if asked.unit_price is None else asked.unit_price
        currency = order.head.total.currency
        discount = asked.discount or Decimal(0)
        amount, tax = line_amounts(
            priced.quantity.value, price, discount, priced.tax_rate, currency, tax_included=order.tax_included
        )
        after.append(
            Line(
                line=base.line if base else len(order.lines) + at + 1,
                sku=priced.product.sku,
                name=base.name if base else priced.product.name,
                specification=priced.product.specification,
                unit=priced.quantity.unit,
                factor=priced.product.unit(priced.quantity.unit).factor,
                base_unit=priced.base.unit,
                ordered=priced.quantity.value,
                unit_price=price,
                tax_rate=priced.tax_rate,
                amount=amount,
                tax=tax,
                discount=discount,
                price_origin="manual" if asked.unit_price is not None else "rule",
            )
        )
    return after, quote


def _wanted(line: Line, edit: LineEdit | None, discount: Decimal | None) -> LineWanted:
    """A line as it would be asked for: a typed price stays, one of the list follows the quantity."""
    quantity = edit.quantity if edit and edit.quantity else Quantity(line.ordered, line.unit)
    typed = line.unit_price if line.price_origin == "manual" else None
    price = edit.unit_price if edit and edit.unit_price is not None else typed
    own = edit.discount if edit and edit.discount is not None else None
    taken = own if own is not None else line.discount if discount is None else discount
    return LineWanted(line.sku, quantity, price, taken)


def _total(lines: Sequence[Line], order: Order) -> Money:
    pairs = [(line.amount, line.tax) for line in lines]
    return add_up(pairs, order.head.total.currency, tax_included=order.tax_included).total


def _differences(order: Order, after: Sequence[Line], change: DraftChange) -> list[Change]:
    """Each field that changes, before and after, and the total."""
    old, changes = {line.line: line for line in order.lines}, []
    for line in after:
        before, record = old.pop(line.line, None), f"{line.sku} {line.name}"
        if before is None:
            text = f"{r.plain(line.ordered)} {line.unit} x {line.unit_price} = {line.amount.amount}"
            changes.append(Change("line", None, text, record))
            continue
        if (before.ordered, before.unit) != (line.ordered, line.unit):
            was, now = f"{r.plain(before.ordered)} {before.unit}", f"{r.plain(line.ordered)} {line.unit}"
            changes.append(Change("qty", was, now, record))
        if (before.unit_price, before.price_origin) != (line.unit_price, line.price_origin):
            now = f"{line.unit_price}{' (manual)' if line.price_origin == 'manual' else ''}"
            changes.append(Change("unit_price", f"{before.unit_price}", now, record))
        if before.discount != line.discount:
            changes.append(Change("discount_percent", *moved(before.discount, line.discount), record))
        if before.amount != line.amount:
            changes.append(Change("amount", f"{before.amount.amount}", f"{line.amount.amount}", record))
    for gone in old.values():
        changes.append(Change("line", f"{r.plain(gone.ordered)} {gone.unit} x {gone.unit_price}", None, gone.sku))
    fields = (
        ("valid_until", order.valid_until, change.valid_until),
        ("promised", order.head.promised, change.promised),
        ("note", order.note, change.note),
    )
    for name, was_value, now_value in fields:
        if now_value is not None and now_value != was_value:
            changes.append(Change(name, None if was_value is None else str(was_value), str(now_value)))
    total = _total(after, order)
    if total != order.totals.total:
        currency = total.currency
        changes.append(Change("total", f"{order.totals.total.amount} {currency}", f"{total.amount} {currency}"))
    return changes
