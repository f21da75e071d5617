"""Defects that testers found from the outside, each as the behaviour that must hold now."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from agent_core import (
    AgentLoop,
    Calibrations,
    ContextPolicy,
    DamagedLog,
    LoopConfig,
    MemoryStore,
    ModelError,
    Refused,
    SqliteStore,
    StreamEnd,
    TextDelta,
    Tier,
    Tool,
    tool,
)
from agent_core import events as ev
from agent_core.testing import ScriptedModel


async def collect(items: AsyncIterator[ev.Recorded]) -> list[ev.Recorded]:
    return [item async for item in items]


def finished(items: list[ev.Recorded]) -> list[ev.ToolCallFinished]:
    return [item.event for item in items if isinstance(item.event, ev.ToolCallFinished)]


@tool
async def look_up(skus: list[str], limits: dict[str, int] | None = None) -> list[str]:
    """Looks records up."""
    return [*skus, *(limits or {})]


async def test_a_list_or_an_object_sent_as_text_is_taken_out_of_it() -> None:
    model = ScriptedModel([("look_up", '{"skus": "[\\"A\\", \\"B\\"]", "limits": "{\\"x\\": 1}"}'), "done"])
    loop = AgentLoop(model=model, tools=[look_up])
    (end,) = finished(await collect(loop.run("go")))
    assert (end.ok, end.content) == (True, '["A","B","x"]')


@pytest.mark.parametrize(
    "arguments", [{"n": 0}, {"n": 5, "o": {}}, {"n": 5, "o": {"q": 1, "z": 2}}, {"n": 5, "s": "abc"}]
)
async def test_a_tool_from_a_schema_runs_only_what_fits_all_of_it(arguments: dict[str, Any]) -> None:
    nested = {
        "type": "object",
        "properties": {"q": {"type": "integer"}},
        "required": ["q"],
        "additionalProperties": False,
    }
    schema = {
        "type": "object",
        "properties": {"n": {"type": "integer", "minimum": 1}, "o": nested, "s": {"type": "string", "maxLength": 2}},
        "required": ["n"],
    }
    checked = Tool.from_schema("checked", "Checks.", schema, lambda **given: given)
    loop = AgentLoop(
        model=ScriptedModel([[("checked", arguments)], [("checked", {"n": 5, "o": {"q": 1}})], "done"]), tools=[checked]
    )
    bad, good = finished(await collect(loop.run("go")))
    assert (bad.ok, bad.error and bad.error.type, good.ok) == (False, "validation", True)


async def test_a_client_needs_no_more_than_the_one_method() -> None:
    class Plain:
        async def stream_chat(self, messages: Any, tools: Any = (), **options: Any) -> AsyncIterator[Any]:
            yield TextDelta("hello")
            yield StreamEnd()

    items = await collect(AgentLoop(model=Plain()).run("hi"))  # type: ignore[arg-type]
    assert items[-1].event.completed  # type: ignore[union-attr]
    assert [item.event.model for item in items if isinstance(item.event, ev.RunStarted)] == ["Plain"]


async def test_what_is_no_event_of_a_model_ends_the_run_and_is_named() -> None:
    class Odd:
        async def stream_chat(self, messages: Any, tools: Any = (), **options: Any) -> AsyncIterator[Any]:
            yield "rubbish"

    items = await collect(AgentLoop(model=Odd()).run("hi"))  # type: ignore[arg-type]
    end = items[-1].event
    assert isinstance(end, ev.LoopEnd)
    assert (end.reason, "str" in (end.message or "")) == ("model_error", True)


async def test_a_long_wait_that_an_endpoint_asks_for_is_told() -> None:
    busy = ModelError("rate_limit", "Too many requests.", retryable=True, retry_after=3600.0)
    items = await collect(AgentLoop(model=ScriptedModel([busy])).run("hi"))
    assert "60 minutes" in (items[-1].event.message or "")  # type: ignore[union-attr]


async def test_a_second_write_on_a_record_is_not_run_on_what_was_shown_before_the_first() -> None:
    price = {"A": 10}

    async def versions(sku: str, to: int) -> dict[str, str]:
        return {sku: str(price[sku])}

    @tool(tier=Tier.WRITE, versions=versions, writes=lambda sku, to: [sku])
    async def set_price(sku: str, to: int) -> str:
        """Sets a price."""
        price[sku] = to
        return f"now {to}"

    calls = [("set_price", {"sku": "A", "to": 20}), ("set_price", {"sku": "A", "to": 30})]
    loop = AgentLoop(model=ScriptedModel([calls, "done"]), tools=[set_price])
    items = await collect(loop.run("go"))
    for asked in [item.event for item in items if isinstance(item.event, ev.ApprovalRequested)]:
        await loop.decide(items[0].session_id, asked.call_id, approve=True)
    ends = finished(await collect(loop.resume(items[0].session_id)))
    assert sorted((end.ok, end.error.type if end.error else None) for end in ends) == [(False, "expired"), (True, None)]
    assert price["A"] in (20, 30)


async def test_a_write_whose_thread_still_works_keeps_its_record_and_is_not_run_again() -> None:
    trace: list[str] = []
    running = threading.Lock()

    @tool(tier=Tier.WRITE, timeout=0.05, idempotent=True, writes=lambda name: ["r"])
    def slow(name: str) -> str:
        """Blocks."""
        assert running.acquire(blocking=False), "two at once"
        trace.append(name)
        time.sleep(0.3)
        running.release()
        return name

    from agent_core import LoopConfig

    model = ScriptedModel([[("slow", {"name": "one"}), ("slow", {"name": "two"})]])
    loop = AgentLoop(model=model, tools=[slow], config=LoopConfig(auto_approve=("WRITE",)))
    ends = finished(await collect(loop.run("go")))
    assert [end.error.type if end.error else None for end in ends] == ["uncertain", "uncertain"]
    assert trace == ["one", "two"]
    await asyncio.sleep(0.4)


@pytest.mark.parametrize("given", [{"by": 5}, {"by": "me", "channel": 7}, {"approve": "no"}])
async def test_a_command_with_a_value_of_the_wrong_kind_is_refused_and_nothing_is_stored(given: dict[str, Any]) -> None:
    @tool(tier=Tier.WRITE)
    async def write(x: int) -> str:
        """Writes."""
        return "written"

    loop = AgentLoop(model=ScriptedModel([[("write", {"x": 1})], "done"]), tools=[write])
    items = await collect(loop.run("go"))
    session_id = items[0].session_id
    (asked,) = [item.event for item in items if isinstance(item.event, ev.ApprovalRequested)]
    with pytest.raises(Refused):
        await loop.decide(session_id, asked.call_id, **{"approve": True, **given})
    with pytest.raises(Refused, match="asked again"):
        await loop.decide(session_id, asked.call_id, approve=True, always=True, arguments={"x": 2})
    assert (await loop.state(session_id)).seq == items[-1].seq


async def test_a_doubt_can_be_settled_after_the_conversation_went_on() -> None:
    @tool(tier=Tier.WRITE)
    async def write(x: int) -> str:
        """Writes, perhaps."""
        raise ConnectionResetError("gone")

    from agent_core import LoopConfig

    model = ScriptedModel([[("write", {"x": 1})], [("look_up", {"skus": ["A"]})], "so it is", "and on"])
    loop = AgentLoop(model=model, tools=[write, look_up], config=LoopConfig(auto_approve=("WRITE",)))
    items = await collect(loop.run("go"))
    (end,) = finished(items)
    await collect(loop.run("and then?", items[0].session_id))
    with pytest.raises(Refused, match="went on"):
        await loop.resolve(items[0].session_id, end.call_id, "send_again")
    (resolved,) = await loop.resolve(items[0].session_id, end.call_id, "happened")
    assert isinstance(resolved.event, ev.OutcomeResolved)
    await collect(loop.run("what now?", items[0].session_id))
    assert any("took effect" in (message.content or "") for message in model.requests[-1].messages)


async def test_the_same_refused_write_is_a_repeat() -> None:
    @tool(tier=Tier.WRITE)
    async def write(x: int) -> str:
        """Writes."""
        return "written"

    loop = AgentLoop(model=ScriptedModel([[("write", {"x": 1})]] * 6), tools=[write])
    items = await collect(loop.run("go"))
    asked = 0
    while isinstance(end := items[-1].event, ev.LoopEnd) and end.reason == "awaiting_approval":
        asked += 1
        questions = [item.event for item in items if isinstance(item.event, ev.ApprovalRequested)]
        await loop.decide(items[-1].session_id, questions[-1].call_id, approve=False)
        items = await collect(loop.resume(items[-1].session_id))
    assert (asked, items[-1].event.reason) == (2, "guard")  # type: ignore[union-attr]


@pytest.mark.parametrize("change", ["at = at + 60000000", "type = 'Other'", "hash = zeroblob(32)"])
async def test_a_log_whose_chain_is_broken_is_not_driven(tmp_path: Path, change: str) -> None:
    path = tmp_path / "log.db"
    loop = AgentLoop(model=ScriptedModel(["one", "two"]), store=SqliteStore(path))
    session_id = (await collect(loop.run("hi")))[0].session_id
    await loop.aclose()
    with sqlite3.connect(path) as db:
        db.execute(f"UPDATE events SET {change} WHERE place = (SELECT min(place) + 3 FROM events)")
    db.close()
    again = AgentLoop(model=ScriptedModel(["two"]), store=SqliteStore(path))
    with pytest.raises(DamagedLog):
        await collect(again.run("more", session_id))
    await again.aclose()


async def test_contents_that_are_missing_are_damage(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    loop = AgentLoop(model=ScriptedModel(["one"]), store=SqliteStore(path))
    session_id = (await collect(loop.run("hi")))[0].session_id
    await loop.aclose()
    with sqlite3.connect(path) as db:
        db.execute("DELETE FROM contents")
    db.close()
    again = AgentLoop(model=ScriptedModel(["two"]), store=SqliteStore(path))
    with pytest.raises(DamagedLog, match="missing"):
        await collect(again.run("more", session_id))
    await again.aclose()


def test_a_memory_store_is_what_a_loop_has_when_it_is_given_none() -> None:
    assert isinstance(AgentLoop(model=ScriptedModel([])).store, MemoryStore)


@pytest.mark.parametrize("begins_anew", [False, True])
async def test_an_endpoint_that_once_said_too_long_is_asked_again(begins_anew: bool) -> None:
    learnt, config = Calibrations(), LoopConfig(system_prompt="You help. " * 100)
    too_long = ModelError("context_overflow", "too long", status=400)
    loop = AgentLoop(model=ScriptedModel([too_long, "one", "two"]), config=config, calibrations=learnt)
    refused = await collect(loop.run("hello"))
    assert any("endpoint says" in (item.event.message or "") for item in refused if isinstance(item.event, ev.LoopEnd))
    session_id = None if begins_anew else refused[0].session_id
    items = await collect(loop.run("hello again", session_id))
    items += await collect(loop.run("and once more", items[0].session_id))
    assert [item.event.reason for item in items if isinstance(item.event, ev.LoopEnd)] == ["completed", "completed"]
    assert learnt.get("scripted") == {}


async def test_an_outcome_that_was_found_out_late_takes_no_newer_turn_with_it() -> None:
    @tool(tier=Tier.WRITE)
    async def book(number: int) -> str:
        """Books."""
        raise ConnectionError("lost")

    config = LoopConfig(auto_approve=("WRITE",), context=ContextPolicy(budget_tokens=3000))
    model = ScriptedModel([("book", {"number": 1}), "Booked, or not. " * 60, "The newest answer. " * 60, "yes"])
    loop = AgentLoop(model=model, tools=[book], config=config)
    session_id = (await collect(loop.run("book number one " * 60)))[0].session_id
    call_id = (await loop.state(session_id)).entries[1].calls[0].call.id
    await collect(loop.run("did you?", session_id))
    await collect(loop.run("the newest question", session_id))
    await loop.resolve(session_id, call_id, "happened")
    await collect(loop.compact(session_id))
    state = await loop.state(session_id)
    assert [entry.message.content for entry in state.entries] == ["the newest question", "The newest answer. " * 60]
    await collect(loop.run("go on", session_id))
    assert "the newest question" in [message.content for message in model.requests[-1].messages]


@pytest.mark.parametrize("opening", [None, "\n\n", "\n\n[1] from the list: "])
async def test_work_without_a_word_is_summarised_without_a_model(opening: str | None) -> None:
    @tool
    async def look(number: int) -> str:
        """Looks."""
        return f"{number} " * 40

    said = [] if opening is None else [opening]
    turns: list[Any] = [[*said, ("look", {"number": number})] for number in range(1, 31)]
    config = LoopConfig(max_steps=40, context=ContextPolicy(budget_tokens=1500))
    loop = AgentLoop(model=ScriptedModel([*turns, "done"]), tools=[look], config=config)
    items = await collect(loop.run("look at all of them"))
    assert not [item for item in items if isinstance(item.event, ev.SummaryFailed)]
    assert {item.event.kind for item in items if isinstance(item.event, ev.ContextCompacted)} >= {"summarised"}


async def test_a_paragraph_that_begins_with_a_bracket_is_part_of_what_was_said() -> None:
    frozen = (ev.Frozen("today", "2026-03-05"),)
    loop = AgentLoop(model=ScriptedModel(["I see.\n\n[A] We promised Ann 42.50 each.", "yes"]))
    said = "Hello there, colleague. " * 80 + "Two rules.\n\n[1] Never sell below 38.50."
    session_id = (await collect(loop.run(said, context=frozen)))[0].session_id
    await collect(loop.run("understood?", session_id))
    await collect(loop.compact(session_id))
    pinned = "\n".join((await loop.state(session_id)).pinned)
    assert "Never sell below 38.50" in pinned
    assert "We promised Ann 42.50 each" in pinned
    assert "2026-03-05" not in pinned
