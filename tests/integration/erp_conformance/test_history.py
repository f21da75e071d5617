"""Who changed what: every write leaves its entry, before and after, and nobody else's words."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from erpilot.shop.backend import Adjustment, DraftChange, LineEdit, LineWanted, QuotationDraft
from erpilot.shop.errors import Conflict, Denied, NotFound, Refused
from erpilot.shop.verbs.buying import PurchaseDraft, PurchaseDraftLine
from erpilot.shop.verbs.control import HistoryFilter
from tests.support.erp_cases import delivered, pieces, quotation, sale
from tests.support.erp_world import Goods, World, fresh, needs, write

STOCK = Goods(stock={"main": Decimal(120)})


@needs("history", "adjust_stock")
async def test_a_correction_tells_who_when_why_and_the_stock_before_and_after(world: World) -> None:
    product = await world.product(STOCK)
    count = Adjustment(product.sku, world.main, "set", pieces(118), pieces(120))
    request = replace(write(), by="li", approved_by="zhang")
    made = await world.backend.adjust_stock([count], reason="two broken", write=request)
    entry = (await world.backend.history(HistoryFilter(subject=product.sku))).entries[0]
    assert (entry.by, entry.approved_by, entry.reason, entry.verb) == ("li", "zhang", "two broken", "adjust_stock")
    assert (entry.number, entry.at) == (made.number, made.at)
    assert [(each.before, each.after) for each in entry.changes] == [(pieces(120), pieces(118))]


@needs("history", "create_quotation", "confirm_quotation", "deliver_order")
async def test_an_order_has_its_life_in_its_history_newest_first(world: World) -> None:
    order = await sale(world, await world.customer(), (await world.product(STOCK), pieces(2)))
    await delivered(world, order)
    page = await world.backend.history(HistoryFilter(subject=order.head.number))
    assert [entry.verb for entry in page.entries] == ["deliver_order", "confirm_quotation"]
    assert page.total_count == 2


@needs("history", "create_quotation")
async def test_a_repeat_is_no_second_entry(world: World) -> None:
    product, customer = await world.product(), await world.customer()
    draft = QuotationDraft(customer.id, (LineWanted(product.sku, pieces(1)),), Decimal(0), 7)
    request = write(key=fresh("key-"))
    made = await world.backend.create_quotation(draft, write=request)
    await world.backend.create_quotation(draft, write=request)
    assert (await world.backend.history(HistoryFilter(subject=made.number))).total_count == 1


@needs("history", "adjust_stock")
async def test_what_was_refused_leaves_no_entry(world: World) -> None:
    product = await world.product(STOCK)
    before = (await world.backend.history(HistoryFilter(subject=product.sku))).total_count
    wrong = Adjustment(product.sku, world.main, "set", pieces(118), pieces(1))
    with pytest.raises(Conflict):
        await world.backend.adjust_stock([wrong], reason="x", write=write())
    assert (await world.backend.history(HistoryFilter(subject=product.sku))).total_count == before


@needs("history", "create_quotation", "undo")
async def test_an_entry_says_whether_it_can_be_undone_and_by_what_it_was(world: World) -> None:
    product, customer = await world.product(), await world.customer()
    made = await quotation(world, customer, (product, pieces(1)))
    (entry,) = (await world.backend.history(HistoryFilter(subject=made.number))).entries
    assert entry.undoable
    back = write()
    await world.backend.undo(made.key, reason="x", write=back)
    newest, first = (await world.backend.history(HistoryFilter(subject=made.number))).entries
    assert (first.undoable, first.undone_by, newest.verb) == (False, back.key, "undo")


@needs("history", "create_quotation")
async def test_entries_are_filtered_by_person_verb_and_day(world: World) -> None:
    product, customer = await world.product(), await world.customer()
    person = fresh("person")
    draft = QuotationDraft(customer.id, (LineWanted(product.sku, pieces(1)),), Decimal(0), 7)
    await world.backend.create_quotation(draft, write=replace(write(), by=person))
    today = world.backend.now().date()
    mine = HistoryFilter(by=person, verbs=("create_quotation",), date_from=today, date_to=today)
    assert (await world.backend.history(mine)).total_count == 1
    assert (await world.backend.history(replace(mine, verbs=("refund",)))).total_count == 0


@needs("history")
async def test_the_history_is_not_everybody_s(world: World) -> None:
    with pytest.raises(Denied) as caught:
        await world.person("clerk").history(HistoryFilter())
    assert caught.value.right == "see_history"


@needs("undo", "deliver_order")
async def test_what_went_out_is_not_undone_but_returned(world: World) -> None:
    order = await sale(world, await world.customer(), (await world.product(STOCK), pieces(2)))
    made = await world.backend.deliver_order(order.head.number, (), write=write(order.head.version))
    with pytest.raises(Refused) as caught:
        await world.backend.undo(made.key, reason="x", write=write())
    assert "return" in (caught.value.hint or "")


@needs("undo", "confirm_quotation")
async def test_an_order_is_undone_and_its_quotation_open_again(world: World) -> None:
    product = await world.product(STOCK)
    quoted = (await quotation(world, await world.customer(), (product, pieces(2)))).order
    made = await world.backend.confirm_quotation(quoted.head.number, write=write(quoted.head.version))
    await world.backend.undo(made.key, reason="too early", write=write())
    assert (await world.backend.get_order(made.number)).head.state == "cancelled"
    assert (await world.backend.get_order(quoted.head.number)).head.state == "quoted"


@needs("undo", "create_quotation", "update_draft")
async def test_what_has_changed_since_is_not_undone(world: World) -> None:
    made = await quotation(world, await world.customer(), (await world.product(), pieces(1)))
    change = DraftChange(edits=(LineEdit(1, pieces(3)),))
    await world.backend.update_draft(made.number, change, write=write(made.order.head.version))
    with pytest.raises(Conflict):
        await world.backend.undo(made.key, reason="x", write=write())


@needs("undo", "create_quotation", "update_draft")
async def test_a_change_of_a_draft_is_undone_and_then_the_draft_itself(world: World) -> None:
    first, second = await world.product(), await world.product()
    made = await quotation(world, await world.customer(), (first, pieces(4)), (second, pieces(2)))
    change = DraftChange(
        edits=(LineEdit(1, pieces(9), Decimal("12.00")), LineEdit(2, remove=True)),
        added=(LineWanted(second.sku, pieces(7)),),
        note="later",
    )
    changed = await world.backend.update_draft(made.number, change, write=write(made.order.head.version))
    await world.backend.undo(changed.key, reason="as it was", write=write())
    back = await world.backend.get_order(made.number)
    assert (back.lines, back.note, back.totals) == (made.order.lines, made.order.note, made.order.totals)
    await world.backend.undo(made.key, reason="not at all", write=write())
    assert (await world.backend.get_order(made.number)).head.state == "cancelled"


@needs("history", "create_purchase")
async def test_what_was_bought_for_how_much_is_not_in_the_history_of_who_may_not_see_costs(world: World) -> None:
    product, supplier = await world.product(), await world.supplier()
    draft = PurchaseDraft(supplier.id, (PurchaseDraftLine(product.sku, pieces(10), Decimal("4.00")),))
    made = await world.backend.create_purchase(draft, write=write())
    (entry,) = (await world.person("manager").history(HistoryFilter(subject=made.number))).entries
    assert "total" not in [each.field for each in entry.changes]
    (entry,) = (await world.backend.history(HistoryFilter(subject=made.number))).entries
    assert "total" in [each.field for each in entry.changes]


@needs("undo")
async def test_what_was_never_done_is_not_undone(world: World) -> None:
    with pytest.raises(NotFound):
        await world.backend.undo(fresh("never-"), reason="x", write=write())


@needs("undo", "create_quotation")
async def test_undoing_needs_the_right_of_the_write(world: World) -> None:
    made = await quotation(world, await world.customer(), (await world.product(), pieces(1)))
    with pytest.raises(Denied) as caught:
        await world.person("warehouse").undo(made.key, reason="x", write=write())
    assert caught.value.right == "sell"
