"""How calls of a run are carried out: side by side, apart where they must be, within limits; guards and the cache."""

from __future__ import annotations

import asyncio
import itertools
import logging
import threading
import time
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_core import Price
from agent_core import events as ev
from agent_core.messages import Usage
from agent_core.testing import ErpDouble, MemoryStore
from agent_core.tools.tool import Tier, Tool, ToolContext, tool
from tests.support.loops import check_session, collect, cut_off, end_of, errors, loop_over, of_type, results
from tests.support.requests import log_of

ALLOWED: dict[str, Any] = {"auto_approve": ("WRITE",)}


@pytest.fixture(autouse=True)
def _quiet(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)


# --- apart where one of them writes


class Shelf:
    """Records that notice when they are written while somebody else is at them."""

    def __init__(self) -> None:
        self.at: Counter[tuple[str, str]] = Counter()
        self.together = 0

    def tools(self) -> list[Tool]:
        async def visit(kind: str, keys: list[str]) -> str:
            for key in keys:
                assert not self.at["write", key], "somebody writes it"
                assert kind == "read" or not self.at["read", key], "somebody reads it"
                self.at[kind, key] += 1
            self.together = max(self.together, sum(self.at.values()))
            await asyncio.sleep(0.001)
            for key in keys:
                self.at[kind, key] -= 1
            return "fine"

        async def read(keys: list[str], n: int) -> str:
            return await visit("read", sorted(set(keys)))

        async def write(keys: list[str], n: int) -> str:
            return await visit("write", sorted(set(keys)))

        async def write_somewhere(keys: list[str], n: int) -> str:
            return await visit("write", ["a", "b", "c"])

        schema = {
            "properties": {"keys": {"type": "array", "items": {"type": "string"}}, "n": {"type": "integer"}},
            "required": ["keys", "n"],
        }

        def named(keys: list[str], n: int) -> list[str]:
            return keys

        return [
            Tool.from_schema("read", "Reads.", schema, read, backend="shelf", reads=named),
            Tool.from_schema("write", "Writes.", schema, write, tier=Tier.WRITE, backend="shelf", writes=named),
            Tool.from_schema("sweep", "Writes anywhere.", schema, write_somewhere, tier=Tier.WRITE, backend="shelf"),
        ]


_touch = st.tuples(
    st.sampled_from(["read", "write", "sweep"]), st.lists(st.sampled_from("abc"), min_size=1, max_size=3)
)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.lists(_touch, min_size=1, max_size=8), min_size=1, max_size=3))
def test_over_all_sessions_a_record_is_never_written_beside_anybody_else(sessions: list[list[Any]]) -> None:
    async def work() -> None:
        shelf = Shelf()
        turns = [[(name, {"keys": keys, "n": n}) for n, (name, keys) in enumerate(calls)] for calls in sessions]
        loop, model = loop_over(tools=shelf.tools(), **ALLOWED)
        model.add(*turns, *["done"] * len(turns))
        async with asyncio.timeout(20):
            runs = await asyncio.gather(*(collect(loop.run("go")) for _ in turns))
        for items in runs:
            assert errors(items) == {}
            assert end_of(items).completed

    asyncio.run(work())


async def test_reads_of_one_record_are_together_and_so_are_writes_of_different_ones() -> None:
    for name, keys in (("read", ["a"] * 8), ("write", list("abcdefgh"))):
        shelf = Shelf()
        calls = [(name, {"keys": [key], "n": n}) for n, key in enumerate(keys)]
        loop, _ = loop_over(calls, "done", tools=shelf.tools(), **ALLOWED)
        await collect(loop.run("go"))
        assert shelf.together == 8


