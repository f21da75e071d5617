"""The evaluation of one long conversation within a small window, on a server that plays a model."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from evals.conversation import CONVERSATION, main, read_conversation
from tests.support.http_server import Answer, Exchange, serving

Captured = pytest.CaptureFixture[str]


def test_it_has_twelve_single_look_ups_between_what_is_told_and_asked_back() -> None:
    _, questions = read_conversation(CONVERSATION)
    look_ups = [question for question in questions if question.needs]
    assert len(look_ups) == 12
    assert all(len(question.needs) == 1 and question.facts for question in look_ups)
    assert [question.id for question in questions if not question.needs] == [
        "told-price",
        "told-name",
        "asked-price",
        "asked-name",
    ]


async def talks(exchange: Exchange) -> None:
    """A model that knows one price, says much, and counts its prompt by characters."""
    await exchange.start()
    usage = {"prompt_tokens": len(exchange.body) // 3, "completion_tokens": 10, "total_tokens": 10}
    text = "It is 38.50. " + "Let me tell you more about it. " * 60
    chunks: list[dict[str, Any]] = [{"choices": [{"index": 0, "delta": {"content": text}}]}]
    chunks += [{"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}, {"choices": [], "usage": usage}]
    for chunk in chunks:
        await exchange.chunk(b"data: %s\n\n" % json.dumps(chunk).encode())
    await exchange.chunk(b"data: [DONE]\n\n")
    await exchange.end()


async def refuses(exchange: Exchange) -> None:
    await exchange.start(401, {"content-type": "application/json"})
    await exchange.chunk(b'{"error":{"message":"no such key","type":"invalid_request_error"}}')
    await exchange.end()


def evaluate(answer: Answer, *arguments: str) -> int:
    """Runs the command beside a server, the way a person would run it beside a real one."""

    async def served() -> int:
        async with serving(answer) as url:
            return await asyncio.to_thread(main, ["--base-url", url, "--model", "m", *arguments])

    return asyncio.run(served())


def test_a_conversation_outgrows_its_window_and_what_was_told_is_asked_back(tmp_path: Path, capsys: Captured) -> None:
    report = tmp_path / "report.json"
    assert evaluate(talks, "--tools", "needed", "--window", "7000", "--json", str(report)) == 0
    out = capsys.readouterr().out
    rows = {cells[0].strip("| "): cells for line in out.splitlines() if len(cells := line.split(" | ")) > 5}
    assert rows["asked-price"][1:4] == ["1/1", "0", "completed"]
    assert rows["asked-name"][1] == "0/1"
    assert rows["told-price"][1] == "-"
    said = json.loads(report.read_bytes())["said"]
    assert len(said) == 16
    assert any(each["compactions"] for each in said)
    assert [each["recalled"] > 0 for each in said[-2:]] == [True, True]
    assert all(each["reported"] <= 6300 for each in said)


def test_an_endpoint_that_answers_nothing_is_told_and_so_is_a_file_that_is_no_conversation(
    tmp_path: Path, capsys: Captured
) -> None:
    assert evaluate(refuses, "--tools", "needed") == 4
    assert "Nothing was answered: " in capsys.readouterr().err
    path = tmp_path / "conversation.toml"
    for text, told in (('order = ["nobody"]', "names 'nobody'"), ("order = 3", "is no conversation"), ("=", "is no")):
        path.write_text(text, encoding="utf-8")
        assert evaluate(talks, "--conversation", str(path)) == 2
        assert told in capsys.readouterr().err
