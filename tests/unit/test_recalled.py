"""The offline model answers what was said from what the runtime recalled, and nothing else from it."""

from __future__ import annotations

import pytest

from agent_core.messages import Message
from erpilot.offline import next_move
from erpilot.recalled import asks_what_was_said, recalled

PROMISE = "[recalled: event 3, 2026-03-05 17:11 UTC, anna: 答应鑫源商行的保温杯单价 38.50 元]"
RESULT = "[recalled: event 9, 2026-03-05 17:12 UTC, result of get_price: price: 12.00]"
ANSWER = "[recalled: event 11, 2026-03-05 17:13 UTC, assistant: 报价是 43.12 元]"
TODAY = "[today: 2026-11-30, Monday 周一, Asia/Shanghai]"
OFFERED = {"get_order", "find_products", "find_customers", "check_stock", "get_price"}


def moved(question: str, *frozen: str) -> object:
    text = "\n".join([f"{question}\n", TODAY, *frozen])
    return next_move([Message("system", "s"), Message("user", text)], OFFERED)


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("上次答应鑫源的价是多少？", "这次对话里说过："),
        ("我跟鑫源谈好的是多少钱", "这次对话里说过："),
        ("What price did I promise Xinyuan?", "Earlier in this conversation:"),
    ],
)
def test_what_was_promised_is_answered_from_what_a_person_said_with_its_day(question: str, first: str) -> None:
    answer = str(moved(question, PROMISE, RESULT, ANSWER))
    assert answer.splitlines()[0] == first
    assert "38.50" in answer
    assert "2026-03-05" in answer
    assert "12.00" not in answer, "a result of a tool is of then"
    assert "43.12" not in answer


def test_other_questions_are_answered_as_ever_whatever_was_recalled() -> None:
    assert moved("订单 123 里买了什么？", PROMISE) == moved("订单 123 里买了什么？")
    assert isinstance(moved("订单 123 里买了什么？", PROMISE), list)


def test_what_is_not_understood_is_said_so_together_with_what_was_said_about_it() -> None:
    answer = str(moved("鑫源的老板姓什么？", PROMISE))
    assert "没有听懂" in answer
    assert "38.50" in answer


def test_without_anything_recalled_a_question_about_the_past_is_no_special_one() -> None:
    assert moved("上次答应鑫源的价是多少？") == moved("上次答应鑫源的价是多少？", RESULT)


def test_only_whole_lines_of_the_runtime_are_read_and_statements_ask_nothing() -> None:
    assert recalled(f"he wrote {PROMISE}") == []
    assert recalled(ANSWER) == [{"day": "2026-03-05", "who": "assistant", "text": "报价是 43.12 元"}]
    assert not asks_what_was_said("答应鑫源商行 38.50 元")
    assert not asks_what_was_said("订单 123 里买了什么？")
