"""Messages, models that fail, long conversations, forks and rollbacks in whole runs."""

from __future__ import annotations

from typing import Any

import pytest

from agent_core import RetryPolicy
from agent_core import events as ev
from agent_core.config import ContextPolicy
from agent_core.context.front import STOPPED
from agent_core.errors import Busy, ModelError, Refused, UnknownSession
from agent_core.messages import TextDelta, TextWithdrawn
from agent_core.testing import MemoryStore, ScriptedModel
from agent_core.tools.tool import tool
from tests.support.loops import check_session, collect, end_of, loop_over, of_type, results, types
from tests.support.requests import log_of, rebuilt


@tool(max_output=2000)
async def report(number: int) -> str:
    """A report."""
    return f"report {number}: " + "库存 data " * 150


# --- messages


@pytest.mark.parametrize("text", ["", "   \n\t", "\x00", "a\x00b", "\ud800", "ok \udfff"])
async def test_a_message_that_is_no_text_is_refused_before_anything_is_stored(text: str) -> None:
    loop, model = loop_over("never")
    with pytest.raises(Refused):
        await collect(loop.run(text))
    assert await loop.store.sessions() == []
    assert model.requests == []


@pytest.mark.parametrize(
    "text", ["a", "\u200b\u202e\U000e0041", "e\u0301" * 2000, "x" * 1_000_000, "\r\n\t", "\x1b[31mred"]
)
async def test_any_other_text_is_stored_and_read_back_unchanged(text: str) -> None:
    if not text.strip():
        return
    loop, model = loop_over("ok")
    items = await collect(loop.run(text))
    said = of_type(await log_of(loop.store, items[0].session_id), ev.UserMessage)
    assert said[0].content == (ev.TextPart(text),)
    await check_session(loop, items[0].session_id, model)


async def test_an_unknown_session_is_said_to_be_unknown() -> None:
    loop, _ = loop_over("never")
    for use in (loop.run("hi", "nonsense"), loop.resume("nonsense")):
        with pytest.raises(UnknownSession, match="nonsense"):
            await collect(use)
    with pytest.raises(UnknownSession):
        await loop.decide("nonsense", "c1", approve=True)
    with pytest.raises(UnknownSession):
        await loop.interrupt("nonsense")
    assert await loop.store.sessions() == []


async def test_one_message_under_one_client_id_is_one_message() -> None:
    loop, model = loop_over("once", "never")
    items = await collect(loop.run("hi", client_message_id="m1"))
    session_id = items[0].session_id
    assert await collect(loop.run("hi", session_id, client_message_id="m1")) == []
    assert len(model.requests) == 1
    with pytest.raises(Refused, match="m1"):
        await collect(loop.run("other", session_id, client_message_id="m1"))
    log = await check_session(loop, session_id, model)
    assert len(of_type(log, ev.UserMessage)) == 1


async def test_a_repeat_goes_on_with_a_run_that_was_cut_short() -> None:
    failing = ModelError("auth", "The key was refused.")
    loop, model = loop_over([failing], "now it works")
    items = await collect(loop.run("hi", client_message_id="m1"))
    after = await collect(loop.run("hi", items[0].session_id, client_message_id="m1"))
    assert end_of(after).completed
    assert of_type(after, ev.UserMessage) == []
    await check_session(loop, items[0].session_id, model)


async def test_one_session_is_driven_once_at_a_time() -> None:
    loop, model = loop_over(model=ScriptedModel(["a slow answer", "another"], delay=0.02))
    other, _ = loop_over("never", store=loop.store)
    items = []
    async for item in loop.run("go"):
        items.append(item)
        if isinstance(item.event, ev.StepStarted):
            for rival in (loop, other):
                with pytest.raises(Busy):
                    await collect(rival.run("me too", item.session_id))
                with pytest.raises(Busy):
                    await collect(rival.resume(item.session_id))
    assert end_of(items).completed
    assert end_of(await collect(loop.run("now", items[0].session_id))).completed
    await check_session(loop, items[0].session_id, model)


async def test_what_is_volatile_is_frozen_into_the_message() -> None:
    loop, model = loop_over("ok", "ok")
    items = await collect(loop.run("hi", context=[ev.Frozen("today", "2026-11-30")]))
    await collect(loop.run("again", items[0].session_id))
    assert model.requests[0].messages[1].content == "hi\n\n[today: 2026-11-30]"
    assert model.requests[1].messages[1].content == "hi\n\n[today: 2026-11-30]"
    await check_session(loop, items[0].session_id, model)


