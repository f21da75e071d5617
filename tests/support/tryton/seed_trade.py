"""Trade of the example shop in Tryton: stock, sales in every state, parcels, invoices, payments, purchases.

Invariant: the documents that the documentation speaks of (order 123, quotation Q-1008, yesterday's parcel of 鑫源, cola
on the way) are among them under their own numbers; of the rest, one in twenty-four, so that it takes minutes less.
Dates never lie after the day the database is made, but for what is promised.
"""

from __future__ import annotations

import datetime as dt
import hashlib
from collections import defaultdict
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from erpilot.shop.documents import Order
from erpilot.shop.seed.history import FEATURED
from erpilot.shop.seed.stocktake import reservations
from erpilot.shop.seed.trade import Trade

from .seed_goods import without_tax

if TYPE_CHECKING:
    from .seed import Books

SAMPLE = 24
ALWAYS = frozenset({"SO-2026-0123", "SO-2026-0160", "Q-1008", "PO-2026-0045", "PO-2026-0046"})
UNPAID_DAYS = 45


async def happened(books: Books, orders: list[Order]) -> None:
    """Everything, in the order in which a shop would do it."""
    await _stock(books, orders)
    books.step(f"{len(orders)} documents")
    ids = await _sales(books, [each for each in orders if each.head.kind in ("sale", "quotation")])
    await _purchases(books, [each for each in orders if each.head.kind == "purchase"])
    await _shipped(books, orders, ids)
    await _invoiced(books, orders, ids)
    await books.rpc.act("model.product.template.write", await _discontinued(books), {"salable": False})


def chosen(trade: Trade) -> list[Order]:
    """Documents of the example shop that are taken over, oldest first."""
    everything = [order for order, _ in trade.orders if order.head.kind != "return"]
    kept = [
        order
        for at, order in enumerate(everything)
        if at % SAMPLE == 0 or order.head.number in ALWAYS or order.head.state in ("confirmed", "in_progress")
    ]
    return sorted(kept, key=lambda order: (order.head.date, order.head.number))


async def _stock(books: Books, orders: list[Order]) -> None:
    """What is there today plus what the sales that are taken over will ship."""
    wanted: dict[tuple[str, str], Decimal] = {}
    for each in books.goods:
        wanted[each.product.sku, "MAIN"] = each.main
        wanted[each.product.sku, "EAST"] = each.east
    for order in orders:
        if order.head.kind == "sale":
            for line in order.lines:
                wanted[line.sku, order.warehouse] += line.delivered * line.factor
    day = books.trade.today - dt.timedelta(days=720)
    for code, storage in books.storage.items():
        lines = [
            {"product": books.product[sku], "quantity": float(quantity)}
            for (sku, place), quantity in wanted.items()
            if place == code and quantity > 0
        ]
        count = {"company": books.company, "location": storage, "date": day, "empty_quantity": "keep"}
        ids = await books.create("stock.inventory", [{**count, "lines": [("create", lines)]}])
        await books.press("stock.inventory", "confirm", ids)


async def _sales(books: Books, orders: list[Order]) -> dict[str, int]:
    ids = await books.create("sale.sale", [_sale(books, each) for each in orders])
    by_number = {each.head.number: made for each, made in zip(orders, ids, strict=True)}
    sequence = await books.one("ir.sequence", ("sequence_type.name", "=", "Sale"))
    moving: list[int] = []
    # Sales first: a quotation that waits makes the server warn of what it might take.
    for order in sorted(orders, key=lambda each: each.head.kind != "sale"):
        if order.head.kind == "sale" and order.head.state == "draft":
            continue
        # Nobody can write a number, so the sequence is led to it.
        prefix, serial = order.head.number.rsplit("-", 1)
        settings = {"prefix": f"{prefix}-", "padding": len(serial), "number_next": int(serial)}
        await books.rpc.act("model.ir.sequence.write", [sequence], settings)
        if order.head.state != "draft":
            await books.press("sale.sale", "quote", [by_number[order.head.number]])
        if order.head.kind == "sale" and order.head.state in ("confirmed", "in_progress", "done"):
            # One by one: a warning takes back everything that was pressed with it.
            await books.press("sale.sale", "confirm", [by_number[order.head.number]])
            moving.append(by_number[order.head.number])
    last = {"prefix": f"SO-{books.trade.today.year}-", "padding": 4, "number_next": 5001}
    await books.rpc.act("model.ir.sequence.write", [sequence], last)
    cancelled = [by_number[each.head.number] for each in orders if each.head.state == "cancelled"]
    await books.press("sale.sale", "cancel", cancelled)
    await books.press("sale.sale", "process", moving)
    books.step("quoted and confirmed")
    return by_number


