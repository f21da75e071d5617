"""Forks, rollbacks and taking back, on both stores."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from agent_core import events as ev
from agent_core.config import ContextPolicy
from agent_core.context.build import build_messages
from agent_core.errors import Refused, UnknownSession
from agent_core.fold import fold
from agent_core.loop import AgentLoop
from agent_core.redecide import read_log, redecide
from agent_core.session import open_session
from agent_core.store.base import EventStore
from agent_core.store.sqlite import SqliteStore
from agent_core.testing import MemoryStore, ScriptedModel
from tests.support.requests import check_conversation, check_requests, log_of
from tests.support.trade import CONFIG, QUESTION, Ledger, answer_of, decide_open, drive, to_the_end, trader


@pytest.fixture(params=["memory", "sqlite"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[EventStore]:
    made: EventStore = MemoryStore() if request.param == "memory" else SqliteStore(tmp_path / "log.db")
    yield made
    await made.aclose()


async def _whole(store: EventStore, ledger: Ledger) -> tuple[AgentLoop, str]:
    """A session in which everything was done that there is to do."""
    loop = trader(store, ledger)
    session_id = (await drive(loop.run(QUESTION)))[0].session_id
    await to_the_end(loop, session_id, ledger)
    return loop, session_id


async def test_a_fork_at_every_event_leaves_the_parent_as_it_was_and_the_child_usable(store: EventStore) -> None:
    ledger = Ledger()
    loop, session_id = await _whole(store, ledger)
    before = [msgspec.json.encode(item) for item in await log_of(store, session_id)]
    effects = list(ledger.effects)
    for at in range(1, len(before) + 1):
        child = await loop.fork(session_id, at)
        state = await loop.state(child)
        assert not state.open_calls(), "nothing that was open is inherited open"
        assert (state.grants, state.queue, state.run) == ({}, [], None)
        other = trader(store, own := Ledger())
        await drive(other.run("And again.", child))
        await to_the_end(other, child, own)
        log = await log_of(store, child)
        assert isinstance(end := log[-1].event, ev.LoopEnd)
        assert end.completed
        assert [item.seq for item in log] == list(range(1, len(log) + 1))
        await store.verify(child)
        await check_requests(store, child, other.model)  # type: ignore[arg-type]
        assert own.count("order") == own.count("note") == 1
        assert redecide(*await read_log(store, child)) == []
        assert [msgspec.json.encode(item) for item in await log_of(store, session_id)] == before
    assert ledger.effects == effects, "a fork does nothing"


async def test_a_fork_within_an_exchange_says_of_a_started_write_that_it_is_uncertain(store: EventStore) -> None:
    ledger = Ledger()
    loop, session_id = await _whole(store, ledger)
    for item in await log_of(store, session_id):
        if not isinstance(item.event, ev.ToolCallStarted):
            continue
        child = await loop.fork(session_id, item.seq or 0)
        closed = [one.event for one in (await log_of(store, child))[item.seq :]]
        ends = [event for event in closed if isinstance(event, ev.ToolCallFinished)]
        wanted = "cancelled" if item.event.tool in ("stock", "price") else "uncertain"
        assert [event.error and event.error.type for event in ends if event.call_id == item.event.call_id] == [wanted]
        with pytest.raises(Refused):
            await loop.resolve(child, item.event.call_id, "send_again")
        resumed = [one.event for one in await drive(trader(store, Ledger()).resume(child))]
        again = [event for event in resumed if isinstance(event, ev.ToolCallStarted)]
        assert item.event.call_id not in [event.call_id for event in again]


async def test_a_fork_inherits_no_question_and_no_grant(store: EventStore) -> None:
    ledger = Ledger()
    loop = trader(store, ledger)
    session_id = (await drive(loop.run(QUESTION, owner="boss", tenant="t")))[0].session_id
    call = (await loop.state(session_id)).open_calls()[0]
    child = await loop.fork(session_id, (await store.session(session_id)).head)
    with pytest.raises(Refused):
        await loop.decide(child, call.call.id, approve=True)
    await loop.decide(session_id, call.call.id, approve=True, always=True)
    later = await loop.fork(session_id, (await store.session(session_id)).head)
    state = await loop.state(later)
    assert (await loop.state(session_id)).grants
    assert not state.grants
    assert (state.owner, state.tenant) == ("boss", "t"), "whose it is does not change"
    assert ledger.effects == []


async def test_a_fork_of_a_fork_goes_on_from_what_it_inherited(store: EventStore) -> None:
    ledger = Ledger()
    loop, session_id = await _whole(store, ledger)
    one = await loop.fork(session_id, 6)
    two = await loop.fork(one, (await store.session(one)).head)
    other = trader(store, own := Ledger())
    await drive(other.run("Go on.", two))
    await to_the_end(other, two, own)
    assert redecide(*await read_log(store, two)) == []
    await check_requests(store, two, other.model)  # type: ignore[arg-type]


async def test_only_an_event_that_exists_can_be_forked_at_or_rolled_back_to(store: EventStore) -> None:
    loop, session_id = await _whole(store, Ledger())
    head = (await store.session(session_id)).head
    for wrong in (-1, 0, head + 1):
        with pytest.raises(Refused, match=f"the events 1 to {head}"):
            await loop.fork(session_id, wrong)
        with pytest.raises(Refused, match=f"the events 1 to {head}"):
            await loop.rollback(session_id, wrong)
        with pytest.raises(Refused):
            await loop.undo_plan(session_id, wrong)
    for command in (loop.fork("nobody", 1), loop.rollback("nobody", 1)):
        with pytest.raises(UnknownSession):
            await command
    assert len(await store.sessions()) == 1


async def test_a_rollback_to_every_event_restores_the_conversation_of_that_event(store: EventStore) -> None:
    ledger = Ledger()
    loop, session_id = await _whole(store, ledger)
    whole, contents = await read_log(store, session_id)
    asked = list(ledger.asked)
    spent = [item.event.cost for item in whole if isinstance(item.event, ev.StepEnd)]
    for to_seq in range(1, len(whole) + 1):
        recorded = await loop.rollback(session_id, to_seq, by="boss", reason="wrong turn")
        assert isinstance(recorded[0].event, ev.RolledBack)
        state = await loop.state(session_id)
        assert not state.open_calls()
        then = fold(whole[:to_seq], contents)
        assert [entry.message for entry in state.entries] == [entry.message for entry in then.entries]
        check_conversation(build_messages(state, ""))
        for now, before in zip(state.entries, then.entries, strict=True):
            for call, known in zip(now.calls, before.calls, strict=True):
                assert call.result is not None
                assert known.result is None or call.result == known.result
        assert state.session_calls == 4, "counters stay"
    log, contents = await read_log(store, session_id)
    assert log[: len(whole)] == whole, "nothing is deleted"
    assert [item.event.cost for item in log if isinstance(item.event, ev.StepEnd)] == spent
    assert ledger.asked == asked
    assert (await open_session(store, session_id)).state == fold(log, contents)
    for half in range(len(log)):
        assert fold(log[half:], contents, fold(log[:half], contents), log[:half]) == fold(log, contents)
    assert redecide(log, contents) == []
    await drive(loop.run("Go on.", session_id))
    await to_the_end(loop, session_id, ledger)
    assert redecide(*await read_log(store, session_id)) == []
    await check_requests(store, session_id, loop.model)  # type: ignore[arg-type]


async def test_a_rollback_behind_a_compaction_brings_back_what_was_left_out(store: EventStore) -> None:
    config = msgspec.structs.replace(CONFIG, context=ContextPolicy(budget_tokens=900))
    model = ScriptedModel([f"answer {n} " + "word " * 150 for n in range(12)])
    loop = AgentLoop(model=model, store=store, config=config)
    session_id = (await drive(loop.run("question 0")))[0].session_id
    for number in range(1, 8):
        await drive(loop.run(f"question {number}", session_id))
    log = await log_of(store, session_id)
    compactions = [item.seq or 0 for item in log if isinstance(item.event, ev.ContextCompacted)]
    assert compactions
    state = await loop.state(session_id)
    assert state.dropped
    point = compactions[0] - 1
    await loop.rollback(session_id, point)
    back = await loop.state(session_id)
    assert back.dropped == 0
    assert back.entries[0].message.content == "question 0"
    await loop.rollback(session_id, len(log))
    again = await loop.state(session_id)
    assert (again.dropped, [entry.seq for entry in again.entries]) == (
        state.dropped,
        [entry.seq for entry in state.entries],
    ), "a rollback of a rollback"
    child = await loop.fork(session_id, (await store.session(session_id)).head)
    assert [entry.message for entry in (await loop.state(child)).entries] == [entry.message for entry in again.entries]
    await drive(loop.run("in the fork", child))
    assert redecide(*await read_log(store, child)) == []
    other = AgentLoop(model=ScriptedModel(["from the start"]), store=store, config=config)
    await other.rollback(session_id, log[2].seq or 0)
    (entry,) = (await other.state(session_id)).entries
    assert entry.message.content == "question 0"
    assert answer_of(await drive(other.resume(session_id))) == "from the start", "a question can be answered again"


async def test_a_rollback_while_a_run_is_going_is_refused(store: EventStore) -> None:
    loop = trader(store, Ledger())
    refused = 0
    async for item in loop.run(QUESTION):
        if isinstance(item.event, ev.ToolCallStarted):
            with pytest.raises(Refused, match="going on"):
                await loop.rollback(item.session_id, 3)
            refused += 1
    assert refused


async def test_a_rollback_ends_a_run_that_was_cut_short(store: EventStore) -> None:
    ledger = Ledger()
    loop, session_id = await _whole(store, ledger)
    log, contents = await read_log(store, session_id)
    started = next(item.seq or 0 for item in log if isinstance(item.event, ev.ToolCallStarted))
    fresh = MemoryStore()
    events, at = [item.event for item in log[:started]], [item.at for item in log[:started]]
    await fresh.append(session_id, events, expected_seq=0, contents=contents, at=at)
    loop = trader(fresh, ledger)
    recorded = [item.event for item in await loop.rollback(session_id, 3)]
    kinds = [type(event).__name__ for event in recorded]
    assert kinds == ["ToolCallFinished", "ToolCallFinished", "LoopEnd", "RolledBack"]
    assert (await loop.state(session_id)).run is None
    lease = await fresh.acquire(session_id, seconds=1)
    await fresh.release(lease)
    assert redecide(*await read_log(fresh, session_id)) == []


async def test_what_happened_after_the_point_is_not_called_undone(store: EventStore) -> None:
    ledger = Ledger()
    loop, session_id = await _whole(store, ledger)
    log = await log_of(store, session_id)
    message = next(
        item.seq or 0
        for item in log
        if isinstance(item.event, ev.AssistantMessage) and item.event.tool_calls[:1][0].name == "order"
    )
    await loop.rollback(session_id, message)
    call = (await loop.state(session_id)).entries[-1].calls[0]
    assert call.result is not None
    assert '"uncertain"' in (call.result.content or ""), "the write was made, whatever the conversation knows of it"


# --- taking back


async def test_a_plan_names_the_inverse_of_each_write_or_says_why_there_is_none(store: EventStore) -> None:
    ledger = Ledger()
    loop, session_id = await _whole(store, ledger)
    plan = await loop.undo_plan(session_id, 3)
    assert [item.tool for item in plan] == ["note", "order"], "the newest first"
    assert plan[0].undo is None
    assert plan[0].why == "note cannot be undone."
    assert plan[1].undo is not None
    assert (plan[1].undo.tool, plan[1].undo.arguments) == ("cancel", {"number": "N1"})
    assert await loop.undo_plan(session_id, (await store.session(session_id)).head) == []
    assert ledger.count("cancel") == 0, "a plan does nothing"


async def test_taking_back_is_asked_like_any_write(store: EventStore) -> None:
    ledger = Ledger()
    loop, session_id = await _whole(store, ledger)
    plan = await loop.undo_plan(session_id, 3)
    await loop.rollback(session_id, 3)
    await drive(loop.undo(session_id, plan, by="boss"))
    assert ledger.count("cancel") == 0
    (asked,) = (await loop.state(session_id)).open_calls()
    assert (asked.status, asked.call.name) == ("asked", "cancel")
    await decide_open(loop, session_id)
    await drive(loop.resume(session_id))
    assert ledger.count("cancel") == 1
    await to_the_end(loop, session_id, ledger)
    left = await loop.undo_plan(session_id, 3)
    assert "N1" not in [item.undo and item.undo.arguments.get("number") for item in left if item.seq < plan[0].seq]
    assert [item.tool for item in left].count("cancel") == 0, "what took back and what was taken back are even"
    await check_requests(store, session_id, loop.model)  # type: ignore[arg-type]
    assert redecide(*await read_log(store, session_id)) == []


async def test_a_fork_takes_back_only_what_it_did_itself(store: EventStore) -> None:
    loop, session_id = await _whole(store, Ledger())
    child = await loop.fork(session_id, (await store.session(session_id)).head)
    plan = await loop.undo_plan(child, 3)
    assert [item.undo for item in plan] == [None, None]
    assert all("forked from" in (item.why or "") for item in plan)


async def test_a_plan_that_undoes_nothing_is_said_and_runs_nothing(store: EventStore) -> None:
    ledger = Ledger()
    loop, session_id = await _whole(store, ledger)
    plan = [item for item in await loop.undo_plan(session_id, 3) if item.undo is None]
    effects = list(ledger.effects)
    seen = await drive(loop.undo(session_id, plan))
    assert not [item for item in seen if isinstance(item.event, ev.ToolCallStarted) and item.event.tool == "cancel"]
    assert ledger.effects == effects
