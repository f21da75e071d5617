"""How the offline model reads a question: numbers, quantities, names, whom it is for, and what it refuses."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core.context.front import STOPPED
from erpilot import offline
from erpilot.offline.reading import Asked, Item, question, read


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("订单123", ["123"]),
        ("订单 #123 里有什么", ["123"]),
        ("#123", ["123"]),
        ("123 号单", ["123"]),
        ("123号订单里有什么", ["123"]),
        ("SO-2026-0123 的明细", ["SO-2026-0123"]),
        ("so-2026-0123", ["so-2026-0123"]),
        ("订单 SO-2026-0123 和 SO-2026-0124", ["SO-2026-0123", "SO-2026-0124"]),
        ("订单 123、124 和 125 里有什么", ["123", "124", "125"]),
        ("orders 123, 124 and 125", ["123", "124", "125"]),
        ("order no. 123", ["123"]),
        ("what is in Q-1008", ["Q-1008"]),
        ("单号：１２３", ["123"]),
    ],
)
def test_numbers_of_documents_are_read_in_all_their_forms(text: str, numbers: list[str]) -> None:
    asked = read(question(text))
    assert [each for each, _ in asked.orders] == numbers
    assert asked.problem is None


def test_the_word_before_a_bare_number_says_what_kind_it_is() -> None:
    assert read("报价单 1008 里有什么").orders == (("1008", "quotation"),)
    assert read("purchase order 45").orders == (("45", "purchase"),)
    assert read("订单 45").orders == (("45", None),)
    assert read("采购单 PO-2026-0045").orders == (("PO-2026-0045", None),)


@pytest.mark.parametrize("code", ["PA4-70", "HW-CUP-500", "201808270027002", "6901234567892"])
def test_codes_and_barcodes_of_products_are_no_document_numbers(code: str) -> None:
    asked = read(f"{code} 还有多少")
    assert asked.orders == ()
    assert asked.items == (Item(code),)


@pytest.mark.parametrize(
    ("text", "item", "customer"),
    [
        ("给鑫源商行报 200 个保温杯", Item("保温杯", "200", "个"), "鑫源商行"),
        ("鑫源要三箱可乐，多少钱", Item("可乐", "3", "箱"), "鑫源"),
        ("保温杯２００个给鑫源什么价", Item("保温杯", "200", "个"), "鑫源"),
        ("price of 3 cases of cola for Around the Horn", Item("cola", "3", "cases"), "Around the Horn"),
        ("price for A4 paper", Item("A4 paper"), None),
        ("price of A4 paper for Xinyuan", Item("A4 paper"), "Xinyuan"),
        ("What does Xinyuan pay for 20 rolls of tape", Item("tape", "20", "rolls"), "Xinyuan"),
        ("给和泰报 5 箱可乐", Item("可乐", "5", "箱"), "和泰"),
        ("保温杯要 200 个，鑫源什么价，含税不", Item("保温杯", "200", "个"), "鑫源"),
        ("Do you have 500 flasks, and what would they cost for Xinyuan?", Item("flasks", "500"), "Xinyuan"),
    ],
)
def test_what_is_bought_and_who_buys_are_told_apart(text: str, item: Item, customer: str | None) -> None:
    asked = read(question(text))
    assert (asked.items, asked.customer, asked.problem) == ((item,), customer, None)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("小米8 黑色 64G 还有多少", ["小米8 黑色 64G"]),
        ("iPhone 8 Plus 多少钱", ["iPhone 8 Plus"]),
        ("5号电池还有吗", ["5号电池"]),
        ("12支装铅笔多少钱", ["12支装铅笔"]),
        ("纯棉四件套还有多少", ["纯棉四件套"]),
        ("有机酱油还有吗", ["有机酱油"]),
        ("急救箱还有吗", ["急救箱"]),
        ("对讲机多少钱", ["对讲机"]),
        ("中性笔还有多少", ["中性笔"]),
        ("请柬还有多少", ["请柬"]),
        ("A4 纸、胶带，订书机还有多少", ["A4 纸", "胶带", "订书机"]),
    ],
)
def test_numbers_and_common_words_inside_names_stay_there(text: str, names: list[str]) -> None:
    assert [item.name for item in read(question(text)).items] == names


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("A4 纸和胶带还有多少", [Item("A4 纸"), Item("胶带")]),
        ("stock of salt and pepper", [Item("salt"), Item("pepper")]),
        ("price of 200 flasks", [Item("flasks", "200")]),
        ("quote 200 flasks", [Item("flasks", "200")]),
        ("可乐、雪碧 10 箱、胶带 5 卷 多少钱", [Item("可乐"), Item("雪碧", "10", "箱"), Item("胶带", "5", "卷")]),
        ("可乐跟雪碧分别还有多少", [Item("可乐"), Item("雪碧")]),
        ("20 箱可乐和 10 箱雪碧多少钱", [Item("可乐", "20", "箱"), Item("雪碧", "10", "箱")]),
        ("麻烦您了～可乐现在还剩多少箱哈", [Item("可乐")]),
        ("温和洗面奶还有吗", [Item("温和洗面奶")]),
        ("日式和风懒人沙发还有多少", [Item("日式和风懒人沙发")]),
        ("5 号电池多少钱", [Item("5 号电池")]),
        ("price of 70 g paper", [Item("70 g paper")]),
    ],
)
def test_names_are_parted_at_a_conjunction_and_behind_an_amount(text: str, items: list[Item]) -> None:
    assert list(read(question(text)).items) == items


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("取消订单 123", "write"),
        ("Please create an order", "write"),
        ("order 10 boxes of A4 paper", "write"),
        ("谁欠我们钱", "other"),
        ("可乐什么时候到", "other"),
        ("可乐 3 箱 5 瓶多少钱", "amounts"),
        ("订单 123 里有什么，A4 纸还有多少", "mixed"),
        ("-5 箱可乐多少钱", "negative"),
        ("price of -5 boxes of cola", "negative"),
        ("订单 1、2、3、4 里有什么", "too_many"),
        ("、".join(f"商品{n}" for n in "甲乙丙丁戊己庚辛壬") + "还有多少", "too_many"),
        ("可" * 1001, "too_long"),
        ("这是盘点表\n\n[file: count.xlsx]", "write"),
        ("A4 纸还有多少\n\n[file: list.xlsx]", "other"),
        ("给鑫源看看 A4 纸还有多少", "unclear"),
        ("A4 纸有货么，来 20 箱", "unclear"),
    ],
)
def test_what_cannot_be_answered_whole_is_not_answered_in_part(text: str, problem: str) -> None:
    assert read(question(text)).problem == problem


def test_a_price_list_asks_for_a_price_and_not_for_stock() -> None:
    for text in ("可乐批发价多少", "可乐批发价", "wholesale price of cola"):
        asked = read(question(text))
        assert (asked.facets, asked.price_list) == (frozenset({"price"}), "wholesale")


def test_the_folder_stays_small_and_its_lines_readable() -> None:
    files = [each for each in Path(offline.__file__).parent.iterdir() if each.is_file()]
    lines = [line for each in files for line in each.read_text(encoding="utf-8").splitlines()]
    assert len(lines) <= 3000
    assert all(each.read_text(encoding="utf-8").count("\n") < 300 for each in files if each.suffix == ".py")
    assert max(map(len, lines)) <= 120


def test_what_the_runtime_adds_to_a_message_is_not_part_of_the_question() -> None:
    frozen = "[today: 2026-11-30 Monday, Asia/Shanghai]"
    assert question(f"A4 纸还有多少？\n\n{frozen}\n[recalled: 取消订单 5]") == "A4 纸还有多少?"
    assert question("[Your last answer was empty. Answer the question, or call a tool.]") == ""
    assert question(f"[file: x.csv]\n\n{frozen}") == "[file: x.csv]"
    assert question(f"{STOPPED}A4 纸还有多少？\n\n{frozen}") == "A4 纸还有多少?"


@pytest.mark.parametrize(
    ("text", "chinese"),
    [
        ("A4 纸还有多少", True),
        ("How many 得力 A4 复印纸 do we have?", False),
        ("price of 得力 A4 复印纸", False),
        ("帮我 check 一下 A4 paper 的 stock", True),
        ("order 123 里有什么", True),
        ("iPhone 14 还有货吗", True),
        ("what about 胶带?", False),
        ("SO-2026-0123", True),
        ("cola stock", False),
    ],
)
def test_the_language_is_that_of_the_words_around_the_names(text: str, chinese: bool) -> None:
    assert read(question(text)).chinese is chinese


def test_a_message_of_names_and_codes_keeps_the_language_of_the_one_before() -> None:
    for chinese in (True, False):
        assert read("SO-2026-0123", Asked(chinese)).chinese is chinese


@given(st.text(max_size=300))
def test_no_text_breaks_the_reader(text: str) -> None:
    assert isinstance(read(question(text)), Asked)


@pytest.mark.parametrize("unit", ["[a]\n", "a ", "和", "1 个", "订单 1、", "[", "  \n", "的", "what is in "])
def test_a_huge_message_is_read_in_no_time(unit: str) -> None:
    began = time.perf_counter()
    read(question(unit * 200_000))
    read(question((unit * 1000)[:1000]))
    assert time.perf_counter() - began < 2
