"""What lists say about sessions: whose each one is, what it is called, how it stands, what waits in it.

Invariant: a card is a fold of the session's events and nothing else; cards are kept in memory, brought up to date from
the log whenever they are asked for, and may be dropped at any time.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from decimal import Decimal

from agent_core import events as ev
from agent_core.errors import DamagedLog, Erased
from agent_core.messages import ToolCall, Usage
from agent_core.state import digest_parts
from agent_core.store.base import EventStore, SessionInfo

from .reports import is_report
from .wire import SessionStatus

TITLE = 80
SILENT = 300.0
"""Seconds without an event after which a run of another process is told as stopped."""


class Card:
    """One session, as far as ``seq``."""

    def __init__(self, session_id: str) -> None:
        self.session_id, self.seq = session_id, 0
        self.owner: str | None = None
        self.tenant: str | None = None
        self.profile: str | None = None
        self.name: str | None = None
        self.archived = False
        self.first = ""
        self.environment = ""
        """Name of the content that the newest run's decisions depend on."""
        self.run_open = False
        self.begun_by: str | None = None
        """Who began the newest run."""
        self.ended: str | None = None
        self.updated = 0.0
        self.steps, self.usage, self.costs = 0, Usage(), dict[str, Decimal]()
        self.asked: dict[str, tuple[int, float, ev.ApprovalRequested]] = {}
        self.reports = 0
        self.granted = False
        """Something was allowed in advance, at some time."""
        self.doubts: dict[str, tuple[ToolCall | None, ev.ToolCallFinished]] = {}
        self.said: dict[str, tuple[int, str]] = {}
        """Client message ids, with the event and the digest of what was said."""
        self._calls: dict[str, ToolCall] = {}

    @property
    def title(self) -> str:
        """As it was named, else the beginning of the first message."""
        return self.name or self.first

    def status(self, driven: bool) -> SessionStatus:
        """How it stands; ``driven``: a run is going on here."""
        if driven:
            return "running"
        if self.run_open:
            return "running" if time.time() - self.updated < SILENT else "stopped"
        if self.ended is None:
            return "idle"
        known: dict[str, SessionStatus] = {
            "completed": "completed",
            "awaiting_approval": "waiting",
            "interrupted": "interrupted",
        }
        return known.get(self.ended, "failed")

    def is_called(self, wanted: str) -> bool:
        """Whether every word of ``wanted`` (casefolded) stands in its name or id."""
        text = f"{self.title.casefold()}\n{self.session_id}"
        return all(word in text for word in wanted.split())

    def add(self, item: ev.Recorded) -> None:
        """Takes the next event; one that was taken already is passed over."""
        if item.seq is None or item.seq <= self.seq:
            return
        self.seq, self.updated = item.seq, item.at
        match item.event:
            case ev.SessionStarted() as started:
                if started.parent is None:
                    self.owner, self.tenant, self.profile = started.owner, started.tenant, started.profile
                else:  # a fork belongs to whom its parent belongs to
                    self.name, self.archived, self.run_open, self.ended = None, False, False, None
                    self.steps, self.usage, self.costs = 0, Usage(), {}
            case ev.SessionLabelled(title=title, archived=archived):
                self.name = self.name if title is None else title
                self.archived = self.archived if archived is None else archived
            case ev.UserMessage() | ev.MessageQueued() as said:
                self._say(item.seq, said)
            case ev.RunStarted(environment=environment, by=by):
                self.run_open, self.environment, self.begun_by = True, environment, by
            case ev.LoopEnd(reason=reason):
                self.run_open, self.ended = False, reason
            case ev.RolledBack():
                self.run_open, self.ended = False, None
                self.asked.clear()
            case ev.AssistantMessage() as message:
                self._calls = {call.id: call for call in message.tool_calls}
            case ev.StepEnd() as step:
                self.steps += 1
                self.usage = self.usage.plus(step.usage)
                if step.cost is not None:
                    spent = self.costs.get(step.cost.currency, Decimal(0))
                    self.costs[step.cost.currency] = spent + step.cost.amount
            case ev.ApprovalRequested() as asked:
                self.asked[asked.call_id] = (item.seq, item.at, asked)
            case ev.ApprovalDecided(call_id=call_id):
                self.asked.pop(call_id, None)
            case ev.TrustGranted():
                self.granted = True
            case ev.ToolCallFinished() as finished:
                self.asked.pop(finished.call_id, None)
                self.reports += is_report(finished)
                if finished.error is not None and finished.error.type == "uncertain":
                    self.doubts[finished.call_id] = (self._calls.get(finished.call_id), finished)
            case ev.OutcomeResolved(call_id=call_id):
                self.doubts.pop(call_id, None)
            case _:
                pass

    def _say(self, seq: int, said: ev.UserMessage | ev.MessageQueued) -> None:
        if said.client_message_id is not None:
            self.said.setdefault(said.client_message_id, (seq, digest_parts(said.content)))
        text = "\n".join(part.text if isinstance(part, ev.TextPart) else part.name for part in said.content)
        if not self.first:
            line = " ".join(text.split())
            self.first = line if len(line) <= TITLE else line[: TITLE - 1] + "…"


class Cards:
    """The cards of a store."""

    def __init__(self, store: EventStore) -> None:
        self._store = store
        self._known: dict[str, Card] = {}

    async def of(self, session_id: str) -> Card:
        """One card at the newest event; raises ``UnknownSession``, ``Erased`` and ``DamagedLog``."""
        return await self.at(await self._store.session(session_id))

    async def at(self, info: SessionInfo) -> Card:
        """The card of a session that was found in a list."""
        card = self._known.get(info.session_id)
        if card is None:
            card = self._known.setdefault(info.session_id, Card(info.session_id))
        if card.seq < info.head:
            async for item in self._store.read(info.session_id, card.seq):
                card.add(item)
        return card

    async def listed(self) -> AsyncIterator[tuple[SessionInfo, Card]]:
        """All that can be read, the one used last first."""
        for info in sorted(await self._store.sessions(), key=lambda info: (info.updated_at, info.session_id))[::-1]:
            try:
                yield info, await self.at(info)
            except (DamagedLog, Erased):
                continue
