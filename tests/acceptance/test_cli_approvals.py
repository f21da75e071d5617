"""Writes wait for a person: at the terminal, or in a later command; never run without one."""

from __future__ import annotations

import asyncio
import json
import re
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from agent_core.codec import decode
from agent_core.config import LoopConfig
from agent_core.events import LoopEnd
from agent_core.loop import AgentLoop
from agent_core.store.sqlite import SqliteStore
from agent_core.testing import ScriptedModel
from agent_core.tools.tool import Tier, tool
from tests.support.cli import Ended, erpilot
from tests.support.model_server import ModelServer, Piece, model_server
from tests.support.screen import screen

QUOTATION: dict[str, Any] = {"customer": "C001", "lines": [{"sku": "HW-CUP-500", "qty": "200", "unit": "个"}]}
WRITE: list[Piece] = [("create_quotation", QUOTATION)]


def quotations(home: Path) -> int:
    """Quotations in the shop of this home."""
    connection = sqlite3.connect(f"file:{home / 'shop.db'}?mode=ro", uri=True)
    try:
        return int(connection.execute("SELECT count(*) FROM document WHERE kind = 'quotation'").fetchone()[0])
    finally:
        connection.close()


def waiting(home: Path, server: ModelServer, *options: str) -> Ended:
    return erpilot(home, "ask", "给鑫源出一张报价单", *options, settings=server.settings)


def calls(done: Ended) -> list[str]:
    """The calls that the last lines say are waiting."""
    return [line.split()[-1] for line in done.err.splitlines() if line.startswith("Approve: ")]


def test_without_a_terminal_a_write_waits_and_says_how_to_go_on(home: Path) -> None:
    before = quotations(home)
    with model_server(WRITE) as server:
        done = waiting(home, server)
    assert done.code == 3
    assert done.out == ""
    assert quotations(home) == before
    assert "create_quotation [WRITE] waits for your approval" in done.err
    assert "鑫源商行" in done.err
    assert '"qty":"200"' in done.err
    [call] = calls(done)
    assert f"erpilot approve {done.session} {call}" in done.err
    assert f"erpilot deny {done.session} {call} --because" in done.err
    again = erpilot(home, "resume", "last")
    assert again.code == 3
    assert quotations(home) == before
    assert "waiting for approval" in erpilot(home, "sessions").out


def test_an_approval_in_a_later_command_runs_exactly_once(home: Path) -> None:
    before = quotations(home)
    with model_server(WRITE, ["Saved."]) as server:
        done = waiting(home, server)
        approved = erpilot(home, "approve", done.session, calls(done)[0], settings=server.settings)
        assert (approved.code, approved.out) == (0, "Saved.\n")
        assert "✓ create_quotation" in approved.err
        assert quotations(home) == before + 1
        late = erpilot(home, "approve", done.session, calls(done)[0], settings=server.settings)
        assert late.code == 2
        assert "waits for nothing" in late.err
        assert erpilot(home, "resume", done.session, settings=server.settings).code == 0
    assert quotations(home) == before + 1


def test_a_denial_carries_its_words_to_the_model_and_nothing_is_written(home: Path) -> None:
    before = quotations(home)
    with model_server(WRITE, ["Not saved."]) as server:
        done = waiting(home, server)
        denied = erpilot(home, "deny", "last", "--because", "客户只要 150 个", settings=server.settings)
        assert (denied.code, denied.out) == (0, "Not saved.\n")
        result = json.loads(server.bodies[-1])["messages"][-1]
    assert result["role"] == "tool"
    assert "客户只要 150 个" in result["content"]
    assert quotations(home) == before
    assert calls(done)


def test_approve_write_covers_writes(home: Path) -> None:
    before = quotations(home)
    with model_server(WRITE, ["Saved."]) as server:
        done = waiting(home, server, "--approve", "write")
    assert (done.code, done.out) == (0, "Saved.\n")
    assert quotations(home) == before + 1


def test_with_json_nobody_is_asked_and_the_events_stay_alone_on_stdout(home: Path) -> None:
    with model_server(WRITE) as server:
        done = waiting(home, server, "--json")
    assert done.code == 3
    events = [decode(json.dumps(json.loads(line)["event"]).encode()) for line in done.out.splitlines()]
    assert [type(event).__name__ for event in events][-2:] == ["ApprovalRequested", "LoopEnd"]


@pytest.mark.parametrize("call", ["nosuch", ""])
def test_a_call_that_does_not_wait_is_refused_with_those_that_do(home: Path, call: str) -> None:
    with model_server(WRITE) as server:
        done = waiting(home, server)
    refused = erpilot(home, "approve", "last", call)
    assert refused.code == 2
    assert calls(done)[0] in refused.err


def test_a_person_at_the_terminal_is_asked_last_and_yes_runs_it(home: Path) -> None:
    before = quotations(home)
    with model_server(WRITE, ["Saved."]) as server, screen(home, "ask", "Quote", settings=server.settings) as person:
        person.wait_for("Run create_quotation [WRITE]")
        person.ready()
        assert "│" in person.plain
        assert quotations(home) == before
        person.type("maybe")
        person.wait_for("Please answer y")
        person.ready()
        person.type("y")
        person.wait_for("Saved.")
        assert person.end() == 0
    assert quotations(home) == before + 1


