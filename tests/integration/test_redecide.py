"""Today's decision code over recorded logs: nothing differs while the code is the same, and a change shows where it
would first have gone another way.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec
import pytest

from agent_core import RetryPolicy
from agent_core import events as ev
from agent_core.config import ContextPolicy, LoopConfig, Price, Rule
from agent_core.context.build import compaction
from agent_core.errors import ModelError, Refused, ToolError
from agent_core.loop import AgentLoop
from agent_core.messages import Usage
from agent_core.model import wire
from agent_core.redecide import Difference, read_log, redecide
from agent_core.reviewed import accept, not_accepted, read_accepted
from agent_core.testing import MemoryStore, ScriptedModel
from agent_core.tools.faults import finished_with
from agent_core.tools.tool import Tier, Tool, ToolContext, tool
from tests.support.trade import QUESTION, Ledger, decide_open, drive, to_the_end, trader

Log = tuple[list[ev.Recorded], dict[str, bytes]]
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


async def _played(*turns: Any, after: Callable[[AgentLoop, str, _Clock], Any] | None = None, **limits: Any) -> Log:
    """The log of a session in which these turns were played, and then ``after`` was done."""
    clock = _Clock()
    settings = {"system_prompt": "You are careful.", "retry": RetryPolicy(attempts=3, base=0.001), **limits}
    price = Price(input=Decimal(2), output=Decimal(8))
    model = ScriptedModel([*turns, *["the end"] * 30])
    store = MemoryStore()
    loop = AgentLoop(model=model, tools=_tools(), store=store, config=LoopConfig(**settings), clock=clock, price=price)
    session_id = (await drive(loop.run("go", owner="boss")))[0].session_id
    if after is not None:
        await after(loop, session_id, clock)
    return await read_log(store, session_id)


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
    "a queue": lambda: _played([_A], "one", [_A], after=_queued),
    "interrupts": lambda: _played("one", [_A, _CHANGE], after=_interrupted),
    "business": lambda: _business(),
}


async def _many_messages(loop: AgentLoop, session_id: str, clock: _Clock) -> None:
    for number in range(12):
        await drive(loop.run(f"{number} " + "word " * 120, session_id))


async def _business() -> Log:
    store, ledger = MemoryStore(), Ledger()
    loop = trader(store, ledger)
    session_id = (await drive(loop.run(QUESTION)))[0].session_id
    await to_the_end(loop, session_id, ledger)
    return await read_log(store, session_id)


@pytest.mark.parametrize("story", STORIES)
async def test_the_code_that_wrote_a_log_decides_the_same_again(story: str) -> None:
    items, contents = await STORIES[story]()
    assert redecide(items, contents) == []


@pytest.mark.parametrize("story", STORIES)
async def test_every_beginning_of_a_log_decides_the_same_again(story: str) -> None:
    items, contents = await STORIES[story]()
    for length in range(1, len(items)):
        assert redecide(items[:length], contents, cut=True) == []


async def test_what_is_read_from_a_store_is_enough_and_missing_contents_are_said() -> None:
    items, contents = await STORIES["business"]()
    run = next(item.event for item in items if isinstance(item.event, ev.RunStarted))
    with pytest.raises(Refused, match="event 2"):
        redecide(items, {name: data for name, data in contents.items() if name != run.environment})


# --- a change in the code shows


def _first(differences: list[Difference]) -> Difference:
    assert differences, "the change was not noticed"
    return differences[0]


async def test_a_guard_that_counts_otherwise_shows_at_the_call_it_would_have_stopped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    items, contents = await STORIES["a repeat that ends the run"]()
    from agent_core.tools import admission

    known = admission._refuse_repeat
    monkeypatch.setattr(admission, "_refuse_repeat", lambda run, *rest: known(_with(run, same_call_runs=1), *rest))
    first = _first(redecide(items, contents))
    second = [item for item in items if isinstance(item.event, ev.ToolCallStarted)][1]
    assert (first.seq, first.kind) == (second.seq, "effect")
    assert first.recorded.startswith("ToolCallStarted")
    assert first.now.startswith("GuardTripped")
    assert "repeated_call" in first.now


def _with(run: Any, **limits: Any) -> Any:
    config = msgspec.structs.replace(run.environment.config, **limits)
    return msgspec.structs.replace(run, environment=msgspec.structs.replace(run.environment, config=config))


async def test_a_limit_that_is_compared_otherwise_shows_where_the_run_would_have_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    items, contents = await STORIES["too many steps"]()
    from agent_core import decide

    known = decide._over_budget
    monkeypatch.setattr(decide, "_over_budget", lambda run, now: known(_with(run, max_steps=4), now))
    first = _first(redecide(items, contents))
    assert first.recorded.startswith("LoopEnd")
    assert '"max_steps"' in first.recorded
    assert first.now.startswith("StepStarted step=4")
    assert first.kind == "decision"


async def test_a_write_that_is_no_longer_asked_shows_as_an_effect(monkeypatch: pytest.MonkeyPatch) -> None:
    items, contents = await STORIES["an approval days later"]()
    from agent_core.permission import Verdict
    from agent_core.tools import admission

    monkeypatch.setattr(admission, "standing", lambda *given, **named: Verdict("run"))
    first = _first(redecide(items, contents))
    asked = next(item for item in items if isinstance(item.event, ev.ApprovalRequested))
    assert (first.seq, first.kind) == (asked.seq, "effect")


async def test_a_compaction_that_comes_earlier_shows_at_the_request_before_which_it_comes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    items, contents = await STORIES["clipped and dropped"]()

    def earlier(state: Any, policy: Any, *rest: Any) -> Any:
        return compaction(state, msgspec.structs.replace(policy, budget_tokens=policy.budget_tokens // 2), *rest)

    monkeypatch.setattr("agent_core.decide.compaction", earlier)
    first = _first(redecide(items, contents))
    assert first.kind == "decision"
    assert first.now.startswith("ContextCompacted")


async def test_a_retry_that_is_no_longer_made_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    items, contents = await STORIES["failures and retries"]()
    from agent_core import redecide as module

    monkeypatch.setattr(module, "delay", lambda *given, **named: None)
    first = _first(redecide(items, contents))
    assert (first.kind, first.now) == ("decision", "no further attempt")


async def test_a_key_that_is_made_otherwise_shows_as_an_effect(monkeypatch: pytest.MonkeyPatch) -> None:
    items, contents = await STORIES["business"]()
    from agent_core.tools import admission

    monkeypatch.setattr(admission, "idempotency_key", lambda session_id, call: f"{session_id}-{call.seq}")
    assert _first(redecide(items, contents)).kind == "effect"


async def test_other_bytes_of_a_request_are_told_as_rendering(monkeypatch: pytest.MonkeyPatch) -> None:
    items, contents = await STORIES["business"]()
    known = wire.render_message
    monkeypatch.setattr(wire, "render_message", lambda *given: known(*given).replace(b"careful", b"CAREFUL"))
    differences = redecide(items, contents)
    assert {one.kind for one in differences} == {"rendering"}
    first = _first(differences)
    assert first.seq == 4
    assert "careful" in first.recorded
    assert "CAREFUL" in first.now


async def test_other_words_for_the_same_decision_are_told_as_rendering(monkeypatch: pytest.MonkeyPatch) -> None:
    items, contents = await STORIES["limits of calls"]()

    def reworded(call: Any, fault: ev.Fault, **named: Any) -> ev.ToolCallFinished:
        return finished_with(call, msgspec.structs.replace(fault, message="No."), **named)

    monkeypatch.setattr("agent_core.tools.admission.finished_with", reworded)
    assert {one.kind for one in redecide(items, contents)} == {"rendering"}


# --- what if


async def test_another_permission_policy_shows_what_it_would_have_asked_and_denied() -> None:
    items, contents = await STORIES["an approval days later"]()
    asking = LoopConfig(rules=(Rule(effect="ask", tool="look_up"),))
    asked = redecide(items, contents, config=asking)
    assert "look_up" in _first(asked).now
    assert "effect" in {one.kind for one in asked}, "the read would not have run unasked"
    denying = LoopConfig(rules=(Rule(effect="deny", tool="change"),))
    first = _first(redecide(items, contents, config=denying))
    assert first.recorded.startswith("ApprovalRequested")
    assert '"denied"' in first.now


async def test_another_limit_shows_where_it_would_have_ended_the_run() -> None:
    items, contents = await STORIES["business"]()
    first = _first(redecide(items, contents, config=LoopConfig(max_steps=2)))
    assert first.now.startswith("LoopEnd")
    assert '"max_steps"' in first.now
    assert redecide(items, contents, config=LoopConfig(max_steps=9)) == []


async def test_another_price_shows_where_the_money_would_have_run_out() -> None:
    items, contents = await STORIES["business"]()
    cheap = Price(input=Decimal(0), output=Decimal(0))
    assert redecide(items, contents, price=cheap) == []
    dear = Price(input=Decimal(9000), output=Decimal(9000))
    first = _first(redecide(items, contents, price=dear))
    assert '"budget"' in first.now


# --- reviewed differences


async def test_a_reviewed_difference_is_not_told_again_and_another_one_is(tmp_path: Path) -> None:
    items, contents = await STORIES["business"]()
    differences = redecide(items, contents, config=LoopConfig(max_steps=2))
    path = tmp_path / "accepted.json"
    assert read_accepted(path) == []
    accept(path, differences[:1], by="boss", reason="wanted")
    accept(path, differences[:1], by="somebody else")
    (kept,) = read_accepted(path)
    assert (kept.by, kept.seq) == ("boss", differences[0].seq)
    assert not_accepted(differences, read_accepted(path)) == differences[1:]
    other = redecide(items, contents, config=LoopConfig(max_steps=1))
    assert not_accepted(other, read_accepted(path)) == other
    path.write_text("nonsense", "utf-8")
    with pytest.raises(Refused, match="cannot be read"):
        read_accepted(path)
