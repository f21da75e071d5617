"""Quotations: made once, changed while nobody has confirmed them, taken back."""

from __future__ import annotations

from decimal import Decimal

import pytest

from erpilot.shop.backend import (
    DraftChange,
    LineEdit,
    LineWanted,
    OrderFilter,
    QuotationDraft,
)
from erpilot.shop.catalogue import Product
from erpilot.shop.documents import Customer
from erpilot.shop.errors import Conflict, Denied, Invalid, NeedsConfirmation, NotFound, Refused, ShopError
from erpilot.shop.values import Quantity
from tests.support.erp_cases import cases, kept, pieces, quotation, sale, told
from tests.support.erp_world import Goods, World, fresh, needs, write


@needs("create_quotation")
async def test_a_quotation_has_a_number_and_is_quoted(world: World) -> None:
    product, customer = await world.product(), await world.customer()
    made = await quotation(world, customer, (product, pieces(10)))
    order = made.order
    assert order.head.number == made.number
    assert (order.head.kind, order.head.state, order.head.party_id) == ("quotation", "quoted", customer.id)
    assert not made.repeated
    assert order.lines[0].ordered == 10


@needs("create_quotation")
async def test_a_quotation_reads_back_as_it_was_answered(world: World) -> None:
    product, customer = await world.product(), await world.customer()
    made = await quotation(world, customer, (product, pieces(10)))
    read = await world.backend.get_order(made.number)
    assert (read.head, read.lines) == (made.order.head, made.order.lines)


@needs("create_quotation", "get_prices")
async def test_a_quotation_costs_what_was_priced(world: World) -> None:
    product, customer = await world.product(Goods(tiers={Decimal(50): Decimal("11.00")})), await world.customer()
    priced = await world.backend.get_prices(
        [LineWanted(product.sku, cases(3))], customer_id=customer.id, discount=Decimal(5)
    )
    made = await quotation(world, customer, (product, cases(3)), discount=Decimal(5))
    assert made.order.totals == priced.totals
    assert made.order.head.total == priced.totals.total


@needs("create_quotation")
async def test_the_same_key_makes_one_quotation(world: World) -> None:
    product, customer = await world.product(), await world.customer()
    draft = QuotationDraft(customer.id, (LineWanted(product.sku, pieces(2)),), Decimal(0), 7)
    key = fresh("key-")
    first = await world.backend.create_quotation(draft, write=write(key=key))
    again = await world.backend.create_quotation(draft, write=write(key=key))
    assert (first.number, again.number) == (first.number, first.number)
    assert (first.repeated, again.repeated) == (False, True)
    page = await world.backend.list_orders(OrderFilter(kind="quotation", party_id=customer.id))
    assert page.total_count == 1


@needs("create_quotation")
async def test_the_same_key_with_another_request_is_a_conflict(world: World) -> None:
    product, customer = await world.product(), await world.customer()
    key = fresh("key-")
    for count, error in ((2, None), (3, Conflict)):
        draft = QuotationDraft(customer.id, (LineWanted(product.sku, pieces(count)),), Decimal(0), 7)
        if error is None:
            await world.backend.create_quotation(draft, write=write(key=key))
            continue
        with pytest.raises(error):
            await world.backend.create_quotation(draft, write=write(key=key))
    assert (await world.backend.list_orders(OrderFilter(party_id=customer.id))).total_count == 1


@needs("create_quotation")
async def test_other_keys_make_other_quotations(world: World) -> None:
    product, customer = await world.product(), await world.customer()
    numbers = {(await quotation(world, customer, (product, pieces(2)))).number for _ in range(2)}
    assert len(numbers) == 2


async def _who_and_what(world: World) -> tuple[Product, Customer]:
    """Who is quoted nothing, and what."""
    return await world.product(), await world.customer()


