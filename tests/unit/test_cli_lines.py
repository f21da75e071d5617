from __future__ import annotations

import json
from decimal import Decimal

import pytest

from agent_core.events import Change, Preview
from agent_core.messages import Usage
from agent_core.trace.transcript import Ended, Question, Remark, Step, Use
from erpilot.cli.answers import Answer, read_answer
from erpilot.cli.language import Lang
from erpilot.cli.lines import SHORT, Lines, Money, failure, join, seconds_text, summary
from erpilot.cli.texts import Texts

DOLLARS = Money("USD", Decimal("7.2"))


def lines(lang: Lang = "en", *, full: bool = False, money: Money = DOLLARS) -> Lines:
    return Lines(Texts(lang), money, full)


def use(**fields: object) -> Use:
    values: dict[str, object] = {"seq": 5, "call_id": "c1", "step": 1, "index": 0, "tool": "check_stock"}
    values |= {"arguments": '{"skus":["A4","B5"],"warehouse":"main"}', "ok": True, "content": "{}", "duration": 0.0123}
    return Use(**(values | fields))  # type: ignore[arg-type]


def test_a_tool_line_shows_name_arguments_duration_and_the_gist_of_the_result() -> None:
    content = json.dumps({"as_of": "2026-11-30", "lines": [1, 2, 3], "note": None})
    text = join(lines().tool(use(content=content)))
    assert text == '✓ check_stock(skus=["A4","B5"], warehouse=main) 12 ms → lines[3] as_of=2026-11-30'


def test_a_failed_call_shows_its_error_in_red() -> None:
    content = '{"error":{"type":"timeout","message":"No answer in 30 s."}}'
    [(text, style)] = lines().tool(use(ok=False, error="timeout", content=content))
    assert style == "error"
    assert text.startswith("✗ check_stock(")
    assert text.endswith("→ timeout: No answer in 30 s.")


def test_a_call_without_result_says_so() -> None:
    [(text, _)] = lines().tool(use(ok=None, content=None))
    assert text.startswith("… check_stock(")
    assert text.endswith("→ unfinished")


def test_cached_and_shortened_results_are_named() -> None:
    [(text, _)] = lines().tool(use(cached=True, total=9000))
    assert "from the cache" in text
    assert "9000 characters" in text


def test_long_output_is_cut_at_200_characters_and_says_how_much_is_missing() -> None:
    content = "x" * 1000
    [(short, _)] = lines().tool(use(content=content, arguments="{}"))
    assert "x" * SHORT + "… (800 more characters)" in short
    assert "x" * (SHORT + 1) not in short
    whole = join(lines(full=True).tool(use(content=content)))
    assert content in whole
    assert "more characters" not in whole


def test_nothing_of_a_record_breaks_the_line() -> None:
    [(text, _)] = lines().tool(use(content="a\nb\x1b[2J", arguments='{"query":"x\\ny\\u001b"}'))
    assert "\n" not in text
    assert "␛" in text


@pytest.mark.parametrize(
    ("content", "gist"),
    [
        ("[1,2]", "[2]"),
        ("{}", "{}"),
        ("plain", "plain"),
        ("3", "3"),
        ('{"a":{"b":1},"c":1.5}', "a[1] c=1.5"),
        ("{", "{"),
    ],
)
def test_results_of_any_form_have_a_gist(content: str, gist: str) -> None:
    assert summary(content) == gist


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"error":1}', '{"error":{}}', "[" * 10_000])
def test_an_error_of_an_unknown_form_is_shown_as_it_is(content: str) -> None:
    assert failure(content, "execution") == f"execution: {content}"


@pytest.mark.parametrize(
    ("money", "amount", "currency", "shown"),
    [
        (DOLLARS, "1.5", "USD", "$1.50"),
        (DOLLARS, "0.0123", "USD", "$0.0123"),
        (DOLLARS, "0.000123", "USD", "$0.000123"),
        (DOLLARS, "7.2", "CNY", "≈$1.00"),
        (Money("CNY", Decimal("7.2")), "0.5", "USD", "≈¥3.60"),
        (Money("CNY", Decimal("7.2")), "0.5", "CNY", "¥0.5000"),
        (DOLLARS, "2", "EUR", "EUR 2.00"),
        (DOLLARS, "0", "USD", "free"),
    ],
)
def test_costs_are_shown_in_the_chosen_currency_and_marked_when_converted(
    money: Money, amount: str, currency: str, shown: str
) -> None:
    assert money.text(Decimal(amount), currency, Texts("en")) == shown


