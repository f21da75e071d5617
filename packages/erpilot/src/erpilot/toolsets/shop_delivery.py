"""Tools that move what was sold: goods out, cancelled, or back.

Invariant: quantities are limited by what was ordered, delivered and returned, and this is said before a person is
asked; goods and money are two approvals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from agent_core.events import Change, Notice
from agent_core.tools.tool import Tier, Tool

from ..shop.backend import ErpBackend, LinePart, Parcel, ReturnedPart, Write, Written
from ..shop.documents import Line, Order
from ..shop.errors import NotFound, Refused
from ..shop.pricing import share, with_tax
from ..shop.values import ZERO, Quantity, zero
from . import shop_results as r
from .shop_arguments import Day, Text, listed
from .shop_arguments import Written as Number
from .shop_resolve import not_past, order_named, quantity_of
from .shop_writing import Plan, moved, writing


class PartAsked(BaseModel):
    """Some of an order's line."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    sku: Number
    qty: Annotated[Number, Field(description='10 (in the unit of the line) or "3 箱"')]


class ReturnAsked(PartAsked):
    """Goods that come back; damaged ones do not go into stock."""

    condition: Literal["sellable", "damaged"] = "sellable"


Parts = Annotated[tuple[PartAsked, ...], BeforeValidator(listed), Field(max_length=30)]
Returns = Annotated[tuple[ReturnAsked, ...], BeforeValidator(listed), Field(min_length=1, max_length=30)]
Reason = Annotated[str, Field(min_length=2, max_length=300)]


def delivery_tools(backend: ErpBackend) -> list[Tool]:
    """Writing tools over one backend."""

    @writing(
        backend,
        "documents",
        "stock",
        "money",
        target=lambda number, **_: number.strip().upper(),
        varies=("lines", "carrier", "tracking"),
    )
    async def deliver_order(
        number: Number,
        lines: Parts = (),
        carrier: Text = None,
        tracking: Text = None,
        date: Day = None,
    ) -> Plan:
        """Ship goods of an order and invoice them. Without `lines`: all that is held in stock for it; the rest stays
        open. `number`: whole. A person confirms first."""
        order = await order_named(backend, number, "sale")
        not_past(date, backend.now().date(), "date")
        parts = await _parts(backend, order, lines) if lines else _ready(order)
        changes, notices = list[Change](), list[Notice]()
        for line, quantity in parts:
            if quantity.value > line.open:
                raise Refused(
                    f"{order.head.number} has {r.plain(line.open)} {line.unit} of {line.sku} open, not "
                    f"{r.plain(quantity.value)}.",
                    hint="Ship at most what is open.",
                )
            record = f"{line.sku} {line.name}"
            changes.append(Change("leaves", None, f"{r.plain(quantity.value)} {line.unit} · {order.warehouse}", record))
            changes.append(Change("still_open", *moved(line.open, line.open - quantity.value, line.unit), record))
            if quantity.value > line.reserved:
                notices.append(
                    Notice("not_reserved", {"sku": line.sku, "reserved": f"{r.plain(line.reserved)} {line.unit}"})
                )
        if carrier or tracking:
            changes.append(Change("parcel", None, " ".join(part for part in (carrier, tracking) if part)))
        wanted = tuple(LinePart(line.line, quantity) for line, quantity in parts)
        parcel = Parcel(carrier or None, tracking or None, date)

        async def act(write: Write, shown: Mapping[str, str]) -> Written:
            del shown
            return await backend.deliver_order(order.head.number, wanted, parcel=parcel, write=write)

        return Plan("deliver_order", tuple(changes), act, notices=tuple(notices), version=order.head.version)

    @writing(
        backend,
        "documents",
        "stock",
        "money",
        target=lambda number, **_: number.strip().upper(),
        tier=Tier.DANGEROUS,
    )
    async def cancel_order(number: Number, reason: Reason, rest_only: bool = False) -> Plan:
        """Cancel a quotation, an order or a purchase; `rest_only`: only what has not gone out. Goods that went out need
        return_order, money refund. `number`: whole. A person confirms every time."""
        order = await order_named(backend, number)
        _check_cancellable(order, rest_only=rest_only)
        changes = [Change("state", order.head.state, "rest cancelled" if rest_only else "cancelled", order.head.number)]
        for line in order.lines:
            if line.open:
                record = f"{line.sku} {line.name}"
                changes.append(
                    Change("cancelled", *moved(line.cancelled, line.cancelled + line.open, line.unit), record)
                )
            if line.reserved:
                changes.append(Change("reserved", *moved(line.reserved, ZERO, line.unit), f"{line.sku} {line.name}"))
        changes.append(Change("reason", None, reason.strip()))
        notices = []
        if order.paid.amount > 0:
            notices.append(Notice("was_paid", {"paid": f"{order.paid.amount} {order.paid.currency}"}))
        if linked := [*(each.number for each in order.deliveries), *(each.number for each in order.invoices)]:
            notices.append(Notice("linked", {"numbers": ", ".join(linked)}))

        async def act(write: Write, shown: Mapping[str, str]) -> Written:
            del shown
            return await backend.cancel_order(
                order.head.number, reason=reason.strip(), rest_only=rest_only, write=write
            )

        return Plan("cancel_order", tuple(changes), act, notices=tuple(notices), version=order.head.version)

    @writing(
        backend,
        "documents",
        "stock",
        "money",
        target=lambda number, **_: number.strip().upper(),
        tier=Tier.DANGEROUS,
    )
    async def return_order(number: Number, lines: Returns, reason: Reason) -> Plan:
        """Take goods of an order back, at the price really paid: makes a return and a credit note; the money is paid
        out by refund. `condition` damaged: not into stock. `number`: whole. A person confirms every time."""
        order = await order_named(backend, number, "sale")
        parts = await _parts(backend, order, lines)
        changes, credit, back = list[Change](), zero(order.head.total.currency), dict[int, Decimal]()
        for (line, quantity), asked in zip(parts, lines, strict=True):
            back[line.line] = back.get(line.line, ZERO) + quantity.value
            left = line.delivered - line.returned
            if back[line.line] > left:
                raise Refused(
                    f"Of {line.sku} {r.plain(line.delivered)} {line.unit} were delivered and {r.plain(line.returned)} "
                    f"came back already: at most {r.plain(left)} can be returned.",
                )
            worth = share(with_tax(line, tax_included=order.tax_included), quantity.value, line.ordered)
            credit = credit + worth
            where = order.warehouse if asked.condition == "sellable" else "damaged"
            record = f"{line.sku} {line.name}"
            changes.append(Change("comes_back", None, f"{r.plain(quantity.value)} {line.unit} → {where}", record))
            changes.append(
                Change("returned", *moved(line.returned, line.returned + back[line.line], line.unit), record)
            )
            changes.append(Change("credit", None, f"{worth.amount} {worth.currency}", record))
        changes.append(Change("credit_total", None, f"{credit.amount} {credit.currency}"))
        changes.append(Change("reason", None, reason.strip()))
        wanted = tuple(
            ReturnedPart(line.line, quantity, asked.condition)
            for (line, quantity), asked in zip(parts, lines, strict=True)
        )

        async def act(write: Write, shown: Mapping[str, str]) -> Written:
            del shown
            return await backend.return_order(order.head.number, wanted, reason=reason.strip(), write=write)

        return Plan(
            "return_order",
            tuple(changes),
            act,
            notices=(Notice("money_apart", {}),),
            measures={f"credit {credit.currency}": credit.amount},
            version=order.head.version,
        )

    return [deliver_order, cancel_order, return_order]


