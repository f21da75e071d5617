"""T4 and A4 of the fault catalogue on Tryton: writes when answers are lost, come late, or the server dies, and a yes to
what somebody else has changed: one effect, or it is said not to be known.

For each verb that writes, requests that it makes are lost before or after they had their effect, or answered too late.
Whatever comes of that: it is no false "done", ``find_by_key`` agrees with what the server holds, and the same request
with the same key ends in exactly one effect.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest

from agent_core import events as ev
from agent_core.loop import AgentLoop
from erpilot.shop.backend import Adjustment, LineWanted, OrderFilter, QuotationDraft, Write, Written
from erpilot.shop.catalogue import Product
from erpilot.shop.documents import Customer
from erpilot.shop.errors import Conflict, Denied, Refused, ShopError, Unauthenticated, Unavailable, UnknownOutcome
from erpilot.shop.tryton.rpc import Rpc
from erpilot.shop.tryton.shop import TrytonShop
from erpilot.toolsets.shop import shop_tools
from tests.integration.shop.test_writes_of_tools import approved
from tests.support.erp_cases import level, pieces, quotation, sale
from tests.support.erp_world import Goods, OpenWorld, World, fresh, write
from tests.support.faulty_proxy import Fault, FaultyProxy, Kind
from tests.support.loops import collect, end_of, loop_over, of_type
from tests.support.tryton.people import password
from tests.support.tryton.server import TrytonServer

STOCK = Goods(stock={"main": Decimal(50)})
PATIENCE = 120.0
"""Seconds: a slow machine is no lost answer."""
IMPATIENCE = 3.0


@dataclass(frozen=True)
class Scene:
    """A world, a proxy before its server, and the owner's shop through that proxy."""

    world: World
    proxy: FaultyProxy
    shop: TrytonShop


Attempt = Callable[[Write], Awaitable[Written]]
Effects = Callable[[], Awaitable[Decimal]]
Prepared = tuple[Attempt, Effects, str | None]
"""The write, how many effects it has had, and the version it is based on."""


@pytest.fixture
async def scene(tryton: TrytonServer, tryton_world: OpenWorld) -> AsyncIterator[Scene]:
    """Everything ready, nothing broken yet."""
    async with tryton_world() as world, FaultyProxy(tryton.port) as proxy:
        rpc = Rpc(proxy.url, tryton.database, "owner", password("owner"), timeout=PATIENCE)
        shop = TrytonShop(rpc)
        await shop.connect()
        yield Scene(world, proxy, shop)
        await shop.aclose()


async def _goods(scene: Scene) -> tuple[Product, Customer]:
    return await scene.world.product(STOCK), await scene.world.customer()


async def quoting(scene: Scene) -> Prepared:
    """A quotation; its effect is a quotation of the customer that has a number."""
    product, customer = await _goods(scene)
    draft = QuotationDraft(customer.id, (LineWanted(product.sku, pieces(2)),), Decimal(0), 7)

    async def effects() -> Decimal:
        page = await scene.world.backend.list_orders(OrderFilter(party_id=customer.id))
        assert all(each.state in ("draft", "quoted") for each in page.orders)
        return Decimal(sum(each.state == "quoted" for each in page.orders))

    return lambda write: scene.shop.create_quotation(draft, write=write), effects, None


async def confirming(scene: Scene) -> Prepared:
    """A confirmation; its effect is what is owed of the product, two pieces."""
    product, customer = await _goods(scene)
    quoted = (await quotation(scene.world, customer, (product, pieces(2)))).order

    async def effects() -> Decimal:
        now = await level(scene.world, product)
        return (now.reserved + now.waiting) / 2

    number = quoted.head.number
    return lambda write: scene.shop.confirm_quotation(number, write=write), effects, quoted.head.version


async def cancelling(scene: Scene) -> Prepared:
    """A cancellation of an order; its effect is that nothing of it is held any more."""
    product, customer = await _goods(scene)
    order = await sale(scene.world, customer, (product, pieces(2)))
    number = order.head.number

    async def effects() -> Decimal:
        now = await scene.world.backend.get_order(number)
        return Decimal(now.head.state == "cancelled")

    return lambda write: scene.shop.cancel_order(number, reason="fire", write=write), effects, order.head.version


async def delivering(scene: Scene) -> Prepared:
    """A delivery; its effect is what is missing on hand, two pieces."""
    product, customer = await _goods(scene)
    order = await sale(scene.world, customer, (product, pieces(2)))
    number = order.head.number

    async def effects() -> Decimal:
        return (50 - (await level(scene.world, product)).on_hand) / 2

    return lambda write: scene.shop.deliver_order(number, (), write=write), effects, order.head.version


