"""What a store promises about keeping: snapshots, heads, whole sessions moved elsewhere, erasing. See ``conformance``.

Invariant: only the ``EventStore`` protocol is used.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from ..errors import Busy, Conflict, DamagedLog, Erased, Fenced, StoreError, UnknownSession
from ..events import AnyEvent, Manifest, SessionStarted, StepStarted, UnknownEvent
from ..state import content_hash
from ..store.base import SHARED, SNAPSHOTS_KEPT, EventStore, Head, Row
from ..store.export import export_session, import_session, read_export
from ..store.memory import MemoryStore
from .log_checks import begin, read_all, refused, said, texts_of

# --- snapshots


async def the_newest_snapshot_is_found(store: EventStore) -> None:
    """At all, or at or before an event; only the newest few are kept."""
    await begin(store, "s", *"abcdefgh")
    assert await store.latest_snapshot("s", schema="1") is None
    for seq in (2, 4, 6):
        await store.snapshot("s", seq, b"state %d" % seq, schema="1")
    found = await store.latest_snapshot("s", schema="1")
    assert found is not None
    assert (found.seq, found.data, found.schema) == (6, b"state 6", "1")
    earlier = await store.latest_snapshot("s", 5, schema="1")
    assert earlier is not None
    assert earlier.seq == 4
    assert SNAPSHOTS_KEPT == 2
    assert await store.latest_snapshot("s", 3, schema="1") is None


async def a_snapshot_of_another_schema_is_not_found(store: EventStore) -> None:
    """What another program wrote says nothing to this one, however new it is."""
    await begin(store, "s", *"abc")
    await store.snapshot("s", 2, b"mine", schema="1")
    await store.snapshot("s", 4, b"other", schema="2")
    found = await store.latest_snapshot("s", schema="1")
    assert found is not None
    assert found.data == b"mine"
    assert await store.latest_snapshot("s", schema="3") is None


async def a_snapshot_behind_the_head_is_not_taken(store: EventStore) -> None:
    """Nor one of a session that does not exist, nor one of an event that a fork inherited."""
    await begin(store, "s", *"abc")
    await store.snapshot("s", 5, b"the future", schema="1")
    await store.snapshot("no", 1, b"nothing", schema="1")
    assert await store.latest_snapshot("s", schema="1") is None
    child = await store.fork("s", 3)
    await store.snapshot(child, 3, b"not its own", schema="1")
    assert await store.latest_snapshot(child, schema="1") is None


async def a_fork_begins_at_snapshots_of_what_it_inherited(store: EventStore) -> None:
    """Those of its parents up to the event it branched off at, and its own before them."""
    await begin(store, "s", *"abcdef")
    await store.snapshot("s", 3, b"three", schema="1")
    await store.snapshot("s", 6, b"six", schema="1")
    child = await store.fork("s", 4)
    grandchild = await store.fork(child, 5)
    for name in (child, grandchild):
        found = await store.latest_snapshot(name, schema="1")
        assert found is not None
        assert found.data == b"three"
    await store.snapshot(child, 5, b"child", schema="1")
    for name in (child, grandchild):
        found = await store.latest_snapshot(name, schema="1")
        assert found is not None
        assert found.data == b"child"
    unrelated = await store.fork("s", 2)
    assert await store.latest_snapshot(unrelated, schema="1") is None


# --- heads


async def a_head_from_outside_shows_what_is_missing(store: EventStore) -> None:
    """A log that reaches the head holds; one that ends before it, or is another one, does not."""
    recorded = await begin(store, "s", *"abc")
    assert not (await store.verify("s")).anchored
    for item in recorded:
        assert item.seq is not None
        assert item.hash is not None
        assert (await store.verify("s", against=Head("s", item.seq, item.hash))).anchored
    assert recorded[-1].hash is not None
    error = await refused(DamagedLog, store.verify("s", against=Head("s", 9, recorded[-1].hash)))
    assert "ends at 4, head says 9" in str(error)
    error = await refused(DamagedLog, store.verify("s", against=Head("s", 2, recorded[-1].hash)))
    assert isinstance(error, DamagedLog)
    assert error.seq == 2
    error = await refused(DamagedLog, store.verify("gone", against=Head("gone", 3, recorded[-1].hash)))
    assert "ends at 0, head says 3" in str(error)


# --- whole sessions


async def a_session_moves_whole_to_another_store(store: EventStore) -> None:
    """Numbers, times, hashes, payloads, contents, also of a fork's parents and of programs to come; then it goes on."""
    own, name = _content("salt", b"own")
    await store.append("s", [SessionStarted(owner="o", salt="salt"), _request(name)], expected_seq=0, contents=own)
    odd = UnknownEvent(type="Telepathy", payload=b'{"type":"Telepathy","v":3,"n":1.50,"deep":[{"x":null}]}')
    await store.append("s", [odd, said("before")], expected_seq=2)
    child = await store.fork("s", 4)
    await store.append(child, [said("after")], expected_seq=5)
    async with _file() as path:
        header = await export_session(store, child, path)
        assert header.parents == (("s", 4),)
        other = MemoryStore()
        assert await import_session(other, path) == child
        assert await read_all(other, child) == await read_all(store, child)
        assert await other.verify(child) == await store.verify(child)
        assert await other.contents(child, [name]) == {name: b"own"}
        assert (await other.session(child)).parent is None
        await other.append(child, [said("more")], expected_seq=6)
        assert await import_session(other, path) == child, "a longer log that begins the same is the same session"
        await export_session(other, child, path)
        await refused(Conflict, import_session(store, path))
        assert await texts_of(store, child) == ["before", "after"]