def test_an_unknown_cost_is_called_unknown() -> None:
    assert DOLLARS.text(None, None, Texts("en")) == "cost unknown"
    assert DOLLARS.text(None, None, Texts("zh")) == "费用未知"


def test_a_step_line_tells_tokens_cost_and_time() -> None:
    step = Step(
        seq=4,
        ordinal=7,
        step=2,
        usage=Usage(1200, 34, cached_tokens=1000),
        amount=Decimal("0.01"),
        currency="USD",
        duration=1.26,
    )
    assert (
        join(lines().step(step)) == "step 2 · 1,234 tokens (1,200 in, 1,000 of them cached, 34 out) · $0.0100 · 1.3 s"
    )
    assert join(lines("zh").step(Step(seq=4, ordinal=1, step=1))) == "第 1 步 · 词元数未知 · 费用未知"


def test_the_end_names_its_reason_and_the_sum() -> None:
    ended = Ended(
        seq=9, run_id="r", reason="budget", steps=3, at=0, message="The limit was reached.", usage=Usage(10, 5)
    )
    [(first, style), (second, _)] = lines().ended(ended)
    assert first == "stopped: a limit was reached · 3 steps · 15 tokens (10 in, 5 out) · cost unknown"
    assert (style, second) == ("error", "The limit was reached.")


def test_a_reason_of_a_newer_program_is_shown_as_it_is() -> None:
    ended = Ended(seq=9, run_id="r", reason="moon_phase", steps=1, at=0)
    assert join(lines().ended(ended)).startswith("moon_phase · 1 step")


def question(**fields: object) -> Question:
    values: dict[str, object] = {"seq": 8, "call_id": "c9", "tool": "create_quotation", "tier": "WRITE"}
    values |= {"arguments": '{"customer":"C1"}', "preview": Preview("New quotation")}
    return Question(**(values | fields))  # type: ignore[arg-type]


def test_a_preview_is_quoted_line_by_line_and_shows_everything() -> None:
    hostile = "ok\n\n\nRun create_quotation [READ]?  y\r\x1b[2J"
    preview = Preview(
        "New quotation",
        tuple(Change(f"line {number}", "1", "2") for number in range(300)),
        (hostile,),
        asked_by="SO-1",
    )
    shown = lines().preview(question(preview=preview, arguments='{"note":"' + "z" * 5000 + '"}'))
    assert all(text.startswith("│ ") and "\n" not in text for text, _ in shown)
    whole = join(shown)
    assert "line 299: 1 → 2" in whole
    assert "z" * 5000 in whole
    assert "ok␊␊␊Run create_quotation [READ]?  y␍␛[2J" in whole
    assert "SO-1" in whole


def test_a_new_and_an_erased_value_are_told_apart_from_text() -> None:
    preview = Preview("t", (Change("price", None, "3"), Change("note", "x", None, "SO-1")))
    whole = join(lines().preview(question(preview=preview)))
    assert "price: new → 3" in whole
    assert "SO-1 · note: x → —" in whole


@pytest.mark.parametrize("decision", ["approved", "denied", "expired", "cancelled"])
def test_each_decision_has_its_words(decision: str) -> None:
    text = join(lines().decision(question(decision=decision, by="boss", reason="too dear")))
    assert "create_quotation" in text
    assert text.endswith("too dear")


@pytest.mark.parametrize(
    "about", ["GuardTripped", "ContextCompacted", "RunInterrupted", "RolledBack", "TrustGranted", "SomethingNewer"]
)
def test_each_remark_is_one_line_even_without_facts(about: str) -> None:
    [(text, _)] = lines().remark(Remark(seq=1, about=about))
    assert text


@pytest.mark.parametrize(
    ("written", "answer"),
    [
        ("y", Answer(True)),
        ("YES", Answer(True)),
        ("好的。", Answer(True)),
        ("n", Answer(False)),
        ("no: too dear", Answer(False, "too dear")),
        ("n 太贵了，改成 150 个", Answer(False, "太贵了，改成 150 个")),
        ("否", Answer(False)),
        ("y but change it", None),
        ("maybe", None),
        ("", None),
        ("yn", None),
    ],
)
def test_only_a_clear_word_decides(written: str, answer: Answer | None) -> None:
    assert read_answer(written) == answer


@pytest.mark.parametrize(
    ("seconds", "shown"), [(0.0004, "0 ms"), (0.25, "250 ms"), (3.42, "3.4 s"), (125.0, "2:05 min")]
)
def test_durations_are_shown_in_the_unit_that_fits(seconds: float, shown: str) -> None:
    assert seconds_text(seconds) == shown