async def counting(scene: Scene) -> Prepared:
    """A correction by three pieces; its effect is what is missing on hand."""
    product = await scene.world.product(STOCK)
    change = Adjustment(product.sku, scene.world.main, "change", pieces(-3), pieces(50))

    async def effects() -> Decimal:
        return (50 - (await level(scene.world, product)).on_hand) / 3

    return lambda write: scene.shop.adjust_stock([change], reason="fire", write=write), effects, None


STEPS: list[tuple[Callable[[Scene], Awaitable[Prepared]], str, Kind]] = [
    (quoting, "sale.sale.create", "before"),
    (quoting, "sale.sale.create", "after"),
    (quoting, "sale.sale.quote", "after"),
    (confirming, "sale.sale.write", "after"),
    (confirming, "sale.sale.confirm", "before"),
    (confirming, "sale.sale.confirm", "after"),
    (cancelling, "sale.handle.shipment.exception.execute", "before"),
    (delivering, "stock.shipment.out.pick", "after"),
    (delivering, "stock.shipment.out.do", "after"),
    (counting, "ir.note.create", "after"),
    (counting, "stock.inventory.confirm", "before"),
    (counting, "stock.inventory.confirm", "after"),
]
"""The requests of each write at which something is at stake; the conformance suite loses whole writes."""


@pytest.mark.parametrize(
    ("prepare", "method", "kind"), STEPS, ids=[f"{each.__name__}-{name}-{kind}" for each, name, kind in STEPS]
)
async def test_t4_a_lost_request_or_answer_leaves_one_effect_or_a_doubt_that_a_repeat_settles(
    scene: Scene, prepare: Callable[[Scene], Awaitable[Prepared]], method: str, kind: Kind
) -> None:
    attempt, effects, version = await prepare(scene)
    request = write(version, key=fresh("fire-"))
    scene.proxy.faults.append(Fault(f'{method}"', kind))
    try:
        first: Written | None = await attempt(request)
    except UnknownOutcome:
        first = None
    assert scene.proxy.faults == [], "the request that was to be lost was never made"
    happened = await effects()
    if first is not None:
        assert happened == 1, "done was said, and it was not done once"
    told = await scene.world.backend.find_by_key(request.key)
    assert (told is not None) == (happened == 1)
    again = await attempt(request)
    assert await effects() == 1
    found = await scene.world.backend.find_by_key(request.key)
    assert found is not None
    assert (found.number, found.verb) == (again.number, again.verb)
    if told is not None:
        assert again.repeated


@pytest.mark.parametrize(("prepare", "method"), [(quoting, "sale.sale.create"), (counting, "stock.inventory.confirm")])
async def test_t4_an_answer_that_comes_too_late_is_a_doubt_that_a_repeat_settles(
    scene: Scene, prepare: Callable[[Scene], Awaitable[Prepared]], method: str
) -> None:
    rpc = Rpc(scene.proxy.url, scene.shop.rpc.database, "owner", password("owner"), timeout=IMPATIENCE)
    hasty = TrytonShop(rpc)
    attempt, effects, version = await prepare(Scene(scene.world, scene.proxy, hasty))
    request = write(version, key=fresh("fire-"))
    scene.proxy.faults.append(Fault(f'{method}"', "late"))
    for _ in range(50):  # on a slow machine it may lose patience with something else first
        with suppress(ShopError):
            await attempt(request)
        if not scene.proxy.faults:
            break
    rpc._timeout = PATIENCE
    await hasty.rpc.close()
    await attempt(request)
    assert await effects() == 1
    await hasty.aclose()


@pytest.mark.parametrize(
    ("prepare", "method"),
    [(quoting, "sale.sale.create"), (confirming, "sale.sale.confirm")],
)
async def test_t4_a_server_that_dies_in_the_middle_of_a_write_leaves_one_effect_or_none(
    scene: Scene, tryton: TrytonServer, prepare: Callable[[Scene], Awaitable[Prepared]], method: str
) -> None:
    attempt, effects, version = await prepare(scene)

    async def die() -> None:
        await asyncio.to_thread(tryton.kill)

    request = write(version, key=fresh("fire-"))
    scene.proxy.faults.append(Fault(f'{method}"', "after", die))
    try:
        with pytest.raises((UnknownOutcome, Unavailable)):
            await attempt(request)
    finally:
        await asyncio.to_thread(tryton.start)
    assert await effects() in (0, 1)
    done = await attempt(request)
    assert await effects() == 1
    assert (await scene.world.backend.find_by_key(request.key) or done).number == done.number


