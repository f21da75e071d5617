"""Copies of a home that is in use, and back."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import stat
import sys
from contextlib import closing
from pathlib import Path

import pytest

from agent_core.errors import Busy, Fenced, StoreError
from agent_core.store.schema import SCHEMA_VERSION
from agent_core.store.sqlite import SqliteStore
from agent_core.store.upkeep import backup_home, restore_home
from agent_core.testing.log_checks import read_all, said, texts_of


def ledger(path: Path) -> sqlite3.Connection:
    """A database that is no log, such as a shop's."""
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("CREATE TABLE IF NOT EXISTS entries (seq INTEGER PRIMARY KEY)")
    return db


async def test_a_home_is_copied_as_of_one_moment_while_it_is_written_to(tmp_path: Path) -> None:
    home = tmp_path / "home"
    store = SqliteStore(home / "erpilot.db")
    await store.append("s", [said("0")], expected_seq=0)
    (home / "config.toml").write_text("lang = 'zh'\n")
    with closing(ledger(home / "shop.db")) as shop:
        stop = asyncio.Event()

        async def write() -> int:
            seq = 1
            while not stop.is_set():
                await store.append("s", [said(str(seq)), said("and")], expected_seq=2 * seq - 1)
                shop.execute("INSERT INTO entries VALUES (?)", (seq,))  # the ledger never is ahead of the log
                seq += 1
                await asyncio.sleep(0)
            return seq

        writing = asyncio.ensure_future(write())
        for number in range(8):
            await asyncio.sleep(0.05)
            copies = await asyncio.to_thread(backup_home, home, tmp_path / f"copy{number}")
            assert [path.name for path in copies] == ["erpilot.db", "shop.db", "config.toml"]
        stop.set()
        await writing
    await store.aclose()
    heads = []
    for number in range(8):
        folder = tmp_path / f"copy{number}"
        copy = SqliteStore(folder / "erpilot.db")
        head = (await copy.verify("s")).head
        assert head % 2 == 1, "batches are whole"
        heads.append(head)
        await copy.aclose()
        with closing(sqlite3.connect(folder / "shop.db")) as db:
            entries = db.execute("SELECT count(*) FROM entries").fetchone()[0]
        assert 0 <= (head - 1) // 2 - entries <= 1, "both are of the same moment"
    assert heads == sorted(heads)
    assert heads[-1] > heads[0]


@pytest.mark.skipif(sys.platform == "win32", reason="permissions of files are POSIX's")
async def test_copies_can_be_read_by_their_owner_only(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "home" / "erpilot.db")
    await store.append("s", [said("x")], expected_seq=0)
    (tmp_path / "home" / "config.toml").write_text("")
    old = os.umask(0)
    try:
        backup_home(tmp_path / "home", tmp_path / "copy")
    finally:
        os.umask(old)
    for path in (tmp_path / "copy", *(tmp_path / "copy").iterdir()):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path
    await store.aclose()


async def test_a_restored_home_is_the_one_that_was_copied_also_for_programs_that_have_it_open(tmp_path: Path) -> None:
    home = tmp_path / "home"
    store = SqliteStore(home / "erpilot.db")
    await store.append("s", [said("kept")], expected_seq=0)
    expected = await read_all(store, "s")
    backup_home(home, tmp_path / "copy")
    await store.append("s", [said("later")], expected_seq=1)
    await store.append("new", [said("later")], expected_seq=0)
    restored = restore_home(tmp_path / "copy", home)
    assert restored == [home / "erpilot.db"]
    assert await read_all(store, "s") == expected
    assert [info.session_id for info in await store.sessions()] == ["s"]
    await store.verify("s")
    await store.append("s", [said("goes on")], expected_seq=1)
    await store.aclose()
    assert sorted(path.name for path in home.iterdir()) == ["erpilot.db"], "nothing is left behind"


async def test_a_driver_from_before_a_restore_is_fenced_off(tmp_path: Path) -> None:
    """X2: it may stand at the same event number of another log."""
    home = tmp_path / "home"
    store = SqliteStore(home / "erpilot.db")
    await store.append("s", [said("one")], expected_seq=0)
    backup_home(home, tmp_path / "copy")
    lease = await store.acquire("s", seconds=30)
    with pytest.raises(Busy):
        restore_home(tmp_path / "copy", home)
    await store.release(lease)
    restore_home(tmp_path / "copy", home)
    with pytest.raises(Fenced):
        await store.append("s", [said("late")], expected_seq=1, lease=lease)
    newer = await store.acquire("s", seconds=30)
    assert newer.generation > lease.generation
    assert await texts_of(store, "s") == ["one"]
    await store.aclose()


async def test_a_backup_is_restored_into_an_empty_home(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "home" / "erpilot.db")
    await store.append("s", [said("one")], expected_seq=0)
    backup_home(tmp_path / "home", tmp_path / "copy")
    await store.aclose()
    restore_home(tmp_path / "copy", tmp_path / "elsewhere")
    other = SqliteStore(tmp_path / "elsewhere" / "erpilot.db")
    assert await texts_of(other, "s") == ["one"]
    await other.append("s", [said("two")], expected_seq=1, lease=await other.acquire("s", seconds=1))
    await other.aclose()


@pytest.mark.parametrize("harm", ["damage", "newer", "nothing"])
async def test_what_cannot_be_restored_changes_nothing(tmp_path: Path, harm: str) -> None:
    home, copy = tmp_path / "home", tmp_path / "copy"
    store = SqliteStore(home / "erpilot.db")
    await store.append("s", [said("x" * 200)] * 500, expected_seq=0)
    backup_home(home, copy)
    await store.append("s", [said("later")], expected_seq=500)
    if harm == "damage":
        data = bytearray((copy / "erpilot.db").read_bytes())
        data[5 * 4096 : 5 * 4096 + 300] = b"\xff" * 300
        (copy / "erpilot.db").write_bytes(data)
    elif harm == "newer":
        with closing(sqlite3.connect(copy / "erpilot.db")) as db:
            db.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    else:
        (copy / "erpilot.db").write_bytes(b"no database")
    with pytest.raises(StoreError):
        restore_home(copy, home)
    assert len(await read_all(store, "s")) == 501
    await store.aclose()
    assert sorted(path.name for path in home.iterdir()) == ["erpilot.db"]


async def test_a_backup_never_overwrites_an_older_one(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "home" / "erpilot.db")
    await store.append("s", [said("x")], expected_seq=0)
    backup_home(tmp_path / "home", tmp_path / "copy")
    with pytest.raises(StoreError, match="not empty"):
        backup_home(tmp_path / "home", tmp_path / "copy")
    with pytest.raises(StoreError, match="no database"):
        backup_home(tmp_path / "nowhere", tmp_path / "copy2")
    await store.aclose()
