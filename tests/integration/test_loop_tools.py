"""Tools in a run: side by side, in the three orders, and with every way to go wrong."""

from __future__ import annotations

import asyncio
import logging
import time
from pathlib import Path
from typing import Any

import pytest

from agent_core import events as ev
from agent_core.errors import ToolError
from agent_core.testing import ErpDouble
from agent_core.tools.tool import Tier, ToolContext, tool
from tests.support.loops import check_session, collect, end_of, errors, loop_over, of_type, results, types


@pytest.fixture(autouse=True)
def _quiet(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)


async def test_calls_run_side_by_side_and_keep_the_three_orders() -> None:
    spans: dict[str, tuple[float, float]] = {}

    @tool
    async def nap(name: str, seconds: float) -> str:
        """Sleeps."""
        began = time.perf_counter()
        await asyncio.sleep(seconds)
        spans[name] = (began, time.perf_counter())
        return name

    calls = [("nap", {"name": name, "seconds": seconds}) for name, seconds in (("a", 0.15), ("b", 0.1), ("c", 0.05))]
    loop, model = loop_over(calls, "done", tools=[nap])
    items = await collect(loop.run("go"))
    started, finished = of_type(items, ev.ToolCallStarted), of_type(items, ev.ToolCallFinished)
    assert [event.index for event in started] == [0, 1, 2], "started in the order of the calls"
    assert [event.content for event in finished] == ["c", "b", "a"], "finished in the order of completion"
    assert results(model) == ["a", "b", "c"], "results in the order of the calls"
    names = types(items)
    assert names.index("ToolCallFinished") > max(i for i, name in enumerate(names) if name == "ToolCallStarted")
    assert max(began for began, _ in spans.values()) < min(ended for _, ended in spans.values()), "they overlap in time"
    await check_session(loop, items[0].session_id, model)


async def test_each_outcome_is_stored_as_soon_as_it_is_known() -> None:
    release = asyncio.Event()

    @tool
    async def quick() -> str:
        """At once."""
        return "quick"

    @tool
    async def slow() -> str:
        """Later."""
        await release.wait()
        return "slow"

    loop, model = loop_over([("slow", {}), ("quick", {})], "done", tools=[quick, slow])
    items = []
    async for item in loop.run("go"):
        items.append(item)
        if isinstance(item.event, ev.ToolCallFinished) and item.event.tool == "quick":
            log = [stored async for stored in loop.store.read(item.session_id)]
            assert log[-1] == item, "it is in the store before the other call has ended"
            release.set()
    assert end_of(items).completed
    await check_session(loop, items[0].session_id, model)


async def test_a_blocking_tool_does_not_delay_the_others() -> None:
    @tool
    def block(number: int) -> str:
        """Blocks its thread."""
        time.sleep(0.3)
        return "blocked"

    @tool
    async def quick() -> str:
        """Answers at once."""
        return "quick"

    calls = [("block", {"number": 1}), ("quick", {}), ("block", {"number": 2}), ("block", {"number": 3})]
    loop, model = loop_over(calls, "done", tools=[block, quick])
    items = await collect(loop.run("go"))
    assert of_type(items, ev.ToolCallFinished)[0].tool == "quick"
    durations = {event.tool: event.duration for event in of_type(items, ev.ToolCallFinished)}
    assert durations["quick"] < 0.2
    await check_session(loop, items[0].session_id, model)


