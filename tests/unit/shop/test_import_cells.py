"""What cells of spreadsheets say, and which columns are what."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from erpilot.shop.importing.cells import (
    Unclear,
    amount_of,
    code_of,
    date_of,
    discount_of,
    flag_of,
    number_of,
    share_of,
    text_of,
)
from erpilot.shop.importing.fields import FIELDS as READERS
from erpilot.shop.importing.headings import plain, read_headings
from erpilot.shop.importing.kinds import KINDS, WHOLE
from erpilot.shop.importing.problems import column_letters
from erpilot.shop.importing.words import FIELDS, PROBLEMS


@pytest.mark.parametrize(
    ("cell", "value", "unit"),
    [
        (12, "12", None),
        (0.1 + 0.2, "0.3", None),
        (1008.0, "1008", None),
        ("1,234.50", "1234.50", None),
        ("１２", "12", None),
        (" 12箱 ", "12", "箱"),
        ("1.2万", "12000", None),
        ("3千", "3000", None),
        ("(300)", "-300", None),
        ("-5", "-5", None),
        (".5", "0.5", None),
        ("2.5 kg", "2.5", "kg"),
    ],
)
def test_a_number_is_read_with_the_unit_behind_it(cell: Any, value: str, unit: str | None) -> None:
    assert number_of(cell) == (Decimal(value), unit)


@pytest.mark.parametrize(
    "cell", ["待定", "1.2.3", "1,23", "12-13", True, float("nan"), "五个", "=1+1", "3千克", "(300"]
)
def test_what_is_no_number_is_refused(cell: Any) -> None:
    with pytest.raises(Unclear):
        number_of(cell)


@pytest.mark.parametrize(
    ("cell", "value", "unit", "currency"),
    [
        ("¥12.50", "12.50", None, "CNY"),
        ("￥1,234.50", "1234.50", None, "CNY"),
        ("12.50元", "12.50", None, "CNY"),
        ("12.5元整", "12.5", None, "CNY"),
        ("12.50 元/箱", "12.50", "箱", "CNY"),
        ("$3", "3", None, "USD"),
        ("US$3", "3", None, "USD"),
        ("-€3.10", "-3.10", None, "EUR"),
        ("3 USD", "3", None, "USD"),
        ("3美元/箱", "3", "箱", "USD"),
        (19.9, "19.9", None, None),
        ("12/箱", "12", "箱", None),
    ],
)
def test_money_is_read_with_what_it_is_for_and_its_currency(
    cell: Any, value: str, unit: str | None, currency: str | None
) -> None:
    assert amount_of(cell) == (Decimal(value), unit, currency)


@pytest.mark.parametrize("cell", ["$3元", "12箱", "5 dollars", "元/箱"])
def test_what_is_no_money_is_refused(cell: str) -> None:
    with pytest.raises(Unclear):
        amount_of(cell)


@pytest.mark.parametrize("cell", ["1.234,50", "12,5", "0,99 €", "1 234,50", "12,5678"])
def test_a_decimal_comma_is_refused_and_not_read_as_something_else(cell: str) -> None:
    with pytest.raises(Unclear) as caught:
        number_of(cell)
    assert caught.value.code == "decimal_comma"


@pytest.mark.parametrize(
    ("cell", "off"),
    [
        ("9.5折", "0.05"),
        ("九五折", "0.05"),
        ("85折", "0.15"),
        ("八折", "0.2"),
        ("5%", "0.05"),
        (0.15, "0.15"),
        (0, "0"),
    ],
)
def test_a_discount_is_what_is_taken_off(cell: Any, off: str) -> None:
    assert discount_of(cell, bare=False) == Decimal(off)


@pytest.mark.parametrize("cell", ["0.95", "95%", 1, "100%", 5, 9.5, 95])
def test_a_discount_that_can_be_what_is_left_is_refused(cell: Any) -> None:
    with pytest.raises(Unclear) as caught:
        discount_of(cell, bare=False)
    assert caught.value.code == "discount_two_meanings"
    assert discount_of(5, bare=True) == Decimal("0.05"), "under an English heading 5 is 5 %"


def test_what_nobody_sees_is_taken_out_of_a_text() -> None:
    assert text_of("\u202e苹\u200b果\x07\x1b[0m\n红") == "苹果[0m 红"


def test_a_quantity_is_no_money() -> None:
    with pytest.raises(Unclear):
        amount_of("12箱")


@pytest.mark.parametrize(
    ("cell", "code"), [(6901234567892.0, "6901234567892"), ("007", "007"), (7, "7"), ("'01", "01")]
)
def test_a_code_keeps_its_digits(cell: Any, code: str) -> None:
    assert code_of(cell) == code


@pytest.mark.parametrize("cell", ["6.90123E+12", 6.9e17])
def test_a_code_that_lost_digits_is_refused(cell: Any) -> None:
    with pytest.raises(Unclear, match="code_lost_digits"):
        code_of(cell)


@pytest.mark.parametrize("cell", ["13%", 13, 0.13, "0.13", "１３％"])
def test_a_rate_is_the_same_in_all_its_forms(cell: Any) -> None:
    assert share_of(cell) == Decimal("0.13")


@pytest.mark.parametrize(
    "cell",
    [
        "2026-11-03",
        "2026/11/3",
        "2026.11.3",
        "2026年11月3日",
        "20261103",
        20261103,
        46329,
        46329.5,
        "3-Nov-2026",
        "November 3, 2026",
        date(2026, 11, 3),
        datetime(2026, 11, 3, 8, 5),  # noqa: DTZ001
        "2026-11-03 08:05:00",
    ],
)
def test_a_date_is_the_same_in_all_its_forms(cell: Any) -> None:
    assert date_of(cell) == date(2026, 11, 3)


@pytest.mark.parametrize(
    ("cell", "code"), [("3/11/2026", "date_two_meanings"), ("2026-13-01", "not_a_date"), ("x", "not_a_date")]
)
def test_a_date_that_cannot_be_read_one_way_only_is_refused(cell: str, code: str) -> None:
    with pytest.raises(Unclear, match=code):
        date_of(cell)


@pytest.mark.parametrize(
    ("cell", "flag"), [("是", True), ("√", True), (True, True), ("下架", False), (0, False), ("N", False)]
)
def test_yes_and_no_are_read(cell: Any, flag: bool) -> None:
    assert flag_of(cell) is flag


@given(st.text(max_size=40) | st.floats() | st.integers() | st.booleans() | st.none() | st.dates() | st.datetimes())
@settings(max_examples=200)
def test_whatever_a_cell_is_it_is_read_or_refused(cell: Any) -> None:
    for read in (text_of, code_of, number_of, amount_of, share_of, flag_of, date_of):
        found = None
        try:
            read(cell)
        except Unclear as unclear:
            found = unclear
        assert found is None or found.code in PROBLEMS


@given(st.decimals(0, 10**9, places=3), st.sampled_from(["{:f}", "{:,f}", " {:f} 箱", "{:f}瓶"]))
@settings(max_examples=80)
def test_a_number_is_read_back_from_its_text(value: Decimal, form: str) -> None:
    assert number_of(form.format(value))[0] == value


@pytest.mark.parametrize(
    ("heading", "name", "inside"),
    [
        ("库 存(箱)*", "库存", "箱"),
        ("单价（元）", "单价", "元"),
        ("Unit Price [CNY]", "unitprice", "CNY"),
        ("数量/箱", "数量", "箱"),
        ("SKU：", "sku", None),
        ("product_id", "productid", None),
    ],
)
def test_a_heading_is_compared_without_its_dress(heading: str, name: str, inside: str | None) -> None:
    assert plain(heading) == (name, inside)


def test_of_two_columns_for_one_field_the_surer_one_is_taken() -> None:
    found = read_headings(1, ["product_id", "code", "name"], KINDS["products"].headings)
    assert found.columns["sku"].letters == "B"
    assert [problem.code for problem in found.problems] == ["heading_twice"]
    assert found.unused == (("A", "product_id"),)


def test_what_a_person_says_of_a_column_goes_first() -> None:
    found = read_headings(
        1, ["编码", "名称", "价A", "价B"], KINDS["products"].headings, {"D": "list_price", "名称": "-"}
    )
    assert {name: column.letters for name, column in found.columns.items()} == {"sku": "A", "list_price": "D"}


def test_columns_have_the_letters_of_a_spreadsheet() -> None:
    assert [column_letters(index) for index in (0, 25, 26, 51, 52, 701, 702)] == [
        "A",
        "Z",
        "AA",
        "AZ",
        "BA",
        "ZZ",
        "AAA",
    ]


def test_every_field_of_every_kind_can_be_read_and_has_words() -> None:
    for kind in WHOLE:
        for name in kind.headings.values():
            assert name in READERS
            assert name in FIELDS
