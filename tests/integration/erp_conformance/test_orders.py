"""Orders: from a quotation or at once; listed with totals over all; confirmed once, whoever tries."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from decimal import Decimal

import pytest

from erpilot.shop.backend import LineWanted, OrderDraft, OrderFilter, Written
from erpilot.shop.errors import Conflict, Denied, Invalid, NeedsConfirmation, NotFound, Refused
from tests.support.erp_cases import cases, delivered, level, pieces, quotation, sale, told
from tests.support.erp_world import Goods, World, fresh, needs, write

STOCK = Goods(stock={"main": Decimal(100)})


@needs("confirm_quotation")
async def test_a_confirmed_quotation_is_an_order_with_the_same_lines_and_prices(world: World) -> None:
    product, customer = await world.product(STOCK), await world.customer()
    quoted = (await quotation(world, customer, (product, cases(2)), discount=Decimal(5))).order
    made = await world.backend.confirm_quotation(quoted.head.number, write=write(quoted.head.version))
    order = made.order
    assert (order.head.kind, order.head.state, order.head.party_id) == ("sale", "confirmed", customer.id)
    assert order.totals == quoted.totals
    assert [(each.sku, each.ordered, each.amount) for each in order.lines] == [
        (each.sku, each.ordered, each.amount) for each in quoted.lines
    ]
    assert quoted.head.number in made.linked or order.source == quoted.head.number or order.head.number == made.number


@needs("confirm_quotation")
async def test_a_quotation_is_not_converted_twice(world: World) -> None:
    product = await world.product(STOCK)
    quoted = (await quotation(world, await world.customer(), (product, pieces(2)))).order
    await world.backend.confirm_quotation(quoted.head.number, write=write(quoted.head.version))
    now = await world.backend.get_order(quoted.head.number)
    with pytest.raises((Refused, Conflict)):
        await world.backend.confirm_quotation(quoted.head.number, write=write(now.head.version))
    assert told((await level(world, product)).reserved) == (2,)


@needs("confirm_quotation")
async def test_the_same_key_confirms_once(world: World) -> None:
    product = await world.product(STOCK)
    quoted = (await quotation(world, await world.customer(), (product, pieces(2)))).order
    request = write(quoted.head.version, key=fresh("key-"))
    first = await world.backend.confirm_quotation(quoted.head.number, write=request)
    again = await world.backend.confirm_quotation(quoted.head.number, write=request)
    assert (again.number, again.repeated) == (first.number, True)
    assert told((await level(world, product)).reserved) == (2,)


@needs("confirm_quotation")
async def test_of_two_who_confirm_at_once_one_does(world: World) -> None:
    product = await world.product(STOCK)
    quoted = (await quotation(world, await world.customer(), (product, pieces(2)))).order
    outcomes = await asyncio.gather(
        *(
            each.confirm_quotation(quoted.head.number, write=write(quoted.head.version))
            for each in (world.backend, world.person("owner"))
        ),
        return_exceptions=True,
    )
    assert sorted(isinstance(each, Written) for each in outcomes) == [False, True]
    assert all(isinstance(each, Written | Refused | Conflict) for each in outcomes)
    assert told((await level(world, product)).reserved) == (2,)


@needs("confirm_quotation")
async def test_a_cancelled_quotation_is_not_confirmed(world: World) -> None:
    product = await world.product(STOCK)
    quoted = (await quotation(world, await world.customer(), (product, pieces(2)))).order
    gone = await world.backend.cancel_order(quoted.head.number, reason="no", write=write(quoted.head.version))
    with pytest.raises((Refused, Conflict)):
        await world.backend.confirm_quotation(quoted.head.number, write=write(gone.order.head.version))


@needs("confirm_quotation")
async def test_an_unknown_quotation_is_not_found(world: World) -> None:
    with pytest.raises(NotFound):
        await world.backend.confirm_quotation("Q-999999", write=write("1"))


@needs("confirm_quotation")
async def test_without_stock_an_order_is_confirmed_and_waits(world: World) -> None:
    product = await world.product()
    order = await sale(world, await world.customer(), (product, pieces(5)))
    assert order.head.state == "confirmed"
    after = await level(world, product)
    assert told(after.on_hand, after.available - after.waiting) == (0, -5)


@needs("create_order")
async def test_an_order_is_made_at_once_with_a_promise(world: World) -> None:
    product, customer = await world.product(STOCK), await world.customer()
    promised = world.backend.now().date() + timedelta(3)
    draft = OrderDraft(customer.id, (LineWanted(product.sku, pieces(4)),), promised=promised)
    made = await world.backend.create_order(draft, write=write())
    assert (made.order.head.kind, made.order.head.state, made.order.head.promised) == ("sale", "confirmed", promised)
    assert told(made.order.lines[0].reserved) == (4,)


@needs("create_order")
async def test_an_order_takes_from_the_warehouse_that_was_named(world: World) -> None:
    product = await world.product(Goods(stock={"main": Decimal(10), "second": Decimal(10)}))
    draft = OrderDraft((await world.customer()).id, (LineWanted(product.sku, pieces(4)),), warehouse=world.second)
    await world.backend.create_order(draft, write=write())
    assert told((await level(world, product)).reserved, (await level(world, product, world.second)).reserved) == (0, 4)


@needs("create_order")
async def test_a_promise_in_the_past_is_refused(world: World) -> None:
    product, customer = await world.product(STOCK), await world.customer()
    past = world.backend.now().date() - timedelta(1)
    draft = OrderDraft(customer.id, (LineWanted(product.sku, pieces(4)),), promised=past)
    with pytest.raises(Invalid):
        await world.backend.create_order(draft, write=write())


@needs("create_order", "get_account")
async def test_past_the_credit_limit_a_clerk_lacks_the_right_and_nothing_is_made(world: World) -> None:
    product, customer = await world.product(STOCK), await world.customer(limit=Decimal(100))
    draft = OrderDraft(customer.id, (LineWanted(product.sku, pieces(50)),))
    with pytest.raises(Denied) as caught:
        await world.person("clerk").create_order(draft, write=write())
    assert caught.value.right == "credit_over"
    assert (await world.backend.list_orders(OrderFilter(party_id=customer.id))).total_count == 0


@needs("create_order", "get_account")
async def test_past_the_credit_limit_the_owner_has_to_accept_it(world: World) -> None:
    product, customer = await world.product(STOCK), await world.customer(limit=Decimal(100))
    draft = OrderDraft(customer.id, (LineWanted(product.sku, pieces(50)),))
    with pytest.raises(NeedsConfirmation) as caught:
        await world.backend.create_order(draft, write=write())
    made = await world.backend.create_order(draft, write=write(None, caught.value.token))
    account = await world.backend.get_account(customer.id)
    assert account.used == made.order.head.total
    assert account.free is not None
    assert account.free.amount < 0


@needs("create_order", "get_account")
async def test_open_orders_count_against_the_limit(world: World) -> None:
    product, customer = await world.product(STOCK), await world.customer(limit=Decimal(999))
    draft = OrderDraft(customer.id, (LineWanted(product.sku, pieces(40)),))
    first = await world.backend.create_order(draft, write=write())
    account = await world.backend.get_account(customer.id)
    assert (account.not_invoiced, account.owed.amount) == (first.order.head.total, Decimal(0))
    with pytest.raises(NeedsConfirmation):
        await world.backend.create_order(draft, write=write())


@needs("get_order")
async def test_an_unknown_number_is_not_found(world: World) -> None:
    for number in ("SO-1990-0001", "nonsense"):
        with pytest.raises(NotFound):
            await world.backend.get_order(number)


@needs("get_order", "confirm_quotation")
async def test_an_order_is_found_by_its_number_in_any_case(world: World) -> None:
    order = await sale(world, await world.customer(), (await world.product(STOCK), pieces(1)))
    found = await world.backend.get_order(f" {order.head.number.lower()} ", "sale")
    assert found.head.number == order.head.number


@needs("list_orders", "confirm_quotation")
async def test_a_page_counts_and_adds_up_all_that_match(world: World) -> None:
    product, customer = await world.product(STOCK), await world.customer()
    orders = [await sale(world, customer, (product, pieces(count))) for count in (1, 2, 3)]
    page = await world.backend.list_orders(OrderFilter(kind="sale", party_id=customer.id), limit=2)
    assert (len(page.orders), page.total_count) == (2, 3)
    assert page.total[world.currency].amount == sum(each.head.total.amount for each in orders)
    rest = await world.backend.list_orders(OrderFilter(kind="sale", party_id=customer.id), limit=2, offset=2)
    numbers = [each.number for each in (*page.orders, *rest.orders)]
    assert sorted(numbers) == sorted(each.head.number for each in orders)
    assert rest.total == page.total


@needs("list_orders", "confirm_quotation")
async def test_orders_are_filtered_by_state_product_and_day(world: World) -> None:
    first, second = await world.product(STOCK), await world.product(STOCK)
    customer = await world.customer()
    one = await sale(world, customer, (first, pieces(1)))
    await sale(world, customer, (second, pieces(1)))
    today = world.backend.now().date()
    mine = OrderFilter(kind="sale", party_id=customer.id, sku=first.sku, date_from=today, date_to=today)
    page = await world.backend.list_orders(mine)
    assert [each.number for each in page.orders] == [one.head.number]
    none = OrderFilter(party_id=customer.id, states=("cancelled",))
    assert (await world.backend.list_orders(none)).total_count == 0
    tomorrow = OrderFilter(party_id=customer.id, date_from=today + timedelta(1))
    assert (await world.backend.list_orders(tomorrow)).total_count == 0


@needs("list_orders", "confirm_quotation", "deliver_order")
async def test_backorders_are_those_partly_delivered(world: World) -> None:
    product, customer = await world.product(Goods(stock={"main": Decimal(5)})), await world.customer()
    short = await sale(world, customer, (product, pieces(8)))
    await delivered(world, short)
    other = await sale(world, customer, (await world.product(STOCK), pieces(1)))
    page = await world.backend.list_orders(OrderFilter(party_id=customer.id, partly_delivered=True))
    assert [each.number for each in page.orders] == [short.head.number]
    owed = await world.backend.list_orders(OrderFilter(kind="sale", party_id=customer.id, open_only=True))
    assert {each.number for each in owed.orders} == {short.head.number, other.head.number}
