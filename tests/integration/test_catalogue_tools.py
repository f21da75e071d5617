"""T3 and T4 of the fault catalogue, and what becomes of calls whose outcome is not known."""

from __future__ import annotations

import asyncio
import logging
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agent_core import events as ev
from agent_core.config import LoopConfig, Rule
from agent_core.errors import Refused
from agent_core.loop import AgentLoop
from agent_core.model.client import OpenAIModel
from agent_core.store.sqlite import SqliteStore
from agent_core.testing import ErpDouble, MemoryStore, ScriptedModel
from agent_core.testing.erp import Trouble
from agent_core.tools.tool import Reconciled, Tier, Tool, ToolContext, tool
from tests.support.loops import check_session, collect, cut_off, end_of, errors, loop_over, of_type, results
from tests.support.requests import log_of
from tests.support.strict_server import strict_server

ORDER = ("create_order", {"sku": "a", "quantity": 2})
ALLOWED: dict[str, Any] = {"auto_approve": ("WRITE",)}


@pytest.fixture(autouse=True)
def _quiet(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)


def tools_of(erp: ErpDouble, **changes: Any) -> list[Tool]:
    """The double's tools; ``create_order`` with changes."""
    return [replace(one, **changes) if one.name == "create_order" else one for one in erp.tools()]


# --- T4


TROUBLES: list[tuple[Trouble, ...]] = [
    ("drop_reply",),
    ("drop_reply", "drop_reply"),
    ("late",),
    ("late", "late"),
    ("late", "drop_reply"),
    ("error_500",),
    ("error_500", "error_500"),
    ("kept_500",),
    ("hang",),
    ("hang", "drop_reply"),
]


@pytest.mark.parametrize("knows_keys", [True, False], ids=["keys", "no keys"])
@pytest.mark.parametrize("troubles", TROUBLES, ids=" ".join)
async def test_t4_a_write_in_trouble_has_at_most_one_effect_and_says_when_it_is_not_known(
    tmp_path: Path, troubles: tuple[Trouble, ...], knows_keys: bool
) -> None:
    erp = ErpDouble(tmp_path / "erp.db", knows_keys=knows_keys, late=0.2)
    erp.trouble("create_order", *troubles)
    loop, model = loop_over([ORDER], "done", tools=tools_of(erp, timeout=0.1), **ALLOWED)
    items = await collect(loop.run("go"))
    await erp.settled()
    requests = erp.requests("create_order")
    assert len({(one.key, one.arguments) for one in requests}) == 1, "the same key and arguments on every attempt"
    assert len(requests) <= (2 if knows_keys else 1), "without keys it is never sent again"
    started = of_type(items, ev.ToolCallStarted)
    assert [one.idempotency_key for one in started] == [requests[0].key]
    assert len(erp.effects()) <= 1
    (finished,) = of_type(items, ev.ToolCallFinished)
    if finished.ok:
        assert len(erp.effects()) == 1
        assert end_of(items).completed
    else:
        assert finished.error is not None
        assert finished.error.type == "uncertain"
        assert end_of(items).reason == "awaiting_approval"
        assert model.remaining == 1, "the model is not asked before a person has looked"
    await check_session(loop, items[0].session_id, model)


async def test_t4_a_kept_error_stays_in_doubt_and_sending_again_does_not_order_twice(tmp_path: Path) -> None:
    erp = ErpDouble(tmp_path / "erp.db")
    erp.trouble("create_order", "kept_500")
    loop, model = loop_over([ORDER], "done", tools=erp.tools(), **ALLOWED)
    items = await collect(loop.run("go"))
    session_id, call_id = items[0].session_id, of_type(items, ev.ToolCallFinished)[0].call_id
    for _ in range(2):
        await loop.resolve(session_id, call_id, "send_again", by="boss")
        again = await collect(loop.resume(session_id))
        assert end_of(again).reason == "awaiting_approval"
    await loop.resolve(session_id, call_id, "did_not_happen", by="boss")
    after = await collect(loop.resume(session_id))
    assert end_of(after).completed
    assert erp.effects() == []
    assert len({one.key for one in erp.requests()}) == 1
    assert results(model)[0]["error"]["type"] == "cancelled"
    await check_session(loop, session_id, model)


