"""Whole sessions whose context is compacted: by a model, without one, after an overflow, on a wish, across a crash."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from agent_core import AgentLoop, ContextPolicy, LoopConfig, Message, ModelError, Price, SqliteStore, Tier, Usage, tool
from agent_core import events as ev
from agent_core.context.calibration import Calibrations
from agent_core.redecide import read_log, redecide
from agent_core.store.base import EventStore
from agent_core.summarising import Summariser
from agent_core.testing import MemoryStore, ScriptedModel
from agent_core.testing.failpoints import SimulatedCrash, armed
from tests.support.loops import QUICK, check_session, collect, end_of, loop_over, of_type

POLICY = ContextPolicy(budget_tokens=3000)
WORDS = "word " * 120
SUMMARY = "They counted to twelve.\nFACTS\n- promised Li 12.50 for number 3\n- promised Wu 99.99\n"


async def talk(loop: AgentLoop, turns: int, session_id: str | None = None, first: int = 0) -> list[ev.Recorded]:
    """So many questions with long answers."""
    items: list[ev.Recorded] = []
    for number in range(first, first + turns):
        items += await collect(loop.run(f"number {number}: 12.50 or not?", session_id))
        session_id = items[0].session_id
    return items


def agent(
    *turns: Any, summariser: ScriptedModel | None = None, store: EventStore | None = None, **more: Any
) -> tuple[AgentLoop, ScriptedModel]:
    model = ScriptedModel(turns)
    config = LoopConfig(system_prompt="Be brief.", retry=QUICK, context=more.pop("context", POLICY), **more)
    price = Price(input=Decimal(1), output=Decimal(2))
    made = None if summariser is None else Summariser(summariser, price)
    store = MemoryStore() if store is None else store
    return AgentLoop(model=model, store=store, config=config, summariser=made, price=price), model


async def test_a_model_sums_up_what_is_older_once_and_what_it_cost_counts() -> None:
    other = ScriptedModel([[SUMMARY, Usage(900, 40, 940)]], name="cheap", language_model=True)
    loop, model = agent(*[f"{number} {WORDS}" for number in range(18)], summariser=other)
    items = await talk(loop, 18)
    made = of_type(items, ev.ContextCompacted)
    assert [event.kind for event in made] == ["summarised"]
    assert made[0].usage == Usage(900, 40, 940)
    assert made[0].cost == ev.Cost(Decimal("0.00098"), "USD")
    assert "promised Li 12.50 for number 3" in made[0].pinned
    assert not any("99.99" in fact for fact in made[0].pinned), "a figure that nobody said is no fact"
    (asked,) = other.requests
    assert asked.tools == ()
    assert [message.role for message in asked.messages] == ["system", "user"]
    assert "[Person] number 0" in (asked.messages[1].content or "")
    front = model.requests[-1].messages[1].content or ""
    assert "They counted to twelve." in front
    place = items.index(next(item for item in items if item.event is made[0]))
    end = next(item.event for item in items[place:] if isinstance(item.event, ev.LoopEnd))
    assert end.usage == Usage(900, 40, 940)
    log = await read_log(loop.store, items[0].session_id)
    assert redecide(*log) == []
    await check_session(loop, items[0].session_id, model)


async def test_the_model_in_use_sums_up_where_no_other_is_named() -> None:
    def turn(messages: Sequence[Message]) -> str:
        return SUMMARY if "keep the record" in (messages[0].content or "") else f"so be it {WORDS}"

    model = ScriptedModel([turn] * 30, language_model=True)
    loop = AgentLoop(model=model, config=LoopConfig(system_prompt="Be brief.", context=POLICY))
    items = await talk(loop, 20)
    assert {event.kind for event in of_type(items, ev.ContextCompacted)} == {"summarised"}
    later = of_type(items, ev.ContextCompacted)[-1]
    assert any("conversation began with: number 0" in fact for fact in later.pinned), "the goal outlives each summary"


async def test_a_summary_that_fails_twice_ends_in_dropping_and_the_conversation_goes_on() -> None:
    broken = ScriptedModel([ModelError("timeout", "slow"), "   ", "   "], language_model=True)
    loop, model = agent(*[f"{number} {WORDS}" for number in range(18)], summariser=broken)
    items = await talk(loop, 18)
    failed = of_type(items, ev.SummaryFailed)
    assert [event.kind for event in failed] == ["timeout", "unusable"]
    assert failed[1].to_seq < failed[0].to_seq, "the second time with less"
    assert [event.kind for event in of_type(items, ev.ContextCompacted)] == ["dropped"]
    assert "could not be summarised" in (model.requests[-1].messages[1].content or "")
    assert len(broken.requests) == 2
    assert of_type(items, ev.LoopEnd)[-1].completed
    assert redecide(*await read_log(loop.store, items[0].session_id)) == []
    await check_session(loop, items[0].session_id, model)


@pytest.mark.parametrize("place", ["summarised:ContextCompacted", "before_append:ContextCompacted+StepStarted"])
async def test_a_crash_during_a_compaction_leaves_one_summary_of_the_range(place: str, tmp_path: Path) -> None:
    answers = [f"{number} {WORDS}" for number in range(18)]
    store = SqliteStore(tmp_path / "log.db")
    first = ScriptedModel([SUMMARY] * 2, language_model=True)
    loop, _ = agent(*answers, summariser=first, store=store)
    items = await talk(loop, 10)
    session_id = items[0].session_id
    with armed(place), pytest.raises(SimulatedCrash):
        await talk(loop, 8, session_id, first=10)
    await store.aclose()
    second = ScriptedModel([SUMMARY] * 2, language_model=True)
    again, _ = agent("so be it", summariser=second, store=SqliteStore(tmp_path / "log.db"))
    rest = await collect(again.resume(session_id))
    assert end_of(rest).completed
    log = await check_session(again, session_id)
    assert len(of_type(log, ev.ContextCompacted)) == 1
    assert redecide(*await read_log(again.store, session_id)) == []
    await again.aclose()


async def test_an_interrupt_ends_the_wait_for_a_summary() -> None:
    begun = asyncio.Event()

    class Slow(ScriptedModel):
        async def stream_chat(self, messages: Any, tools: Any = (), **options: Any) -> Any:
            begun.set()
            await asyncio.sleep(60)
            yield None

    loop, _ = agent(*[f"{number} {WORDS}" for number in range(18)], summariser=Slow(language_model=True))
    items: list[ev.Recorded] = []

    async def going() -> None:
        for number in range(18):
            async for item in loop.run(f"number {number}", items[0].session_id if items else None):
                items.append(item)
            if of_type(items, ev.LoopEnd)[-1].reason == "interrupted":
                return

    task = asyncio.create_task(going())
    async with asyncio.timeout(30):
        await begun.wait()
    await loop.interrupt(items[0].session_id)
    await task
    assert of_type(items, ev.ContextCompacted) == []
    assert of_type(items, ev.LoopEnd)[-1].reason == "interrupted"


async def test_a_wish_to_compact_while_a_question_is_open_leaves_the_question() -> None:
    done: list[str] = []

    @tool(tier=Tier.WRITE)
    async def change(key: str) -> str:
        """Changes something."""
        done.append(key)
        return "changed"

    turns = [f"one {WORDS}", f"two {WORDS}", [("change", {"key": "a"})], "done"]
    loop, model = loop_over(*turns, tools=[change])
    items = await talk(loop, 3)
    session_id = items[0].session_id
    (compacted,) = await collect(loop.compact(session_id, by="boss"))
    assert isinstance(compacted.event, ev.ContextCompacted)
    assert (compacted.event.kind, compacted.event.by) == ("summarised", "boss")
    (question,) = of_type(items, ev.ApprovalRequested)
    await loop.decide(session_id, question.call_id, approve=True, by="boss")
    rest = await collect(loop.resume(session_id))
    assert end_of(rest).completed
    assert done == ["a"]
    assert [message.role for message in model.requests[-1].messages] == [
        *("system", "user", "assistant"),
        *("user", "assistant", "tool"),
    ]
    assert redecide(*await read_log(loop.store, session_id)) == []
    await check_session(loop, session_id, model)
    assert len(await collect(loop.compact(session_id))) <= 1


async def test_a_wish_to_compact_a_single_turn_changes_nothing() -> None:
    loop, _ = loop_over("one")
    items = await talk(loop, 1)
    assert await collect(loop.compact(items[0].session_id)) == []


# --- overflow


def _too_long() -> ModelError:
    return ModelError(
        "context_overflow", "The endpoint says that the conversation is too long.", remedy="compact_history"
    )


async def test_an_overflow_leads_to_one_harder_compaction_and_one_retry() -> None:
    turns: list[Any] = [*[f"{number} {WORDS}" for number in range(8)], _too_long(), "shorter now", "and on"]
    loop, model = agent(*turns, context=ContextPolicy())
    items = await talk(loop, 10)
    session_id = items[0].session_id
    (failed,) = of_type(items, ev.ModelAttemptFailed)
    assert (failed.kind, failed.wait, failed.remedy) == ("context_overflow", 0.0, "compact_history")
    assert of_type(items, ev.ContextCompacted)
    sent = [event.estimated_tokens for event in of_type(items, ev.StepStarted)]
    assert sent[9] < 0.5 * sent[8]
    assert all(end.completed for end in of_type(items, ev.LoopEnd))
    assert redecide(*await read_log(loop.store, session_id)) == []
    await check_session(loop, session_id)
    assert model.remaining == 0


async def test_a_second_overflow_of_a_step_ends_the_run_instead_of_going_round() -> None:
    turns: list[Any] = [*[f"{number} {WORDS}" for number in range(8)], _too_long(), _too_long()]
    loop, model = agent(*turns, context=ContextPolicy())
    items = await talk(loop, 9)
    end = of_type(items, ev.LoopEnd)[-1]
    assert (end.reason, model.remaining) == ("model_error", 0)
    assert len(of_type(items, ev.ModelAttemptFailed)) == 2
    assert redecide(*await read_log(loop.store, items[0].session_id)) == []


async def test_an_overflow_where_nothing_can_go_is_told_in_a_sentence() -> None:
    loop, _ = agent(_too_long(), "ok", context=ContextPolicy())
    items = await collect(loop.run("q" * 3000))
    end = end_of(items)
    assert end.reason == "budget"
    assert "endpoint says" in (end.message or "")
    assert "Say it in less" in (end.message or "")


async def test_what_an_endpoint_was_found_to_take_is_remembered_for_the_next_session() -> None:
    calibrations = Calibrations()
    turns: list[Any] = [*[f"{number} {WORDS}" for number in range(8)], _too_long(), "ok"]
    config = LoopConfig(retry=QUICK)
    loop = AgentLoop(model=ScriptedModel(turns), config=config, calibrations=calibrations)
    items = await talk(loop, 9)
    too_long = of_type(items, ev.StepStarted)[8].estimated_tokens
    other = AgentLoop(
        model=ScriptedModel([f"{number} {WORDS}" for number in range(18)]), config=config, calibrations=calibrations
    )
    later = await talk(other, 18)
    assert max(event.estimated_tokens for event in of_type(later, ev.StepStarted)) <= 0.75 * too_long
    assert of_type(later, ev.ModelAttemptFailed) == []


# --- what is too large


@pytest.mark.parametrize("text", ["q" * 100_000, "问" * 100_000], ids=["en", "zh"])
async def test_a_question_that_is_larger_than_the_window_is_refused_unsent_and_the_session_goes_on(text: str) -> None:
    loop, model = loop_over("fine", "fine again")
    items = await collect(loop.run("hello"))
    session_id = items[0].session_id
    end = end_of(await collect(loop.run(text, session_id)))
    assert (end.reason, end.completed) == ("budget", False)
    assert "The message takes about" in (end.message or "")
    assert len(model.requests) == 1
    assert await collect(loop.resume(session_id)) != [], "going on says the same"
    assert len(model.requests) == 1
    assert end_of(await collect(loop.run("shorter", session_id))).completed
    assert redecide(*await read_log(loop.store, session_id)) == []


async def test_a_result_of_ten_megabytes_does_not_wedge_the_session() -> None:
    @tool(max_output=20_000_000)
    async def flood() -> str:
        """Far too much."""
        return "0123456789" * 1_000_000

    loop, model = loop_over([("flood", {})], "that was much", "and on", tools=[flood], context=ContextPolicy())
    items = await collect(loop.run("go"))
    assert end_of(items).completed
    assert of_type(items, ev.ToolCallFinished)[0].content == "0123456789" * 1_000_000, "the log has it whole"
    assert max(event.estimated_tokens for event in of_type(items, ev.StepStarted)) <= 24_000
    assert "10000000 characters in all" in (model.requests[1].messages[-1].content or "")
    assert end_of(await collect(loop.run("and now?", items[0].session_id))).completed
    await check_session(loop, items[0].session_id, model)


async def test_three_hundred_results_in_one_message_fit_together() -> None:
    @tool(max_output=9000)
    async def page(number: int) -> str:
        """A page."""
        return f"page {number} " + "z" * 3000

    calls = [("page", {"number": number}) for number in range(300)]
    loop, model = loop_over(
        calls, "read", tools=[page], max_calls_per_step=300, max_calls=300, context=ContextPolicy(budget_tokens=32_000)
    )
    items = await collect(loop.run("go"))
    assert end_of(items).completed
    assert max(event.estimated_tokens for event in of_type(items, ev.StepStarted)) <= 32_000
    results = [message for message in model.requests[-1].messages if message.role == "tool"]
    assert len(results) == 300
    assert all((message.content or "").startswith(f"page {number}") for number, message in enumerate(results))
    await check_session(loop, items[0].session_id, model)


# --- how tokens are counted


def _counting(wide: float, latin: float) -> Any:
    """A turn that reports what a tokeniser would have counted."""

    def turn(messages: Sequence[Message]) -> Any:
        text = "".join(message.content or "" for message in messages)
        chinese = sum("\u4e00" <= character <= "\u9fff" for character in text)
        tokens = int(chinese * wide + (len(text) - chinese) * latin + 4 * len(messages))
        return [f"库存还有七件。 {WORDS}", Usage(tokens, 20, tokens + 20)]

    return turn


async def test_what_a_model_reports_makes_later_estimates_right_and_is_kept(tmp_path: Path) -> None:
    turn = _counting(0.6, 0.22)
    path = tmp_path / "home" / "calibration.json"
    loop = AgentLoop(model=ScriptedModel([turn] * 6, name="m"), calibrations=Calibrations(path))
    items = await talk(loop, 6)
    begun = of_type(items, ev.RunStarted)
    assert begun[0].calibration == {}
    assert begun[-1].calibration["latin"] < 0.3
    later = AgentLoop(model=ScriptedModel([turn] * 4, name="m"), calibrations=Calibrations(path))
    items = await talk(later, 4)
    assert of_type(items, ev.RunStarted)[0].calibration == pytest.approx(begun[-1].calibration, rel=0.1)
    for sent, ended in zip(of_type(items, ev.StepStarted), of_type(items, ev.StepEnd), strict=True):
        assert ended.usage is not None
        reported = ended.usage.prompt_tokens or 0
        assert 0.97 * reported <= sent.estimated_tokens <= 1.1 * reported + 5
    another = AgentLoop(model=ScriptedModel([turn], name="another"), calibrations=Calibrations(path))
    assert of_type(await talk(another, 1), ev.RunStarted)[0].calibration == {}
