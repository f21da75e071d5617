"""What has to have been in stock at the start, and what is held for whom at the end.

Invariant: no running balance of the ledger is ever below zero, and never more is reserved than is on hand.
"""

from __future__ import annotations

from decimal import Decimal

from ..values import ZERO
from .trade import Move, Trade

OPENING_DAY = -760


def opening_moves(trade: Trade) -> list[Move]:
    """One move per product and warehouse that makes the ledger end where the tables want it, or higher."""
    nets: dict[tuple[str, str], Decimal] = {}
    lowest: dict[tuple[str, str], Decimal] = {}
    for move in sorted(trade.moves, key=lambda each: each.day):
        key = (move.sku, move.warehouse)
        nets[key] = nets.get(key, ZERO) + move.quantity
        lowest[key] = min(lowest.get(key, ZERO), nets[key])
    found = []
    for goods in trade.goods:
        for warehouse, target in (("MAIN", goods.main), ("EAST", goods.east)):
            key = (goods.product.sku, warehouse)
            opening = max(target - nets.get(key, ZERO), -lowest.get(key, ZERO))
            if opening > 0:
                found.append(Move(goods.product.sku, warehouse, opening, "opening", None, OPENING_DAY))
    return found


def on_hand(moves: list[Move]) -> dict[tuple[str, str], Decimal]:
    """What the ledger comes to, by SKU and warehouse."""
    sums: dict[tuple[str, str], Decimal] = {}
    for move in moves:
        key = (move.sku, move.warehouse)
        sums[key] = sums.get(key, ZERO) + move.quantity
    return sums


def reservations(trade: Trade) -> list[tuple[str, int, str, str, Decimal]]:
    """(order number, line, sku, warehouse, base units) held for open sales, oldest promise first."""
    left = on_hand([*opening_moves(trade), *trade.moves])
    is_open = [
        (order, warehouse)
        for order, warehouse in trade.orders
        if order.head.kind == "sale" and order.head.state in ("confirmed", "in_progress")
    ]
    is_open.sort(key=lambda each: (each[0].head.promised or each[0].head.date, each[0].head.number))
    held = []
    for order, warehouse in is_open:
        for line in order.lines:
            key = (line.sku, warehouse)
            take = min(line.open * line.factor, left.get(key, ZERO))
            if take > 0:
                left[key] -= take
                held.append((order.head.number, line.line, line.sku, warehouse, take))
    return held