async def test_a_call_that_waits_for_a_record_can_be_interrupted_and_leaves_nothing_locked() -> None:
    release = asyncio.Event()

    async def hold(n: int) -> str:
        await release.wait()
        return "held"

    schema = {"properties": {"n": {"type": "integer"}}}
    holder = Tool.from_schema("hold", "Holds.", schema, hold, tier=Tier.WRITE, writes=lambda **_: ["a"])
    loop, model = loop_over([("hold", {"n": 1}), ("hold", {"n": 2})], "next", tools=[holder], **ALLOWED)
    items: list[ev.Recorded] = []
    async with asyncio.timeout(5):
        async for item in loop.run("go"):
            items.append(item)
            if isinstance(item.event, ev.ToolCallStarted) and item.event.index == 1:
                asyncio.get_running_loop().call_later(0.05, asyncio.ensure_future, loop.interrupt(item.session_id))
    assert end_of(items).reason == "interrupted"
    assert set(errors(items).values()) == {"uncertain"}
    release.set()
    again, _ = loop_over([("hold", {"n": 3})], "done", tools=[holder], store=loop.store, **ALLOWED)
    again._locks = loop._locks
    async with asyncio.timeout(2):
        assert end_of(await collect(again.run("again", items[0].session_id))).completed
    await check_session(again, items[0].session_id, model)


# --- limits of time, threads, progress


async def test_an_idle_limit_ends_a_tool_that_shows_nothing_and_not_one_that_does() -> None:
    @tool(timeout=5, idle_timeout=0.15, retries=0)
    async def busy(ctx: ToolContext) -> str:
        """Works and says so."""
        for step in range(8):
            ctx.progress(f"step {step}", step / 8)
            await asyncio.sleep(0.05)
        return "done"

    @tool(timeout=5, idle_timeout=0.15, retries=0)
    async def idle(ctx: ToolContext) -> str:
        """Says something once, then nothing."""
        ctx.progress("started", None)
        await asyncio.sleep(3600)
        return "never"

    @tool(timeout=0.3, idle_timeout=0.15, retries=0)
    async def chatty(ctx: ToolContext) -> str:
        """Never comes to an end."""
        while True:
            ctx.progress("still", None)
            await asyncio.sleep(0.02)

    @tool(timeout=5, idle_timeout=0.15, retries=0)
    def blocking(ctx: ToolContext) -> str:
        """Works in a thread and says so."""
        for step in range(8):
            ctx.progress(f"step {step}", None)
            time.sleep(0.05)
        return "done"

    tools = [busy, idle, chatty, blocking]
    loop, model = loop_over([(one.name, {}) for one in tools], "fine", tools=tools)
    async with asyncio.timeout(10):
        items = await collect(loop.run("go"))
    kinds = {done.tool: done.error.type if done.error else None for done in of_type(items, ev.ToolCallFinished)}
    assert kinds == {"busy": None, "idle": "timeout", "chatty": "timeout", "blocking": None}
    assert len([one for one in of_type(items, ev.ToolProgress) if one.text.startswith("step")]) == 16
    await check_session(loop, items[0].session_id, model)


async def test_tools_that_block_their_threads_hold_up_neither_the_loop_nor_each_other() -> None:
    gate, together = threading.Barrier(20, timeout=10), []

    @tool
    def block(n: int) -> str:
        """Waits until twenty are here."""
        together.append(gate.wait())
        return str(n)

    loops = [loop_over([("block", {"n": n}) for n in range(10)], "done", tools=[block])[0] for _ in range(2)]
    runs = await asyncio.gather(*(collect(loop.run("go")) for loop in loops))
    assert all(end_of(items).completed and errors(items) == {} for items in runs)
    assert len(together) == 20, "all were in their threads at once"


async def test_a_cancelled_tool_is_told_and_what_it_says_afterwards_is_not_taken_for_a_result() -> None:
    told: list[str] = []

    @tool(timeout=0.05, retries=0)
    async def slow() -> str:
        """Tidies up when it is cancelled, and answers all the same."""
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            told.append("cancelled")
        return "too late"

    loop, model = loop_over([("slow", {})], "fine", tools=[slow])
    items = await collect(loop.run("go"))
    assert told == ["cancelled"]
    assert list(errors(items).values()) == ["timeout"]
    await check_session(loop, items[0].session_id, model)


# --- guards


