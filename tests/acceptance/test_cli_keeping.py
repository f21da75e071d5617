"""Branches, proofs, files: fork, diff, rollback, verify, export, import-session, trace, erase, backup, restore."""

from __future__ import annotations

import asyncio
import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from msgspec import structs

from agent_core.loop import AgentLoop
from agent_core.redecide import read_log
from agent_core.store.memory import MemoryStore
from agent_core.store.sqlite import SqliteStore
from agent_core.testing import ScriptedModel
from tests.support.cli import QUESTION, Ended, erpilot
from tests.support.model_server import model_server
from tests.support.screen import screen


@pytest.fixture
def asked(home: Path) -> Ended:
    return erpilot(home, "ask", QUESTION)


def head(text: str) -> str:
    return str(re.findall(r"head (\d+:[0-9a-f]+)", text)[-1])


def test_a_fork_goes_its_own_way_and_diff_shows_where_they_part(home: Path, asked: Ended) -> None:
    with model_server(["There are 97 boxes."]) as server:
        model = ("--model", "scripted", "--say", "还有多少？")
        forked = erpilot(home, "fork", asked.session, "--at", "2", *model, settings=server.settings)
    assert (forked.code, forked.out) == (0, "There are 97 boxes.\n")
    compared = erpilot(home, "diff", asked.session, forked.session)
    assert compared.code == 0
    assert "share the events 1 to 2" in compared.out
    assert re.search(r"3 You: 订单 123.*\| 5 You: 还有多少", compared.out)
    assert re.search(r"steps +3 +1 +-2", compared.out)
    assert "There are 97 boxes." in compared.out
    same = erpilot(home, "diff", "last", "last")
    assert "Nothing was said or done since" in same.out
    assert "分开之后" in erpilot(home, "diff", asked.session, forked.session, "--lang", "zh").out


def test_a_fork_alone_prints_its_name_and_a_prompt_of_ones_own_is_sent(home: Path, asked: Ended) -> None:
    alone = erpilot(home, "fork", "last", "--at", "3")
    assert alone.out.strip() in erpilot(home, "sessions").out
    prompt = home / "prompt.txt"
    prompt.write_text("You are somebody else.", encoding="utf-8")
    with model_server(["Hm."]) as server:
        other = erpilot(home, "fork", asked.session, "--at", "3", "--system", str(prompt), settings=server.settings)
        assert (other.code, other.out) == (0, "Hm.\n")
        messages = json.loads(server.bodies[0])["messages"]
    assert messages[0]["content"] == "You are somebody else."
    assert messages[1]["content"].startswith(QUESTION)
    for arguments in (("--at", "99"), ("--at", "0"), ("--at", "3", "--system", "nosuch"), ("--at", "3", "--say", " ")):
        refused = erpilot(home, "fork", asked.session, *arguments)
        assert refused.code == 2, arguments
        assert "Traceback" not in refused.err


def test_a_rollback_says_what_it_leaves_standing(home: Path) -> None:
    lines = [{"sku": "HW-CUP-500", "qty": "7", "unit": "个"}]
    with model_server([("create_quotation", {"customer": "C001", "lines": lines})], ["Saved."], ["Hi."]) as server:
        done = erpilot(home, "ask", "Quote", "--approve", "write", settings=server.settings)
        back = erpilot(home, "rollback", done.session, "--to", "2", settings=server.settings)
        assert back.code == 0
        assert "create_quotation(customer=C001" in back.err
        assert "reason=taken back" in back.err
        assert "Nothing was taken back. To do so: erpilot rollback" in back.err
        erpilot(home, "ask", "Hello", "--session", "last", settings=server.settings)
        said = [message["content"].split("\n")[0] for message in json.loads(server.bodies[-1])["messages"][1:]]
    assert said == ["Hello"]
    assert erpilot(home, "rollback", done.session, "--to", "999").code == 2
    assert "Rolled back to event 2" in erpilot(home, "replay", "last").out
    assert erpilot(home, "verify", "last").code == 0