async def test_a_server_that_cannot_be_reached_is_said_to_be_so_and_nothing_is_changed(scene: Scene) -> None:
    attempt, effects, _ = await quoting(scene)
    gone = TrytonShop(Rpc("http://127.0.0.1:9", "shop", "owner", "x", timeout=PATIENCE))
    with pytest.raises(Unavailable) as caught:
        await gone.whoami()
    assert "nothing was changed" in caught.value.message
    await gone.aclose()
    await attempt(write())
    assert await effects() == 1


async def test_a_wrong_password_is_said_without_the_password(tryton: TrytonServer) -> None:
    shop = TrytonShop(Rpc(tryton.url, tryton.database, "viewer", "a-wrong-one", timeout=PATIENCE))
    with pytest.raises(Unauthenticated) as caught:
        await shop.whoami()
    assert "viewer" in caught.value.message
    assert "a-wrong-one" not in f"{caught.value.message} {caught.value.hint}"
    await shop.aclose()


async def test_of_two_processes_with_one_key_one_makes_the_quotation_and_both_name_it(
    scene: Scene, tryton: TrytonServer
) -> None:
    product, customer = await _goods(scene)
    draft = QuotationDraft(customer.id, (LineWanted(product.sku, pieces(2)),), Decimal(0), 7)
    request = write(key=fresh("fire-"))

    async def alone() -> str:
        # An event loop of its own shares no lock with the others, as another process would not.
        shop = TrytonShop(Rpc(tryton.url, tryton.database, "owner", password("owner")))
        try:
            return (await shop.create_quotation(draft, write=request)).number
        finally:
            await shop.aclose()

    outcomes = await asyncio.gather(
        *(asyncio.to_thread(asyncio.run, alone()) for _ in range(2)), return_exceptions=True
    )
    assert all(isinstance(each, str | ShopError) for each in outcomes)
    numbers = {each for each in outcomes if isinstance(each, str)}
    again = await scene.shop.create_quotation(draft, write=request)
    assert numbers <= {again.number}
    page = await scene.world.backend.list_orders(OrderFilter(party_id=customer.id))
    assert [(each.number, each.state) for each in page.orders] == [(again.number, "quoted")]


async def test_of_one_who_confirms_and_one_who_cancels_at_once_one_is_done(scene: Scene) -> None:
    product, customer = await _goods(scene)
    quoted = (await quotation(scene.world, customer, (product, pieces(2)))).order
    number, version = quoted.head.number, quoted.head.version
    outcomes = await asyncio.gather(
        scene.shop.confirm_quotation(number, write=write(version)),
        scene.world.person("owner").cancel_order(number, reason="fire", write=write(version)),
        return_exceptions=True,
    )
    assert sorted(isinstance(each, Written) for each in outcomes) == [False, True]
    assert all(isinstance(each, Written | Refused | Conflict) for each in outcomes)
    (done,) = [each for each in outcomes if isinstance(each, Written)]
    now = await scene.world.backend.get_order(number)
    assert now.head.state == done.order.head.state


async def test_somebody_who_only_reads_is_told_the_right_that_is_missing(scene: Scene) -> None:
    product, customer = await _goods(scene)
    draft = QuotationDraft(customer.id, (LineWanted(product.sku, pieces(2)),), Decimal(0), 7)
    shop = TrytonShop(Rpc(scene.shop.rpc.address, scene.shop.rpc.database, "viewer", password("viewer")))
    with pytest.raises(Denied) as caught:
        await shop.create_quotation(draft, write=write())
    assert caught.value.right == "sell"
    await shop.aclose()
    assert (await scene.world.backend.list_orders(OrderFilter(party_id=customer.id))).total_count == 0


# --- through the tools, as a conversation makes the calls


def _called(scene: Scene, call: tuple[str, dict[str, Any]]) -> AgentLoop:
    loop, _ = loop_over([call], "done", tools=shop_tools(scene.shop))
    return loop


async def _quotations(scene: Scene, customer: Customer) -> int:
    page = await scene.world.backend.list_orders(OrderFilter(party_id=customer.id))
    return sum(each.state == "quoted" for each in page.orders)


