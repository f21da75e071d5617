"""X4, A1, A3, A4, A5 and J2 of the fault catalogue: a yes is for exactly what was shown, once, in time."""

from __future__ import annotations

import asyncio
import itertools
import json
import time
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from agent_core import events as ev
from agent_core.config import Rule
from agent_core.errors import Refused
from agent_core.loop import AgentLoop
from agent_core.store.sqlite import SqliteStore
from agent_core.testing import ErpDouble, MemoryStore, ScriptedModel
from agent_core.tools.tool import Tier, Tool, ToolContext, tool
from tests.support import processes
from tests.support.loops import check_session, collect, end_of, errors, loop_over, of_type, results, types
from tests.support.requests import log_of

ORDER = ("create_order", {"sku": "a", "quantity": 2})
READ = ("read_stock", {"sku": "a"})
DELETE = ("delete_order", {"order": 1})


@pytest.fixture
def erp(tmp_path: Path) -> ErpDouble:
    return ErpDouble(tmp_path / "erp.db")


async def question_of(loop: AgentLoop, *said: str) -> tuple[str, str]:
    """(session, call) of the first question of a new session."""
    items = await collect(loop.run("go"))
    assert end_of(items).reason == "awaiting_approval"
    return items[0].session_id, of_type(items, ev.ApprovalRequested)[0].call_id


# --- A1


class Records:
    """Whatever a tool changes: what ran, and with which arguments."""

    def __init__(self) -> None:
        self.ran: list[dict[str, Any]] = []

    def tool(self, **settings: Any) -> Tool:
        async def write(**arguments: Any) -> str:
            self.ran.append(arguments)
            return "written"

        schema = {
            "properties": {
                "text": {"type": "string"},
                "amount": {"type": "number"},
                "lines": {"type": "array", "items": {"type": "string"}},
            }
        }
        return Tool.from_schema("write", "Writes.", schema, write, tier=Tier.WRITE, **settings)


SHOWN: dict[str, Any] = {"text": "pay 19", "amount": 100, "lines": ["a", "b"]}
CHANGES: list[dict[str, Any]] = [
    {"text": "pay 18"},
    {"text": "pay 19 "},
    {"text": " pay 19"},
    {"text": "Pay 19"},
    {"text": "pay 1９"},
    {"text": "pay 19\u200b"},
    {"amount": 101},
    {"amount": 100.5},
    {"amount": 10},
    {"amount": -100},
    {"lines": ["b", "a"]},
    {"lines": ["a"]},
    {"lines": ["a", "b", "b"]},
    {"lines": []},
    {"note": "one more"},
    {"text": None},
]


def with_arguments(known: Tool, change: dict[str, Any]) -> Tool:
    """A tool whose validation makes something else of the same text: what another version of the code may do."""
    inner = known.arguments

    def validate(raw: dict[str, Any]) -> dict[str, Any]:
        return {key: value for key, value in {**inner.validate(raw), **change}.items() if value is not None}

    return replace(known, arguments=replace(inner, validate=validate))


@pytest.mark.parametrize("change", CHANGES, ids=str)
async def test_a1_arguments_that_mean_something_else_after_a_resume_are_asked_anew_and_do_not_run(
    change: dict[str, Any],
) -> None:
    records = Records()
    known = records.tool()
    loop, model = loop_over([("write", SHOWN)], tools=[known])
    session_id, call_id = await question_of(loop)
    await loop.decide(session_id, call_id, approve=True)
    later, other = loop_over("done", tools=[with_arguments(known, change)], store=loop.store, auto_approve=("WRITE",))
    after = await collect(later.resume(session_id))
    (question,) = of_type(after, ev.ApprovalRequested)
    assert question.why == "changed", "also where the configuration would allow it: a person was shown something else"
    assert end_of(after).reason == "awaiting_approval"
    assert records.ran == []
    await later.decide(session_id, call_id, approve=True)
    assert end_of(await collect(later.resume(session_id))).completed
    assert len(records.ran) == 1
    assert json.loads(question.arguments) == records.ran[0], "what was shown the second time is what ran"
    await check_session(later, session_id, model, other)


