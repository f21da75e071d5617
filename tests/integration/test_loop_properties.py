"""Whatever a model says, tools do and people decide: what must hold of the log and of every request holds."""

from __future__ import annotations

import asyncio
import warnings
from collections import Counter
from contextlib import aclosing
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from agent_core import RetryPolicy
from agent_core import events as ev
from agent_core.config import ContextPolicy, LoopConfig
from agent_core.errors import ModelError, Refused, ToolError
from agent_core.fold import fold
from agent_core.loop import AgentLoop
from agent_core.messages import StreamEnd
from agent_core.redecide import read_log, redecide
from agent_core.session import open_session
from agent_core.testing import MemoryStore, ScriptedModel
from agent_core.tools.tool import Tier, Tool, tool
from tests.support.requests import check_requests, log_of

_arguments = st.sampled_from(
    [{"key": "a"}, {"key": "b"}, {"key": "boom"}, {"key": "long"}, {"wrong": 1}, "{broken", ""]
)
_call = st.tuples(st.sampled_from(["look_up", "change", "drop", "no_such_tool"]), _arguments)
_turn = st.one_of(
    st.lists(_call, min_size=1, max_size=4),
    st.text(min_size=1, max_size=8),
    st.just("answer"),
    st.just(""),
    st.just([ModelError("overloaded", "busy", retryable=True)]),
    st.just(["partial", ModelError("stream_error", "cut", retryable=True)]),
    st.just([ModelError("auth", "no key")]),
    st.just([ModelError("context_overflow", "too long", remedy="compact_history")]),
    st.just(["x" * 3000]),
    st.just([StreamEnd(finish_reason="length")]),
)
_act = st.one_of(
    st.just(("say", "hello")),
    st.just(("say", "y" * 2000)),
    st.just(("resume",)),
    st.tuples(st.just("decide"), st.booleans()),
    st.just(("edit",)),
    st.just(("interrupt",)),
    st.tuples(st.just("leave"), st.integers(0, 6)),
    st.tuples(st.just("interrupt_during"), st.integers(0, 8)),
    st.just(("resolve",)),
    st.just(("compact",)),
    st.just(("fork",)),
    st.tuples(st.just("roll_back"), st.integers(0, 12)),
    st.tuples(st.just("take_back"), st.integers(0, 12)),
    st.tuples(st.just("queue_during"), st.integers(0, 8)),
)


def _tools(effects: Counter[str]) -> list[Tool]:
    @tool(retries=1)
    async def look_up(key: str) -> str:
        """Looks something up."""
        await asyncio.sleep(0)
        if key == "boom":
            raise ToolError("it broke", hint="try another key")
        return "z" * 9000 if key == "long" else key

    @tool(tier=Tier.WRITE)
    async def change(key: str, ctx: Any = None) -> str:
        """Changes something."""
        effects[key] += 1
        await asyncio.sleep(0)
        if key == "boom":
            raise TimeoutError
        return "changed"

    @tool(tier=Tier.DANGEROUS)
    def drop(key: str) -> str:
        """Drops something."""
        return "dropped"

    return [look_up, change, drop]