def _sale(books: Books, order: Order) -> dict[str, Any]:
    head, party = order.head, books.party[order.head.party_id]
    customer = books.trade.customer[head.party_id]
    record: dict[str, Any] = {
        "company": books.company,
        "party": party,
        "currency": books.currency[head.total.currency],
        "warehouse": books.warehouse[order.warehouse],
        "payment_term": books.term[customer.terms],
        "invoice_address": books.address[party],
        "shipment_address": books.address[party],
        "invoice_method": "fulfillment" if head.state == "in_progress" else "order",
        "shipment_method": "order",
        "quotation_date": head.date,
        "comment": order.note or "",
        "lines": [("create", [_line(books, order, at) for at in range(len(order.lines))])],
    }
    if order.valid_until:
        record["quotation_validity"] = max(order.valid_until - head.date, dt.timedelta())
    if head.promised:
        record["shipping_date"] = head.promised
    if head.kind == "sale" and head.state != "draft":
        record["sale_date"] = head.date
    return record


def _line(books: Books, order: Order, at: int) -> dict[str, Any]:
    line = order.lines[at]
    product = books.trade.by_sku[line.sku].product
    base = without_tax(product, line.unit_price) if order.tax_included else line.unit_price
    record: dict[str, Any] = {
        "sequence": at + 1,
        "type": "line",
        "product": books.product[line.sku],
        "unit": books.unit[line.sku, line.unit],
        "quantity": float(line.ordered),
        "unit_price": (base * (100 - line.discount) / 100).quantize(Decimal("0.0001")),
        "taxes": [("add", [books.tax[product.tax_rate]])] if line.tax_rate else [],
    }
    if order.head.kind != "purchase":
        record["base_price"] = base
    return record


async def _shipped(books: Books, orders: list[Order], ids: dict[str, int]) -> None:
    by_id = {ids[each.head.number]: each for each in orders if each.head.number in ids}
    packed: list[int] = []
    for sale in await books.find("sale.sale", [("id", "in", list(by_id))], "shipments"):
        order = by_id[sale["id"]]
        if order.deliveries:
            for shipment in sale["shipments"]:
                await _pack(books, order, shipment)
                packed.append(shipment)
    for button in ("assign_force", "pick", "pack", "ship", "do"):
        await books.press("stock.shipment.out", button, packed)
    held = {number for number, *_ in reservations(books.trade)} & set(ids)
    for sale in await books.find("sale.sale", [("id", "in", [ids[number] for number in held])], "shipments"):
        waiting = await books.find("stock.shipment.out", [("id", "in", sale["shipments"]), ("state", "=", "waiting")])
        for each in waiting:
            await books.rpc.act("model.stock.shipment.out.assign_try", [each["id"]])
    books.step("shipped")


async def _pack(books: Books, order: Order, shipment: int) -> None:
    """The parcel of an order; what it does not hold stays open."""
    parcel = order.deliveries[0]
    moves = await books.find(
        "stock.move",
        [("shipment", "=", f"stock.shipment.out,{shipment}"), ("to_location.type", "=", "customer")],
        "product.code",
        "quantity",
        "unit",
    )
    sent = {sku: quantity for sku, quantity, _ in parcel.lines}
    changes: list[Any] = []
    for move in moves:
        quantity = sent.get(move["product."]["code"], Decimal(0))
        if not quantity:
            changes.append(("delete", [move["id"]]))
        elif quantity != move["quantity"]:
            changes.append(("write", [move["id"]], {"quantity": float(quantity)}))
    record: dict[str, Any] = {"effective_date": min(parcel.date, books.trade.today)}
    if parcel.tracking:
        record["reference"] = f"{parcel.carrier} {parcel.tracking}"
    if changes:
        await books.rpc.act("model.stock.shipment.out.draft", [shipment])
        record["outgoing_moves"] = changes
    await books.rpc.act("model.stock.shipment.out.write", [shipment], record)
    if changes:
        await books.press("stock.shipment.out", "wait", [shipment])


