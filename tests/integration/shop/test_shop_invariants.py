"""Whatever is done to the embedded shop, in whatever order: the invariants hold; what was refused changed nothing."""

from __future__ import annotations

import asyncio
import random
import shutil
import sqlite3
import tempfile
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from erpilot.shop.backend import (
    Adjustment,
    DraftChange,
    LineEdit,
    LinePart,
    LineWanted,
    OrderDraft,
    OrderFilter,
    QuotationDraft,
    ReturnedPart,
    TransferLine,
    Write,
    Written,
)
from erpilot.shop.documents import Order
from erpilot.shop.embedded.shop import EmbeddedShop
from erpilot.shop.errors import NeedsConfirmation, ShopError
from erpilot.shop.pricing import share, with_tax
from erpilot.shop.values import Money, Period, Quantity, zero
from erpilot.shop.verbs.control import HistoryFilter, PriceRule
from erpilot.shop.verbs.money import PaymentDraft, RefundDraft
from tests.support.small_shop import CUSTOMERS, PRODUCTS, TODAY, WAREHOUSES, everything, make, opened

SKUS, PARTIES, PLACES = st.sampled_from(PRODUCTS), st.sampled_from(CUSTOMERS), st.sampled_from(WAREHOUSES)
QUANTITIES = st.builds(Quantity, st.integers(1, 14).map(Decimal), st.sampled_from(("个", "箱")))
PICK = st.integers(0, 999)


@dataclass
class Done:
    """A write that was accepted: how to send it again."""

    written: Written
    again: Any


