"""``erpilot chat`` at a terminal."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.cli import erpilot
from tests.support.model_server import Piece, model_server
from tests.support.screen import screen


def test_a_conversation_is_one_session_of_many_turns(home: Path) -> None:
    with model_server(["一。"], ["二。"], ["三。"]) as server:
        with screen(home, "chat", "--lang", "zh", settings=server.settings) as person:
            for question, answer in (("第一个问题", "一。"), ("第二个问题", "二。")):
                person.ready()
                person.type(question)
                person.wait_for(answer)
            person.ready()
            person.type("   ")
            person.ready()
            person.press("d")
            assert person.end() == 0
        with screen(home, "chat", "--session", "last", settings=server.settings) as person:
            person.ready()
            person.type("third")
            person.wait_for("三。")
            person.ready()
            person.press("d")
            assert person.end() == 0
        said = [message["content"].split("\n")[0] for message in json.loads(server.bodies[-1])["messages"][1:]]
    assert said == ["第一个问题", "一。", "第二个问题", "二。", "third"]
    assert len(erpilot(home, "sessions").out.splitlines()) == 2


def test_the_offline_planner_can_be_chatted_with(home: Path) -> None:
    with screen(home, "chat") as person:
        person.ready()
        person.type("订单 123 里买了什么？")
        person.wait_for("SO-2026-0123")
        person.ready()
        person.press("d")
        assert person.end() == 0


def test_a_failure_is_said_and_the_chat_goes_on(home: Path) -> None:
    settings = {"OPENAI_BASE_URL": "not an address", "ERPILOT_MODEL": "m"}
    with screen(home, "chat", settings=settings) as person:
        for _ in range(2):
            person.ready()
            person.type("Hello")
            person.wait_for("erpilot resume")
        person.ready()
        person.press("d")
        assert person.end() == 0
    assert "Traceback" not in person.text


def test_an_approval_in_a_chat_is_asked_between_answer_and_next_question(home: Path) -> None:
    lines = [{"sku": "HW-CUP-500", "qty": "20", "unit": "个"}]
    write: list[Piece] = [("create_quotation", {"customer": "C001", "lines": lines})]
    with model_server(write, ["Saved."]) as server, screen(home, "chat", settings=server.settings) as person:
        person.ready()
        person.type("Quote")
        person.wait_for("Run create_quotation [WRITE]")
        person.ready()
        person.type("y")
        person.wait_for("Saved.")
        person.ready()
        person.press("d")
        assert person.end() == 0


def test_the_screen_is_only_appended_to(home: Path) -> None:
    with model_server(["One \x1b[2J two."]) as server, screen(home, "chat", settings=server.settings) as person:
        person.ready()
        person.type("Hello")
        person.wait_for("One ␛[2J two.")
        person.ready()
        person.press("d")
        assert person.end() == 0
    for sequence in ("\x1b[?1049h", "\x1b[2J", "\x1b[H", "\x1bc"):
        assert sequence not in person.text


def test_colours_are_few_and_go_when_they_are_not_wanted(home: Path) -> None:
    question = "订单 123 里买了什么？"
    with screen(home, "ask", question) as person:
        assert person.end() == 0
    assert "\x1b[36m✓ get_order" in person.text
    assert "\x1b[33m" in person.text
    with screen(home, "ask", question, settings={"NO_COLOR": "1"}) as plain:
        assert plain.end() == 0
    assert "\x1b[" not in plain.text


def test_a_question_that_was_left_open_is_asked_first_when_the_chat_goes_on(home: Path) -> None:
    lines = [{"sku": "HW-CUP-500", "qty": "20", "unit": "个"}]
    write: list[Piece] = [("create_quotation", {"customer": "C001", "lines": lines})]
    with model_server(write, ["Saved."]) as server:
        assert erpilot(home, "ask", "Quote", settings=server.settings).code == 3
        with screen(home, "chat", "--session", "last", settings=server.settings) as person:
            person.wait_for("Run create_quotation [WRITE]")
            person.ready()
            person.type("y")
            person.wait_for("Saved.")
            person.ready()
            person.press("d")
            assert person.end() == 0
