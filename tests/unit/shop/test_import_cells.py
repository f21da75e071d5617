"""What cells of spreadsheets say, and which columns are what."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from erpilot.shop.importing.cells import Unclear, amount_of, code_of, date_of, flag_of, number_of, share_of, text_of
from erpilot.shop.importing.headings import plain, read_headings
from erpilot.shop.importing.kinds import KINDS, WHOLE
from erpilot.shop.importing.problems import column_letters
from erpilot.shop.importing.reading import _FIELDS
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
    ("cell", "value", "unit"),
    [
        ("¥12.50", "12.50", None),
        ("12.50元", "12.50", None),
        ("12.50 元/箱", "12.50", "箱"),
        ("$3", "3", None),
        (19.9, "19.9", None),
        ("12/箱", "12", "箱"),
    ],
)
def test_money_is_read_with_what_it_is_for(cell: Any, value: str, unit: str | None) -> None:
    assert amount_of(cell) == (Decimal(value), unit)


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
            assert name in _FIELDS
            assert name in FIELDS