async def test_t4_a_key_that_was_used_for_something_else_is_refused_by_the_backend_and_nothing_happens(
    tmp_path: Path,
) -> None:
    erp = ErpDouble(tmp_path / "erp.db")
    erp.trouble("create_order", "drop_reply")
    attempts: list[int] = []
    orders = next(one for one in erp.tools() if one.name == "create_order")

    async def forgetful(sku: str, quantity: int, ctx: ToolContext) -> Any:
        attempts.append(quantity)
        return await orders.handler(sku=sku, quantity=quantity + len(attempts) - 1, ctx=ctx)

    loop, _ = loop_over([ORDER], "done", tools=[replace(orders, handler=forgetful)], **ALLOWED)
    items = await collect(loop.run("go"))
    assert len(erp.effects()) == 1
    assert len(erp.requests()) == 2
    assert list(errors(items).values()) == ["validation"]


async def test_t4_what_a_tool_does_to_its_arguments_does_not_reach_the_next_attempt() -> None:
    seen: list[tuple[list[str], dict[str, Any]]] = []

    @tool(tier=Tier.WRITE, idempotent=True)
    async def send(lines: list[str], options: dict[str, Any]) -> str:
        """Sends lines."""
        seen.append((list(lines), dict(options)))
        lines.clear()
        options["force"] = True
        if len(seen) == 1:
            raise ConnectionResetError
        return "sent"

    loop, _ = loop_over([("send", {"lines": ["a", "b"], "options": {"x": 1}})], "done", tools=[send], **ALLOWED)
    assert end_of(await collect(loop.run("go"))).completed
    assert seen == [(["a", "b"], {"x": 1})] * 2


async def test_t4_keys_are_those_of_the_session_that_asked_also_in_forks(tmp_path: Path) -> None:
    erp = ErpDouble(tmp_path / "erp.db")
    loop, _ = loop_over([ORDER], "done", [ORDER], "done", tools=erp.tools(), **ALLOWED)
    first = await collect(loop.run("go"))
    said = next(item for item in first if isinstance(item.event, ev.UserMessage))
    child = await loop.fork(first[0].session_id, said.seq or 0)
    await collect(loop.resume(child))
    keys = [one.key for one in erp.effects()]
    assert len(set(keys)) == 2
    assert [key.split(".")[0] for key in keys] == [first[0].session_id, child]


# --- what becomes of a doubt


def doubtful(reconcile: Any, ran: list[str], *, idempotent: bool = False) -> Tool:
    """A write that gives no answer the first time."""

    async def send(ctx: ToolContext) -> str:
        ran.append(ctx.idempotency_key)
        if len(ran) == 1:
            raise ConnectionResetError("gone")
        return "sent now"

    return Tool.from_schema(
        "send", "Sends.", {}, send, tier=Tier.WRITE, reconcile=reconcile, idempotent=idempotent, retries=0, timeout=0.2
    )


async def _hangs(ctx: ToolContext) -> Reconciled:
    await asyncio.sleep(3600)
    return Reconciled("happened")


async def _raises(ctx: ToolContext) -> Reconciled:
    raise RuntimeError("the ERP is down")


def _answers(value: Any) -> Any:
    async def reconcile(ctx: ToolContext) -> Any:
        return value

    return reconcile


async def test_the_backend_that_knows_it_happened_settles_the_doubt_with_the_result() -> None:
    ran: list[str] = []
    happened = _answers(Reconciled("happened", {"order": 7}))
    loop, model = loop_over([("send", {})], "done", tools=[doubtful(happened, ran)], **ALLOWED)
    items = await collect(loop.run("go"))
    assert end_of(items).completed
    assert len(ran) == 1
    assert results(model) == [{"order": 7}]
    (found,) = of_type(items, ev.OutcomeResolved)
    assert (found.outcome, found.source) == ("happened", "backend")
    await check_session(loop, items[0].session_id, model)


async def test_the_backend_that_knows_it_did_not_happen_lets_it_be_sent_once_more_with_the_same_key() -> None:
    ran: list[str] = []
    loop, model = loop_over(
        [("send", {})], "done", tools=[doubtful(_answers(Reconciled("did_not_happen")), ran)], **ALLOWED
    )
    items = await collect(loop.run("go"))
    assert end_of(items).completed
    assert len(ran) == 2
    assert len(set(ran)) == 1
    assert results(model) == ["sent now"]
    await check_session(loop, items[0].session_id, model)


