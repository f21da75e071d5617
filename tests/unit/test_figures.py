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


def test_a_name_does_not_vouch_for_a_quantity() -> None:
    found = check("70g 500张：共 500 箱", {"specification": "70g 500张", "note": "x"})
    assert [each.text for each in found.figures] == ["70g", "500"]
    assert found.untraced == ("500",)
    for invented in ("可订 70 包", "共 500 件", "应付 500 元", "20 packs", "2026 箱"):
        assert check(invented, {"sku": "PA4-70", "name": "A4 纸 500张 20*30", "number": "SO-2026-0123"}).untraced
    for told in ("500张的那种", "SO-2026-0123", "订单 123 已发", "A4 纸 500张 20*30，PA4-70"):
        assert not check(told, {"sku": "PA4-70", "name": "A4 纸 500张 20*30", "number": "SO-2026-0123"}).untraced


MONEY = {
    "total": [
        {"currency": "CNY", "revenue": "20345.60"},
        {"currency": "USD", "revenue": "99.90", "compared": {"before": "80"}},
    ],
    "by": {"EUR": "12.34"},
    "note": "deposit of 500 USD",
}


@pytest.mark.parametrize(
    "told",
    ["¥20,345.60", "20345.6 元", "CNY 20,345.60", "$99.90", "99.9 美元", "US$99.90", "before it was $80", "€12.34",
     "定金 500 美元", "20,345.60", "合计 99.90"],
)  # fmt: skip
def test_an_amount_is_traced_to_one_of_its_currency(told: str) -> None:
    assert check(told, MONEY).untraced == ()


@pytest.mark.parametrize(
    "told", ["$20,345.60", "20345.6 美元", "99.90 元", "¥99.90", "RMB 80", "12.34 USD", "定金 500 元", "€20,345.60"]
)
def test_an_amount_is_never_traced_to_one_of_another_currency(told: str) -> None:
    assert len(check(told, MONEY).untraced) == 1


CHANGES = {"compared": {"before": "30174.61", "difference": "-2176.13", "change_percent": "-7.2"}}


def test_a_fall_that_is_told_as_a_rise_has_no_source_and_the_other_way_round() -> None:
    for told in ("下降了 7.2%", "环比 -7.2%", "减少 2,176.13 元", "fell by 7.2%", "down 7.2 %", "差 2,176.13"):
        assert check(told, CHANGES).untraced == (), told
    for told in ("增长 7.2%", "上涨了 7.2%", "增加 2,176.13 元", "grew by 7.2%", "up 2,176.13"):
        assert len(check(told, CHANGES).untraced) == 1, told
    risen = {"compared": {"change_percent": "13.7", "difference": "194.98"}, "short": "5"}
    for told in ("增长 13.7%", "up 13.7%", "+13.7%", "还少 5 包", "减 5 包"):
        assert check(told, risen).untraced == (), told
    for told in ("下降 13.7%", "fell by 13.7%", "减少了 194.98"):
        assert len(check(told, risen).untraced) == 1, told


def test_a_list_does_not_vouch_for_a_quantity_of_goods_or_money() -> None:
    rows = {"rows": [{"name": "a"}, {"name": "b"}, {"name": "c"}]}
    for told in ("共 3 行", "3 种商品", "三个客户", "3 products"):
        assert check(told, rows).untraced == (), told
    for told in ("可用 3 包", "3 箱", "3 元", "$3", "3 天", "3倍", "3 boxes"):
        assert len(check(told, rows).untraced) == 1, told


def test_a_number_that_is_no_share_is_no_percentage() -> None:
    result = {"quantity": "47", "tax_rate": "0.13", "share_percent": "12.5", "note": "5% off"}
    for told in ("13%", "12.5%", "5%", "百分之十三"):
        assert check(told, result).untraced == (), told
    assert check("47%", result).untraced == ("47%",)
    assert check("4700%", result).untraced == ("4700%",)


@pytest.mark.parametrize("told", ["138 1234 5678", "138-1234-5678", "13812345678", "0571 88889999", "0571-88889999"])
def test_a_telephone_number_is_one_however_it_is_parted(told: str) -> None:
    assert check(f"电话 {told}", {"contact": "张三 13812345678, 057188889999"}).untraced == ()
    assert check(f"电话 {told}", {"contact": "张三 13912345678, 057188889990"}).untraced != ()


@pytest.mark.parametrize("told", ["8点05分", "上午8:05", "08:05", "早上8点05分"])
def test_a_time_is_read_as_people_say_it(told: str) -> None:
    assert check(f"截至 {told}", {"as_of": "2026-11-30T08:05+08:00"}).untraced == ()
    assert check(f"截至 {told}", {"as_of": "2026-11-30T09:05+08:00"}).untraced != ()


def test_the_hour_alone_and_the_afternoon_are_times() -> None:
    result = {"from": "2026-11-30T15:00+08:00", "to": "2026-11-30T20:30+08:00"}
    for told in ("下午3点", "15点", "下午 3 点整", "晚上8点半"):
        assert check(f"{told}，送货", result).untraced == (), told
    assert check("下午4点，送货", result).untraced == ("下午4点",)


@pytest.mark.parametrize(
    ("told", "amount"), [("三块五", "3.5"), ("3块5", "3.50"), ("二十元六角五分", "20.65"), ("12元5角", "12.5")]
)
def test_yuan_and_jiao_are_one_amount(told: str, amount: str) -> None:
    assert check(f"单价{told}", {"currency": "CNY", "unit_price": amount}).untraced == ()
    assert len(check(f"单价{told}", {"currency": "CNY", "unit_price": "3.51"}).untraced) == 1


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