class Shop(RuleBasedStateMachine):
    """People at work in a small shop."""

    template: Path

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="erpilot-shop-"))
        self.path = self.folder / "shop.db"
        shutil.copy(self.template, self.path)
        self.shop = EmbeddedShop(self.path)
        self.loop = asyncio.new_event_loop()
        self.done: list[Done] = []
        self.keys = 0
        self.effects = 0

    def teardown(self) -> None:
        self.shop.close()
        self.loop.close()
        shutil.rmtree(self.folder)

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self.loop.run_until_complete(work)

    def key(self, version: str | None = None) -> Write:
        self.keys += 1
        return Write(f"key-{self.keys}", "tester", version)

    def try_(self, verb: Any, *args: Any, write: Write, **more: Any) -> Written | None:
        """Sends a write, accepting every warning; a refusal has changed nothing."""
        for _ in range(4):
            before = everything(self.path)
            try:
                written: Written = self.run(verb(*args, write=write, **more))
            except NeedsConfirmation as warning:
                assert everything(self.path) == before
                write = replace(write, accepted=write.accepted | {warning.token})
                continue
            except ShopError:
                assert everything(self.path) == before
                return None
            assert not written.repeated
            self.effects += 1
            self.done.append(Done(written, partial(verb, *args, write=write, **more)))
            return written
        raise AssertionError("a warning that was accepted came again")

    def orders(self, *kinds: Literal["quotation", "sale", "purchase", "return"]) -> list[Order]:
        found = []
        for kind in kinds:
            page = self.run(self.shop.list_orders(OrderFilter(kind=kind), limit=1000))
            found += [self.run(self.shop.get_order(head.number)) for head in page.orders]
        return found

    def chosen(self, pick: int, orders: Sequence[Order]) -> Order | None:
        return orders[pick % len(orders)] if orders else None

    @rule(party=PARTIES, sku=SKUS, other=SKUS, quantity=QUANTITIES, discount=st.sampled_from((0, 5, 12, 40)))
    def quote(self, party: str, sku: str, other: str, quantity: Quantity, discount: int) -> None:
        lines = (LineWanted(sku, quantity), LineWanted(other, Quantity(Decimal(3), "个")))
        draft = QuotationDraft(party, lines, Decimal(discount), 7)
        self.try_(self.shop.create_quotation, draft, write=self.key())

    @rule(pick=PICK, quantity=QUANTITIES, price=st.sampled_from((None, Decimal("2.50"))))
    def change_draft(self, pick: int, quantity: Quantity, price: Decimal | None) -> None:
        if order := self.chosen(pick, self.orders("quotation")):
            edit = LineEdit(order.lines[pick % len(order.lines)].line, quantity, price)
            self.try_(
                self.shop.update_draft, order.head.number, DraftChange((edit,)), write=self.key(order.head.version)
            )

    @rule(pick=PICK, place=st.none() | PLACES)
    def confirm(self, pick: int, place: str | None) -> None:
        if order := self.chosen(pick, self.orders("quotation")):
            self.try_(
                self.shop.confirm_quotation, order.head.number, warehouse=place, write=self.key(order.head.version)
            )

    @rule(party=PARTIES, sku=SKUS, quantity=QUANTITIES, place=PLACES)
    def order(self, party: str, sku: str, quantity: Quantity, place: str) -> None:
        draft = OrderDraft(party, (LineWanted(sku, quantity),), warehouse=place)
        self.try_(self.shop.create_order, draft, write=self.key())

    @rule(pick=PICK, quantity=QUANTITIES, all_=st.booleans())
    def deliver(self, pick: int, quantity: Quantity, all_: bool) -> None:
        if order := self.chosen(pick, self.orders("sale")):
            parts = () if all_ else (LinePart(order.lines[pick % len(order.lines)].line, quantity),)
            self.try_(self.shop.deliver_order, order.head.number, parts, write=self.key(order.head.version))

    @rule(pick=PICK, quantity=QUANTITIES, condition=st.sampled_from(("sellable", "damaged")))
    def take_back(self, pick: int, quantity: Quantity, condition: Literal["sellable", "damaged"]) -> None:
        if order := self.chosen(pick, [each for each in self.orders("sale") if each.deliveries]):
            part = ReturnedPart(order.lines[pick % len(order.lines)].line, quantity, condition)
            self.try_(
                self.shop.return_order, order.head.number, (part,), reason="x", write=self.key(order.head.version)
            )

    @rule(pick=PICK, rest=st.booleans())
    def cancel(self, pick: int, rest: bool) -> None:
        if order := self.chosen(pick, self.orders("sale", "quotation")):
            self.try_(
                self.shop.cancel_order,
                order.head.number,
                reason="x",
                rest_only=rest,
                write=self.key(order.head.version),
            )

    @rule(sku=SKUS, place=PLACES, counted=st.integers(0, 90))
    def count(self, sku: str, place: str, counted: int) -> None:
        (level,) = self.run(self.shop.get_stock([sku], warehouse=place))[sku]
        wanted = Adjustment(sku, place, "set", Quantity(Decimal(counted), "个"), Quantity(level.on_hand, "个"))
        self.try_(self.shop.adjust_stock, (wanted,), reason="count", write=self.key())

    @rule(sku=SKUS, quantity=QUANTITIES, place=PLACES)
    def transfer(self, sku: str, quantity: Quantity, place: str) -> None:
        before = self.sums()
        other = next(each for each in WAREHOUSES if each != place)
        self.try_(
            self.shop.transfer_stock, (TransferLine(sku, quantity),), source=place, target=other, write=self.key()
        )
        assert self.sums() == before

    @rule(party=PARTIES, amount=st.integers(1, 30_000))
    def pay(self, party: str, amount: int) -> None:
        draft = PaymentDraft(party, Money(Decimal(amount) / 100, "CNY"), "现金")
        self.try_(self.shop.record_payment, draft, write=self.key())

    @rule(pick=PICK, amount=st.integers(1, 5_000))
    def refund(self, pick: int, amount: int) -> None:
        sources = [done.written.number for done in self.done if done.written.verb == "record_payment"]
        sources += [number for done in self.done for number in done.written.linked if number.startswith("CN-")]
        if sources:
            draft = RefundDraft(sources[pick % len(sources)], Money(Decimal(amount) / 100, "CNY"), "x", "现金")
            self.try_(self.shop.refund, draft, write=self.key())

    @rule(sku=SKUS, percent=st.integers(-20, 20))
    def reprice(self, sku: str, percent: int) -> None:
        plan = self.run(self.shop.plan_prices(PriceRule(TODAY, skus=(sku,), percent=Decimal(percent))))
        self.try_(self.shop.set_prices, plan.changes, write=self.key())

    @rule(pick=PICK)
    def undo(self, pick: int) -> None:
        if self.done:
            key = self.done[pick % len(self.done)].written.key
            self.try_(self.shop.undo, key, reason="x", write=self.key())

    @rule(pick=PICK)
    def send_again(self, pick: int) -> None:
        if self.done:
            done = self.done[pick % len(self.done)]
            before = everything(self.path)
            again = self.run(done.again())
            assert again.repeated
            assert (again.number, again.linked, again.changes) == (
                done.written.number,
                done.written.linked,
                done.written.changes,
            )
            assert everything(self.path) == before

    def sums(self) -> dict[str, Decimal]:
        stock = self.run(self.shop.get_stock(PRODUCTS))
        return {sku: sum((each.on_hand for each in levels), Decimal(0)) for sku, levels in stock.items()}

    @invariant()
    def stock_is_held_for_those_who_wait_and_never_below_zero(self) -> None:
        for levels in self.run(self.shop.get_stock(PRODUCTS)).values():
            for level in levels:
                assert 0 <= level.reserved <= level.on_hand
                assert level.available == level.on_hand - level.reserved
                assert not (level.waiting > 0 and level.available > 0)

    @invariant()
    def lines_reconcile_and_add_up(self) -> None:
        held: dict[str, Decimal] = {}
        for order in self.orders("quotation", "sale", "return"):
            totals = order.totals
            assert totals.subtotal + totals.tax == totals.total == order.head.total
            for line in order.lines:
                assert line.ordered == line.delivered + line.cancelled + line.open
                assert 0 <= line.returned <= line.delivered
                assert line.held <= line.open * line.factor
                held[line.sku] = held.get(line.sku, Decimal(0)) + line.held
            if order.head.kind == "sale":
                self.invoices_are_what_went_out(order)
        for sku, levels in self.run(self.shop.get_stock(PRODUCTS)).items():
            assert sum(level.reserved for level in levels) == held.get(sku, 0)

    def invoices_are_what_went_out(self, order: Order) -> None:
        due = zero("CNY")
        for line in order.lines:
            due = due + share(with_tax(line, tax_included=order.tax_included), line.delivered, line.ordered)
        billed = zero("CNY")
        for invoice in order.invoices:
            assert invoice.open.amount >= 0
            billed = billed + invoice.total
        assert billed == due

    @invariant()
    def money_adds_up(self) -> None:
        period = Period(TODAY, TODAY, "Asia/Shanghai")
        balances = self.run(self.shop.list_receivables(limit=100))
        owed = {each.party_id: each.ageing.outstanding for each in balances.parties}
        for party in CUSTOMERS:
            told = self.run(self.shop.statement(party, period))
            closing = told.opening
            for movement in told.movements:
                closing = closing + movement.amount
            assert closing == told.closing == owed.get(party, zero("CNY"))
            account = self.run(self.shop.get_account(party))
            assert account.owed == told.closing

    @invariant()
    def every_effect_has_its_entry(self) -> None:
        assert self.run(self.shop.history(HistoryFilter(), limit=1)).total_count == self.effects


