"""Sessions over HTTP: lists, names, branches, and what can be read of them besides their events."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec
import pytest

from agent_core import SqliteStore
from agent_core import events as ev
from agent_core.loop import AgentLoop
from agent_core.messages import Usage
from agent_core.store.export import import_session, is_export
from agent_core.testing import MemoryStore
from agent_core.tools.tool import tool
from agent_core.trace.builder import transcript_of_log
from agent_core.trace.jsonl import is_trace, read_trace
from erpilot_api.cards import Card, Cards
from tests.support.http_api import KIM, Client, house_of, serving
from tests.support.loops import loop_over, types
from tests.support.requests import log_of
from tests.support.trade import PRICE, QUESTION, Ledger, trader


async def traded(client: Client) -> str:
    """The whole piece of business; every question is approved."""
    session = str((await client.say(QUESTION))[0].data["session_id"])
    while waiting := (await client.get(f"/api/sessions/{session}/approvals"))["approvals"]:
        for question in waiting:
            path = f"/api/sessions/{session}/approvals/{question['call_id']}"
            assert (await client.ask("POST", path, {"decision": "approve"}))[0] == 200
        await client.read(f"/api/sessions/{session}/events?follow=run")
    return session


async def test_a_list_says_what_each_session_is_how_it_stands_and_what_it_cost() -> None:
    loop = trader(MemoryStore(), Ledger())
    async with serving(house_of(loop)) as api:
        client = api.client()
        waiting = (await client.say(QUESTION))[0].data["session_id"]
        session = await traded(client)
        newest, older = (await client.get("/api/sessions"))["sessions"]
        assert (newest["session_id"], older["session_id"]) == (session, waiting)
        assert (newest["status"], older["status"]) == ("completed", "waiting")
        assert (newest["approvals"], older["approvals"]) == (0, 1)
        assert (newest["title"], newest["owner"], newest["profile"]) == (QUESTION, "boss", "shop")
        assert newest["steps"] == 4
        assert newest["usage"]["total_tokens"] == 440
        price = PRICE.cost(Usage(400, 40, 440))
        assert price is not None
        assert {name: Decimal(amount) for name, amount in newest["costs"].items()} == {price.currency: price.amount}
        one = await client.get(f"/api/sessions/{session}")
        assert one["summary"] == newest


async def test_lists_come_in_pages_without_gaps_or_repeats() -> None:
    loop, _ = loop_over(*["hello"] * 7)
    async with serving(house_of(loop)) as api:
        client = api.client()
        said = [(await client.say(f"question {number}"))[0].data["session_id"] for number in range(7)]
        found: list[str] = []
        before = ""
        while True:
            page = await client.get(f"/api/sessions?limit=3{before}")
            found += [entry["session_id"] for entry in page["sessions"]]
            if page["next"] is None:
                break
            before = f"&before={page['next']}"
        assert found == said[::-1]


async def test_a_page_goes_on_where_the_one_before_ended_whatever_moved_meanwhile() -> None:
    loop, _ = loop_over(*["hello"] * 6)
    async with serving(house_of(loop)) as api:
        client = api.client()
        said = [(await client.say(f"question {number}"))[0].data["session_id"] for number in range(5)]
        page = await client.get("/api/sessions?limit=2")
        assert [entry["session_id"] for entry in page["sessions"]] == [said[4], said[3]]
        await client.say("once more", said[3])  # the last one of the page is the first of the list by now
        rest = await client.get(f"/api/sessions?limit=9&before={page['next']}")
        assert [entry["session_id"] for entry in rest["sessions"]] == [said[2], said[1], said[0]]
        assert rest["next"] is None


@pytest.mark.parametrize("cursor", ["nobody", "261130-00000000", "", "_", "nan_x", "1e9_x", "-1_x", "x" * 301])
async def test_what_is_no_place_in_a_list_is_told_as_such(cursor: str) -> None:
    async with serving(house_of(loop_over()[0])) as api:
        status, problem = await api.client().ask("GET", f"/api/sessions?before={cursor}")
        assert (status, problem["type"]) == (422, "urn:erpilot:problem:invalid")
        assert "before" in str(problem)


@pytest.mark.parametrize(
    ("query", "hits"), [("保温杯", 1), ("库存 保温", 1), ("STOCK", 1), ("nothing", 0), ("", 2), ("a%_b", 0)]
)
async def test_a_search_looks_at_messages_answers_and_names(query: str, hits: int) -> None:
    loop, _ = loop_over("保温杯有库存", "In stock.")
    async with serving(house_of(loop)) as api:
        client = api.client()
        await client.say("有没有货？")
        await client.say("Have you any?")
        async with client.session.get(
            f"{api.base}/api/sessions", params={"query": query}, headers=client.headers()
        ) as found:
            assert len((await found.json())["sessions"]) == hits


async def test_names_and_putting_away_are_events_and_survive_everything_in_memory() -> None:
    loop, _ = loop_over("hello", "again")
    async with serving(house_of(loop)) as api:
        client = api.client()
        session = (await client.say("hi"))[0].data["session_id"]
        path = f"/api/sessions/{session}"
        assert (await client.ask("PATCH", path, {"title": "鑫源的报价"}))[1]["title"] == "鑫源的报价"
        assert (await client.ask("PATCH", path, {"archived": True}))[1]["archived"]
        head = (await client.get(path))["summary"]["head"]
        assert (await client.ask("PATCH", path, {"archived": True, "title": "鑫源的报价"}))[1]["head"] == head
        assert (await client.ask("PATCH", path, {}))[1]["head"] == head
        assert (await client.get("/api/sessions"))["sessions"] == []
        assert types(await log_of(loop.store, session))[-2:] == ["SessionLabelled"] * 2
        await client.say("more", session)
    async with serving(house_of(loop)) as api:
        ((listed,),) = [(await api.client().get("/api/sessions?archived=true"))["sessions"]]
        assert (listed["title"], listed["archived"], listed["status"]) == ("鑫源的报价", True, "completed")
        assert len((await api.client().get("/api/sessions?archived=true&query=鑫源"))["sessions"]) == 1


async def test_a_card_is_the_same_however_often_and_in_whatever_pieces_it_was_folded() -> None:
    loop = trader(MemoryStore(), Ledger())
    async with serving(house_of(loop)) as api:
        session = await traded(api.client())
        grown = await api.house.cards.of(session)
    log = await log_of(loop.store, session)
    whole = await Cards(loop.store).of(session)
    twice = Card(session)
    for item in [*log, *log]:
        twice.add(item)
    assert vars(grown) == vars(whole) == vars(twice)


async def test_a_fork_from_any_event_leaves_the_original_as_it_was_and_goes_on_elsewhere() -> None:
    loop = trader(MemoryStore(), Ledger())
    async with serving(house_of(loop)) as api:
        client = api.client(KIM)
        session = await traded(api.client())
        before = await log_of(loop.store, session)
        assert (await client.ask("POST", f"/api/sessions/{session}/fork", {"at": 1}))[0] == 404
        client = api.client()
        other = ""
        for at in range(1, len(before) + 1):
            status, forked = await client.ask("POST", f"/api/sessions/{session}/fork", {"at": at})
            assert (status, forked["parent"], forked["parent_seq"]) == (201, session, at)
            other = forked["session_id"]
            one = await client.get(f"/api/sessions/{other}")
            assert (one["summary"]["parent"], one["summary"]["owner"]) == (session, "boss")
            assert one["approvals"] == []
        assert await log_of(loop.store, session) == before
        for wrong, expected in ((len(before) + 1, 409), (0, 422), (-1, 422), ("x", 422)):
            assert (await client.ask("POST", f"/api/sessions/{session}/fork", {"at": wrong}))[0] == expected
        assert (await client.say("what else?", other))[-1].event == "done"
        found = await client.get(f"/api/sessions/{session}/diff?other={other}")
        assert found["common"] == len(before)
        assert found["b"]["steps"] >= 1
        assert found["a"]["steps"] == 0
        assert found["rows"][0]["b"]["event"]["type"] == "UserMessage"


async def test_going_back_says_which_writes_stay_and_takes_them_back_when_asked_to() -> None:
    ledger = Ledger()
    loop = trader(MemoryStore(), ledger)
    async with serving(house_of(loop)) as api:
        client = api.client()
        session = await traded(client)
        plan = await client.get(f"/api/sessions/{session}/undo?to=3")
        assert [(item["tool"], item["undo_tool"]) for item in plan["writes"]] == [("note", None), ("order", "cancel")]
        assert plan["writes"][0]["why_not"]
        status, back = await client.ask("POST", f"/api/sessions/{session}/rollback", {"to": 3, "undo": True})
        assert (status, back["writes"]) == (200, plan["writes"])
        await client.read(f"/api/sessions/{session}/events?follow=run")
        ((asked,),) = [(await client.get(f"/api/sessions/{session}/approvals"))["approvals"]]
        assert asked["tool"] == "cancel"
        path = f"/api/sessions/{session}/approvals/{asked['call_id']}"
        assert (await client.ask("POST", path, {"decision": "approve"}))[0] == 200
        await client.read(f"/api/sessions/{session}/events?follow=run")
        assert ledger.count("cancel") == 1
        assert (await client.ask("POST", f"/api/sessions/{session}/rollback", {"to": 10_000}))[0] == 409


async def test_a_replay_is_the_transcript_of_the_log() -> None:
    loop = trader(MemoryStore(), Ledger())
    async with serving(house_of(loop)) as api:
        session = await traded(api.client())
        answer = await api.client().get(f"/api/sessions/{session}/replay")
        items = await transcript_of_log(loop.store.read(session))
        assert answer["items"] == json.loads(msgspec.json.encode(items))
        assert answer["head"] == len(await log_of(loop.store, session))


async def test_the_request_of_every_step_is_given_byte_for_byte_and_nothing_else_is_one() -> None:
    loop = trader(MemoryStore(), Ledger())
    async with serving(house_of(loop)) as api:
        client = api.client()
        session = await traded(client)
        bodies = []
        for item in await log_of(loop.store, session):
            status, answer = await client.ask("GET", f"/api/sessions/{session}/steps/{item.seq}")
            assert status == (200 if isinstance(item.event, ev.StepStarted) else 404)
            if status == 200:
                bodies.append(json.loads(answer["body"]))
        assert len(bodies) == 4
        assert all(QUESTION in json.dumps(body) for body in bodies)


async def test_an_export_comes_in_again_elsewhere_and_a_trace_is_one(tmp_path: Path) -> None:
    loop = trader(MemoryStore(), Ledger())
    async with serving(house_of(loop)) as api:
        client = api.client()
        session = await traded(client)
        for name, kind in (("export", is_export), ("trace", is_trace)):
            status, text = await client.ask("GET", f"/api/sessions/{session}/{name}")
            assert status == 200
            path = tmp_path / f"{name}.jsonl"
            path.write_text(text, encoding="utf-8")
            assert kind(path)
        other = SqliteStore(tmp_path / "other.db")
        assert await import_session(other, tmp_path / "export.jsonl") == session
        assert await log_of(other, session) == await log_of(loop.store, session)
        await other.aclose()
        assert read_trace(tmp_path / "trace.jsonl").items == await transcript_of_log(loop.store.read(session))
        status, text = await client.ask("GET", f"/api/sessions/{session}/export?redact=true&until=3")
        assert status == 200
        assert json.loads(text.splitlines()[0])["redacted"]
        assert (await client.ask("GET", f"/api/sessions/{session}/export?until=9999"))[0] == 422


def reporting() -> AgentLoop:
    chart = {"mark": "bar", "data": {"values": [{"month": "2026-10", "total": 1200}]}}

    @tool
    async def sales_report(month: str) -> dict[str, Any]:
        """Sales of a month."""
        return {"month": month, "rows": [{"total": "1200.00"}], "chart": chart}

    loop, _ = loop_over(
        ("sales_report", {"month": "2026-10"}), "Sales were 1200.00 and 7 were lost.", tools=[sales_report]
    )
    return loop


async def test_reports_and_the_figures_of_answers_are_what_the_log_holds() -> None:
    loop = reporting()
    async with serving(house_of(loop)) as api:
        client = api.client()
        session = (await client.say("How were sales?"))[0].data["session_id"]
        (report,) = (await client.get(f"/api/sessions/{session}/reports"))["reports"]
        assert (report["tool"], json.loads(report["arguments"])) == ("sales_report", {"month": "2026-10"})
        assert report["content"]["rows"] == [{"total": "1200.00"}]
        assert report["chart"]["mark"] == "bar"
        assert (await client.get("/api/reports"))["reports"] == [report]
        assert (await api.client(KIM).get("/api/reports"))["reports"] == []
        answers = (await client.get(f"/api/sessions/{session}/numbers"))["answers"]
        checked = [item.event for item in await log_of(loop.store, session) if isinstance(item.event, ev.AnswerChecked)]
        assert [answer["untraced"] for answer in answers] == [list(event.untraced) for event in checked]
