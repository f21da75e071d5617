"""The SQLite store on real files: durability settings, permissions, damage, truncation, newer programs."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import stat
import sys
from contextlib import closing
from pathlib import Path

import pytest

from agent_core.errors import DamagedLog, StoreError
from agent_core.store.base import EventStore
from agent_core.store.schema import SCHEMA_VERSION
from agent_core.store.sqlite import SqliteStore
from agent_core.testing.log_checks import read_all, said


async def filled(path: Path, count: int = 6) -> None:
    """A session ``s`` with ``count`` events, and a fork of it at event 3."""
    store = SqliteStore(path)
    for seq in range(count):
        await store.append("s", [said(f"event {seq + 1}")], expected_seq=seq)
    await store.fork("s", 3)
    await store.aclose()


def damage(path: Path, statement: str, *values: object) -> None:
    """Changes the file as a person with database tools would."""
    with closing(sqlite3.connect(path)) as db, db:
        assert db.execute(statement, values).rowcount > 0


async def test_appends_are_synced_to_disk_in_a_write_ahead_log(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "log.db")
    await store.append("s", [said("x")], expected_seq=0)

    def settings(db: sqlite3.Connection) -> tuple[object, ...]:
        names = ("journal_mode", "synchronous", "user_version")
        return tuple(db.execute(f"PRAGMA {name}").fetchone()[0] for name in names)

    assert await store._worker.write(settings) == ("wal", 2, SCHEMA_VERSION)
    await store.aclose()


@pytest.mark.skipif(sys.platform == "win32", reason="permissions of files are POSIX's")
async def test_files_can_be_read_by_their_owner_only(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        store = SqliteStore(tmp_path / "home" / "deep" / "log.db")
        await store.append("s", [said("x")], expected_seq=0)
    finally:
        os.umask(old)
    folder = tmp_path / "home" / "deep"
    assert {path.name for path in folder.iterdir()} >= {"log.db", "log.db-wal"}
    for path in (folder, *folder.iterdir()):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path
    await store.aclose()


@pytest.mark.parametrize("seq", [1, 4, 6])
@pytest.mark.parametrize(
    "change",
    [
        "UPDATE events SET payload = replace(payload, 'event', 'evemt') WHERE place % 4294967296 = ?",
        "UPDATE events SET payload = substr(payload, 1, length(payload) - 3) WHERE place % 4294967296 = ?",
        "UPDATE events SET payload = x'' WHERE place % 4294967296 = ?",
        "DELETE FROM events WHERE place % 4294967296 = ?",
    ],
    ids=["one byte", "cut short", "emptied", "gone"],
)
async def test_a_damaged_event_is_named_and_everything_before_it_can_be_read(
    tmp_path: Path, change: str, seq: int
) -> None:
    await filled(tmp_path / "log.db")
    damage(tmp_path / "log.db", f"{change} AND place < 2 * 4294967296", seq)
    store = SqliteStore(tmp_path / "log.db")
    with pytest.raises(DamagedLog) as verified:
        await store.verify("s")
    assert verified.value.seq == seq
    seen: list[int | None] = []

    async def read_on() -> None:
        async for item in store.read("s"):
            seen.append(item.seq)

    with pytest.raises(DamagedLog) as read:
        await read_on()
    assert read.value.seq == seq
    assert seen == list(range(1, seq))
    child = next(info.session_id for info in await store.sessions() if info.parent == "s")
    if seq <= 3:
        with pytest.raises(DamagedLog):
            await store.verify(child)
    else:
        await store.verify(child)
    await store.aclose()


@pytest.mark.parametrize(
    "column",
    [
        "at = at + 1",
        "at = 'noon'",
        "type = 'StepEnd'",
        "digest = 'text'",
        "digest = randomblob(32)",
        "hash = randomblob(32)",
        "salt = randomblob(16)",
    ],
)
async def test_whatever_was_changed_of_an_event_shows_in_verification(tmp_path: Path, column: str) -> None:
    await filled(tmp_path / "log.db")
    damage(tmp_path / "log.db", f"UPDATE events SET {column} WHERE place = 4294967296 + 2")
    store = SqliteStore(tmp_path / "log.db")
    with pytest.raises(DamagedLog) as error:
        await store.verify("s")
    assert error.value.seq == 2
    await store.aclose()


@pytest.mark.parametrize("lost", [1, 3, 6])
async def test_a_cut_tail_shows_against_the_head_and_is_never_taken_for_the_end(tmp_path: Path, lost: int) -> None:
    await filled(tmp_path / "log.db")
    damage(tmp_path / "log.db", "DELETE FROM events WHERE place BETWEEN ? AND 4294967296 + 6", 4294967296 + 7 - lost)
    store = SqliteStore(tmp_path / "log.db")
    with pytest.raises(DamagedLog) as error:
        await store.verify("s")
    assert error.value.seq == 7 - lost
    assert str(6 - lost) in str(error.value)
    assert "6" in str(error.value)
    with pytest.raises(DamagedLog):
        await read_all(store, "s")
    await store.aclose()


async def test_a_newer_schema_is_refused_before_a_byte_is_written(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE future (x)")
        db.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    before = path.read_bytes()
    store = SqliteStore(path)
    with pytest.raises(StoreError, match="newer version"):
        await store.append("s", [said("x")], expected_seq=0)
    with pytest.raises(StoreError, match="newer version"):
        await store.sessions()
    await store.aclose()
    assert path.read_bytes() == before
    assert [name for name in os.listdir(tmp_path) if name.startswith("log.db-")] == [], "no write-ahead log was begun"


async def test_a_file_that_is_no_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    path.write_bytes(b"this is a letter to my grandmother " * 100)
    store = SqliteStore(path)
    with pytest.raises(StoreError, match="not a readable database"):
        await store.append("s", [said("x")], expected_seq=0)
    await store.aclose()
    assert path.read_bytes().startswith(b"this is a letter")


async def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    store = SqliteStore(tmp_path / "file" / "log.db")
    with pytest.raises(StoreError, match=r"log\.db"):
        await store.append("s", [said("x")], expected_seq=0)
    await store.aclose()


async def test_what_was_acknowledged_is_there_for_another_connection_at_once(tmp_path: Path) -> None:
    one, two = SqliteStore(tmp_path / "log.db"), SqliteStore(tmp_path / "log.db")
    recorded = []
    for seq in range(50):
        recorded += await one.append("s", [said(str(seq))], expected_seq=seq)
        assert await read_all(two, "s") == recorded
    await asyncio.gather(one.aclose(), two.aclose())


async def test_a_store_can_be_used_again_after_it_was_closed(tmp_path: Path) -> None:
    store: EventStore = SqliteStore(tmp_path / "log.db")
    await store.append("s", [said("x")], expected_seq=0)
    await store.aclose()
    await store.append("s", [said("y")], expected_seq=1)
    assert len(await read_all(store, "s")) == 2
    await store.aclose()
    await store.aclose()


async def test_a_write_that_is_no_longer_waited_for_leaves_the_store_in_order(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "log.db")
    await store.append("s", [said("x")], expected_seq=0)
    for _ in range(20):
        head = (await store.session("s")).head
        writing = asyncio.ensure_future(store.append("s", [said("y")], expected_seq=head))
        await asyncio.sleep(0)
        writing.cancel()
        await asyncio.gather(writing, return_exceptions=True)
    verified = await store.verify("s")
    assert verified.head == len(await read_all(store, "s"))
    await store.append("s", [said("z")], expected_seq=verified.head)
    await store.aclose()
