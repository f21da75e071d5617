"""Stopping in the middle: by a person, by a reader that goes away, by a cancelled task."""

from __future__ import annotations

import asyncio
import gc
import warnings
from collections.abc import Sequence
from contextlib import aclosing
from typing import Any

import pytest

from agent_core import events as ev
from agent_core.config import Rule
from agent_core.loop import AgentLoop
from agent_core.messages import TextDelta
from agent_core.store.base import Lease
from agent_core.testing import MemoryStore, ScriptedModel
from agent_core.tools.tool import Tier, tool
from tests.support.loops import QUICK, check_session, collect, end_of, errors, loop_over, of_type, results, types
from tests.support.requests import log_of

reached: list[str] = []


@tool
async def quick(name: str) -> str:
    """Answers at once."""
    reached.append(name)
    return f"{name} is fine"


@tool
async def slow(name: str) -> str:
    """Takes its time."""
    reached.append(name)
    await asyncio.sleep(30)
    return name


@tool(tier=Tier.WRITE)
async def slow_write(name: str) -> str:
    """Takes its time to change something."""
    reached.append(name)
    await asyncio.sleep(30)
    return name


TOOLS = (quick, slow, slow_write)
FREE = (Rule(effect="allow", tool="slow_write"),)
"""Writes run unasked, side by side with the reads."""


@pytest.fixture(autouse=True)
def _nothing_reached() -> None:
    reached.clear()


def streaming(*turns: Any) -> ScriptedModel:
    return ScriptedModel(turns, delta=2, delay=0.005)


async def test_an_interrupt_in_mid_stream_ends_the_run_without_the_partial_text() -> None:
    loop, model = loop_over(model=streaming("a long answer that goes on", "the second answer"))
    items: list[ev.Recorded] = []
    async for item in loop.run("go"):
        items.append(item)
        if isinstance(item.event, TextDelta) and len(of_type(items, TextDelta)) == 3:
            assert await loop.interrupt(item.session_id, by="me", where="mid stream")
            assert not await loop.interrupt(item.session_id), "once is enough"
    assert types(items)[-3:] == ["RunInterrupted", "StepEnd", "LoopEnd"]
    assert of_type(items, ev.StepEnd)[0].outcome == "interrupted"
    assert (end_of(items).reason, end_of(items).completed) == ("interrupted", False)
    assert of_type(items, ev.AssistantMessage) == []
    after = await collect(loop.run("and now?", items[0].session_id))
    assert end_of(after).completed
    assert not any("a long" in (message.content or "") for message in model.requests[-1].messages)
    await check_session(loop, items[0].session_id, model)


async def test_an_interrupt_from_another_task_is_noticed_while_the_model_is_silent() -> None:
    loop, model = loop_over(model=ScriptedModel(["never said"], delay=30.0))
    seen = asyncio.Queue[ev.Recorded]()

    async def read() -> list[ev.Recorded]:
        items = []
        async for item in loop.run("go"):
            items.append(item)
            seen.put_nowait(item)
        return items

    reading = asyncio.ensure_future(read())
    session_id = (await seen.get()).session_id
    while not isinstance((await seen.get()).event, ev.StepStarted):
        pass
    await asyncio.sleep(0.01)
    async with asyncio.timeout(2):
        await loop.interrupt(session_id)
        items = await reading
    assert end_of(items).reason == "interrupted"
    await check_session(loop, session_id, model)


async def test_an_interrupt_in_mid_tools_keeps_what_is_known_and_answers_the_rest() -> None:
    calls = [("quick", {"name": "a"}), ("slow", {"name": "b"}), ("slow_write", {"name": "c"})]
    loop, model = loop_over(calls, "on we go", tools=TOOLS, rules=FREE)
    items: list[ev.Recorded] = []
    async with asyncio.timeout(5):
        async for item in loop.run("go"):
            items.append(item)
            if isinstance(item.event, ev.ToolCallFinished) and item.event.ok:
                await loop.interrupt(item.session_id)
    finished = sorted(of_type(items, ev.ToolCallFinished), key=lambda event: event.index)
    kinds = [errors(items).get(event.call_id) for event in finished]
    assert kinds == [None, "cancelled", "uncertain"]
    assert end_of(items).reason == "interrupted"
    after = await collect(loop.run("what happened?", items[0].session_id))
    assert end_of(after).completed
    assert results(model)[0] == "a is fine"
    assert results(model)[2]["error"]["type"] == "uncertain"
    assert reached == ["a", "b", "c"], "nothing runs again"
    await check_session(loop, items[0].session_id, model)


