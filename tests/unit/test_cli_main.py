from __future__ import annotations

import asyncio
import json
import logging
import signal
from collections.abc import Iterator
from typing import NoReturn

import pytest

import erpilot.cli.sessions
from agent_core import errors
from agent_core.trace.jsonl import TraceError
from erpilot.cli.main import main
from erpilot.cli.problems import Problem
from erpilot.shop.errors import DamagedShop, Invalid


@pytest.fixture(autouse=True)
def _process_as_it_was() -> Iterator[None]:
    """``main`` owns its process: signal handlers and log handlers are put back."""
    handler, root = signal.getsignal(signal.SIGTERM), logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    signal.signal(signal.SIGTERM, handler)
    root.handlers, root.level = handlers, level


FAILURES: list[tuple[BaseException, int, str]] = [
    (RuntimeError("boom \x1b[2J"), 1, "--verbose"),
    (RecursionError(), 1, "RecursionError"),
    (KeyboardInterrupt(), 130, "Interrupted"),
    (asyncio.CancelledError(), 130, "Interrupted"),
    (errors.Busy("S", "process 7"), 7, "process 7"),
    (errors.Fenced("Session S was taken over by another process."), 7, "taken over"),
    (errors.UnknownSession("There is no session S."), 2, "no session S"),
    (errors.StoreError("The disk is full."), 6, "disk is full"),
    (errors.Conflict("S", 1, 2), 6, "event 2"),
    (errors.DamagedLog("S", 4, "gone"), 6, "event 4"),
    (errors.ModelError("tls", "The certificate is not trusted."), 4, "certificate"),
    (errors.Refused("Too late."), 2, "Too late."),
    (errors.AgentError("Something else."), 1, "Something else."),
    (TraceError("The trace file x cannot be written."), 6, "x cannot be written"),
    (DamagedShop("shop.db is damaged.", hint="Restore it."), 6, "Restore it."),
    (Invalid("No date."), 2, "No date."),
    (Problem(2, "question_empty"), 2, "empty"),
]


@pytest.mark.parametrize(("error", "code", "words"), FAILURES, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_error_becomes_a_sentence_and_its_exit_code(
    error: BaseException,
    code: int,
    words: str,
    lang: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fails(*_: object) -> NoReturn:
        raise error

    monkeypatch.setattr(erpilot.cli.sessions, "sessions", fails)
    assert main(["sessions", "--lang", lang]) == code
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "Traceback" not in shown.err
    assert "\x1b" not in shown.err
    assert shown.err.count("\n") == 1
    if lang == "en":
        assert words in shown.err
    else:
        assert any("\u4e00" <= character <= "\u9fff" for character in shown.err)


def test_verbose_tells_the_details_as_one_line_of_json(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(*_: object) -> NoReturn:
        raise RuntimeError("boom \x1b[2J")

    monkeypatch.setattr(erpilot.cli.sessions, "sessions", fails)
    assert main(["sessions", "--verbose"]) == 1
    logged, sentence = capsys.readouterr().err.splitlines()
    assert "RuntimeError" in json.loads(logged)["traceback"]
    assert "\x1b" not in logged
    assert sentence.startswith("Unexpected error (RuntimeError)")
