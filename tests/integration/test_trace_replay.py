"""A trace and the log of the same session read as the same conversation."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import pytest

from agent_core import events as ev
from agent_core.config import LoopConfig, Price
from agent_core.errors import ModelError, ToolError
from agent_core.loop import AgentLoop
from agent_core.messages import TextDelta, Usage
from agent_core.model.retry import RetryPolicy
from agent_core.store.sqlite import SqliteStore
from agent_core.testing import ScriptedModel
from agent_core.tools.tool import Tier, Tool, tool
from agent_core.trace.builder import TranscriptBuilder, transcript_of_log
from agent_core.trace.jsonl import JsonlTraceRecorder, read_trace
from agent_core.trace.transcript import AnyItem, Ended, Question, Remark, Said, Step, Use
from erpilot.cli.lines import Lines, Money
from erpilot.cli.replay import print_transcript
from erpilot.cli.terminal import Terminal
from erpilot.cli.texts import Texts
from tests.support.streams_out import Capture

QUESTION = "订单 123 还有货吗？\x1b[2J"


def tools() -> list[Tool]:
    @tool
    async def get_order(number: str) -> dict[str, str]:
        """An order."""
        await asyncio.sleep(0.02)
        return {"number": number, "note": "\x1b]0;x\x07"}

    @tool
    async def check_stock(sku: str) -> dict[str, int]:
        """Stock."""
        if sku == "none":
            raise ToolError("There is no such product.", hint="Look it up.")
        return {"on_hand": 3}

    @tool(tier=Tier.WRITE)
    async def save(title: str) -> str:
        """Saves."""
        return f"saved {title}"

    return [get_order, check_stock, save]


@dataclass
class Scene:
    """A session, the trace beside it, and what drives both."""

    store: SqliteStore
    path: Path
    session_id: str | None = None

    def loop(self, *turns: object, config: LoopConfig | None = None) -> AgentLoop:
        price = Price(input=Decimal(2), output=Decimal(8))
        model = ScriptedModel(turns, delta=3)  # type: ignore[arg-type]
        return AgentLoop(model=model, tools=tools(), store=self.store, config=config, price=price)

    async def traced(self, stream: AsyncIterator[ev.Recorded]) -> list[ev.Recorded]:
        items = []
        async for item in JsonlTraceRecorder(self.path, self.store).run(stream):
            self.session_id = item.session_id
            items.append(item)
        return items

    async def log(self, until: int | None = None) -> list[AnyItem]:
        assert self.session_id is not None
        builder = TranscriptBuilder()
        async for item in self.store.read(self.session_id):
            if until is None or (item.seq or 0) <= until:
                builder.add(item)
        return builder.items


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    store = SqliteStore(tmp_path / "log.db")
    yield Scene(store, tmp_path / "run.jsonl")
    await store.aclose()


async def several_steps(scene: Scene) -> None:
    loop = scene.loop(
        [("get_order", {"number": "123"}), Usage(100, 10)],
        [
            "Looking.",
            ("get_order", {"number": "124"}),
            ("check_stock", {"sku": "A4"}),
            Usage(150, 20, cached_tokens=90),
        ],
        ["现有 3 包。", Usage(200, 30)],
    )
    await scene.traced(loop.run(QUESTION, context=(ev.Frozen(kind="today", text="2026-11-30"),), profile="shop"))


async def tools_that_fail(scene: Scene) -> None:
    loop = scene.loop(
        [
            ("check_stock", {"sku": "none"}),
            ("nosuch", {}),
            ("check_stock", '{"sku": 1,,'),
            ("check_stock", {"sk": "A"}),
        ],
        "None of it worked.",
    )
    await scene.traced(loop.run(QUESTION))


async def a_model_that_fails_once(scene: Scene) -> None:
    error = ModelError("overloaded", "Too busy.", retryable=True)
    config = LoopConfig(retry=RetryPolicy(base=0.001))
    await scene.traced(scene.loop(["Half an ans", error], "The answer.", config=config).run(QUESTION))


async def a_model_that_fails_for_good(scene: Scene) -> None:
    error = ModelError("auth", "The key is refused.")
    await scene.traced(scene.loop(error).run(QUESTION))


async def a_guard_that_ends_the_run(scene: Scene) -> None:
    same = [("check_stock", {"sku": "A4"})]
    await scene.traced(scene.loop(same, same, same, same, same, "never").run(QUESTION))


async def an_approval_and_a_denial(scene: Scene) -> None:
    loop = scene.loop([("save", {"title": "one"}), ("save", {"title": "two"})], "One of them is saved.")
    await scene.traced(loop.run(QUESTION))
    assert scene.session_id is not None
    first, second = [item for item in await scene.log() if isinstance(item, Question)]
    await loop.decide(scene.session_id, first.call_id, approve=True, by="boss")
    await loop.decide(scene.session_id, second.call_id, approve=False, reason="too dear", by="boss")
    await scene.traced(loop.resume(scene.session_id))


async def an_interruption(scene: Scene) -> None:
    loop = scene.loop(["a long answer that nobody waits for", ("get_order", {"number": "1"})], "never")

    async def interrupted() -> AsyncIterator[ev.Recorded]:
        async for item in loop.run(QUESTION):
            yield item
            if isinstance(item.event, TextDelta):
                await loop.interrupt(item.session_id, by="boss")

    await scene.traced(interrupted())


async def a_second_question(scene: Scene) -> None:
    loop = scene.loop([("get_order", {"number": "123"})], "First.", [("check_stock", {"sku": "A4"})], "Second.")
    async for item in loop.run(QUESTION):
        scene.session_id = item.session_id
    await scene.traced(loop.run("And now?", scene.session_id))


async def two_traced_questions(scene: Scene) -> None:
    loop = scene.loop("First.", "Second.")
    await scene.traced(loop.run(QUESTION))
    await scene.traced(loop.run("And now?", scene.session_id))


SCENES = [
    several_steps,
    tools_that_fail,
    a_model_that_fails_once,
    a_model_that_fails_for_good,
    a_guard_that_ends_the_run,
    an_approval_and_a_denial,
    an_interruption,
    a_second_question,
    two_traced_questions,
]


def printed(items: list[AnyItem]) -> str:
    out = Capture()
    lines = Lines(Texts("en"), Money("USD", Decimal("7.2")), full=True)
    print_transcript(Terminal(out, Capture(), {}), lines, items)
    return out.getvalue()


@pytest.mark.parametrize("play", SCENES)
async def test_log_and_trace_print_the_same_conversation(
    scene: Scene, play: Callable[[Scene], Awaitable[None]]
) -> None:
    await play(scene)
    log, trace = await scene.log(), read_trace(scene.path)
    assert trace.items == log
    assert (trace.torn, trace.error) == ((), None)
    assert printed(trace.items) == printed(log)
    assert "␛[2J" in printed(log)
    assert any(isinstance(item, Said) for item in log)


@pytest.mark.parametrize("play", SCENES)
async def test_a_trace_that_ends_after_any_line_holds_what_the_log_held_then(
    scene: Scene, play: Callable[[Scene], Awaitable[None]], tmp_path: Path
) -> None:
    await play(scene)
    lines = scene.path.read_bytes().splitlines(keepends=True)
    cut = tmp_path / "cut.jsonl"
    for count in range(1, len(lines) + 1):
        cut.write_bytes(b"".join(lines[:count]))
        last = json.loads(lines[count - 1])
        if count < len(lines) and json.loads(lines[count])["event"] == last["event"]:
            continue  # one event, several values: whole with the last of them
        assert read_trace(cut).items == await scene.log(until=last["event"]), last["type"]


async def test_the_trace_shows_two_calls_that_overlap_in_time(scene: Scene) -> None:
    @tool
    async def slow(name: str) -> str:
        """Takes a while."""
        await asyncio.sleep(0.1)
        return name

    model = ScriptedModel([[("slow", {"name": "a"}), ("slow", {"name": "b"})], "Done."])
    await scene.traced(AgentLoop(model=model, tools=[slow], store=scene.store).run("Go"))
    records = [json.loads(line) for line in scene.path.read_text(encoding="utf-8").splitlines()]
    first, second = [record for record in records if record["type"] == "tool_call"]
    assert max(first["started_at"], second["started_at"]) < min(first["finished_at"], second["finished_at"])
    assert records[0]["type"] == "run_start"
    assert records[0]["history"] == []
    assert records[-1]["type"] == "run_end"
    assert [item["kind"] for item in records[-1]["history"]] == [
        "session",
        "run",
        "user",
        "step",
        "tool",
        "tool",
        "step",
        "end",
    ]


async def test_the_transcript_counts_steps_over_all_runs_and_knows_what_became_of_each_call(scene: Scene) -> None:
    await a_second_question(scene)
    items = await scene.log()
    assert [item.ordinal for item in items if isinstance(item, Step)] == [1, 2, 3, 4]
    assert [(item.tool, item.ok) for item in items if isinstance(item, Use)] == [
        ("get_order", True),
        ("check_stock", True),
    ]
    assert [item.reason for item in items if isinstance(item, Ended)] == ["completed", "completed"]


async def test_an_approval_carries_who_decided_and_why(scene: Scene) -> None:
    await an_approval_and_a_denial(scene)
    questions = [item for item in await scene.log() if isinstance(item, Question)]
    assert [(question.decision, question.by, question.reason) for question in questions] == [
        ("approved", "boss", None),
        ("denied", "boss", "too dear"),
    ]


async def test_an_event_of_a_newer_program_is_a_remark_in_both(scene: Scene) -> None:
    await several_steps(scene)
    assert scene.session_id is not None
    info = await scene.store.session(scene.session_id)
    strange = ev.UnknownEvent(type="FromTheFuture", payload=b'{"type":"FromTheFuture","v":9}')
    await scene.store.append(scene.session_id, [strange], expected_seq=info.head)
    await scene.traced(scene.loop("Again.").run("More?", scene.session_id))
    log = await scene.log()
    assert Remark(seq=info.head + 1, about="FromTheFuture") in log
    assert read_trace(scene.path).items == log


async def test_a_fork_reads_as_its_parents_beginning_and_its_own(scene: Scene) -> None:
    await several_steps(scene)
    assert scene.session_id is not None
    child = await scene.store.fork(scene.session_id, 3)
    async with aclosing(scene.loop("From the fork.").run("Otherwise?", child)) as stream:
        await scene.traced(stream)
    assert scene.session_id == child
    trace = read_trace(scene.path)
    log = await transcript_of_log(scene.store.read(child))
    assert trace.items[-len(log) :] == log
    assert len(trace.items) > len(log)  # the parent's own run stands before it in the same file