@pytest.mark.parametrize("with_call", [False, True])
async def test_what_is_said_where_an_answer_was_due_begins_with_a_remark_and_the_assistant_says_no_word_of_it(
    with_call: bool,
) -> None:
    down = [ModelError("auth", "The key was refused.")]
    before: list[Any] = [[("report", {"number": 1})]] if with_call else []
    loop, model = loop_over(*before, down, "It is 7.", "Fine.", tools=[report])
    items = await collect(loop.run("how many?"))
    session_id = items[0].session_id
    assert end_of(items).reason == "model_error"
    await collect(loop.run("and now?", session_id))
    await collect(loop.run("thanks", session_id))
    *_, answered, last = model.requests
    assert [one.role for one in answered.messages] == [
        "system", "user", *(["assistant", "tool"] if with_call else []), "user"
    ]  # fmt: skip
    assert answered.messages[-1].content == f"{STOPPED}and now?"
    assert last.messages[-1].content == "thanks", "the question before it was answered"
    assert last.messages[: len(answered.messages)] == answered.messages
    await check_session(loop, session_id, model)


# --- models that fail


async def test_a_transient_failure_is_an_event_and_the_step_is_tried_again_as_a_whole() -> None:
    cut = ["half an ans", ModelError("stream_error", "cut", retryable=True)]
    loop, model = loop_over([ModelError("overloaded", "busy", retryable=True, status=503)], cut, "the whole answer")
    items = await collect(loop.run("go"))
    failed = of_type(items, ev.ModelAttemptFailed)
    assert [(event.attempt, event.kind, event.status, event.shown) for event in failed] == [
        (1, "overloaded", 503, False),
        (2, "stream_error", None, True),
    ]
    shown = [item.event for item in items if item.seq is None]
    assert [type(event) for event in shown] == [TextDelta, TextWithdrawn, TextDelta]
    assert of_type(items, ev.AssistantMessage)[0].content == "the whole answer"
    assert end_of(items).completed
    assert end_of(items).steps == 1
    assert [event.attempt for event in of_type(items, ev.StepStarted)] == [1, 2, 3]
    assert model.requests[0].messages == model.requests[1].messages == model.requests[2].messages
    await check_session(loop, items[0].session_id, model)


async def test_calls_of_a_stream_that_broke_are_never_run() -> None:
    ran: list[int] = []

    @tool
    async def note() -> str:
        """Takes a note."""
        ran.append(1)
        return "noted"

    broken = [("note", {}), ModelError("stream_truncated", "cut", retryable=True)]
    loop, model = loop_over(broken, "no call after all", tools=[note])
    items = await collect(loop.run("go"))
    assert ran == []
    assert end_of(items).completed
    await check_session(loop, items[0].session_id, model)


@pytest.mark.parametrize(
    "error",
    [ModelError("auth", "The key was refused."), ModelError("unreachable", "Nobody answers.", retryable=True)],
    ids=lambda error: error.kind,
)
async def test_a_model_that_stays_away_ends_the_run_and_nothing_is_lost(error: ModelError) -> None:
    loop, model = loop_over(*[[error]] * 3, "back again", retry=RetryPolicy(attempts=3, base=0.0))
    items = await collect(loop.run("go"))
    end = end_of(items)
    assert (end.reason, end.completed) == ("model_error", False)
    assert error.message in (end.message or "")
    tried = of_type(items, ev.ModelAttemptFailed)
    assert len(tried) == (3 if error.retryable else 1)
    assert tried[-1].wait is None
    session_id = items[0].session_id
    while model.remaining > 1:
        await collect(loop.resume(session_id))
    after = await collect(loop.resume(session_id))
    assert end_of(after).completed
    await check_session(loop, session_id, model)


async def test_waits_between_attempts_are_kept_and_can_be_interrupted() -> None:
    error = ModelError("rate_limit", "slow down", retryable=True, retry_after=30.0)
    loop, model = loop_over([error], "later")
    items = []
    async for item in loop.run("go"):
        items.append(item)
        if isinstance(item.event, ev.ModelAttemptFailed):
            assert item.event.wait is not None
            assert item.event.wait >= 30.0
            await loop.interrupt(item.session_id)
    assert end_of(items).reason == "interrupted"
    await check_session(loop, items[0].session_id, model)


async def test_a_program_error_in_the_model_client_ends_the_run_in_one_sentence_and_the_session_goes_on() -> None:
    def broken(messages: Any) -> Any:
        raise ZeroDivisionError("a bug")

    loop, model = loop_over(broken, "fine")
    items = await collect(loop.run("go"))
    assert (end_of(items).reason, end_of(items).message) == ("model_error", "The model client failed: a bug.")
    assert of_type(items, ev.StepEnd)[-1].outcome == "failed"
    after = await collect(loop.resume(items[0].session_id))
    assert end_of(after).completed
    await check_session(loop, items[0].session_id, model)