async def test_a_model_reads_what_went_wrong_and_recovers() -> None:
    tries = {"flaky": 0}

    @tool
    async def flaky(key: str) -> str:
        """Fails now and then."""
        tries["flaky"] += 1
        if key == "bad":
            raise ToolError("There is no 'bad'.", hint="Use 'good'.")
        if key == "crash":
            raise KeyError("inside")
        return f"{key} is fine"

    @tool(timeout=0.05, retries=0)
    async def hang() -> str:
        """Never answers."""
        await asyncio.sleep(60)
        return "never"

    @tool(timeout=0.05, retries=0)
    def hang_thread() -> str:
        """Never answers either."""
        time.sleep(0.5)
        return "late"

    broken = [
        ("flaky", {"key": "bad"}),
        ("flaky", {"key": "crash"}),
        ("flaky", {}),
        ("flaky", {"key": "x", "extra": 1}),
        ("flaky", '{"key": "x'),
        ("flaky", "[1]"),
        ("hang", {}),
        ("hang_thread", {}),
        ("flacky_tool", {"key": "x"}),
    ]

    def recover(messages: Any) -> Any:
        told = any("Use 'good'" in (message.content or "") for message in messages if message.role == "tool")
        return [("flaky", {"key": "good"})] if told else "lost"

    loop, model = loop_over(broken, recover, "all is well", tools=[flaky, hang, hang_thread])
    items = await collect(loop.run("go"))
    kinds = [error["error"]["type"] for error in results(model, 1)]
    expected = ["execution", "execution", *["validation"] * 4, "timeout", "timeout", "unknown_tool"]
    assert kinds == expected
    assert not any("Traceback" in str(error) or "site-packages" in str(error) for error in results(model, 1))
    assert results(model, 2)[-1] == "good is fine"
    assert end_of(items).completed
    finished = {event.index: event for event in of_type(items, ev.ToolCallFinished)[:9]}
    begun = {event.call_id for event in of_type(items, ev.ToolCallStarted)}
    assert {finished[index].call_id in begun for index in (2, 3, 4, 5, 8)} == {False}, "what is refused never starts"
    assert tries["flaky"] == 4, "a plain failure is tried twice, a structured one once"
    await check_session(loop, items[0].session_id, model)


async def test_a_call_that_was_cut_off_is_never_run() -> None:
    ran: list[str] = []

    @tool
    async def note(text: str) -> str:
        """Takes a note."""
        ran.append(text)
        return "noted"

    loop, model = loop_over([("note", '{"text": "half')], "ok", tools=[note])
    items = await collect(loop.run("go"))
    assert ran == []
    assert errors(items) == {of_type(items, ev.ToolCallFinished)[0].call_id: "validation"}
    sent = model.requests[1].messages[2].tool_calls[0]
    assert sent.error is not None
    await check_session(loop, items[0].session_id, model)


async def test_reads_are_retried_with_their_key_and_writes_are_not(tmp_path: Path) -> None:
    erp = ErpDouble(tmp_path / "erp.db", knows_keys=False)
    erp.trouble("read_stock", "error_500")
    erp.trouble("create_order", "error_500")
    calls = [("read_stock", {"sku": "a"}), ("create_order", {"sku": "a", "quantity": 1})]
    loop, _ = loop_over(calls, "ok", tools=erp.tools(), auto_approve=("WRITE",))
    items = await collect(loop.run("go"))
    assert len(erp.requests("read_stock")) == 2
    assert len(erp.requests("create_order")) == 1
    assert erp.effects() == []
    assert len({request.key for request in erp.requests("read_stock")}) == 1
    attempts = {event.tool: event.attempts for event in of_type(items, ev.ToolCallFinished)}
    assert attempts == {"read_stock": 2, "create_order": 1}


async def test_a_write_whose_backend_knows_keys_is_sent_again_with_the_same_key(tmp_path: Path) -> None:
    erp = ErpDouble(tmp_path / "erp.db")
    erp.trouble("create_order", "drop_reply")
    call = ("create_order", {"sku": "a", "quantity": 1})
    loop, model = loop_over([call], "ordered", tools=erp.tools(), auto_approve=("WRITE",))
    items = await collect(loop.run("go"))
    assert len(erp.requests("create_order")) == 2
    assert len(erp.effects()) == 1
    assert results(model) == [{"order": 1}]
    started = of_type(items, ev.ToolCallStarted)
    assert {request.key for request in erp.requests()} == {started[0].idempotency_key}


@pytest.mark.parametrize("knows_keys", [True, False])
async def test_a_write_in_doubt_is_said_to_be_uncertain_and_waits_for_a_person(
    tmp_path: Path, knows_keys: bool
) -> None:
    erp = ErpDouble(tmp_path / "erp.db", knows_keys=knows_keys)
    erp.trouble("create_order", "drop_reply", "drop_reply", "drop_reply")
    call = ("create_order", {"sku": "a", "quantity": 1})
    loop, model = loop_over([call], "it was ordered", tools=erp.tools(), auto_approve=("WRITE",))
    items = await collect(loop.run("go"))
    assert list(errors(items).values()) == ["uncertain"]
    assert end_of(items).reason == "awaiting_approval"
    assert len(erp.effects()) == 1
    assert len(erp.requests()) == (2 if knows_keys else 1), "it is not sent again where that could order twice"
    session_id = items[0].session_id
    assert await collect(loop.resume(session_id)) == []
    await loop.resolve(session_id, next(iter(errors(items))), "happened", content="order 1")
    after = await collect(loop.resume(session_id))
    assert end_of(after).completed
    assert results(model) == ["order 1"]
    await check_session(loop, session_id, model)


