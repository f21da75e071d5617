"""Messages that arrive while a run is going: none is lost, none is said twice, on both stores."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from agent_core import events as ev
from agent_core.config import LoopConfig
from agent_core.errors import ModelError, Refused
from agent_core.loop import AgentLoop
from agent_core.redecide import read_log, redecide
from agent_core.store.base import EventStore
from agent_core.store.sqlite import SqliteStore
from agent_core.testing import MemoryStore, ScriptedModel
from tests.support.requests import check_requests, log_of
from tests.support.trade import drive


@pytest.fixture(params=["memory", "sqlite"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[EventStore]:
    made: EventStore = MemoryStore() if request.param == "memory" else SqliteStore(tmp_path / "log.db")
    yield made
    await made.aclose()


def _loop(store: EventStore, *turns: Any) -> AgentLoop:
    model = ScriptedModel([*turns, *[f"answer {n}" for n in range(9)]])
    return AgentLoop(model=model, store=store, config=LoopConfig(system_prompt="You are careful."))


def _said(log: list[ev.Recorded]) -> list[str]:
    return [part.text for item in log if isinstance(item.event, ev.UserMessage) for part in item.event.content]  # type: ignore[union-attr]


async def _while_going(loop: AgentLoop, *messages: tuple[str, str | None]) -> tuple[str, list[ev.Recorded]]:
    """Runs, and sends ``messages`` (text, id) as soon as the request is out."""
    seen = []
    async for item in loop.run("first"):
        seen.append(item)
        if isinstance(item.event, ev.StepStarted) and item.seq == 4:
            for text, message_id in messages:
                await loop.queue(item.session_id, text, client_message_id=message_id, by="other")
    return seen[0].session_id, seen


async def test_messages_of_the_queue_follow_in_order_each_in_a_run_of_its_own_in_the_same_drive(
    store: EventStore,
) -> None:
    loop = _loop(store)
    session_id, seen = await _while_going(loop, ("second", "m2"), ("third", None))
    log = await log_of(store, session_id)
    assert _said(log) == ["first", "second", "third"]
    ends = [item.event for item in log if isinstance(item.event, ev.LoopEnd)]
    assert [end.completed for end in ends] == [True, True, True]
    runs = [item.event for item in log if isinstance(item.event, ev.RunStarted)]
    assert len({run.run_id for run in runs}) == 3
    assert [run.by for run in runs] == ["user", "other", "other"]
    assert [item.seq for item in seen if item.seq is not None] == [item.seq for item in log]
    state = await loop.state(session_id)
    assert state.queue == []
    assert len(state.said) == 2, "also a message without an id of its own is told from every other"
    assert await drive(loop.resume(session_id)) == []
    assert isinstance(loop.model, ScriptedModel)
    await check_requests(store, session_id, loop.model)
    assert redecide(*await read_log(store, session_id)) == []


async def test_the_same_words_twice_are_two_messages(store: EventStore) -> None:
    session_id, _ = await _while_going(_loop(store), ("again", None), ("again", None))
    assert _said(await log_of(store, session_id)) == ["first", "again", "again"]


async def test_a_repeat_under_one_id_is_one_message_and_other_words_under_it_are_refused(store: EventStore) -> None:
    loop = _loop(store)
    async for item in loop.run("first", client_message_id="m1"):
        if isinstance(item.event, ev.StepStarted) and item.seq == 4:
            assert len(await loop.queue(item.session_id, "second", client_message_id="m2")) == 1
            assert await loop.queue(item.session_id, "second", client_message_id="m2") == []
            assert await loop.queue(item.session_id, "first", client_message_id="m1") == []
            for message_id in ("m1", "m2"):
                with pytest.raises(Refused, match="Another message"):
                    await loop.queue(item.session_id, "else", client_message_id=message_id)
            with pytest.raises(Refused, match="empty"):
                await loop.queue(item.session_id, "  ")
    session_id = item.session_id
    assert _said(await log_of(store, session_id)) == ["first", "second"]
    assert await loop.queue(session_id, "second", client_message_id="m2") == [], "also once it was said"
    assert await drive(loop.run("second", session_id, client_message_id="m2")) == []


async def test_without_a_run_there_is_nothing_to_wait_for(store: EventStore) -> None:
    loop = _loop(store)
    session_id = (await drive(loop.run("first")))[0].session_id
    with pytest.raises(Refused, match="No run"):
        await loop.queue(session_id, "second")


async def test_an_interrupt_keeps_the_queue_for_the_next_drive(store: EventStore) -> None:
    loop = _loop(store)
    async for item in loop.run("first"):
        if isinstance(item.event, ev.StepStarted) and item.seq == 4:
            await loop.queue(item.session_id, "second", client_message_id="m2")
            await loop.interrupt(item.session_id)
    session_id = item.session_id
    assert _said(await log_of(store, session_id)) == ["first"]
    assert len((await loop.state(session_id)).queue) == 1
    await drive(loop.run("instead", session_id))
    log = await log_of(store, session_id)
    assert _said(log) == ["first", "instead", "second"]
    assert isinstance(loop.model, ScriptedModel)
    await check_requests(store, session_id, loop.model)
    assert redecide(*await read_log(store, session_id)) == []


async def test_a_run_that_fails_keeps_the_queue(store: EventStore) -> None:
    loop = _loop(store, [ModelError("auth", "no key")])
    session_id, _ = await _while_going(loop, ("second", None))
    assert _said(await log_of(store, session_id)) == ["first"]
    await drive(loop.resume(session_id))
    assert _said(await log_of(store, session_id)) == ["first", "second"]
    assert redecide(*await read_log(store, session_id)) == []


async def test_a_reader_that_goes_away_loses_no_message(store: EventStore) -> None:
    loop = _loop(store)
    async with aclosing(loop.run("first")) as items:
        async for item in items:
            if isinstance(item.event, ev.StepStarted):
                await loop.queue(item.session_id, "second")
                break
    session_id = item.session_id
    await drive(loop.resume(session_id))
    assert _said(await log_of(store, session_id)) == ["first", "second"]


async def test_wherever_the_log_ends_no_message_is_lost_or_said_twice(store: EventStore) -> None:
    session_id, _ = await _while_going(_loop(store), ("second", "m2"), ("third", None))
    log, contents = await read_log(store, session_id)
    queued = [item.seq or 0 for item in log if isinstance(item.event, ev.MessageQueued)]
    for length in range(queued[-1], len(log) + 1):
        fresh = MemoryStore()
        events, at = [item.event for item in log[:length]], [item.at for item in log[:length]]
        await fresh.append(session_id, events, expected_seq=0, contents=contents, at=at)
        loop = _loop(fresh)
        await drive(loop.resume(session_id))
        again = await log_of(fresh, session_id)
        assert _said(again) == ["first", "second", "third"], f"cut off behind event {length}"
        assert (await loop.state(session_id)).queue == []
        assert redecide(*await read_log(fresh, session_id)) == []


async def test_a_fork_does_not_inherit_the_queue_and_may_be_told_the_same(store: EventStore) -> None:
    loop = _loop(store)
    async for item in loop.run("first"):
        if isinstance(item.event, ev.StepStarted) and item.seq == 4:
            await loop.queue(item.session_id, "second", client_message_id="m2")
            await loop.interrupt(item.session_id)
    child = await loop.fork(item.session_id, (await store.session(item.session_id)).head)
    assert (await loop.state(child)).queue == []
    await drive(loop.run("second", child, client_message_id="m2"))
    assert _said(await log_of(store, child)) == ["first", "second"]


async def test_a_rollback_keeps_the_queue(store: EventStore) -> None:
    loop = _loop(store)
    async for item in loop.run("first"):
        if isinstance(item.event, ev.StepStarted) and item.seq == 4:
            await loop.queue(item.session_id, "second")
            await loop.interrupt(item.session_id)
    session_id = item.session_id
    await loop.rollback(session_id, 1)
    await drive(loop.resume(session_id))
    assert _said(await log_of(store, session_id)) == ["first", "second"]
    assert [entry.message.role for entry in (await loop.state(session_id)).entries] == ["user", "assistant"]
