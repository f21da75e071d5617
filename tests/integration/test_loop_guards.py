"""Guards and limits: each one stops what it should, says so with its evidence, and leaves a log that goes on."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from typing import Any

import pytest

from agent_core import Price
from agent_core import events as ev
from agent_core.decide import LAST_STEP
from agent_core.messages import Usage
from agent_core.tools.tool import Tier, tool
from tests.support.loops import check_session, collect, end_of, errors, loop_over, of_type, types

ran: list[str] = []


@tool
async def look_up(key: str) -> str:
    """Looks something up."""
    ran.append(key)
    return f"{key} is fine"


@tool(tier=Tier.WRITE)
async def change(key: str) -> str:
    """Changes something."""
    ran.append(f"change {key}")
    return "changed"


@pytest.fixture(autouse=True)
def _nothing_ran() -> None:
    ran.clear()


def same(times: int) -> list[Any]:
    return [("look_up", {"key": "a"})] * times


async def test_of_47_identical_calls_over_as_many_turns_two_run_one_is_refused_and_the_next_ends_the_run() -> None:
    loop, model = loop_over(*[same(1)] * 47, tools=[look_up], max_steps=60)
    items = await collect(loop.run("go"))
    finished = of_type(items, ev.ToolCallFinished)
    assert [event.error.type if event.error else None for event in finished] == [None, None, *["repeated_call"] * 2]
    assert len(of_type(items, ev.ToolCallStarted)) == len(ran) == 2
    guards = of_type(items, ev.GuardTripped)
    assert [(guard.guard, guard.action) for guard in guards] == [
        ("repeated_call", "answered"),
        ("repeated_call", "ended"),
    ]
    assert guards[0].call_ids == (finished[2].call_id,)
    assert guards[0].evidence["runs"] == 2
    end = end_of(items)
    assert (end.reason, end.completed, end.steps) == ("guard", False, 4)
    assert model.remaining == 43
    await check_session(loop, items[0].session_id, model)


async def test_of_47_identical_calls_in_one_message_at_most_two_run_and_the_run_ends() -> None:
    loop, model = loop_over(same(47), tools=[look_up])
    items = await collect(loop.run("go"))
    assert len(ran) <= 2
    assert end_of(items).reason == "guard"
    finished = of_type(items, ev.ToolCallFinished)
    assert sorted(event.index for event in finished) == list(range(47)), "every call has its result"
    kinds = [errors(items).get(event.call_id) for event in sorted(finished, key=lambda event: event.index)]
    assert kinds[:2] == [None, None]
    assert kinds[2] == "repeated_call"
    assert set(kinds[3:]) <= {"repeated_call", "cancelled", "limit"}
    await check_session(loop, items[0].session_id, model)


async def test_a_result_that_changes_or_a_write_between_is_no_repeat() -> None:
    answers = iter(range(100))

    @tool
    async def count() -> str:
        """Counts."""
        return str(next(answers))

    changing, _ = loop_over(*[[("count", {})]] * 8, "done", tools=[count])
    assert end_of(await collect(changing.run("go"))).completed
    one, other = [("change", {"key": "b"})], [("change", {"key": "c"})]
    turns = [same(1), same(1), one, same(1), same(1), other, same(1), "done"]
    between, _ = loop_over(*turns, tools=[look_up, change], auto_approve=("WRITE",))
    items = await collect(between.run("go"))
    assert end_of(items).completed
    assert errors(items) == {}


async def test_other_arguments_are_another_call_and_other_spellings_are_not() -> None:
    turns = [[("look_up", {"key": str(n)})] for n in range(6)]
    loop, _ = loop_over(*turns, "done", tools=[look_up])
    assert end_of(await collect(loop.run("go"))).completed
    spelled = ['{"key":"a"}', '{ "key" : "a" }', '{"key":"\\u0061"}', '{"key": "a"}']
    loop, _ = loop_over(*[[("look_up", text)] for text in spelled], tools=[look_up])
    assert end_of(await collect(loop.run("go"))).reason == "guard"


async def test_going_round_in_a_circle_ends_like_a_repeat() -> None:
    circle = [[("look_up", {"key": key})] for key in ("a", "b")] * 10
    loop, model = loop_over(*circle, tools=[look_up])
    items = await collect(loop.run("go"))
    assert end_of(items).reason == "guard"
    assert len(ran) <= 4
    await check_session(loop, items[0].session_id, model)


async def test_steps_are_limited() -> None:
    loop, model = loop_over(*[[("look_up", {"key": str(n)})] for n in range(9)], tools=[look_up], max_steps=3)
    items = await collect(loop.run("go"))
    assert (end_of(items).reason, end_of(items).steps) == ("max_steps", 3)
    assert len(model.requests) == 3
    again = await collect(loop.resume(items[0].session_id))
    assert end_of(again).steps == 3, "resuming is a new run with a limit of its own"
    await check_session(loop, items[0].session_id, model)


async def test_before_its_last_turn_the_model_is_told_and_can_answer_with_what_it_has() -> None:
    looks = [[("look_up", {"key": str(n)})] for n in range(2)]
    loop, model = loop_over(*looks, "a is fine, the rest is missing", "next", tools=[look_up], max_steps=3)
    items = await collect(loop.run("go"))
    assert end_of(items).completed
    (guard,) = of_type(items, ev.GuardTripped)
    assert (guard.guard, guard.action, guard.evidence["step"]) == ("last_step", "warned", 2)
    first, second, last = model.requests
    assert [one.role for one in last.messages[-2:]] == ["tool", "user"]
    assert last.messages[-1].content == guard.evidence["note"] == LAST_STEP
    assert last.messages[: len(second.messages)] == second.messages
    assert first.tools == last.tools, "the tools are told of as before, so the prefix stays"
    await collect(loop.run("more", items[0].session_id))
    log = await check_session(loop, items[0].session_id, model)
    assert len(of_type(log, ev.GuardTripped)) == 1


async def test_a_model_that_calls_tools_all_the_same_ends_at_the_limit_and_may_go_on() -> None:
    looks = [[("look_up", {"key": str(n)})] for n in range(4)]
    loop, model = loop_over(*looks, "done", tools=[look_up], max_steps=3)
    items = await collect(loop.run("go"))
    assert end_of(items).reason == "max_steps"
    assert len(ran) == 3
    again = await collect(loop.resume(items[0].session_id))
    assert end_of(again).completed
    log = await check_session(loop, items[0].session_id, model)
    assert [event.guard for event in of_type(log, ev.GuardTripped)] == ["last_step"]


async def test_calls_of_one_message_are_limited_and_the_rest_is_answered() -> None:
    calls = [("look_up", {"key": str(n)}) for n in range(15)]
    loop, model = loop_over(calls, "done", tools=[look_up], max_calls_per_step=4)
    items = await collect(loop.run("go"))
    assert len(ran) == 4
    assert list(errors(items).values()) == ["limit"] * 11
    assert {guard.guard for guard in of_type(items, ev.GuardTripped)} == {"calls_per_step"}
    assert end_of(items).completed
    await check_session(loop, items[0].session_id, model)


async def test_calls_of_one_run_are_limited() -> None:
    turns = [[("look_up", {"key": f"{step}.{n}"}) for n in range(3)] for step in range(4)]
    loop, model = loop_over(*turns, "done", "again", tools=[look_up], max_calls=5)
    items = await collect(loop.run("go"))
    assert len(ran) == 5
    assert list(errors(items).values()) == ["limit"] * 7
    assert {guard.guard for guard in of_type(items, ev.GuardTripped)} == {"calls_per_run"}
    await check_session(loop, items[0].session_id, model)


async def test_calls_of_one_session_are_limited_over_its_runs() -> None:
    loop, _ = loop_over(
        [("look_up", {"key": "1"}), ("look_up", {"key": "2"})],
        "done",
        [("look_up", {"key": "3"}), ("look_up", {"key": "4"})],
        "done",
        tools=[look_up],
        max_calls_per_session=3,
    )
    items = await collect(loop.run("go"))
    more = await collect(loop.run("on", items[0].session_id))
    assert len(ran) == 3
    assert list(errors(more).values()) == ["limit"]


PRICE = Price(input=Decimal(10), output=Decimal(20), cached_input=Decimal(1), currency="CNY")


async def test_money_is_counted_exactly_and_limited() -> None:
    turns = [[("look_up", {"key": str(n)}), Usage(100_000, 10_000, 110_000)] for n in range(9)]
    loop, model = loop_over(*turns, tools=[look_up], price=PRICE, max_cost=Decimal("2.5"))
    items = await collect(loop.run("go"))
    end = end_of(items)
    assert end.reason == "budget"
    assert end.cost == ev.Cost(Decimal("3.6"), "CNY"), "1.2 a step; the third one is the last"
    assert [step.cost for step in of_type(items, ev.StepEnd)] == [ev.Cost(Decimal("1.2"), "CNY")] * 3
    assert end.message is not None
    assert "2.5 CNY" in end.message
    await check_session(loop, items[0].session_id, model)


def test_cached_tokens_have_their_price_and_what_is_not_reported_costs_nothing_known() -> None:
    assert PRICE.cost(Usage(1000, 100, cached_tokens=600)) == ev.Cost(Decimal("0.0066"), "CNY")
    assert PRICE.cost(Usage(1000, None)) is None
    assert PRICE.cost(Usage(1000, 0, cached_tokens=5000)) == ev.Cost(Decimal("0.001"), "CNY"), "never below zero"


async def test_tokens_are_limited() -> None:
    turns = [[("look_up", {"key": str(n)}), Usage(400, 100, 500)] for n in range(9)]
    loop, _ = loop_over(*turns, tools=[look_up], max_tokens=1000)
    end = end_of(await collect(loop.run("go")))
    assert (end.reason, end.steps) == ("budget", 2)
    assert end.usage == Usage(800, 200, 1000)


async def test_time_at_work_is_limited_and_waiting_for_people_is_not_counted() -> None:
    now = [1_760_000_000.0]

    @tool
    async def slow(key: str) -> str:
        """Takes ten seconds of the clock."""
        now[0] += 10
        await asyncio.sleep(0)
        return key

    turns = [[("slow", {"key": str(n)})] for n in range(9)]
    loop, _ = loop_over(*turns, tools=[slow], clock=lambda: now[0], max_seconds=25.0)
    items = await collect(loop.run("go"))
    assert end_of(items).reason == "budget"


async def test_an_empty_answer_is_asked_for_once_more() -> None:
    loop, model = loop_over("", "here it is", tools=[look_up])
    items = await collect(loop.run("go"))
    assert end_of(items).completed
    note = model.requests[1].messages[-1]
    assert note.role == "user"
    assert (note.content or "").startswith("[")
    hopeless, _ = loop_over("", "", tools=[look_up])
    assert end_of(await collect(hopeless.run("go"))).reason == "model_error"
    await check_session(loop, items[0].session_id, model)


async def test_every_limit_leaves_a_session_that_goes_on() -> None:
    limits: list[dict[str, Any]] = [{"max_steps": 1}, {"max_tokens": 1}, {"max_seconds": 0.0}]
    for limit in limits:
        loop, model = loop_over([("look_up", {"key": "a"}), Usage(5, 5, 10)], "next", "more", tools=[look_up], **limit)
        items = await collect(loop.run("go"))
        assert end_of(items).reason in ("max_steps", "budget")
        assert types(items)[-1] == "LoopEnd"
        generous, other = loop_over("fine", tools=[look_up], store=loop.store)
        after = await collect(generous.run("and now?", items[0].session_id))
        assert end_of(after).completed
        await check_session(generous, items[0].session_id, model, other)