@pytest.mark.parametrize("hook", ["preview", "versions", "target", "reads", "writes"])
async def test_a1_a_hook_that_changes_the_arguments_it_is_given_changes_nothing_that_runs(hook: str) -> None:
    records = Records()

    def spoil(lines: list[str]) -> None:
        lines.append("and 1000 more")
        lines.reverse()

    async def preview(lines: list[str], **others: Any) -> ev.Preview:
        spoil(lines)
        return ev.Preview("Write")

    async def versions(lines: list[str], **others: Any) -> dict[str, str]:
        spoil(lines)
        return {"r": "1"}

    def target(lines: list[str], **others: Any) -> str:
        spoil(lines)
        return "r"

    def keys(lines: list[str], **others: Any) -> list[str]:
        spoil(lines)
        return ["r"]

    hooks: dict[str, Any] = {"preview": preview, "versions": versions, "target": target, "reads": keys, "writes": keys}
    loop, model = loop_over([("write", SHOWN)], "done", tools=[records.tool(**{hook: hooks[hook]})])
    session_id, call_id = await question_of(loop)
    await loop.decide(session_id, call_id, approve=True)
    assert end_of(await collect(loop.resume(session_id))).completed
    assert records.ran == [SHOWN]
    await check_session(loop, session_id, model)


async def test_a1_a_validation_that_never_gives_the_same_twice_is_shown_each_time_and_runs_never() -> None:
    records, numbers = Records(), itertools.count()
    known = records.tool()
    inner = known.arguments
    drifting = replace(
        known,
        arguments=replace(inner, validate=lambda raw: {**inner.validate(raw), "amount": next(numbers)}),
    )
    loop, _ = loop_over([("write", SHOWN)], tools=[drifting], auto_approve=("WRITE",))
    async with asyncio.timeout(5):
        session_id, call_id = await question_of(loop)
        for _ in range(3):
            await loop.decide(session_id, call_id, approve=True)
            after = await collect(loop.resume(session_id))
            assert end_of(after).reason == "awaiting_approval"
            assert of_type(after, ev.ApprovalRequested)[0].why == "changed"
    assert records.ran == []


@pytest.mark.parametrize("change", CHANGES[:12], ids=str)
async def test_a1_edited_arguments_are_what_is_shown_and_what_runs(change: dict[str, Any]) -> None:
    records = Records()
    loop, model = loop_over([("write", SHOWN)], "done", tools=[records.tool()])
    session_id, call_id = await question_of(loop)
    await loop.decide(session_id, call_id, approve=True, arguments={**SHOWN, **change})
    again = await collect(loop.resume(session_id))
    (question,) = of_type(again, ev.ApprovalRequested)
    assert json.loads(question.arguments) == {**SHOWN, **change}
    assert records.ran == []
    with pytest.raises(Refused):  # an answer for what stood there before is none for this
        await loop.decide(session_id, "other", approve=True)
    await loop.decide(session_id, call_id, approve=True)
    assert end_of(await collect(loop.resume(session_id))).completed
    assert records.ran == [{**SHOWN, **change}]
    await check_session(loop, session_id, model)


async def test_a1_arguments_mended_on_the_way_in_are_shown_as_they_run() -> None:
    records = Records()
    model = ScriptedModel([[("write", "{'text': 'pay 19', 'amount': 100, 'lines': ['a', 'b'],}")], "done"])
    loop, _ = loop_over(model=model, tools=[records.tool()])
    items = await collect(loop.run("go"))
    (question,) = of_type(items, ev.ApprovalRequested)
    assert json.loads(question.arguments) == SHOWN
    await loop.decide(items[0].session_id, question.call_id, approve=True)
    await collect(loop.resume(items[0].session_id))
    assert records.ran == [SHOWN]


# --- A4


async def test_a4_what_changed_in_the_erp_after_the_yes_is_shown_afresh_before_anything_runs() -> None:
    records, version = Records(), ["1"]

    async def preview(**arguments: Any) -> ev.Preview:
        return ev.Preview(f"Write over version {version[0]}", (ev.Change("price", version[0], "19"),))

    async def versions(**arguments: Any) -> dict[str, str]:
        return {"product:a": version[0]}

    loop, model = loop_over(
        [("write", SHOWN)], "done", tools=[records.tool(preview=preview, versions=versions, target=lambda **_: "a")]
    )
    session_id, call_id = await question_of(loop)
    for number in ("2", "3"):
        await loop.decide(session_id, call_id, approve=True)
        version[0] = number
        after = await collect(loop.resume(session_id))
        (question,) = of_type(after, ev.ApprovalRequested)
        assert (question.why, question.versions) == ("changed", {"product:a": number})
        assert question.preview.title == f"Write over version {number}"
        assert end_of(after).reason == "awaiting_approval"
        assert records.ran == []
    await loop.decide(session_id, call_id, approve=True)
    assert end_of(await collect(loop.resume(session_id))).completed
    assert records.ran == [SHOWN]
    await check_session(loop, session_id, model)