@pytest.mark.parametrize(
    "reconcile",
    [
        None,
        _hangs,
        _raises,
        _answers(Reconciled("unknown")),
        _answers(Reconciled("hapened")),  # type: ignore[arg-type]
        _answers(None),
        _answers("happened"),
        _answers({"outcome": "happened"}),
    ],
    ids=["none", "hangs", "raises", "unknown", "misspelled", "nothing", "text", "dict"],
)
async def test_a_backend_that_cannot_say_leaves_the_doubt_to_a_person(reconcile: Any) -> None:
    ran: list[str] = []
    loop, model = loop_over([("send", {})], "done", tools=[doubtful(reconcile, ran)], **ALLOWED)
    items = await collect(loop.run("go"))
    assert end_of(items).reason == "awaiting_approval"
    assert len(ran) == 1
    assert of_type(items, ev.OutcomeResolved) == []
    session_id, call_id = items[0].session_id, of_type(items, ev.ToolCallFinished)[0].call_id
    assert await collect(loop.resume(session_id)) == [], "it waits"
    await loop.resolve(session_id, call_id, "happened", by="boss", content="order 9")
    assert await loop.resolve(session_id, call_id, "happened", by="boss") == [], "the same again is harmless"
    others: tuple[Any, ...] = ("did_not_happen", "send_again")
    for other in others:
        with pytest.raises(Refused, match="happened"):
            await loop.resolve(session_id, call_id, other, by="boss")
    assert end_of(await collect(loop.resume(session_id))).completed
    assert results(model) == ["order 9"]
    assert len(ran) == 1
    await check_session(loop, session_id, model)


async def test_only_a_doubt_can_be_resolved(tmp_path: Path) -> None:
    erp = ErpDouble(tmp_path / "erp.db")
    loop, _ = loop_over([("read_stock", {"sku": "a"}), ORDER], "done", tools=erp.tools(), **ALLOWED)
    items = await collect(loop.run("go"))
    for call_id in ("nonsense", *(done.call_id for done in of_type(items, ev.ToolCallFinished))):
        with pytest.raises(Refused):
            await loop.resolve(items[0].session_id, call_id, "send_again")
    assert len(erp.effects()) == 1


async def test_the_same_write_twice_in_one_message_leaves_one_doubt_and_one_effect(tmp_path: Path) -> None:
    erp = ErpDouble(tmp_path / "erp.db", knows_keys=False)
    erp.trouble("create_order", "drop_reply")
    rules = (Rule(effect="allow", tool="create_order"),)
    loop, model = loop_over([ORDER, ORDER], "done", tools=erp.tools(), rules=rules)
    items = await collect(loop.run("go"))
    assert sorted(errors(items).values()) == ["repeated_call", "uncertain"]
    doubt = next(call_id for call_id, kind in errors(items).items() if kind == "uncertain")
    await loop.resolve(items[0].session_id, doubt, "happened")
    assert end_of(await collect(loop.resume(items[0].session_id))).completed
    assert len(erp.effects()) == len(erp.requests()) == 1
    await check_session(loop, items[0].session_id, model)


# --- T3


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


@tool(tier=Tier.DANGEROUS)
async def wipe(name: str) -> str:
    """Deletes something."""
    reached.append(name)
    return name


T3_TOOLS = (quick, slow, slow_write, wipe)
THREE = [
    {"tool_calls": [{"index": 0, "id": "c1", "function": {"name": "quick", "arguments": '{"name":"a"}'}}]},
    {"tool_calls": [{"index": 1, "id": "c2", "function": {"name": "slow", "arguments": '{"name":"b"}'}}]},
    {"tool_calls": [{"index": 2, "id": "c3", "function": {"name": "slow_write", "arguments": '{"name":"c"}'}}]},
]
ASKED = [
    *THREE[:1],
    {"tool_calls": [{"index": 1, "id": "c2", "function": {"name": "wipe", "arguments": '{"name":"b"}'}}]},
]


QUESTIONS = ("deny", "new message", "fork of a question")


