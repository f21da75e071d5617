"""Diagnostics on stderr: one JSON object a line, without secrets (D3) and without control characters (I8)."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator

import pytest

from erpilot.cli.logs import hide_in_logs, log_failure, start_logs

KEY = 'sk-canary"quoted\\0123456789'


@pytest.fixture(autouse=True)
def _loggers_as_they_were() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


def test_secrets_are_masked_in_messages_and_tracebacks(capsys: pytest.CaptureFixture[str]) -> None:
    start_logs(True, {})
    hide_in_logs([KEY])
    logging.getLogger("agent_core.tools").warning("tool said %s", KEY)
    try:
        raise RuntimeError(f"cannot use {KEY}\x1b[2J")
    except RuntimeError as error:
        log_failure(error)
    output = capsys.readouterr().err
    lines = [json.loads(line) for line in output.splitlines()]
    assert lines[0]["message"] == "tool said [secret]"
    assert "cannot use [secret]" in lines[1]["traceback"]
    assert "canary" not in output
    assert "\x1b" not in output


def test_nothing_is_said_unless_it_was_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    start_logs(False, {})
    hide_in_logs([KEY])
    logging.getLogger("agent_core").warning("hello")
    assert capsys.readouterr().err == ""
    start_logs(False, {"ERPILOT_LOG": "warning"})
    logging.getLogger("agent_core").info("quiet")
    logging.getLogger("agent_core").warning("loud")
    assert [json.loads(line)["message"] for line in capsys.readouterr().err.splitlines()] == ["loud"]