@needs("create_quotation")
@pytest.mark.parametrize(
    ("sku", "quantity", "error"),
    [
        ("NONE-0", Quantity(Decimal(1), "个"), (NotFound, Invalid)),
        (None, Quantity(Decimal(0), "个"), Invalid),
        (None, Quantity(Decimal(-1), "个"), Invalid),
        (None, Quantity(Decimal("0.5"), "个"), Invalid),
        (None, Quantity(Decimal(1), "吨"), Invalid),
        (None, Quantity(Decimal("NaN"), "个"), Invalid),
    ],
)
async def test_a_line_that_cannot_be_makes_no_quotation(
    world: World, sku: str | None, quantity: Quantity, error: type[ShopError] | tuple[type[ShopError], ...]
) -> None:
    product, customer = await kept(world, _who_and_what)
    draft = QuotationDraft(customer.id, (LineWanted(sku or product.sku, quantity),), Decimal(0), 7)
    with pytest.raises(error):
        await world.backend.create_quotation(draft, write=write())
    assert (await world.backend.list_orders(OrderFilter(party_id=customer.id))).total_count == 0


@needs("create_quotation")
async def test_a_quotation_without_lines_or_for_nobody_is_not_made(world: World) -> None:
    product, customer = await kept(world, _who_and_what)
    with pytest.raises(Invalid):
        await world.backend.create_quotation(QuotationDraft(customer.id, (), Decimal(0), 7), write=write())
    with pytest.raises(NotFound):
        await world.backend.create_quotation(
            QuotationDraft("NONE-0", (LineWanted(product.sku, pieces(1)),), Decimal(0), 7), write=write()
        )


@needs("create_quotation")
@pytest.mark.parametrize("discount", ["-1", "100", "NaN"])
async def test_a_discount_that_cannot_be_makes_no_quotation(world: World, discount: str) -> None:
    product, customer = await kept(world, _who_and_what)
    with pytest.raises((Invalid, Refused)):
        await quotation(world, customer, (product, pieces(1)), discount=Decimal(discount))


@needs("create_quotation")
async def test_past_the_discount_limit_a_clerk_lacks_the_right(world: World) -> None:
    product, customer = await world.product(), await world.customer()
    limit = (await world.backend.whoami()).company.discount_limit
    draft = QuotationDraft(customer.id, (LineWanted(product.sku, pieces(1)),), limit + 1, 7)
    with pytest.raises(Denied) as caught:
        await world.person("clerk").create_quotation(draft, write=write())
    assert caught.value.right == "discount_over"


@needs("create_quotation")
async def test_past_the_discount_limit_the_owner_has_to_accept_it(world: World) -> None:
    product, customer = await world.product(Goods(cost=None)), await world.customer()
    limit = (await world.backend.whoami()).company.discount_limit
    draft = QuotationDraft(customer.id, (LineWanted(product.sku, pieces(1)),), limit + 1, 7)
    with pytest.raises(NeedsConfirmation) as caught:
        await world.backend.create_quotation(draft, write=write())
    made = await world.backend.create_quotation(draft, write=write(None, caught.value.token))
    assert made.order.head.state == "quoted"


@needs("create_quotation")
async def test_what_a_key_did_can_be_asked_afterwards(world: World) -> None:
    product, customer = await world.product(), await world.customer()
    key = fresh("key-")
    assert await world.backend.find_by_key(key) is None
    draft = QuotationDraft(customer.id, (LineWanted(product.sku, pieces(2)),), Decimal(0), 7)
    made = await world.backend.create_quotation(draft, write=write(key=key))
    found = await world.backend.find_by_key(key)
    assert found is not None
    assert (found.number, found.verb, found.repeated) == (made.number, "create_quotation", True)
    assert found.order.lines == made.order.lines


@needs("create_quotation", "update_draft")
async def test_a_changed_quantity_follows_the_tier(world: World) -> None:
    product = await world.product(Goods(tiers={Decimal(50): Decimal("11.00")}))
    made = (await quotation(world, await world.customer(), (product, pieces(10)))).order
    changed = await world.backend.update_draft(
        made.head.number, DraftChange(edits=(LineEdit(1, pieces(60)),)), write=write(made.head.version)
    )
    (line,) = changed.order.lines
    assert told(line.ordered, line.unit_price, line.price_origin) == (60, Decimal("11.00"), "rule")
    assert changed.order.head.total.amount > made.head.total.amount


