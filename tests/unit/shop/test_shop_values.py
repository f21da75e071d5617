"""Money, calendar and units as values."""

from __future__ import annotations

import contextlib
from datetime import date, datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from erpilot.shop.errors import Invalid
from erpilot.shop.units import parse_quantity, unit_names
from erpilot.shop.values import CURRENCY_DIGITS, Company, Money, Period, digits_of, totals, week_of, zone_of

amounts = st.decimals(min_value=-(10**9), max_value=10**9, places=4, allow_nan=False, allow_infinity=False)
currencies = st.sampled_from(sorted(CURRENCY_DIGITS))


@given(amounts, currencies)
def test_money_is_always_in_whole_smallest_units_and_survives_storage(amount: Decimal, currency: str) -> None:
    money = Money(amount, currency)
    assert -money.amount.as_tuple().exponent == digits_of(currency)  # type: ignore[operator]
    assert abs(money.amount - amount) * 2 <= Decimal(1).scaleb(-digits_of(currency))
    assert Money.from_minor(money.minor, currency) == money


def test_half_a_cent_is_rounded_up_and_away_from_zero() -> None:
    assert Money(Decimal("0.005"), "CNY").amount == Decimal("0.01")
    assert Money(Decimal("-0.005"), "CNY").amount == Decimal("-0.01")
    assert Money(Decimal("0.5"), "JPY").amount == Decimal(1)


def test_currencies_are_never_added_together() -> None:
    with pytest.raises(ValueError, match="CNY and USD"):
        Money(Decimal(1), "CNY") + Money(Decimal(1), "USD")


@given(st.lists(st.tuples(amounts, st.sampled_from(["CNY", "USD", "JPY"]))))
def test_totals_keep_each_currency_apart_and_lose_nothing(given_amounts: list[tuple[Decimal, str]]) -> None:
    moneys = [Money(amount, currency) for amount, currency in given_amounts]
    sums = totals(moneys)
    assert set(sums) == {money.currency for money in moneys}
    for currency, total in sums.items():
        assert total.amount == sum((m.amount for m in moneys if m.currency == currency), Decimal(0))


def test_an_unknown_currency_is_refused() -> None:
    with pytest.raises(Invalid, match="XYZ"):
        Money(Decimal(1), "XYZ")


@given(st.dates(min_value=date(2000, 1, 10), max_value=date(2100, 1, 1)))
def test_a_week_starts_on_monday_and_holds_its_day(day: date) -> None:
    week = week_of(day, Company("x"))
    assert week.start.weekday() == 0
    assert (week.end - week.start).days == 6
    assert week.start <= day <= week.end


def test_a_period_that_ends_before_it_starts_is_refused() -> None:
    with pytest.raises(Invalid, match="ends before it starts"):
        Period(date(2026, 2, 1), date(2026, 1, 1), "Asia/Shanghai")


def test_the_shops_zone_is_eight_hours_ahead_and_an_unknown_one_is_refused() -> None:
    noon = datetime(2026, 11, 30, 12, tzinfo=zone_of("Asia/Shanghai"))
    assert noon.isoformat() == "2026-11-30T12:00:00+08:00"
    with pytest.raises(Invalid, match="Mars"):
        zone_of("Mars/Base")


@pytest.mark.parametrize(
    ("written", "value", "unit"),
    [
        ("20", "20", None),
        ("3 箱", "3", "箱"),
        ("3箱", "3", "箱"),
        ("１２ 瓶", "12", "瓶"),
        ("1,200", "1200", None),
        ("2.5 kg", "2.5", "kg"),
        ("20 cases", "20", "cases"),
        (" 7 ", "7", None),
        ("-3", "-3", None),
        ("三箱", "3", "箱"),
        ("两百五 个", "250", "个"),
    ],
)
def test_a_quantity_is_read_as_people_write_it(written: str, value: str, unit: str | None) -> None:
    assert parse_quantity(written) == (Decimal(value), unit)


@pytest.mark.parametrize(
    "written", ["", "箱", "3 箱 5 瓶", "1e9", "nan", "inf", "3 4", "--2", "3..5", "很多", "十二万", "一半半"]
)
def test_what_is_not_one_quantity_is_refused_with_an_example(written: str) -> None:
    with pytest.raises(Invalid, match="is not a quantity"):
        parse_quantity(written)


@given(st.text(max_size=60))
def test_reading_a_quantity_never_fails_otherwise(written: str) -> None:
    with contextlib.suppress(Invalid):
        value, unit = parse_quantity(written)
        assert value.is_finite()
        assert unit is None or unit.strip() == unit


def test_english_words_stand_for_the_shops_units_singular_or_plural() -> None:
    assert "箱" in unit_names("cases")
    assert "箱" in unit_names("Box")
    assert "箱" in unit_names("boxes")
    assert unit_names("bottles") == ("瓶",)
    assert unit_names("桶") == ("桶",)