@pytest.mark.parametrize("ending", ["interrupt", "leave", "crash", "fork", *QUESTIONS])
async def test_t3_the_next_request_pairs_every_call_with_one_result_whatever_came_between(
    tmp_path: Path, ending: str
) -> None:
    """Against an endpoint that refuses every other history, as strict ones do."""
    reached.clear()
    store = SqliteStore(tmp_path / "log.db")
    async with strict_server() as server:
        server.turns = [ASKED if ending in QUESTIONS else THREE]
        async with OpenAIModel(server.url, "key", "m") as model:
            config = LoopConfig(system_prompt="You are careful.", auto_approve=("WRITE",))
            loop = AgentLoop(model=model, tools=T3_TOOLS, store=store, config=config)
            session_id = await _until(loop, ending)
            before = len(server.requests)
            after = await collect(loop.run("and now?", session_id))
            assert of_type(after, ev.LoopEnd)[-1].completed
            assert server.refusals == []
            roles = [message["role"] for message in server.requests[before]["messages"]]
            assert roles.count("tool") == (2 if ending in QUESTIONS else 3)
    kinds = _kinds(await log_of(store, session_id))
    if ending in ("interrupt", "leave"):
        assert kinds == {"c1": None, "c2": "cancelled", "c3": "uncertain"}
        assert reached == ["a", "b", "c"], "nothing runs again"
    elif ending in ("crash", "fork"):
        assert kinds["c1"] is None
        assert kinds["c3"] == "uncertain"
    elif ending == "deny":
        assert kinds == {"c1": None, "c2": "denied"}
    else:
        assert kinds == {"c1": None, "c2": "cancelled"}
    assert reached.count("c") <= 1
    await store.verify(session_id)
    await store.aclose()


def _kinds(log: list[ev.Recorded]) -> dict[str, str | None]:
    """How each call ended last."""
    finished = of_type(log, ev.ToolCallFinished)
    return {done.call_id: None if done.error is None else done.error.type for done in finished}


async def _until(loop: AgentLoop, ending: str) -> str:
    """Brings a session to the place between calls and results where it ends this way; returns who goes on."""
    session_id, seq = "", 0
    async with asyncio.timeout(10), aclosing(loop.run("go")) as items:
        async for item in items:
            session_id, seq = item.session_id, item.seq or seq
            if not (isinstance(item.event, ev.ToolCallFinished) and item.event.ok):
                continue
            if ending == "interrupt":
                await loop.interrupt(session_id)
            elif ending in ("leave", "crash"):
                break
            elif ending == "fork":
                child = await loop.fork(session_id, seq)
                await loop.interrupt(session_id)
                session_id = child
                break
    if ending == "crash":
        return await cut_off(loop, session_id, seq)
    if ending == "fork of a question":
        return await loop.fork(session_id, seq)
    if ending == "deny":
        await loop.decide(session_id, "c2", approve=False, reason="keep it")
        await collect(loop.resume(session_id))
    return session_id


async def test_t3_a_resume_after_the_crash_runs_reads_again_and_leaves_the_write_to_a_person() -> None:
    reached.clear()
    ran: list[str] = []

    @tool
    async def look(name: str) -> str:
        """Looks."""
        ran.append(name)
        if len(ran) < 3:
            await asyncio.sleep(30)
        return f"{name} is fine"

    calls = [("quick", {"name": "a"}), ("look", {"name": "b"}), ("slow_write", {"name": "c"})]
    store = MemoryStore()
    loop, _ = loop_over(calls, tools=(*T3_TOOLS, look), store=store, auto_approve=("WRITE",))
    session_id, seq = "", 0
    async with asyncio.timeout(5), aclosing(loop.run("go")) as items:
        async for item in items:
            session_id, seq = item.session_id, item.seq or seq
            if isinstance(item.event, ev.ToolCallFinished) and item.event.ok:
                break
    ran.append("the process died")
    crashed = await cut_off(loop, session_id, seq)
    again, model = loop_over("on we go", tools=(*T3_TOOLS, look), store=store, auto_approve=("WRITE",))
    after = await collect(again.resume(crashed))
    assert end_of(after).reason == "awaiting_approval"
    assert reached == ["a", "c"], "the write is not begun again"
    assert ran[-1] == "b"
    doubt = next(call_id for call_id, kind in errors(after).items() if kind == "uncertain")
    await again.resolve(crashed, doubt, "did_not_happen")
    assert end_of(await collect(again.resume(crashed))).completed
    assert [one if isinstance(one, str) else one["error"]["type"] for one in results(model)] == [
        "a is fine",
        "b is fine",
        "cancelled",
    ]
    assert isinstance(model, ScriptedModel)
