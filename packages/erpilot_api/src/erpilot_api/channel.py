"""What the readers of one session share while it is driven here: the newest frames, and the step that is going on.

Invariant: bounded, whatever readers do: no reader has a queue of its own, and one that falls behind the newest frames
goes back to the log, which has them all.
"""

from __future__ import annotations

import asyncio
from collections import deque
from itertools import islice

from agent_core import events as ev
from agent_core.messages import ReasoningDelta, TextDelta, TextWithdrawn

from .frames import Frame, frame_of
from .wire import Problem

KEPT_BYTES = 128 * 1024
"""Of the newest frames, per session with readers."""


class Channel:
    """One session. ``head``: its newest event that passed here. ``driven``: a run is going on in this process."""

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        self.head = 0
        self.driven = False
        self.failure: Problem | None = None
        """Why the drive broke off, if it did."""
        self.readers = 0
        self.first = 0
        """Place of the oldest frame that is kept; places count all frames that ever passed."""
        self._frames: deque[Frame] = deque()
        self._bytes = 0
        self._step = 0
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._waiting: list[asyncio.Future[None]] = []

    @property
    def end(self) -> int:
        """Place of the frame that comes next."""
        return self.first + len(self._frames)

    def publish(self, item: ev.Recorded) -> None:
        """Hands an event to the readers."""
        frame = frame_of(item, self._step)
        if item.seq is None:
            self._show(item.event)
        else:
            self.head = max(self.head, item.seq)
            if frame.closes:
                self._step = item.seq if type(item.event) is ev.StepStarted else 0
                self._text, self._reasoning = [], []
        if self.readers:
            self._frames.append(frame)
            self._bytes += len(frame.data)
            while self._bytes > KEPT_BYTES and len(self._frames) > 1:
                self._bytes -= len(self._frames.popleft().data)
                self.first += 1
            self.wake()

    def since(self, place: int) -> list[Frame] | None:
        """The frames from ``place`` on; None when some of them are not kept any more."""
        if place < self.first:
            return None
        return list(islice(self._frames, place - self.first, None))

    def shown(self) -> tuple[int, str, str]:
        """The step that is going on (0: none), and its text and reasoning so far."""
        text, reasoning = "".join(self._text), "".join(self._reasoning)
        self._text, self._reasoning = [text], [reasoning]  # so that all who ask hold the same text
        return self._step, text, reasoning

    def is_going_on(self, step: int) -> bool:
        """Whether more may come of a step."""
        return step == self._step

    def wake(self) -> None:
        """Lets every reader look again."""
        waiting, self._waiting = self._waiting, []
        for future in waiting:
            if not future.done():
                future.set_result(None)

    def waiter(self) -> asyncio.Future[None]:
        """Done as soon as ``wake`` is called."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(future)
        return future

    def join(self) -> None:
        """One more reader."""
        self.readers += 1

    def leave(self) -> None:
        """One reader less; without any, nothing is kept."""
        self.readers -= 1
        if not self.readers:
            self.first += len(self._frames)
            self._frames.clear()
            self._bytes = 0

    def _show(self, event: ev.AnyEvent) -> None:
        kind = type(event)
        if kind is TextDelta:
            self._text.append(event.text)  # type: ignore[union-attr]
        elif kind is ReasoningDelta:
            self._reasoning.append(event.text)  # type: ignore[union-attr]
        elif kind is TextWithdrawn:
            self._text, self._reasoning = [], []
