"""``AgentLoop``: the runtime as a library.

Invariant: nothing here decides. Running, resuming and deciding append what was said and hand over to the one driver;
state lives in the log alone, so any process can go on with any session.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import aclosing
from typing import Any

from msgspec import structs

from . import events as ev
from .answers import AnswerChecker
from .branches import fork, roll_back
from .commands import (
    Outcome,
    check_given,
    check_title,
    decision,
    interruption,
    new_message_id,
    parts_of,
    queueing,
    resolution,
    revocation,
)
from .config import LoopConfig, Price
from .context.calibration import Calibrations
from .driver import Driver
from .errors import StoreError
from .masking import Masker
from .messages import ModelClient, WireModel, measured_as, model_name
from .opening import new_run_id, next_opening
from .recalling import with_recalled
from .requests import RequestBuilder, environment
from .session import LEASE_SECONDS, Session, new_salt, new_session, open_session
from .state import State
from .store.base import EventStore
from .store.memory import MemoryStore
from .store.sqlite import new_session_id
from .summarising import Summariser
from .tools.cache import ResultCache
from .tools.locks import KeyLocks
from .tools.offer import offered
from .tools.tool import Tool
from .undo import Compensation, undo_plan, undoing

Content = str | Sequence[ev.Part]


class AgentLoop:
    """Runs conversations of one model with one set of tools over the logs of one store.

    One object serves any number of sessions at once; one session is driven by one run at a time, over all processes.
    ``known_tools`` exist but are not offered: a misspelled name is never taken for an offered tool when one of them was
    meant. ``findable_tools`` may be called without the model being told of them (``tools.finding`` makes a search that
    names them). ``lease_seconds``: how long a driver that says nothing is still believed to be there. ``secrets``: what
    is masked wherever it turns up, before it is recorded, sent or shown. ``answer_checker``: traces the figures of each
    answer, right behind it. ``summariser``: the model that sums up what is older, None: ``model`` itself.
    ``calibrations``: what was learnt of how models count tokens. ``beside``: another loop over the same backends, with
    which locks and kept results are shared. Raises ``ValueError`` for tools or rules that must not be used.
    """

    def __init__(
        self,
        *,
        model: ModelClient,
        tools: Iterable[Tool] = (),
        known_tools: Iterable[Tool] = (),
        findable_tools: Iterable[Tool] = (),
        store: EventStore | None = None,
        config: LoopConfig | None = None,
        price: Price | None = None,
        clock: Callable[[], float] = time.time,
        lease_seconds: float = LEASE_SECONDS,
        secrets: Iterable[str] = (),
        beside: AgentLoop | None = None,
        answer_checker: AnswerChecker | None = None,
        summariser: Summariser | None = None,
        calibrations: Calibrations | None = None,
    ) -> None:
        self._masker = Masker(secrets)
        self.model, self.price, self.clock = model, price, clock
        self._lease_seconds = lease_seconds
        self._wire_model = model if isinstance(model, WireModel) else None
        check = None if answer_checker is None else answer_checker.name
        own = structs.replace(LoopConfig() if config is None else config, answer_check=check)
        self.config, self._checker = self._masker.value(own), answer_checker
        self.registry = offered(tuple(tools), known_tools, tuple(findable_tools), self.config)
        self.registry.schemas = self._masker.value(self.registry.schemas)
        self.store: EventStore = MemoryStore() if store is None else store
        self._summariser = Summariser(model, price) if summariser is None else summariser
        self._calibrations = Calibrations() if calibrations is None else calibrations
        self._locks: KeyLocks = KeyLocks() if beside is None else beside._locks
        kept = ResultCache(seconds=self.config.cache_seconds)
        self._cache: ResultCache = kept if beside is None else beside._cache
        self._drivers: dict[str, Driver] = {}
        self._checked: set[str] = set()
        """Sessions whose logs were verified by this loop."""

    def run(
        self,
        content: Content,
        session_id: str | None = None,
        *,
        by: str = "user",
        client_message_id: str | None = None,
        context: Sequence[ev.Frozen] = (),
        profile: str | None = None,
        owner: str | None = None,
        tenant: str | None = None,
    ) -> AsyncGenerator[ev.Recorded]:
        """Says ``content`` in a session (a new one when ``session_id`` is None) and yields all that follows.

        Raises ``UnknownSession``, ``Busy`` (another driver), ``Refused`` (the message id was used for something else),
        ``StoreError``. A message that was said before under its id is not said again; its run is gone on with if it was
        cut short.
        """
        said = ev.UserMessage(
            content=parts_of(content), author=by, client_message_id=client_message_id, context=tuple(context)
        )
        started = ev.SessionStarted(owner=owner, tenant=tenant, profile=profile, salt=new_salt())
        return self._drive(session_id, by, started if session_id is None else None, self._masker.value(said))

    def resume(self, session_id: str, *, by: str = "user") -> AsyncGenerator[ev.Recorded]:
        """Goes on where the session stopped: after a crash, an interrupt, a failure or a decision. Yields nothing when
        there is nothing to do (the run completed, or it still waits for a person).
        """
        return self._drive(session_id, by, None, None)

    def compact(self, session_id: str, *, by: str = "user") -> AsyncGenerator[ev.Recorded]:
        """Has all turns of a session but the newest summarised, now. Yields nothing when there are none; a
        ``SummaryFailed`` says that nothing came of it. Raises ``UnknownSession``, ``Busy``, ``StoreError``.
        """
        return self._drive(session_id, by, None, None, compacting=True)

    async def decide(
        self,
        session_id: str,
        call_id: str,
        *,
        approve: bool,
        reason: str | None = None,
        by: str = "user",
        arguments: dict[str, Any] | None = None,
        always: bool = False,
        channel: str | None = None,
        digest: str | None = None,
    ) -> list[ev.Recorded]:
        """Answers an ``ApprovalRequested``; ``resume`` goes on from there. ``arguments``: edited ones, which are asked
        again. ``digest``: that of the question which was seen, so that no other one is answered.

        Raises ``Refused`` when there is no such question, it was answered otherwise, or it has expired. Repeating an
        answer is harmless.
        """

        def decided(state: State) -> list[ev.DurableEvent]:
            return decision(
                state,
                call_id,
                approve=approve,
                by=by,
                now=self.clock(),
                reason=reason,
                arguments=arguments,
                always=always,
                channel=channel,
                digest=digest,
            )

        return await self._command(session_id, decided)

    async def resolve(
        self, session_id: str, call_id: str, outcome: Outcome, *, by: str = "user", content: str | None = None
    ) -> list[ev.Recorded]:
        """Says what was found out about a call whose outcome is not known; ``resume`` goes on from there."""
        return await self._command(
            session_id, lambda state: resolution(state, call_id, outcome, by=by, content=content)
        )

    async def revoke(
        self, session_id: str, grant_id: str, *, by: str = "user", reason: str | None = None
    ) -> list[ev.Recorded]:
        """Ends a standing grant; calls that it would have covered are asked again."""
        return await self._command(session_id, lambda state: revocation(state, grant_id, by=by, reason=reason))

    async def interrupt(self, session_id: str, *, by: str = "user", where: str | None = None) -> bool:
        """Stops the run of a session, in whatever process it runs; its reader then gets the closing events. False when
        no run is going on.
        """
        done = bool(await self._command(session_id, lambda state: interruption(state, by=by, where=where)))
        if (driver := self._drivers.get(session_id)) is not None:
            driver.gate.stop()
        return done

    async def label(
        self, session_id: str, *, by: str = "user", title: str | None = None, archived: bool | None = None
    ) -> list[ev.Recorded]:
        """Names a session, or puts it away; what is None stays. For lists: no decision depends on it. ``Malformed``:
        a title that is empty, too long or no line of text."""
        if title is not None:
            check_title(title)
        labelled = self._masker.value(ev.SessionLabelled(by=by, title=title, archived=archived))
        return await self._command(session_id, lambda _: [labelled])

    def hand_over(self, session_id: str, *, at_once: bool = False) -> None:
        """Leaves the run of a session that this loop drives open at its next durable point, so that another process
        (or ``resume``) goes on with it: for a process that ends. Calls that are running are waited for, unless it has
        to be ``at_once``; the model is not. Harmless when this loop does not drive it.
        """
        if (driver := self._drivers.get(session_id)) is not None:
            driver.hand_over(at_once)

    async def queue(
        self,
        session_id: str,
        content: Content,
        *,
        by: str = "user",
        client_message_id: str | None = None,
        context: Sequence[ev.Frozen] = (),
    ) -> list[ev.Recorded]:
        """Leaves a message for a session whose run is going on: it is said when that run has completed, in a run of its
        own, in the same drive. An interrupt keeps it for the next drive.

        Raises ``Refused`` when no run is going on (``run`` says it at once), or the id was used for something else. A
        message that was sent before under its id is not queued again.
        """
        queued = ev.MessageQueued(
            content=parts_of(content),
            author=by,
            client_message_id=client_message_id or new_message_id(),
            context=tuple(context),
        )
        masked = self._masker.value(queued)
        return await self._command(session_id, lambda state: queueing(state, masked))

    async def fork(self, session_id: str, at_seq: int) -> str:
        """A new session that goes on from event ``at_seq`` of another one; returns its id. Nothing is copied; calls,
        questions and grants that are open there are not inherited: an open call is answered in the child.

        Raises ``UnknownSession``; ``Refused`` when there is no such event.
        """
        return await fork(self.store, session_id, at_seq, self.clock)

    async def rollback(
        self, session_id: str, to_seq: int, *, by: str = "user", reason: str | None = None
    ) -> list[ev.Recorded]:
        """Takes the conversation back to event ``to_seq``; what was spent, changed and revoked since stays as it is.
        ``undo_plan`` says what of it could be taken back as well.

        Raises ``Refused`` when there is no such event or a run is going on.
        """
        return await roll_back(await self._session(session_id), to_seq, by=by, reason=reason)

    async def undo_plan(self, session_id: str, to_seq: int) -> list[Compensation]:
        """What would take back each write behind event ``to_seq``, the newest first, or why it cannot be taken back."""
        return await undo_plan(await self._session(session_id), self.registry, to_seq)

    def undo(self, session_id: str, plan: Sequence[Compensation], *, by: str = "user") -> AsyncGenerator[ev.Recorded]:
        """Runs the calls of a plan, each asked like any write, and lets the model say what came of it."""
        return self._drive(session_id, by, None, None, plan)

    async def state(self, session_id: str) -> State:
        """The newest state of a session: its conversation, open questions, grants. Raises ``UnknownSession``."""
        return (await self._session(session_id)).state

    async def _session(self, session_id: str) -> Session:
        return self._prepared(await open_session(self.store, session_id))

    def _prepared(self, session: Session) -> Session:
        session.clock, session.lease_seconds = self.clock, self._lease_seconds
        session.masker, session.checked = self._masker, self._checked
        return session

    async def _command(self, session_id: str, events: Callable[[State], list[ev.DurableEvent]]) -> list[ev.Recorded]:
        return await (await self._session(session_id)).command(events)

    async def aclose(self) -> None:
        """Closes the model clients and the store."""
        for model in {id(one): one for one in (self.model, self._summariser.model)}.values():
            if (close := getattr(model, "aclose", None)) is not None:
                await close()
        await self.store.aclose()

    async def _drive(
        self,
        session_id: str | None,
        by: str,
        started: ev.SessionStarted | None,
        said: ev.UserMessage | None,
        plan: Sequence[Compensation] | None = None,
        *,
        compacting: bool = False,
    ) -> AsyncGenerator[ev.Recorded]:
        if session_id is None:
            session = self._prepared(new_session(self.store, new_session_id()))
        else:
            session = await self._session(session_id)
        driver: Driver | None = None
        try:
            if session_id is not None:
                await session.acquire()
            salt = session.state.salt if started is None else started.salt
            builder = RequestBuilder(self.model, self._wire_model, self.registry, self.config.options, salt)
            builder.sent(session.state.manifest)
            driver = Driver(
                session,
                self.model,
                self._wire_model,
                self.registry,
                self.config,
                self.price,
                self.clock,
                builder,
                self._locks,
                self._cache,
                self._masker,
                self._summariser,
                self._calibrations,
                self._checker,
            )
            self._drivers[session.session_id] = driver
            if not compacting:
                await self._open(session, by, started, said, plan, builder.tools)
            async with aclosing(driver.compact(by) if compacting else driver.drive()) as items:
                async for item in items:
                    yield item
        except (GeneratorExit, asyncio.CancelledError):
            if driver is not None:
                with contextlib.suppress(StoreError):  # what goes wrong here is met again by whoever resumes
                    await driver.record_interruption("the reader went away")
            raise
        finally:
            if driver is not None and self._drivers.get(session.session_id) is driver:
                del self._drivers[session.session_id]
            self._calibrations.save()
            await session.close()

    async def _open(
        self,
        session: Session,
        by: str,
        started: ev.SessionStarted | None,
        said: ev.UserMessage | None,
        plan: Sequence[Compensation] | None,
        tools: bytes,
    ) -> None:
        """Stages what the drive begins with: nothing, where a run that was cut short simply goes on."""
        name, contents = environment(self.config, self.model, self.registry, tools, self.price)
        state = session.state
        begins = ev.RunStarted(
            run_id=new_run_id(),
            by=by,
            environment=name,
            model=model_name(self.model),
            base_seq=state.seq,
            calibration=self._calibrations.get(measured_as(self.model)),
        )
        if started is not None and said is not None:
            check_given([started, begins, said])
            session.stage([started, begins, said], contents=contents)
            return
        taking_back = None if plan is None else undoing(state, plan, by)
        events = next_opening(state, begins, said, taking_back, self.clock())
        events = await with_recalled(session, events, self.config, self.registry.tokens)
        check_given(events)
        session.stage(events, contents=contents)