def test_s2_s3_a_damaged_or_shortened_log_fails_and_names_the_place(home: Path, asked: Ended) -> None:
    good = erpilot(home, "verify", asked.session)
    assert good.code == 0
    assert "cannot be ruled out that the end was cut off" in good.out
    assert "decides, does and says the same" in good.out
    anchored = erpilot(home, "verify", asked.session, "--against", head(good.out))
    assert anchored.code == 0
    assert "agrees with the head" in anchored.out
    with closing(sqlite3.connect(home / "erpilot.db")) as db, db:
        (last,) = db.execute("SELECT max(place) FROM events").fetchone()
        db.execute("DELETE FROM events WHERE place > ?", (last - 3,))
        (seq, rest) = db.execute("SELECT ?, hash FROM events WHERE place = ?", (17, last - 3)).fetchone()
        db.execute("UPDATE sessions SET head = ?, head_hash = ?", (seq, rest))
    assert erpilot(home, "verify", asked.session).code == 0  # nothing inside can tell
    cut = erpilot(home, "verify", asked.session, "--against", head(good.out))
    assert cut.code == 6
    assert "the log ends at 17, head says 20" in cut.err
    with closing(sqlite3.connect(home / "erpilot.db")) as db, db:
        db.execute("UPDATE events SET payload = replace(payload, '123', '124') WHERE place = ?", (last - 17,))
    damaged = erpilot(home, "verify", asked.session)
    assert damaged.code == 6
    assert "event 3" in damaged.err
    with closing(sqlite3.connect(home / "erpilot.db")) as db, db:
        for name in ("events", "sessions"):
            db.execute(f"DELETE FROM {name}")
    gone = erpilot(home, "verify", asked.session, "--against", head(good.out))
    assert gone.code == 6
    for bad in ("abc", "12", "12:xyz"):
        assert erpilot(home, "verify", asked.session, "--against", bad).code == 2


def test_a_decision_that_differs_fails_until_somebody_accepts_it(home: Path, tmp_path: Path) -> None:
    asyncio.run(_record_otherwise(home))
    file = tmp_path / "accepted.json"
    differs = erpilot(home, "verify", "other")
    assert differs.code == 6
    assert "session other, event" in differs.out
    assert '- LoopEnd run_id="r" steps=1 completed=false reason="budget"' in differs.out
    assert '+ LoopEnd run_id="r" steps=1 completed=true reason="completed"' in differs.out
    assert erpilot(home, "verify", "other", "--accept", str(file)).code == 6  # nobody there who could accept it
    assert not file.exists()
    assert erpilot(home, "verify", "other", "--because", "reviewed").code == 2
    accepted = erpilot(home, "verify", "other", "--accept", str(file), "--because", "reviewed")
    assert accepted.code == 0
    assert "reviewed" in file.read_text(encoding="utf-8")
    assert erpilot(home, "verify", "other", "--accept", str(file)).code == 0
    assert erpilot(home, "verify", "other").code == 6
    assert erpilot(home, "export", "other", "-o", str(tmp_path / "other.jsonl")).code == 0
    assert erpilot(home, "verify", str(tmp_path)).code == 0  # accepted.json lies beside the log
    file.write_text("{", encoding="utf-8")
    assert erpilot(home, "verify", str(tmp_path)).code == 2


async def _record_otherwise(home: Path) -> None:
    """A run that completed, recorded as if a limit had ended it."""
    store, memory = SqliteStore(home / "erpilot.db"), MemoryStore()
    loop = AgentLoop(model=ScriptedModel([["Hello."]]), store=memory)
    items = [item async for item in loop.run("Hi") if item.seq is not None]
    events = [item.event for item in items]
    events[1] = structs.replace(events[1], run_id="r")
    events[-1] = structs.replace(events[-1], run_id="r", reason="budget", completed=False)
    _, contents = await read_log(memory, items[0].session_id)
    await store.append("other", events, expected_seq=0, contents=contents)
    await store.aclose()


def test_a_session_goes_out_and_comes_back_as_a_file(home: Path, asked: Ended, tmp_path: Path) -> None:
    file, other = tmp_path / "session.jsonl", tmp_path / "other"
    other.mkdir()
    assert erpilot(home, "export", "last", "-o", str(file)).out == f"{file}\n"
    assert erpilot(home, "export", "last", "-o", str(file)).code == 0  # an earlier export may be replaced
    assert erpilot(home, "verify", str(file)).code == 0
    assert erpilot(home, "replay", str(file)).out == erpilot(home, "replay", "last").out
    assert erpilot(other, "import-session", str(file)).out == f"{asked.session}\n"
    assert erpilot(other, "import-session", str(file)).code == 0
    assert erpilot(other, "replay", asked.session).out == erpilot(home, "replay", asked.session).out
    part = tmp_path / "part.jsonl"
    assert erpilot(home, "export", "last", "--until", "9", "--redact", "-o", str(part)).code == 0
    assert "鑫源" not in part.read_text(encoding="utf-8")
    folder = erpilot(home, "verify", str(tmp_path))
    assert folder.code == 0
    assert "masked: events" in folder.out
    assert folder.out.count("the chain holds") == 2
    precious = tmp_path / "precious.txt"
    precious.write_text("mine", encoding="utf-8")
    assert erpilot(home, "export", "last", "-o", str(precious)).code == 2
    assert precious.read_text(encoding="utf-8") == "mine"
    assert erpilot(home, "export", "last", "--until", "99").code == 2
    assert erpilot(home, "import-session", str(precious)).code == 2
    assert erpilot(home, "verify", str(precious)).code == 2
    assert erpilot(home, "verify", str(other / "nosuch")).code == 2
    file.write_text(file.read_text(encoding="utf-8").replace("123", "124", 1), encoding="utf-8")
    assert erpilot(home, "verify", str(tmp_path)).code == 6
    assert erpilot(other, "import-session", str(file)).code == 6


