"""Drives one run: does what ``next_action`` decides, until the run ends or waits for a person.

Invariant: the intent of a call is durable before its effect and its outcome as soon as it is known; what is yielded as
durable is in the store. There is no other code for recovery: a resumed run enters here like a new one.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, field

from . import events as ev
from .answers import AnswerChecker, checked
from .calls import settle
from .config import ContextPolicy, LoopConfig, Price
from .context.calibration import Calibrations
from .context.ladder import Summarise, asked_cut
from .context.passages import Passage
from .decide import CallModel, CheckAnswer, Finish, Idle, Note, SettleCalls, next_action
from .errors import Conflict, DamagedLog, Fenced, StoreError
from .interrupt import Gate, Stopped
from .masking import Masker
from .messages import ModelClient, WireModel
from .opening import ending, next_in_queue
from .recalling import recall, with_recalled
from .requests import RequestBuilder
from .session import Session
from .step import take_step
from .summarising import Summariser, summarise
from .tools.cache import ResultCache
from .tools.locks import KeyLocks
from .tools.recall import FOUND_AT_MOST
from .tools.registry import Registry

LOOK_SECONDS = 1.0
"""How soon a run notices what another process asked of it, while it waits for the model or a tool."""


@dataclass
class Driver:
    """What a run is driven with. ``gate`` stops its waits; ``lost`` says why it may not go on: another process took the
    session over, or its log turned out to be damaged.
    """

    session: Session
    model: ModelClient
    wire_model: WireModel | None
    registry: Registry
    config: LoopConfig
    price: Price | None
    clock: Callable[[], float]
    requests: RequestBuilder
    locks: KeyLocks
    cache: ResultCache
    masker: Masker
    summariser: Summariser
    calibrations: Calibrations
    checker: AnswerChecker | None = None
    gate: Gate = field(default_factory=Gate)
    lost: StoreError | None = None
    leaving: bool = False
    """The run is left as it is at the next durable point, for another process to go on with."""
    asks_model: bool = False
    """What goes on is a turn of the model, which can be asked again."""

    async def drive(self) -> AsyncGenerator[ev.Recorded]:
        """Yields everything the run does; ends when the run has ended."""
        session = self.session
        heartbeat = asyncio.create_task(self._hold_lease())
        try:
            while True:
                try:
                    action = next_action(session.state, self.clock(), self.config.system_prompt)
                    self.asks_model = isinstance(action, CallModel | Summarise)
                    match Idle() if self.leaving else action:
                        case CallModel() as action:
                            async with aclosing(take_step(self, action)) as items:
                                async for item in items:
                                    yield item
                        case SettleCalls(call_ids):
                            async with aclosing(settle(self, call_ids)) as items:
                                async for item in items:
                                    yield item
                        case Note(events):
                            session.stage(events)
                        case Summarise() as wanted:
                            async with aclosing(summarise(self, wanted, self._policy())) as items:
                                async for item in items:
                                    yield item
                        case CheckAnswer():
                            assert self.checker is not None, "a run is checked by what its environment names"
                            session.stage([checked(session.state, self.checker)])
                        case Finish(reason, message):
                            session.stage([self._end(reason, message)])
                            if reason == "completed" and (following := next_in_queue(session.state)):
                                tokens = self.registry.tokens
                                session.stage(await with_recalled(session, following, self.config, tokens))
                                continue
                            for item in await session.flush(release=True):
                                yield item
                            return
                        case Idle():
                            for item in await session.flush_facts():
                                yield item
                            return
                except Conflict:
                    continue  # somebody decided, interrupted or queued: the state is up to date again, so decide anew
                except Stopped:
                    if self.lost is not None:
                        raise self.lost from None
                    for item in await session.flush_facts():
                        yield item
                    await session.catch_up()
                    self.gate = Gate()
        finally:
            heartbeat.cancel()
            await asyncio.wait({heartbeat})

    def hand_over(self, at_once: bool = False) -> None:
        """Leaves the run open at the next durable point: at once while the model is waited for, else when the calls
        that are running have ended."""
        self.leaving = True
        if at_once or self.asks_model:
            self.gate.stop()

    async def compact(self, by: str) -> AsyncGenerator[ev.Recorded]:
        """Has all turns but the newest summarised, since a person wants it; yields nothing where there are none."""
        if (wanted := asked_cut(self.session.state, by)) is not None:
            async with aclosing(summarise(self, wanted, self._policy())) as items:
                async for item in items:
                    yield item
            for item in await self.session.flush_facts():
                yield item

    async def whole_output(self, call_id: str) -> str | None:
        """The whole output of a call that the model saw only a part of."""
        cut = self.session.state.outputs.get(call_id)
        if cut is None or cut.whole is None:
            return None
        data = (await self.session.store.contents(self.session.session_id, [cut.whole])).get(cut.whole)
        return None if data is None else data.decode()

    async def recall(self, query: str) -> list[Passage]:
        """What was said before in this session, the best first."""
        return await recall(self.session, query, FOUND_AT_MOST)

    def shown(self, event: ev.AnyEvent) -> ev.Recorded:
        """An event that is not durable, as an item of the stream."""
        return ev.Recorded(self.session.session_id, None, self.clock(), event)

    async def record_interruption(self, where: str) -> None:
        """The reader went away in the middle: leaves the run ended and every call answered, instead of half done."""
        session = self.session
        await session.flush_facts()
        run = session.state.run
        if run is None or run.end is not None or session.lease is None:
            return
        session.stage([ev.RunInterrupted(by=run.by, where=where)], fact=True)
        await session.flush_facts()
        while True:
            match next_action(session.state, self.clock(), self.config.system_prompt):
                case Note(events):
                    session.stage(events, fact=True)
                case Finish(reason, message):
                    session.stage([self._end(reason, message)], fact=True)
                case _:
                    break
        await session.flush_facts()

    def _policy(self) -> ContextPolicy:
        run = self.session.state.run
        return self.config.context if run is None else run.environment.config.context

    def _end(self, reason: ev.EndReason, message: str | None) -> ev.LoopEnd:
        run = self.session.state.run
        assert run is not None, "only a run can end"
        return ending(run, reason, message)

    async def _hold_lease(self) -> None:
        """Renews the lease, and looks whether somebody outside asked the run to stop; first of all, whether the log is
        whole."""
        session = self.session
        renewed = time.monotonic()
        try:
            await session.check()
        except DamagedLog as error:
            self.lost = error
            self.gate.stop()
            return
        except StoreError:
            pass  # if it lasts, the next append says so
        while True:
            await asyncio.sleep(min(LOOK_SECONDS, session.lease_seconds / 3))
            if (lease := session.lease) is None:
                return
            try:
                if time.monotonic() - renewed >= session.lease_seconds / 3:
                    await session.store.renew(lease, seconds=session.lease_seconds)
                    renewed = time.monotonic()
                if await session.was_interrupted():
                    self.gate.stop()
            except Fenced as error:
                if session.lease is lease:
                    self.lost = error
                    self.gate.stop()
                return
            except StoreError:
                continue  # if it lasts, the next append says so
