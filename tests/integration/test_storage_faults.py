"""Groups 2 and 3 of the fault catalogue, as far as the store alone has to hold them: X3, S1, S3, S4; and what is left
of something that was erased.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from agent_core import AgentLoop, DamagedLog, LoopConfig, SqliteStore, StoreError, Tier, tool
from agent_core import events as ev
from agent_core.codec import encode
from agent_core.store.base import Head
from agent_core.store.export import export_session, import_session, is_export, read_export
from agent_core.store.schema import SCHEMA_VERSION, STEPS
from agent_core.testing import MemoryStore, ScriptedModel
from agent_core.testing.log_checks import begin, read_all, said, texts_of

# --- X3: many writers


_WRITER = """
import asyncio, sys
from agent_core.store.sqlite import SqliteStore
from agent_core.testing.log_checks import said

async def main(path, name):
    store = SqliteStore(path)
    for seq in range(200):
        await store.append(name, [said(f"{name} {seq}")], expected_seq=seq)
    await store.aclose()

asyncio.run(main(*sys.argv[1:]))
"""

_READER = """
import asyncio, sys
from agent_core.store.sqlite import SqliteStore
from agent_core.errors import UnknownSession

async def main(path):
    store = SqliteStore(path)
    done = 0
    while done < 8:
        done = 0
        for info in await store.sessions():
            seqs = [item.seq async for item in store.read(info.session_id)]
            assert seqs == list(range(1, len(seqs) + 1))
            done += len(seqs) == 200
        await asyncio.sleep(0.05)
    await store.aclose()

asyncio.run(main(*sys.argv[1:]))
"""


async def test_x3_eight_processes_append_200_events_each_while_two_read(tmp_path: Path) -> None:
    path = str(tmp_path / "log.db")
    commands = [[_WRITER, path, f"s{number}"] for number in range(8)] + [[_READER, path]] * 2
    processes = [
        await asyncio.create_subprocess_exec(sys.executable, "-c", *command, stderr=subprocess.PIPE)
        for command in commands
    ]
    async with asyncio.timeout(240):
        results = await asyncio.gather(*(process.communicate() for process in processes))
    assert [error.decode() for _, error in results] == [""] * 10, "no lock reaches anyone"
    assert [process.returncode for process in processes] == [0] * 10
    store = SqliteStore(path)
    assert sum(info.head for info in await store.sessions()) == 1600
    for number in range(8):
        await store.verify(f"s{number}")
        assert await texts_of(store, f"s{number}") == [f"s{number} {seq}" for seq in range(200)]
    await store.aclose()


# --- S1: the disk is full


@contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    """A file system of 1.5 MB."""
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1500k", "none", str(folder)], check=True, capture_output=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def can_mount() -> bool:
    """Whether this process may mount a file system of its own."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return False
    probe = subprocess.run(
        ["sh", "-c", "d=$(mktemp -d) && mount -t tmpfs -o size=64k none $d && umount $d; e=$?; rmdir $d; exit $e"],
        capture_output=True,
        check=False,
    )
    return probe.returncode == 0


def effects_tool(effects: list[str]) -> Any:
    @tool(tier=Tier.WRITE)
    def change(key: str) -> str:
        """Changes something and says a lot."""
        effects.append(key)
        return key + "x" * 3_500

    return change


async def fill(store: SqliteStore, effects: list[str]) -> tuple[str, list[ev.Recorded]]:
    """Runs until the disk is full; gives the session and everything durable that was seen."""
    turns: list[Any] = []
    for number in range(400):
        turns += [[f"note {number} " + "y" * 3_000, ("change", {"key": f"k{number}"})], "ok"]
    config = LoopConfig(auto_approve=("WRITE",))
    loop = AgentLoop(model=ScriptedModel(turns), tools=[effects_tool(effects)], store=store, config=config)
    seen: list[ev.Recorded] = []
    session_id: str | None = None
    why = ""
    try:
        for number in range(400):
            async for item in loop.run(f"say {number}", session_id):
                session_id = item.session_id
                if item.seq is not None:
                    seen.append(item)
    except StoreError as error:
        why = str(error)
    assert "disk is full" in why
    assert str(store.path) in why, "the person sees which path is full"
    assert session_id is not None
    return session_id, seen


