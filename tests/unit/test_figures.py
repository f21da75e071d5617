"""The figures of an answer: which stand there, and where each came from."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_core.answers import Evidence, Findings, Result
from erpilot.figures import FIGURES
from erpilot.figures.numerals import chinese, english
from erpilot.figures.reading import mentions, normal

STOCK = {
    "products": [
        {
            "sku": "PA4-70",
            "name": "得力 A4 复印纸",
            "specification": "70g 500张",
            "available": "485",
            "warehouses": [{"warehouse": "main", "on_hand": "400"}, {"warehouse": "east", "on_hand": "85"}],
        }
    ],
    "total": {"CNY": "12345.60"},
    "tax_rate": "0.13",
    "discount_percent": "5",
    "change": "-320.50",
    "customer": "三只松鼠专卖",
    "number": "SO-2026-0123",
    "valid_until": "2026-12-31",
    "as_of": "2026-11-30T08:05+08:00",
}


def check(answer: str, result: Any = STOCK, *said: str) -> Findings:
    content = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
    return FIGURES.check(Evidence(answer, said, (Result("c1", "check_stock", content),)))


def values(text: str) -> list[str]:
    return [str(value.normalize()) for mention in mentions(normal(text)) for value in mention.values[:1]]


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("三千二", 3200),
        ("三千零二", 3002),
        ("两百五", 250),
        ("一万两千", 12000),
        ("一万二", 12000),
        ("十二", 12),
        ("一百零五", 105),
        ("二十三万四千五百六十七", 234567),
        ("一亿零三万", 100030000),
        ("二〇二六", 2026),
        ("三点五", "3.5"),
        ("十", 10),
    ],
)
def test_a_chinese_numeral_has_the_value_that_people_mean(written: str, value: int | str) -> None:
    assert chinese(written) == Decimal(value)


@pytest.mark.parametrize("written", ["", "点五", "三点", "箱", "三三千"])
def test_what_is_no_chinese_numeral_has_no_value(written: str) -> None:
    assert chinese(written) is None


@given(st.integers(0, 99_999_999))
@settings(max_examples=200)
def test_every_whole_number_is_read_back_from_its_chinese_words(number: int) -> None:
    assert chinese(_in_words(number)) == number


def _in_words(number: int) -> str:
    def below(value: int) -> str:
        words, zero = "", False
        for scale, sign in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
            digit = value // scale % 10
            if digit:
                words += ("零" if zero and words else "") + "零一二三四五六七八九"[digit] + sign
                zero = False
            else:
                zero = bool(words)
        return words

    high, low = divmod(number, 10_000)
    if not high:
        return below(low) or "零"
    return below(high) + "万" + (("零" if low < 1000 else "") + below(low) if low else "")


def test_number_words_are_read() -> None:
    assert english("two thousand five hundred and twelve") == 2512
    assert english("a hundred") == 100
    assert english("twenty-five") == 25
    assert english("good") is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("合计 ¥3,200.00 元", ["3.2E+3"]),
        ("１２３ 箱", ["123"]),
        ("三千二百箱", ["3.2E+3"]),
        ("1.2万元", ["1.2E+4"]),
        ("3.5 million", ["3.5E+6"]),
        ("涨了 12.5%", ["12.5"]),
        ("百分之五", ["5"]),
        ("打 9.5 折", ["5"]),
        ("八折", ["2E+1"]),
        ("-320.50", ["-320.5"]),
        ("20 箱×98.30", ["2E+1", "98.3"]),
        ("两箱", ["2"]),
        ("12\u202f345 块", ["12345"]),
    ],
)
def test_numbers_are_read_in_all_the_ways_they_are_written(text: str, expected: list[str]) -> None:
    assert values(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "1. 苹果\n2. 梨\n3. 桃",
        "- **1)** first\n- **2)** second",
        "① 苹果 ② 梨",
        "| # | name |\n|---|---|\n| 1 | apple |\n| 2 | pear |",
        "第 3 步，第二个，the 1st and the 22nd",
        "万一不够，千万别急，十分感谢，一下子，三个里面，周五，星期三",
        "in Q3, step 2",
        "the top 3，前 10 名",
        "三季度",
    ],
)
def test_numbering_ordinals_and_words_that_hold_a_numeral_are_no_figures(text: str) -> None:
    assert mentions(normal(text)) == []


def test_a_number_at_the_beginning_of_a_line_that_does_not_count_up_is_a_figure() -> None:
    assert values("共:\n485. 余下没有") == ["485"]


@pytest.mark.parametrize(
    ("answer", "path", "derivation"),
    [
        ("可用 485 包", "products[0].available", None),
        ("可用 四百八十五 包", "products[0].available", None),
        ("available: 485", "products[0].available", None),
        ("合计 12,345.60 元", "total.CNY", None),
        ("合计 ¥12345.6", "total.CNY", None),
        ("税率 13%", "tax_rate", "percent"),
        ("9.5 折", "discount_percent", "discount"),
        ("95折", "discount_percent", "discount"),
        ("少了 320.50", "change", "without_sign"),
        ("约 1.2万元", "total.CNY", "rounded"),
        ("about 12 thousand", "total.CNY", "rounded"),
        ("订单 SO-2026-0123", "number", None),
        ("订单 so-2026-0123", "number", None),
        ("有效期至 12月31日", "valid_until", None),
        ("until December 31, 2026", "valid_until", None),
        ("读取时间 8:05", "as_of", None),
        ("两仓共", None, None),
        ("2 个仓库", "products[0].warehouses", "count"),
        ("三只松鼠专卖", "customer", None),
        ("70g 500张", "products[0].specification", None),
        ("每包 500 张", "products[0].specification", "text"),
    ],
)
def test_a_figure_is_traced_to_where_it_stands(answer: str, path: str | None, derivation: str | None) -> None:
    found = check(answer)
    assert found.untraced == ()
    assert {(each.path, each.derivation) for each in found.figures} == ({(path, derivation)} if path else set())


@pytest.mark.parametrize(
    "answer",
    [
        "可用 486 包",
        "合计 12,345.61 元",
        "合计 12,345 元",
        "订单 SO-2026-0124",
        "订单 SO-2026-012",
        "税率 14%",
        "九折",
        "有效期至 12月30日",
        "2025-12-31",
        "读取时间 8:06",
        "约 1.3万元",
        "三千二百箱",
        "七箱",
        "885 = 485 + 400",
    ],
)
def test_a_figure_that_stands_nowhere_is_untraced(answer: str) -> None:
    assert check(answer).untraced


def test_one_word_for_stock_is_never_traced_to_another() -> None:
    stock = {"on_hand": "485", "reserved": "15", "available": "470", "incoming": "30", "total": "485"}
    for answer in ("现有 485，已占用 15，可用 470，在途 30", "485 on hand, 15 reserved: available 470; incoming: 30"):
        found = check(answer, stock)
        assert found.untraced == ()
        assert [each.path for each in found.figures] == ["on_hand", "reserved", "available", "incoming"]
    for answer in ("可用 15", "available: 30", "30 packs reserved", "在途库存 470"):
        assert check(answer, {key: value for key, value in stock.items() if key != "total"}).untraced


def test_what_the_person_said_and_todays_date_are_sources() -> None:
    found = check("你要 三十 箱，今天 11月30日，单号 Q-7", {}, "要30箱，Q-7\n\n[today: 2026-11-30, Monday]")
    assert found.untraced == ()
    assert {each.derivation for each in found.figures} == {"question"}


def test_a_value_of_a_result_is_preferred_to_the_question() -> None:
    (figure,) = check("485 包", STOCK, "有 485 包吗").figures
    assert (figure.call_id, figure.path) == ("c1", "products[0].available")


def test_the_newest_result_is_preferred() -> None:
    results = tuple(Result(name, "check_stock", '{"available":"485"}') for name in ("old", "new"))
    assert FIGURES.check(Evidence("485", (), results)).figures[0].call_id == "new"


def test_a_result_that_was_cut_is_read_as_text() -> None:
    assert check("可用 485", '{"available":"485","note":"…[cut]').untraced == ()


def test_a_name_does_not_vouch_for_the_same_number_elsewhere() -> None:
    found = check("70g 500张：共 500 箱", {"specification": "70g 500张", "note": "x"})
    assert [(each.text, each.derivation) for each in found.figures if each.text == "500"] == [
        ("500", None),
        ("500", "text"),
    ], "what only stands in a name is said to be from a text"


def test_a_range_is_traced_by_both_its_ends() -> None:
    assert check("10-20 箱", {"from": 10, "to": 20}).untraced == ()
    assert check("10-21 箱", {"from": 10, "to": 20}).untraced == ("10-21",)


@given(st.decimals(0, 10**9, places=2, allow_nan=False, allow_infinity=False), st.sampled_from(["{:,}", "¥{:,}", "{}"]))
@settings(max_examples=60)
def test_every_amount_of_a_result_is_traced_however_it_is_written(amount: Decimal, form: str) -> None:
    assert check(f"合计 {form.format(amount)} 元", {"total": str(amount)}).untraced == ()


@given(st.integers(20, 10**7), st.integers(1, 10**7))
@settings(max_examples=60)
def test_no_whole_number_is_traced_to_another_one(there: int, off: int) -> None:
    found = check(f"共 {there + off} 件", {"total": there})
    assert found.untraced == (str(there + off),)


@given(st.text(max_size=300), st.text(max_size=100))
@settings(max_examples=100)
def test_whatever_an_answer_and_a_result_are_nothing_breaks(answer: str, content: str) -> None:
    found = check(answer, content, answer[:50])
    texts = {mention.text for mention in mentions(normal(answer))}
    assert {each.text for each in found.figures} | set(found.untraced) == texts


def test_an_endless_row_of_figures_is_cut_and_said_to_be() -> None:
    assert check(" ".join(f"{number}x" for number in range(3000))).untraced[-1] == "…"
