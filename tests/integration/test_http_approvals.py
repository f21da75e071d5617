"""Questions over HTTP: answered once, the loser told what stands, expired ones gone, trust given and taken."""

from __future__ import annotations

import asyncio
from typing import Any

from agent_core import SqliteStore, Tier
from agent_core import events as ev
from agent_core.tools.tool import Tool, tool
from tests.support.http_api import MEI, Client, house_of, serving
from tests.support.loops import loop_over, of_type
from tests.support.requests import log_of
from tests.support.trade import Ledger

ORDER = ("order", {"sku": "A", "quantity": 3})
NOTE = ("note", {"text": "x"})


async def questions(client: Client, message: str = "order") -> tuple[str, list[dict[str, Any]]]:
    """Says something; the session and what waits in it."""
    session = str((await client.say(message))[0].data["session_id"])
    return session, (await client.get(f"/api/sessions/{session}/approvals"))["approvals"]


async def answer(client: Client, question: dict[str, Any], decision: str, **more: Any) -> tuple[int, Any]:
    path = f"/api/sessions/{question['session_id']}/approvals/{question['call_id']}"
    return await client.ask("POST", path, {"decision": decision, **more})


async def finished(client: Client, session: str) -> str:
    """Reads on until nothing goes on; how the last run ended."""
    frames = await client.read(f"/api/sessions/{session}/events?follow=run")
    return str(frames[-1].data["reason"])


async def test_two_questions_at_once_are_answered_one_each_way_and_the_run_goes_on_by_itself() -> None:
    ledger = Ledger()
    loop, _ = loop_over([ORDER, NOTE], "done", tools=ledger.tools())
    async with serving(house_of(loop)) as api:
        client = api.client()
        session, (first, second) = await questions(client)
        assert first["preview"]["title"]
        assert first["digest"]
        status, decision = await answer(client, first, "approve", digest=first["digest"])
        assert (status, decision["decision"], decision["by"]) == (200, "approved", "boss")
        assert [left["call_id"] for left in (await client.get("/api/approvals"))["approvals"]] == [second["call_id"]]
        status, decision = await answer(client, second, "deny", reason="not now")
        assert (status, decision["decision"]) == (200, "denied")
        assert await finished(client, session) == "completed"
        log = await log_of(loop.store, session)
        told = {done.tool: done.content for done in of_type(log, ev.ToolCallFinished)}
        assert "not now" in told["note"]
        assert (ledger.count("order"), ledger.count("note")) == (1, 0)
        assert {decided.channel for decided in of_type(log, ev.ApprovalDecided)} == {"http"}


async def test_x4_two_opposite_answers_at_the_same_moment_make_one_decision_that_both_are_told() -> None:
    ledger = Ledger()
    rounds = 25
    loop, _ = loop_over(*[turn for _ in range(rounds) for turn in (ORDER, "done")], tools=ledger.tools())
    async with serving(house_of(loop)) as api:
        client = api.client()
        approved = 0
        for _ in range(rounds):
            session, (question,) = await questions(client)
            answers = await asyncio.gather(answer(client, question, "approve"), answer(client, question, "deny"))
            assert sorted(status for status, _ in answers) == [200, 409]
            won = next(value for status, value in answers if status == 200)
            lost = next(value for status, value in answers if status == 409)
            assert lost["type"] == "urn:erpilot:problem:decided"
            assert lost["standing"]["decision"] == won["decision"]
            assert await finished(client, session) == "completed"
            approved += won["decision"] == "approved"
            assert ledger.count("order") == approved, "the effect follows the decision"
            decided = of_type(await log_of(loop.store, session), ev.ApprovalDecided)
            assert [each.decision for each in decided] == [won["decision"]]
            again = await answer(client, question, "approve" if won["decision"] == "approved" else "deny")
            assert again[0] == 200
            assert again[1]["decision"] == won["decision"]


async def test_x4_the_same_answer_twice_at_once_is_harmless() -> None:
    ledger = Ledger()
    loop, _ = loop_over(ORDER, "done", tools=ledger.tools())
    async with serving(house_of(loop)) as api:
        client = api.client()
        session, (question,) = await questions(client)
        answers = await asyncio.gather(*(answer(client, question, "approve") for _ in range(5)))
        assert [status for status, _ in answers] == [200] * 5
        assert await finished(client, session) == "completed"
        assert ledger.count("order") == 1
        assert len(of_type(await log_of(loop.store, session), ev.ApprovalDecided)) == 1


async def test_an_expired_question_is_gone() -> None:
    now = [1_000_000.0]
    loop, _ = loop_over(ORDER, "done", tools=Ledger().tools(), clock=lambda: now[0], approval_seconds=60.0)
    async with serving(house_of(loop, clock=lambda: now[0])) as api:
        client = api.client()
        _, (question,) = await questions(client)
        assert question["deadline"] == 1_000_060.0
        now[0] += 61
        status, problem = await answer(client, question, "approve")
        assert (status, problem["type"]) == (410, "urn:erpilot:problem:expired")


async def test_a_question_that_has_become_another_one_is_not_answered_by_the_old_digest() -> None:
    loop, _ = loop_over(ORDER, "done", tools=Ledger().tools())
    async with serving(house_of(loop)) as api:
        client = api.client()
        session, (question,) = await questions(client)
        edited = {"sku": "A", "quantity": 5}
        assert (await answer(client, question, "approve", arguments=edited))[0] == 200
        assert await finished(client, session) == "awaiting_approval"
        ((changed,),) = [(await client.get(f"/api/sessions/{session}/approvals"))["approvals"]]
        assert changed["digest"] != question["digest"]
        status, _ = await answer(client, question, "approve", digest=question["digest"])
        assert status == 409
        assert (await answer(client, changed, "approve", digest=changed["digest"]))[0] == 200
        assert await finished(client, session) == "completed"


