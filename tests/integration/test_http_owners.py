"""Sessions belong to somebody: nothing of them is told to, or changed by, anybody else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from agent_core import Rule
from agent_core.loop import AgentLoop
from agent_core.testing import MemoryStore
from erpilot_api.access import User
from erpilot_api.app import create_app
from tests.support.http_api import BOSS, ELSEWHERE, KIM, MEI, Client, Running, house_of, serving
from tests.support.loops import collect, loop_over
from tests.support.requests import log_of
from tests.support.trade import Ledger

LI = User("li", "clerk")
SECRET = "the price for Zhang"
METHODS = ("get", "post", "put", "patch", "delete")


def operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Every operation of the document: method, path, what it says."""
    document = create_app(house_of(loop_over()[0])).openapi()
    for path, item in document["paths"].items():
        for method, operation in item.items():
            assert method in METHODS
            yield method.upper(), path, operation


NAMED = {"session_id", "other"}
"""Parameters that name a session."""
BODIES: dict[str, dict[str, Any]] = {
    "say": {"message": "hi", "session_id": "{session}"},
    "changeSession": {"title": "mine now", "archived": True},
    "queue": {"message": "hi"},
    "decide": {"decision": "approve"},
    "resolve": {"outcome": "happened"},
    "fork": {"at": 1},
    "rollBack": {"to": 1},
}
"""A body that would do something, for each operation that takes one."""
OPEN_TO_ALL = {"enter", "me", "leave", "health", "listSessions", "listApprovals", "listTrust", "listReports"}
"""Operations that name no session: what they list is one's own."""


def names_a_session(operation: dict[str, Any]) -> bool:
    return any(parameter["name"] in NAMED for parameter in operation.get("parameters", ()))


def test_h5_every_operation_names_a_session_or_lists_ones_own() -> None:
    """A route that is added stands in neither list, and fails here until it was looked at."""
    seen = set()
    for _, _, operation in operations():
        name = operation["operationId"]
        seen.add(name)
        assert (names_a_session(operation) or name == "say") != (name in OPEN_TO_ALL), name
        assert ("requestBody" in operation) == (name in BODIES or name == "enter"), name
        if names_a_session(operation):
            assert "404" in operation["responses"], name
    assert seen >= OPEN_TO_ALL


async def asked_session(api: Running) -> tuple[str, str]:
    """A session of kim with an open question, and the call."""
    frames = await api.client(KIM).say(SECRET)
    session = str(frames[0].data["session_id"])
    asked = next(frame.data["event"] for frame in frames if frame.type == "ApprovalRequested")
    return session, str(asked["call_id"])


async def call(
    client: Client, method: str, path: str, operation: dict[str, Any], session: str, own: str, call_id: str
) -> tuple[int, Any]:
    """Calls an operation about ``session``; ``own``: where a second one is named, that of whoever asks."""
    filled = path.replace("{call_id}", call_id).replace("{seq}", "2").replace("{grant_id}", "grant-1")
    filled = filled.replace("{session_id}", own if operation["operationId"] == "diff" and own else session)
    queries = {"other": session, "to": "1"}
    wanted = [name for name in queries if any(item["name"] == name for item in operation.get("parameters", ()))]
    query = "&".join(f"{name}={queries[name]}" for name in wanted)
    body = BODIES.get(operation["operationId"])
    if body is not None:
        body = {key: session if value == "{session}" else value for key, value in body.items()}
    return await client.ask(method, f"{filled}?{query}", body)


@pytest.mark.parametrize("stranger", [ELSEWHERE, LI], ids=["of another shop", "a colleague"])
async def test_h5_whatever_a_stranger_calls_is_answered_as_for_an_id_that_does_not_exist(stranger: User) -> None:
    loop, _ = loop_over(("order", {"sku": "A", "quantity": 3}), "hello", tools=Ledger().tools())
    async with serving(house_of(loop, [BOSS, KIM, LI, MEI, ELSEWHERE])) as api:
        session, call_id = await asked_session(api)
        client = api.client(stranger)
        own = str((await client.say("mine"))[0].data["session_id"])
        before = await log_of(loop.store, session)
        for method, path, operation in operations():
            if operation["operationId"] in OPEN_TO_ALL:
                continue
            for first in (own, ""):
                theirs = await call(client, method, path, operation, session, first, call_id)
                nobodys = await call(client, method, path, operation, "261130-00000000", first, call_id)
                assert theirs[0] == 404, (method, path, theirs)
                assert theirs == nobodys
        assert await log_of(loop.store, session) == before
        listed = await client.get("/api/sessions")
        assert [entry["session_id"] for entry in listed["sessions"]] == [own]
        assert (await client.get("/api/sessions?query=zhang"))["sessions"] == []
        for path in ("/api/approvals", "/api/trust", "/api/reports"):
            assert all(entries == [] for entries in (await client.get(path)).values())


