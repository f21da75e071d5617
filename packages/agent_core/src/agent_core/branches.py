"""Other ways for a conversation to go on: a fork from any event, and going back to an earlier one.

Invariant: nothing is copied and nothing is deleted. Whatever was open at the point where a conversation is taken up is
closed there by events and stays with the past it belongs to; money, counters, grants, revocations and effects are never
moved.
"""

from __future__ import annotations

from collections.abc import Callable

from . import events as ev
from .decide import close_behind, close_calls
from .errors import Busy, Refused
from .opening import abandonment
from .session import Session, check_id, open_session
from .state import State
from .store.base import EventStore


async def fork(store: EventStore, session_id: str, at_seq: int, clock: Callable[[], float]) -> str:
    """The id of a new session that goes on from event ``at_seq`` of another. A crash right behind the fork leaves its
    open calls to whoever drives it first."""
    check_id(session_id)
    head = (await store.session(session_id)).head
    check_seq(session_id, at_seq, head)
    child = await open_session(store, await store.fork(session_id, at_seq))
    child.clock = clock
    await child.command(_closings)
    return child.session_id


async def roll_back(session: Session, to_seq: int, *, by: str, reason: str | None) -> list[ev.Recorded]:
    """Takes the conversation of ``session`` back to event ``to_seq``. A run that was cut short is ended on the way;
    one that is being driven is not: ``Refused``."""
    check_seq(session.session_id, to_seq, session.state.seq)
    try:
        if session.state.running:
            await session.acquire()
        earlier = await session.conversation_at(to_seq)
        return await session.command(lambda state: _going_back(state, session, earlier, to_seq, by, reason))
    except Busy:
        raise _going_on(session) from None
    finally:
        await session.close()


def check_seq(session_id: str, seq: int, head: int) -> None:
    """Raises ``Refused`` for an event that does not exist."""
    if not 1 <= seq <= head:
        raise Refused(f"Session {session_id} has the events 1 to {head}; {seq} is none of them.")


def _closings(state: State) -> list[ev.DurableEvent]:
    return [*close_calls(state)]


def _going_back(
    state: State, session: Session, earlier: State, to_seq: int, by: str, reason: str | None
) -> list[ev.DurableEvent]:
    if state.running and session.lease is None:
        raise _going_on(session)
    return [*abandonment(state), ev.RolledBack(to_seq=to_seq, by=by, reason=reason), *close_behind(earlier)]


def _going_on(session: Session) -> Refused:
    return Refused(f"A run of session {session.session_id} is going on; interrupt it first.")