async def test_edited_arguments_that_do_not_fit_are_refused_and_the_question_stays_open() -> None:
    loop, _ = loop_over(ORDER, "done", tools=Ledger().tools())
    async with serving(house_of(loop)) as api:
        client = api.client()
        session, (question,) = await questions(client)
        for edited in ({}, {"nothing": 1}, {"sku": "A", "quantity": "many"}):
            status, problem = await answer(client, question, "approve", arguments=edited)
            assert (status, problem["type"]) == (422, "urn:erpilot:problem:invalid")
            assert "do not fit" in problem["detail"]
        assert (await client.get(f"/api/sessions/{session}/approvals"))["approvals"] == [question]


async def test_a_call_that_nobody_asked_about_is_not_found() -> None:
    loop, _ = loop_over("hello")
    async with serving(house_of(loop)) as api:
        client = api.client()
        session = (await client.say("hi"))[0].data["session_id"]
        for call_id in ("nobody", "x" * 200, "%00"):
            status, problem = await client.ask(
                "POST", f"/api/sessions/{session}/approvals/{call_id}", {"decision": "deny"}
            )
            assert (status, problem["type"]) == (404, "urn:erpilot:problem:not-found")


async def test_trust_that_was_given_with_an_answer_is_listed_and_can_be_ended() -> None:
    ledger = Ledger()
    loop, _ = loop_over(ORDER, "done", ORDER, "done", ORDER, "done", tools=ledger.tools())
    async with serving(house_of(loop)) as api:
        client = api.client()
        session, (question,) = await questions(client)
        assert "always" in question["may"]
        assert (await answer(client, question, "approve", always=True))[0] == 200
        assert await finished(client, session) == "completed"
        (grant,) = (await client.get("/api/trust"))["grants"]
        assert (grant["tool"], grant["by"], grant["session_id"]) == ("order", "boss", session)
        assert (await client.get(f"/api/sessions/{session}/trust"))["grants"] == [grant]
        assert (await client.say("again", session))[-1].data["reason"] == "completed"
        path = f"/api/sessions/{session}/trust/{grant['grant_id']}"
        assert (await client.ask("DELETE", path))[0] == 200
        assert (await client.ask("DELETE", path))[0] == 404
        assert (await client.get("/api/trust"))["grants"] == []
        assert (await client.say("again", session))[-1].data["reason"] == "awaiting_approval"
        assert ledger.count("order") == 2


def _doubtful(tier: Tier = Tier.WRITE) -> list[Tool]:
    @tool(tier=tier, timeout=0.05)
    async def send(text: str) -> str:
        """Sends and never hears back."""
        await asyncio.sleep(30)
        return "sent"

    return [send]


async def test_what_became_of_an_uncertain_call_is_said_once() -> None:
    loop, _ = loop_over(("send", {"text": "x"}), "done", "done", tools=_doubtful())
    async with serving(house_of(loop)) as api:
        client = api.client()
        session, (question,) = await questions(client)
        assert (await answer(client, question, "approve"))[0] == 200
        await finished(client, session)
        (doubt,) = (await client.get(f"/api/sessions/{session}"))["uncertain"]
        assert (doubt["tool"], doubt["call_id"]) == ("send", question["call_id"])
        path = f"/api/sessions/{session}/outcomes/{doubt['call_id']}"
        status, accepted = await client.ask("POST", path, {"outcome": "happened", "content": "it arrived"})
        assert (status, accepted["changed"]) == (200, True)
        status, accepted = await client.ask("POST", path, {"outcome": "happened"})
        assert (status, accepted["changed"]) == (200, False)
        status, problem = await client.ask("POST", path, {"outcome": "send_again"})
        assert (status, problem["type"]) == (409, "urn:erpilot:problem:refused")
        assert (await client.get(f"/api/sessions/{session}"))["uncertain"] == []


async def test_to_send_a_call_again_takes_the_right_to_approve_its_tier() -> None:
    loop, _ = loop_over(("send", {"text": "x"}), "done", "done", tools=_doubtful(Tier.DANGEROUS))
    async with serving(house_of(loop)) as api:
        client = api.client()
        session, (question,) = await questions(client)
        assert (await answer(client, question, "approve"))[0] == 200
        await finished(client, session)
        path, again = f"/api/sessions/{session}/outcomes/{question['call_id']}", {"outcome": "send_again"}
        status, problem = await api.client(MEI).ask("POST", path, again)
        assert (status, problem["type"]) == (403, "urn:erpilot:problem:not-allowed")
        assert "DANGEROUS" in problem["detail"]
        assert len((await client.get(f"/api/sessions/{session}"))["uncertain"]) == 1


async def test_a_decision_of_another_process_stands_and_is_told(tmp_path: Any) -> None:
    ledger = Ledger()
    loop, _ = loop_over(ORDER, "done", tools=ledger.tools(), store=SqliteStore(tmp_path / "log.db"))
    other, _ = loop_over(tools=ledger.tools(), store=SqliteStore(tmp_path / "log.db"))
    async with serving(house_of(loop)) as api:
        client = api.client()
        session, (question,) = await questions(client)
        await other.decide(session, question["call_id"], approve=False, by="cli", channel="cli")
        status, problem = await answer(client, question, "approve")
        assert (status, problem["standing"]["decision"], problem["standing"]["by"]) == (409, "denied", "cli")
        assert (await client.get("/api/approvals"))["approvals"] == []
    await other.store.aclose()
    await loop.store.aclose()
    assert ledger.count("order") == 0