async def a_session_comes_back_as_it_was(store: EventStore) -> None:
    """Exported from elsewhere, imported here: equal in every respect, and a second time nothing happens."""
    other = MemoryStore()
    contents, name = _content("salt", b"\x00\xff")
    await other.append(
        "s", [SessionStarted(salt="salt"), _request(name), *map(said, "abc")], expected_seq=0, contents=contents
    )
    async with _file() as path:
        await export_session(other, "s", path)
        for _ in range(2):
            assert await import_session(store, path) == "s"
        assert await read_all(store, "s") == await read_all(other, "s")
        assert await _rows(store, "s") == await _rows(other, "s")
        assert await store.verify("s") == await other.verify("s")
        assert await store.contents("s", [name]) == {name: b"\x00\xff"}
    lease = await store.acquire("s", seconds=30)
    await store.append("s", [said("d")], expected_seq=5, lease=lease)
    await store.verify("s")
    assert [info.session_id for info in await store.sessions()] == ["s"]


async def a_masked_session_is_kept_as_masked(store: EventStore) -> None:
    """Its chain verifies, it says which payloads are not the originals, and its contents pass for nobody else's."""
    other = MemoryStore()
    text = "Call 13800138000"
    shared = {SHARED + content_hash(text.encode()): text.encode()}
    (frame,) = shared
    events: list[AnyEvent] = [SessionStarted(salt="x"), said(text), _request("none", frame), said("plain")]
    await other.append("s", events, expected_seq=0, contents=shared)
    async with _file() as path:
        await export_session(other, "s", path, redact=True)
        await import_session(store, path)
    verified = await store.verify("s")
    assert verified.redacted == ((1, 2),)
    assert verified.head_hash == (await other.session("s")).head_hash
    assert await texts_of(store, "s") == ["Call [phone]", "plain"]
    assert await store.contents("s", [frame]) == {frame: b"Call [phone]"}
    await begin(store, "another")
    assert await store.contents("another", [frame]) == {}, "a masked content is never shared"


# --- erasing


