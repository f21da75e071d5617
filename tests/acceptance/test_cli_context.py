"""What is in the next request, shortening it, and what does not fit, as a person meets it."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from tests.support.cli import QUESTION, erpilot
from tests.support.model_server import Piece, model_server
from tests.support.screen import screen


@pytest.mark.parametrize(
    ("lang", "words"),
    [
        ("en", ["system prompt", "always whole", "tools", "turn", "in full", "generously", "The last estimate was"]),
        ("zh", ["系统提示", "始终完整", "工具", "对话", "完整", "偏多估计", "上次估计"]),
    ],
)
def test_the_layers_of_the_next_request_are_told_with_their_tokens(home: Path, lang: str, words: list[str]) -> None:
    erpilot(home, "ask", QUESTION)
    done = erpilot(home, "show", "last", "--context", "--lang", lang)
    assert done.code == 0
    text = done.out + done.err
    assert [word for word in words if word not in text] == []
    assert "of 24000 tokens" in text or "/ 24000 词元" in text
    rows = [row for row in done.out.splitlines() if QUESTION[:8] in row]
    assert len(rows) == 1


def test_a_session_with_a_budget_of_its_own_sums_up_what_is_older_and_shows_it(home: Path) -> None:
    settings = {"ERPILOT_CONTEXT_TOKENS": "11500"}
    for number, product in enumerate(("保温杯", "毛巾", "雨伞", "牙刷")):
        session = [] if number == 0 else ["--session", "last"]
        done = erpilot(home, "ask", f"{product}还有货吗？多少钱？", *session, settings=settings)
        assert done.code == 0, done.err
    shown = erpilot(home, "show", "last", "--context")
    assert "of 11500 tokens" in shown.out
    log = [
        json.loads(line)
        for line in erpilot(home, "ask", "雨伞？", "--session", "last", "--json", settings=settings).out.splitlines()
    ]
    assert all(item["event"]["estimated_tokens"] <= 11500 for item in log if item["event"]["type"] == "StepStarted")
    assert erpilot(home, "verify", "last").code == 0


def test_a_chat_tells_what_is_in_the_next_request_and_shortens_it_on_demand(home: Path) -> None:
    answers = [[f"answer {number} " + "word " * 80] for number in range(4)]
    with model_server(*answers) as server:
        with screen(home, "chat", settings=server.settings) as person:
            person.ready()
            person.type("/compact")
            person.wait_for("Nothing was said yet.")
            for number in range(3):
                person.ready()
                person.type(f"question {number}")
                person.wait_for(f"answer {number}")
            person.ready()
            person.type("/context")
            person.wait_for("system prompt")
            person.ready()
            person.type("/compact")
            person.wait_for("(summed up, events 3 to")
            person.ready()
            person.type("/nonsense")
            person.wait_for("There is no command /nonsense")
            person.ready()
            person.press("d")
            assert person.end() == 0
        assert len(server.bodies) == 4, "the commands are not for the model; the summary is"
        assert "keep the record" in json.loads(server.bodies[-1])["messages"][0]["content"]


def test_a_command_is_for_the_program_while_a_run_goes_on_and_with_words_behind_it(home: Path) -> None:
    answer: list[Piece] = ["one", 1.5, " and two"]
    with model_server(answer) as server:
        with screen(home, "chat", settings=server.settings) as person:
            person.ready()
            person.type("a question")
            person.wait_for("one")
            person.type("/context please")
            person.wait_for("system prompt")
            person.ready()
            person.press("d")
            assert person.end() == 0
        assert len(server.bodies) == 1


def test_a_summary_that_takes_too_long_is_stopped_without_ending_the_chat(home: Path) -> None:
    slow: list[Piece] = [60.0, "late"]
    turns = (["one " * 90], ["two"], slow, ["three"])
    with model_server(*turns) as server, screen(home, "chat", settings=server.settings) as person:
        for question, words in (("first", "one one"), ("second", "two")):
            person.ready()
            person.type(question)
            person.wait_for(words)
        person.ready()
        person.type("/compact")
        person.wait_for("Summing up")
        until = time.monotonic() + 30
        while len(server.bodies) < 3 and time.monotonic() < until:
            time.sleep(0.02)
        person.press("c")
        person.wait_for("Interrupted.")
        person.ready()
        person.type("third")
        person.wait_for("three")
        person.ready()
        person.press("d")
        assert person.end() == 0


def test_the_offline_planner_needs_no_model_to_shorten_a_chat(home: Path) -> None:
    with screen(home, "chat", "--lang", "zh") as person:
        for question in ("保温杯还有货吗？", "毛巾还有货吗？", "雨伞多少钱？"):
            person.ready()
            person.type(question)
            person.wait_for("完成 ·")
        person.ready()
        person.type("/compact")
        person.wait_for("已作摘要")
        person.ready()
        person.type("/context")
        person.wait_for("较早的内容")
        person.ready()
        person.press("d")
        assert person.end() == 0
    assert erpilot(home, "verify", "last").code == 0


def test_a_message_that_is_larger_than_the_window_ends_with_code_5_and_one_sentence(home: Path) -> None:
    settings = {"ERPILOT_CONTEXT_TOKENS": "12000"}
    done = erpilot(home, "ask", "-", stdin=("问" * 30_000).encode(), settings=settings)
    assert done.code == 5
    assert "The message takes about 30" in done.err
    assert "Traceback" not in done.err
    after = erpilot(home, "ask", "保温杯还有货吗？", "--session", "last", settings=settings)
    assert after.code == 0, "the session goes on"


def test_a_model_for_summaries_that_cannot_be_used_is_said_before_anything_is_sent(home: Path) -> None:
    (home / "config.toml").write_text('summary_model = "nosuch:model"\n')
    done = erpilot(home, "ask", "保温杯还有货吗？")
    assert done.code == 4
    assert "summary_model" in done.err


def test_a_budget_that_is_no_number_is_refused_with_its_name(home: Path) -> None:
    done = erpilot(home, "ask", "x", settings={"ERPILOT_CONTEXT_TOKENS": "many"})
    assert done.code == 2
    assert "context_tokens" in done.err
