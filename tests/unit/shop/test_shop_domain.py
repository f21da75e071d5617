"""The invariants of products, stock, documents and prices, as properties."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from erpilot.shop.catalogue import Arrival, Product, StockLevel, Unit, Warehouse, available_on, complete_on
from erpilot.shop.documents import Line, add_up, progress
from erpilot.shop.errors import Invalid, Refused
from erpilot.shop.pricing import PriceList, PriceTier, line_amounts, price_line
from erpilot.shop.values import Money, Quantity

TODAY = date(2026, 11, 30)
MAIN = Warehouse("MAIN", "总仓")
SOY = Product(
    sku="SOY",
    name="酱油",
    specification="500ml",
    category="调味",
    units=(Unit("瓶", Decimal(1)), Unit("箱", Decimal(12)), Unit("托", Decimal(720))),
    tax_rate=Decimal("0.13"),
    list_price=Decimal("9.90"),
)
BEANS = Product(
    sku="BEAN",
    name="黄豆",
    specification="",
    category="粮油",
    units=(Unit("kg", Decimal(1), whole=False), Unit("袋", Decimal(25))),
    tax_rate=Decimal("0.09"),
    list_price=Decimal("7.80"),
)
counts = st.integers(min_value=1, max_value=10_000).map(Decimal)
quantities = st.decimals(min_value=0, max_value=10**6, places=3, allow_nan=False, allow_infinity=False)
prices = st.decimals(min_value="0.01", max_value=10**5, places=2, allow_nan=False, allow_infinity=False)
rates = st.sampled_from([Decimal(each) for each in ("0", "0.06", "0.09", "0.13")])
percents = st.decimals(min_value=0, max_value=99, places=1, allow_nan=False, allow_infinity=False)


@given(counts, st.sampled_from(["瓶", "箱", "托"]))
def test_a_unit_to_the_base_unit_and_back_is_the_identity(count: Decimal, unit: str) -> None:
    quantity = Quantity(count, unit)
    assert SOY.from_base(SOY.to_base(quantity), unit) == quantity


@given(st.integers(min_value=0, max_value=10**6).map(Decimal), st.sampled_from(["箱", "托"]))
def test_whole_units_and_the_rest_are_all_of_it(base: Decimal, unit: str) -> None:
    whole, rest = SOY.split(base, unit)
    assert SOY.to_base(whole).value + rest.value == base
    assert whole.value == whole.value.to_integral_value()
    assert 0 <= rest.value < SOY.unit(unit).factor


@pytest.mark.parametrize("value", ["0", "-1", "0.5", "nan", "inf", "10000001", "1e20"])
def test_a_quantity_that_cannot_be_sold_is_refused(value: str) -> None:
    with pytest.raises(Invalid, match="cannot be"):
        SOY.quantity(Decimal(value), None)


def test_a_fraction_is_sold_only_where_the_unit_has_fractions() -> None:
    assert BEANS.quantity(Decimal("2.5"), "公斤") == Quantity(Decimal("2.5"), "kg")
    with pytest.raises(Invalid, match="whole"):
        BEANS.quantity(Decimal("0.5"), "袋")
    with pytest.raises(Invalid, match="cannot be meant"):
        BEANS.quantity(Decimal("0.0001"), "kg")


def test_an_unknown_unit_is_refused_with_those_there_are() -> None:
    with pytest.raises(Invalid, match="'桶' is not a unit of SOY") as refusal:
        SOY.unit("桶")
    assert refusal.value.hint == "Its units: 瓶, 箱 (= 12 瓶), 托 (= 720 瓶)."


def test_a_word_that_can_mean_two_units_of_a_product_is_refused() -> None:
    both = Product(
        "X",
        "x",
        "",
        "c",
        (Unit("支", Decimal(1)), Unit("盒", Decimal(12)), Unit("箱", Decimal(144))),
        Decimal(0),
        Decimal(1),
    )
    with pytest.raises(Invalid, match="several units"):
        both.unit("box")
    assert both.unit("case").name == "箱"


@given(quantities, quantities, st.lists(st.tuples(quantities, st.integers(-5, 20), st.booleans()), max_size=5))
def test_stock_words_add_up(on_hand: Decimal, reserved: Decimal, arrivals: list[tuple[Decimal, int, bool]]) -> None:
    coming = tuple(Arrival(qty, TODAY + timedelta(day), f"PO-{day}", sure) for qty, day, sure in arrivals)
    level = StockLevel("SOY", MAIN, on_hand, reserved, coming)
    assert level.available == on_hand - reserved
    assert level.incoming + level.incoming_unconfirmed == sum((each.quantity for each in coming), Decimal(0))
    assert available_on((level,), TODAY - timedelta(1), TODAY) == level.available
    assert available_on((level,), TODAY + timedelta(99), TODAY) <= level.available + level.incoming


@given(quantities, st.lists(st.tuples(quantities, st.integers(-5, 20), st.booleans()), max_size=5), quantities)
def test_the_day_of_completion_is_the_first_that_covers_the_quantity(
    on_hand: Decimal, arrivals: list[tuple[Decimal, int, bool]], wanted: Decimal
) -> None:
    coming = tuple(Arrival(qty, TODAY + timedelta(day), "PO", sure) for qty, day, sure in arrivals)
    levels = (StockLevel("SOY", MAIN, on_hand, Decimal(0), coming),)
    day = complete_on(levels, wanted, TODAY)
    if day is None:
        assert available_on(levels, TODAY + timedelta(99), TODAY) < wanted
    else:
        assert day >= TODAY
        assert available_on(levels, day, TODAY) >= wanted
        assert day == TODAY or available_on(levels, day - timedelta(1), TODAY) < wanted


def test_a_late_or_unconfirmed_purchase_promises_nothing() -> None:
    coming = (
        Arrival(Decimal(50), TODAY - timedelta(1), "PO-1", confirmed=True),
        Arrival(Decimal(50), TODAY + timedelta(1), "PO-2", confirmed=False),
    )
    levels = (StockLevel("SOY", MAIN, Decimal(1), Decimal(0), coming),)
    assert complete_on(levels, Decimal(2), TODAY) is None


@st.composite
def lines(draw: st.DrawFn) -> Line:
    ordered = draw(st.integers(1, 1000))
    delivered = draw(st.integers(0, ordered))
    cancelled = draw(st.integers(0, ordered - delivered))
    returned = draw(st.integers(0, delivered))
    return _line(ordered, delivered, cancelled, returned)


def _line(ordered: int, delivered: int, cancelled: int, returned: int) -> Line:
    nothing = Money(Decimal(0), "CNY")
    return Line(
        line=1,
        sku="SOY",
        name="酱油",
        specification="",
        unit="瓶",
        factor=Decimal(1),
        base_unit="瓶",
        ordered=Decimal(ordered),
        unit_price=Decimal(1),
        tax_rate=Decimal(0),
        amount=nothing,
        tax=nothing,
        delivered=Decimal(delivered),
        cancelled=Decimal(cancelled),
        returned=Decimal(returned),
    )


@given(lines())
def test_ordered_is_delivered_and_cancelled_and_open(line: Line) -> None:
    assert line.ordered == line.delivered + line.cancelled + line.open
    assert line.open >= 0


@pytest.mark.parametrize(
    ("delivered", "cancelled", "returned"), [(11, 0, 0), (6, 5, 0), (3, 0, 4), (-1, 0, 0), (0, -1, 0)]
)
def test_a_line_that_does_not_reconcile_cannot_exist(delivered: int, cancelled: int, returned: int) -> None:
    with pytest.raises(ValueError, match="do not fit"):
        _line(10, delivered, cancelled, returned)


@given(st.lists(st.tuples(counts, prices, percents, rates), min_size=1, max_size=12), st.booleans())
def test_lines_and_tax_add_up_to_the_total(
    parts: list[tuple[Decimal, Decimal, Decimal, Decimal]], tax_included: bool
) -> None:
    pairs = [line_amounts(*part, "CNY", tax_included=tax_included) for part in parts]
    sums = add_up(pairs, "CNY", tax_included=tax_included)
    assert sums.subtotal + sums.tax == sums.total
    assert sums.tax.amount == sum(tax.amount for _, tax in pairs)
    amount = sum(amount.amount for amount, _ in pairs)
    assert amount == (sums.total.amount if tax_included else sums.subtotal.amount)


def test_tax_in_a_price_and_tax_on_a_price_are_different_numbers() -> None:
    inside = line_amounts(Decimal(1), Decimal(113), Decimal(0), Decimal("0.13"), "CNY", tax_included=True)
    on_top = line_amounts(Decimal(1), Decimal(100), Decimal(0), Decimal("0.13"), "CNY", tax_included=False)
    assert inside[1] == on_top[1] == Money(Decimal(13), "CNY")


TIERS = [
    PriceTier(Decimal(each), Decimal(price), TODAY - timedelta(9), TODAY + timedelta(9))
    for each, price in ((1, "8.71"), (120, "8.32"), (480, "7.92"))
]
WHOLESALE = PriceList("wholesale", "批发价", "CNY", tax_included=True)


@given(st.integers(1, 2000))
def test_the_tier_is_that_of_the_quantity_and_the_next_one_costs_less(count: int) -> None:
    line = price_line(SOY, Quantity(Decimal(count), "瓶"), TIERS, WHOLESALE, SOY.list_price, TODAY)
    expected = "8.71" if count < 120 else "8.32" if count < 480 else "7.92"
    assert line.unit_price == Decimal(expected)
    assert line.amount == Money(count * Decimal(expected), "CNY")
    if line.next_tier:
        assert line.next_tier.from_qty > count
        assert line.next_tier.unit_price < line.unit_price
    else:
        assert count >= 480


def test_a_price_by_the_case_is_that_of_its_bottles_and_tiers_are_told_in_cases() -> None:
    line = price_line(SOY, Quantity(Decimal(9), "箱"), TIERS, WHOLESALE, SOY.list_price, TODAY)
    assert (line.unit_price, line.base.value, line.list_price) == (Decimal("104.52"), Decimal(108), Decimal("118.80"))
    assert line.next_tier is not None
    assert (line.next_tier.from_qty, line.next_tier.unit) == (Decimal(10), "箱")


def test_outside_its_days_a_price_does_not_exist() -> None:
    with pytest.raises(Refused, match="no price in 批发价 on 2027-01-01"):
        price_line(SOY, Quantity(Decimal(1), "瓶"), TIERS, WHOLESALE, SOY.list_price, date(2027, 1, 1))


def test_progress_is_none_partial_or_full() -> None:
    assert progress([(Decimal(0), Decimal(5))]) == "none"
    assert progress([(Decimal(5), Decimal(5)), (Decimal(0), Decimal(1))]) == "partial"
    assert progress([(Decimal(5), Decimal(5))]) == "full"
    assert progress([(Decimal(0), Decimal(0))]) == "none"