async def test_h5_a_client_message_id_of_somebody_else_leads_nowhere() -> None:
    loop, _ = loop_over("one", "two")
    async with serving(house_of(loop)) as api:
        mine = await api.client(KIM).say(SECRET, client_message_id="m")
        theirs = await api.client(MEI).say(SECRET, client_message_id="m")
        assert mine[0].data["session_id"] != theirs[0].data["session_id"]


async def test_a_manager_sees_and_decides_what_staff_asked_and_a_clerk_only_denies() -> None:
    ledger = Ledger()
    order = ("order", {"sku": "A", "quantity": 3})
    loop, _ = loop_over([order, ("note", {"text": "x"})], "done", tools=ledger.tools())
    async with serving(house_of(loop)) as api:
        frames = await api.client(KIM).say("order")
        session = frames[0].data["session_id"]
        clerk = (await api.client(KIM).get("/api/approvals"))["approvals"]
        assert [entry["may"] for entry in clerk] == [["deny"], ["deny"]]
        inbox = (await api.client(MEI).get("/api/approvals"))["approvals"]
        assert [entry["session_owner"] for entry in inbox] == ["kim", "kim"]
        assert all({"approve", "deny", "edit"} <= set(entry["may"]) for entry in inbox)
        first, second = (entry["call_id"] for entry in inbox)
        path = f"/api/sessions/{session}/approvals/"
        status, problem = await api.client(KIM).ask("POST", path + first, {"decision": "approve"})
        assert (status, problem["type"]) == (403, "urn:erpilot:problem:not-allowed")
        assert (await api.client(KIM).ask("POST", path + second, {"decision": "deny", "reason": "no"}))[0] == 200
        assert (await api.client(MEI).ask("POST", path + first, {"decision": "approve"}))[0] == 200
        rest = await api.client(KIM).read(f"/api/sessions/{session}/events?follow=run")
        assert rest[-1].data["reason"] == "completed"
        assert ledger.count("order") == 1
        assert ledger.count("note") == 0


async def test_only_an_owner_approves_what_is_dangerous() -> None:
    loop, _ = loop_over(("tell", {"text": "x"}), "done", tools=Ledger().tools())
    async with serving(house_of(loop)) as api:
        await api.client(MEI).say("tell them")
        (asked,) = (await api.client(MEI).get("/api/approvals"))["approvals"]
        assert asked["tier"] == "DANGEROUS"
        assert asked["may"] == ["deny"]
        path = f"/api/sessions/{asked['session_id']}/approvals/{asked['call_id']}"
        assert (await api.client(MEI).ask("POST", path, {"decision": "approve"}))[0] == 403
        assert (await api.client(BOSS).ask("POST", path, {"decision": "approve"}))[0] == 200


async def test_sessions_of_the_command_line_are_the_owners_to_see() -> None:
    loop, _ = loop_over("hello")
    async for _ in loop.run("from the terminal"):
        pass
    async with serving(house_of(loop)) as api:
        assert len((await api.client(BOSS).get("/api/sessions"))["sessions"]) == 1
        for other in (KIM, MEI, ELSEWHERE):
            assert (await api.client(other).get("/api/sessions"))["sessions"] == []


async def test_what_was_forbidden_in_a_session_on_the_command_line_holds_over_http_too() -> None:
    ledger, store = Ledger(), MemoryStore()
    order = ("order", {"sku": "A", "quantity": 3})
    forbids = Rule(effect="deny", tool="order", scope="session")
    begun, _ = loop_over("hello", tools=ledger.tools(), store=store, rules=(forbids,))
    session = (await collect(begun.run("from the terminal")))[0].session_id
    free, _ = loop_over(order, tools=ledger.tools(), store=store)
    made: list[tuple[Rule, ...]] = []

    def personal(user: User | None, profile: str, rules: tuple[Rule, ...]) -> AgentLoop:
        made.append(rules)
        return loop_over(order, "done", tools=ledger.tools(), store=store, rules=rules)[0] if rules else free

    async with serving(house_of(free, personal=personal)) as api:
        frames = await api.client(BOSS).say("order", session)
        assert frames[-1].data["reason"] == "completed"
        (done,) = [frame.data["event"] for frame in frames if frame.type == "ToolCallFinished"]
        assert done["error"]["type"] == "denied"
        assert (await api.client(BOSS).say("order"))[-1].data["reason"] == "awaiting_approval"
    assert made == [(forbids,), ()]
    assert ledger.count("order") == 0


async def test_each_persons_sessions_run_in_a_loop_of_their_own() -> None:
    store = MemoryStore()
    seen: list[str | None] = []
    base, _ = loop_over("hello", store=store)

    def personal(user: User | None, profile: str, rules: tuple[Rule, ...]) -> AgentLoop:
        seen.append(None if user is None else user.name)
        return loop_over("one", "two", store=store)[0]

    async with serving(house_of(base, personal=personal)) as api:
        session = (await api.client(KIM).say("mine"))[0].data["session_id"]
        await api.client(MEI).say("hers")
        assert (await api.client(MEI).say("in his", session))[-1].data["reason"] == "completed"
        assert seen == ["kim", "mei"], "a session runs with the rights of whom it belongs to"
