"""The evaluation with real models, run on a server that plays one: it reports, whatever the model does."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from agent_core.messages import ToolCall
from agent_core.model import RecordedModel, Recording
from erpilot.shop.open import open_shop
from erpilot.toolsets.shop import shop_tools
from evals.figures import figures
from evals.interview import CallMade
from evals.marks import holds, meets
from evals.questions import QUESTIONS, Question, read_questions
from evals.real_model import main
from tests.support.http_server import Answer, Exchange, serving
from tests.support.streams import calls_of, text_of

FILE = read_questions(QUESTIONS)
STOCK = {"index": 0, "id": "c1", "type": "function", "function": {"name": "check_stock", "arguments": ""}}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("shop")


def test_there_are_ten_questions_in_each_language() -> None:
    languages = [question.language for question in FILE.question]
    assert {name: languages.count(name) for name in languages} == {"zh": 10, "en": 10}


@pytest.mark.parametrize("question", FILE.question, ids=lambda question: question.id)
async def test_the_calls_of_a_question_bring_every_fact_that_its_answer_is_to_hold(
    question: Question, home: Path
) -> None:
    shop = open_shop(home, FILE.today)
    try:
        tools = {tool.name: tool for tool in shop_tools(shop)}
        results = ""
        for need in question.needs:
            assert set(need.tools) <= set(tools)
            tool = tools[need.tools[0]]
            assert tool.tier.value == "READ"
            assert meets(CallMade(1, ToolCall("c", tool.name, json.dumps(need.arguments))), need)
            results += (await tool.handler(**tool.arguments.validate(need.arguments))).model_dump_json()
    finally:
        shop.close()
    assert [group for group in question.facts if not holds(results, group)] == []
    assert figures(results)


def streamed(*deltas: dict[str, Any], finish: str = "stop") -> list[bytes]:
    chunks: list[dict[str, Any]] = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    chunks.append({"choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}})
    return [*(b"data: %s\n\n" % json.dumps(chunk).encode() for chunk in chunks), b"data: [DONE]\n\n"]


async def looks_up_and_answers(exchange: Exchange) -> None:
    """A model that asks for the stock, in two pieces, and then knows it."""
    await exchange.start()
    asked = json.loads(exchange.body)["messages"][-1]["role"] == "tool"
    call = {**STOCK, "function": {"name": "check_stock", "arguments": '{"skus":'}}
    rest = {"index": 0, "function": {"arguments": '["可口可乐"]}'}}
    answer = streamed({"content": "可用 "}, {"content": "48 瓶，明天 77 瓶。"})
    lookup = streamed({"tool_calls": [call]}, {"tool_calls": [rest]}, finish="tool_calls")
    for piece in answer if asked else lookup:
        await exchange.chunk(piece)
    await exchange.end()


def calling(name: str, arguments: str) -> Answer:
    """A model that makes one call and then gives up."""

    async def answer(exchange: Exchange) -> None:
        await exchange.start()
        asked = json.loads(exchange.body)["messages"][-1]["role"] == "tool"
        call = {**STOCK, "function": {"name": name, "arguments": arguments}}
        lookup = streamed({"tool_calls": [call]}, finish="tool_calls")
        for piece in streamed({"content": "Sorry."}) if asked else lookup:
            await exchange.chunk(piece)
        await exchange.end()

    return answer


async def babbles(exchange: Exchange) -> None:
    await exchange.start()
    for piece in streamed({"content": "I am a teapot with 12 spouts."}):
        await exchange.chunk(piece)
    await exchange.end()


async def refuses(exchange: Exchange) -> None:
    await exchange.start(401, {"content-type": "application/json"})
    await exchange.chunk(b'{"error":{"message":"no such key","type":"invalid_request_error"}}')
    await exchange.end()


def evaluate(answer: Answer, *arguments: str) -> int:
    """Runs the command beside a server, the way a person would run it beside a real one."""
    loop = asyncio.new_event_loop()

    async def served() -> int:
        async with serving(answer) as url:
            return await asyncio.to_thread(main, ["--base-url", url, "--model", "m", *arguments])

    try:
        return loop.run_until_complete(served())
    finally:
        loop.close()


Captured = pytest.CaptureFixture[str]


def test_a_question_is_asked_marked_recorded_and_can_be_played_again(tmp_path: Path, capsys: Captured) -> None:
    record, report = tmp_path / "record", tmp_path / "report.json"
    arguments = ("--only", "zh-stock-by-name", "--record", str(record), "--json", str(report), "--shown", "Model 1B")
    assert evaluate(looks_up_and_answers, *arguments) == 0
    cells = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("| zh-stock")).split(" | ")
    assert cells[1:9] == ["yes", "yes", "yes", "yes", "1/1", "1", "completed", "2"]
    (result,) = json.loads(report.read_bytes())["results"]
    assert result["marks"]["from_nowhere"] == ["77"]
    assert [call["call"]["name"] for call in result["interview"]["calls"]] == ["check_stock"]

    index = json.loads((record / "index.json").read_bytes())
    assert sorted(index["streams"]) == ["zh-stock-by-name-1.jsonl", "zh-stock-by-name-2.jsonl"]
    first = index["streams"]["zh-stock-by-name-1.jsonl"]
    assert (first["model"], first["status"], first["request"]["tools"]) == ("Model 1B", 200, "see tools")
    assert first["request"]["messages"][0] == {"role": "system", "content": "see system"}
    assert {tool["function"]["name"] for tool in index["tools"]} >= {"check_stock", "get_order"}
    assert index["system"]
    played = asyncio.run(_play([Recording.of_file(record / name) for name in sorted(index["streams"])]))
    assert played == ('{"skus":["可口可乐"]}', "可用 48 瓶，明天 77 瓶。")


async def _play(recordings: list[Recording]) -> tuple[str, str]:
    model = RecordedModel(recordings)
    (call,) = calls_of([event async for event in model.stream_chat([])])
    return call.arguments, text_of([event async for event in model.stream_chat([])])


@pytest.mark.parametrize(
    ("name", "arguments", "marks"),
    [
        ("check_stock", '{"skus":["Chai"],"warehouse":"Mars"}', ["yes", "yes", "no", "no"]),
        ("check_stock", '{"skus":["HW-CUP-500"]}', ["yes", "yes", "no", "no"]),
        ("get_order", '{"number":"145"}', ["yes", "no", "no", "no"]),
        ("check_stock", '{"skus":["Chai"],"colour":"red"}', ["no", "no", "no", "no"]),
        ("check_stock", '{"skus":["Chai"', ["no", "no", "no", "no"]),
        ("open_till", "{}", ["no", "no", "no", "no"]),
        ("create_quotation", '{"customer":"C001","lines":[{"sku":"NW-001","qty":"1"}]}', ["yes", "no", "no", "no"]),
    ],
)
def test_a_wrong_call_is_marked_for_what_is_wrong_with_it(
    name: str, arguments: str, marks: list[str], capsys: Captured
) -> None:
    assert evaluate(calling(name, arguments), "--only", "en-stock-by-name") == 0
    cells = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("| en-stock")).split(" | ")
    assert cells[1:5] == marks


def test_a_model_that_calls_nothing_is_reported_and_is_no_failure(capsys: Captured) -> None:
    assert evaluate(babbles, "--only", "en-stock-by-name", "--only", "zh-unpaid") == 0
    out = capsys.readouterr().out
    assert "| **all** | 0/2 | 0/2 | 0/2 | 0/2 |" in out
    assert "| **en** |" in out
    assert "| **zh** |" in out


def test_an_endpoint_that_answers_nothing_at_all_is_exit_code_4(tmp_path: Path, capsys: Captured) -> None:
    assert evaluate(refuses, "--only", "zh-unpaid", "--record", str(tmp_path)) == 4
    assert "No question was answered" in capsys.readouterr().err
    index = json.loads((tmp_path / "index.json").read_bytes())
    assert index["streams"]["zh-unpaid-1.json"]["status"] == 401
    assert b"no such key" in (tmp_path / "zh-unpaid-1.json").read_bytes()


@pytest.mark.parametrize(
    ("write", "said"),
    [
        (lambda path: path.write_text("today = 2026-11-30\nquestion = []\n"), "no questions"),
        (lambda path: path.write_text("question = 3"), "no file of questions"),
        (lambda path: path.write_bytes(b"\xff"), "no file of questions"),
        (lambda path: None, "cannot be read"),
    ],
)
def test_a_file_that_holds_no_questions_is_refused_with_one_sentence(
    write: Callable[[Path], object], said: str, tmp_path: Path, capsys: Captured
) -> None:
    path = tmp_path / "questions.toml"
    write(path)
    assert main(["--base-url", "http://127.0.0.1:9/v1", "--model", "m", "--questions", str(path)]) == 2
    assert said in capsys.readouterr().err


def test_a_question_that_does_not_exist_and_an_address_that_is_none_are_refused(capsys: Captured) -> None:
    assert main(["--base-url", "http://127.0.0.1:9/v1", "--model", "m", "--only", "zh-nothing"]) == 2
    assert main(["--base-url", "nowhere", "--model", "m"]) == 2
    assert "zh-nothing" in capsys.readouterr().err


def test_the_day_of_the_questions_is_that_of_the_seeded_shop() -> None:
    assert FILE.today == date(2026, 11, 30)