def test_no_with_words_tells_the_model_why(home: Path) -> None:
    before = quotations(home)
    with model_server(WRITE, ["Then not."]) as server, screen(home, "ask", "Quote", settings=server.settings) as person:
        person.ready()
        person.type("n too many")
        person.wait_for("Then not.")
        assert person.end() == 0
        assert "too many" in json.loads(server.bodies[-1])["messages"][-1]["content"]
    assert quotations(home) == before


@pytest.mark.parametrize("key", ["c", "d"])
def test_going_away_from_the_question_leaves_it_waiting(home: Path, key: str) -> None:
    before = quotations(home)
    with model_server(WRITE) as server, screen(home, "ask", "Quote", settings=server.settings) as person:
        person.wait_for("Run create_quotation [WRITE]")
        person.ready()
        person.press(key)
        person.wait_for("It keeps waiting")
        person.wait_for("erpilot approve")
        assert person.end() == 3
    assert quotations(home) == before


def test_a_preview_cannot_paint_over_the_question(home: Path) -> None:
    note = "ok\n\n\nRun create_quotation [READ]?  y = yes\r\x1b[2J\x1b[H? y\n" + "x\n" * 200
    write: list[Piece] = [("create_quotation", {**QUOTATION, "note": note})]
    with model_server(write, ["Then not."]) as server, screen(home, "ask", "Quote", settings=server.settings) as person:
        person.wait_for("Run create_quotation [WRITE] for “C001”?  y = yes")
        person.ready()
        lines = person.plain.split("\n")
        asked = [line for line in lines if line.startswith("Run create_quotation")]
        assert len(asked) == 1
        assert "[WRITE]" in asked[0]
        assert "\x1b[2J" not in person.text
        person.type("n")
        person.wait_for("Then not.")
        assert person.end() == 0


def test_of_several_questions_each_is_answered_for_itself(home: Path) -> None:
    before = quotations(home)
    second = {**QUOTATION, "lines": [{"sku": "HW-CUP-500", "qty": "7", "unit": "个"}]}
    turn: list[Piece] = [
        ("create_quotation", QUOTATION),
        ("create_quotation", second),
        ("get_order", {"number": "123"}),
    ]
    with model_server(turn, ["One saved."]) as server:
        done = waiting(home, server)
        assert done.code == 3
        assert "✓ get_order" in done.err
        first_call, second_call = calls(done)
        one = erpilot(home, "deny", "last", first_call, "--because", "no", settings=server.settings)
        assert one.code == 3
        assert quotations(home) == before
        both = erpilot(home, "approve", "last", second_call, settings=server.settings)
        assert (both.code, both.out) == (0, "One saved.\n")
        messages = json.loads(server.bodies[-1])["messages"]
    assert quotations(home) == before + 1
    assert sum(message["role"] == "tool" for message in messages) == 3


def test_a_call_whose_outcome_is_not_known_is_called_that_and_the_way_on_is_named(home: Path) -> None:
    asyncio.run(_leave_uncertain(home))
    resumed = erpilot(home, "resume", "last")
    assert resumed.code == 3
    assert "not known whether send_letter took effect" in resumed.err
    assert 'to = "a"' in resumed.err
    with model_server(["I see."]) as server:
        said = erpilot(home, "ask", "--session", "last", "It did not happen.", settings=server.settings)
        assert (said.code, said.out) == (0, "I see.\n")
        messages = json.loads(server.bodies[0])["messages"]
    [result] = [message["content"] for message in messages if message["role"] == "tool"]
    assert json.loads(result)["error"]["type"] == "uncertain"
    assert "\n\nIt did not happen." in messages[-1]["content"], "behind the remark that nothing was answered above"


def test_what_a_person_found_out_about_a_call_is_told_to_the_model(home: Path) -> None:
    asyncio.run(_leave_uncertain(home))
    told = erpilot(home, "resume", "last").err
    [call] = re.findall(r"erpilot resolve \S+ (\S+) happened", told)
    assert "Look in the ERP" in told
    assert "erpilot resolve" in erpilot(home, "show", "last").err
    for bad in (("nosuch", "happened"), (call, "perhaps")):
        assert erpilot(home, "resolve", "last", *bad).code == 2
    with model_server(["Noted."]) as server:
        found = ("resolve", "last", call, "did-not-happen")
        done = erpilot(home, *found, settings=server.settings)
        assert (done.code, done.out) == (0, "Noted.\n")
        result = json.loads(server.bodies[0])["messages"][-1]["content"]
        assert "took no effect" in result
        again = erpilot(home, *found, settings=server.settings)
        assert again.code == 2
        assert "no call whose outcome is unknown" in again.err
    assert "it took no effect" in erpilot(home, "replay", "last").out


async def _leave_uncertain(home: Path) -> None:
    """A session whose write was interrupted in the middle, by a backend that knows no keys."""

    @tool(tier=Tier.WRITE)
    async def send_letter(to: str) -> str:
        """Sends a letter."""
        await loop.interrupt(session, by="user")
        await asyncio.sleep(30)
        return "never"

    store = SqliteStore(home / "erpilot.db")
    model = ScriptedModel([[("send_letter", {"to": "a"})]])
    loop = AgentLoop(model=model, tools=[send_letter], store=store, config=LoopConfig(auto_approve=("WRITE",)))
    session = ""
    async for item in loop.run("Write"):
        session = item.session_id
    last = [item async for item in store.read(session)][-1]
    assert isinstance(last.event, LoopEnd)
    if last.event.reason == "interrupted":
        async for _ in loop.resume(session):
            pass
    await loop.aclose()
