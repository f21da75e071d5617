"""Files of customers, suppliers and past orders against those of the shop.

Invariant: a party is the one of that id, or, without an id, of exactly that name; a likeness is never enough.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from decimal import Decimal

from ..backend import CustomerDraft, ErpBackend, FieldChange
from ..catalogue import Product
from ..documents import Customer
from ..errors import Invalid, NotFound
from ..matching import squeezed
from ..pricing import PriceList
from ..values import Money, Quantity
from ..verbs.control import ImportedCustomer, ImportedLine, ImportedOrder
from .fields import Record
from .goods import MOST_NEAR, code_in, far_off, nearest_products, price_list_named, products_of
from .planning import Plan, Reporter
from .reading import Table

AT_ONCE = 20


async def plan_parties(backend: ErpBackend, table: Table) -> Plan:
    """New customers or suppliers, and those that change."""
    plan, report = Plan(table.kind, "set", table.rows, table.problems), Reporter(table)
    lists = await backend.price_lists()
    known, like = await _known(backend, table)
    ids: dict[str, int] = {}
    made: list[ImportedCustomer] = []
    for record, before in zip(table.records, known, strict=True):
        key = str(record.values.get("id") or record.values["name"])
        if (first := ids.setdefault(squeezed(key), record.row)) != record.row:
            report.error(record, "id" if "id" in record.values else "name", "duplicate", key=key, first=first)
            continue
        draft = _draft(record, before, lists, report)
        if draft is None:
            continue
        if before is None:
            plan.new += 1
            plan.show(FieldChange(key, "name", None, draft.name))
            if other := like.get(key):
                report.warning(record, "name", "like_another", text=draft.name, other=other)
        elif _same(before, draft):
            plan.unchanged += 1
            continue
        else:
            plan.changed += 1
            plan.show(_first_change(before, draft))
        made.append(ImportedCustomer(before.id if before else record.values.get("id"), draft))
    plan.parties = made
    return plan


async def _known(backend: ErpBackend, table: Table) -> tuple[list[Customer | None], dict[str, str]]:
    """The party of each record, if it is known; what is much like one that is not, by its id or name."""
    find = backend.find_customers if table.kind == "customers" else backend.find_suppliers
    cache: dict[str, Customer | None] = {}
    like: dict[str, str] = {}

    async def look(text: str) -> None:
        asked = squeezed(text)
        hits = (await find(text, limit=5)).hits
        same = [hit.record for hit in hits if asked in map(squeezed, (hit.record.id, hit.record.name))]
        cache[text] = same[0] if len(same) == 1 or (same and squeezed(same[0].id) == asked) else None
        if cache[text] is None and (near := _much_like(asked, [hit.record for hit in hits])):
            like[text] = f"{near.id} {near.name}"

    texts = list(dict.fromkeys(str(record.values.get("id") or record.values["name"]) for record in table.records))
    for at in range(0, len(texts), AT_ONCE):
        await asyncio.gather(*(look(text) for text in texts[at : at + AT_ONCE]))
    found = []
    for record in table.records:
        id_ = record.values.get("id")
        party = cache[str(id_ or record.values["name"])]
        # an id decides: one that no party has is a new one, also where another party has it for a name
        found.append(None if id_ and party and squeezed(party.id) != squeezed(str(id_)) else party)
    return found, like


def _much_like(asked: str, parties: Sequence[Customer]) -> Customer | None:
    """The first of which one name holds the other: 鑫源商行 and 鑫源商行有限公司."""
    for party in parties:
        for name in map(squeezed, (party.name, *party.short_names)):
            if min(len(asked), len(name)) >= 3 and (asked in name or name in asked):
                return party
    return None


def _draft(
    record: Record, before: Customer | None, lists: Sequence[PriceList], report: Reporter
) -> CustomerDraft | None:
    values = record.values
    chosen = price_list_named(lists, values.get("price_list") or (before.price_list if before else None))
    if chosen is None:
        names = ", ".join(each.name for each in lists)
        report.error(record, "price_list", "unknown_price_list", text=values["price_list"], known=names)
        return None
    contact = " ".join(str(values[name]) for name in ("contact", "phone") if name in values)
    limit = before.credit_limit if before else None
    if not report.in_currency(record, chosen.currency, "credit_limit"):
        return None
    if "credit_limit" in values:
        limit = Money(values["credit_limit"], chosen.currency)
    terms = int(values.get("terms", before.terms if before else 0))
    if terms > 365:
        report.error(record, "terms", "too_much", field="terms", text=terms)
        return None
    short = tuple(filter(None, (values.get("short_name"),)))
    return CustomerDraft(
        name=values["name"],
        price_list=chosen.code,
        short_names=tuple(dict.fromkeys((*(before.short_names if before else ()), *short))),
        terms=terms,
        credit_limit=limit,
        contact=contact or (before.contact if before else None),
        city=values.get("city", before.city if before else None),
    )


_SHOWN_FIELDS = ("name", "price_list", "terms", "credit_limit", "contact", "city")


def _first_change(before: Customer, draft: CustomerDraft) -> FieldChange:
    """What a person is shown of a party that changes."""
    for name in _SHOWN_FIELDS:
        if getattr(before, name) != getattr(draft, name):
            return FieldChange(before.id, name, getattr(before, name), getattr(draft, name))
    return FieldChange(before.id, "short_names", ";".join(before.short_names), ";".join(draft.short_names))


def _same(before: Customer, draft: CustomerDraft) -> bool:
    return (
        before.name == draft.name
        and before.price_list == draft.price_list
        and before.short_names == draft.short_names
        and before.terms == draft.terms
        and before.credit_limit == draft.credit_limit
        and before.contact == draft.contact
        and before.city == draft.city
    )


async def plan_orders(backend: ErpBackend, table: Table) -> Plan:
    """Past sales, line by line; an order with an error in one line is left out whole."""
    plan, report = Plan("orders", "set", table.rows, table.problems), Reporter(table)
    known = await products_of(backend, (code_in(record) for record in table.records))
    near = await nearest_products(backend, table.records, known)
    customers, like = await _customers(backend, table)
    today = backend.now().date()
    grouped: dict[str, list[tuple[Record, ImportedLine]]] = {}
    bad: dict[str, None] = {}
    for record in table.records:
        number = record.values["number"]
        grouped.setdefault(number, [])
        customer = customers[record.values["customer"]]
        line = _line(record, known.get(code_in(record)), customer, near, report)
        if customer is None:
            named = record.values["customer"]
            report.error(record, "customer", "unknown_customer", text=named, nearest=like.get(named, ""))
        elif record.values["date"] > today:
            report.error(record, "date", "in_future", text=record.values["date"])
        if line is None or customer is None or record.values["date"] > today:
            bad[number] = None
            continue
        grouped[number].append((record, line))
    taken = await _taken(backend, [number for number in grouped if number not in bad])
    made = []
    for number, lines in grouped.items():
        if number in bad or not lines or not _consistent(number, lines, report):
            continue
        first = lines[0][0]
        if number in taken:
            report.warning(first, "number", "order_exists", text=number)
            plan.unchanged += len(lines)
            continue
        customer = customers[first.values["customer"]]
        assert customer is not None, "an order with an unknown customer is left out"
        order = ImportedOrder(number, customer.id, first.values["date"], tuple(line for _, line in lines))
        plan.new += len(lines)
        plan.add_to("orders", Decimal(1))
        for _, line in lines:
            plan.add_to("quantity", line.quantity.value)
            plan.add_to("amount", line.quantity.value * line.unit_price * (100 - line.discount) / 100)
        plan.show(FieldChange(number, "customer", None, customer.name))
        made.append(order)
    plan.orders = made
    return plan


def _line(
    record: Record, product: Product | None, customer: Customer | None, near: Mapping[str, str], report: Reporter
) -> ImportedLine | None:
    if product is None:
        report.error(record, "sku", "unknown_product", text=code_in(record), nearest=near.get(code_in(record), ""))
        return None
    if customer is not None and not report.in_currency(record, customer.currency, "unit_price"):
        return None
    value = record.values["quantity"]
    said = (record.units or {}).get("quantity") or record.values.get("unit")
    if not value:
        report.error(record, "quantity", "zero", field="quantity")
        return None
    try:
        quantity = product.quantity(value, said)
    except Invalid:
        units = ", ".join(each.name for each in product.units)
        report.error(record, "quantity", "unknown_unit", sku=product.sku, text=f"{value} {said or ''}", known=units)
        return None
    discount = record.values.get("discount", Decimal(0)) * 100
    if customer is not None and customer.currency == product.currency:
        price = product.list_price * product.unit(quantity.unit).factor
        far_off(report, record, "unit_price", price, record.values["unit_price"])
    return ImportedLine(product.sku, Quantity(quantity.value, quantity.unit), record.values["unit_price"], discount)


def _consistent(number: str, lines: Sequence[tuple[Record, ImportedLine]], report: Reporter) -> bool:
    first = lines[0][0]
    for record, _ in lines[1:]:
        for name in ("customer", "date"):
            if record.values[name] != first.values[name]:
                report.error(record, name, "order_differs", text=number, field=name, first=first.row)
                return False
    return True


async def _customers(backend: ErpBackend, table: Table) -> tuple[dict[str, Customer | None], dict[str, str]]:
    """The customer of each name, if there is exactly one; what is near those that nobody has."""
    found: dict[str, Customer | None] = {}
    near: dict[str, str] = {}

    async def look(text: str) -> None:
        hits = (await backend.find_customers(text, limit=5)).hits
        asked = squeezed(text)
        same = [
            hit.record
            for hit in hits
            if asked in map(squeezed, (hit.record.id, hit.record.name, *hit.record.short_names))
        ]
        found[text] = same[0] if len(same) == 1 or (same and squeezed(same[0].id) == asked) else None
        if found[text] is None and hits and len(near) < MOST_NEAR:
            near[text] = " → " + ", ".join(f"{hit.record.id} {hit.record.name}" for hit in hits[:2]) + "?"

    texts = list(dict.fromkeys(record.values["customer"] for record in table.records))
    for at in range(0, len(texts), AT_ONCE):
        await asyncio.gather(*(look(text) for text in texts[at : at + AT_ONCE]))
    return found, near


async def _taken(backend: ErpBackend, numbers: Sequence[str]) -> set[str]:
    """Of the numbers, those that the shop has."""
    taken: set[str] = set()

    async def look(number: str) -> None:
        try:
            order = await backend.get_order(number, "sale")
        except NotFound:
            return
        if order.head.number == number:
            taken.add(number)

    for at in range(0, len(numbers), AT_ONCE):
        await asyncio.gather(*(look(number) for number in numbers[at : at + AT_ONCE]))
    return taken