@pytest.mark.parametrize("trouble", ["raises", "hangs", "returns nonsense"])
async def test_a4_where_the_records_cannot_be_looked_at_nothing_runs(trouble: str) -> None:
    records, broken = Records(), [False]

    async def versions(**arguments: Any) -> Any:
        if broken[0] and trouble == "raises":
            raise RuntimeError("down")
        if broken[0] and trouble == "hangs":
            await asyncio.sleep(3600)
        return {"a": object()} if broken[0] else {"a": "1"}

    loop, model = loop_over([("write", SHOWN)], "done", tools=[records.tool(versions=versions, timeout=0.1)])
    session_id, call_id = await question_of(loop)
    await loop.decide(session_id, call_id, approve=True)
    broken[0] = True
    after = await collect(loop.resume(session_id))
    assert records.ran == []
    assert list(errors(after).values()) == ["execution"]
    assert end_of(after).completed, "the model is told that it cannot be shown"
    await check_session(loop, session_id, model)


async def test_a4_a_grant_does_not_stand_in_for_a_look_at_what_changed() -> None:
    records, version = Records(), ["1"]

    async def versions(**arguments: Any) -> dict[str, str]:
        return {"a": version[0]}

    known = records.tool(versions=versions, target=lambda **_: "a")
    loop, _ = loop_over([("write", SHOWN)], "one", [("write", SHOWN)], "two", tools=[known])
    session_id, call_id = await question_of(loop)
    await loop.decide(session_id, call_id, approve=True, always=True)
    version[0] = "2"
    after = await collect(loop.resume(session_id))
    assert of_type(after, ev.ApprovalRequested)[0].why == "changed"
    assert end_of(after).reason == "awaiting_approval"
    assert records.ran == []


async def test_a4_an_answer_after_the_deadline_is_refused_and_the_result_says_expired(erp: ErpDouble) -> None:
    now = [1_760_000_000.0]
    loop, model = loop_over(
        [ORDER], [ORDER], "done", tools=erp.tools(), clock=lambda: now[0], approval_seconds=3600.0, max_seconds=None
    )
    session_id, call_id = await question_of(loop)
    now[0] += 3600
    answers: list[dict[str, Any]] = [
        {"approve": True},
        {"approve": False},
        {"approve": True, "always": True},
        {"approve": True, "arguments": {"sku": "a", "quantity": 1}},
    ]
    for answer in answers:
        with pytest.raises(Refused, match="expired"):
            await loop.decide(session_id, call_id, **answer)
    again = await collect(loop.resume(session_id))
    assert errors(again) == {call_id: "expired"}
    assert results(model)[0]["error"]["type"] == "expired"
    fresh = of_type(again, ev.ApprovalRequested)
    assert len(fresh) == 1, "the model asked anew, so it is shown anew"
    assert erp.effects() == []
    await loop.decide(session_id, fresh[0].call_id, approve=True)
    assert end_of(await collect(loop.resume(session_id))).completed
    assert len(erp.effects()) == 1


async def test_a_decision_days_later_and_after_restarts_counts(erp: ErpDouble, tmp_path: Path) -> None:
    now = [1_760_000_000.0]

    async def program(*turns: Any) -> AgentLoop:
        loop, _ = loop_over(
            *turns, tools=erp.tools(), store=SqliteStore(tmp_path / "log.db"), clock=lambda: now[0], max_seconds=60.0
        )
        return loop

    first = await program([ORDER])
    session_id, call_id = await question_of(first)
    await first.aclose()
    now[0] += 5 * 86_400
    second = await program()
    assert await collect(second.resume(session_id)) == []
    await second.decide(session_id, call_id, approve=True, by="phone")
    await second.aclose()
    now[0] += 5 * 86_400
    third = await program("done")
    after = await collect(third.resume(session_id))
    assert end_of(after).completed, "ten days of waiting are no time at work"
    assert len(erp.effects()) == 1
    await third.aclose()


