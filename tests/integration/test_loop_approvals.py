"""Questions to a person: asked, answered, edited, left unanswered, and answered twice."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from agent_core import events as ev
from agent_core.config import Rule
from agent_core.errors import Refused
from agent_core.loop import AgentLoop
from agent_core.store.base import EventStore
from agent_core.store.sqlite import SqliteStore
from agent_core.testing import ErpDouble, MemoryStore, ScriptedModel
from agent_core.tools.tool import Tier, ToolContext, tool
from tests.support.loops import check_session, collect, end_of, errors, loop_over, of_type, results, types
from tests.support.requests import log_of

ORDER = ("create_order", {"sku": "a", "quantity": 2})
READ = ("read_stock", {"sku": "a"})
DELETE = ("delete_order", {"order": 1})


@pytest.fixture
def erp(tmp_path: Path) -> ErpDouble:
    return ErpDouble(tmp_path / "erp.db")


class Asked:
    """A session that waits: the loop, its model, and the ids of the calls by tool."""

    def __init__(self, loop: AgentLoop, model: ScriptedModel, items: list[ev.Recorded]) -> None:
        self.loop, self.model, self.items = loop, model, items
        self.session_id = items[0].session_id
        self.calls = {event.tool: event.call_id for event in of_type(items, ev.ApprovalRequested)}


async def ask(erp: ErpDouble, *calls: Any, then: Any = ("done",), **settings: Any) -> Asked:
    loop, model = loop_over([*calls], *then, tools=erp.tools(), **settings)
    items = await collect(loop.run("go"))
    assert end_of(items).reason == "awaiting_approval"
    return Asked(loop, model, items)


async def test_a_question_shows_what_would_change_and_nothing_runs_before_the_answer(erp: ErpDouble) -> None:
    asked = await ask(erp, ORDER)
    (question,) = of_type(asked.items, ev.ApprovalRequested)
    assert question.preview.title == "Order 2 x a"
    assert question.preview.changes == (ev.Change("quantity", None, "2", "a"),)
    assert (question.target, question.tier, question.arguments) == ("product:a", "WRITE", '{"quantity":2,"sku":"a"}')
    assert erp.requests() == []
    assert await collect(asked.loop.resume(asked.session_id)) == [], "it still waits"
    assert len(asked.model.requests) == 1


async def test_an_approved_call_runs_once_and_the_run_goes_on(erp: ErpDouble) -> None:
    asked = await ask(erp, ORDER)
    (decided,) = await asked.loop.decide(asked.session_id, asked.calls["create_order"], approve=True, by="boss")
    assert isinstance(decided.event, ev.ApprovalDecided)
    assert decided.event.by == "boss"
    after = await collect(asked.loop.resume(asked.session_id))
    assert end_of(after).completed
    assert len(erp.effects()) == 1
    assert results(asked.model) == [{"order": 1}]
    log = await check_session(asked.loop, asked.session_id, asked.model)
    order = [type(item.event).__name__ for item in log]
    assert order.index("ApprovalDecided") < order.index("ToolCallStarted")
    assert await collect(asked.loop.resume(asked.session_id)) == [], "a completed run is not begun again"


async def test_the_words_of_a_denial_reach_the_model(erp: ErpDouble) -> None:
    asked = await ask(erp, ORDER)
    await asked.loop.decide(asked.session_id, asked.calls["create_order"], approve=False, reason="太多了, take one")
    after = await collect(asked.loop.resume(asked.session_id))
    assert end_of(after).completed
    assert errors(after) == {asked.calls["create_order"]: "denied"}
    assert "太多了, take one" in results(asked.model)[0]["error"]["message"]
    assert erp.requests() == []
    await check_session(asked.loop, asked.session_id, asked.model)


async def test_edited_arguments_are_shown_and_asked_again(erp: ErpDouble) -> None:
    asked = await ask(erp, ORDER)
    call_id = asked.calls["create_order"]
    edited = {"sku": "a", "quantity": 1}
    await asked.loop.decide(asked.session_id, call_id, approve=True, arguments=edited)
    again = await collect(asked.loop.resume(asked.session_id))
    (question,) = of_type(again, ev.ApprovalRequested)
    assert question.preview.title == "Order 1 x a"
    assert question.digest != of_type(asked.items, ev.ApprovalRequested)[0].digest
    assert end_of(again).reason == "awaiting_approval"
    assert erp.requests() == []
    await asked.loop.decide(asked.session_id, call_id, approve=True)
    after = await collect(asked.loop.resume(asked.session_id))
    assert end_of(after).completed
    assert [effect.arguments for effect in erp.effects()] == ['{"quantity":1,"sku":"a"}']
    await check_session(asked.loop, asked.session_id, asked.model)


async def test_edited_arguments_that_do_not_fit_are_answered_with_what_is_wrong(erp: ErpDouble) -> None:
    asked = await ask(erp, ORDER)
    await asked.loop.decide(asked.session_id, asked.calls["create_order"], approve=True, arguments={"sku": "a"})
    after = await collect(asked.loop.resume(asked.session_id))
    assert list(errors(after).values()) == ["validation"]
    assert erp.requests() == []


async def test_a_question_expires_and_that_is_no_persons_no(erp: ErpDouble) -> None:
    now = [1_760_000_000.0]
    asked = await ask(erp, ORDER, approval_seconds=60.0, clock=lambda: now[0])
    call_id = asked.calls["create_order"]
    now[0] += 61
    with pytest.raises(Refused, match="expired"):
        await asked.loop.decide(asked.session_id, call_id, approve=True)
    after = await collect(asked.loop.resume(asked.session_id))
    assert errors(after) == {call_id: "expired"}
    (decided,) = of_type(after, ev.ApprovalDecided)
    assert (decided.decision, decided.by) == ("expired", "clock")
    assert end_of(after).completed
    assert erp.requests() == []
    with pytest.raises(Refused):
        await asked.loop.decide(asked.session_id, call_id, approve=True)


async def test_what_can_run_runs_and_what_is_asked_waits_each_for_its_own_answer(erp: ErpDouble) -> None:
    asked = await ask(erp, READ, ORDER, DELETE)
    assert [request.tool for request in erp.requests()] == ["read_stock"]
    await asked.loop.decide(asked.session_id, asked.calls["create_order"], approve=False, reason="no")
    half = await collect(asked.loop.resume(asked.session_id))
    assert end_of(half).reason == "awaiting_approval" if half else True
    assert [request.tool for request in erp.requests()] == ["read_stock"], "the other one still waits"
    await asked.loop.decide(asked.session_id, asked.calls["delete_order"], approve=True)
    after = await collect(asked.loop.resume(asked.session_id))
    assert end_of(after).completed
    assert [request.tool for request in erp.requests()] == ["read_stock", "delete_order"], "the read ran once"
    answers = results(asked.model)
    assert answers[0]["on_hand"] == 7
    assert answers[1]["error"]["type"] == "denied"
    assert answers[2]["deleted"] == 1
    await check_session(asked.loop, asked.session_id, asked.model)


async def test_an_interrupt_while_a_question_is_open_answers_it(erp: ErpDouble) -> None:
    asked = await ask(erp, READ, ORDER)
    assert not await asked.loop.interrupt(asked.session_id), "no run is going on while somebody is asked"
    asked.model.add("fine")
    after = await collect(asked.loop.run("forget it", asked.session_id))
    assert errors(after) == {asked.calls["create_order"]: "cancelled"}
    assert end_of(after).completed
    with pytest.raises(Refused):
        await asked.loop.decide(asked.session_id, asked.calls["create_order"], approve=True)
    assert [request.tool for request in erp.requests()] == ["read_stock"]
    await check_session(asked.loop, asked.session_id, asked.model)


async def test_a_new_message_goes_on_without_what_was_asked(erp: ErpDouble) -> None:
    asked = await ask(erp, ORDER, then=["never mind then"])
    after = await collect(asked.loop.run("never mind", asked.session_id))
    assert types(after)[:3] == ["ToolCallFinished", "RunStarted", "UserMessage"]
    conversation = asked.model.requests[-1].messages
    assert [message.role for message in conversation] == ["system", "user", "assistant", "tool", "user"]
    assert (conversation[-1].content or "").endswith("\n\nnever mind"), "behind the remark that nothing was answered"
    await check_session(asked.loop, asked.session_id, asked.model)


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
async def test_of_two_answers_at_once_one_stands_and_the_other_is_told_which(
    erp: ErpDouble, tmp_path: Path, kind: str
) -> None:
    for round_number in range(20):
        store: EventStore = MemoryStore() if kind == "memory" else SqliteStore(tmp_path / f"log{round_number % 4}.db")
        loop, _ = loop_over([ORDER], "done", tools=erp.tools(), store=store)
        items = await collect(loop.run("go"))
        session_id, call_id = items[0].session_id, of_type(items, ev.ApprovalRequested)[0].call_id
        other, _ = loop_over(tools=erp.tools(), store=store)
        answers = await asyncio.gather(
            loop.decide(session_id, call_id, approve=True, by="cli"),
            other.decide(session_id, call_id, approve=False, by="page"),
            return_exceptions=True,
        )
        decisions = of_type(await log_of(store, session_id), ev.ApprovalDecided)
        assert len(decisions) == 1
        losers = [answer for answer in answers if isinstance(answer, Refused)]
        assert len(losers) == 1
        assert decisions[0].decision in str(losers[0])
        await store.aclose()
    assert erp.effects() == []


async def test_the_same_answer_again_is_harmless_and_another_one_is_refused(erp: ErpDouble) -> None:
    asked = await ask(erp, ORDER)
    call_id = asked.calls["create_order"]
    assert len(await asked.loop.decide(asked.session_id, call_id, approve=True)) == 1
    assert await asked.loop.decide(asked.session_id, call_id, approve=True) == []
    with pytest.raises(Refused, match="approved"):
        await asked.loop.decide(asked.session_id, call_id, approve=False)
    with pytest.raises(Refused):
        await asked.loop.decide(asked.session_id, call_id, approve=True, arguments={"sku": "b", "quantity": 9})
    await collect(asked.loop.resume(asked.session_id))
    assert await asked.loop.decide(asked.session_id, call_id, approve=True) == []
    assert len(erp.effects()) == 1


async def test_only_a_question_can_be_answered(erp: ErpDouble) -> None:
    asked = await ask(erp, READ, ORDER)
    read_id = next(event.call_id for event in of_type(asked.items, ev.ToolCallFinished))
    for call_id in ("nonsense", read_id):
        with pytest.raises(Refused):
            await asked.loop.decide(asked.session_id, call_id, approve=True)


async def test_another_process_can_ask_answer_and_go_on(erp: ErpDouble, tmp_path: Path) -> None:
    """Three loops over one file, as three programs would be."""
    stores = [SqliteStore(tmp_path / "log.db") for _ in range(3)]
    first, one = loop_over([READ, ORDER], tools=erp.tools(), store=stores[0])
    items = await collect(first.run("go"))
    session_id, call_id = items[0].session_id, of_type(items, ev.ApprovalRequested)[0].call_id
    second, _ = loop_over(tools=erp.tools(), store=stores[1])
    await second.decide(session_id, call_id, approve=True, by="phone")
    third, other = loop_over("done", tools=erp.tools(), store=stores[2])
    after = await collect(third.resume(session_id))
    assert end_of(after).completed
    assert [request.tool for request in erp.requests()] == ["read_stock", "create_order"]
    await check_session(third, session_id, one, other)
    for store in stores:
        await store.aclose()


async def test_an_approval_is_void_when_the_code_means_something_else_by_now(erp: ErpDouble) -> None:
    asked = await ask(erp, ORDER)
    await asked.loop.decide(asked.session_id, asked.calls["create_order"], approve=True)
    changed = [tool for tool in erp.tools() if tool.name != "create_order"]
    loop, _ = loop_over("ok", tools=changed, store=asked.loop.store)
    after = await collect(loop.resume(asked.session_id))
    assert list(errors(after).values()) == ["unknown_tool"]
    assert erp.requests() == []


async def test_a_preview_that_fails_asks_nobody_and_changes_nothing(erp: ErpDouble) -> None:
    async def broken(sku: str, quantity: int, ctx: Any) -> Any:
        raise RuntimeError("no preview today")

    tools = [tool.with_preview(broken) if tool.name == "create_order" else tool for tool in erp.tools()]
    loop, model = loop_over([ORDER], "ok", tools=tools)
    items = await collect(loop.run("go"))
    assert list(errors(items).values()) == ["execution"]
    assert end_of(items).completed
    assert erp.requests() == []
    await check_session(loop, items[0].session_id, model)


async def test_a_fork_inherits_no_question_and_no_answer(erp: ErpDouble) -> None:
    asked = await ask(erp, ORDER)
    call_id = asked.calls["create_order"]
    child = await asked.loop.fork(asked.session_id, asked.items[-1].seq or 0)
    with pytest.raises(Refused):
        await asked.loop.decide(child, call_id, approve=True)
    await asked.loop.decide(asked.session_id, call_id, approve=True)
    late = await asked.loop.fork(asked.session_id, (await asked.loop.store.session(asked.session_id)).head)
    for branch in (child, late):
        loop, model = loop_over("in the fork", tools=erp.tools(), store=asked.loop.store)
        after = await collect(loop.resume(branch))
        assert end_of(after).completed
        assert results(model)[0]["error"]["type"] == "cancelled"
    assert erp.requests() == []


async def test_auto_approval_is_in_the_log_with_its_reason(erp: ErpDouble) -> None:
    loop, model = loop_over([ORDER], "ok", tools=erp.tools(), auto_approve=("WRITE",))
    items = await collect(loop.run("go", by="script"))
    (decided,) = of_type(items, ev.ApprovalDecided)
    assert (decided.decision, decided.by, decided.channel) == ("approved", "script", "auto_approve")
    assert len(erp.effects()) == 1
    await check_session(loop, items[0].session_id, model)


async def test_an_answer_is_for_the_question_that_was_seen_and_no_other(erp: ErpDouble) -> None:
    asked = await ask(erp, ORDER)
    call = asked.calls["create_order"]
    (seen,) = of_type(asked.items, ev.ApprovalRequested)
    await asked.loop.decide(asked.session_id, call, approve=True, arguments={"sku": "a", "quantity": 9}, by="boss")
    again = of_type(await collect(asked.loop.resume(asked.session_id)), ev.ApprovalRequested)
    with pytest.raises(Refused, match="other arguments"):
        await asked.loop.decide(asked.session_id, call, approve=True, digest=seen.digest, by="clerk")
    assert erp.requests() == []
    await asked.loop.decide(asked.session_id, call, approve=True, digest=again[0].digest, by="clerk")
    await collect(asked.loop.resume(asked.session_id))
    assert len(erp.requests()) == 1


async def test_a_call_that_was_agreed_to_knows_by_whom_and_on_what_it_was_based() -> None:
    known: list[tuple[dict[str, str], str | None]] = []

    async def versions(ctx: ToolContext) -> dict[str, str]:
        return {"order": "7"}

    @tool(tier=Tier.WRITE, versions=versions)
    async def change(ctx: ToolContext) -> str:
        """Changes it."""
        known.append((dict(ctx.versions), ctx.approved_by))
        return "changed"

    for rules in ((), (Rule(effect="allow", tool="change"),)):
        loop, _ = loop_over([("change", {})], ["done"], tools=[change], rules=rules)
        items = await collect(loop.run("go"))
        for question in of_type(items, ev.ApprovalRequested):
            await loop.decide(items[0].session_id, question.call_id, approve=True, by="boss")
            await collect(loop.resume(items[0].session_id))
    assert known == [({"order": "7"}, "boss"), ({}, None)]


async def test_a_call_that_is_more_than_usual_is_asked_every_time_whatever_was_trusted() -> None:
    done: list[int] = []

    async def preview(count: int) -> ev.Preview:
        return ev.Preview("change", measures={"count": Decimal(count)}, raised=count > 5)

    @tool(tier=Tier.WRITE, preview=preview, target=lambda count: "x", varies=("count",))
    async def change(count: int) -> str:
        """Changes it."""
        done.append(count)
        return "changed"

    calls = [[("change", {"count": number})] for number in (9, 5, 4, 9)]
    loop, _ = loop_over(*calls, ["done"], tools=[change], auto_approve=("WRITE",))
    items = await collect(loop.run("go"))
    session, asked = items[0].session_id, of_type(items, ev.ApprovalRequested)
    assert [(one.tier, one.offer) for one in asked] == [("DANGEROUS", None)], "not covered by --approve write"
    await loop.decide(session, asked[0].call_id, approve=True, by="boss")
    items = await collect(loop.resume(session))
    assert [one.tier for one in of_type(items, ev.ApprovalRequested)] == ["WRITE", "WRITE", "DANGEROUS"]
    assert (done, end_of(items).reason) == ([9, 5, 4], "awaiting_approval")
    await check_session(loop, session)
