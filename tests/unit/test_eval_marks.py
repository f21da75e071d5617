from __future__ import annotations

from decimal import Decimal

import pytest

from agent_core.messages import ArgumentsError, ToolCall, Usage
from evals.figures import figures, figures_from_nowhere
from evals.interview import CallMade, Interview, Turn
from evals.marks import holds, mark, meets
from evals.questions import Need, Question
from evals.recording import payloads
from evals.report import HEAD, Result, row, table

NEED = Need(
    tools=("check_stock",), arguments={"skus": ["A-1"]}, mentions=(("A-1", "茶"), ("20",)), without=("by_date",)
)
QUESTION = Question("q", "zh", "A-1 有 20 件吗？", (NEED,), (("48",), ("可用", "available")))


def made(
    name: str = "check_stock",
    arguments: str = '{"skus":["A-1"],"quantities":["20"]}',
    *,
    step: int = 1,
    answer: str | None = '{"available":"48","tax_rate":"0.13"}',
    error: str | None = None,
    ran: bool = True,
    broken: ArgumentsError | None = None,
    known: bool = True,
) -> CallMade:
    return CallMade(step, ToolCall("c", name, arguments, error=broken, known=known), answer, error, ran)


def interview(answer: str, *calls: CallMade, reason: str = "completed") -> Interview:
    turns = [Turn(1, answer, 0, (), "stop", None, None, None)]
    return Interview(QUESTION, turns, list(calls), ("2026-11-30",), answer, reason)


def test_figures_are_compared_by_value_however_they_are_written() -> None:
    assert figures("共 6,952.00 元，６０ 个, 1,24") == {Decimal(6952), Decimal(60), Decimal(1), Decimal(24)}
    assert figures("2026-11-18") == {Decimal(2026), Decimal(11), Decimal(18)}


def test_the_numbering_of_a_list_is_no_figure() -> None:
    assert figures("1. tea: 5\n2) milk: 7\n- 3、water\n**4.** salt\n1.5 kg") == {
        Decimal(5),
        Decimal(7),
        Decimal("1.5"),
    }


def test_a_figure_that_no_source_holds_came_from_nowhere() -> None:
    answer = "48 there, 52 short, 13% tax, 12 %"
    assert figures_from_nowhere(answer, ['{"available":"48","tax_rate":"0.13"}', "100?"]) == {Decimal(52), Decimal(12)}


@pytest.mark.parametrize(
    ("answer", "group", "there"),
    [
        ("Total 2,250.00", ("2250",), True),
        ("Total 22500", ("2250",), False),
        ("VIP价", ("vip",), True),
        ("on December 4, 2026", ("2026-12-04", "December 4"), True),
        ("tomorrow", ("2026-12-04", "December 4"), False),
    ],
)
def test_a_fact_is_a_number_by_value_or_a_part_of_the_text(answer: str, group: tuple[str, ...], there: bool) -> None:
    assert holds(answer, group) is there


@pytest.mark.parametrize(
    ("call", "right"),
    [
        (made(), True),
        (made(arguments='{"skus":["红茶"],"quantities":["20 箱"]}'), True),
        (made(arguments='{"skus":["a-1"],"quantities":[20]}'), True),
        (made(arguments='{"skus":["A-1"],"quantities":["200"]}'), False),
        (made(arguments='{"skus":["B-1"],"quantities":["20"]}'), False),
        (made(arguments='{"skus":["A-1"],"quantities":[20],"by_date":""}'), True),
        (made(arguments='{"skus":["A-1"],"quantities":[20],"by_date":"2026-12-24"}'), False),
        (made(error="validation"), False),
        (made("get_price"), False),
    ],
)
def test_a_call_is_right_by_its_tool_and_by_what_its_arguments_mention(call: CallMade, right: bool) -> None:
    assert meets(call, NEED) is right


def test_a_right_answer_of_a_completed_run_gets_every_mark() -> None:
    marks = mark(interview("可用 48", made()))
    assert (marks.well_formed, marks.right_tools, marks.right_arguments, marks.completed) == (True,) * 4
    assert marks.from_nowhere == ()
    assert (marks.facts, marks.facts_found, marks.calls, marks.calls_well_formed) == (2, 2, 1, 1)


@pytest.mark.parametrize(
    "call",
    [
        made(broken="truncated", arguments="{}", error="validation", ran=False),
        made(known=False, name="check_stok", error="unknown_tool", ran=False),
        made(error="validation", ran=False),
    ],
)
def test_a_call_that_could_not_be_run_is_not_well_formed(call: CallMade) -> None:
    marks = mark(interview("可用 48", call))
    assert (marks.well_formed, marks.right_tools, marks.calls_well_formed) == (False, False, 0)


def test_a_call_that_the_tool_refused_was_well_formed_and_the_right_tool_but_brought_nothing() -> None:
    marks = mark(interview("没有", made(error="validation")))
    assert (marks.well_formed, marks.right_tools, marks.right_arguments) == (True, True, False)


def test_a_call_that_was_not_run_for_another_reason_was_well_formed() -> None:
    assert mark(interview("可用 48", made(), made(error="repeated_call", ran=False))).well_formed


def test_the_right_tool_with_a_wrong_argument_is_told_apart() -> None:
    marks = mark(interview("可用 7", made(arguments='{"skus":["B-1"],"quantities":["20"]}')))
    assert (marks.right_tools, marks.right_arguments) == (True, False)


def test_only_the_first_message_with_calls_decides_whether_the_call_was_well_formed() -> None:
    marks = mark(interview("可用 48", made(error="validation", ran=False), made(step=2)))
    assert (marks.well_formed, marks.right_tools, marks.calls_well_formed) == (False, True, 1)


def test_an_answer_without_a_call_or_of_a_run_that_did_not_complete_is_not_completed() -> None:
    assert not mark(interview("可用 48")).well_formed
    assert mark(interview("可用 48")).completed, "the facts are there; the missing call shows in its own column"
    assert not mark(interview("可用 48", made(), reason="max_steps")).completed
    assert not mark(interview("可用 47", made())).completed


def test_a_figure_may_come_from_the_question_the_day_or_a_result() -> None:
    assert mark(interview("可用 48，要 20，2026年11月30日，缺 3", made())).from_nowhere == ("3",)


def test_the_table_has_a_row_a_question_and_totals_by_language() -> None:
    good, bad = interview("可用 48", made()), interview("不知道", reason="guard")
    good.usage, good.seconds = Usage(1200, 30, 1230, 1000), 61.4
    results = [Result(each, mark(each)) for each in (good, bad)]
    assert row(results[0]) == (
        "q",
        "yes",
        "yes",
        "yes",
        "yes",
        "2/2",
        "0",
        "completed",
        "1",
        "1,200",
        "1,000",
        "30",
        "61",
    )
    lines = table(results).splitlines()
    assert len({line.count("|") for line in lines}) == 1
    assert lines[0].count("|") == len(HEAD) + 1
    assert [line.split(" | ")[0] for line in lines[2:]] == ["| q", "| q", "| **zh**", "| **all**"]
    assert lines[-1].split(" | ")[1:8] == ["1/2", "1/2", "1/2", "1/2", "2/4", "0", "completed 1/2"]


def test_a_recorded_body_is_kept_as_its_payloads() -> None:
    body = b': keep-alive\r\n\r\ndata: {"a":1}\r\n\r\ndata:{"b":"\xe8\xae\xa2"}\n\ndata: [DONE]\n\n'
    assert payloads(body) == b'{"a":1}\n{"b":"\xe8\xae\xa2"}\n'
