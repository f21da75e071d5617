"""Sessions that begin at a snapshot: the same state, less time, and nothing that depends on it."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from agent_core import AgentLoop, DamagedLog, LoopConfig, MemoryStore, SqliteStore, snapshots, tool
from agent_core import events as ev
from agent_core.fold import fold
from agent_core.session import open_session
from agent_core.state import State
from agent_core.store.base import EventStore
from agent_core.testing import ScriptedModel


@tool()
def stock(sku: str) -> str:
    """Stock of a product."""
    return f"{sku}: 7"


@pytest.fixture(params=["memory", "sqlite"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[EventStore]:
    made: EventStore = MemoryStore() if request.param == "memory" else SqliteStore(tmp_path / "log.db")
    yield made
    await made.aclose()


async def converse(store: EventStore, turns: int, session_id: str | None = None) -> str:
    """A session of ``turns`` runs with one call each (12 events a run)."""
    script: list[Any] = [
        turn for number in range(turns) for turn in ([("stock", {"sku": f"A{number}"})], f"7 {number}")
    ]
    loop = AgentLoop(
        model=ScriptedModel(script), tools=[stock], store=store, config=LoopConfig(system_prompt="Be brief.")
    )
    for number in range(turns):
        async for item in loop.run(f"question {number}", session_id, client_message_id=f"m{session_id}{number}"):
            session_id = item.session_id
    assert session_id is not None
    return session_id


async def from_the_start(store: EventStore, session_id: str) -> State:
    """The fold of every event."""
    items = [item async for item in store.read(session_id)]
    names = {item.event.environment for item in items if isinstance(item.event, ev.RunStarted)}
    return fold(items, await store.contents(session_id, names))


async def snapshot_of(store: EventStore, session_id: str, at: int | None = None) -> int | None:
    """The event of the newest snapshot."""
    schema = snapshots.schema()
    assert schema is not None
    found = await store.latest_snapshot(session_id, at, schema=schema)
    return None if found is None else found.seq


async def test_a_session_that_grows_is_kept_every_50_to_100_events_and_opens_to_the_same_state(
    store: EventStore,
) -> None:
    session_id = await converse(store, 30)
    head = (await store.session(session_id)).head
    newest = await snapshot_of(store, session_id)
    assert newest is not None
    assert head - 100 <= newest <= head
    before = await snapshot_of(store, session_id, newest - 1)
    assert before is not None
    assert 50 <= newest - before <= 100
    assert await snapshot_of(store, session_id, before - 1) is None, "two are kept"
    assert (await open_session(store, session_id)).state == await from_the_start(store, session_id)


async def test_a_fork_opens_from_its_parents_snapshot_wherever_it_branched_off(store: EventStore) -> None:
    session_id = await converse(store, 20)
    newest = await snapshot_of(store, session_id, 200)
    assert newest is not None
    for at in (newest - 30, newest - 1, newest, newest + 1, newest + 5):
        child = await store.fork(session_id, at)
        grandchild = await store.fork(child, at)
        for name in (child, grandchild):
            state = (await open_session(store, name)).state
            assert state == await from_the_start(store, name), at
            assert state.session_id == name
        await converse(store, 2, child)
        assert (await open_session(store, child)).state == await from_the_start(store, child)


async def test_a_rollback_behind_a_snapshot_opens_to_the_same_state(store: EventStore) -> None:
    session_id = await converse(store, 20)
    newest = await snapshot_of(store, session_id)
    assert newest is not None
    loop = AgentLoop(model=ScriptedModel(["well"]), tools=[stock], store=store)
    await loop.rollback(session_id, newest - 20)
    assert (await open_session(store, session_id)).state == await from_the_start(store, session_id)
    assert [item async for item in loop.run("go on", session_id)]
    assert (await open_session(store, session_id)).state == await from_the_start(store, session_id)


async def test_a_command_between_a_snapshot_and_a_conflict_is_folded_in(store: EventStore) -> None:
    session_id = await converse(store, 10)
    mine, theirs = await open_session(store, session_id), await open_session(store, session_id)
    theirs.stage([ev.RunInterrupted(by="b")])
    await theirs.flush()
    recorded = await mine.command(lambda state: [ev.TrustRevoked(grant_id=str(state.seq), by="a")])
    assert [type(item.event).__name__ for item in recorded] == ["RunInterrupted", "TrustRevoked"]
    assert mine.state == await from_the_start(store, session_id)


# --- on files


def change(path: Path, statement: str, *values: object) -> int:
    with closing(sqlite3.connect(path)) as db, db:
        return db.execute(statement, values).rowcount


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM snapshots",
        "UPDATE snapshots SET data = substr(data, 1, length(data) - 1)",
        "UPDATE snapshots SET data = CAST(replace(data, '7', '8') AS BLOB)",
        "UPDATE snapshots SET schema = 'of another program'",
        "UPDATE snapshots SET checksum = randomblob(32)",
        "DELETE FROM snapshots WHERE place = (SELECT max(place) FROM snapshots)",
    ],
)
async def test_snapshots_that_are_gone_damaged_or_foreign_change_nothing_but_time(
    tmp_path: Path, statement: str
) -> None:
    store = SqliteStore(tmp_path / "log.db")
    session_id = await converse(store, 20)
    expected = (await open_session(store, session_id)).state
    assert change(tmp_path / "log.db", statement) > 0
    assert (await open_session(store, session_id)).state == expected
    await converse(store, 10, session_id)
    assert await snapshot_of(store, session_id) is not None, "and the next ones are written"
    assert (await open_session(store, session_id)).state == await from_the_start(store, session_id)
    await store.aclose()


async def test_a_log_that_is_damaged_before_its_snapshot_is_not_driven(tmp_path: Path) -> None:
    """S2: the damage lies in events that nothing would have read."""
    store = SqliteStore(tmp_path / "log.db")
    session_id = await converse(store, 20)
    newest = await snapshot_of(store, session_id)
    assert newest is not None
    place = change(tmp_path / "log.db", "UPDATE events SET payload = x'7b7d' WHERE place = 4294967296 + 5")
    assert place == 1
    head = (await store.session(session_id)).head
    loop = AgentLoop(model=ScriptedModel(["never said"]), tools=[stock], store=store)
    for drive in (loop.run("hello", session_id), loop.resume(session_id)):
        with pytest.raises(DamagedLog) as error:
            _ = [item async for item in drive]
        assert error.value.seq == 5
    assert (await store.session(session_id)).head == head, "nothing was appended"
    await store.aclose()


async def test_a_long_log_that_is_damaged_before_its_snapshot_stops_being_driven(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S2, too long to be verified first: it is verified while the run begins."""
    monkeypatch.setattr("agent_core.session.CHECKED_FIRST", 10)
    store = SqliteStore(tmp_path / "log.db")
    session_id = await converse(store, 20)
    assert change(tmp_path / "log.db", "UPDATE events SET payload = x'7b7d' WHERE place = 4294967296 + 5") == 1

    @tool()
    async def wait() -> str:
        """Takes its time."""
        import asyncio

        await asyncio.sleep(30)
        return "never"

    loop = AgentLoop(model=ScriptedModel([[("wait", {})], "never said"]), tools=[wait], store=store)
    with pytest.raises(DamagedLog) as error:
        _ = [item async for item in loop.run("hello", session_id)]
    assert error.value.seq == 5
    await store.aclose()


async def test_where_a_drive_leaves_the_head_is_logged_for_operators(
    store: EventStore, caplog: pytest.LogCaptureFixture
) -> None:
    """S3: a head that is kept apart from the store."""
    caplog.set_level("INFO", logger="agent_core.heads")
    session_id = await converse(store, 1)
    info = await store.session(session_id)
    assert caplog.messages[-1] == f"head of {session_id}: event {info.head} {info.head_hash}"