async def test_the_ladder_runs_once_answers_from_the_cache_refuses_and_ends() -> None:
    ran: list[str] = []

    @tool
    async def look(key: str) -> str:
        """Looks."""
        ran.append(key)
        return f"{key} is fine"

    loop, model = loop_over(*[[("look", {"key": "a"})]] * 6, tools=[look], cache_seconds=30.0)
    items = await collect(loop.run("go"))
    first, second, third, fourth = of_type(items, ev.ToolCallFinished)
    assert (first.cached, second.cached) == (False, True)
    assert second.content.startswith("a is fine\n[")
    assert "refused" in second.content
    assert [third.error and third.error.type, fourth.error and fourth.error.type] == ["repeated_call"] * 2
    assert [guard.action for guard in of_type(items, ev.GuardTripped)] == ["answered", "ended"]
    assert [guard.evidence["runs"] for guard in of_type(items, ev.GuardTripped)] == [2, 2]
    assert ran == ["a"]
    assert len(of_type(items, ev.ToolCallStarted)) == 1, "what comes from the cache never starts"
    assert end_of(items).reason == "guard"
    await check_session(loop, items[0].session_id, model)


@pytest.mark.parametrize("period", [2, 3, 4])
@pytest.mark.parametrize("writes", [0, 1, 2])
async def test_a_circle_of_reads_and_allowed_writes_is_answered_and_then_ends_the_run(period: int, writes: int) -> None:
    ran: list[str] = []

    @tool
    async def look(key: str) -> str:
        """Looks."""
        ran.append(key)
        return f"{key} is fine"

    @tool(tier=Tier.WRITE)
    async def set_to(key: str) -> str:
        """Sets."""
        ran.append(f"set {key}")
        return "set"

    circle = [("set_to" if n < min(writes, period) else "look", {"key": "abcd"[n]}) for n in range(period)]
    loop, model = loop_over(*[[call] for call in circle] * 8, tools=[look, set_to], max_steps=40, **ALLOWED)
    items = await collect(loop.run("go"))
    assert end_of(items).reason == "guard"
    assert len(ran) <= 2 * period, "two rounds run"
    guards = of_type(items, ev.GuardTripped)
    assert [guard.action for guard in guards][-1] == "ended"
    assert {guard.guard for guard in guards} <= {"cycle", "repeated_call"}
    await check_session(loop, items[0].session_id, model)


async def test_paging_through_something_long_is_no_repeat() -> None:
    @tool(max_output=500)
    async def report() -> str:
        """A long report."""
        return "".join(f"line {number}\n" for number in range(2000))

    def pages(messages: Any) -> Any:
        call = next(message for message in messages if message.tool_calls).tool_calls[0]
        return [("read_output", {"call_id": call.id, "offset": offset}) for offset in range(0, 15_000, 3000)]

    loop, model = loop_over([("report", {})], pages, "done", tools=[report])
    items = await collect(loop.run("go"))
    assert errors(items) == {}
    assert end_of(items).completed
    await check_session(loop, items[0].session_id, model)


PRICE = Price(input=Decimal(10), output=Decimal(20), currency="CNY")


@pytest.mark.parametrize(
    ("limit", "reason"),
    [
        ({"max_steps": 3}, "max_steps"),
        ({"max_tokens": 1500}, "budget"),
        ({"max_cost": Decimal("0.036")}, "budget"),
        ({"max_calls": 3}, None),
    ],
    ids=str,
)
@pytest.mark.parametrize("crashes_after", [1, 2, 3])
async def test_limits_are_looked_at_before_each_step_and_are_exact_after_a_crash(
    limit: dict[str, Any], reason: str | None, crashes_after: int
) -> None:
    """A crash is a log that simply stops: the same events in another session, which is then resumed."""

    @tool
    async def look(key: str) -> str:
        """Looks."""
        return key

    def model_turns() -> list[Any]:
        return [[("look", {"key": str(n)}), Usage(400, 200, 600)] for n in range(9)]

    limits = {"max_steps": 6, "price": PRICE, **limit}
    whole, _ = loop_over(*model_turns(), tools=[look], **limits)
    expected = end_of(await collect(whole.run("go")))
    first, _ = loop_over(*model_turns(), tools=[look], **limits)
    items = await collect(first.run("go"))
    answers = [item.seq or 0 for item in items if isinstance(item.event, ev.ToolCallFinished)]
    cut = answers[min(crashes_after, len(answers)) - 1]
    crashed = await cut_off(first, items[0].session_id, cut)
    later, _ = loop_over(*model_turns()[crashes_after:], tools=[look], store=first.store, **limits)
    after = end_of(await collect(later.resume(crashed)))
    assert (after.reason, after.steps, after.usage, after.cost) == (
        expected.reason,
        expected.steps,
        expected.usage,
        expected.cost,
    )
    assert reason is None or after.reason == reason
    log = await log_of(later.store, crashed)
    assert len([done for done in of_type(log, ev.ToolCallFinished) if done.ok]) <= limit.get("max_calls", 9)


