from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any, cast

import pytest

from agent_core import events as ev
from agent_core.errors import Busy, StoreError
from agent_core.loop import AgentLoop
from agent_core.messages import TextDelta, TextWithdrawn
from erpilot_api.channel import KEPT_BYTES, Channel
from erpilot_api.problems import Trouble
from erpilot_api.runs import Runs


def item(seq: int | None, event: Any) -> ev.Recorded:
    return ev.Recorded("s", seq, 0.0, event)


class Resumable:
    """A loop of which only resuming is used; it counts."""

    def __init__(self) -> None:
        self.resumed: list[str] = []
        self.left: list[bool] = []

    async def resume(self, session_id: str, *, by: str) -> AsyncIterator[ev.Recorded]:
        self.resumed.append(by)
        for nothing in cast(list[ev.Recorded], []):
            yield nothing

    def hand_over(self, session_id: str, *, at_once: bool = False) -> None:
        self.left.append(at_once)


async def blocked(gate: asyncio.Event) -> Any:
    yield item(1, ev.SessionStarted())
    await gate.wait()


async def settled(runs: Runs) -> None:
    while runs._tasks:
        await asyncio.wait(runs._tasks)


async def test_what_was_decided_while_a_run_was_ending_is_taken_up_when_it_has_ended() -> None:
    runs, loop, gate = Runs(), Resumable(), asyncio.Event()
    began = await runs.start(cast(AgentLoop, loop), blocked(gate), "s")
    assert began is not None
    assert began.channel.driven
    for by in ("boss", "mei"):
        runs.take_up(cast(AgentLoop, loop), "s", by)
    assert loop.resumed == []
    gate.set()
    await settled(runs)
    assert loop.resumed == ["mei"]
    assert not began.channel.driven


async def test_a_session_is_driven_once_and_no_more_runs_go_on_than_are_allowed() -> None:
    runs, gate = Runs(most=1), asyncio.Event()
    loop = cast(AgentLoop, Resumable())
    await runs.start(loop, blocked(gate), None)
    assert runs.is_driven("s")
    with pytest.raises(Trouble) as refused:
        await runs.start(loop, blocked(gate), "t")
    assert refused.value.problem.status == 429
    runs._most = 2
    with pytest.raises(Busy):
        await runs.start(loop, blocked(gate), "s")
    gate.set()
    await settled(runs)
    assert not runs.is_driven("s")


async def test_what_a_run_meets_before_its_first_event_is_told_to_whoever_started_it() -> None:
    async def failing(full: bool = True) -> Any:
        if full:
            raise StoreError("No space is left.")
        yield

    runs = Runs()
    with pytest.raises(StoreError):
        await runs.start(cast(AgentLoop, Resumable()), failing(), "s", read=True)
    assert runs.channel("s").readers == 0
    assert runs.channel("s").failure is None
    assert await runs.start(cast(AgentLoop, Resumable()), Resumable().resume("s", by="x"), "s") is None  # type: ignore[arg-type]


async def test_a_server_that_leaves_takes_no_new_run_and_asks_each_to_be_handed_over() -> None:
    runs, loop, gate = Runs(), Resumable(), asyncio.Event()
    await runs.start(cast(AgentLoop, loop), blocked(gate), None)
    leaving = asyncio.create_task(runs.leave(30.0))
    while not loop.left:  # noqa: ASYNC110
        await asyncio.sleep(0)
    with pytest.raises(Trouble):
        await runs.start(cast(AgentLoop, loop), blocked(gate), "t")
    gate.set()
    await leaving
    assert loop.left[0] is False


def test_a_channel_keeps_the_newest_frames_and_only_while_somebody_reads() -> None:
    channel = Channel("s")
    channel.publish(item(1, ev.SessionStarted()))
    assert channel.since(0) == []
    channel.join()
    for number in range(2000):
        channel.publish(item(None, TextDelta("x" * 100)))
        assert channel._bytes <= KEPT_BYTES
        assert channel.end == number + 1
    assert channel.since(0) is None
    kept = channel.since(channel.first)
    assert kept is not None
    assert len(kept) == channel.end - channel.first
    channel.leave()
    assert channel._bytes == 0
    assert channel.since(channel.end) == []


def test_the_text_of_a_step_is_what_was_shown_of_it_and_not_withdrawn() -> None:
    channel = Channel("s")
    started = ev.StepStarted(step=1, attempt=1, request=ev.Manifest((), "f"), estimated_tokens=1)
    channel.publish(item(4, started))
    channel.publish(item(None, TextDelta("wrong")))
    channel.publish(item(None, TextWithdrawn("stream_error")))
    channel.publish(item(None, TextDelta("right")))
    assert channel.shown() == (4, "right", "")
    assert channel.is_going_on(4)
    channel.publish(item(5, ev.AssistantMessage(step=1, content="right")))
    assert channel.shown() == (0, "", "")
    assert not channel.is_going_on(4)