@pytest.mark.parametrize("before", ["the question", "the answer"])
async def test_a4_after_a_rollback_an_answer_is_refused_and_what_was_answered_does_not_run(
    erp: ErpDouble, before: str
) -> None:
    loop, model = loop_over([ORDER], "done", tools=erp.tools())
    session_id, call_id = await question_of(loop)
    log = await log_of(loop.store, session_id)
    place = next(item.seq or 0 for item in log if isinstance(item.event, ev.UserMessage | ev.ApprovalRequested))
    if before == "the answer":
        place = next(item.seq or 0 for item in log if isinstance(item.event, ev.ApprovalRequested))
        await loop.decide(session_id, call_id, approve=True)
    await loop.rollback(session_id, place)
    with pytest.raises(Refused):
        await loop.decide(session_id, call_id, approve=before != "the answer")
    after = await collect(loop.resume(session_id))
    assert end_of(after).completed
    assert erp.effects() == []
    await check_session(loop, session_id, model)


# --- A5


@pytest.mark.parametrize("words", [None, "not this week, 下周再说"])
async def test_a5_each_call_waits_for_its_own_answer_and_a_read_is_kept(erp: ErpDouble, words: str | None) -> None:
    loop, model = loop_over([READ, ORDER, DELETE], "done", tools=erp.tools())
    items = await collect(loop.run("go"))
    session_id = items[0].session_id
    calls = {event.tool: event.call_id for event in of_type(items, ev.ApprovalRequested)}
    assert set(calls) == {"create_order", "delete_order"}
    await loop.decide(session_id, calls["create_order"], approve=False, reason=words)
    half = await collect(loop.resume(session_id))
    assert not any(isinstance(item.event, ev.AssistantMessage) for item in half), "the model waits for all answers"
    assert erp.effects() == []
    state = await loop.state(session_id)
    assert [call.call.name for call in state.open_calls()] == ["delete_order"], "the third is still asked"
    await loop.decide(session_id, calls["delete_order"], approve=True)
    after = await collect(loop.resume(session_id))
    assert end_of(after).completed
    assert [effect.tool for effect in erp.effects()] == ["delete_order"]
    assert len(erp.requests("read_stock")) == 1
    read, denied, deleted = results(model)
    assert (read["on_hand"], deleted["deleted"]) == (7, 1)
    assert denied["error"]["type"] == "denied"
    assert words is None or words in denied["error"]["message"]
    await check_session(loop, session_id, model)


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
async def test_a5_answers_may_come_in_any_order_and_results_keep_that_of_the_calls(
    erp: ErpDouble, order: tuple[int, ...]
) -> None:
    calls = [("create_order", {"sku": sku, "quantity": 1}) for sku in "abc"]
    loop, model = loop_over(calls, "done", tools=erp.tools())
    items = await collect(loop.run("go"))
    session_id = items[0].session_id
    ids = [event.call_id for event in of_type(items, ev.ApprovalRequested)]
    for place in order:
        await loop.decide(session_id, ids[place], approve=place != 1, reason=f"answer {place}")
        await collect(loop.resume(session_id))
    assert [json.loads(effect.arguments)["sku"] for effect in erp.effects()] == [
        "abc"[place] for place in order if place != 1
    ]
    first, second, third = results(model)
    assert "order" in first
    assert "order" in third
    assert "answer 1" in second["error"]["message"]
    await check_session(loop, session_id, model)


async def test_a5_stopping_while_the_second_question_is_open_keeps_what_is_known_and_answers_the_rest(
    erp: ErpDouble,
) -> None:
    loop, model = loop_over([READ, ORDER, DELETE], "fine", tools=erp.tools())
    items = await collect(loop.run("go"))
    session_id = items[0].session_id
    calls = {event.tool: event.call_id for event in of_type(items, ev.ApprovalRequested)}
    await loop.decide(session_id, calls["create_order"], approve=True)
    seen: list[ev.Recorded] = []
    async for item in loop.resume(session_id):
        seen.append(item)
        if isinstance(item.event, ev.ToolCallStarted):
            await loop.interrupt(session_id, by="boss")
    after = await collect(loop.run("leave it", session_id))
    assert end_of(after).completed
    log = await log_of(loop.store, session_id)
    kinds = {done.tool: done.error.type if done.error else None for done in of_type(log, ev.ToolCallFinished)}
    assert kinds["read_stock"] is None
    assert kinds["create_order"] in (None, "uncertain")
    assert kinds["delete_order"] == "cancelled"
    assert len(erp.requests("read_stock")) == 1
    assert len(erp.effects()) <= 1
    with pytest.raises(Refused):
        await loop.decide(session_id, calls["delete_order"], approve=True)
    await check_session(loop, session_id, model)