async def an_erased_session_keeps_its_chain_and_nothing_else(store: EventStore) -> None:
    """It verifies and says so; reading, driving, appending and forking it are refused; erasing again is harmless."""
    await store.append("s", [SessionStarted(salt="x"), said("private")], expected_seq=0, contents={"c": b"private"})
    await store.snapshot("s", 2, b"private", schema="1")
    before = await store.session("s")
    for _ in range(2):
        await store.erase("s")
        verified = await store.verify("s")
        assert verified.erased == ((1, 2),)
        assert verified.head_hash == before.head_hash
        info = await store.session("s")
        assert info.erased_at is not None
        assert (info.head, info.head_hash) == (2, before.head_hash)
        error = await refused(Erased, read_all(store, "s"))
        assert isinstance(error, Erased)
        assert error.seq == 1
        assert await store.contents("s", ["c"]) == {}
        assert await store.latest_snapshot("s", schema="1") is None
        await refused(Erased, store.append("s", [said("more")], expected_seq=2))
        await refused(Erased, store.acquire("s", seconds=1))
        await refused(Erased, store.fork("s", 1))
        await store.snapshot("s", 2, b"private", schema="1")
        assert await store.latest_snapshot("s", schema="1") is None, "a late driver brings nothing back"
        rows = await _rows(store, "s")
        assert {(row.salt, row.payload, row.state) for row in rows} == {(None, None, "erased")}
    await refused(UnknownSession, store.erase("no"))


async def what_a_fork_inherited_is_erased_with_its_parent(store: EventStore) -> None:
    """The fork says so, forgets what it kept of it, and still holds what it appended itself; others are not touched."""
    await begin(store, "s", "private", "also private")
    early = await store.fork("s", 2)
    child = await store.fork("s", 3)
    await store.append(child, [_request("sent"), said("own")], expected_seq=4, contents={"sent": b"private", "k": b"1"})
    await store.snapshot(child, 6, b"private", schema="1")
    await begin(store, "other", "kept")
    await store.erase("s")
    for name, upto in ((child, 3), (early, 2)):
        assert (await store.verify(name)).erased == ((1, upto),)
        await refused(Erased, read_all(store, name))
        assert (await store.session(name)).erased_at is None
    assert await texts_of(store, child, 3) == ["own"]
    assert await store.contents(child, ["sent", "k"]) == {"k": b"1"}
    assert await store.latest_snapshot(child, schema="1") is None
    assert await texts_of(store, "other") == ["kept"]


async def erasing_a_fork_leaves_its_parent_alone(store: EventStore) -> None:
    """Inherited events belong to whoever appended them."""
    await begin(store, "s", "kept")
    child = await store.fork("s", 2)
    await store.append(child, [said("private")], expected_seq=3)
    await store.erase(child)
    assert (await store.verify(child)).erased == ((3, 4),)
    assert await texts_of(store, "s") == ["kept"]
    assert (await store.verify("s")).erased == ()


async def a_session_that_is_driven_is_not_erased(store: EventStore) -> None:
    """Not before its driver has given it back; one that comes too late is fenced off."""
    await begin(store, "s", "private")
    lease = await store.acquire("s", seconds=30)
    await refused(Busy, store.erase("s"))
    assert await texts_of(store, "s") == ["private"]
    await store.release(lease)
    await store.erase("s")
    await refused(Fenced, store.append("s", [said("late")], expected_seq=2, lease=lease))


async def an_erased_session_moves_as_one(store: EventStore) -> None:
    """Its export verifies and brings nothing back, here or elsewhere."""
    await begin(store, "s", "private")
    async with _file() as path, _file() as whole:
        await export_session(store, "s", whole)
        await store.erase("s")
        await export_session(store, "s", path)
        assert b"private" not in Path(path).read_bytes()  # noqa: ASYNC240
        assert read_export(path).verified.erased == ((1, 2),)
        other = MemoryStore()
        await import_session(other, path)
        assert (await other.verify("s")).erased == ((1, 2),)
        assert await import_session(store, whole) == "s"
        await refused(Erased, read_all(store, "s"))
        await refused(StoreError, store.acquire("s", seconds=1))


def _request(message: str, frame: str = SHARED + "frame") -> StepStarted:
    return StepStarted(step=1, attempt=1, request=Manifest(added=(message,), frame=frame), estimated_tokens=1)


def _content(salt: str, data: bytes) -> tuple[dict[str, bytes], str]:
    name = content_hash(data, salt)
    return {name: data}, name


async def _rows(store: EventStore, session_id: str) -> list[Row]:
    return [row async for row in store.rows(session_id)]


@asynccontextmanager
async def _file() -> AsyncIterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        yield os.path.join(folder, "session.jsonl")
