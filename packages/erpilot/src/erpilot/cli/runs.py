"""Follows a run to its end: shows it, passes interrupts on, puts open questions to the person, and says how to go on.

Invariant: a question is only ever answered by a person at a terminal; without one it is left waiting and said so.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import aclosing, contextmanager, nullcontext, suppress
from pathlib import Path

from agent_core import events as ev
from agent_core.errors import AgentError, Refused
from agent_core.trace.jsonl import JsonlTraceRecorder
from agent_core.trace.transcript import AnyItem, Ended, Question
from agent_core.undo import Compensation

from .deciding import put_questions
from .desk import Desk, history_of
from .doubts import doubt_lines
from .lines import lines_of
from .problems import COMPLETED, EXIT_OF_REASON, UNEXPECTED, WAITING
from .render import JsonRenderer, LiveRenderer, Renderer, waiting
from .terminal import can_ask
from .typed import lines_typed
from .work import Bench


class Following:
    """The runs of one session in one command."""

    def __init__(
        self,
        desk: Desk,
        bench: Bench,
        session_id: str | None,
        history: list[AnyItem],
        *,
        as_json: bool,
        trace: str | None,
        listen: bool = False,
    ) -> None:
        self._desk, self.bench = desk, bench
        self.session_id = session_id
        self._lines = lines_of(desk)
        self._json, self._listen = as_json, listen
        self._renderer: Renderer = (
            JsonRenderer(desk.terminal) if as_json else LiveRenderer(desk.terminal, self._lines, history)
        )
        self._recorder = JsonlTraceRecorder(Path(trace), bench.store) if trace else None
        self.failure_kind: str | None = None
        self.left_over: list[str] = []
        """Lines that were typed while a run went on (``listen``) and came too early or too late for its queue."""

    async def say(self, text: str) -> int:
        """Puts a question to the session (a new one, if there is none yet) and returns the exit code."""
        bench = self.bench
        stream = bench.loop.run(
            text, self.session_id, by=self._desk.person, context=bench.today(), profile=bench.profile.name
        )
        return await self._to_the_end(stream)

    async def go_on(self) -> int:
        """Resumes the session and returns the exit code."""
        assert self.session_id is not None, "only a session can be resumed"
        stream = self.bench.loop.resume(self.session_id, by=self._desk.person)
        return await self._to_the_end(stream)

    async def undo(self, plan: Sequence[Compensation]) -> int:
        """Runs what takes back writes, each asked like a write, and returns the exit code."""
        assert self.session_id is not None, "only what a session did can be taken back"
        return await self._to_the_end(self.bench.loop.undo(self.session_id, plan, by=self._desk.person))

    async def _to_the_end(self, stream: AsyncIterator[ev.Recorded]) -> int:
        end = await self._follow(stream)
        while self.session_id is not None and (end is None or end.reason == "awaiting_approval"):
            history = await history_of(self.bench.store, self.session_id)
            open_questions = waiting(history)
            if not open_questions:
                doubts = doubt_lines(self._desk, self._lines, self.session_id, history)
                if history and isinstance(history[-1], Ended) and history[-1].reason == "awaiting_approval":
                    for text, style in doubts:
                        self._desk.terminal.note(text, style)
                    return WAITING
                break
            if self._json or not can_ask():
                self._say_how_to_decide(open_questions)
                return WAITING
            if not await put_questions(self._desk, self.bench, self.session_id, open_questions):
                self._desk.terminal.note(self._desk.texts("left_waiting"), "wait")
                self._say_how_to_decide(open_questions)
                return WAITING
            end = await self._follow(self.bench.loop.resume(self.session_id, by=self._desk.person))
        if end is None:
            self._desk.terminal.note(self._desk.texts("nothing_to_do", session=self.session_id))
            return COMPLETED
        self._say_advice(end)
        return EXIT_OF_REASON.get(end.reason, UNEXPECTED)

    async def _follow(self, stream: AsyncIterator[ev.Recorded]) -> ev.LoopEnd | None:
        """Shows one run; the first interrupt stops it through the log, the second one at once."""
        if self._recorder is not None:
            stream = self._recorder.run(stream)
        end: ev.LoopEnd | None = None
        self.failure_kind = None
        listening = lines_typed(self._queue) if self._listen else nullcontext()
        with interrupts(self._interrupt):
            async with listening, aclosing(stream) as items:  # type: ignore[type-var]
                async for item in items:
                    self.session_id = item.session_id
                    if isinstance(item.event, ev.ModelAttemptFailed):
                        self.failure_kind = item.event.kind
                    if isinstance(item.event, ev.LoopEnd):
                        end = item.event
                    self._renderer.show(item)
        if self._recorder is not None and self._recorder.incomplete:
            self._desk.terminal.note(
                self._desk.texts("trace_incomplete", path=self._recorder.path, why=self._recorder.incomplete), "error"
            )
        return end

    async def _interrupt(self) -> None:
        if self.session_id is None:
            raise asyncio.CancelledError
        self._desk.terminal.note(self._desk.texts("interrupting"), "wait")
        await self.bench.loop.interrupt(self.session_id, by=self._desk.person)

    async def _queue(self, text: str) -> None:
        """Leaves a line that was typed meanwhile for the run that follows; a command is never said to the model."""
        from .chat import command_in

        session = self.session_id if command_in(text) is None else None
        try:
            if session is None:
                raise Refused("There is no session that takes it.")
            await self.bench.loop.queue(session, text, by=self._desk.person, context=self.bench.today())
        except AgentError:  # the run is over: it is the next thing to be said
            self.left_over.append(text)
        self._desk.terminal.note(self._desk.texts("queue_kept", text=self._lines.cut(text)), "quiet")

    def _say_how_to_decide(self, questions: list[Question]) -> None:
        for question in questions:
            for text, style in [*self._lines.preview(question), self._lines.wants(question)]:
                self._desk.terminal.note(text, style)
            how = self._desk.texts("how_to_decide", session=self.session_id, call=question.call_id)
            self._desk.terminal.note(how)

    def _say_advice(self, end: ev.LoopEnd) -> None:
        say, texts = self._desk.terminal.note, self._desk.texts
        if end.reason == "model_error":
            advice = texts.get(f"advice_{self.failure_kind}", "")
            say(f"{advice} {texts('resume_model_hint', session=self.session_id)}".strip())
        elif end.reason != "completed":
            say(texts("resume_hint", session=self.session_id))


@contextmanager
def interrupts(interrupt: Callable[[], object]) -> Iterator[None]:
    """While it lasts, Ctrl-C and a request to terminate call ``interrupt``; a second one cancels what is going on."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None, "a run is followed in a task"
    stopping: list[asyncio.Task[None]] = []

    async def stop() -> None:
        try:
            await interrupt()  # type: ignore[misc]
        except (AgentError, asyncio.CancelledError):
            task.cancel()

    def on_signal() -> None:
        if stopping:
            task.cancel()
        else:
            stopping.append(loop.create_task(stop()))

    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        for number in before:
            loop.add_signal_handler(number, on_signal)
    except NotImplementedError:  # Windows
        for number in before:
            signal.signal(number, lambda *_: loop.call_soon_threadsafe(on_signal))
    try:
        yield
    finally:
        for number, handler in before.items():
            with suppress(NotImplementedError):
                loop.remove_signal_handler(number)
            if handler is not None:
                signal.signal(number, handler)
