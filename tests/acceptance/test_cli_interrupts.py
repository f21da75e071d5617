"""Ctrl-C and a request to terminate: the run ends in order, what happened is kept, and it can be gone on with."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.support.cli import erpilot, start
from tests.support.model_server import Piece, model_server
from tests.support.screen import screen


def interrupted(process: subprocess.Popen[bytes], number: signal.Signals, times: int = 1) -> tuple[int, str, str]:
    for _ in range(times):
        process.send_signal(number)
        time.sleep(0.3)
    out, err = process.communicate(timeout=20)
    return process.returncode, out.decode(), err.decode()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_run_that_is_interrupted_ends_with_130_and_can_be_resumed(home: Path, number: signal.Signals) -> None:
    turns: list[list[Piece]] = [[("get_order", {"number": "123"})], ["Half an ", 30.0, "answer"], ["The whole answer."]]
    with model_server(*turns) as server:
        process = start(home, ["ask", "Hello"], server.settings)
        assert process.stdout is not None
        assert process.stdout.read(8) == b"Half an "
        code, out, err = interrupted(process, number)
        assert code == 130
        assert "Traceback" not in err
        assert "erpilot resume" in err
        assert "cut off" in out
        shown = erpilot(home, "replay", "last")
        assert "✓ get_order" in shown.out
        assert "Interrupted by" in shown.out
        resumed = erpilot(home, "resume", "last", settings=server.settings)
        assert (resumed.code, resumed.out) == (0, "The whole answer.\n")
        assert "get_order" not in resumed.err


def test_a_second_signal_ends_it_at_once(home: Path) -> None:
    with model_server([30.0, "never"]) as server:
        process = start(home, ["ask", "Hello"], server.settings)
        while not server.bodies:  # the request is there: the run is under way
            assert process.poll() is None
            time.sleep(0.05)
        began = time.monotonic()
        code, _, err = interrupted(process, signal.SIGINT, times=2)
        assert code == 130
        assert time.monotonic() - began < 10
        assert "Traceback" not in err


def test_a_signal_before_the_run_began_is_quiet_too(home: Path) -> None:
    process = start(home, ["ask", "-"])
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=20)
    assert b"Traceback" not in err


def test_after_a_kill_the_session_is_free_at_once(home: Path) -> None:
    with model_server(["Half an ", 30.0], ["The whole answer."]) as server:
        process = start(home, ["ask", "Hello"], server.settings)
        assert process.stdout is not None
        assert process.stdout.read(8) == b"Half an "
        os.kill(process.pid, signal.SIGKILL)
        process.communicate(timeout=20)
        resumed = erpilot(home, "resume", "last", settings=server.settings)
    assert (resumed.code, resumed.out) == (0, "The whole answer.\n")


def test_ctrl_c_in_a_chat_ends_the_answer_and_not_the_chat(home: Path) -> None:
    turns: list[list[Piece]] = [["Half an ", 30.0, "answer"], ["The second answer."]]
    with model_server(*turns) as server, screen(home, "chat", settings=server.settings) as person:
        person.wait_for("Ctrl-D leaves.")
        person.ready()
        person.type("first")
        person.wait_for("Half an ")
        person.press("c")
        person.wait_for("cut off")
        person.wait_for("interrupted")
        person.ready()
        person.type("second")
        person.wait_for("The second answer.")
        person.ready()
        person.press("c")
        person.wait_for("Ctrl-D leaves.")
        person.ready()
        person.press("d")
        person.wait_for("erpilot chat --session")
        assert person.end() == 0
    replayed = erpilot(home, "replay", "last").out
    assert "You: first" in replayed
    assert "Interrupted by" in replayed
    assert "The second answer." in replayed


def test_an_impatient_second_ctrl_c_in_a_chat_does_not_end_it_either(home: Path) -> None:
    with (
        model_server(["Half an ", 30.0], ["Still here."]) as server,
        screen(home, "chat", settings=server.settings) as person,
    ):
        person.ready()
        person.type("first")
        person.wait_for("Half an ")
        person.press("c")
        person.press("c")
        person.ready()
        person.type("second")
        person.wait_for("Still here.")
        person.ready()
        person.press("d")
        assert person.end() == 0
