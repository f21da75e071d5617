"""A reply that is lost before or after the effect; a wait that is given up; one write from several places at once.

Whatever happens, a key has one effect or none, ``find_by_key`` says which, and sending it again is safe.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from decimal import Decimal

import pytest

from erpilot.shop.backend import (
    Adjustment,
    Capability,
    CustomerDraft,
    ErpBackend,
    LineWanted,
    OrderDraft,
    OrderFilter,
    QuotationDraft,
    TransferLine,
    Write,
    Written,
)
from erpilot.shop.errors import Conflict, Refused
from erpilot.shop.values import Money
from erpilot.shop.verbs.money import PaymentDraft
from tests.support.erp_cases import level, pieces, quotation, sale
from tests.support.erp_world import Goods, World, fresh, refused, write

Send = Callable[[ErpBackend, Write], Awaitable[Written]]
Count = Callable[[], Awaitable[Decimal | int]]
STOCK = Goods(cost=None, stock={"main": Decimal(120), "second": Decimal(10)})


async def _prepared(world: World, verb: Capability) -> tuple[Send, Write, Count]:
    """How to send a write of that verb, with which key and version, and a figure that one effect changes once."""
    product, customer = await world.product(STOCK), await world.customer()
    key, lines = fresh("key-"), (LineWanted(product.sku, pieces(2)),)

    async def documents() -> int:
        return (await world.backend.list_orders(OrderFilter(party_id=customer.id))).total_count

    async def there() -> Decimal:
        return (await level(world, product)).on_hand

    async def held() -> Decimal:
        return (await level(world, product)).reserved

    match verb:
        case "create_quotation":
            draft = QuotationDraft(customer.id, lines, Decimal(0), 7)
            return (lambda b, w: b.create_quotation(draft, write=w)), write(key=key), documents
        case "create_order":
            wanted = OrderDraft(customer.id, lines)
            return (lambda b, w: b.create_order(wanted, write=w)), write(key=key), documents
        case "confirm_quotation":
            head = (await quotation(world, customer, (product, pieces(2)))).order.head
            return (lambda b, w: b.confirm_quotation(head.number, write=w)), write(head.version, key=key), held
        case "deliver_order":
            head = (await sale(world, customer, (product, pieces(2)))).head
            return (lambda b, w: b.deliver_order(head.number, (), write=w)), write(head.version, key=key), there
        case "cancel_order":
            head = (await sale(world, customer, (product, pieces(2)))).head
            return (
                (lambda b, w: b.cancel_order(head.number, reason="x", write=w)), write(head.version, key=key), held
            )  # fmt: skip
        case "adjust_stock":
            change = Adjustment(product.sku, world.main, "change", pieces(-3), pieces(120))
            return (lambda b, w: b.adjust_stock([change], reason="x", write=w)), write(key=key), there
        case "transfer_stock":
            moved = [TransferLine(product.sku, pieces(3))]
            return (
                (lambda b, w: b.transfer_stock(moved, source=world.main, target=world.second, write=w)),
                write(key=key),
                there,
            )
        case "record_payment":
            paid = PaymentDraft(customer.id, Money(Decimal(5), world.currency), "现金")

            async def owed() -> Decimal:
                return (await world.backend.get_account(customer.id)).owed.amount

            return (lambda b, w: b.record_payment(paid, write=w)), write(key=key), owed
    new = CustomerDraft(fresh("Neukunde"), world.price_list)

    async def customers() -> int:
        found = await world.backend.find_customers(new.name, limit=50)
        return sum(hit.record.name == new.name for hit in found.hits)

    return (lambda b, w: b.create_customer(new, write=w)), write(key=key), customers


VERBS: tuple[Capability, ...] = (
    "create_quotation",
    "create_order",
    "confirm_quotation",
    "deliver_order",
    "cancel_order",
    "adjust_stock",
    "transfer_stock",
    "record_payment",
    "create_customer",
)
every_write = pytest.mark.parametrize("verb", VERBS)


async def _offered(world: World, *verbs: Capability) -> bool:
    """Whether the ERP can do these; what it cannot is refused as documented."""
    capabilities = (await world.backend.whoami()).capabilities
    missing = [verb for verb in verbs if verb not in capabilities]
    for verb in missing:
        await refused(world.backend, verb)
    return not missing


@every_write
async def test_a_write_whose_reply_was_lost_after_the_effect_is_found_and_not_done_again(
    world: World, verb: Capability
) -> None:
    if not await _offered(world, verb):
        return
    send, request, count = await _prepared(world, verb)
    before = await count()
    await send(world.backend, request)  # the reply is dropped
    after = await count()
    assert after != before
    found = await world.backend.find_by_key(request.key)
    assert found is not None
    assert (found.verb, found.key) == (verb, request.key)
    again = await send(world.backend, request)
    assert again.repeated
    assert again.number == found.number
    assert await count() == after


@every_write
async def test_a_write_that_never_arrived_is_not_found_and_can_be_sent(world: World, verb: Capability) -> None:
    if not await _offered(world, verb):
        return
    send, request, count = await _prepared(world, verb)
    before = await count()
    assert await world.backend.find_by_key(request.key) is None
    assert await count() == before
    assert not (await send(world.backend, request)).repeated
    assert await count() != before


@every_write
async def test_one_key_from_several_places_at_once_has_one_effect(world: World, verb: Capability) -> None:
    if not await _offered(world, verb):
        return
    send, request, count = await _prepared(world, verb)
    once = await _once(world, verb)
    before = await count()
    outcomes = await asyncio.gather(
        *(send(each, request) for each in (world.backend, world.person("owner"), world.backend)), return_exceptions=True
    )
    written = [each for each in outcomes if isinstance(each, Written)]
    assert written
    assert {each.number for each in written} == {written[0].number}
    assert sum(not each.repeated for each in written) <= 1
    assert all(isinstance(each, Written | Conflict | Refused) for each in outcomes)
    assert abs(Decimal(await count()) - Decimal(before)) == once


async def _once(world: World, verb: Capability) -> Decimal:
    """How far one effect moves the figure."""
    del world
    return {
        "confirm_quotation": Decimal(2),
        "deliver_order": Decimal(2),
        "cancel_order": Decimal(2),
        "adjust_stock": Decimal(3),
        "transfer_stock": Decimal(3),
        "record_payment": Decimal(5),
    }.get(verb, Decimal(1))


@every_write
async def test_a_wait_that_was_given_up_leaves_an_outcome_that_can_be_found(world: World, verb: Capability) -> None:
    if not await _offered(world, verb):
        return
    send, request, count = await _prepared(world, verb)
    before = await count()
    running = asyncio.ensure_future(send(world.backend, request))
    await asyncio.sleep(0)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    happened = await world.backend.find_by_key(request.key) is not None
    assert (await count() != before) is happened
    again = await send(world.backend, request)
    assert again.repeated is happened
    assert abs(Decimal(await count()) - Decimal(before)) == await _once(world, verb)


@every_write
async def test_a_write_without_the_right_has_no_effect_and_leaves_the_key_free(world: World, verb: Capability) -> None:
    if not await _offered(world, verb):
        return
    send, request, count = await _prepared(world, verb)
    before = await count()
    with pytest.raises(Exception, match="right"):
        await send(world.person(), request)
    assert await count() == before
    assert await world.backend.find_by_key(request.key) is None
    assert not (await send(world.backend, request)).repeated


@pytest.mark.parametrize("verb", ["confirm_quotation", "deliver_order", "cancel_order"])
async def test_a_write_based_on_an_old_version_has_no_effect(world: World, verb: Capability) -> None:
    if not await _offered(world, verb):
        return
    send, request, count = await _prepared(world, verb)
    before = await count()
    with pytest.raises((Conflict, Refused)):
        await send(world.backend, replace(request, version=f"{request.version}0"))
    assert await count() == before
    assert await world.backend.find_by_key(request.key) is None