async def test_a_model_that_is_denied_reads_the_words_and_goes_another_way(erp: ErpDouble) -> None:
    def other_way(messages: Any) -> Any:
        told = next(message.content or "" for message in reversed(messages) if message.role == "tool")
        return [("create_order", {"sku": "a", "quantity": 1})] if "only one" in told else "lost"

    loop, model = loop_over([ORDER], other_way, "done", tools=erp.tools())
    session_id, call_id = await question_of(loop)
    await loop.decide(session_id, call_id, approve=False, reason="only one please", by="boss")
    again = await collect(loop.resume(session_id))
    (question,) = of_type(again, ev.ApprovalRequested)
    assert question.preview.title == "Order 1 x a"
    await loop.decide(session_id, question.call_id, approve=True)
    assert end_of(await collect(loop.resume(session_id))).completed
    assert [effect.arguments for effect in erp.effects()] == ['{"quantity":1,"sku":"a"}']
    await check_session(loop, session_id, model)


# --- A3 and J2: grants in whole runs


def prices(ran: list[dict[str, Any]]) -> Tool:
    """``update_price`` as a shop would declare it: the price may vary, up to a limit."""

    async def preview(sku: str, price: str, customer: str | None = None, ctx: Any = None) -> ev.Preview:
        return ev.Preview(
            f"Price of {sku}",
            (ev.Change("price", "10.00", price, sku), ev.Change("customer", None, customer)),
            measures={"price": Decimal(price)},
        )

    @tool(tier=Tier.WRITE, preview=preview, target=lambda sku, **_: f"product:{sku}", varies=("price",))
    async def update_price(sku: str, price: str, ctx: ToolContext, customer: str | None = None) -> str:
        """Changes a price."""
        ran.append({"sku": sku, "price": price, "customer": customer})
        return f"{sku} costs {price} from attempt {len(ran)}"

    return update_price


GRANTED: dict[str, Any] = {"sku": "A1", "price": "12.50", "customer": "C-7"}
ATTACKS: dict[str, dict[str, Any]] = {
    "another product": {"sku": "A2"},
    "a product with a space": {"sku": "A1 "},
    "a product in other letters": {"sku": "a1"},
    "a product of look-alikes": {"sku": "А1"},
    "a hundred-fold price": {"price": "1250.00"},
    "a cent more": {"price": "12.51"},
    "a price below nothing": {"price": "-12.50"},
    "a price without end": {"price": "Infinity"},
    "a price that is none": {"price": "NaN"},
    "a price in another notation": {"price": "1E+3"},
    "another customer": {"customer": "C-8"},
    "every customer": {"customer": None},
    "a customer with an order behind": {"customer": "C-7; and C-8"},
}


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
async def test_j2_trust_in_one_change_covers_no_other_one(attack: dict[str, Any]) -> None:
    ran: list[dict[str, Any]] = []
    first, injected = ("update_price", GRANTED), ("update_price", {**GRANTED, **attack})
    loop, model = loop_over([first], "ok", [injected], "done", tools=[prices(ran)])
    session_id, call_id = await question_of(loop)
    await loop.decide(session_id, call_id, approve=True, always=True, by="boss")
    assert end_of(await collect(loop.resume(session_id))).completed
    after = await collect(loop.run("now what the remark says", session_id))
    assert len(ran) == 1
    asked = of_type(after, ev.ApprovalRequested)
    assert of_type(after, ev.ApprovalDecided) == []
    if asked:
        assert end_of(after).reason == "awaiting_approval"
        assert asked[0].preview.changes[0].after == {**GRANTED, **attack}["price"]
    else:
        assert set(errors(after).values()) <= {"validation", "execution"}
    await check_session(loop, session_id, model)


