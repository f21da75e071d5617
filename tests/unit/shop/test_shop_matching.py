"""Vague texts and document numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from erpilot.shop.matching import Candidate, decided, fold, grams, query_grams, rank
from erpilot.shop.numbering import NumberAsked, read_number

PHONES = [
    Candidate(f"{colour}{size}", ("小米8 全面屏智能手机", "Xiaomi Mi 8 phone"), f"{colour} {size}G")
    for colour in ("黑色", "蓝色")
    for size in (32, 64)
]
GOODS = [
    *PHONES,
    Candidate("a4", ("得力 A4 复印纸", "A4 paper"), "70g 500张"),
    Candidate("a3", ("得力 A3 复印纸", "A3 paper"), "80g 500张"),
    Candidate("cola", ("可口可乐", "cola"), "500ml"),
    Candidate("cup", ("不锈钢保温杯", "flask", "thermos"), "500ml 银色"),
    Candidate("kettle", ("便携水壶", "big blue kettle"), "大号 2L 蓝色"),
]


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("黑色64G小米8", "黑色64"),
        ("小米8 黑色 64G", "黑色64"),
        ("小米 8 ６４ｇ　黑色", "黑色64"),
        ("a4纸", "a4"),
        ("Ａ４ 纸", "a4"),
        ("A4 PAPERS", "a4"),
        ("可乐", "cola"),
        ("COLA", "cola"),
        ("保温杯", "cup"),
        ("flasks", "cup"),
        ("那个蓝色的大号水壶", "kettle"),
        ("blue kettle", "kettle"),
    ],
)
def test_one_clear_match_is_decided_whatever_the_order_width_case_or_spaces(text: str, meant: str) -> None:
    ranked = rank(text, GOODS)
    assert ranked[0].key == meant
    assert decided(ranked)


@pytest.mark.parametrize("text", ["小米8", "复印纸", "黑色 小米", "小米9", "64G", "A5 纸", "500"])
def test_several_that_fit_or_a_number_that_does_not_leave_it_open(text: str) -> None:
    assert not decided(rank(text, GOODS))


def test_a_number_is_never_matched_in_part() -> None:
    assert not any(each.coverage >= 0.9 for each in rank("50 ml", [Candidate("x", ("水",), "500ml")]))


def test_what_shares_nothing_is_left_out() -> None:
    assert rank("桌子", GOODS) == []
    assert not decided([])


def test_an_exact_name_wins_over_a_longer_one_that_contains_it() -> None:
    ranked = rank("鑫源", [Candidate("b", ("鑫源达五金店", "鑫源达")), Candidate("a", ("鑫源商行", "鑫源"))])
    assert [each.key for each in ranked] == ["a", "b"]
    assert decided(ranked)


def test_of_two_with_the_same_name_the_active_one_is_meant() -> None:
    both = [Candidate("old", ("风扇",), active=False), Candidate("new", ("风扇",))]
    assert decided(rank("风扇", both))
    assert rank("风扇", both)[0].key == "new"


def test_a_slip_of_the_pen_still_finds_but_does_not_decide() -> None:
    ranked = rank("thermoz", GOODS)
    assert ranked[0].key == "cup"
    assert not decided(ranked)


@given(st.text(max_size=80))
def test_any_text_can_be_ranked_and_scores_stay_between_0_and_1(text: str) -> None:
    for each in rank(text, GOODS):
        assert 0 < each.coverage <= 1
        assert 0 <= each.score <= 1


@given(st.text(alphabet="黑白蓝大小米水壶杯纸可乐a4b 8", min_size=2, max_size=20))
def test_a_record_is_always_found_by_its_own_name(name: str) -> None:
    assert query_grams(name) <= grams(name) or fold(name) == ""


@pytest.mark.parametrize(
    "written",
    [
        "SO-2026-0123",
        "so20260123",
        "SO 2026 123",
        "２０２６-0123",
        "订单SO-2026-0123",
        " so-2026-0123 ",
        "#SO-2026-0123",
    ],
)
def test_a_full_number_is_read_in_every_spelling(written: str) -> None:
    asked = read_number(written)
    assert asked is not None
    assert (asked.serial, asked.year) == (123, 2026)


@pytest.mark.parametrize(
    "written", ["123", "#123", "订单123", "订单 123", "123号单", "No. 123", "order 123", "SO-123", "0123"]
)
def test_a_bare_number_has_no_year(written: str) -> None:
    asked = read_number(written)
    assert asked is not None
    assert (asked.serial, asked.year) == (123, None)
    assert asked.kind in (None, "sale")


def test_words_and_prefixes_say_the_kind() -> None:
    assert read_number("报价单 Q-1008") == NumberAsked(1008, "quotation", None)
    assert read_number("采购单12") == NumberAsked(12, "purchase", None)
    assert read_number("PO-2026-0031") == NumberAsked(31, "purchase", 2026)


@pytest.mark.parametrize("written", ["", "abc", "INV-301", "12 和 13", "订单", "x1y2"])
def test_what_is_no_number_of_a_document_is_not_read_as_one(written: str) -> None:
    assert read_number(written) is None


@given(st.text(max_size=60))
def test_reading_a_number_never_fails(written: str) -> None:
    asked = read_number(written)
    assert asked is None or asked.serial >= 0
