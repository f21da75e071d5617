"""The page and the command line at one question: one decision, and both are told which."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import aiohttp

from agent_core import events as ev
from agent_core.store.sqlite import SqliteStore
from tests.acceptance.test_http_docs import Served, served
from tests.support.cli import erpilot
from tests.support.http_api import Client
from tests.support.loops import of_type
from tests.support.requests import log_of

__all__ = ["served"]
WRITE = "给鑫源商行开一张报价单：10 个保温杯"
ROUNDS = 4


async def test_x4_approved_here_and_denied_there_at_the_same_moment(served: Served) -> None:
    home: Path = served.home
    store = SqliteStore(home / "erpilot.db")
    stood = []
    async with aiohttp.ClientSession() as session:
        client = Client(session, served.address, served.token())
        for number in range(ROUNDS):
            name = (await client.say(WRITE))[0].data["session_id"]
            (question,) = (await client.get(f"/api/sessions/{name}/approvals"))["approvals"]
            call = question["call_id"]
            command = ("approve", name, call) if number % 2 else ("deny", name, call, "--because", "not now")
            decision = "deny" if number % 2 else "approve"
            ended, (status, answer) = await asyncio.gather(
                asyncio.to_thread(erpilot, home, *command),
                client.ask("POST", f"/api/sessions/{name}/approvals/{call}", {"decision": decision}),
            )
            await client.read(f"/api/sessions/{name}/events?follow=run")
            log = await log_of(store, name)
            (decided,) = of_type(log, ev.ApprovalDecided)
            stood.append(decided.channel)
            assert decided.decision == ("approved" if (decided.channel == "http") != bool(number % 2) else "denied")
            if decided.channel == "http":
                assert status == 200
                assert ended.code != 0
                assert re.search("decided already|waits for nothing|no question|No question", ended.err), ended.err
            else:
                assert status == 409
                assert answer["standing"]["decision"] == decided.decision
            made = [done for done in of_type(log, ev.ToolCallFinished) if done.tool == "create_quotation"]
            assert [done.ok for done in made] == [decided.decision == "approved"]
            await store.verify(name)
    await store.aclose()
    assert stood