async def _invoiced(books: Books, orders: list[Order], ids: dict[str, int]) -> None:
    """Posts the invoices of finished sales; those older than some weeks are paid."""
    finished = {ids[each.head.number]: each for each in orders if each.head.number in ids and each.deliveries}
    await books.press("sale.sale", "process", sorted(finished))
    dated: dict[dt.date, list[int]] = defaultdict(list)
    for sale in await books.find("sale.sale", [("id", "in", list(finished))], "invoices"):
        for invoice in sale["invoices"]:
            dated[finished[sale["id"]].head.date].append(invoice)
    arguments: list[Any] = []
    for day, invoices in dated.items():
        arguments += [invoices, {"invoice_date": day, "accounting_date": day}]
    await books.rpc.act("model.account.invoice.write", *arguments)
    everything = [invoice for invoices in dated.values() for invoice in invoices]
    # Posting warns of every payment day that is past, one at a time; what is skipped beforehand is not warned of.
    await books.create(
        "res.user.warning",
        [
            {
                "user": books.rpc.user_id,
                "always": False,
                "name": f"{hashlib.md5(f'account.invoice,{each}'.encode()).hexdigest()}.invoice_payment_term",
            }
            for each in everything
        ],
    )
    await books.press("account.invoice", "post", everything)
    books.step("invoiced")
    cash = await books.one("account.invoice.payment.method")
    old = [
        invoice
        for day, invoices in dated.items()
        for invoice in invoices
        if (books.trade.today - day).days > UNPAID_DAYS
    ]
    rows = await books.find(
        "account.invoice", [("id", "in", old)], "party", "total_amount", "account", "currency", "invoice_date"
    )
    for row in rows:
        start = {
            "payee": row["party"],
            "payees": [row["party"]],
            "company": books.company,
            "currency": row["currency"],
            "amount": row["total_amount"],
            "invoice_account": row["account"],
            "payment_method": cash,
            "date": row["invoice_date"] + dt.timedelta(days=15),
        }
        where = {"active_model": "account.invoice", "active_id": row["id"], "active_ids": [row["id"]]}
        await books.wizard("account.invoice.pay", ("choice", {"start": start}), **where)
    await books.rpc.act("model.account.invoice.process", [row["id"] for row in rows])
    await books.press("sale.sale", "process", sorted(finished))
    books.step("paid")


async def _purchases(books: Books, orders: list[Order]) -> None:
    """Those still on the way or not confirmed; what came in long ago is in the stock already."""
    orders = [each for each in orders if each.head.state in ("confirmed", "in_progress", "quoted", "draft")]
    records = []
    for order in orders:
        party = books.party[order.head.party_id]
        records.append(
            {
                "company": books.company,
                "party": party,
                "currency": books.currency[order.head.total.currency],
                "warehouse": books.warehouse[order.warehouse],
                "invoice_address": books.address[party],
                "invoice_method": "fulfillment",
                "purchase_date": order.head.date if order.head.state != "draft" else None,
                "delivery_date": order.head.promised,
                "lines": [("create", [_line(books, order, at) for at in range(len(order.lines))])],
            }
        )
    ids = await books.create("purchase.purchase", records)
    sequence = await books.one("ir.sequence", ("sequence_type.name", "=", "Purchase"))
    for order, made in zip(orders, ids, strict=True):
        if order.head.state == "draft":
            continue
        prefix, serial = order.head.number.rsplit("-", 1)
        settings = {"prefix": f"{prefix}-", "padding": len(serial), "number_next": int(serial)}
        await books.rpc.act("model.ir.sequence.write", [sequence], settings)
        await books.press("purchase.purchase", "quote", [made])
        if order.head.state != "quoted":
            await books.press("purchase.purchase", "confirm", [made])
            await books.press("purchase.purchase", "process", [made])
    settings = {"number_next": 5001}
    await books.rpc.act("model.ir.sequence.write", [sequence], settings)
    books.step("purchases")


async def _discontinued(books: Books) -> list[int]:
    gone = [each.product.sku for each in books.goods if not each.product.active and each.product.sku not in FEATURED]
    rows = await books.find("product.product", [("code", "in", gone)], "template")
    return [row["template"] for row in rows]