async def _act_out(turns: list[Any], acts: list[Any], budget: int) -> None:
    store, model = MemoryStore(), ScriptedModel([*turns, *["the end"] * 60])
    config = LoopConfig(
        system_prompt="You are careful.",
        max_steps=6,
        context=ContextPolicy(budget_tokens=budget),
        retry=RetryPolicy(attempts=2, base=0.0),
    )
    loop = AgentLoop(model=model, tools=_tools(Counter()), store=store, config=config)
    models = {"": model}
    session_id: str | None = None
    for act in [("say", "first"), *acts]:
        seen: list[ev.Recorded] = []
        match act:
            case ("say", text):
                seen = [item async for item in loop.run(text, session_id)]
            case ("resume",) if session_id:
                seen = [item async for item in loop.resume(session_id)]
            case ("leave", count) if session_id:
                async with aclosing(loop.run("never mind", session_id)) as items:
                    async for item in items:
                        seen.append(item)
                        if len(seen) > count:
                            break
            case ("interrupt_during", count) if session_id:
                async for item in loop.run("wait", session_id):
                    seen.append(item)
                    if len(seen) == count:
                        await loop.interrupt(session_id)
            case ("queue_during", count) if session_id:
                async for item in loop.run("work", session_id):
                    seen.append(item)
                    if len(seen) == count:
                        await _queue(loop, session_id)
            case ("roll_back" | "take_back", back) if session_id:
                head = (await store.session(session_id)).head
                plan = await loop.undo_plan(session_id, max(1, head - back))
                await loop.rollback(session_id, max(1, head - back))
                if act[0] == "take_back":
                    seen = [item async for item in loop.undo(session_id, plan)]
            case ("interrupt",) if session_id:
                assert not await loop.interrupt(session_id), "no run is going on between two acts"
            case ("compact",) if session_id:
                seen = [item async for item in loop.compact(session_id, by="boss")]
            case ("fork",) if session_id:
                head = (await store.session(session_id)).head
                child = await store.fork(session_id, max(1, head - 3))
                branch = ScriptedModel(["from the fork"] * 20)
                other = AgentLoop(model=branch, tools=_tools(Counter()), store=store, config=config)
                seen = [item async for item in other.resume(child)]
                seen += [item async for item in other.run("go on", child)]
                await _check(store, child, None)
                seen = []
            case ("decide", approve) if session_id:
                await _decide_all(loop, session_id, approve=approve)
            case ("edit",) if session_id:
                await _decide_all(loop, session_id, approve=True, arguments={"key": "edited"})
            case ("resolve",) if session_id:
                state = await loop.state(session_id)
                for call in [*state.doubts, *(call for entry in state.entries for call in entry.calls)]:
                    try:
                        await loop.resolve(session_id, call.call.id, "happened")
                    except Refused:
                        assert call.status != "uncertain"
        durable = [item for item in seen if item.seq is not None]
        session_id = session_id or durable[0].session_id
        assert [item.seq for item in durable] == sorted({item.seq for item in durable if item.seq is not None})
        log = await log_of(store, session_id)
        by_seq = {item.seq: item for item in log}
        assert all(by_seq[item.seq] == item for item in durable), "what a reader saw is what is stored"
    assert session_id is not None
    await _check(store, session_id, models[""])


async def _queue(loop: AgentLoop, session_id: str) -> None:
    try:
        await loop.queue(session_id, "and this")
    except Refused:
        assert not (await loop.state(session_id)).running


async def _decide_all(loop: AgentLoop, session_id: str, **answer: Any) -> None:
    for call in (await loop.state(session_id)).open_calls():
        try:
            await loop.decide(session_id, call.call.id, **answer)
        except Refused:
            assert call.status != "asked"


async def _check(store: MemoryStore, session_id: str, model: ScriptedModel | None) -> None:
    """I1, I2, and that the log alone gives the state."""
    verified = await store.verify(session_id)
    log = await log_of(store, session_id)
    assert [item.seq for item in log] == list(range(1, verified.head + 1))
    state = (await open_session(store, session_id)).state
    environments = {item.event.environment for item in log if isinstance(item.event, ev.RunStarted)}
    contents = await store.contents(session_id, environments)
    assert fold(log, contents) == state
    half = len(log) // 2
    assert fold(log[half:], contents, fold(log[:half], contents), log[:half]) == state
    assert redecide(*await read_log(store, session_id)) == [], "the same code decides the same again"
    own = log[state.parent.seq :] if state.parent is not None else log
    results: Counter[str] = Counter()
    for item in own:
        match item.event:
            case ev.AssistantMessage() | ev.RolledBack():
                results.clear()  # an id may come again once its call has left the context, and each past has its own
            case ev.OutcomeResolved(outcome="send_again"):
                results[item.event.call_id] -= 1
            case ev.ToolCallFinished():
                results[item.event.call_id] += 1
                assert results[item.event.call_id] == 1, "one result for each call"
    begun = {item.event.run_id for item in own if isinstance(item.event, ev.RunStarted)}
    ended = {item.event.run_id for item in own if isinstance(item.event, ev.LoopEnd)}
    assert begun == ended, "no run is left open"
    lease = await store.acquire(session_id, seconds=1)
    await store.release(lease)
    if model is not None:
        await check_requests(store, session_id, model)


@settings(
    max_examples=100,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    report_multiple_bugs=False,
    phases=(Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink),
)
@given(st.lists(_turn, max_size=12), st.lists(_act, max_size=7), st.sampled_from([700, 2500]))
def test_every_history_leaves_a_whole_log_and_well_formed_requests(
    turns: list[Any], acts: list[Any], budget: int
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        asyncio.run(_act_out(turns, acts, budget), debug=False)