@pytest.mark.parametrize(("method", "kind"), [("sale.sale.create", "before"), ("sale.sale.quote", "after")])
async def test_t4_a_call_whose_request_or_answer_is_lost_ends_done_once_or_uncertain(
    scene: Scene, method: str, kind: Kind
) -> None:
    product, customer = await _goods(scene)
    call = ("create_quotation", {"customer": customer.id, "lines": [{"sku": product.sku, "qty": "2"}]})
    scene.proxy.faults.append(Fault(f'{method}"', kind))
    items = await approved(_called(scene, call))
    assert scene.proxy.faults == []
    made = await _quotations(scene, customer)
    resolved = [each.outcome for each in of_type(items, ev.OutcomeResolved)]
    ended = of_type(items, ev.ToolCallFinished)[-1]
    if ended.ok or resolved == ["happened"]:
        assert made == 1
    else:
        assert ended.error is not None
        assert ended.error.type == "uncertain"
        assert end_of([items[-1]]).reason == "awaiting_approval", "a person is asked, and nobody says done"
        assert made <= 1


async def test_t4_a_server_that_dies_under_a_call_and_stays_away_leaves_a_doubt_that_a_person_is_asked_about(
    scene: Scene, tryton: TrytonServer
) -> None:
    product, customer = await _goods(scene)
    call = ("create_quotation", {"customer": customer.id, "lines": [{"sku": product.sku, "qty": "2"}]})
    died = asyncio.Event()

    async def die() -> None:
        await asyncio.to_thread(tryton.kill)
        died.set()

    scene.proxy.faults.append(Fault('sale.sale.create"', "after", die))
    loop = _called(scene, call)
    try:
        items = await approved(loop)
        assert died.is_set()
        (ended,) = of_type(items, ev.ToolCallFinished)
        assert ended.error is not None
        assert ended.error.type == "uncertain"
        assert end_of([items[-1]]).reason == "awaiting_approval"
        assert "done" not in [event.content for event in of_type(items, ev.AssistantMessage)]
    finally:
        await asyncio.to_thread(tryton.start)
    await loop.resolve(items[0].session_id, ended.call_id, "send_again", by="boss")
    again = await collect(loop.resume(items[0].session_id))
    assert of_type(again, ev.ToolCallFinished)[-1].ok
    assert await _quotations(scene, customer) == 1


async def _asked(scene: Scene, call: tuple[str, dict[str, Any]]) -> tuple[AgentLoop, str, ev.ApprovalRequested]:
    """A conversation that waits for a yes to a call."""
    loop = _called(scene, call)
    items = await collect(loop.run("go", owner="owner"))
    (asked,) = of_type(items, ev.ApprovalRequested)
    return loop, items[0].session_id, asked


async def test_a4_a_yes_to_a_quotation_that_was_cancelled_meanwhile_confirms_nothing(scene: Scene) -> None:
    product, customer = await _goods(scene)
    head = (await quotation(scene.world, customer, (product, pieces(2)))).order.head
    loop, session, asked = await _asked(scene, ("confirm_quotation", {"number": head.number}))
    await scene.world.backend.cancel_order(head.number, reason="fire", write=write(head.version))
    await loop.decide(session, asked.call_id, approve=True, by="boss")
    items = await collect(loop.resume(session))
    assert not any(each.ok for each in of_type(items, ev.ToolCallFinished))
    assert (await scene.world.backend.get_order(head.number)).head.state == "cancelled"


async def test_a4_a_yes_to_a_correction_of_stock_that_moved_meanwhile_is_asked_for_again(scene: Scene) -> None:
    product = await scene.world.product(STOCK)
    short = {"sku": product.sku, "warehouse": "MAIN", "mode": "change", "qty": "-3", "unit": "个", "reason": "破损"}
    loop, session, asked = await _asked(scene, ("adjust_stock", short))
    other = Adjustment(product.sku, scene.world.main, "change", pieces(-10), pieces(50))
    await scene.world.backend.adjust_stock([other], reason="fire", write=write())
    await loop.decide(session, asked.call_id, approve=True, by="boss")
    items = await collect(loop.resume(session))
    (again,) = of_type(items, ev.ApprovalRequested)
    assert (again.why, again.digest) == ("changed", asked.digest)
    assert again.versions != asked.versions, "a fresh preview"
    assert (await level(scene.world, product)).on_hand == 40, "nothing ran"
    await loop.decide(session, again.call_id, approve=True, by="boss")
    assert end_of(await collect(loop.resume(session))).completed
    assert (await level(scene.world, product)).on_hand == 37