def test_a_trace_of_a_session_reads_like_its_log(home: Path, asked: Ended, tmp_path: Path) -> None:
    erpilot(home, "ask", "A4 纸还有多少？", "--session", "last")
    file = tmp_path / "trace.jsonl"
    assert erpilot(home, "trace", "export", "last", "-o", str(file)).code == 0
    assert erpilot(home, "replay", str(file)).out == erpilot(home, "replay", "last").out
    kinds = [json.loads(line)["type"] for line in file.read_text(encoding="utf-8").splitlines()]
    assert kinds.count("run_start") == kinds.count("run_end") == 2
    assert asked.code == 0


def test_erasing_asks_and_leaves_a_chain_that_says_so(home: Path, asked: Ended) -> None:
    assert erpilot(home, "erase", asked.session).code == 2
    assert erpilot(home, "replay", asked.session).code == 0
    with screen(home, "erase", asked.session) as person:
        person.wait_for("y = yes")
        person.ready()
        person.type("maybe")
        assert person.end() == 0
    assert erpilot(home, "replay", asked.session).code == 0
    assert erpilot(home, "erase", asked.session, "--yes").code == 0
    verified = erpilot(home, "verify", asked.session)
    assert verified.code == 0
    assert "erased for good: events 1-20" in verified.out
    assert "erased" in erpilot(home, "sessions").out
    for command in (["show"], ["replay"], ["resume"], ["trust", "list"], ["ask", "Hi", "--session"]):
        refused = erpilot(home, *command, asked.session)
        assert refused.code == 6
        assert "erased for good" in refused.err
    assert "保温杯".encode() not in (home / "erpilot.db").read_bytes()


def test_a_backup_is_put_back_whole(home: Path, asked: Ended, tmp_path: Path) -> None:
    file = tmp_path / "backup.tar.gz"
    (home / "config.toml").write_text('lang = "en"', encoding="utf-8")
    before = erpilot(home, "replay", asked.session).out
    assert erpilot(home, "backup", str(file)).code == 0
    assert file.stat().st_mode & 0o077 == 0
    assert erpilot(home, "backup", str(file)).code == 2
    erpilot(home, "erase", asked.session, "--yes")
    (home / "config.toml").unlink()
    assert erpilot(home, "restore", str(file)).code == 2
    assert erpilot(home, "restore", str(file), "--yes").code == 0
    assert erpilot(home, "replay", asked.session).out == before
    assert (home / "config.toml").read_text(encoding="utf-8") == 'lang = "en"'
    again = erpilot(home, "ask", "A4 纸还有多少？", "--session", asked.session)
    assert again.code == 0
    fresh = tmp_path / "fresh"
    assert erpilot(fresh, "restore", str(file), "--yes").code == 0
    assert erpilot(fresh, "replay", asked.session).out == before
    torn = tmp_path / "torn.tar.gz"
    torn.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    assert erpilot(fresh, "restore", str(torn), "--yes").code == 2
    assert erpilot(fresh, "restore", str(tmp_path / "nosuch"), "--yes").code == 2
    assert erpilot(fresh, "replay", asked.session).out == before


def test_s4_data_of_a_newer_program_is_refused_and_left_as_it_is(home: Path, asked: Ended, tmp_path: Path) -> None:
    with closing(sqlite3.connect(home / "erpilot.db")) as db:
        db.execute("PRAGMA user_version = 99")
    before = (home / "erpilot.db").read_bytes()
    export = ("export", "last", "-o", str(tmp_path / "x.jsonl"))
    for command in (["sessions"], ["verify", "last"], ["ask", "Hi"], ["erase", "last", "--yes"], export):
        refused = erpilot(home, *command)
        assert refused.code == 6
        assert "newer version" in refused.err
    assert (home / "erpilot.db").read_bytes() == before
    assert asked.code == 0


def test_a_message_can_be_left_for_a_run_that_goes_on(home: Path) -> None:
    assert erpilot(home, "ask", "Hi", "--queue").code == 2
    with (
        model_server(["One ", 6.0, "two."], ["Three."]) as server,
        screen(home, "ask", "first", settings=server.settings) as person,
    ):
        person.wait_for("One ")
        left = erpilot(home, "ask", "second", "--queue", "--session", "last", settings=server.settings)
        assert left.code == 0
        person.wait_for("two.")
        person.wait_for("You: second")
        person.wait_for("Three.")
        assert person.end() == 0
    late = erpilot(home, "ask", "third", "--queue", "--session", "last")
    assert late.code == 2
    assert "ask without --queue" in late.err