async def test_an_interrupted_run_can_be_resumed() -> None:
    loop, model = loop_over(model=streaming("first try at an answer", "second try"))
    items: list[ev.Recorded] = []
    async for item in loop.run("go"):
        items.append(item)
        if isinstance(item.event, TextDelta) and len(of_type(items, TextDelta)) == 1:
            await loop.interrupt(item.session_id)
    after = await collect(loop.resume(items[0].session_id))
    assert end_of(after).completed
    assert of_type(after, ev.AssistantMessage)[0].content == "second try"
    await check_session(loop, items[0].session_id, model)


async def test_another_process_interrupts_through_the_log() -> None:
    store = MemoryStore()
    loop, model = loop_over(model=ScriptedModel(["x"], delay=30.0), store=store)
    other, _ = loop_over(store=store)
    items: list[ev.Recorded] = []
    async with asyncio.timeout(10):
        async for item in loop.run("go"):
            items.append(item)
            if isinstance(item.event, ev.StepStarted):
                asyncio.get_running_loop().call_later(0.1, _start, other.interrupt(item.session_id, by="operator"))
    assert end_of(items).reason == "interrupted"
    assert of_type(items, ev.RunInterrupted)[0].by == "operator"
    await check_session(loop, items[0].session_id, model)


_tasks: set[asyncio.Task[Any]] = set()


def _start(work: Any) -> None:
    task = asyncio.ensure_future(work)
    _tasks.add(task)
    task.add_done_callback(_tasks.discard)


# --- readers that go away


CALLS = [("quick", {"name": "a"}), ("slow", {"name": "b"}), ("slow_write", {"name": "c"})]


async def leave_after(loop: AgentLoop, count: int) -> str:
    session_id = ""
    async with aclosing(loop.run("go")) as items:
        seen = 0
        async for item in items:
            seen += 1
            session_id = item.session_id
            if seen == count:
                break
    return session_id


def once_only(messages: Any) -> Any:
    """Asks for the calls when told to go, and is content with anything else."""
    return ["thinking", *CALLS] if messages[-1].content == "go" else "done"


@pytest.mark.parametrize("count", range(1, 12))
async def test_a_reader_that_goes_away_leaves_an_ended_run_wherever_it_was(count: int) -> None:
    loop, model = loop_over(once_only, once_only, once_only, tools=TOOLS, rules=FREE)
    async with asyncio.timeout(5):
        session_id = await leave_after(loop, count)
    log = await check_session(loop, session_id, model)
    assert isinstance(log[-1].event, ev.LoopEnd)
    assert log[-1].event.reason == "interrupted"
    after = await collect(loop.run("go on", session_id))
    assert end_of(after).completed
    await check_session(loop, session_id, model)


async def test_a_reader_that_just_drops_the_stream_leaves_an_ended_run_too() -> None:
    loop, model = loop_over(model=streaming("a long answer that goes on and on"))
    session_id = ""
    async for item in loop.run("go"):
        session_id = item.session_id
        if isinstance(item.event, TextDelta):
            break
    del item
    gc.collect()
    for _ in range(50):
        await asyncio.sleep(0.01)
        if isinstance((await log_of(loop.store, session_id))[-1].event, ev.LoopEnd):
            break
    await check_session(loop, session_id, model)