# --- long conversations


async def test_every_request_of_a_long_conversation_is_within_its_budget() -> None:
    turns = [
        turn for number in range(25) for turn in ([("report", {"number": number})], f"answer {number} " + "ok " * 40)
    ]
    policy = ContextPolicy(budget_tokens=5000)
    loop, model = loop_over(*turns, tools=[report], context=policy)
    session_id: str | None = None
    items: list[ev.Recorded] = []
    for number in range(25):
        items += await collect(loop.run(f"question {number}", session_id))
        session_id = items[0].session_id
    assert session_id is not None
    started = of_type(items, ev.StepStarted)
    assert len(started) == 50
    assert max(event.estimated_tokens for event in started) <= policy.budget_tokens
    compactions = of_type(items, ev.ContextCompacted)
    assert 3 <= len(compactions) <= 20, "now and then, in large steps"
    assert {event.kind for event in compactions} == {"masked", "summarised"}
    for request in model.requests:
        assert request.messages[0].role == "system"
        assert (request.messages[0].content or "").startswith("You are careful.")
    newest = [message.content for message in model.requests[-1].messages if message.role == "user"][-1]
    assert newest == "question 24"
    await check_session(loop, session_id, model)


async def test_the_log_of_a_long_run_grows_with_its_steps_and_not_with_their_square() -> None:
    async def stored(steps: int) -> int:
        turns = [[("report", {"number": number})] for number in range(steps)]
        loop, _ = loop_over(*turns, "done", tools=[report], max_steps=99, context=ContextPolicy(budget_tokens=10**6))
        items = await collect(loop.run("go"))
        requests = await rebuilt(loop.store, items[0].session_id)
        assert len(requests) == steps + 1
        sizes = sum(len(event.request.added) for event in of_type(items, ev.StepStarted))
        assert sizes == len(requests[-1][1]), "each message is named once"
        return sizes

    assert await stored(40) - await stored(20) == 40


async def test_a_single_result_that_is_too_large_is_clipped() -> None:
    @tool(max_output=60_000)
    async def flood() -> str:
        """Too much."""
        return "x" * 60_000

    loop, model = loop_over([("flood", {})], "ok", tools=[flood], context=ContextPolicy(budget_tokens=6000))
    items = await collect(loop.run("go"))
    assert [event.kind for event in of_type(items, ev.ContextCompacted)] == ["clipped"]
    assert "60000 characters in all" in results(model)[0]
    assert of_type(items, ev.StepStarted)[-1].estimated_tokens <= 6000
    await check_session(loop, items[0].session_id, model)


async def test_another_system_prompt_begins_another_run_and_the_old_requests_stay_what_they_were() -> None:
    loop, one = loop_over("first")
    items = await collect(loop.run("go"))
    session_id = items[0].session_id
    before = await rebuilt(loop.store, session_id)
    changed, two = loop_over("second", store=loop.store, system_prompt="You are quick.")
    await collect(changed.run("and now?", session_id))
    after = await rebuilt(loop.store, session_id)
    assert after[:1] == before
    assert b"You are quick." in after[1][2]
    assert two.requests[0].messages[1:3] == (*one.requests[0].messages[1:], two.requests[0].messages[2])


# --- forks and rollbacks


async def test_a_fork_at_any_event_can_be_gone_on_with() -> None:
    store = MemoryStore()
    calls = [("report", {"number": 1}), ("report", {"number": 2})]
    loop, _ = loop_over(calls, "the answer", tools=[report], store=store)
    items = await collect(loop.run("go"))
    session_id = items[0].session_id
    head = (await store.session(session_id)).head
    for seq in range(1, head + 1):
        child = await loop.fork(session_id, seq)
        branch, model = loop_over("resumed", "said", tools=[report], store=store)
        resumed = await collect(branch.resume(child))
        assert types(resumed)[-1:] in ([], ["LoopEnd"]), seq
        after = await collect(branch.run("go on", child))
        assert end_of(after).completed, seq
        await check_session(branch, child, model)
    assert len(await log_of(store, session_id)) == head, "the parent is as it was"


async def test_a_rollback_takes_the_conversation_back_and_the_log_goes_on() -> None:
    loop, model = loop_over("one", "two", "three")
    items = await collect(loop.run("first"))
    session_id = items[0].session_id
    place = items[-1].seq or 0
    await collect(loop.run("second", session_id))
    await loop.rollback(session_id, place)
    after = await collect(loop.run("third", session_id))
    assert end_of(after).completed
    assert [message.content for message in model.requests[-1].messages][1:] == ["first", "one", "third"]
    log = await check_session(loop, session_id, model)
    assert [message.content for message in of_type(log, ev.AssistantMessage)] == ["one", "two", "three"]
