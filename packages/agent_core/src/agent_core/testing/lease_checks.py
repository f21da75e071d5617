"""What a store promises about leases: one driver at a time, and none that was fenced off. See ``conformance``.

Invariant: only the ``EventStore`` protocol is used; waits are of hundredths of seconds.
"""

from __future__ import annotations

import asyncio

from ..errors import Busy, Conflict, Fenced
from ..events import MessageQueued, TextPart
from ..store.base import EventStore, Lease
from .log_checks import begin, refused, said, texts_of


async def a_held_lease_keeps_others_out(store: EventStore) -> None:
    """Until it is given back; giving back twice is harmless."""
    await begin(store, "s")
    lease = await store.acquire("s", seconds=30)
    error = await refused(Busy, store.acquire("s", seconds=30))
    assert isinstance(error, Busy)
    assert error.session_id == "s"
    await store.release(lease)
    await store.release(lease)
    later = await store.acquire("s", seconds=30)
    assert later.generation > lease.generation


async def a_lease_that_ran_out_can_be_taken_over(store: EventStore) -> None:
    """Its former holder can neither append nor renew; giving it back does not take it from the new one."""
    await begin(store, "s")
    old = await store.acquire("s", seconds=0.02)
    await asyncio.sleep(0.05)
    new = await store.acquire("s", seconds=30)
    await refused(Fenced, store.append("s", [said("late")], expected_seq=1, lease=old))
    await refused(Fenced, store.renew(old, seconds=30))
    await store.release(old)
    await refused(Busy, store.acquire("s", seconds=30))
    await store.append("s", [said("new")], expected_seq=1, lease=new)
    assert await texts_of(store, "s") == ["new"]


async def a_renewed_lease_goes_on_holding(store: EventStore) -> None:
    """Beyond the time it was first taken for; a released one cannot be renewed."""
    await begin(store, "s")
    lease = await store.acquire("s", seconds=0.02)
    await store.renew(lease, seconds=30)
    await asyncio.sleep(0.05)
    await refused(Busy, store.acquire("s", seconds=30))
    await store.release(lease)
    await refused(Fenced, store.renew(lease, seconds=30))


async def appends_without_a_lease_are_commands_and_pass(store: EventStore) -> None:
    """A decision or an interrupt comes from outside, while somebody drives."""
    await begin(store, "s")
    lease = await store.acquire("s", seconds=30)
    queued = MessageQueued(content=(TextPart("later"),), author="user")
    await store.append("s", [queued], expected_seq=1)
    await refused(Conflict, store.append("s", [said("x")], expected_seq=1, lease=lease))
    await store.append("s", [said("x")], expected_seq=2, lease=lease)
    await store.verify("s")


async def a_new_session_can_be_created_with_its_lease(store: EventStore) -> None:
    """Generation 1, in the append that creates it; a second driver is busy from then on."""
    probe = await store.acquire("probe", seconds=30)
    lease = Lease("s", 1, probe.holder)
    await store.append("s", [said("x")], expected_seq=0, lease=lease)
    await refused(Busy, store.acquire("s", seconds=30))
    await store.append("s", [said("y")], expected_seq=1, lease=lease, release=True)
    await store.acquire("s", seconds=30)


async def a_lease_is_given_back_with_the_last_append(store: EventStore) -> None:
    """``release`` frees it together with the events; not when the append is refused, and never somebody else's."""
    await begin(store, "s")
    lease = await store.acquire("s", seconds=30)
    await refused(Conflict, store.append("s", [said("x")], expected_seq=9, lease=lease, release=True))
    await store.append("s", [said("command")], expected_seq=1, release=True)
    await refused(Busy, store.acquire("s", seconds=30))
    await store.append("s", [said("last")], expected_seq=2, lease=lease, release=True)
    await store.acquire("s", seconds=30)


async def giving_back_what_was_never_held_is_harmless(store: EventStore) -> None:
    """A driver that failed before its first event gives a lease back of a session that does not exist."""
    await store.release(Lease("nowhere", 1, "nobody"))
    assert await store.sessions() == []


async def a_lease_can_be_taken_before_the_first_event(store: EventStore) -> None:
    """The session then exists for its driver only: it is in no list until something was appended."""
    lease = await store.acquire("s", seconds=30)
    assert await store.sessions() == []
    await store.append("s", [said("x")], expected_seq=0, lease=lease)
    assert [info.session_id for info in await store.sessions()] == ["s"]
