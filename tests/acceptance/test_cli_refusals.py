"""Bad input and bad surroundings: one clear sentence, the documented exit code, never a traceback."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import pytest

from erpilot.cli.gate import HIDDEN
from tests.support.cli import COMMAND, Ended, environment, erpilot, start
from tests.support.model_server import model_server


def refused(done: Ended, code: int, *words: str) -> None:
    assert done.code == code, done.err
    assert done.out == ""
    assert "Traceback" not in done.err
    assert not HIDDEN.search(done.err)
    for word in words:
        assert word in done.err


@pytest.mark.parametrize(
    ("arguments", "stdin", "words"),
    [
        ([""], b"", ["empty"]),
        ([" \n\t"], b"", ["empty"]),
        (["-"], b"", ["empty"]),
        (["-"], b"\xef\xbb\xbf \n", ["empty"]),
        (["-"], b"a" * 10_000_000, ["100000 characters"]),
        (["-"], "汉".encode() * 3_400_000, ["100000 characters"]),
        (["-"], b"a\0b", ["NUL"]),
        (["-"], b"\x7fELF\x02\x01\x01\0\0\xff\xfe" * 50, ["not text"]),
        (["-"], b"caf\xe9", ["byte 4"]),
        (["-"], b"\xed\xa0\x80", ["byte 1"]),
        ([b"caf\xe9"], b"", ["half of a character"]),
        (["x" * 100_001], b"", ["100000 characters"]),
    ],
)
def test_a_question_that_is_none_is_refused(
    home: Path, arguments: list[str | bytes], stdin: bytes, words: list[str]
) -> None:
    refused(erpilot(home, "ask", *arguments, stdin=stdin), 2, *words)
    assert "no sessions" in erpilot(home, "sessions").err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["ask", "Hi", "--session", "nosuch"], ["no session 'nosuch'", "erpilot sessions"]),
        (["ask", "Hi", "--session", "last"], ["no sessions yet"]),
        (["ask", "Hi", "--session", ""], ["no session ''"]),
        (["ask", "Hi", "--session", "\x1b[2J\u202e"], ["no session"]),
        (["ask", "Hi", "--session", b"\xff"], ["no session"]),
        (["ask", "Hi", "--profile", "nosuch"], ["no profile 'nosuch'", "shop"]),
        (["ask", "Hi", "--approve", "dangerous"], ["write"]),
        (["ask"], ["TEXT", "erpilot ask --help"]),
        (["ask", "Hi", "--lang", "fr"], ["zh"]),
        (["ask", "Hi", "--nosuch"], ["--nosuch"]),
        (["nosuch"], ["nosuch", "doctor"]),
        (["show", "nosuch"], ["no session"]),
        (["replay", "nosuch"], ["no session"]),
        (["replay", "x" * 5000], ["no session"]),
        (["resume", "nosuch"], ["no session"]),
        (["approve", "nosuch", "c"], ["no session"]),
        (["deny", "nosuch", "c", "--because", "x"], ["no session"]),
        (["deny", "nosuch", "c"], ["--because"]),
        (["chat"], ["terminal", "erpilot ask"]),
        (["setup"], ["terminal"]),
        (["show", "last", "--step", "two"], ["--step"]),
    ],
)
def test_an_argument_that_names_nothing_is_refused(home: Path, arguments: list[str | bytes], words: list[str]) -> None:
    refused(erpilot(home, *arguments), 2, *words)


def test_refusals_are_in_chinese_too(home: Path) -> None:
    refused(erpilot(home, "ask", "", "--lang", "zh"), 2, "问题是空的")
    refused(erpilot(home, "--lang", "zh", "ask"), 2, "缺少参数：TEXT")
    refused(erpilot(home, "sessions", "--foo", settings={"LANG": "zh_CN.UTF-8"}), 2, "不认识的参数：--foo")
    refused(erpilot(home, "ask", "Hi", "--session", "x", settings={"ERPILOT_LANG": "zh"}), 2, "没有会话")


def test_an_ambiguous_beginning_of_a_session_names_those_it_could_mean(home: Path) -> None:
    first = erpilot(home, "ask", "订单 123 里买了什么？").session
    second = erpilot(home, "ask", "订单 123 里买了什么？").session
    done = erpilot(home, "show", first[:6])
    refused(done, 2, first, second)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("nosuch", ["nosuch", "provider:model"]),
        ("nosuch:model", ["no provider 'nosuch'", "deepseek"]),
        ("deepseek:deepseek-chat", ["DEEPSEEK_API_KEY", "erpilot setup"]),
    ],
)
def test_a_model_that_cannot_be_used_costs_nothing_and_loses_nothing(home: Path, model: str, words: list[str]) -> None:
    done = erpilot(home, "ask", "订单 123 里买了什么？", "--model", model)
    refused(done, 4, *words, "erpilot resume")
    resumed = erpilot(home, "resume", done.session, "--model", "offline")
    assert resumed.code == 0
    assert "SO-2026-0123" in resumed.out


@pytest.mark.parametrize("address", ["http://127.0.0.1:1/v1", "not an address", "http://127.0.0.1:1/\x1b[2J"])
def test_an_endpoint_that_cannot_be_reached_says_what_to_check_and_keeps_the_question(home: Path, address: str) -> None:
    settings = {"OPENAI_BASE_URL": address, "OPENAI_API_KEY": "sk-canary-123456", "ERPILOT_MODEL": "m"}
    done = erpilot(home, "ask", "订单 123 里买了什么？", settings=settings)
    refused(done, 4, "Check the address", "erpilot resume")
    assert "sk-canary" not in done.err
    assert "订单 123 里买了什么？" in erpilot(home, "replay", "last").out


def test_a_home_below_a_file_is_refused_by_every_command_that_needs_one(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    home = tmp_path / "file" / "home"
    for command in (["ask", "Hi"], ["sessions"], ["show", "last"], ["replay", "last"], ["resume", "last"]):
        done = subprocess.run(
            [*COMMAND, *command], capture_output=True, env=environment(tmp_path, ERPILOT_HOME=str(home)), timeout=60
        )
        refused(Ended(done.returncode, done.stdout.decode(), done.stderr.decode()), 6, str(home), "ERPILOT_HOME")


def _without_superpowers() -> None:
    """Takes root's right to write anywhere from the process that is about to start."""
    if os.geteuid() == 0:
        libc = ctypes.CDLL(None, use_errno=True)
        for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
            if libc.prctl(24, capability, 0, 0, 0) != 0:  # PR_CAPBSET_DROP
                raise OSError(ctypes.get_errno(), "prctl")


