"""Money: what is owed by age, statements that add up, payments booked once."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from decimal import Decimal

import pytest

from erpilot.shop.backend import LinePart, Written
from erpilot.shop.documents import Order
from erpilot.shop.errors import Conflict, Denied, Invalid, NeedsConfirmation, NotFound
from erpilot.shop.values import Money, Period
from erpilot.shop.verbs.money import AllocationWanted, PaymentDraft, RefundDraft
from tests.support.erp_cases import delivered, kept, pieces, sale
from tests.support.erp_world import Goods, World, fresh, needs, write

STOCK = Goods(price=Decimal("10.00"), cost=None, stock={"main": Decimal(1000)})


async def _owing(world: World, *counts: int) -> list[Order]:
    """Delivered orders of one customer, so many pieces each."""
    customer, product = await world.customer(), await world.product(STOCK)
    return [await delivered(world, await sale(world, customer, (product, pieces(count)))) for count in counts]


async def _one_owed(world: World) -> Order:
    """A delivered order of ten pieces, of which nothing is paid."""
    (order,) = await _owing(world, 10)
    return order


def _paid(world: World, order: Order, amount: str | Decimal, **more: object) -> PaymentDraft:
    return PaymentDraft(order.head.party_id, Money(Decimal(amount), world.currency), "银行转账", **more)  # type: ignore[arg-type]


@needs("list_receivables", "deliver_order")
async def test_what_went_out_on_credit_is_owed_and_not_due(world: World) -> None:
    order = await kept(world, _one_owed)
    (balance,) = (await world.backend.list_receivables(party_id=order.head.party_id)).parties
    assert balance.ageing.not_due == order.head.total
    assert balance.ageing.overdue_total.amount == 0
    assert [item.days_overdue for item in balance.items] == [0]


@needs("list_receivables", "deliver_order")
@pytest.mark.parametrize(("days", "bucket"), [(30, None), (31, 0), (60, 0), (61, 1), (91, 2), (121, 3), (400, 3)])
async def test_what_is_overdue_falls_into_the_bucket_of_its_age(world: World, days: int, bucket: int | None) -> None:
    order = await kept(world, _one_owed)
    later = order.deliveries[0].date + timedelta(days)
    (balance,) = (await world.backend.list_receivables(party_id=order.head.party_id, as_of=later)).parties
    total = order.head.total.amount
    assert balance.ageing.not_due.amount == (total if bucket is None else 0)
    assert [each.amount for each in balance.ageing.overdue] == [total if at == bucket else 0 for at in range(4)]
    assert balance.ageing.outstanding == order.head.total


@needs("list_receivables", "deliver_order")
async def test_before_anything_happened_nothing_was_owed(world: World) -> None:
    order = await kept(world, _one_owed)
    before = order.deliveries[0].date - timedelta(1)
    assert (await world.backend.list_receivables(party_id=order.head.party_id, as_of=before)).parties == ()


@needs("list_receivables", "record_payment")
async def test_buckets_and_credits_add_up_to_what_is_outstanding(world: World) -> None:
    first, second = await _owing(world, 10, 5)
    await world.backend.record_payment(_paid(world, first, "30.00"), write=write())
    balances = await world.backend.list_receivables(party_id=first.head.party_id)
    total = balances.total[world.currency]
    owed = first.head.total.amount + second.head.total.amount - 30
    assert total.outstanding.amount == owed
    assert total.not_due.amount + total.overdue_total.amount - total.unapplied.amount == owed
    assert sum(item.invoice.open.amount for item in balances.parties[0].items) == owed


@needs("list_receivables", "record_payment")
async def test_the_total_is_over_all_parties_and_not_over_the_page(world: World) -> None:
    await _owing(world, 10)
    await _owing(world, 10)
    one = await world.backend.list_receivables(limit=1)
    everything = await world.backend.list_receivables(limit=10_000)
    assert len(one.parties) == 1
    assert one.total == everything.total
    assert one.total_count == len(everything.parties) >= 2
    for currency, total in everything.total.items():
        mine = [each.ageing.outstanding.amount for each in everything.parties if each.currency == currency]
        assert sum(mine) == total.outstanding.amount


@needs("list_receivables", "record_payment")
async def test_only_who_is_late_is_listed_when_asked_for(world: World) -> None:
    (order,) = await _owing(world, 10)
    on_time = await world.backend.list_receivables(party_id=order.head.party_id, overdue_only=True)
    assert on_time.parties == ()
    later = world.backend.now().date() + timedelta(40)
    late = await world.backend.list_receivables(party_id=order.head.party_id, overdue_only=True, as_of=later)
    assert [each.party_id for each in late.parties] == [order.head.party_id]


@needs("record_payment")
async def test_a_payment_settles_the_oldest_first_and_the_rest_stays_a_credit(world: World) -> None:
    first, second = await _owing(world, 10, 5)
    total = first.head.total.amount + second.head.total.amount
    made = await world.backend.record_payment(_paid(world, first, total + 7), write=write())
    assert made.linked == (first.invoices[0].number, second.invoices[0].number)
    (credit,) = [each for each in made.changes if each.field == "credit"]
    assert credit.after == Money(Decimal(7), world.currency)
    (balance,) = (await world.backend.list_receivables(party_id=first.head.party_id)).parties
    assert (balance.ageing.unapplied.amount, balance.ageing.outstanding.amount) == (Decimal(7), Decimal(-7))


@needs("record_payment")
async def test_a_payment_settles_the_invoices_that_were_named(world: World) -> None:
    first, second = await _owing(world, 10, 5)
    wanted = AllocationWanted(second.invoices[0].number, second.head.total, second.head.total)
    await world.backend.record_payment(
        _paid(world, second, second.head.total.amount, allocations=(wanted,)), write=write()
    )
    assert (await world.backend.get_order(second.head.number)).invoices[0].open.amount == 0
    assert (await world.backend.get_order(first.head.number)).invoices[0].open == first.head.total


@needs("record_payment")
async def test_a_part_payment_leaves_the_rest_open(world: World) -> None:
    (order,) = await _owing(world, 10)
    made = await world.backend.record_payment(_paid(world, order, "40.00"), write=write())
    invoice = (await world.backend.get_order(order.head.number)).invoices[0]
    assert invoice.open.amount == order.head.total.amount - 40
    (change,) = [each for each in made.changes if each.field == "open"]
    assert (change.before, change.after) == (order.head.total, invoice.open)


@needs("record_payment")
async def test_an_open_amount_that_is_not_the_one_shown_is_a_conflict(world: World) -> None:
    (order,) = await _owing(world, 10)
    shown = Money(order.head.total.amount - 1, world.currency)
    wanted = AllocationWanted(order.invoices[0].number, Money(Decimal(1), world.currency), shown)
    with pytest.raises(Conflict):
        await world.backend.record_payment(_paid(world, order, "1.00", allocations=(wanted,)), write=write())
    assert (await world.backend.get_order(order.head.number)).paid.amount == 0


@needs("record_payment")
async def test_more_than_is_open_or_paid_is_not_settled(world: World) -> None:
    (order,) = await _owing(world, 10)
    for settled, paid in ((order.head.total.amount + 1, order.head.total.amount + 1), (Decimal(20), Decimal(10))):
        wanted = AllocationWanted(order.invoices[0].number, Money(settled, world.currency))
        with pytest.raises(Invalid):
            await world.backend.record_payment(_paid(world, order, paid, allocations=(wanted,)), write=write())


@needs("record_payment")
async def test_the_same_transfer_is_asked_about_before_it_is_booked_again(world: World) -> None:
    (order,) = await _owing(world, 100)
    first = await world.backend.record_payment(_paid(world, order, "40.00"), write=write())
    with pytest.raises(NeedsConfirmation) as caught:
        await world.backend.record_payment(_paid(world, order, "40.00"), write=write())
    assert caught.value.token == f"same_payment:{first.number}"
    again = await world.backend.record_payment(_paid(world, order, "40.00"), write=write(None, caught.value.token))
    assert again.number != first.number


@needs("record_payment")
async def test_a_reference_of_the_bank_is_booked_once(world: World) -> None:
    (order,) = await _owing(world, 100)
    long_ago = world.backend.now().date() - timedelta(20)
    paid = _paid(world, order, "40.00", reference="TX-1", date=long_ago)
    await world.backend.record_payment(paid, write=write())
    with pytest.raises(NeedsConfirmation):
        await world.backend.record_payment(_paid(world, order, "40.00", reference="TX-1"), write=write())


@needs("record_payment")
async def test_one_key_is_one_payment(world: World) -> None:
    (order,) = await _owing(world, 100)
    request = write(key=fresh("key-"))
    first = await world.backend.record_payment(_paid(world, order, "40.00"), write=request)
    again = await world.backend.record_payment(_paid(world, order, "40.00"), write=request)
    assert (first.number, again.repeated) == (again.number, True)
    assert (await world.backend.get_order(order.head.number)).paid.amount == 40


@needs("record_payment")
async def test_of_two_who_book_the_same_transfer_one_is_asked(world: World) -> None:
    (order,) = await _owing(world, 100)
    outcomes = await asyncio.gather(
        *(
            each.record_payment(_paid(world, order, "40.00"), write=write())
            for each in (world.backend, world.person("money"))
        ),
        return_exceptions=True,
    )
    assert sorted(isinstance(each, Written) for each in outcomes) == [False, True]
    assert (await world.backend.get_order(order.head.number)).paid.amount == 40


@needs("record_payment")
@pytest.mark.parametrize("amount", ["0", "-5"])
async def test_an_amount_that_cannot_be_is_not_booked(world: World, amount: str) -> None:
    (order,) = await _owing(world, 10)
    with pytest.raises(Invalid):
        await world.backend.record_payment(_paid(world, order, amount), write=write())


@needs("record_payment")
async def test_a_payment_of_nobody_or_of_tomorrow_is_not_booked(world: World) -> None:
    draft = PaymentDraft("NONE-0", Money(Decimal(1), world.currency), "现金")
    with pytest.raises(NotFound):
        await world.backend.record_payment(draft, write=write())
    (order,) = await _owing(world, 10)
    tomorrow = world.backend.now().date() + timedelta(1)
    with pytest.raises(Invalid):
        await world.backend.record_payment(_paid(world, order, "1.00", date=tomorrow), write=write())


@needs("record_payment")
async def test_a_clerk_does_not_book_payments(world: World) -> None:
    (order,) = await _owing(world, 10)
    with pytest.raises(Denied) as caught:
        await world.person("clerk").record_payment(_paid(world, order, "1.00"), write=write())
    assert caught.value.right == "money"


@needs("record_payment")
async def test_currencies_are_never_mixed(world: World) -> None:
    (order,) = await _owing(world, 10)
    other = "USD" if world.currency != "USD" else "EUR"
    wanted = AllocationWanted(order.invoices[0].number, Money(Decimal(1), other))
    draft = PaymentDraft(order.head.party_id, Money(Decimal(1), other), "现金", (wanted,))
    with pytest.raises(Invalid):
        await world.backend.record_payment(draft, write=write())


@needs("record_payment", "refund")
async def test_what_was_paid_too_much_is_paid_back_and_no_more(world: World) -> None:
    (order,) = await _owing(world, 10)
    made = await world.backend.record_payment(_paid(world, order, order.head.total.amount + 9), write=write())
    back = RefundDraft(made.number, Money(Decimal(9), world.currency), "too much", "银行转账")
    await world.backend.refund(back, write=write())
    (balance,) = (await world.backend.list_receivables(party_id=order.head.party_id)).parties or (None,)
    assert balance is None
    with pytest.raises(Exception, match="left to pay back"):
        await world.backend.refund(back, write=write())


@needs("statement", "record_payment", "return_order")
async def test_opening_and_movements_are_the_closing_balance(world: World) -> None:
    from erpilot.shop.backend import ReturnedPart

    (order,) = await _owing(world, 10)
    await world.backend.record_payment(_paid(world, order, "30.00"), write=write())
    order = await world.backend.get_order(order.head.number)
    part = ReturnedPart(order.lines[0].line, pieces(2))
    await world.backend.return_order(order.head.number, (part,), reason="x", write=write(order.head.version))
    today = world.backend.now().date()
    zone = (await world.backend.whoami()).company.zone
    told = await world.backend.statement(order.head.party_id, Period(today, today, zone))
    assert sorted(each.kind for each in told.movements) == ["credit_note", "invoice", "payment"]
    assert told.opening.amount == 0
    assert told.opening.amount + sum(each.amount.amount for each in told.movements) == told.closing.amount
    assert told.movements[-1].balance == told.closing
    (balance,) = (await world.backend.list_receivables(party_id=order.head.party_id)).parties
    assert balance.ageing.outstanding == told.closing
    tomorrow = Period(today + timedelta(1), today + timedelta(9), zone)
    after = await world.backend.statement(order.head.party_id, tomorrow)
    assert (after.opening, after.movements, after.closing) == (told.closing, (), told.closing)


@needs("statement")
async def test_a_statement_of_nobody_is_not_found(world: World) -> None:
    today = world.backend.now().date()
    with pytest.raises(NotFound):
        await world.backend.statement("NONE-0", Period(today, today, "Asia/Shanghai"))


@needs("get_account", "deliver_order", "record_payment")
async def test_credit_used_is_what_is_owed_and_what_is_still_to_be_invoiced(world: World) -> None:
    customer, product = await world.customer(limit=Decimal(1000)), await world.product(STOCK)
    order = await sale(world, customer, (product, pieces(10)))
    order = await delivered(world, order, LinePart(order.lines[0].line, pieces(4)))
    account = await world.backend.get_account(customer.id)
    assert account.owed == order.invoices[0].total
    assert account.owed + account.not_invoiced == account.used == order.head.total
    await world.backend.record_payment(_paid(world, order, order.invoices[0].total.amount), write=write())
    after = await world.backend.get_account(customer.id)
    assert after.owed.amount == 0
    assert after.free is not None
    assert after.free.amount == 1000 - after.not_invoiced.amount


@needs("list_payables")
async def test_what_suppliers_are_owed_adds_up(world: World) -> None:
    payables = await world.backend.list_payables(limit=10_000)
    for currency, total in payables.total.items():
        mine = [each.ageing.outstanding.amount for each in payables.parties if each.currency == currency]
        assert sum(mine) == total.outstanding.amount
    assert payables.total_count == len(payables.parties)
