"""The documents of the example shop, kind by kind, with those that the documentation speaks of.

Invariant: sale 123 (SO-2026-0123), quotation Q-1008, 鑫源商行's parcel of yesterday and the purchases of cola on the
way are the same in every seeding; the rest fills the two years around them.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from ..documents import Customer, Line, Order, State
from ..values import Money
from .trade import NOTES, Move, Trade, bought, deliver, document, pay, receive, sold, some_lines

ORDER_123 = 123
SALES_LAST_YEAR, SALES_THIS_YEAR = 150, 165
FEATURED = frozenset({"PA4-70", "BV-COLA-500", "BV-SPRI-500", "FD-SOY-500", "OF-TAPE-45", "HW-CUP-500"})
"""Kept out of other open orders, so that the examples stay as they are described."""


def happen(trade: Trade) -> None:
    """Fills ``trade`` with everything, in the order of time."""
    for serial in range(1, SALES_LAST_YEAR + 1):
        offset = -696 + (serial - 1) * 360 // SALES_LAST_YEAR
        _sale(trade, f"SO-2025-{serial:04d}", offset, _customer(trade))
    for serial in range(1, SALES_THIS_YEAR + 1):
        number = f"SO-2026-{serial:04d}"
        if serial < ORDER_123:
            offset = -330 + (serial - 1) * 317 // (ORDER_123 - 1)
        else:
            offset = -12 + (serial - ORDER_123) * 13 // (SALES_THIS_YEAR - ORDER_123 + 1)
        if serial == ORDER_123:
            _order_123(trade)
        elif serial == SALES_THIS_YEAR - 5:
            _yesterday(trade, number)
        else:
            _sale(trade, number, offset, _customer(trade))
    _quotations(trade)
    _purchases(trade)
    _returns(trade)


def _customer(trade: Trade) -> Customer:
    known = trade.parties.customers
    # Squaring prefers the first ones: a shop lives from a few regulars.
    return known[int(trade.rng.random() ** 2 * len(known))]


def _state(trade: Trade, offset: int) -> State:
    draw = trade.rng.random()
    if offset < -25:
        return "cancelled" if draw < 0.06 else "in_progress" if draw < 0.08 and offset > -200 else "done"
    if offset < -4:
        return "cancelled" if draw < 0.08 else "in_progress" if draw < 0.35 else "confirmed" if draw < 0.5 else "done"
    return "draft" if draw < 0.2 else "confirmed" if draw < 0.6 else "in_progress" if draw < 0.75 else "done"


def _sale(trade: Trade, number: str, offset: int, customer: Customer) -> None:
    state = _state(trade, offset)
    is_open = state in ("draft", "confirmed", "in_progress")
    lines = some_lines(trade, customer, offset, avoid=FEATURED if is_open else frozenset())
    warehouse = "EAST" if customer.price_list == "retail" and trade.chance(0.5) else "MAIN"
    promised = None if state == "draft" else offset + 2 + trade.rng.randrange(8)
    deliveries, payments = [], []
    if state in ("in_progress", "done"):
        share = [line.ordered if state == "done" else _part(trade, line, at) for at, line in enumerate(lines)]
        sent = min(0, offset + 1 + trade.rng.randrange(3))
        lines, parcel = deliver(trade, number, warehouse, lines, sent, share, arrived=sent < -2)
        lines = [replace(line, invoiced=line.delivered) for line in lines]
        deliveries.append(parcel)
        if all(line.open == 0 for line in lines):
            state = "done"
    if state == "cancelled":
        lines = [replace(line, cancelled=line.ordered) for line in lines]
    note = NOTES[trade.rng.randrange(len(NOTES))] if trade.chance(0.2) else None
    order = document(
        trade, number, "sale", customer, offset, state, lines,
        warehouse=warehouse, promised=promised, deliveries=deliveries, note=note,
    )  # fmt: skip
    if state == "done" and trade.chance(0.9 if offset < -40 else 0.5):
        payments.append(pay(trade, order.head.total, offset + customer.terms))
    elif state in ("done", "in_progress") and trade.chance(0.3):
        payments.append(
            pay(trade, Money(order.head.total.amount * Decimal("0.3"), order.head.total.currency), offset + 1)
        )
    trade.orders[-1] = (replace(order, payments=tuple(payments)), warehouse)


def _part(trade: Trade, line: Line, at: int) -> Decimal:
    """A part of a line: at least one of the first, never all of it unless it is one of several lines."""
    if at == 0:
        return Decimal(max(1, int(line.ordered) // 2)) if line.ordered > 1 else line.ordered
    return Decimal(int(line.ordered) // 2) if trade.chance(0.5) else Decimal(0)


def _order_123(trade: Trade) -> None:
    customer = trade.customer["C001"]
    wanted = (
        ("PA4-70", 20, "箱"),
        ("BV-COLA-500", 30, "箱"),
        ("FD-SOY-500", 5, "箱"),
        ("OF-TAPE-45", 40, "卷"),
        ("HW-CUP-500", 60, "个"),
    )
    lines = [sold(trade, customer, -12, at, sku, Decimal(qty), unit) for at, (sku, qty, unit) in enumerate(wanted, 1)]
    number = f"SO-2026-{ORDER_123:04d}"
    share = [Decimal(qty) for qty in (20, 10, 5, 40, 0)]
    lines, parcel = deliver(trade, number, "MAIN", lines, -9, share, arrived=True)
    parcel = replace(parcel, carrier="顺丰速运", tracking="SF1402650123")
    lines = [replace(line, invoiced=line.delivered) for line in lines]
    document(
        trade, number, "sale", customer, -12, "in_progress", lines,
        promised=2, deliveries=[parcel], payments=[pay(trade, Money(Decimal(3000), "CNY"), -11)], note="送货前先打电话",
    )  # fmt: skip


def _yesterday(trade: Trade, number: str) -> None:
    customer = trade.customer["C001"]
    lines = [
        sold(trade, customer, -1, 1, "BV-NFSQ-550", Decimal(20), "箱"),
        sold(trade, customer, -1, 2, "HW-TOW-P", Decimal(6), "箱"),
    ]
    lines, parcel = deliver(trade, number, "MAIN", lines, -1, [line.ordered for line in lines], arrived=False)
    parcel = replace(parcel, carrier="德邦物流", tracking="DPK3306120088")
    document(trade, number, "sale", customer, -1, "in_progress", lines, promised=1, deliveries=[parcel])


def _quotations(trade: Trade) -> None:
    for serial in range(960, 1021):
        number = f"Q-{serial}"
        offset = -150 + (serial - 960) * 145 // 48 if serial < 1008 else -4 + (serial - 1008) // 3
        customer = _customer(trade)
        valid = offset + 7 + 7 * trade.rng.randrange(4)
        if serial == 1008:
            xinyuan = trade.customer["C001"]
            lines = [sold(trade, xinyuan, offset, 1, "HW-CUP-500", Decimal(200), "个")]
            document(trade, number, "quotation", xinyuan, offset, "quoted", lines, valid=offset + 14)
            continue
        lines = some_lines(trade, customer, offset)
        state: State = "done" if trade.chance(0.25) else "cancelled" if trade.chance(0.15) else "quoted"
        if offset > -5:
            state = "draft" if trade.chance(0.25) else "quoted"
        quoted = document(trade, number, "quotation", customer, offset, state, lines, valid=valid)
        if state == "done":
            _link(trade, quoted)


def _link(trade: Trade, quoted: Order) -> None:
    """Makes a later sale of the same customer come from this quotation; without one it was not converted."""
    for at, (order, warehouse) in enumerate(trade.orders):
        later = order.head.kind == "sale" and order.head.date >= quoted.head.date
        if later and order.head.party_id == quoted.head.party_id and order.source is None:
            if order.head.number == f"SO-2026-{ORDER_123:04d}":
                continue
            trade.orders[at] = (replace(order, source=quoted.head.number), warehouse)
            return
    last, warehouse = trade.orders[-1]
    trade.orders[-1] = (replace(last, head=replace(last.head, state="quoted")), warehouse)


def _purchases(trade: Trade) -> None:
    """Received ones of the year, late ones, some on the way, some not confirmed, and drafts."""
    plan: list[tuple[int, int, State]] = [(-300 + at * 9, -293 + at * 9, "done") for at in range(30)]
    plan += [(-20, -3, "confirmed"), (-18, -2, "in_progress")]
    plan += [(-10 + at, 3 + at * 2, "confirmed") for at in range(6)]
    plan += [(-2, 9 + at * 3, "quoted") for at in range(4)] + [(0, 14, "draft"), (0, 21, "draft")]
    suppliers = [each for each in trade.parties.suppliers if each.id.startswith("S0")]
    for serial, (offset, expected, state) in enumerate(plan, 1):
        supplier = suppliers[serial % len(suppliers)]
        goods = [g for g in trade.goods if g.supplier == supplier.id and g.everyday and g.product.sku not in FEATURED]
        goods = [g for g in goods if g.product.active] or [g for g in trade.goods if g.supplier == supplier.id]
        first = trade.rng.randrange(len(goods))
        lines = []
        for at, each in enumerate((goods + goods)[first : first + min(3, len(goods))], 1):
            unit = "箱" if any(u.name == "箱" for u in each.product.units) else each.product.base.name
            qty = 5 + trade.rng.randrange(20) if each.product.list_price < 100 else 4
            lines.append(bought(each.product, at, Decimal(qty), unit))
        number = f"PO-2026-{serial:04d}"
        if state == "done":
            lines = receive(trade, number, "MAIN", lines, expected, [line.ordered for line in lines])
        elif state == "in_progress":
            lines = receive(trade, number, "MAIN", lines, -4, [Decimal(int(line.ordered) // 2) for line in lines])
        document(trade, number, "purchase", supplier, offset, state, lines, promised=expected)
    hongda, pinned = trade.supplier["S001"], trade.by_sku["BV-COLA-500"].product
    sprite = trade.by_sku["BV-SPRI-500"].product
    lines = [bought(pinned, 1, Decimal(100), "箱"), bought(sprite, 2, Decimal(50), "箱")]
    document(trade, f"PO-2026-{len(plan) + 1:04d}", "purchase", hongda, -5, "confirmed", lines, promised=4)
    lines = [bought(pinned, 1, Decimal(50), "箱")]
    document(trade, f"PO-2026-{len(plan) + 2:04d}", "purchase", hongda, -1, "quoted", lines, promised=11)


def _returns(trade: Trade) -> None:
    """Some of what was delivered comes back, one line of every twentieth finished sale."""
    finished = [
        at for at, (order, _) in enumerate(trade.orders) if order.head.kind == "sale" and order.head.state == "done"
    ]
    for serial, at in enumerate(finished[7::20], 1):
        order, warehouse = trade.orders[at]
        first, *rest = order.lines
        back = Decimal(max(1, int(first.delivered) // 4))
        number = f"RT-2026-{serial:04d}"
        offset = min(0, (order.head.date - trade.today).days + 6)
        trade.orders[at] = (replace(order, lines=(replace(first, returned=back), *rest)), warehouse)
        customer = trade.customer[order.head.party_id]
        amount = Money(first.amount.amount * back / first.ordered, first.amount.currency)
        tax = Money(first.tax.amount * back / first.ordered, first.tax.currency)
        line = replace(
            first, line=1, ordered=back, delivered=back, invoiced=back, returned=Decimal(0), amount=amount, tax=tax
        )
        trade.moves.append(Move(first.sku, warehouse, back * first.factor, "return", number, offset))
        document(
            trade, number, "return", customer, offset, "done", [line], warehouse=warehouse, source=order.head.number
        )
