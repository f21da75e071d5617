"""What a server serves: the store, a loop for each profile, who may come in, and what goes on.

Invariant: every way to a session leads through ``see``, which tells what is not somebody's own like what does not
exist.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from weakref import WeakValueDictionary

from agent_core import events as ev
from agent_core.config import Rule
from agent_core.errors import UnknownSession
from agent_core.loop import AgentLoop
from agent_core.messages import model_name
from agent_core.session import check_id
from agent_core.state import environment_of
from agent_core.store.base import EventStore

from .access import Access, User
from .cards import Card, Cards
from .problems import Trouble
from .runs import Runs
from .streaming import EventStream
from .wire import Accepted, Me

SAME_MESSAGE = 24 * 3600.0
"""Seconds in which a message that began a session is known again by its id."""


def _nothing() -> tuple[ev.Frozen, ...]:
    return ()


@dataclass
class House:
    """``loops``: by profile, over one ``store``; the first one is the default. ``personal`` makes that of a person,
    with rules of one session on top. ``today``: what is frozen into a message. ``exchange_rate``: CNY per USD.
    ``secrets``: masked in exports.
    """

    store: EventStore
    loops: Mapping[str, AgentLoop]
    access: Access
    runs: Runs = field(default_factory=Runs)
    personal: Callable[[User | None, str, tuple[Rule, ...]], AgentLoop] | None = None
    today: Callable[[], tuple[ev.Frozen, ...]] = _nothing
    currency: str | None = None
    exchange_rate: Decimal | None = None
    secrets: tuple[str, ...] = ()
    clock: Callable[[], float] = time.time
    streams: set[EventStream] = field(default_factory=set)
    saying: WeakValueDictionary[object, asyncio.Lock] = field(default_factory=WeakValueDictionary)
    """Messages that are being taken, by user and id."""

    def __post_init__(self) -> None:
        self.cards = Cards(self.store)
        self._personal: dict[tuple[User | None, str, tuple[Rule, ...]], AgentLoop] = {}
        self._kept: dict[str, tuple[Rule, ...]] = {}
        """Restrictions of sessions, by the environment they were recorded in."""

    def close_streams(self) -> None:
        """Ends every stream, without ``done``."""
        self.runs.closing = True
        for stream in tuple(self.streams):
            stream.close()

    @property
    def default_profile(self) -> str:
        """The profile of a session that names none."""
        return next(iter(self.loops))

    async def loop_of(self, card: Card) -> AgentLoop:
        """The loop that drives a session: with the rights of whom it belongs to, and under what was forbidden in it."""
        owner = self.access.users.get(card.owner or "")
        if owner is None and card.owner is not None:
            owner = User(card.owner, "clerk", card.tenant)  # of somebody who is no user any more
        return self.loop_for(owner, card.profile, await self._restrictions(card))

    def loop_for(self, user: User | None, profile: str | None, rules: tuple[Rule, ...] = ()) -> AgentLoop:
        """The loop of a person; None is whose home it is. That of the default profile for one not served here."""
        name = profile if profile is not None and profile in self.loops else self.default_profile
        if self.personal is None or (user is None and not rules):
            return self.loops[name]
        found = self._personal.get((user, name, rules))
        if found is None:
            found = self._personal[user, name, rules] = self.personal(user, name, rules)
        return found

    async def _restrictions(self, card: Card) -> tuple[Rule, ...]:
        """What an earlier command forbade in this session, or wanted to be asked about."""
        name = card.environment
        if name not in self._kept:
            data = (await self.store.contents(card.session_id, [name])).get(name) if name else None
            rules = () if data is None else environment_of(data).config.rules
            known = self.loops[self.default_profile].config.rules
            forbids = (rule for rule in rules if rule.scope == "session" and rule.effect != "allow")
            self._kept[name] = tuple(rule for rule in forbids if rule not in known)
        return self._kept[name]

    async def see(self, user: User, session_id: str) -> Card:
        """The card of a session that is the user's to see; ``Trouble`` like that of an unknown one otherwise."""
        try:
            check_id(session_id)
            card = await self.cards.of(session_id)
        except UnknownSession:
            raise nothing_there() from None
        if card.seq == 0 or not user.sees(card.owner, card.tenant):
            raise nothing_there()
        return card

    def told(self, recorded: Sequence[ev.Recorded]) -> None:
        """Something was appended outside a run: readers of the session look at the log."""
        if recorded:
            self.runs.told(recorded[-1].session_id, recorded[-1].seq or 0)

    async def accepted(self, session_id: str, *, changed: bool) -> Accepted:
        """What a command is answered."""
        head = (await self.store.session(session_id)).head
        return Accepted(session_id=session_id, head=head, running=self.runs.is_driven(session_id), changed=changed)

    async def find_said(
        self, user: User, card: Card | None, client_message_id: str
    ) -> tuple[Card, tuple[int, str]] | None:
        """Where a message was said under this id: in ``card``, else in one of the user's sessions of the last day."""
        if card is not None:
            known = card.said.get(client_message_id)
            return None if known is None else (card, known)
        since = self.clock() - SAME_MESSAGE
        async for info, other in self.cards.listed():
            if info.updated_at < since:
                break
            if other.owner == user.name and other.tenant == user.tenant and client_message_id in other.said:
                return other, other.said[client_message_id]
        return None

    def me(self, user: User) -> Me:
        """What somebody is told about themselves and the server."""
        model = model_name(self.loops[self.default_profile].model)
        return Me(
            user=user.name,
            role=user.role,
            approves=user.approves,
            sees_all=user.sees_all,
            model=model,
            offline=model == "offline",
            profiles=tuple(self.loops),
            currency=self.currency,
            exchange_rate=self.exchange_rate,
        )


def nothing_there() -> Trouble:
    """The answer for a session that does not exist, and for one of somebody else."""
    return Trouble("not-found", "There is no such session.")