@pytest.mark.parametrize("moment", [0.0, 0.002, 0.01, 0.03, 0.06])
async def test_a_cancelled_task_leaves_an_ended_run_and_a_free_lease(moment: float) -> None:
    loop, model = loop_over(model=ScriptedModel([["text ", *CALLS], "more"], delay=0.005), tools=TOOLS, rules=FREE)
    first = await collect(loop_over("hello", store=loop.store)[0].run("hi"))
    session_id = first[0].session_id
    running = asyncio.ensure_future(collect(loop.run("go", session_id)))
    await asyncio.sleep(moment)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    log = await log_of(loop.store, session_id)
    assert isinstance(log[-1].event, ev.LoopEnd)
    await loop.store.release(await loop.store.acquire(session_id, seconds=5))
    await loop.store.verify(session_id)
    assert model.requests is not None


class SlowStore(MemoryStore):
    """Every operation takes time; the effect of one that is cancelled comes all the same, as with a real database."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds
        self.appended = 0

    async def append(self, session_id: str, events: Sequence[Any], **settings: Any) -> list[ev.Recorded]:
        return await self._late(super().append(session_id, events, **settings))  # type: ignore[no-any-return]

    async def acquire(self, session_id: str, *, seconds: float) -> Lease:
        return await self._late(super().acquire(session_id, seconds=seconds))  # type: ignore[no-any-return]

    async def _late(self, work: Any) -> Any:
        async def later() -> Any:
            await asyncio.sleep(self.seconds)
            return await work

        task = asyncio.ensure_future(later())
        _tasks.add(task)
        task.add_done_callback(_tasks.discard)
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
        return await asyncio.shield(task)


@pytest.mark.parametrize("step", range(1, 40, 3))
async def test_a_cancellation_in_the_middle_of_an_append_loses_and_doubles_nothing(step: int) -> None:
    """Cancelled at every few milliseconds of a run over a store whose operations take 3 ms each."""
    store = SlowStore(0.003)
    calls = [("quick", {"name": "a"}), ("quick", {"name": "b"})]
    model = ScriptedModel([["look ", *calls], "the answer", "later"])
    loop, _ = loop_over(model=model, tools=TOOLS, store=store)
    session_id = (await collect(loop_over("hello", store=store)[0].run("hi")))[0].session_id
    running = asyncio.ensure_future(collect(loop.run("go", session_id)))
    await asyncio.sleep(0.001 * step)
    running.cancel()
    result = (await asyncio.gather(running, return_exceptions=True))[0]
    store.seconds = 0.0
    await asyncio.sleep(0.02)
    log = await log_of(store, session_id)
    await store.verify(session_id)
    steps = [event.step for event in of_type(log, ev.AssistantMessage)]
    assert len(steps) == len(of_type(log, ev.StepEnd))
    assert len(steps) <= 1 + len(model.requests), "no answer is there twice"
    begun = [(event.call_id, event.attempt) for event in of_type(log, ev.ToolCallStarted)]
    assert len(begun) == len(set(begun))
    finished = [event.call_id for event in of_type(log, ev.ToolCallFinished)]
    assert len(finished) == len(set(finished))
    assert len(of_type(log, ev.RunStarted)) == len(of_type(log, ev.LoopEnd))
    if not isinstance(result, BaseException):
        assert end_of(result).completed
    await store.release(await store.acquire(session_id, seconds=5))
    after = await collect(loop_over("fine", tools=TOOLS, store=store)[0].run("again", session_id))
    assert end_of(after).completed


async def test_nothing_is_left_running_and_nothing_complains() -> None:
    complaints: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for count in (1, 4, 6, 8, 9):
            loop, _ = loop_over(["thinking", *CALLS], "done", tools=TOOLS, rules=FREE)
            await leave_after(loop, count)
        loop, _ = loop_over(model=streaming("a long answer"), retry=QUICK)
        items: list[ev.Recorded] = []
        async for item in loop.run("go"):
            items.append(item)
            if isinstance(item.event, TextDelta):
                await loop.interrupt(item.session_id)
        await asyncio.sleep(0)
        gc.collect()
    others = asyncio.all_tasks() - {asyncio.current_task()}
    assert others == set()
    assert complaints == []
    assert errors(items) == {}