# --- the cache


class Stock:
    """Ten records; ``read`` counts what was executed."""

    def __init__(self) -> None:
        self.on_hand = dict.fromkeys(map(str, range(10)), 100)
        self.executed: list[str] = []

    def tools(self, *, keyed: bool = True) -> list[Tool]:
        @tool(backend="shop", reads=(lambda sku: [sku]) if keyed else None)
        async def read(sku: str) -> dict[str, Any]:
            """Pieces on hand, with the papers."""
            self.executed.append(sku)
            return {"sku": sku, "on_hand": self.on_hand[sku], "papers": f"{sku} " * 100}

        @tool(tier=Tier.WRITE, backend="shop", writes=(lambda sku, on_hand: [sku]) if keyed else None)
        async def count(sku: str, on_hand: int) -> str:
            """Records what was counted."""
            self.on_hand[sku] = on_hand
            return "counted"

        return [read, count]


def reading_five_times() -> list[Any]:
    """Reads the same ten records five times, and writes one in the middle."""
    round_: list[Any] = [("read", {"sku": str(n)}) for n in range(10)]
    return [round_, round_, [("count", {"sku": "3", "on_hand": 42})], round_, round_, round_, "done"]


@pytest.mark.parametrize("keyed", [True, False], ids=["keys", "no keys"])
async def test_ten_records_read_five_times_with_a_write_between_are_always_fresh_and_read_seldom(keyed: bool) -> None:
    executed: dict[float, int] = {}
    for seconds in (0.0, 30.0):
        stock = Stock()
        loop, model = loop_over(
            *reading_five_times(),
            tools=stock.tools(keyed=keyed),
            cache_seconds=seconds,
            same_call_runs=9,
            max_calls=99,
            **ALLOWED,
        )
        items = await collect(loop.run("go"))
        assert end_of(items).completed
        executed[seconds] = len(stock.executed)
        written = next(item.seq or 0 for item in items if _is_write(item))
        for item in items:
            if isinstance(item.event, ev.ToolCallFinished) and item.event.tool == "read":
                fresh = 42 if '"sku":"3"' in item.event.content and (item.seq or 0) > written else 100
                assert f'"on_hand":{fresh}' in item.event.content
        hits = [done for done in of_type(items, ev.ToolCallFinished) if done.cached]
        assert len(hits) == 50 - executed[seconds], "a hit is an event"
        await check_session(loop, items[0].session_id, model)
    assert executed == {0.0: 50, 30.0: 11 if keyed else 20}


def _is_write(item: ev.Recorded) -> bool:
    return isinstance(item.event, ev.ToolCallFinished) and item.event.tool == "count"


async def test_a_read_that_began_before_a_write_is_not_kept_for_later() -> None:
    stock, begun, written = Stock(), asyncio.Event(), asyncio.Event()

    @tool(backend="shop")
    async def slow_read(sku: str) -> str:
        """Reads, and takes its time to answer."""
        value = stock.on_hand[sku]
        begun.set()
        await written.wait()
        return str(value)

    tools = [*stock.tools(keyed=False), slow_read]
    store = MemoryStore()
    read = [("slow_read", {"sku": "3"})]
    reading, model = loop_over(read, "ok", read, "ok", tools=tools, store=store, cache_seconds=30.0)
    other, _ = loop_over([("count", {"sku": "3", "on_hand": 42})], "ok", tools=tools, store=store, **ALLOWED)
    other._cache, other._locks = reading._cache, reading._locks
    first = asyncio.ensure_future(collect(reading.run("read", owner="boss")))
    await begun.wait()
    await collect(other.run("write", owner="boss"))
    written.set()
    items = await first
    again = await collect(reading.run("read again", items[0].session_id))
    assert of_type(items, ev.ToolCallFinished)[0].content == "100"
    assert not of_type(again, ev.ToolCallFinished)[0].cached
    assert of_type(again, ev.ToolCallFinished)[0].content == "42"
    assert model.remaining == 0


