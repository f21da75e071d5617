"""Two processes' worth of drivers, readers and commands against one session, in any order: invariants I1 to I4 of the
fault catalogue hold after every step, and each decision in the log is the one that this code makes again.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any, TypeVar

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from agent_core import events as ev
from agent_core.errors import Busy, Conflict, Refused
from agent_core.fold import fold
from agent_core.loop import AgentLoop
from agent_core.redecide import read_log, redecide
from agent_core.store.base import Lease
from agent_core.store.sqlite import SqliteStore
from agent_core.testing import ScriptedModel
from tests.support.requests import check_conversation, log_of
from tests.support.trade import CONFIG, PRICE, Ledger, business, drive, to_the_end

T = TypeVar("T")
_process = st.integers(0, 1)


class _Meddled(SqliteStore):
    """A store into which a third party appends right before a driver does, as often as it is told to."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.meddle = 0

    async def append(
        self,
        session_id: str,
        events: Sequence[ev.AnyEvent],
        *,
        expected_seq: int,
        lease: Lease | None = None,
        contents: Mapping[str, bytes] | None = None,
        at: Sequence[float] | None = None,
        release: bool = False,
    ) -> list[ev.Recorded]:
        if self.meddle and expected_seq:
            self.meddle -= 1
            note = ev.UnknownEvent(type="Meddling", payload=b'{"type":"Meddling","v":1}')
            try:
                await super().append(session_id, [note], expected_seq=expected_seq)
            except Conflict:
                self.meddle += 1
        return await super().append(
            session_id, events, expected_seq=expected_seq, lease=lease, contents=contents, at=at, release=release
        )


