"""A reader of a session: everything behind an event, first from the log, then as it happens, until it is to stop.

Invariant: durable events come in order, each exactly once, whatever was dropped, missed or appended by other processes
meanwhile; what is only shown comes only while its step is still open for this reader.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Literal

from agent_core import events as ev
from agent_core.errors import AgentError
from agent_core.messages import ReasoningDelta, TextDelta
from agent_core.store.base import EventStore

from .channel import Channel
from .frames import Frame, envelope, frame_of
from .problems import problem_of
from .wire import Done, PartialStep, Problem, Start

Follow = Literal["none", "run", "always"]
CHUNK = 16 * 1024
"""Bytes of frames that are handed on at once, or characters of a text."""
CATCH_UP_SECONDS = 0.5
"""How long a reader that was too slow for what happens waits before it is told the state of a step once more."""


class Reader:
    """Frames of ``channel``'s session after event ``after``; ``frames`` ends after ``done``, or without it where it was
    told to close.

    ``follow``: ``none`` stops at the head, ``run`` at the end of what is going on, ``always`` never. ``one_run``: stops
    at the first end of a run. ``place``: where the channel was joined already, with nothing in between that is stored
    and did not pass there. ``run_open``: whether a run had begun and not ended, here or in another process, at the
    newest event that is known.
    """

    def __init__(
        self,
        store: EventStore,
        channel: Channel,
        after: int,
        *,
        follow: Follow = "run",
        one_run: bool = False,
        repeated: bool = False,
        run_open: bool = False,
        place: int | None = None,
    ) -> None:
        self._store, self._channel = store, channel
        self._after, self.cursor = after, after
        self._follow, self._one_run, self._repeated = follow, one_run, repeated
        self._run_open, self._place = run_open, place
        self._joined = place is not None
        self._closed_step = 0
        """The newest event that closed a step."""
        self._end: str | None = None
        """The reason of the newest end of a run, when nothing began behind it."""
        self._fell_behind = False
        self._known_failure: Problem | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._closing = False

    def close(self) -> None:
        """Ends the frames soon, without ``done``."""
        self._closing = True
        self.wake()

    def wake(self) -> None:
        """Makes ``frames`` give something, if only an empty chunk."""
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def frames(self, head: int) -> AsyncGenerator[bytes]:
        """Chunks of whole frames; an empty one when there was nothing but a wake-up. ``head``: the newest event now."""
        channel, place = self._channel, self._place
        if not self._joined:
            self._known_failure = channel.failure  # of a run that broke off before
            channel.join()
            self._joined = True
        try:
            yield envelope("start", self._start(head), retry=2000)
            if place is not None:
                async for chunk in self._live(place):
                    yield chunk
            while not self._has_ended() and not self._closing:
                going_on = self._follow == "always" or (self._follow == "run" and self._running())
                failure = self._failure()
                async for chunk in self._from_log():
                    yield chunk
                if self._has_ended():
                    break
                if failure is not None:
                    yield envelope("error", failure)
                    return
                if not going_on:
                    break
                if self._fell_behind:
                    await asyncio.sleep(CATCH_UP_SECONDS)  # or it would be told the same text again and again
                now = channel.end
                async for chunk in self._so_far():
                    yield chunk
                async for chunk in self._live(now):
                    yield chunk
            if not self._closing:
                yield envelope("done", Done(session_id=channel.session_id, seq=self.cursor, reason=self._end or "head"))
        except AgentError as error:  # the log cannot be read (any more)
            yield envelope("error", problem_of(error))
        finally:
            self.finish()

    def finish(self) -> None:
        """Nothing more is wanted; harmless when repeated."""
        if self._joined:
            self._joined = False
            self._channel.leave()

    def _start(self, head: int) -> Start:
        return Start(
            session_id=self._channel.session_id,
            after=self._after,
            head=head,
            running=self._running(),
            repeated=self._repeated,
        )

    async def _from_log(self) -> AsyncGenerator[bytes]:
        """What is stored behind the cursor."""
        pending: list[bytes] = []
        size = 0
        async with aclosing(self._store.read(self._channel.session_id, self.cursor)) as items:  # type: ignore[type-var]
            async for item in items:
                frame = frame_of(item)
                self._note(frame)
                pending.append(frame.data)
                size += len(frame.data)
                if self._closing or self._has_ended():
                    break
                if size > CHUNK:
                    yield b"".join(pending)
                    pending, size = [], 0
        if pending:
            yield b"".join(pending)

    async def _so_far(self) -> AsyncGenerator[bytes]:
        """What was shown of the step that is going on: a ``partial`` frame, and deltas where that would be large."""
        channel = self._channel
        step, text, reasoning = channel.shown()
        if not (text or reasoning) or not self._is_open(step):
            return
        first = PartialStep(
            session_id=channel.session_id, step_seq=step, text=text[:CHUNK], reasoning=reasoning[:CHUNK]
        )
        yield envelope("partial", first)
        for whole, kind in ((reasoning, ReasoningDelta), (text, TextDelta)):
            for start in range(CHUNK, len(whole), CHUNK):
                if self._closing or not channel.is_going_on(step):
                    return  # the log has it whole by now
                delta = kind(whole[start : start + CHUNK])
                yield frame_of(ev.Recorded(channel.session_id, None, time.time(), delta), step).data

    async def _live(self, place: int) -> AsyncGenerator[bytes]:
        """What passes from ``place`` on; returns when the log has to be looked at, or at the end."""
        channel = self._channel
        while not self._closing:
            frames = channel.since(place)
            if frames is None:
                self._fell_behind = True
                return
            pending: list[bytes] = []
            gap, size = False, 0
            for frame in frames:
                place += 1
                if size > CHUNK:
                    yield b"".join(pending)
                    pending, size = [], 0
                size += len(frame.data)
                if frame.seq is None:
                    if self._is_open(frame.step):
                        pending.append(frame.data)
                elif frame.seq > self.cursor:
                    if gap := frame.seq > self.cursor + 1:  # somebody else appended in between
                        break
                    self._note(frame)
                    pending.append(frame.data)
                    if self._has_ended():
                        break
            if pending:
                yield b"".join(pending)
            if gap or self._has_ended():
                return
            if place < channel.end:
                continue
            if channel.head > self.cursor or self._failure() is not None:
                return
            if self._follow != "always" and not self._running():
                return
            self._waiter = channel.waiter()
            await self._waiter
            if channel.end == place:
                yield b""

    def _note(self, frame: Frame) -> None:
        assert frame.seq is not None, "only what is durable moves a reader on"
        self.cursor = frame.seq
        if frame.closes:
            self._closed_step, self._end = frame.seq, frame.end
        self._run_open = frame.begins or (self._run_open and frame.end is None)

    def _is_open(self, step: int) -> bool:
        """Whether what is shown of ``step`` is still news for this reader."""
        return step >= self._closed_step

    def _running(self) -> bool:
        return self._channel.driven or self._run_open

    def _failure(self) -> Problem | None:
        failure = self._channel.failure
        return None if failure is self._known_failure else failure

    def _has_ended(self) -> bool:
        return self._one_run and self._end is not None