@pytest.mark.parametrize(
    ("first", "second", "shared"),
    [
        ({"owner": "boss"}, {"owner": "boss"}, True),
        ({"owner": "boss", "tenant": "t"}, {"owner": "boss", "tenant": "t"}, True),
        ({"owner": "boss"}, {"owner": "staff"}, False),
        ({"owner": "boss", "tenant": "t"}, {"owner": "boss", "tenant": "u"}, False),
        ({"owner": "boss", "tenant": "t"}, {"owner": "boss"}, False),
        ({}, {}, False),
        ({"tenant": "t"}, {"tenant": "t"}, False),
    ],
)
async def test_results_are_shared_between_the_sessions_of_one_known_person_alone(
    first: dict[str, str], second: dict[str, str], shared: bool
) -> None:
    stock = Stock()
    call = [("read", {"sku": "1"})]
    loop, _ = loop_over(call, "ok", call, "ok", tools=stock.tools(), cache_seconds=30.0)
    await collect(loop.run("read", **first))  # type: ignore[arg-type]
    items = await collect(loop.run("read", **second))  # type: ignore[arg-type]
    assert of_type(items, ev.ToolCallFinished)[0].cached is shared
    assert len(stock.executed) == (1 if shared else 2)


async def test_a_denied_failed_or_doubtful_write_leaves_no_stale_result(tmp_path: Path) -> None:
    stock, fails = Stock(), [True]

    @tool(tier=Tier.WRITE, backend="shop", writes=lambda sku, on_hand: [sku])
    async def count_badly(sku: str, on_hand: int) -> str:
        """Records, then breaks."""
        stock.on_hand[sku] = on_hand
        if fails[0]:
            raise ConnectionResetError
        return "counted"

    read = [("read", {"sku": "3"})]
    loop, _ = loop_over(
        read,
        [("count_badly", {"sku": "3", "on_hand": 7})],
        read,
        "ok",
        tools=[*stock.tools(), count_badly],
        cache_seconds=30.0,
        **ALLOWED,
    )
    items = await collect(loop.run("go"))
    doubt = next(call_id for call_id, kind in errors(items).items() if kind == "uncertain")
    await loop.resolve(items[0].session_id, doubt, "happened")
    after = await collect(loop.resume(items[0].session_id))
    assert '"on_hand":7' in of_type(after, ev.ToolCallFinished)[0].content


# --- long outputs


async def test_pages_of_a_cut_output_join_to_the_whole_and_wrong_ones_are_answered() -> None:
    text = "".join(f"第 {number} 行 line\n" for number in range(900))

    @tool(max_output=400)
    async def report() -> str:
        """A long report."""
        return text

    def page(offset: Any) -> Any:
        def turn(messages: Any) -> Any:
            call = next(message for message in messages if message.tool_calls).tool_calls[0]
            return [("read_output", {"call_id": call.id, "offset": offset})]

        return turn

    offsets = list(range(0, len(text), 3000))
    loop, model = loop_over([("report", {})], *map(page, offsets), "done", tools=[report])
    items = await collect(loop.run("go"))
    pages = [done.content for done in of_type(items, ev.ToolCallFinished)[1:]]
    assert "".join(one.rpartition("\n[characters")[0] for one in pages) == text
    assert not any(done.truncated for done in of_type(items, ev.ToolCallFinished)[1:])
    assert f"{len(text)} characters in all" in of_type(items, ev.ToolCallFinished)[0].content
    wrong = [-1, len(text), 10**12, 2**70, 1.5, "a", [], {}]
    model.add(*map(page, wrong), [("read_output", {"call_id": "nonsense"})], [("read_output", {})], "done")
    after = await collect(loop.run("and beyond", items[0].session_id))
    assert set(errors(after).values()) == {"validation"}
    assert len(errors(after)) == len(wrong) + 2
    assert end_of(after).completed
    await check_session(loop, items[0].session_id, model)