async def test_j2_what_was_granted_runs_unasked_and_names_its_grant_until_it_is_revoked_or_over() -> None:
    ran: list[dict[str, Any]] = []
    now = [1_760_000_000.0]
    cheaper = [("update_price", {**GRANTED, "price": price}) for price in ("11.00", "10.50", "10.00")]
    turns = [[("update_price", GRANTED)], "ok", [cheaper[0]], "ok", [cheaper[1]], "ok", [cheaper[2]], "ok"]
    loop, _ = loop_over(*turns, tools=[prices(ran)], clock=lambda: now[0], max_seconds=None)
    session_id, call_id = await question_of(loop)
    decided = await loop.decide(session_id, call_id, approve=True, always=True, by="boss")
    grant = of_type(decided, ev.TrustGranted)[0]
    assert (grant.tool, grant.target, grant.origin) == ("update_price", "product:A1", call_id)
    await collect(loop.resume(session_id))
    unasked = await collect(loop.run("cheaper", session_id))
    assert [one.grant_id for one in of_type(unasked, ev.ApprovalDecided)] == [grant.grant_id]
    assert len(ran) == 2
    fork = await loop.fork(session_id, (await loop.store.session(session_id)).head)
    assert (await loop.state(fork)).grants == {}
    now[0] += 86_401
    late = await collect(loop.run("cheaper", session_id))
    assert end_of(late).reason == "awaiting_approval", "a day later it is over"
    assert len(ran) == 2
    await loop.revoke(session_id, grant.grant_id, by="boss")
    with pytest.raises(Refused):
        await loop.revoke(session_id, grant.grant_id, by="boss")


@pytest.mark.parametrize("rule", [{"effect": "deny"}, {"effect": "ask"}, {"effect": "deny", "target": "product:*"}])
@pytest.mark.parametrize("scope", ["user", "project", "session"])
async def test_a3_a_later_rule_beats_a_standing_grant(rule: dict[str, Any], scope: Any) -> None:
    ran: list[dict[str, Any]] = []
    loop, _ = loop_over([("update_price", GRANTED)], "ok", tools=[prices(ran)])
    session_id, call_id = await question_of(loop)
    await loop.decide(session_id, call_id, approve=True, always=True)
    await collect(loop.resume(session_id))
    again = {**GRANTED, "price": "11.00"}
    rules = (Rule(tool="update_price", scope=scope, **rule), Rule(effect="allow", tool="*"))
    strict, _ = loop_over([("update_price", again)], "ok", tools=[prices(ran)], store=loop.store, rules=rules)
    after = await collect(strict.run("again", session_id))
    assert len(ran) == 1
    if rule["effect"] == "deny":
        assert list(errors(after).values()) == ["denied"]
    else:
        assert end_of(after).reason == "awaiting_approval"


async def test_a3_a_rule_that_comes_after_the_yes_still_wins(erp: ErpDouble) -> None:
    loop, _ = loop_over([ORDER], tools=erp.tools())
    session_id, call_id = await question_of(loop)
    await loop.decide(session_id, call_id, approve=True)
    rules = (Rule(effect="deny", tool="create_order", reason="Stock-taking today."),)
    strict, model = loop_over("ok", tools=erp.tools(), store=loop.store, rules=rules)
    after = await collect(strict.resume(session_id))
    assert list(errors(after).values()) == ["denied"]
    assert "Stock-taking today." in results(model)[0]["error"]["message"]
    assert erp.effects() == []


@pytest.mark.parametrize("allowing", [{"auto_approve": ("WRITE",)}, {"rules": (Rule(effect="allow", tool="*"),)}])
async def test_a3_nothing_in_advance_covers_a_dangerous_call(erp: ErpDouble, allowing: dict[str, Any]) -> None:
    loop, _ = loop_over([READ, ORDER, DELETE], "done", tools=erp.tools(), **allowing)
    items = await collect(loop.run("go"))
    assert end_of(items).reason == "awaiting_approval"
    assert [effect.tool for effect in erp.effects()] == ["create_order"]
    assert [event.tool for event in of_type(items, ev.ToolCallStarted)] == ["read_stock", "create_order"]
    state = await loop.state(items[0].session_id)
    assert [call.offer for call in state.open_calls()] == [None], "and nobody may say always to it"
    dangerous = state.open_calls()[0].call.id
    with pytest.raises(Refused):
        await loop.decide(items[0].session_id, dangerous, approve=True, always=True)


async def test_what_is_allowed_in_advance_is_released_with_the_rest_of_its_message_in_order(erp: ErpDouble) -> None:
    loop, model = loop_over([ORDER, READ], "done", tools=erp.tools(), auto_approve=("WRITE",))
    items = await collect(loop.run("go"))
    assert [event.tool for event in of_type(items, ev.ToolCallStarted)] == ["create_order", "read_stock"]
    names = types(items)
    started = [place for place, name in enumerate(names) if name == "ToolCallStarted"]
    assert started[1] == started[0] + 1, "together, before either has ended"
    await check_session(loop, items[0].session_id, model)


