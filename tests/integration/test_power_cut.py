"""C5: a power cut after an acknowledged append loses nothing that was acknowledged."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from agent_core.store.sqlite import SqliteStore
from agent_core.testing.log_checks import read_all, said
from tests.support.power_cut import Connection, PowerCutFiles, Rows

APPENDS = 200
Cut = tuple[int, dict[str, bytes]]
"""How many events were acknowledged, and what the disk then holds."""


async def cuts_of(folder: Path, monkeypatch: pytest.MonkeyPatch, synchronous: int) -> list[Cut]:
    """The disk after each of the appends, and at each sync between them, with a checkpoint every 17 pages."""
    acknowledged = 0
    cuts: list[Cut] = []
    files = PowerCutFiles(f"cut {folder}", lambda: cuts.append((acknowledged, files.after_a_cut())))
    fresh(folder)

    def connect(path: Path, **_: object) -> Connection:
        return Connection(path, files.name, ["PRAGMA wal_autocheckpoint = 17"])

    with monkeypatch.context() as patched:
        patched.setattr("sqlite3.connect", connect)
        store = SqliteStore(folder / "log.db")
        for seq in range(APPENDS):
            await store.append("s", [said(f"{seq} " + "x" * (seq * 37 % 900))], expected_seq=seq)
            acknowledged = seq + 1
            cuts.append((acknowledged, files.after_a_cut()))
        setting = await store._worker.write(lambda db: db.execute("PRAGMA synchronous").fetchone()[0])
        assert setting == synchronous
        files.on_sync = lambda: None
        await store.aclose()
    return cuts


def fresh(folder: Path) -> Path:
    """A new, empty folder."""
    folder.mkdir()
    return folder


def rebuilt(folder: Path, disk: dict[str, bytes]) -> Path:
    """The files as the next start finds them."""
    fresh(folder)
    for name, data in disk.items():
        (folder / name).write_bytes(data)
    return folder / "log.db"


async def test_c5_no_acknowledged_event_is_lost_in_any_of_200_power_cuts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cuts = await cuts_of(tmp_path / "running", monkeypatch, synchronous=2)
    assert {acknowledged for acknowledged, _ in cuts} == set(range(APPENDS + 1))
    for number, (acknowledged, disk) in enumerate(cuts):
        path = rebuilt(tmp_path / str(number), disk)
        with closing(sqlite3.connect(path)) as db:
            assert db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
        if acknowledged:
            store = SqliteStore(path)
            kept = await read_all(store, "s")
            assert [item.seq for item in kept] == list(range(1, len(kept) + 1))
            assert len(kept) >= acknowledged
            assert (await store.verify("s")).head == len(kept)
            await store.aclose()


@pytest.mark.parametrize(("setting", "number"), [("NORMAL", 1), ("OFF", 0)])
async def test_c5_the_same_cuts_show_what_a_weaker_setting_would_lose(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, setting: str, number: int
) -> None:
    """Without this, the test above could pass because nothing is ever lost in it."""
    execute = Connection.execute

    def weaker(self: Connection, statement: str, values: Sequence[object] = ()) -> Rows:
        return execute(self, statement.replace("synchronous = FULL", f"synchronous = {setting}"), values)

    monkeypatch.setattr(Connection, "execute", weaker)
    cuts = await cuts_of(tmp_path / "running", monkeypatch, synchronous=number)
    lost = 0
    for place, (acknowledged, disk) in enumerate(cuts[::20]):
        with closing(sqlite3.connect(rebuilt(tmp_path / str(place), disk))) as db:
            tables = db.execute("SELECT count(*) FROM sqlite_master WHERE name = 'events'").fetchone()[0]
            kept = db.execute("SELECT count(*) FROM events").fetchone()[0] if tables else 0
        lost += max(0, acknowledged - kept)
    assert lost > 0
