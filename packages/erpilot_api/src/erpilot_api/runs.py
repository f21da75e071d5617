"""The runs that are going on here: tasks of their own, whose readers come and go.

Invariant: a run depends on no request: whoever started it may leave. A session is driven by at most one task here, and
what was decided while one was ending is taken up by the next.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import aclosing
from typing import Any, NamedTuple

from agent_core import events as ev
from agent_core.errors import AgentError, Busy
from agent_core.loop import AgentLoop

from .channel import Channel
from .problems import Trouble, problem_of

_log = logging.getLogger(__name__)


class Began(NamedTuple):
    """What a run passes through, and the place of its first frame there."""

    channel: Channel
    place: int


class Drive:
    """One task. ``began``: the session it is in, once its first event is stored; or what it met before that."""

    def __init__(self, loop: AgentLoop, awaited: bool = False) -> None:
        self.loop = loop
        self.awaited = awaited
        """A reader joins before the first event passes."""
        self.began: asyncio.Future[Channel | None] = asyncio.get_running_loop().create_future()
        self.joined: Channel | None = None
        self.place = 0
        """Of its first frame in the channel."""
        self.again: str | None = None
        """Who decided something meanwhile: the session is looked at once more when this has ended."""
        self.has_ended = False
        """The run is over, as far as anybody can see; the task only has to put its things away."""
        self.over: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def abandon(self) -> None:
        """There is no reader after all."""
        self.awaited = False
        if self.joined is not None:
            self.joined.leave()
            self.joined = None


class Runs:
    """``most``: runs at once; further ones are refused."""

    def __init__(self, most: int = 500) -> None:
        self._most = most
        self._channels: dict[str, Channel] = {}
        self._drives: dict[str, Drive] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self.closing = False

    def channel(self, session_id: str) -> Channel:
        """What the readers of a session share."""
        found = self._channels.get(session_id)
        if found is None:
            self._sweep()
            found = self._channels[session_id] = Channel(session_id)
        return found

    def is_driven(self, session_id: str) -> bool:
        """Whether a run of the session is going on here."""
        drive = self._drives.get(session_id)
        return drive is not None and not drive.has_ended

    async def start(
        self, loop: AgentLoop, stream: AsyncGenerator[ev.Recorded], session_id: str | None, *, read: bool = False
    ) -> Began | None:
        """Drives ``stream`` in a task and returns once its first event is stored; None when it had nothing to do.
        Raises what it met before that. ``read``: the channel is joined already, for a reader who wants all of it.
        """
        if self.closing:
            raise Trouble("closing")
        if len(self._tasks) >= self._most:
            raise Trouble("too-many", "Too many runs are going on.", headers={"retry-after": "5"})
        drive = Drive(loop, awaited=read)
        if session_id is not None:
            while (before := self._drives.get(session_id)) is not None:
                if not before.has_ended:
                    await stream.aclose()
                    raise Busy(session_id, "this server")
                await asyncio.shield(before.over)  # whoever saw the end of a run may say the next thing at once
            self._begin(drive, session_id)
        self._spawn(self._drive(drive, stream, session_id))
        try:
            channel = await asyncio.shield(drive.began)
        except BaseException:
            drive.abandon()
            raise
        if channel is None:
            drive.abandon()
            return None
        return Began(channel, drive.place)

    def take_up(self, loop: AgentLoop, session_id: str, by: str) -> None:
        """Lets a session go on from where it stopped, in the background; nothing, when there is nothing to do."""
        if self.closing:
            return
        if (drive := self._drives.get(session_id)) is not None:
            drive.again = by
            return
        self._spawn(self._resume(loop, session_id, by))

    async def leave(self, grace: float, impatient: Callable[[], bool] = lambda: False) -> None:
        """Takes no new run, and leaves those that are going on at a durable point, for whoever takes them up. Calls
        that are running have ``grace`` seconds to end, unless somebody is ``impatient``.
        """
        self.closing = True
        until = asyncio.get_running_loop().time() + grace
        while self._tasks and not impatient() and (left := until - asyncio.get_running_loop().time()) > 0:
            for session_id, drive in list(self._drives.items()):
                drive.loop.hand_over(session_id)
            await asyncio.wait(self._tasks, timeout=min(left, 0.1))
        for session_id, drive in list(self._drives.items()):
            drive.loop.hand_over(session_id, at_once=True)
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=5.0)

    def told(self, session_id: str, head: int) -> None:
        """Somebody appended outside a run: readers look at the log."""
        channel = self._channels.get(session_id)
        if channel is not None and channel.head < head:
            channel.head = head
            channel.wake()

    def followed(self) -> list[str]:
        """Sessions with readers that no run here tells anything."""
        return [name for name, channel in self._channels.items() if channel.readers and not channel.driven]

    async def _resume(self, loop: AgentLoop, session_id: str, by: str) -> None:
        if not self.closing and session_id not in self._drives:
            drive = Drive(loop)
            self._begin(drive, session_id)
            await self._drive(drive, loop.resume(session_id, by=by), session_id)

    async def _drive(self, drive: Drive, stream: AsyncGenerator[ev.Recorded], session_id: str | None) -> None:
        channel = None if session_id is None else self.channel(session_id)
        try:
            async with aclosing(stream) as items:
                async for item in items:
                    if channel is None:
                        session_id = item.session_id
                        channel = self._begin(drive, session_id)
                    drive.has_ended = type(item.event) is ev.LoopEnd
                    channel.publish(item)
                    if not drive.began.done():
                        drive.began.set_result(channel)
        except Exception as error:
            if not drive.began.done():
                drive.began.set_exception(error)
                drive.began.exception()  # whoever waits is told; without anybody it is no complaint of the event loop
            elif channel is not None:
                channel.failure = problem_of(error)
            if isinstance(error, Busy):
                _log.info("session %s is driven by another process: %s", session_id, error)
            elif isinstance(error, AgentError):
                _log.warning("a run of session %s ended: %s", session_id, error)
            else:
                _log.error("a run of session %s broke off", session_id, exc_info=error)
        finally:
            if not drive.began.done():
                drive.began.set_result(None)
            if session_id is not None:
                self._drives.pop(session_id, None)
            again = None if self.closing else drive.again
            if channel is not None and again is None:  # else a reader would take a moment for the end
                channel.driven = False
                channel.wake()
            drive.over.set_result(None)
            if again is not None and session_id is not None:
                self.take_up(drive.loop, session_id, again)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _begin(self, drive: Drive, session_id: str) -> Channel:
        channel = self.channel(session_id)
        channel.driven, channel.failure = True, None
        if drive.awaited:
            channel.join()
            drive.joined, drive.place = channel, channel.end
        self._drives[session_id] = drive
        return channel

    def _sweep(self) -> None:
        if len(self._channels) > 2 * len(self._drives) + 64:
            for name in [name for name, channel in self._channels.items() if not (channel.readers or channel.driven)]:
                del self._channels[name]