@needs("create_quotation", "update_draft")
async def test_a_price_typed_by_hand_is_marked_and_stays_when_the_quantity_changes(world: World) -> None:
    product = await world.product(Goods(tiers={Decimal(50): Decimal("11.00")}))
    made = (await quotation(world, await world.customer(), (product, pieces(10)))).order
    edit = LineEdit(1, unit_price=Decimal("12.00"))
    by_hand = await world.backend.update_draft(
        made.head.number, DraftChange(edits=(edit,)), write=write(made.head.version)
    )
    assert (by_hand.order.lines[0].unit_price, by_hand.order.lines[0].price_origin) == (Decimal("12.00"), "manual")
    more = await world.backend.update_draft(
        made.head.number,
        DraftChange(edits=(LineEdit(1, pieces(60)),)),
        write=write(by_hand.order.head.version, "discount"),
    )
    assert (more.order.lines[0].unit_price, more.order.lines[0].price_origin) == (Decimal("12.00"), "manual")


@needs("create_quotation", "update_draft")
async def test_a_change_says_what_was_before_and_after(world: World) -> None:
    product = await world.product()
    made = (await quotation(world, await world.customer(), (product, pieces(10)))).order
    changed = await world.backend.update_draft(
        made.head.number, DraftChange(edits=(LineEdit(1, pieces(12)),)), write=write(made.head.version)
    )
    told = {change.field: (change.before, change.after) for change in changed.changes}
    assert told["line 1 quantity"] == (pieces(10), pieces(12))
    assert told["total"] == (made.head.total, changed.order.head.total)


@needs("create_quotation", "update_draft")
async def test_lines_are_added_and_taken_out_but_never_the_last(world: World) -> None:
    first, second = await world.product(), await world.product()
    made = (await quotation(world, await world.customer(), (first, pieces(10)))).order
    change = DraftChange(edits=(LineEdit(1, remove=True),), added=(LineWanted(second.sku, pieces(5)),))
    changed = await world.backend.update_draft(made.head.number, change, write=write(made.head.version))
    (line,) = changed.order.lines
    assert line.sku == second.sku
    with pytest.raises((Refused, Invalid)):
        await world.backend.update_draft(
            made.head.number,
            DraftChange(edits=(LineEdit(line.line, remove=True),)),
            write=write(changed.order.head.version),
        )


@needs("create_quotation", "update_draft")
async def test_a_change_based_on_an_old_version_is_a_conflict_and_changes_nothing(world: World) -> None:
    product = await world.product()
    made = (await quotation(world, await world.customer(), (product, pieces(10)))).order
    change = DraftChange(edits=(LineEdit(1, pieces(12)),))
    now = await world.backend.update_draft(made.head.number, change, write=write(made.head.version))
    with pytest.raises(Conflict):
        await world.backend.update_draft(
            made.head.number, DraftChange(edits=(LineEdit(1, pieces(99)),)), write=write(made.head.version)
        )
    assert (await world.backend.get_order(made.head.number)).lines == now.order.lines


@needs("confirm_quotation", "update_draft")
async def test_a_confirmed_order_is_not_edited_as_a_draft(world: World) -> None:
    product = await world.product(Goods(stock={"main": Decimal(50)}))
    order = await sale(world, await world.customer(), (product, pieces(10)))
    with pytest.raises(Refused):
        await world.backend.update_draft(
            order.head.number, DraftChange(edits=(LineEdit(1, pieces(12)),)), write=write(order.head.version)
        )


@needs("create_quotation", "cancel_order")
async def test_a_quotation_is_taken_back_by_its_cancellation(world: World) -> None:
    product = await world.product()
    made = (await quotation(world, await world.customer(), (product, pieces(10)))).order
    done = await world.backend.cancel_order(made.head.number, reason="wrong", write=write(made.head.version))
    assert done.order.head.state == "cancelled"


@needs("create_quotation", "undo")
async def test_a_quotation_is_undone_by_the_key_that_made_it(world: World) -> None:
    product, customer = await world.product(), await world.customer()
    key = fresh("key-")
    draft = QuotationDraft(customer.id, (LineWanted(product.sku, pieces(2)),), Decimal(0), 7)
    made = await world.backend.create_quotation(draft, write=write(key=key))
    await world.backend.undo(key, reason="wrong", write=write())
    assert (await world.backend.get_order(made.number)).head.state == "cancelled"
    with pytest.raises((Refused, Conflict)):
        await world.backend.undo(key, reason="again", write=write())