def test_a_home_that_may_not_be_written_is_refused(home: Path) -> None:
    os.chmod(home, 0o500)
    try:
        done = subprocess.run(
            [*COMMAND, "ask", "Hi"],
            capture_output=True,
            env=environment(home),
            timeout=60,
            preexec_fn=_without_superpowers if sys.platform == "linux" else None,
        )
    finally:
        os.chmod(home, 0o700)
    refused(Ended(done.returncode, done.stdout.decode(), done.stderr.decode()), 6, str(home), "Permission denied")


def test_a_damaged_log_is_said_and_never_written_to(home: Path) -> None:
    (home / "erpilot.db").write_bytes(b"this is no database, and never was one" * 100)
    refused(erpilot(home, "ask", "Hi"), 6, "erpilot.db")


def test_settings_that_are_not_understood_are_refused_by_name(home: Path) -> None:
    (home / "config.toml").write_text("modle = 'x'\n", encoding="utf-8")
    refused(erpilot(home, "ask", "Hi"), 2, "modle", "model")
    (home / "config.toml").write_text("[[[", encoding="utf-8")
    refused(erpilot(home, "ask", "Hi"), 2, "TOML", "erpilot setup")
    (home / "config.toml").unlink()
    refused(erpilot(home, "ask", "Hi", settings={"ERPILOT_TODAY": "soon"}), 2, "ERPILOT_TODAY", "soon")


@pytest.mark.parametrize("name", ["missing/t.jsonl", "."])
def test_a_trace_that_cannot_be_written_stops_the_command_before_the_run(home: Path, name: str) -> None:
    done = erpilot(home, "ask", "Hi", "--trace", str(home / name))
    refused(done, 6, "cannot be written")
    assert "no sessions" in erpilot(home, "sessions").err


def test_a_second_process_on_the_same_session_is_refused(home: Path) -> None:
    with model_server(["First."], ["Slowly ", 8.0, "done."]) as server:
        session = erpilot(home, "ask", "Hello", settings=server.settings).session
        first = start(home, ["ask", "Again", "--session", session], server.settings)
        assert first.stdout is not None
        assert first.stdout.read(6) == b"Slowly"
        for command in (["ask", "Me too", "--session", session], ["resume", session]):
            done = erpilot(home, *command, settings=server.settings)
            refused(done, 7, session, "driven by")
        first.kill()
        first.communicate(timeout=30)