async def test_what_a_person_says_to_send_again_is_sent_once_more(tmp_path: Path) -> None:
    erp = ErpDouble(tmp_path / "erp.db", knows_keys=False)
    erp.trouble("create_order", "drop_reply")
    call = ("create_order", {"sku": "a", "quantity": 1})
    loop, model = loop_over([call], "ordered", tools=erp.tools(), auto_approve=("WRITE",))
    items = await collect(loop.run("go"))
    session_id = items[0].session_id
    await loop.resolve(session_id, next(iter(errors(items))), "send_again")
    after = await collect(loop.resume(session_id))
    assert end_of(after).completed
    assert [request.attempt for request in erp.requests()] == [1, 2]
    assert len({request.key for request in erp.requests()}) == 1
    await check_session(loop, session_id, model)


async def test_keys_differ_by_call_and_come_from_the_place_in_the_log(tmp_path: Path) -> None:
    erp = ErpDouble(tmp_path / "erp.db")
    calls = [("create_order", {"sku": "a", "quantity": n}) for n in (1, 2)]
    loop, _ = loop_over(calls, "ordered", tools=erp.tools(), auto_approve=("WRITE",))
    items = await collect(loop.run("go"))
    answer = next(item for item in items if isinstance(item.event, ev.AssistantMessage))
    assert {effect.key for effect in erp.effects()} == {f"{answer.session_id}.{answer.seq}.{n}" for n in (0, 1)}


async def test_progress_is_shown_and_not_stored() -> None:
    @tool
    def slow(ctx: ToolContext) -> str:
        """Reports how far it is, from a thread."""
        ctx.progress("half", 0.5)
        ctx.progress("broken \ud800", None)
        time.sleep(0.02)
        return "done"

    loop, model = loop_over([("slow", {})], "ok", tools=[slow])
    items = await collect(loop.run("go"))
    shown = of_type(items, ev.ToolProgress)
    assert [(event.text, event.fraction) for event in shown] == [("half", 0.5), ("broken \ufffd", None)]
    log = await check_session(loop, items[0].session_id, model)
    assert of_type(log, ev.ToolProgress) == []


async def test_long_outputs_are_cut_and_can_be_read_on() -> None:
    @tool(max_output=300)
    async def report() -> str:
        """A long report."""
        return "".join(f"line {number}\n" for number in range(500))

    loop, model = loop_over([("report", {})], "ok", tools=[report])
    items = await collect(loop.run("go"))
    done = of_type(items, ev.ToolCallFinished)[0]
    assert done.truncated is not None
    assert (done.truncated.total, done.truncated.shown) == (4390, 300)
    assert "4390 characters in all, 300 shown" in done.content
    assert done.truncated.whole is not None
    whole = await loop.store.contents(items[0].session_id, [done.truncated.whole])
    assert len(whole[done.truncated.whole]) == 4390
    await check_session(loop, items[0].session_id, model)


async def test_text_with_broken_characters_never_breaks_the_log() -> None:
    @tool
    async def broken() -> dict[str, str]:
        """Returns what cannot be encoded."""
        return {"name": "a\ud800b"}

    @tool
    async def failing() -> None:
        """Fails with what cannot be encoded."""
        raise ToolError("bad \udfff name", hint="\ud800")

    calls: list[Any] = [("broken", {}), ("failing", {})]
    loop, model = loop_over(["text \ud83d", *calls], ["\ud800", "fine \U0001f600"], tools=[broken, failing])
    items = await collect(loop.run("go"))
    assert end_of(items).completed
    await check_session(loop, items[0].session_id)
    assert len(model.requests) == 2


async def test_a_dangerous_call_is_asked_however_the_loop_is_configured() -> None:
    @tool(tier=Tier.DANGEROUS)
    async def wipe() -> str:
        """Wipes everything."""
        raise AssertionError("it must not run")

    loop, _ = loop_over([("wipe", {})], "no", tools=[wipe], auto_approve=("WRITE",))
    assert end_of(await collect(loop.run("go"))).reason == "awaiting_approval"
    with pytest.raises(ValueError, match="DANGEROUS"):
        loop_over("no", tools=[wipe], auto_approve=("DANGEROUS",))
