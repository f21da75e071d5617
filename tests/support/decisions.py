"""Runs of every kind, with everything in them that is decided: what re-deciding is tried on, and what the golden runs
are made of.

``python -m tests.support.decisions FOLDER`` writes them as exported sessions. Those of a released version are never
written again.
"""

from __future__ import annotations

import asyncio
import random
import sys
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

from agent_core import RetryPolicy
from agent_core import events as ev
from agent_core.config import ContextPolicy, LoopConfig, Price, Rule
from agent_core.errors import ModelError, ToolError
from agent_core.loop import AgentLoop
from agent_core.messages import Usage
from agent_core.redecide import read_log
from agent_core.store.export import export_session
from agent_core.summarising import Summariser
from agent_core.testing import MemoryStore, ScriptedModel
from agent_core.tools.tool import Tier, Tool, ToolContext, tool
from tests.support.trade import QUESTION, Ledger, decide_open, drive, to_the_end, trader

Log = tuple[list[ev.Recorded], dict[str, bytes]]
Played = tuple[MemoryStore, str]
_DAY = 86_400.0


class _Clock:
    """A clock that is moved by hand, so that days pass between a question and its answer."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        self.now += 0.001
        return self.now


def _tools() -> list[Tool]:
    @tool(untrusted=True)
    async def look_up(key: str, deep: bool = False) -> str:
        """Looks something up."""
        await asyncio.sleep(0)
        if key == "boom":
            raise ToolError("it broke", type="validation")
        return "z" * 9000 if key == "long" else f"{key} is 7"

    async def versions(key: str, ctx: ToolContext) -> dict[str, str]:
        return {"record": str(random.random())} if key == "moving" else {"record": "1"}

    async def preview(key: str, ctx: ToolContext) -> ev.Preview:
        if key == "hidden":
            raise ToolError("there is no such record", hint="look it up")
        return ev.Preview(f"Change {key}", measures={"amount": Decimal(3)})

    @tool(tier=Tier.WRITE, target=lambda key: f"record:{key}", preview=preview, versions=versions, idempotent=True)
    async def change(key: str, ctx: ToolContext) -> str:
        """Changes something."""
        return "changed"

    @tool(tier=Tier.DANGEROUS)
    def drop(key: str) -> str:
        """Drops something."""
        return "dropped"

    @tool(egress=True)
    def fetch(url: str) -> str:
        """Fetches something from outside."""
        return "fetched"

    return [look_up, change, drop, fetch]


async def _played(*turns: Any, after: Callable[[AgentLoop, str, _Clock], Any] | None = None, **limits: Any) -> Played:
    """A session in which these turns were played, and then ``after`` was done."""
    clock = _Clock()
    settings = {"system_prompt": "You are careful.", "retry": RetryPolicy(attempts=3, base=0.001), **limits}
    price = Price(input=Decimal(2), output=Decimal(8))
    model = ScriptedModel([*turns, *["the end"] * 30])
    store = MemoryStore()
    loop = AgentLoop(model=model, tools=_tools(), store=store, config=LoopConfig(**settings), clock=clock, price=price)
    session_id = (await drive(loop.run("go", owner="boss")))[0].session_id
    if after is not None:
        await after(loop, session_id, clock)
    return store, session_id


async def _answered(loop: AgentLoop, session_id: str, clock: _Clock) -> None:
    clock.now += 3 * _DAY
    await decide_open(loop, session_id)
    await drive(loop.resume(session_id))


async def _expired(loop: AgentLoop, session_id: str, clock: _Clock) -> None:
    clock.now += 8 * _DAY
    await drive(loop.resume(session_id))


async def _edited(loop: AgentLoop, session_id: str, clock: _Clock) -> None:
    for call in (await loop.state(session_id)).open_calls():
        await loop.decide(session_id, call.call.id, approve=True, arguments={"key": "edited"})
    await drive(loop.resume(session_id))
    await _answered(loop, session_id, clock)


async def _granted(loop: AgentLoop, session_id: str, clock: _Clock) -> None:
    for call in (await loop.state(session_id)).open_calls():
        await loop.decide(session_id, call.call.id, approve=True, always=True)
    await drive(loop.resume(session_id))
    await decide_open(loop, session_id)
    await drive(loop.resume(session_id))


async def _refused(loop: AgentLoop, session_id: str, clock: _Clock) -> None:
    for call in (await loop.state(session_id)).open_calls():
        await loop.decide(session_id, call.call.id, approve=False, reason="too much")
    await drive(loop.resume(session_id))


async def _another_message(loop: AgentLoop, session_id: str, clock: _Clock) -> None:
    await drive(loop.run("never mind", session_id))


async def _queued(loop: AgentLoop, session_id: str, clock: _Clock) -> None:
    async for item in loop.run("more", session_id):
        if isinstance(item.event, ev.StepStarted) and item.seq and item.seq < 20:
            await loop.queue(session_id, "and this", client_message_id="q")


async def _interrupted(loop: AgentLoop, session_id: str, clock: _Clock) -> None:
    async for item in loop.run("more", session_id):
        if isinstance(item.event, ev.ToolCallStarted):
            await loop.interrupt(session_id)
    await drive(loop.resume(session_id))


_A, _LONG = ("look_up", {"key": "a"}), ("look_up", {"key": "long"})
_CHANGE = ("change", {"key": "a"})
STORIES: dict[str, Callable[[], Any]] = {
    "an answer": lambda: _played(["hello", Usage(100, 20, 120)]),
    "parallel reads, twins among them": lambda: _played([_A, ("look_up", {"key": "b", "deep": True}), _A]),
    "a repeat that ends the run": lambda: _played([_A], [_A], [_A], [_A], cache_seconds=0.0),
    "results from the cache": lambda: _played([_A], [_A], [_A]),
    "a circle": lambda: _played(*[[_A], [("look_up", {"key": "b"})]] * 5, cache_seconds=0.0, same_call_runs=9),
    "broken calls": lambda: _played([("look_up", "{broken"), ("no_such", {}), ("look_up", {"wrong": 1})], [_A]),
    "a tool that fails": lambda: _played([("look_up", {"key": "boom"})]),
    "an approval days later": lambda: _played([_A, _CHANGE], after=_answered),
    "an approval that came too late": lambda: _played([_CHANGE], after=_expired),
    "edited arguments": lambda: _played([_CHANGE], after=_edited),
    "a standing grant": lambda: _played([_CHANGE], [_CHANGE], [("change", {"key": "b"})], after=_granted),
    "a refusal": lambda: _played([_CHANGE, ("drop", {"key": "a"})], after=_refused),
    "a new message instead of an answer": lambda: _played([_CHANGE, _A], after=_another_message),
    "records that changed meanwhile": lambda: _played([("change", {"key": "moving"})], after=_answered),
    "a preview that cannot be made": lambda: _played([("change", {"key": "hidden"})]),
    "unasked by configuration": lambda: _played([_CHANGE, ("drop", {"key": "a"})], auto_approve=("WRITE",)),
    "rules by target": lambda: _played(
        [_CHANGE, ("change", {"key": "b"}), ("look_up", {"key": "c"})],
        rules=(
            Rule(effect="allow", tool="change", target="record:a"),
            Rule(effect="deny", tool="change", target="record:b", reason="not that one"),
            Rule(effect="ask", tool="look_up"),
        ),
        after=_answered,
    ),
    "egress after untrusted text": lambda: _played([_A], [("fetch", {"url": "x"})], after=_answered),
    "limits of calls": lambda: _played(
        [_A, ("look_up", {"key": "b"}), ("look_up", {"key": "c"})], max_calls_per_step=2
    ),
    "limits of a run": lambda: _played([_A], [_LONG], [("look_up", {"key": "c"})], max_calls=2),
    "too many steps": lambda: _played(*[[("look_up", {"key": str(n)})] for n in range(5)], max_steps=3),
    "out of money": lambda: _played(*[[_A, Usage(900, 90, 990)]] * 3, max_cost=Decimal("0.001")),
    "failures and retries": lambda: _played(
        [ModelError("overloaded", "busy", retryable=True)], ["part", ModelError("stream_error", "cut", retryable=True)]
    ),
    "a failure for good": lambda: _played([ModelError("auth", "no key")]),
    "failures without end": lambda: _played(*[[ModelError("overloaded", "busy", retryable=True)]] * 5),
    "an empty answer": lambda: _played("", ""),
    "clipped and dropped": lambda: _played(
        [_LONG], after=_many_messages, context=ContextPolicy(budget_tokens=1500), read_output=False
    ),
    "left out and summed up": lambda: _played(
        *[turn for n in range(9) for turn in ([("look_up", {"key": "long"})], f"{n} " + "word " * 60)],
        after=_many_questions,
        context=ContextPolicy(budget_tokens=5000, summarise_after=12, keep_recent=4),
        read_output=False,
    ),
    "summaries that fail and are wished for": lambda: _summed(),
    "a conversation that is too long for its endpoint": lambda: _played(
        *[f"{n} " + "word " * 120 for n in range(8)],
        ModelError("context_overflow", "too long", remedy="compact_history"),
        "shorter",
        after=_many_questions,
    ),
    "a message that is larger than the window": lambda: _played(
        "one", "two", after=_too_much, context=ContextPolicy(budget_tokens=2000)
    ),
    "a queue": lambda: _played([_A], "one", [_A], after=_queued),
    "interrupts": lambda: _played("one", [_A, _CHANGE], after=_interrupted),
    "business": lambda: _business(),
    "a fork, rollbacks and what was taken back": lambda: _branched(),
    "a fork between twins": lambda: _forked_between_twins(),
}
"""By name; each plays a session and gives its store and id."""


async def _many_messages(loop: AgentLoop, session_id: str, clock: _Clock) -> None:
    for number in range(12):
        await drive(loop.run(f"{number} " + "word " * 120, session_id))


async def _many_questions(loop: AgentLoop, session_id: str, clock: _Clock, left: int = 28) -> None:
    """Asks until the model has so many turns left."""
    model = loop.model
    assert isinstance(model, ScriptedModel)
    while model.remaining > left:
        await drive(loop.run(f"and {model.remaining}?", session_id))


async def _too_much(loop: AgentLoop, session_id: str, clock: _Clock) -> None:
    await drive(loop.run("word " * 3000, session_id))
    await drive(loop.run("shorter", session_id))


async def _summed() -> Played:
    """A summary that fails twice, one that a model makes, one that a person wishes for, and one of those that fails."""
    broken = ModelError("timeout", "slow")
    other = ScriptedModel([broken, " ", *["They counted.\nFACTS\n- began at 0"] * 8], language_model=True)
    model = ScriptedModel([f"{n} " + "word " * 120 for n in range(24)])
    store, config = MemoryStore(), LoopConfig(system_prompt="Be careful.", context=ContextPolicy(budget_tokens=3000))
    loop = AgentLoop(model=model, store=store, config=config, summariser=Summariser(other), clock=_Clock())
    session_id = (await drive(loop.run("begin at 0")))[0].session_id
    await _many_questions(loop, session_id, _Clock(), 0)
    await drive(loop.compact(session_id, by="boss"))
    other_turns = ScriptedModel([f"{n} " + "word " * 20 for n in range(3)])
    again = AgentLoop(
        model=other_turns,
        store=store,
        config=config,
        summariser=Summariser(ScriptedModel([broken], language_model=True)),
    )
    await _many_questions(again, session_id, _Clock(), 0)
    await drive(again.compact(session_id, by="boss"))
    return store, session_id


async def _business() -> Played:
    store, ledger = MemoryStore(), Ledger()
    loop = trader(store, ledger)
    session_id = (await drive(loop.run(QUESTION)))[0].session_id
    await to_the_end(loop, session_id, ledger)
    return store, session_id


async def _branched() -> Played:
    """A fork within an exchange, taken back twice, with what it did undone."""
    store, session_id = await _business()
    ledger = Ledger()
    loop = trader(store, ledger)
    child = await loop.fork(session_id, 12)
    await drive(loop.run("And again.", child))
    await to_the_end(loop, child, ledger)
    plan = await loop.undo_plan(child, 14)
    await loop.rollback(child, 18)
    await loop.rollback(child, 14)
    await drive(loop.undo(child, plan))
    await to_the_end(loop, child, ledger)
    return store, child


async def _forked_between_twins() -> Played:
    """The child closes a call that would have got the result of another one."""
    store, session_id = await _played([_A, _A, _CHANGE])
    loop = AgentLoop(model=ScriptedModel(["from here on"]), tools=_tools(), store=store)
    started = [item.seq or 0 async for item in store.read(session_id) if isinstance(item.event, ev.ToolCallStarted)]
    child = await loop.fork(session_id, started[0])
    await drive(loop.resume(child))
    return store, child


async def played(story: str) -> Log:
    """The events of a story and the contents its decisions depend on."""
    store, session_id = await STORIES[story]()
    return await read_log(store, session_id)


async def write(folder: Path) -> None:
    """Writes every story as an exported session into a folder that is there."""
    for story, play in STORIES.items():
        store, session_id = await play()
        await export_session(store, session_id, folder / f"{story.replace(' ', '-').replace(',', '')}.jsonl")


if __name__ == "__main__":
    asyncio.run(write(Path(sys.argv[1])))