async def test_an_output_of_another_session_cannot_be_read() -> None:
    @tool(max_output=400)
    async def report() -> str:
        """A secret report."""
        return "secret " * 1000

    store = MemoryStore()
    one, _ = loop_over([("report", {})], "ok", tools=[report], store=store)
    items = await collect(one.run("go", owner="boss"))
    call_id = of_type(items, ev.ToolCallFinished)[0].call_id
    other, model = loop_over([("read_output", {"call_id": call_id})], "ok", tools=[report], store=store)
    after = await collect(other.run("go", owner="boss"))
    assert list(errors(after).values()) == ["validation"]
    assert "secret" not in str(results(model))


async def test_a_fork_can_read_on_in_the_outputs_it_inherited(tmp_path: Path) -> None:
    @tool(max_output=400)
    async def report() -> str:
        """A long report."""
        return "line\n" * 2000

    loop, _ = loop_over([("report", {})], "ok", tools=[report])
    items = await collect(loop.run("go"))
    call_id = of_type(items, ev.ToolCallFinished)[0].call_id
    child = await loop.fork(items[0].session_id, (await loop.store.session(items[0].session_id)).head)
    page = ("read_output", {"call_id": call_id, "offset": 100})
    there, model = loop_over([page], "ok", tools=[report], store=loop.store)
    after = await collect(there.run("read on", child))
    assert errors(after) == {}
    assert "characters 100 to 3099 of 10000" in results(model)[-1]


# --- must-show 4 in small, without a clock


async def test_two_hundred_sessions_with_ten_tools_each_all_overlap_and_all_complete(tmp_path: Path) -> None:
    here, most, sessions, each = 0, 0, 200, 10
    everybody = asyncio.Event()

    @tool
    async def nap(n: int) -> str:
        """Waits until all calls of all sessions are at it."""
        nonlocal here, most
        here += 1
        most = max(most, here)
        if here == sessions * each:
            everybody.set()
        await everybody.wait()
        return str(n)

    loop, model = loop_over(tools=[nap])
    model.add(*[[("nap", {"n": n}) for n in range(each)]] * sessions, *["done"] * sessions)
    async with asyncio.timeout(60):
        runs = await asyncio.gather(*(collect(loop.run("go")) for _ in range(sessions)))
    assert most == sessions * each
    assert all(end_of(items).completed for items in runs)
    assert all([done.index for done in of_type(items, ev.ToolCallStarted)] == list(range(each)) for items in runs)


async def test_requests_of_the_double_do_not_overlap_where_records_are_one(tmp_path: Path) -> None:
    erp = ErpDouble(tmp_path / "erp.db", pace=0.02)
    calls = [("create_order", {"sku": "a", "quantity": n}) for n in range(1, 5)]
    loop, model = loop_over(calls, "done", tools=erp.tools(), **ALLOWED)
    items = await collect(loop.run("go"))
    spans = sorted((one.began, one.ended or 0.0) for one in erp.requests())
    assert all(earlier[1] <= later[0] for earlier, later in itertools.pairwise(spans))
    assert len(erp.effects()) == 4
    await check_session(loop, items[0].session_id, model)


async def test_a_file_that_a_call_leaves_behind_is_kept_by_hash_and_told_to_people_only() -> None:
    @tool
    async def report(ctx: ToolContext) -> str:
        """A report."""
        ctx.attach("chart.json", "application/json", b'{"old": 1}')
        ctx.attach("chart.json", "application/json", b'{"new": 1}')
        return "three rows"

    loop, model = loop_over(("report", {}), "done", tools=[report])
    items = await collect(loop.run("Report"))
    (finished,) = of_type(items, ev.ToolCallFinished)
    (artifact,) = finished.artifacts
    assert (artifact.name, artifact.media_type, artifact.size) == ("chart.json", "application/json", 10)
    kept = await loop.store.contents(items[0].session_id, [artifact.content])
    assert kept == {artifact.content: b'{"new": 1}'}
    assert results(model) == ["three rows"]
    await check_session(loop, items[0].session_id, model)


async def test_a_file_that_is_too_large_fails_the_call_that_left_it() -> None:
    @tool
    async def report(ctx: ToolContext) -> str:
        """A report."""
        ctx.attach("big", "text/plain", bytes(3 * 1024 * 1024))
        return "three rows"

    loop, _ = loop_over(("report", {}), "done", tools=[report])
    items = await collect(loop.run("Report"))
    assert of_type(items, ev.ToolCallFinished)[0].artifacts == ()
    assert errors(items)
