"""``erpilot ask`` as a process: what is on stdout, what beside it, and with which exit code."""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from pathlib import Path

import pytest

from agent_core.codec import decode
from erpilot.cli.gate import HIDDEN
from tests.support.cli import COMMAND, QUESTION, environment, erpilot, start
from tests.support.model_server import Piece, model_server

HOSTILE = "price\x1b[2J\x1b]52;c;aGk=\x07 \x9b31m \u202egpj\u2066 a\rb \x00\x7f"


def test_a_question_is_answered_from_the_shop_in_several_steps(home: Path) -> None:
    done = erpilot(home, "ask", QUESTION, "--lang", "zh")
    assert done.code == 0
    assert "SO-2026-0123" in done.out
    assert "可直接发给客户" in done.out
    assert done.err.count("离线规划器") == 1
    tools = re.findall(r"✓ (\w+)\(", done.err)
    assert tools[0] == "get_order"
    assert set(tools[1:]) == {"check_stock", "get_price"}
    assert f"erpilot replay {done.session}" in done.err
    assert not HIDDEN.search(done.out + done.err)


def test_the_answer_is_in_the_language_of_the_question(home: Path) -> None:
    done = erpilot(home, "ask", "What is in order 123?")
    assert done.code == 0
    assert "SO-2026-0123" in done.out
    assert "promised for" in done.out
    assert "is no language model" in done.err


def test_the_question_can_come_from_stdin(home: Path) -> None:
    done = erpilot(home, "ask", "-", stdin=b"\xef\xbb\xbf" + "订单 123 里买了什么？\n".encode())
    assert done.code == 0
    assert "SO-2026-0123" in done.out


def test_json_is_one_recorded_event_a_line_and_nothing_else(home: Path) -> None:
    done = erpilot(home, "ask", QUESTION, "--json")
    assert done.code == 0
    items = [json.loads(line) for line in done.out.splitlines()]
    events = [decode(json.dumps(item["event"]).encode()) for item in items]
    names = [type(event).__name__ for event in events]
    assert names[0] == "SessionStarted"
    assert names[-1] == "LoopEnd"
    assert {"TextDelta", "ToolCallStarted", "ToolCallFinished", "StepEnd"} <= set(names)
    durable = [item["seq"] for item in items if item["seq"] is not None]
    assert durable == list(range(1, len(durable) + 1))
    assert all((item["hash"] is None) == (item["seq"] is None) for item in items)
    assert {item["session_id"] for item in items} == {done.session}


def test_a_session_goes_on_by_its_id_its_beginning_or_as_the_last_one(home: Path) -> None:
    session = erpilot(home, "ask", "订单 123 里买了什么？").session
    for name in (session, session[:11], "last"):
        done = erpilot(home, "ask", "A4 纸还有多少？", "--session", name)
        assert (done.code, done.session) == (0, session)


def test_text_streams_to_stdout_as_it_arrives(home: Path) -> None:
    with model_server(["First part. ", 3.0, "Second part."]) as server:
        process = start(home, ["ask", "Hello"], server.settings)
        assert process.stdout is not None
        began = time.monotonic()
        first = process.stdout.read(len("First part. "))
        assert first == b"First part. "
        assert process.poll() is None
        assert process.stdout.read() == b"Second part.\n"
        assert time.monotonic() - began > 1
        process.communicate(timeout=30)
        assert process.returncode == 0


def test_each_request_can_be_shown_to_the_byte(home: Path) -> None:
    turns: list[list[Piece]] = [[("get_order", {"number": "123"})], [("check_stock", {"skus": ["PA4-70"]})], ["够。"]]
    with model_server(*turns) as server:
        assert erpilot(home, "ask", "订单 123 还有货吗？\n🙂", settings=server.settings).code == 0
    assert len(server.bodies) == 3
    for number, body in enumerate(server.bodies, 1):
        shown = erpilot(home, "show", "last", "--step", str(number), "--prompt")
        assert (shown.code, shown.out.encode()) == (0, body + b"\n")
        assert json.loads(body)["model"] == "scripted"
    assert erpilot(home, "show", "last", "--prompt").out.encode() == server.bodies[-1] + b"\n"


