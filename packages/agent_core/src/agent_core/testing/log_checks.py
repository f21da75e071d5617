"""What a store promises about logs: order, atomicity, contents, forks, hashes. See ``conformance``.

Invariant: only the ``EventStore`` protocol is used.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable

import msgspec

from ..codec import encode
from ..errors import Conflict, StoreError, UnknownSession
from ..events import (
    AnyEvent,
    AssistantMessage,
    Recorded,
    SessionStarted,
    StepEnd,
    TextPart,
    UnknownEvent,
    UserMessage,
)
from ..store.base import SHARED, EventStore


def said(text: str) -> UserMessage:
    """A small event."""
    return UserMessage(content=(TextPart(text),), author="user")


async def read_all(store: EventStore, session_id: str, after: int = 0) -> list[Recorded]:
    """Everything ``read`` gives."""
    return [item async for item in store.read(session_id, after)]


async def texts_of(store: EventStore, session_id: str, after: int = 0) -> list[str]:
    """The texts of its messages."""
    texts = []
    for item in await read_all(store, session_id, after):
        if isinstance(item.event, UserMessage):
            assert isinstance(item.event.content[0], TextPart)
            texts.append(item.event.content[0].text)
    return texts


async def refused(kind: type[Exception], awaitable: Awaitable[object]) -> Exception:
    """The error of that kind which ``awaitable`` has to raise."""
    try:
        await awaitable
    except kind as error:
        return error
    raise AssertionError(f"{kind.__name__} was not raised")


async def begin(store: EventStore, session_id: str, *texts: str) -> list[Recorded]:
    """A new session that says ``texts``."""
    events: list[AnyEvent] = [SessionStarted(owner="o", salt="s"), *(said(text) for text in texts)]
    return await store.append(session_id, events, expected_seq=0)


# --- append and read


async def events_come_back_in_order_and_unchanged(store: EventStore) -> None:
    """``read`` gives what ``append`` returned: same numbers, times, hashes and events."""
    first = await begin(store, "s", "one", "two")
    second = await store.append("s", [said("three"), StepEnd(step=1, outcome="message")], expected_seq=3)
    assert [item.seq for item in [*first, *second]] == [1, 2, 3, 4, 5]
    assert await read_all(store, "s") == [*first, *second]
    assert await read_all(store, "s", 3) == second
    assert await read_all(store, "s", 5) == await read_all(store, "s", 99) == []


async def times_given_with_the_events_are_kept(store: EventStore) -> None:
    """``at`` is kept to the microsecond."""
    times = [1_760_000_000.000001, 1_760_000_000.25]
    recorded = await store.append("s", [said("a"), said("b")], expected_seq=0, at=times)
    assert [item.at for item in recorded] == times
    assert [item.at for item in await read_all(store, "s")] == times


async def another_head_than_expected_is_a_conflict(store: EventStore) -> None:
    """Neither behind nor ahead of the head is anything appended; the error says where the head is."""
    await begin(store, "s", "one")
    for wrong in (0, 1, 3):
        error = await refused(Conflict, store.append("s", [said("x")], expected_seq=wrong))
        assert isinstance(error, Conflict)
        assert (error.expected, error.actual) == (wrong, 2)
    assert await texts_of(store, "s") == ["one"]


async def a_session_that_does_not_exist_is_said_to_be_unknown(store: EventStore) -> None:
    """Reading, appending behind something, forking, listing and verifying alike."""
    await refused(UnknownSession, store.append("no", [said("x")], expected_seq=4))
    await refused(UnknownSession, read_all(store, "no"))
    await refused(UnknownSession, store.fork("no", 1))
    await refused(UnknownSession, store.session("no"))
    await refused(UnknownSession, store.verify("no"))
    await refused(UnknownSession, store.contents("no", ["x"]))
    assert await store.sessions() == []


async def a_batch_is_appended_whole_or_not_at_all(store: EventStore) -> None:
    """An event that cannot be encoded takes the events and contents before it along."""
    await begin(store, "s")
    broken = [said("fine"), said("\ud800")]
    await refused(ValueError, store.append("s", broken, expected_seq=1, contents={"c": b"x"}))
    await refused(ValueError, store.append("new", broken, expected_seq=0))
    assert await texts_of(store, "s") == []
    assert await store.contents("s", ["c"]) == {}
    assert [info.session_id for info in await store.sessions()] == ["s"]
    await store.append("s", [said("after")], expected_seq=1)
    assert [item.seq for item in await read_all(store, "s")] == [1, 2]


async def concurrent_appends_to_one_session_never_leave_a_gap(store: EventStore) -> None:
    """Of several writers that expect the same head exactly one gets through."""
    await begin(store, "s")
    won = 0
    for expected in range(1, 11):
        attempts = [store.append("s", [said(f"{expected}.{n}")], expected_seq=expected) for n in range(5)]
        results = await asyncio.gather(*attempts, return_exceptions=True)
        assert sum(isinstance(result, Conflict) for result in results) == 4
        won += sum(isinstance(result, list) for result in results)
    assert won == 10
    assert [item.seq for item in await read_all(store, "s")] == list(range(1, 12))
    await store.verify("s")


async def concurrent_appends_to_many_sessions_all_arrive(store: EventStore) -> None:
    """Sessions do not disturb each other."""

    async def write(name: str) -> None:
        await begin(store, name)
        for seq in range(1, 21):
            await store.append(name, [said(f"{name} {seq}")], expected_seq=seq)

    names = [f"s{n}" for n in range(8)]
    await asyncio.gather(*(write(name) for name in names))
    for name in names:
        assert await texts_of(store, name) == [f"{name} {seq}" for seq in range(1, 21)]
        await store.verify(name)


async def a_reader_sees_whole_batches_while_others_append(store: EventStore) -> None:
    """What is read is a beginning of the log, gapless, at every moment."""
    await begin(store, "s")

    async def write() -> None:
        for batch in range(30):
            await store.append("s", [said(f"{batch}a"), said(f"{batch}b")], expected_seq=1 + 2 * batch)

    writing = asyncio.ensure_future(write())
    while not writing.done():
        seqs = [item.seq for item in await read_all(store, "s")]
        assert seqs == list(range(1, len(seqs) + 1))
        assert len(seqs) % 2 == 1
        await asyncio.sleep(0)
    await writing


async def empty_and_huge_payloads_are_kept(store: EventStore) -> None:
    """No text at all, a million characters, every plane of Unicode, NUL."""
    texts = ["", "库存" * 500_000, "\x00\u200b\U0001f9fe\U0010ffff", '\n\t\\"']
    await store.append("s", [said(text) for text in texts], expected_seq=0)
    assert await texts_of(store, "s") == texts
    await store.verify("s")


async def many_events_are_read_in_pages_without_loss(store: EventStore) -> None:
    """More events than any reasonable page."""
    await store.append("s", [said(str(number)) for number in range(2500)], expected_seq=0)
    assert await texts_of(store, "s") == [str(number) for number in range(2500)]
    assert await texts_of(store, "s", 1999) == [str(number) for number in range(1999, 2500)]


# --- what other versions of the program wrote


async def unknown_events_and_fields_survive_byte_for_byte(store: EventStore) -> None:
    """Also through a fork; the hash chain covers them."""
    unknown = UnknownEvent(type="Telepathy", payload=b'{"type":"Telepathy","v":3,"n":1.50,"deep":[{"x":null}]}')
    field = b'{"type":"UserMessage","v":1,"mood":"fine","content":[{"kind":"text","text":"hi"}],"author":"u"}'
    with_field = UnknownEvent(type="UserMessage", payload=field)
    newer = UnknownEvent(type="StepEnd", payload=b'{"type":"StepEnd","v":99,"step":{"odd":true}}')
    await begin(store, "s")
    await store.append("s", [unknown, with_field, newer], expected_seq=1)
    child = await store.fork("s", 4)
    for name in ("s", child):
        items = await read_all(store, name)
        assert items[1].event == unknown
        assert isinstance(items[2].event, UserMessage), "a known type with an unknown field is read as what it is"
        assert items[3].event == newer
        assert encode(items[1].event) == unknown.payload
        await store.verify(name)
    grandchild = await store.fork(child, 5)
    await store.verify(grandchild)


# --- contents


async def contents_are_found_by_name_and_by_forks(store: EventStore) -> None:
    """Contents belong to the session and its forks; shared ones to all."""
    contents = {"own": b"\x00\xff", SHARED + "common": b"tools", "empty": b""}
    await store.append("s", [said("x")], expected_seq=0, contents=contents)
    await store.append("other", [said("y")], expected_seq=0)
    asked = ["own", SHARED + "common", "empty", "missing"]
    assert await store.contents("s", asked) == contents
    child = await store.fork("s", 1)
    grandchild = await store.fork(child, 2)
    assert await store.contents(grandchild, asked) == contents
    assert "own" not in await store.contents("other", asked), "a name says nothing in another session"


async def a_content_that_is_known_already_may_come_again(store: EventStore) -> None:
    """The same name and bytes are kept once."""
    await store.append("s", [said("x")], expected_seq=0, contents={"a": b"1"})
    await store.append("s", [said("y")], expected_seq=1, contents={"a": b"1", "b": b"2"})
    assert await store.contents("s", ["a", "b"]) == {"a": b"1", "b": b"2"}


# --- forks


async def a_fork_inherits_up_to_its_event_and_goes_on_alone(store: EventStore) -> None:
    """Parent and child append independently from there; numbers go on without a gap."""
    await begin(store, "s", "one", "two", "three")
    child = await store.fork("s", 3)
    items = await read_all(store, child)
    assert [item.seq for item in items] == [1, 2, 3, 4]
    started = items[3].event
    assert isinstance(started, SessionStarted)
    assert started.parent is not None
    assert (started.parent.session_id, started.parent.seq) == ("s", 3)
    assert started.salt, "a fork has a salt of its own"
    await store.append(child, [said("child")], expected_seq=4)
    await store.append("s", [said("parent")], expected_seq=4)
    assert await texts_of(store, child) == ["one", "two", "child"]
    assert await texts_of(store, "s") == ["one", "two", "three", "parent"]
    assert await texts_of(store, child, 2) == ["two", "child"]
    info = await store.session(child)
    assert (info.parent, info.parent_seq, info.head) == ("s", 3, 5)


async def forks_of_forks_are_read_through_the_whole_chain(store: EventStore) -> None:
    """Also where a fork branches off within what it inherited itself, several levels up."""
    await begin(store, "s", *"abcdef")
    one = await store.fork("s", 5)
    await store.append(one, [said("1"), said("2")], expected_seq=6)
    two = await store.fork(one, 7)
    await store.append(two, [said("x")], expected_seq=8)
    within = await store.fork(two, 3)
    deep = await store.fork(within, 2)
    expected = {one: "abcd12", two: "abcd1x", within: "ab", deep: "a"}
    for name, texts in expected.items():
        assert await texts_of(store, name) == list(texts), name
        assert [item.seq for item in await read_all(store, name)] == list(
            range(1, (await store.session(name)).head + 1)
        )
        await store.verify(name)
        for after in range(9):
            assert await read_all(store, name, after) == (await read_all(store, name))[after:]


async def only_an_event_that_exists_can_be_forked_at(store: EventStore) -> None:
    """Before the first and behind the last there is nothing to inherit."""
    await begin(store, "s", "one")
    for wrong in (-1, 0, 3):
        await refused(StoreError, store.fork("s", wrong))
    assert len(await store.sessions()) == 1


# --- lists, hashes, heads


async def the_head_is_the_newest_event(store: EventStore) -> None:
    """Number and hash of the head agree with what is read and what is verified, after every append."""
    previous = ""
    for seq in range(5):
        recorded = await store.append("s", [said(str(seq))], expected_seq=seq)
        info, verified = await store.session("s"), await store.verify("s")
        assert (info.head, info.head_hash) == (verified.head, verified.head_hash) == (seq + 1, recorded[0].hash)
        assert info.head_hash != previous
        previous = info.head_hash
    assert (await store.session("s")).created_at <= (await store.session("s")).updated_at


async def equal_events_have_different_hashes(store: EventStore) -> None:
    """The chain depends on the place, and its digests are salted."""
    first = await store.append("a", [said("x"), said("x")], expected_seq=0, at=[1.0, 1.0])
    second = await store.append("b", [said("x"), said("x")], expected_seq=0, at=[1.0, 1.0])
    assert len({item.hash for item in [*first, *second]}) == 4


async def sessions_are_listed_with_the_latest_first(store: EventStore) -> None:
    """An append moves its session to the front."""
    for name in ("a", "b", "c"):
        await begin(store, name)
        await asyncio.sleep(0.002)
    await store.append("a", [said("again")], expected_seq=1)
    assert [info.session_id for info in await store.sessions()] == ["a", "c", "b"]


async def the_answer_of_a_model_is_kept_in_full(store: EventStore) -> None:
    """Nested plain values (provider keys, signatures) come back as they were."""
    replay = {"reasoning_details": [{"text": "…", "n": 1.5, "big": 2**60, "none": None}]}
    event = AssistantMessage(step=1, content="ok", replay=replay)
    await store.append("s", [event], expected_seq=0)
    assert msgspec.json.encode((await read_all(store, "s"))[0].event) == msgspec.json.encode(event)