class TwoDrivers(RuleBasedStateMachine):
    """The steps; drives go on in the background, as many items at a step as there are tickets, so that commands meet
    them anywhere."""

    @initialize()
    def begin(self) -> None:
        self.runner = asyncio.Runner()
        self.folder = tempfile.TemporaryDirectory()
        self.ledger, self.seen = Ledger(), list[ev.Recorded]()
        self.drives: list[asyncio.Task[None]] = []
        self.stores = [_Meddled(Path(self.folder.name) / "log.db") for _ in range(2)]
        self.models = [ScriptedModel([business] * 400, delta=4, name="trader") for _ in range(2)]
        self.loops = [
            AgentLoop(model=model, tools=self.ledger.tools(), store=store, config=CONFIG, price=PRICE)
            for model, store in zip(self.models, self.stores, strict=True)
        ]
        self.told, self.tickets = 0, asyncio.Semaphore(0)
        self.session_id = self._do(self._first())

    async def _first(self) -> str:
        items = await drive(self.loops[0].run("the first", client_message_id="m0", owner="boss"))
        self.seen += items
        return items[0].session_id

    def _do(self, work: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(work)

    async def _drive(self, items: Any) -> None:
        try:
            async with aclosing(items):
                async for item in items:
                    self.seen.append(item)
                    await self.tickets.acquire()
        except (Busy, Refused):
            pass  # one drives at a time, and a message id is for one message

    def _start(self, make: Any) -> None:
        async def start() -> None:
            self.drives.append(asyncio.ensure_future(self._drive(make())))
            await asyncio.sleep(0)

        self._do(start())

    # --- drives

    @rule(process=_process, again=st.booleans())
    def say(self, process: int, again: bool) -> None:
        self.told += not again
        text, message_id = f"message {self.told}", f"m{self.told}"
        self._start(lambda: self.loops[process].run(text, self.session_id, client_message_id=message_id))

    @rule(process=_process)
    def resume(self, process: int) -> None:
        self._start(lambda: self.loops[process].resume(self.session_id))

    @rule(items=st.integers(1, 12))
    def let_them_work(self, items: int) -> None:
        async def work() -> None:
            for _ in range(items):
                self.tickets.release()
                await asyncio.sleep(0.001)

        self._do(work())

    @rule()
    def a_reader_goes_away(self) -> None:
        async def leave() -> None:
            for task in [task for task in self.drives if not task.done()][:1]:
                task.cancel()
                await asyncio.wait({task})

        self._do(leave())

    # --- commands

    @rule(process=_process, approve=st.sampled_from([True, True, True, False]), always=st.booleans())
    def decide(self, process: int, approve: bool, always: bool) -> None:
        async def decide() -> None:
            loop = self.loops[process]
            for call in (await loop.state(self.session_id)).open_calls():
                answer = loop.decide(self.session_id, call.call.id, approve=approve, always=always and approve, by="b")
                await self._may(answer)

        self._do(decide())

    @rule(process=_process)
    def interrupt(self, process: int) -> None:
        self._do(self.loops[process].interrupt(self.session_id))

    @rule(process=_process, number=st.integers(0, 3))
    def queue(self, process: int, number: int) -> None:
        queued = self.loops[process].queue(self.session_id, f"queued {number}", client_message_id=f"q{number}")
        self._do(self._may(queued))

    @rule(process=_process, back=st.integers(0, 12))
    def roll_back(self, process: int, back: int) -> None:
        async def roll_back() -> None:
            head = (await self.stores[process].session(self.session_id)).head
            await self._may(self.loops[process].rollback(self.session_id, max(1, head - back), by="boss"))

        self._do(roll_back())

    @rule(process=_process, back=st.integers(0, 12))
    def fork(self, process: int, back: int) -> None:
        """The child is driven to its end at once; the parent does not notice."""

        async def fork() -> None:
            loop, own = self.loops[process], Ledger()
            head = (await self.stores[process].session(self.session_id)).head
            child = await loop.fork(self.session_id, max(1, head - back))
            model = ScriptedModel([business] * 40)
            other = AgentLoop(model=model, tools=own.tools(), store=self.stores[process], config=CONFIG, price=PRICE)
            await drive(other.run("in the fork", child))
            await to_the_end(other, child, own)
            for request in model.requests:
                check_conversation(request.messages)
            assert redecide(*await read_log(self.stores[process], child)) == []

        self._do(fork())

    @rule(process=_process)
    def resolve(self, process: int) -> None:
        async def resolve() -> None:
            loop = self.loops[process]
            state = await loop.state(self.session_id)
            for call in state.entries[-1].calls if state.entries else []:
                happened = (f"{self.session_id}.{call.seq}.{call.index}", call.call.name) in self.ledger.effects
                outcome: Any = "happened" if happened else "send_again"
                await self._may(loop.resolve(self.session_id, call.call.id, outcome, by="boss"))

        self._do(resolve())

    @rule(process=_process, times=st.integers(1, 3))
    def meddle(self, process: int, times: int) -> None:
        self.stores[process].meddle = times

    async def _may(self, command: Coroutine[Any, Any, T]) -> T | None:
        """A command whose precondition need not hold."""
        try:
            return await command
        except Refused:
            return None

    # --- what must hold

    def teardown(self) -> None:
        if not hasattr(self, "session_id"):
            return
        try:
            self._do(self._to_the_end())
            self._do(self._check())
        finally:
            self._do(self._close())
            self.runner.close()
            self.folder.cleanup()

    async def _to_the_end(self) -> None:
        for _ in range(10_000):
            self.tickets.release()
        if self.drives:
            await asyncio.wait(self.drives, timeout=60)
            for task in self.drives:
                assert task.done(), "a drive hangs"
                assert task.cancelled() or task.exception() is None, task.exception()
        self.seen += await to_the_end(self.loops[0], self.session_id, self.ledger)
        assert not (await self.loops[0].state(self.session_id)).running

    async def _close(self) -> None:
        for store in self.stores:
            await store.aclose()

    async def _check(self) -> None:
        store = self.stores[0]
        log, contents = await read_log(store, self.session_id)
        verified = await store.verify(self.session_id)
        assert [item.seq for item in log] == list(range(1, verified.head + 1)), "I1"
        assert (await self.loops[1].state(self.session_id)) == fold(log, contents)
        for model in self.models:
            for request in model.requests:
                check_conversation(request.messages)  # I2
        self._check_effects(log)
        by_seq = {item.seq: item for item in await log_of(self.stores[1], self.session_id)}
        assert all(by_seq[item.seq] == item for item in self.seen if item.seq is not None), "I4"
        said = [item.event.client_message_id for item in log if isinstance(item.event, ev.UserMessage)]
        assert len(said) == len(set(said)), "no message is said twice"
        queued = {item.event.client_message_id for item in log if isinstance(item.event, ev.MessageQueued)}
        waiting = {item.client_message_id for item in (await self.loops[0].state(self.session_id)).queue}
        assert queued <= set(said) | waiting, "no message is lost"
        assert redecide(log, contents) == []

    def _check_effects(self, log: list[ev.Recorded]) -> None:
        """I3: each effect has an earlier intent and an approval of the same arguments; no key has two effects."""
        keys = [key for key, _ in self.ledger.effects]
        assert len(keys) == len(set(keys)), "no key appears twice"
        approved: set[tuple[str, str]] = set()
        begun: set[str] = set()
        for item in log:
            match item.event:
                case ev.ApprovalDecided(decision="approved", arguments=None) as decided:
                    approved.add((decided.call_id, decided.digest))
                case ev.ToolCallStarted() as started if started.tool in ("order", "note", "cancel"):
                    assert (started.call_id, started.digest) in approved
                    begun.add(started.idempotency_key)
        assert set(keys) <= begun


TwoDrivers.TestCase.settings = settings(
    max_examples=30,
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)
TestTwoDrivers = TwoDrivers.TestCase