def test_the_invariants_hold_whatever_is_done(tmp_path: Path) -> None:
    Shop.template = tmp_path / "template.db"
    make(Shop.template)
    run_state_machine_as_test(
        Shop,
        settings=settings(
            max_examples=10,
            stateful_step_count=20,
            deadline=None,
            phases=[Phase.explicit, Phase.reuse, Phase.generate],  # shrinking would take longer than a test may
            suppress_health_check=list(HealthCheck),
        ),
    )


@pytest.mark.parametrize("table", ["move", "effect", "change", "link"])
def test_the_ledger_and_the_history_are_only_added_to(tmp_path: Path, table: str) -> None:
    shop = opened(tmp_path / "shop.db")
    wanted = Adjustment("AA-1", "MAIN", "set", Quantity(Decimal(1), "个"), Quantity(Decimal(60), "个"))
    asyncio.run(shop.adjust_stock([wanted], reason="x", write=Write("k", None)))
    shop.close()
    with sqlite3.connect(tmp_path / "shop.db") as connection:
        connection.execute("INSERT INTO link VALUES ('X', 1)")
        for statement in (f"DELETE FROM {table}", f"UPDATE {table} SET rowid = rowid"):
            if table in ("change", "link") and "rowid" in statement:
                statement = f"UPDATE {table} SET effect_id = effect_id"
            with pytest.raises(sqlite3.IntegrityError, match="only added to"):
                connection.execute(statement)
    connection.close()


def test_random_money_is_shared_out_without_a_rest() -> None:
    numbers = random.Random(7)
    for _ in range(300):
        whole = Decimal(numbers.randrange(1, 50))
        amount = Money(Decimal(numbers.randrange(0, 100_000)) / 100, "CNY")
        steps = sorted({Decimal(numbers.randrange(0, int(whole) + 1)) for _ in range(4)} | {whole})
        parts, before = zero("CNY"), Decimal(0)
        for step in steps:
            parts = parts + (share(amount, step, whole) - share(amount, before, whole))
            before = step
        assert parts == amount


def test_part_of_a_case_that_is_held_is_exact_in_base_units(tmp_path: Path) -> None:
    async def held() -> tuple[Decimal, Decimal]:
        shop = opened(tmp_path / "shop.db", stock=4)
        draft = OrderDraft("K2", (LineWanted("AA-1", Quantity(Decimal(2), "箱")),))
        order = (await shop.create_order(draft, write=Write("k", None))).order
        gone = await shop.cancel_order(order.head.number, reason="x", write=Write("c", None, order.head.version))
        assert [each.before for each in gone.changes if each.field == "line 1 reserved"] == [Quantity(Decimal(4), "个")]
        (level, _) = (await shop.get_stock(["AA-1"]))["AA-1"]
        shop.close()
        return order.lines[0].held, level.reserved

    assert asyncio.run(held()) == (Decimal(4), Decimal(0))