async def _parts(backend: ErpBackend, order: Order, asked: Sequence[PartAsked]) -> list[tuple[Line, Quantity]]:
    """Lines of the order and how much of each, in the unit of the line."""
    products = await backend.get_products([line.sku for line in order.lines])
    parts = []
    for each in asked:
        line = next((one for one in order.lines if one.sku.casefold() == each.sku.casefold()), None)
        if line is None:
            raise NotFound(
                f"{order.head.number} has no line of {each.sku!r}.",
                nearest=[f"{one.sku} {one.name}" for one in order.lines],
            )
        product = products[line.sku]
        bare = each.qty.strip().replace(".", "", 1).isdigit()
        quantity = quantity_of(product, each.qty, line.unit if bare else None).quantity
        value = product.to_base(quantity).value / line.factor
        parts.append((line, Quantity(value, line.unit)))
    return parts


def _ready(order: Order) -> list[tuple[Line, Quantity]]:
    """All that is open and held in stock for the order."""
    parts = [(line, Quantity(line.reserved, line.unit)) for line in order.lines if line.open and line.reserved]
    if not parts:
        what = "Nothing is open" if not any(line.open for line in order.lines) else "Nothing that is open is in stock"
        raise Refused(f"{what} on {order.head.number}.", hint="Look at the order and its stock.")
    return parts


def _check_cancellable(order: Order, *, rest_only: bool) -> None:
    head = order.head
    if head.state == "cancelled" or not any(line.open for line in order.lines):
        raise Refused(f"Nothing is left to cancel on {head.number}: it is {head.state}.")
    if not rest_only and any(line.delivered for line in order.lines):
        raise Refused(
            f"Goods of {head.number} went out already, so it cannot be cancelled as a whole.",
            hint="Cancel the rest (rest_only), and take the goods back with return_order.",
        )
