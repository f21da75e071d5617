"""Rights, limits, shares and figures of the shop: the pure parts behind its verbs."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from erpilot.shop import concerns
from erpilot.shop.backend import READS, VERBS, ErpBackend, offered
from erpilot.shop.catalogue import Product, StockLevel, Unit, Warehouse, available_on, complete_on
from erpilot.shop.documents import Customer, Line, Order, OrderHead
from erpilot.shop.embedded.facts import digest, fact, fact_text
from erpilot.shop.errors import Denied, Unsupported
from erpilot.shop.pricing import PriceList, PriceTier, Quote, figures, price_line, share
from erpilot.shop.rights import MEANINGS, RIGHTS, ROLES, require, rights_of
from erpilot.shop.rules import price_concerns
from erpilot.shop.values import Company, Money, Quantity, zero
from erpilot.shop.verbs.money import Ageing
from erpilot.shop.verbs.reading import Account
from erpilot.shop.verbs.reporting import SalesFigures

TODAY = date(2026, 11, 30)
RETAIL = PriceList("retail", "零售价", "CNY", tax_included=True)
COMPANY = Company("小店")
MONEY = st.decimals("0", "999999.99", places=2).map(lambda amount: Money(amount, "CNY"))


def cny(amount: str) -> Money:
    return Money(Decimal(amount), "CNY")


def quote(price: str, *, by_hand: str | None = None, discount: str = "0", cost: str | None = "6.00") -> Quote:
    product = Product(
        "A-1", "货", "", "杂货", (Unit("个", Decimal(1)),), Decimal("0.13"), Decimal(price),
        cost=None if cost is None else Decimal(cost),
    )  # fmt: skip
    tier = PriceTier(Decimal(1), Decimal(price), TODAY, TODAY)
    hand = None if by_hand is None else Decimal(by_hand)
    line = price_line(
        product, Quantity(Decimal(10), "个"), [tier], RETAIL, Decimal(price), TODAY, Decimal(discount), hand
    )
    return Quote(None, RETAIL, (line,), TODAY)


def codes(asked: Quote) -> list[str]:
    return [each.code for each in price_concerns(asked, COMPANY)]


def test_every_right_has_a_meaning_and_every_role_only_rights_that_there_are() -> None:
    assert set(MEANINGS) == set(RIGHTS)
    assert all(rights <= set(RIGHTS) for rights in ROLES.values())
    assert rights_of(["clerk", "warehouse"]) == ROLES["clerk"] | ROLES["warehouse"]
    assert rights_of([]) == frozenset()


def test_a_missing_right_is_named() -> None:
    require(frozenset({"sell"}), "sell")
    with pytest.raises(Denied, match="'money'") as caught:
        require(frozenset({"sell"}), "money")
    assert caught.value.right == "money"


def test_what_a_class_does_not_override_is_not_offered_and_refused() -> None:
    class Nothing(ErpBackend):
        kind = "nothing"

        async def get_order(self, number: str, kind: Any = None) -> Order:
            raise NotImplementedError

    assert offered(Nothing) == {"get_order"}
    assert offered(ErpBackend) == frozenset()
    assert len({*VERBS, *READS}) == len(VERBS) + len(READS)
    error = Unsupported("create_quotation", "nothing", detail="no sales")
    assert "create quotation" in error.message
    assert "no sales" in error.message


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        (quote("10.00"), []),
        (quote("10.00", discount="15"), []),
        (quote("10.00", discount="15.5"), ["discount"]),
        (quote("10.00", by_hand="8.50"), []),
        (quote("10.00", by_hand="8.49"), ["discount"]),
        (quote("10.00", by_hand="12.00"), []),
        (quote("6.77"), ["below_cost"]),
        (quote("6.78"), []),
        (quote("10.00", by_hand="5.00"), ["discount", "below_cost"]),
        (quote("10.00", by_hand="5.00", cost=None), ["discount"]),
    ],
)
def test_a_lower_price_by_hand_is_a_discount_and_net_below_cost_is_below_cost(asked: Quote, found: list[str]) -> None:
    assert codes(asked) == found


def test_concerns_about_prices_say_nothing_of_the_cost() -> None:
    (below,) = price_concerns(quote("5.00"), COMPANY)
    assert "6" not in "".join(below.values.values())
    assert (below.token, below.right) == ("below_cost", "discount_over")


def account(*, limit: str | None, terms: int = 30, used: str = "0", overdue: str = "0") -> Account:
    customer = Customer("C1", "客户", (), "retail", "CNY", terms, None if limit is None else cny(limit))
    return Account(customer, cny(used), zero("CNY"), cny(overdue), TODAY if overdue != "0" else None)


def test_the_credit_limit_stops_what_passes_it_and_overdue_debt_is_said() -> None:
    assert concerns.credit(account(limit="100", used="40"), cny("60")) == []
    (over,) = concerns.credit(account(limit="100", used="40"), cny("60.01"))
    assert (over.code, over.token, over.right, over.values["over"]) == ("credit", "credit", "credit_over", "0.01 CNY")
    assert concerns.credit(account(limit=None, used="40"), cny("99999")) == []
    assert concerns.credit(account(limit="0", terms=0), cny("60")) == []
    (late,) = concerns.credit(account(limit=None, overdue="7"), cny("1"))
    assert (late.code, late.token) == ("overdue", None)


def line(ordered: str, *, cancelled: str = "0", delivered: str = "0", held: str = "0", factor: str = "1") -> Line:
    return Line(
        1, "A-1", "货", "", "箱", Decimal(factor), "个", Decimal(ordered), Decimal("3.33"), Decimal("0.13"),
        Money(Decimal("3.33") * Decimal(ordered), "CNY"), cny("1.00"), cancelled=Decimal(cancelled),
        delivered=Decimal(delivered), held=Decimal(held),
    )  # fmt: skip


def test_what_is_short_is_counted_over_all_lines_of_a_product() -> None:
    place = Warehouse("MAIN", "总仓")
    levels = {"A-1": [StockLevel("A-1", place, Decimal(30), Decimal(10))]}
    (short,) = concerns.shortages([line("1", factor="12"), line("1", factor="12")], levels, "MAIN")
    assert short.values == {"sku": "A-1", "missing": "4 个"}
    assert concerns.shortages([line("1", factor="12")], levels, "EAST")[0].values["missing"] == "12 个"


def test_an_expired_quotation_is_accepted_by_its_day() -> None:
    head = OrderHead("Q-1", "quotation", "C1", "客户", TODAY, None, "quoted", "none", "none", cny("1"), "1")
    order = Order(head, True, "总仓", (line("1"),), valid_until=TODAY)
    assert concerns.expiry(order, TODAY) == []
    (expired,) = concerns.expiry(order, TODAY + timedelta(1))
    assert expired.token == "expired:2026-11-30"


def test_what_waits_is_not_promised_to_others() -> None:
    place = Warehouse("MAIN", "总仓")
    levels = (StockLevel("A-1", place, Decimal(10), Decimal(10), waiting=Decimal(5)),)
    assert available_on(levels, TODAY, TODAY) == -5
    assert complete_on(levels, Decimal(1), TODAY) is None


@given(amount=MONEY, cuts=st.lists(st.integers(0, 40), max_size=5))
def test_growing_shares_add_up_to_the_amount(amount: Money, cuts: list[int]) -> None:
    parts, before = zero("CNY"), Decimal(0)
    for cut in [*sorted(cuts), 40]:
        parts = parts + (share(amount, Decimal(cut), Decimal(40)) - share(amount, before, Decimal(40)))
        before = Decimal(cut)
    assert parts == amount


@given(cancelled=st.integers(0, 9), tax_included=st.booleans())
def test_what_counts_as_sold_is_what_is_not_cancelled(cancelled: int, tax_included: bool) -> None:
    whole = figures(line("9", factor="12"), tax_included=tax_included)
    kept = figures(line("9", factor="12", cancelled=str(cancelled)), tax_included=tax_included)
    assert kept.sold == (9 - cancelled) * 12
    assert kept.gross == share(whole.gross, Decimal(9 - cancelled), Decimal(9))
    assert kept.net.amount <= kept.gross.amount


@given(not_due=MONEY, overdue=st.lists(MONEY, min_size=4, max_size=4), unapplied=MONEY)
def test_buckets_less_credits_are_what_is_outstanding(not_due: Money, overdue: list[Money], unapplied: Money) -> None:
    ageing = Ageing(not_due, tuple(overdue), unapplied)
    total = not_due.amount + sum(each.amount for each in overdue) - unapplied.amount
    assert ageing.outstanding == Money(total, "CNY")


def test_a_margin_leaves_out_what_has_no_cost_and_no_sales_have_no_average() -> None:
    told = SalesFigures(
        cny("113"), cny("100"), zero("CNY"), 4, cost=cny("60"), without_cost=1, net_without_cost=cny("20")
    )
    assert (told.margin, told.margin_percent, told.average) == (cny("20"), Decimal("25.0"), cny("28.25"))
    nothing = SalesFigures(zero("CNY"), zero("CNY"), zero("CNY"), 0, cost=zero("CNY"))
    assert (nothing.average, nothing.margin_percent) == (None, None)
    assert SalesFigures(cny("1"), cny("1"), zero("CNY"), 1).margin is None


FACTS = st.one_of(
    st.none(),
    st.text(),
    st.integers(),
    st.decimals(allow_nan=False, allow_infinity=False, places=3),
    MONEY,
    st.dates(),
    st.builds(Quantity, st.decimals("-999999", "999999", places=3), st.sampled_from(("个", "箱", "a b:c"))),
)


@given(FACTS)
def test_a_fact_reads_back_as_it_was(value: Any) -> None:
    back = fact(fact_text(value))
    assert back == value
    assert type(back) is type(value)


def test_a_request_has_one_digest_and_another_another() -> None:
    asked = (line("3"), "C1", None, TODAY, frozenset({"a"}))
    assert digest(*asked) == digest(*asked)
    assert digest(*asked) != digest(line("4"), *asked[1:])


def test_a_part_of_a_case_that_is_held_is_told_in_cases_and_exact_in_base_units() -> None:
    held = line("2", factor="6", held="4")
    assert held.held == 4
    assert round(held.reserved, 3) == Decimal("0.667")
