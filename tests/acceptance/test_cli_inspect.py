"""``sessions``, ``show`` and ``replay`` as processes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.cli import QUESTION, erpilot
from tests.support.model_server import model_server
from tests.support.screen import screen


def test_a_home_without_sessions_says_how_to_begin(home: Path) -> None:
    done = erpilot(home, "sessions")
    assert (done.code, done.out) == (0, "")
    assert "erpilot ask" in done.err
    assert "还没有会话" in erpilot(home, "sessions", "--lang", "zh").err


def test_sessions_are_listed_newest_first_with_their_state_and_question(home: Path) -> None:
    first = erpilot(home, "ask", "订单 123 里买了什么？").session
    second = erpilot(home, "ask", "A question", "--model", "nosuch").session
    rows = erpilot(home, "sessions").out.splitlines()
    assert [row.split()[0] for row in rows] == ["session", second, first]
    assert "the model failed" in rows[1]
    assert rows[1].endswith("A question")
    assert "done" in rows[2]
    assert rows[2].endswith("订单 123 里买了什么？")


def test_sessions_are_found_by_the_words_that_stand_in_them(home: Path) -> None:
    first = erpilot(home, "ask", "订单 123 里买了什么？").session
    second = erpilot(home, "ask", "答应鑫源商行的保温杯单价 38.50 元").session
    rows = erpilot(home, "sessions", "--search", "鑫源商行").out.splitlines()
    assert [row.split()[0] for row in rows] == ["session", second, first]
    (_, row) = erpilot(home, "sessions", "--search", "38.5 鑫源").out.splitlines()
    assert row.split()[0] == second
    assert row.endswith("答应鑫源商行的保温杯单价 38.50 元")
    for text in ("zebra", "?!"):
        done = erpilot(home, "sessions", "--search", text)
        assert (done.code, done.out) == (0, "")
        assert f"Nothing was found for: {text}" in done.err
    erpilot(home, "erase", second, "--yes")
    assert erpilot(home, "sessions", "--search", "38.5 鑫源").out == ""


def test_a_long_list_is_cut_and_says_how_many_there_are(home: Path) -> None:
    for number in range(21):
        _record(home, f"Question {number}")
    done = erpilot(home, "sessions")
    assert len(done.out.splitlines()) == 21
    assert "20 of 21" in done.err
    assert len(erpilot(home, "sessions", "--all").out.splitlines()) == 22


def _record(home: Path, question: str) -> None:
    """A session with one message, straight into the log."""
    import asyncio

    from agent_core import events as ev
    from agent_core.store.sqlite import SqliteStore, new_session_id

    async def write() -> None:
        store = SqliteStore(home / "erpilot.db")
        said = ev.UserMessage(content=(ev.TextPart(question),), author="a")
        await store.append(new_session_id(), [ev.SessionStarted(salt="0" * 32), said], expected_seq=0)
        await store.aclose()

    asyncio.run(write())


def test_replay_prints_the_same_from_the_log_and_from_the_trace(home: Path) -> None:
    trace = home / "run.jsonl"
    asked = erpilot(home, "ask", QUESTION, "--trace", str(trace))
    assert asked.code == 0
    for options in ([], ["--verbose"], ["--lang", "zh"]):
        log = erpilot(home, "replay", asked.session, *options)
        file = erpilot(home, "replay", str(trace), *options)
        assert (log.code, file.code) == (0, 0)
        assert log.out == file.out
    log = erpilot(home, "replay", "last")
    assert asked.out.strip() in log.out
    assert QUESTION in log.out
    assert log.out.index("get_order") < log.out.index("check_stock")


def test_a_torn_trace_is_replayed_as_far_as_it_goes_and_said(home: Path) -> None:
    trace = home / "run.jsonl"
    assert erpilot(home, "ask", QUESTION, "--trace", str(trace)).code == 0
    trace.write_bytes(trace.read_bytes()[:-1000])
    done = erpilot(home, "replay", str(trace))
    assert done.code == 0
    assert "get_order" in done.out
    assert "cut off" in done.err
    assert "record ends here" in done.out


def test_replay_runs_nothing_again(home: Path) -> None:
    with model_server([("get_order", {"number": "123"})], ["Done."]) as server:
        assert erpilot(home, "ask", "Hello", settings=server.settings).code == 0
        asked = len(server.bodies)
        before = erpilot(home, "show", "last").out
        assert erpilot(home, "replay", "last", settings=server.settings).code == 0
        assert len(server.bodies) == asked
        assert erpilot(home, "show", "last").out == before


def test_step_by_step_waits_at_a_terminal_and_stops_when_told(home: Path) -> None:
    assert erpilot(home, "ask", QUESTION).code == 0
    with screen(home, "replay", "last", "--step-by-step") as person:
        person.wait_for("Enter: go on")
        person.type("")
        person.wait_for("get_order")
        person.wait_for("Enter: go on")
        person.type("q")
        assert person.end() == 0
    assert "check_stock" not in person.text
    assert "check_stock" in erpilot(home, "replay", "last", "--step-by-step").out


def test_show_lists_every_event_and_one_step_in_full(home: Path) -> None:
    assert erpilot(home, "ask", QUESTION).code == 0
    events = erpilot(home, "show", "last").out
    for name in ("SessionStarted", "RunStarted", "UserMessage", "StepStarted", "ToolCallFinished", "LoopEnd"):
        assert name in events
    step = erpilot(home, "show", "last", "--step", "2")
    assert step.code == 0
    assert "check_stock" in step.out
    assert "get_price" in step.out
    assert f"user: {QUESTION}" in step.out
    assert "request of step 2" in step.out


@pytest.mark.parametrize(("step", "code"), [("0", 2), ("-1", 2), ("4", 2), ("3", 0)])
def test_a_step_that_there_is_not_is_refused_with_those_there_are(home: Path, step: str, code: int) -> None:
    assert erpilot(home, "ask", QUESTION).code == 0
    done = erpilot(home, "show", "last", f"--step={step}")
    assert done.code == code
    assert ("steps 1 to 3" in done.err) == (code == 2)


def test_steps_are_counted_over_all_questions_of_a_session(home: Path) -> None:
    with model_server(["One."], ["Two."]) as server:
        session = erpilot(home, "ask", "First", settings=server.settings).session
        erpilot(home, "ask", "Second", "--session", session, settings=server.settings)
    shown = json.loads(erpilot(home, "show", session, "--step", "2", "--prompt").out)
    assert [message["role"] for message in shown["messages"]] == ["system", "user", "assistant", "user"]
    assert shown["messages"] == json.loads(server.bodies[1])["messages"]


def test_the_prompt_is_constant_and_today_stands_in_the_message(home: Path) -> None:
    with model_server(["One."]) as server:
        erpilot(home, "ask", "First", settings=server.settings)
        erpilot(home, "ask", "First", settings={**server.settings, "ERPILOT_TODAY": "2027-01-04"})
    first, second = (json.loads(body)["messages"] for body in server.bodies)
    assert first[0] == second[0]
    assert "2026-11-30, Monday" in first[1]["content"]
    assert "2027-01-04, Monday" in second[1]["content"]


def test_what_is_shown_as_escapes_is_said_and_has_the_same_value(home: Path) -> None:
    with model_server(["One."]) as server:
        erpilot(home, "ask", "a\u202eb", settings=server.settings)
    shown = erpilot(home, "show", "last", "--prompt")
    assert "\u202e" not in shown.out
    assert json.loads(shown.out) == json.loads(server.bodies[0])
    assert "escapes" in shown.err
