"""Streams over HTTP: frames and envelopes, readers that come, go and come back, the same message twice."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from agent_core import SqliteStore
from agent_core import events as ev
from agent_core.loop import AgentLoop
from agent_core.testing import MemoryStore, ScriptedModel
from erpilot_api import streaming
from tests.support.http_api import BOSS, KIM, Frame, durable, house_of, serving, text_of
from tests.support.loops import loop_over
from tests.support.requests import log_of
from tests.support.trade import Ledger

ANSWER = "Seven pieces are on hand, each at 12.50."


class Gated:
    """A scripted model that waits for ``gate`` before each delta, where a test wants it to."""

    def __init__(self, *turns: Any) -> None:
        self._model = ScriptedModel(turns, delta=5)
        self.name = "scripted"
        self.gate = asyncio.Event()
        self.shown, self.stops_at = 0, 0

    async def stream_chat(self, messages: Any, tools: Any = (), **options: Any) -> AsyncIterator[Any]:
        async for event in self._model.stream_chat(messages, tools, **options):
            if self.shown == self.stops_at > 0:
                self.gate.clear()
            await self.gate.wait()
            self.shown += 1
            yield event


def trading(*turns: Any, model: Any = None, store: Any = None) -> AgentLoop:
    loop, _ = loop_over(*turns, tools=Ledger().tools(), model=model, store=store)
    return loop


READS = [("stock", {"sku": "A"}), ("price", {"sku": "A"})]


async def test_a_stream_begins_with_start_holds_every_event_and_ends_with_done() -> None:
    loop = trading(READS, ANSWER)
    async with serving(house_of(loop)) as api:
        frames = await api.client().say("How many?")
        session = frames[0].data["session_id"]
        log = await log_of(loop.store, session)
        assert frames[0] == Frame(
            {"session_id": session, "after": 0, "head": frames[0].data["head"], "running": True, "repeated": False},
            event="start",
        )
        assert frames[-1] == Frame({"session_id": session, "seq": len(log), "reason": "completed"}, event="done")
        assert [frame.type for frame in frames if frame.id] == [type(item.event).__name__ for item in log]
        assert text_of(frames) == ANSWER


async def test_exactly_the_durable_frames_have_an_id_and_it_is_their_seq() -> None:
    async with serving(house_of(trading(READS, ANSWER))) as api:
        frames = await api.client().say("How many?")
        assert {frame.id for frame in frames if frame.event} == {None}
        for frame in frames:
            if not frame.event:
                assert frame.id == (None if frame.seq is None else str(frame.seq))
        assert durable(frames) == list(range(1, len(durable(frames)) + 1))
        shown = {frame.type for frame in frames if not frame.event and frame.seq is None}
        assert shown == {"TextDelta"}


async def test_h3_a_reader_that_comes_back_behind_any_event_gets_exactly_the_rest() -> None:
    async with serving(house_of(trading(READS, ANSWER))) as api:
        client = api.client()
        frames = await client.say("How many?")
        session, head = frames[0].data["session_id"], durable(frames)[-1]
        for seen in range(head + 1):
            for path, headers in (
                (f"?after={seen}&follow=run", {}),
                ("?after=0&follow=none", {"Last-Event-ID": str(seen)}),
                (f"?after={seen}&follow=none", {"Last-Event-ID": ""}),
            ):
                rest = await client.read(f"/api/sessions/{session}/events{path}", headers=headers)
                assert durable(rest) == list(range(seen + 1, head + 1))
                assert rest[-1].event == "done"
                assert rest[-1].data["seq"] == head
                before = [frame for frame in frames if frame.seq is not None and frame.seq <= seen]
                assert text_of([*before, *rest]) == ANSWER


async def test_h3_a_connection_that_drops_at_any_frame_of_a_run_loses_nothing_and_repeats_nothing() -> None:
    async with serving(house_of(trading(READS, ANSWER))) as api:
        total = len(await api.client().say("How many?"))
    for drop in range(total):
        model = Gated(READS, ANSWER)
        loop = trading(model=model)
        async with serving(house_of(loop)) as api:
            client = api.client()
            seen: list[Frame] = []
            async with client.stream("/api/chat/stream", {"message": "How many?"}) as frames:
                seen.append(await anext(frames))
                session = seen[0].data["session_id"]
                model.gate.set()
                async for frame in frames:
                    if len(seen) > drop:
                        break
                    seen.append(frame)
            last = max(durable(seen), default=0)
            rest = await client.read(f"/api/sessions/{session}/events?follow=run", headers={"Last-Event-ID": str(last)})
            head = (await loop.store.session(session)).head
            assert durable(seen) + durable(rest) == list(range(1, head + 1)), drop
            assert rest[-1].data["seq"] == head
            kept = [frame for frame in seen if frame.seq is not None or frame.event]
            assert text_of([*kept, *rest]) == ANSWER


async def test_h3_a_reader_that_comes_in_the_middle_of_a_step_first_gets_the_text_so_far() -> None:
    """At every delta of the answer: the partial frame and what follows it make the whole text, nothing twice."""
    for deltas in range(1, 9):
        model = Gated(ANSWER)
        async with serving(house_of(trading(model=model))) as api:
            client = api.client()
            async with client.stream("/api/chat/stream", {"message": "How many?"}) as first:
                session = (await anext(first)).data["session_id"]
                model.stops_at = deltas
                model.gate.set()
                seen = 0
                while seen < deltas:
                    seen += (await anext(first)).type == "TextDelta"
                async with client.stream(f"/api/sessions/{session}/events?follow=run") as second:
                    got = [await anext(second)]
                    while got[-1].event != "partial":
                        got.append(await anext(second))
                    model.gate.set()
                    got += [frame async for frame in second]
            partial = [frame for frame in got if frame.event == "partial"]
            assert len(partial) == 1
            assert partial[0].id is None
            assert partial[0].data["text"] == ANSWER[: 5 * deltas]
            assert text_of(got) == ANSWER
            assert durable(got) == list(range(1, got[-1].data["seq"] + 1))


async def test_the_run_goes_on_when_its_reader_leaves_before_the_first_frame() -> None:
    model = Gated(READS, ANSWER)
    loop = trading(model=model)
    async with serving(house_of(loop)) as api:
        client = api.client()
        async with client.stream("/api/chat/stream", {"message": "How many?"}):
            pass
        model.gate.set()
        session = (await loop.store.sessions())[0].session_id
        rest = await client.read(f"/api/sessions/{session}/events?follow=run")
        assert rest[-1].data["reason"] == "completed"
        assert text_of(rest) == ANSWER


async def test_heartbeats_come_before_the_first_token_and_carry_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "HEARTBEAT_SECONDS", 0.05)
    model = Gated(ANSWER)
    async with serving(house_of(trading(model=model))) as api:
        client = api.client()
        async with client.session.post(
            api.base + "/api/chat/stream", json={"message": "How many?"}, headers=client.headers()
        ) as answer:
            text = b""
            while text.count(b": ping\n\n") < 3:
                text += await answer.content.readany()
            assert b"TextDelta" not in text
            model.gate.set()
            text += await answer.content.read()
        assert b"event: done" in text
        for block in text.split(b"\n\n"):
            assert block == b": ping" if b": ping" in block else True


async def test_follow_always_goes_on_through_later_runs_and_never_says_done() -> None:
    async with serving(house_of(trading("one", "two"))) as api:
        client = api.client()
        session = (await client.say("first"))[0].data["session_id"]
        async with client.stream(f"/api/sessions/{session}/events?follow=always") as frames:
            got = [await anext(frames)]
            while got[-1].type != "LoopEnd":
                got.append(await anext(frames))
            await client.say("second", session)
            got.append(await anext(frames))
            while got[-1].type != "LoopEnd":
                got.append(await anext(frames))
        assert durable(got) == list(range(1, durable(got)[-1] + 1))
        assert text_of(got) == "onetwo"
        assert "done" not in {frame.event for frame in got}


async def test_what_another_process_appends_reaches_a_reader(tmp_path: Any) -> None:
    """Another store object over the same file stands for another process: it shares no memory with the server."""
    store = SqliteStore(tmp_path / "log.db")
    async with serving(house_of(trading("one", store=store))) as api:
        client = api.client()
        session = (await client.say("first"))[0].data["session_id"]
        other = trading("two", store=SqliteStore(tmp_path / "log.db"))
        async with client.stream(f"/api/sessions/{session}/events?follow=always") as frames:
            got = [await anext(frames)]
            while got[-1].type != "LoopEnd":
                got.append(await anext(frames))
            async for _ in other.run("second", session):
                pass
            got.append(await anext(frames))
            while got[-1].type != "LoopEnd":
                got.append(await anext(frames))
        await other.store.aclose()
        assert durable(got) == list(range(1, durable(got)[-1] + 1))
        assert text_of(got) == "onetwo"
    await store.aclose()


async def test_n2_the_same_message_twice_is_one_run_and_the_second_answer_points_at_the_first() -> None:
    loop = trading(READS, ANSWER)
    async with serving(house_of(loop)) as api:
        client = api.client()
        first, second = await asyncio.gather(
            client.say("How many?", client_message_id="m"), client.say("How many?", client_message_id="m")
        )
        third = await client.say("How many?", client_message_id="m")
        sessions = await loop.store.sessions()
        assert len(sessions) == 1
        log = await log_of(loop.store, sessions[0].session_id)
        assert sum(isinstance(item.event, ev.UserMessage) for item in log) == 1
        assert sum(isinstance(item.event, ev.RunStarted) for item in log) == 1
        assert sorted(frames[0].data["repeated"] for frames in (first, second)) == [False, True]
        assert third[0].data["repeated"]
        for frames in (first, second, third):
            assert frames[0].data["session_id"] == sessions[0].session_id
            assert frames[-1].data == {"session_id": sessions[0].session_id, "seq": len(log), "reason": "completed"}
            assert text_of(frames) == ANSWER


@pytest.mark.parametrize("known", [True, False], ids=["in a session", "for a new one"])
async def test_n2_other_words_under_the_same_id_are_refused(known: bool) -> None:
    async with serving(house_of(trading("one", "two"))) as api:
        client = api.client()
        session = (await client.say("first", client_message_id="m"))[0].data["session_id"]
        body = {"message": "other", "client_message_id": "m", **({"session_id": session} if known else {})}
        status, answer = await client.ask("POST", "/api/chat/stream", body)
        assert (status, answer["type"]) == (409, "urn:erpilot:problem:refused")
        assert len((await client.get("/api/sessions"))["sessions"]) == 1


async def test_n2_ids_of_two_people_are_two_messages() -> None:
    async with serving(house_of(trading("one", "two"))) as api:
        mine = await api.client(BOSS).say("hello", client_message_id="m")
        theirs = await api.client(KIM).say("hello", client_message_id="m")
        assert mine[0].data["session_id"] != theirs[0].data["session_id"]


async def test_a_message_during_a_run_is_refused_and_can_be_queued() -> None:
    model = Gated("one", "two")
    async with serving(house_of(trading(model=model))) as api:
        client = api.client()
        async with client.stream("/api/chat/stream", {"message": "first"}) as frames:
            session = (await anext(frames)).data["session_id"]
            status, answer = await client.ask("POST", "/api/chat/stream", {"message": "x", "session_id": session})
            assert (status, answer["type"]) == (409, "urn:erpilot:problem:busy")
            queued = {"message": "second", "client_message_id": "q"}
            for _ in range(2):
                status, answer = await client.ask("POST", f"/api/sessions/{session}/queue", queued)
                assert status == 202
                assert answer["running"]
            assert not answer["changed"]
            assert [entry["text"] for entry in (await client.get(f"/api/sessions/{session}"))["queue"]] == ["second"]
            model.gate.set()
            rest = await client.read(f"/api/sessions/{session}/events?follow=run")
        assert text_of(rest) == "onetwo"
        status, _ = await client.ask("POST", f"/api/sessions/{session}/queue", {"message": "late"})
        assert status == 409


def lingering(loop: AgentLoop, until: asyncio.Event) -> AgentLoop:
    """Runs end some time before their tasks do, as where a disk is slow."""
    for name in ("run", "resume"):
        begin = getattr(loop, name)

        async def slowly(*given: Any, begin: Any = begin, **more: Any) -> AsyncIterator[ev.Recorded]:
            async for item in begin(*given, **more):
                yield item
            await until.wait()

        setattr(loop, name, slowly)
    return loop


async def test_whoever_saw_the_end_of_a_run_may_say_the_next_thing_at_once() -> None:
    put_away = asyncio.Event()
    async with serving(house_of(lingering(trading("one", "two"), put_away))) as api:
        client = api.client()
        session = (await client.say("first"))[0].data["session_id"]
        assert (await client.get(f"/api/sessions/{session}"))["summary"]["status"] == "completed"
        second = asyncio.create_task(client.say("second", session))
        await client.get("/api/sessions")
        put_away.set()
        assert text_of(await second) == "two"


async def test_a_reader_of_a_run_that_was_decided_while_it_ended_reads_on_to_its_real_end() -> None:
    put_away = asyncio.Event()
    loop = lingering(trading(("order", {"sku": "A", "quantity": 3}), "done"), put_away)
    async with serving(house_of(loop)) as api:
        client = api.client()
        session = (await client.say("order"))[0].data["session_id"]
        ((asked,),) = [(await client.get("/api/approvals"))["approvals"]]
        path = f"/api/sessions/{session}/approvals/{asked['call_id']}"
        assert (await client.ask("POST", path, {"decision": "approve"}))[0] == 200
        async with client.stream(f"/api/sessions/{session}/events?follow=run") as frames:
            await anext(frames)
            put_away.set()
            rest = [frame async for frame in frames]
        assert rest[-1].data["reason"] == "completed"


async def test_an_interrupt_ends_the_run_and_a_resume_goes_on() -> None:
    model = Gated("one", "two")
    async with serving(house_of(trading(model=model))) as api:
        client = api.client()
        async with client.stream("/api/chat/stream", {"message": "first"}) as frames:
            session = (await anext(frames)).data["session_id"]
            status, answer = await client.ask("POST", f"/api/sessions/{session}/interrupt")
            assert (status, answer["changed"]) == (200, True)
            rest = [frame async for frame in frames]
        assert rest[-1].data["reason"] == "interrupted"
        status, answer = await client.ask("POST", f"/api/sessions/{session}/interrupt")
        assert (status, answer["changed"]) == (200, False)
        model.gate.set()
        status, answer = await client.ask("POST", f"/api/sessions/{session}/resume")
        assert (status, answer["changed"]) == (202, True)
        rest = await client.read(f"/api/sessions/{session}/events?follow=run")
        assert rest[-1].data["reason"] == "completed"


async def test_a_run_that_breaks_off_ends_its_stream_with_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    store = MemoryStore()
    model = Gated("one")
    async with serving(house_of(trading(model=model, store=store))) as api:
        async with api.client().stream("/api/chat/stream", {"message": "first"}) as frames:
            got = [await anext(frames)]

            async def full(*_: Any, **__: Any) -> None:
                from agent_core.errors import StoreError

                raise StoreError("No space is left.")

            monkeypatch.setattr(store, "append", full)
            model.gate.set()
            got += [frame async for frame in frames]
        assert got[-1].event == "error"
        assert got[-1].data["type"] == "urn:erpilot:problem:storage"
        assert "space" not in str(got[-1].data)
        monkeypatch.undo()
        session = got[0].data["session_id"]
        later = await api.client().read(f"/api/sessions/{session}/events?follow=none")
        assert later[-1].event == "done", "whoever comes later is not told of it again"
