"""Drives one run: does what ``next_action`` decides, until the run ends or waits for a person.

Invariant: the intent of a call is durable before its effect and its outcome as soon as it is known; what is yielded as
durable is in the store. There is no other code for recovery: a resumed run enters here like a new one.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

from . import events as ev
from .calls import settle
from .config import LoopConfig, Price
from .decide import CallModel, Finish, Idle, Note, SettleCalls, next_action
from .errors import Conflict, Fenced
from .interrupt import Gate, Stopped
from .messages import ModelClient
from .requests import RequestBuilder
from .session import LEASE_SECONDS, Session
from .step import take_step
from .tools.registry import Registry


@dataclass
class Driver:
    """What a run is driven with. ``gate`` stops its waits; ``lost`` is set when another process took the session
    over.
    """

    session: Session
    model: ModelClient
    registry: Registry
    config: LoopConfig
    price: Price | None
    clock: Callable[[], float]
    requests: RequestBuilder
    gate: Gate = field(default_factory=Gate)
    lost: Fenced | None = None

    async def drive(self) -> AsyncGenerator[ev.Recorded]:
        """Yields everything the run does; ends when the run has ended."""
        heartbeat = asyncio.create_task(self._hold_lease())
        try:
            while True:
                try:
                    async with aclosing(self._act()) as items:
                        async for item in items:
                            yield item
                except Conflict:
                    pass  # somebody decided, interrupted or queued: the state is up to date again, so decide anew
                except Stopped:
                    if self.lost is not None:
                        raise self.lost from None
                    await self.session.catch_up()
                    self.gate = Gate()
                for item in self.session.take_foreign():
                    yield item
                run = self.session.state.run
                if run is None or run.end is not None:
                    return
        finally:
            heartbeat.cancel()

    async def _act(self) -> AsyncGenerator[ev.Recorded]:
        session = self.session
        action = next_action(session.state, self.clock(), self.config.system_prompt)
        match action:
            case CallModel():
                async with aclosing(take_step(self, action)) as items:
                    async for item in items:
                        yield item
            case SettleCalls(call_ids):
                async with aclosing(settle(self, call_ids)) as items:
                    async for item in items:
                        yield item
            case Note(decided):
                for item in await session.append(decided):
                    yield item
            case Finish(reason, message):
                for item in await session.append([self._end(reason, message)]):
                    yield item
            case Idle():
                return

    def _end(self, reason: ev.EndReason, message: str | None) -> ev.LoopEnd:
        run = self.session.state.run
        assert run is not None, "only a run can end"
        return ev.LoopEnd(
            run_id=run.run_id,
            steps=run.steps,
            completed=reason == "completed",
            reason=reason,
            usage=run.usage,
            cost=run.cost,
            message=message,
        )

    def shown(self, event: ev.AnyEvent) -> ev.Recorded:
        """An event that is not durable, as an item of the stream."""
        return ev.Recorded(self.session.session_id, None, self.clock(), event)

    async def record_interruption(self, where: str) -> None:
        """The reader went away in the middle: leaves the run ended and every call answered, instead of half done."""
        run = self.session.state.run
        if run is None or run.end is not None:
            return
        await self.session.record([ev.RunInterrupted(by=run.by, where=where)])
        await self.finish_without_world()

    async def finish_without_world(self) -> None:
        """Appends what can be decided without model, tools or people, up to the end of the run."""
        while True:
            action = next_action(self.session.state, self.clock(), self.config.system_prompt)
            events: Sequence[ev.DurableEvent]
            if isinstance(action, Note):
                events = action.events
            elif isinstance(action, Finish):
                events = [self._end(action.reason, action.message)]
            else:
                return
            await self.session.record(events)

    async def _hold_lease(self) -> None:
        lease = self.session.lease
        while lease is not None:
            await asyncio.sleep(LEASE_SECONDS / 3)
            try:
                await self.session.store.renew(lease, seconds=LEASE_SECONDS)
            except Fenced as error:
                self.lost = error
                self.gate.stop()
                return
