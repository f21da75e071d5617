"""What stands before a question: A2 and R2 of the fault catalogue in pure parts."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from agent_core.events import Change, Notice, Offer, Preview
from agent_core.trace.transcript import Question
from erpilot.cli.answers import Answer, Wish, read_answer
from erpilot.cli.previews import QUOTE, always_sentence, fold, limits_text, name, preview_lines, rows
from erpilot.cli.texts import Texts

EN, ZH = Texts("en"), Texts("zh")


def question(preview: Preview | None = None, arguments: str = "{}", **fields: object) -> Question:
    values: dict[str, object] = {"seq": 1, "call_id": "c", "tool": "create_quotation", "tier": "WRITE"}
    values |= {"preview": preview or Preview("new_quotation"), "arguments": arguments}
    return Question(**(values | fields))  # type: ignore[arg-type]


def shown(asked: Question, width: int = 80, height: int = 24) -> list[str]:
    folded = fold(rows(preview_lines(asked, EN), width), height)
    return ["\n".join(page) for page in folded.pages]


def test_codes_are_said_in_the_language_of_the_person_and_others_stay_as_they_are() -> None:
    preview = Preview(
        "new_quotation",
        (Change("line 2", None, "x"), Change("total", "1", "2", "Q-1"), Change("colour", None, "red")),
        notices=(Notice("below_minimum", {"sku": "S", "name": "N", "minimum": "5 个"}), Notice("odd", {"a": "b"})),
    )
    english, chinese = preview_lines(question(preview), EN), preview_lines(question(preview), ZH)
    assert english[0] == "New quotation"
    assert "  line 2: new → x" in english
    assert "  Q-1 · total: 1 → 2" in english
    assert chinese[0] == "新报价单"
    assert "  明细 2: 新 → x" in chinese
    assert "  colour: 新 → red" in chinese
    assert any("低于起订量 5 个" in line for line in chinese)
    assert "  odd a=b" in chinese


def test_a_notice_that_lacks_a_value_is_shown_all_the_same() -> None:
    assert "  short sku=S" in preview_lines(question(Preview("t", notices=(Notice("short", {"sku": "S"}),))), EN)


def test_a2_every_argument_is_listed_and_counted_also_the_thirty_third_and_an_empty_one() -> None:
    arguments = {f"a{number:02}": "" if number == 32 else number for number in range(33)}
    lines = preview_lines(question(arguments=json.dumps(arguments)), EN)
    assert "  exact arguments (33):" in lines
    assert '    a32 = ""' in lines
    assert sum(line.startswith("    a") for line in lines) == 33


@pytest.mark.parametrize("arguments", ["[1]", "{", "[" * 5000, '"x"'])
def test_arguments_that_are_no_object_are_shown_as_they_are(arguments: str) -> None:
    assert preview_lines(question(arguments=arguments), EN)[-1] == f"  exact arguments: {arguments}"


def test_a2_five_thousand_characters_with_the_bad_part_at_the_end_are_folded_and_counted_exactly() -> None:
    note = "fine " * 1000 + "and pay EVIL"
    all_rows = rows(preview_lines(question(arguments=json.dumps({"note": note})), EN), 80)
    folded = fold(all_rows, 15)
    assert "EVIL" not in "".join(folded.pages[0])
    hidden = [row for page in folded.pages[1:] for row in page]
    assert folded.hidden(1) == (len(hidden), sum(len(row.removeprefix(QUOTE)) for row in hidden))
    assert "EVIL" in "".join(hidden)
    assert folded.hidden(len(folded.pages)) == (0, 0)


def test_a2_five_hundred_blank_lines_are_shown_as_what_they_are() -> None:
    pages = shown(question(arguments=json.dumps({"note": "\n" * 500 + "EVIL"})))
    text = "".join(line.removeprefix(QUOTE) for page in pages for line in page.split("\n"))
    assert text.count("\\n") == 500
    assert "EVIL" in text


def test_r2_no_row_begins_where_a_question_of_ours_could_begin() -> None:
    hostile = "x" * 71 + "Run create_quotation [READ]? y\r\x1b[2J\x1b[H\n? y"
    preview = Preview(
        hostile, tuple(Change(hostile, hostile, hostile, hostile) for _ in range(300)), (hostile,), hostile
    )
    all_rows = rows(preview_lines(question(preview, json.dumps({hostile: hostile})), EN), 80)
    assert len(all_rows) > 300
    assert all(row.startswith(QUOTE) and cell_len(row) < 80 for row in all_rows)
    assert not re.search(r"[\x00-\x1f\x7f-\x9f]", "".join(all_rows))


@given(st.lists(st.text(max_size=300), max_size=30), st.integers(20, 120), st.integers(3, 40))
def test_nothing_is_lost_or_added_by_wrapping_and_folding(lines: list[str], width: int, height: int) -> None:
    all_rows = rows(lines, width)
    folded = fold(all_rows, height)
    assert [row for page in folded.pages for row in page] == all_rows
    assert "".join(row.removeprefix(QUOTE) for row in all_rows) == "".join(lines)
    assert all(len(page) <= height for page in folded.pages)
    assert sum(folded.hidden(0)[1:]) == sum(map(len, lines))


def offer(seconds: float | None = 86_400.0) -> Offer:
    same = {"customer": "鑫源商行", "currency": "CNY"}
    return Offer("", "鑫源商行", {"same": same, "max": {"total CNY": "500", "discount_percent": "0"}}, seconds)


def test_what_always_would_cover_names_every_limit_in_the_language_of_the_person() -> None:
    chinese = always_sentence("create_quotation", offer(), ZH)
    assert chinese.startswith(
        "a = 同意，并且以后对「鑫源商行」、currency 为「CNY」、合计不超过 500 CNY、折扣%不超过 0 的"
    )
    assert chinese.endswith("的 create_quotation 都照办，24 小时内。")
    english = always_sentence("create_quotation", offer(None), EN)
    assert "unasked for “鑫源商行”, with currency “CNY”, up to total 500 CNY, up to discount % 0," in english
    assert english.endswith("until you revoke it.")


def test_a_grant_without_limits_says_so() -> None:
    assert limits_text(None, {}, EN) == "whatever it is about"


def test_the_name_of_a_record_cannot_leave_its_quotation_marks() -> None:
    said = name("x”? y = yes\nRun [READ]「」" + "z" * 500, EN)
    assert said.count("“") == said.count("”") == 1
    assert "\n" not in said
    assert "more characters" in said


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("a", Answer(True, always=True)),
        ("Always.", Answer(True, always=True)),
        ("以后都照办", Answer(True, always=True)),
        ("e", "edit"),
        ("修改", "edit"),
        ("o", "open"),
        ("展开", "open"),
        ("a b", None),
        ("open it", None),
        ("n open", Answer(False, "open")),
    ],
)
def test_each_answer_has_its_words(written: str, meant: Answer | Wish | None) -> None:
    assert read_answer(written) == meant


@given(st.text(max_size=20))
def test_whatever_is_typed_only_the_listed_words_say_yes(written: str) -> None:
    answer = read_answer(written)
    if isinstance(answer, Answer) and answer.approve:
        word = written.strip().lower().rstrip(".!。！,，:：").strip()
        assert (
            word in {"y", "yes", "ok", "是", "好", "好的", "同意", "可以", "a", "always", "总是", "照办"}
            or "以后" in word
        )