def test_nothing_a_model_or_a_tool_writes_drives_the_terminal(home: Path) -> None:
    half, rest = HOSTILE[:7], HOSTILE[7:]
    turns: list[list[Piece]] = [[("find_products", {"query": HOSTILE}), ("no\x1b[31mtool", {})], [half, rest, "\x1b"]]
    with model_server(*turns) as server:
        done = erpilot(home, "ask", f"What about {HOSTILE[:20]}?", "--verbose", settings=server.settings)
        as_json = erpilot(home, "ask", "Hello", "--json", settings=server.settings)
    assert done.code == 0
    assert "price␛[2J␛]52;c;aGk=␇ <U+009B>31m <U+202E>gpj<U+2066> a␍b ␀␡␛" in done.out
    for text in (done.out, done.err, as_json.out, as_json.err):
        assert not HIDDEN.search(text)
    deltas = [json.loads(line)["event"] for line in as_json.out.splitlines()]
    assert "".join(delta["text"] for delta in deltas if delta["type"] == "TextDelta") == HOSTILE + "\x1b"
    for command in (["show", "last"], ["show", "last", "--step", "1"], ["replay", "last", "--verbose"], ["sessions"]):
        shown = erpilot(home, *command)
        assert shown.code == 0
        assert not HIDDEN.search(shown.out + shown.err)


def test_a_partial_answer_that_turned_void_is_said_to_be_void_and_the_answer_printed_anew(home: Path) -> None:
    with model_server(["The price is 1", 0.1, None], ["The price is 94.50."]) as server:
        done = erpilot(home, "ask", "Price?", settings=server.settings)
    assert done.code == 0
    assert done.out == "The price is 1\n[The text above is void; the answer begins anew.]\nThe price is 94.50.\n"
    assert "trying again" in done.err


def test_a_reader_that_closes_the_pipe_is_no_error(home: Path) -> None:
    with model_server(["word " * 2000, 0.5] * 5) as server:
        process = start(home, ["ask", "Hello"], server.settings)
        assert process.stdout is not None
        assert process.stdout.read(10) == b"word word "
        process.stdout.close()
        assert process.stderr is not None
        err = process.stderr.read()
        process.stderr.close()
        assert process.wait(30) == 0
    assert b"Traceback" not in err
    assert b"rror" not in err
    assert "done" in erpilot(home, "sessions").out


@pytest.mark.parametrize("command", [["--help"], ["sessions"], ["replay", "last"], ["show", "last"]])
def test_no_command_minds_a_pipe_that_is_closed(home: Path, command: list[str]) -> None:
    assert erpilot(home, "ask", "订单 123 里买了什么？").code == 0
    process = start(home, command)
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    err = process.stderr.read()
    process.stderr.close()
    assert process.wait(30) == 0
    assert b"rror" not in err
    assert b"Traceback" not in err


def test_colours_stay_out_of_pipes(home: Path) -> None:
    done = erpilot(home, "ask", QUESTION, settings={"TERM": "xterm-256color"})
    assert "\x1b" not in done.out + done.err


def test_logs_are_json_and_only_there_when_asked_for(home: Path) -> None:
    quiet = erpilot(home, "ask", "Hi", "--trace", str(home / "missing" / "t.jsonl"))
    assert "{" not in quiet.err.replace("{}", "")
    with model_server([0.0]) as server:
        settings = {**server.settings, "ERPILOT_LOG": "debug"}
        done = erpilot(home, "ask", "Hello", settings=settings)
    logged = [json.loads(line) for line in done.err.splitlines() if line.startswith('{"time"')]
    assert logged
    assert {"time", "level", "logger", "message"} <= logged[0].keys()


def test_a_model_that_repeats_itself_is_stopped_with_exit_code_5(home: Path) -> None:
    with model_server([("get_order", {"number": "123"})]) as server:
        done = erpilot(home, "ask", "Hello", settings=server.settings)
    assert done.code == 5
    assert done.err.count("✓ get_order") == 2
    assert "repeated_call" in done.err
    assert "stopped by a guard" in done.err
    assert "erpilot resume" in done.err
    assert len(server.bodies) == 4


def test_a_process_without_stdout_does_its_work_all_the_same(home: Path) -> None:
    done = subprocess.run(
        [*COMMAND, "ask", QUESTION],
        stderr=subprocess.PIPE,
        env=environment(home),
        timeout=60,
        preexec_fn=lambda: os.close(1),
    )
    assert done.returncode == 0
    assert b"Traceback" not in done.stderr