# --- X4


ROUNDS = 200


def answer_all(path: str, sessions: list[tuple[str, str]], approve: bool, begin: float, pace: float, out: str) -> None:
    """In a process of its own: answers each question at its appointed moment, twice, and leaves what it was told."""

    async def work() -> list[dict[str, Any]]:
        loop, _ = loop_over(store=SqliteStore(path))
        said: list[dict[str, Any]] = []
        for number, (session_id, call_id) in enumerate(sessions):
            moment = begin + pace * number
            await asyncio.sleep(max(0.0, moment - time.time() - 0.002))
            while time.time() < moment:
                pass
            told: list[Any] = []
            for _ in range(2):
                try:
                    events = await loop.decide(session_id, call_id, approve=approve, by="cli" if approve else "page")
                    told.append(len(events))
                except Refused as error:
                    told.append(str(error))
            said.append({"told": told})
        await loop.aclose()
        return said

    Path(out).write_text(json.dumps(asyncio.run(work())))


@pytest.mark.slow
async def test_x4_of_two_processes_that_answer_in_the_same_millisecond_one_stands_and_the_other_is_told(
    erp: ErpDouble, tmp_path: Path
) -> None:
    path = tmp_path / "log.db"
    sessions: list[tuple[str, str]] = []
    store = SqliteStore(path)
    for _ in range(ROUNDS):
        loop, _ = loop_over([ORDER], tools=erp.tools(), store=store)
        sessions.append(await question_of(loop))
    begin = time.time() + 2.0
    children = [
        processes.start(answer_all, str(path), sessions, approve, begin, 0.02, str(tmp_path / f"{approve}.json"))
        for approve in (True, False)
    ]
    codes = await asyncio.gather(*(asyncio.to_thread(processes.finish, child, 90.0) for child in children))
    assert list(codes) == [0, 0]
    said = {word: json.loads((tmp_path / f"{approve}.json").read_text()) for approve, word in WORDS.items()}
    after, _ = loop_over(*["done"] * ROUNDS, tools=erp.tools(), store=store)
    won = {"approved": 0, "denied": 0}
    for number, (session_id, call_id) in enumerate(sessions):
        (decision,) = of_type(await log_of(store, session_id), ev.ApprovalDecided)
        won[decision.decision] += 1
        winner, loser = said[decision.decision][number]["told"], said[_other(decision.decision)][number]["told"]
        assert winner == [1, 0], "the same answer again is harmless"
        assert all(isinstance(words, str) and f"{decision.decision} by {decision.by}" in words for words in loser)
        assert decision.call_id == call_id
        items = await collect(after.resume(session_id))
        assert end_of(items).completed
        assert (list(errors(items).values()) == ["denied"]) is (decision.decision == "denied")
    assert len(erp.effects()) == won["approved"], "the effects follow the decisions"
    assert {effect.key.split(".")[0] for effect in erp.effects()} <= {session_id for session_id, _ in sessions}
    await store.aclose()


WORDS = {True: "approved", False: "denied"}


def _other(word: str) -> str:
    return "denied" if word == "approved" else "approved"


async def test_x4_a_yes_with_other_arguments_a_trust_and_a_no_at_once_leave_one_decision(erp: ErpDouble) -> None:
    for _ in range(20):
        loop, _ = loop_over([ORDER], tools=erp.tools(), store=MemoryStore())
        session_id, call_id = await question_of(loop)
        answers = await asyncio.gather(
            loop.decide(session_id, call_id, approve=True, arguments={"sku": "a", "quantity": 1}),
            loop.decide(session_id, call_id, approve=True, always=True),
            loop.decide(session_id, call_id, approve=False),
            return_exceptions=True,
        )
        log = await log_of(loop.store, session_id)
        assert len(of_type(log, ev.ApprovalDecided)) == 1
        assert sum(isinstance(answer, list) and bool(answer) for answer in answers) == 1
        assert all(isinstance(answer, Refused | list) for answer in answers)
        granted = of_type(log, ev.TrustGranted)
        assert len(granted) == int(isinstance(answers[1], list) and bool(answers[1]))
