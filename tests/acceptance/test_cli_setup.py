"""``setup`` and ``doctor``: what is kept, what is tried, and that no key is ever shown."""

from __future__ import annotations

import os
import stat
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import erpilot
from tests.support.model_server import model_server
from tests.support.screen import screen

CANARY = "sk-canary-7d1f02"


def settings(home: Path) -> dict[str, Any]:
    return tomllib.loads((home / "config.toml").read_text(encoding="utf-8"))


def test_a_model_is_tried_and_then_kept(home: Path) -> None:
    with model_server(["OK"]) as server:
        options = ["--model", "custom:mine", "--base-url", server.base_url, "--key-stdin", "--currency", "cny"]
        done = erpilot(home, "setup", *options, stdin=f"{CANARY}\n".encode())
        assert done.code == 0, done.err
        assert settings(home) == {
            "model": "custom:mine",
            "base_url": server.base_url,
            "key": CANARY,
            "currency": "CNY",
        }
        assert stat.S_IMODE(os.stat(home / "config.toml").st_mode) == 0o600
        assert len(server.bodies) == 1
        asked = erpilot(home, "ask", "Hello")
        assert (asked.code, asked.out) == (0, "OK\n")
        doctor = erpilot(home, "doctor")
        assert doctor.code == 0
        assert "custom:mine" in doctor.out
        assert server.base_url in doctor.out
        assert "config.toml" in doctor.out
    shown = [done, asked, doctor, erpilot(home, "show", "last"), erpilot(home, "show", "last", "--prompt")]
    assert all(CANARY not in text.out + text.err for text in shown)


def test_a_model_that_does_not_answer_is_not_kept(home: Path) -> None:
    options = ["--model", "custom:mine", "--base-url", "http://127.0.0.1:1/v1"]
    done = erpilot(home, "setup", *options)
    assert done.code == 4
    assert "Check the address" in done.err
    assert not (home / "config.toml").exists()
    assert erpilot(home, "setup", *options, "--no-test").code == 0
    assert settings(home)["model"] == "custom:mine"
    doctor = erpilot(home, "doctor")
    assert doctor.code == 4
    assert "cannot be reached" in doctor.out
    assert erpilot(home, "doctor", "--no-test").code == 0


def test_a_key_does_not_follow_to_another_endpoint(home: Path) -> None:
    first = ["--model", "deepseek:deepseek-chat", "--key-stdin", "--no-test"]
    assert erpilot(home, "setup", *first, stdin=CANARY.encode()).code == 0
    assert erpilot(home, "setup", "--currency", "USD").code == 0
    assert settings(home)["key"] == CANARY
    assert erpilot(home, "setup", "--model", "deepseek:deepseek-reasoner", "--no-test").code == 0
    assert settings(home)["key"] == CANARY
    assert erpilot(home, "setup", "--model", "moonshot:moonshot-v1-8k", "--no-test").code == 0
    assert "key" not in settings(home)


def test_one_setting_is_changed_and_the_others_stay(home: Path) -> None:
    assert erpilot(home, "setup", "--model", "offline", "--today", "2026-12-24", "--lang", "zh").code == 0
    assert erpilot(home, "setup", "--exchange-rate", "7.05", "--zone", "Asia/Shanghai").code == 0
    assert settings(home) == {
        "model": "offline",
        "today": "2026-12-24",
        "lang": "zh",
        "exchange_rate": "7.05",
        "zone": "Asia/Shanghai",
    }
    assert "2026-12-24" in erpilot(home, "doctor").out
    assert "店铺" in erpilot(home, "doctor").out


@pytest.mark.parametrize(
    "options",
    [
        ["--currency", "EUR"],
        ["--today", "tomorrow"],
        ["--zone", "Mars/Base"],
        ["--exchange-rate", "-1"],
        ["--base-url", "example"],
        ["--key-stdin"],
        ["--key-variable", "A", "--key-stdin"],
    ],
)
def test_a_value_that_is_none_is_refused_and_nothing_kept(home: Path, options: list[str]) -> None:
    done = erpilot(home, "setup", *options)
    assert done.code == 2
    assert options[0].lstrip("-").split("-")[0] in done.err
    assert not (home / "config.toml").exists()


def test_a_broken_file_is_replaced_and_said(home: Path) -> None:
    (home / "config.toml").write_text("[[[", encoding="utf-8")
    done = erpilot(home, "setup", "--model", "offline")
    assert done.code == 0
    assert "TOML" in done.err
    assert settings(home) == {"model": "offline"}


def test_the_interview_explains_asks_tries_and_keeps(home: Path) -> None:
    with model_server(["OK"]) as server, screen(home, "setup") as person:
        person.wait_for("offline")
        person.wait_for("deepseek")
        person.ready_for("Number or name:")
        person.type("99")
        person.wait_for("One of 1 to")
        person.ready_for("Number or name:")
        person.type("custom")
        person.ready_for("as a rule):")
        person.type(server.base_url)
        person.ready_for("Model:")
        person.type("mine")
        person.ready_for("OPENAI_API_KEY):")
        person.type(CANARY)
        person.ready_for("CNY or USD:")
        person.type("")
        person.wait_for("It answers")
        person.wait_for("Saved in")
        assert person.end() == 0
    assert CANARY not in person.text
    assert settings(home)["key"] == CANARY
    assert settings(home)["model"] == "custom:mine"
    assert settings(home)["currency"] == "USD"


def test_an_interview_that_is_broken_off_keeps_nothing(home: Path) -> None:
    with screen(home, "setup") as person:
        person.ready_for("Number or name:")
        person.press("c")
        assert person.end() == 130
    assert not (home / "config.toml").exists()


def test_doctor_names_each_thing_that_does_not_work(home: Path) -> None:
    fine = erpilot(home, "doctor")
    assert fine.code == 0
    assert "offline planner" in fine.out
    assert str(home) in fine.out
    (home / "config.toml").write_text("model = 'deepseek:deepseek-chat'", encoding="utf-8")
    os.chmod(home / "config.toml", 0o644)
    missing = erpilot(home, "doctor", settings={"LANG": "zh_CN.UTF-8"})
    assert missing.code == 4
    assert "DEEPSEEK_API_KEY" in missing.out
    assert "chmod 600" in missing.out
    (home / "erpilot.db").write_bytes(b"no database" * 1000)
    (home / "config.toml").write_text("nonsense = 1", encoding="utf-8")
    broken = erpilot(home, "doctor")
    assert broken.code in (2, 6)
    assert "nonsense" in broken.out
    assert "erpilot.db" in broken.out
    assert "Traceback" not in broken.err