async def check_after_full(store: SqliteStore, session_id: str, seen: list[ev.Recorded], effects: list[str]) -> None:
    """I1, I3, I4: what was acknowledged is there, and no effect ran whose intent is not."""
    log = await read_all(store, session_id)
    assert log[: len(seen)] == seen
    await store.verify(session_id)
    assert len(effects) == len(set(effects))
    arguments = {
        call.id: msgspec.json.decode(call.arguments)["key"]
        for item in log
        if isinstance(item.event, ev.AssistantMessage)
        for call in item.event.tool_calls
    }
    intended = [arguments[item.event.call_id] for item in log if isinstance(item.event, ev.ToolCallStarted)]
    assert [key for key in effects if key not in intended] == []


@pytest.mark.skipif(not can_mount(), reason="no file system can be mounted here")
async def test_s1_a_full_disk_loses_nothing_runs_nothing_unrecorded_and_can_be_gone_on_from(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk") as disk:
        ballast = disk / "ballast"
        ballast.write_bytes(b"x" * 300_000)
        store, effects = SqliteStore(disk / "log.db"), list[str]()
        session_id, seen = await fill(store, effects)
        await check_after_full(store, session_id, seen, effects)
        ballast.unlink()
        model = ScriptedModel(["and the rest"] * 3)
        config = LoopConfig(auto_approve=("WRITE",))
        loop = AgentLoop(model=model, tools=[effects_tool(effects)], store=store, config=config)
        if (await loop.state(session_id)).running:
            ended = [item.event async for item in loop.resume(session_id)]
        else:  # it was the next message that no longer fitted
            ended = [item.event async for item in loop.run("say it again", session_id)]
        if any(isinstance(event, ev.LoopEnd) and event.reason == "awaiting_approval" for event in ended):
            state = await loop.state(session_id)
            for call in [call for call in state.entries[-1].calls if call.status == "uncertain"]:
                await loop.resolve(
                    session_id, call.call.id, "happened" if effects[-1] in call.call.arguments else "did_not_happen"
                )
            ended = [item.event async for item in loop.resume(session_id)]
        assert isinstance(ended[-1], ev.LoopEnd)
        assert ended[-1].reason == "completed"
        await store.verify(session_id)
        await store.aclose()


_LIMITED = """
import asyncio, resource, signal, sys
from agent_core.errors import StoreError
from agent_core.store.sqlite import SqliteStore
from agent_core.testing.log_checks import said

async def main(path):
    store = SqliteStore(path)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (700_000, resource.RLIM_INFINITY))
    seq = 0
    try:
        while True:
            await store.append("s", [said("x" * 3000)], expected_seq=seq)
            seq += 1
    except StoreError as error:
        print(seq, error, sep="|", flush=True)
    kept = [item.seq async for item in store.read("s")]
    assert kept == list(range(1, seq + 1)), (len(kept), seq)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    await store.append("s", [said("after")], expected_seq=seq)
    await store.verify("s")
    await store.aclose()

asyncio.run(main(sys.argv[1]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="limits of file sizes are POSIX's")
async def test_s1_a_limit_of_the_files_size_is_met_as_a_full_disk_is(tmp_path: Path) -> None:
    path = str(tmp_path / "log.db")
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _LIMITED, path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    output, errors = await process.communicate()
    assert (process.returncode, errors.decode()) == (0, "")
    acknowledged, sentence = output.decode().strip().split("|")
    assert path in sentence
    store = SqliteStore(path)
    assert (await store.verify("s")).head == int(acknowledged) + 1
    await store.aclose()


# --- S3: the tail is cut off, together with the store's own head


async def test_s3_a_tail_cut_off_with_its_head_shows_only_against_a_head_from_outside(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    store = SqliteStore(path)
    recorded = await begin(store, "s", *"abcdef")
    await export_session(store, "s", tmp_path / "s.jsonl")
    header = read_export(tmp_path / "s.jsonl").header
    outside = Head("s", header.log_head, header.log_head_hash)
    for cut in (1, 3):
        last = recorded[6 - cut]
        assert last.hash is not None
        with closing(sqlite3.connect(path)) as db, db:
            db.execute("DELETE FROM events WHERE place > 4294967296 + ?", (7 - cut,))
            db.execute("UPDATE sessions SET head = ?, head_hash = ?", (7 - cut, bytes.fromhex(last.hash)))
        verified = await store.verify("s")
        assert not verified.anchored, "it cannot rule truncation out, and says so"
        with pytest.raises(DamagedLog, match=f"ends at {7 - cut}, head says 7"):
            await store.verify("s", against=outside)
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("DELETE FROM events")
        db.execute("DELETE FROM sessions")
    with pytest.raises(DamagedLog, match="ends at 0, head says 7"):
        await store.verify("s", against=outside)
    await store.aclose()


async def test_s3_an_export_that_lost_its_end_or_its_middle_is_refused(tmp_path: Path) -> None:
    store = MemoryStore()
    await begin(store, "s", *"abcdef")
    await export_session(store, "s", tmp_path / "s.jsonl")
    lines = (tmp_path / "s.jsonl").read_bytes().splitlines(keepends=True)
    for damaged, seq in ((lines[:-2], 6), (lines[:3] + lines[4:], 3), ([*lines[:-1], lines[-1][:50]], 7)):
        (tmp_path / "cut.jsonl").write_bytes(b"".join(damaged))
        with pytest.raises(DamagedLog) as error:
            read_export(tmp_path / "cut.jsonl")
        assert error.value.seq == seq
        with pytest.raises(DamagedLog):
            await import_session(MemoryStore(), tmp_path / "cut.jsonl")


async def test_s3_a_session_whose_parent_is_gone_does_not_pass_for_a_shorter_one(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "log.db")
    await begin(store, "s", "a", "b")
    child = await store.fork("s", 2)
    with closing(sqlite3.connect(tmp_path / "log.db")) as db, db:
        db.execute("DELETE FROM sessions WHERE id = 's'")
    for reading in (store.verify(child), read_all(store, child), store.contents(child, ["x"])):
        with pytest.raises(DamagedLog, match="forked from is gone"):
            await reading
    await store.aclose()


# --- S2, in what was moved and in contents


async def test_s2_each_content_that_was_taken_away_is_missed(tmp_path: Path) -> None:
    session = await _long_run(tmp_path / "log.db")
    with closing(sqlite3.connect(tmp_path / "log.db")) as db:
        kept = [
            (table, name) for table in ("contents", "splices") for (name,) in db.execute(f"SELECT hash FROM {table}")
        ]
    await _export(tmp_path / "log.db", session, tmp_path / "s.jsonl")
    lines = (tmp_path / "s.jsonl").read_bytes().splitlines(keepends=True)
    assert len(kept) > 8
    for table, name in kept:
        with closing(sqlite3.connect(tmp_path / "log.db")) as db, db:
            row = db.execute(f"SELECT * FROM {table} WHERE hash = ?", (name,)).fetchone()
            db.execute(f"DELETE FROM {table} WHERE hash = ?", (name,))
        store = SqliteStore(tmp_path / "log.db")
        with pytest.raises(DamagedLog, match="a content that it names is missing"):
            await store.verify(session)
        await store.aclose()
        with closing(sqlite3.connect(tmp_path / "log.db")) as db, db:
            db.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)
        cut = [line for line in lines if not line.startswith(b'{"content":"%b"' % name.encode())]
        assert len(cut) == len(lines) - 1
        (tmp_path / "cut.jsonl").write_bytes(b"".join(cut))
        with pytest.raises(DamagedLog, match="a content that it names is missing") as error:
            await import_session(MemoryStore(), tmp_path / "cut.jsonl")
        assert error.value.file == str(tmp_path / "cut.jsonl")


async def test_what_only_looks_like_the_name_of_a_content_is_not_missed() -> None:
    store = MemoryStore()
    await begin(store, "s", "d" * 40, "=" + "e" * 40)
    assert (await store.verify("s")).head == 3


async def _long_run(path: Path) -> str:
    """A session with a cut output, and texts that are stored with their events."""

    @tool
    async def look_up(order: str) -> str:
        """All of an order."""
        return order * 3000

    turns: list[Any] = [[("look_up", {"order": "1"})], [("look_up", {"order": "2"})], "done " * 100]
    loop = AgentLoop(
        model=ScriptedModel(turns), tools=[look_up], store=SqliteStore(path), config=LoopConfig(system_prompt="A shop.")
    )
    items = [item async for item in loop.run("What is in them? " * 20)]
    await loop.aclose()
    return items[0].session_id


async def _export(path: Path, session: str, to: Path) -> None:
    store = SqliteStore(path)
    await export_session(store, session, to)
    await store.aclose()


async def test_s2_a_byte_changed_anywhere_in_an_export_is_found(tmp_path: Path) -> None:
    store = MemoryStore()
    contents = {"0" * 40: b"not what its name says"}
    await begin(store, "s", "one", "two")
    await export_session(store, "s", tmp_path / "s.jsonl")
    data = (tmp_path / "s.jsonl").read_bytes()
    start = data.index(b"\n") + 1
    refused = 0
    for place in range(start, len(data) - 1, 7):
        changed = bytes([data[place] ^ 1])
        (tmp_path / "bad.jsonl").write_bytes(data[:place] + changed + data[place + 1 :])
        with pytest.raises(StoreError):
            read_export(tmp_path / "bad.jsonl")
        refused += 1
    assert refused > 80
    assert is_export(tmp_path / "s.jsonl")
    assert not is_export(tmp_path / "nothing")
    manifest = ev.Manifest(added=tuple(contents), frame="=" + "1" * 40)
    request = ev.StepStarted(step=1, attempt=1, request=manifest, estimated_tokens=1)
    await store.append("s", [request], expected_seq=3, contents=contents)
    with pytest.raises(DamagedLog) as error:
        await store.verify("s")
    assert error.value.seq == 4


# --- S4: newer schema, unknown events


_OLD = """
import json, sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("PRAGMA busy_timeout = 30000")
print("open", flush=True)
at, name, salt, payload, digest, chain_hash = json.loads(sys.stdin.readline())
values = (4294967296 + 2, at, name, *map(bytes.fromhex, (salt, payload, digest, chain_hash)))
db.execute("BEGIN IMMEDIATE")
db.execute("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)", values)
db.execute("UPDATE sessions SET head = 2, head_hash = ? WHERE number = 1", (bytes.fromhex(chain_hash),))
db.execute("COMMIT")
print(db.execute("SELECT count(*) FROM events").fetchone()[0], flush=True)
"""
"""A program of the first version, as it appended."""


def old_database(path: Path, version: int) -> None:
    """A database as the program of that version left it."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        for step in STEPS[:version]:
            db.executescript(step)
        db.execute(f"PRAGMA user_version = {version}")


def layout(db: sqlite3.Connection) -> set[str]:
    """How the tables of a database were made, whatever the line breaks."""
    return {" ".join((row[0] or "").split()) for row in db.execute("SELECT sql FROM sqlite_master")}


@pytest.mark.parametrize("version", range(SCHEMA_VERSION))
async def test_s4_a_database_of_every_earlier_version_is_brought_up_to_date(tmp_path: Path, version: int) -> None:
    path = tmp_path / "log.db"
    old_database(path, version)
    store = SqliteStore(path)
    await begin(store, "s", "x")
    await store.snapshot("s", 1, b"state", schema="1")
    await store.erase("s")
    await store.aclose()
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA user_version").fetchone()[0] == SCHEMA_VERSION
        migrated = layout(db)
    fresh = tmp_path / "fresh.db"
    new = SqliteStore(fresh)
    await new.sessions()
    await new.aclose()
    with closing(sqlite3.connect(fresh)) as db:
        assert layout(db) == migrated


async def test_s4_a_program_that_was_running_goes_on_reading_and_appending_after_an_upgrade(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    old_database(path, 1)
    source = MemoryStore()  # what the old program appends, computed as it did
    await source.append("s", [said("one"), said("two")], expected_seq=0)
    first, second = [row async for row in source.rows("s")]
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute(
            "INSERT INTO sessions (id, head, head_hash, created_at, updated_at) VALUES ('s', 1, ?, 1, 1)", (first.hash,)
        )
        values = (4294967296 + 1, first.at, first.type, first.salt, first.payload, first.digest, first.hash)
        db.execute("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)", values)
    assert second.salt is not None
    assert second.payload is not None
    hexed = [part.hex() for part in (second.salt, second.payload, second.digest, second.hash)]
    old = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _OLD, str(path), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert old.stdout is not None
    assert await old.stdout.readline() == b"open\n"
    new = SqliteStore(path)
    assert await texts_of(new, "s") == ["one"]
    output, _ = await old.communicate(msgspec.json.encode([second.at, second.type, *hexed]) + b"\n")
    assert output == b"2\n"
    assert await texts_of(new, "s") == ["one", "two"]
    await new.verify("s")
    await new.append("s", [said("three")], expected_seq=2)
    await new.aclose()


async def test_s4_a_step_that_fails_leaves_the_version_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from agent_core.store import schema

    path = tmp_path / "log.db"
    old_database(path, 1)
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        with pytest.raises(sqlite3.OperationalError):
            schema.migrate(db, path, [STEPS[0], "CREATE TABLE extra (x); CREATE TABLE extra (x)"])
        assert db.execute("PRAGMA user_version").fetchone()[0] == 1
        assert db.execute("SELECT count(*) FROM sqlite_master WHERE name = 'extra'").fetchone()[0] == 0
        schema.migrate(db, path)
        assert db.execute("PRAGMA user_version").fetchone()[0] == SCHEMA_VERSION


async def test_s4_two_programs_that_upgrade_at_once_both_get_there(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    old_database(path, 1)
    stores = [SqliteStore(path) for _ in range(6)]
    await asyncio.gather(*(begin(store, f"s{number}", "x") for number, store in enumerate(stores)))
    assert len(await stores[0].sessions()) == 6
    await asyncio.gather(*(store.aclose() for store in stores))


async def test_s4_unknown_events_and_fields_survive_fork_export_and_import_and_the_fold_ignores_them(
    tmp_path: Path,
) -> None:
    store = SqliteStore(tmp_path / "log.db")
    loop = AgentLoop(model=ScriptedModel(["hello"]), store=store)
    (session_id,) = {item.session_id async for item in loop.run("hi")}
    before = (await loop.state(session_id)).entries
    odd = ev.UnknownEvent(type="Telepathy", payload=b'{"type":"Telepathy","v":3,"n":1.50,"deep":[{"x":null}]}')
    field = ev.UnknownEvent(
        type="TrustRevoked", payload=b'{"type":"TrustRevoked", "v":1,"mood":"fine","grant_id":"g","by":"u"}'
    )
    head = (await store.session(session_id)).head
    await store.append(session_id, [odd, field], expected_seq=head)
    child = await store.fork(session_id, head + 2)
    await export_session(store, child, tmp_path / "s.jsonl")
    other = MemoryStore()
    await import_session(other, tmp_path / "s.jsonl")
    for kept in (store, other):
        items = await read_all(kept, child)
        assert items[head].event == odd
        assert encode(items[head].event) == odd.payload
        assert isinstance(items[head + 1].event, ev.TrustRevoked)
        rows = [row async for row in kept.rows(child)]
        assert [row.payload for row in rows[head : head + 2]] == [odd.payload, field.payload]
        await kept.verify(child)
        assert (await AgentLoop(model=ScriptedModel(), store=kept).state(child)).entries == before
    await store.aclose()


# --- erased for good


def files_with(text: str, folder: Path) -> list[str]:
    """The files in which the text stands."""
    return [path.name for path in folder.iterdir() if text.encode() in path.read_bytes()]


async def test_nothing_of_an_erased_session_is_left_in_any_file(tmp_path: Path) -> None:
    canary = "王小明-13912345678-canary"
    store = SqliteStore(tmp_path / "log.db")
    turns: list[Any] = [*(f"answer {canary} {number}" for number in range(20)), "the fork's", "of another"]
    loop = AgentLoop(model=ScriptedModel(turns), store=store, config=LoopConfig(system_prompt="Be kind."))
    session_id = None
    for number in range(20):
        async for item in loop.run(f"{canary} {number} " + "x" * 700, session_id):
            session_id = item.session_id
    assert session_id is not None
    child = await store.fork(session_id, 30)
    _ = [item async for item in loop.run("in the fork, without a name", child)]
    (kept,) = {item.session_id async for item in loop.run("nothing personal")}
    expected = await read_all(store, kept)
    assert files_with(canary, tmp_path)
    await store.erase(session_id)
    assert files_with(canary, tmp_path) == []
    assert (await store.verify(session_id)).erased == ((1, (await store.session(session_id)).head),)
    assert (await store.verify(child)).erased == ((1, 30),)
    assert await read_all(store, kept) == expected
    await store.aclose()


async def test_a_reader_that_stands_in_the_way_of_erasing_is_told_about_and_erasing_again_finishes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent_core.store.erasing.PATIENCE", 0.2)
    store = SqliteStore(tmp_path / "log.db")
    await begin(store, "s", "canary-one-two")
    with closing(sqlite3.connect(tmp_path / "log.db", isolation_level=None)) as other:
        other.execute("BEGIN")
        other.execute("SELECT count(*) FROM events").fetchone()
        with pytest.raises(StoreError, match="erase again"):
            await store.erase("s")
        other.execute("COMMIT")
    await store.erase("s")
    assert files_with("canary-one-two", tmp_path) == []
    await store.aclose()
