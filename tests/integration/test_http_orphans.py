"""Runs whose driver died while a server was running: it goes on with them, and with no other."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest

from agent_core import events as ev
from agent_core.loop import AgentLoop
from agent_core.testing import MemoryStore, ScriptedModel
from erpilot_api import watch
from tests.support.http_api import KIM, house_of, serving
from tests.support.loops import collect, loop_over, of_type
from tests.support.requests import log_of


class Stuck:
    """A model that says nothing. ``asked``: it was asked."""

    name = "scripted"

    def __init__(self) -> None:
        self.asked = asyncio.Event()

    async def stream_chat(self, messages: Any, tools: Any = (), **options: Any) -> AsyncIterator[Any]:
        self.asked.set()
        await asyncio.Event().wait()
        yield None


async def begun(store: MemoryStore, owner: str | None) -> tuple[AgentLoop, str, asyncio.Task[Any]]:
    """A run of another program that waits for its model."""
    model = Stuck()
    loop, _ = loop_over(store=store, model=model)  # type: ignore[arg-type]
    run = asyncio.create_task(collect(loop.run("How many?", by="shopkeeper", owner=owner)))
    await model.asked.wait()
    return loop, (await store.sessions())[0].session_id, run


@pytest.mark.parametrize("owner", [None, KIM.name], ids=["begun on the command line", "begun over HTTP"])
async def test_a_run_whose_driver_died_is_gone_on_with_by_a_server_that_runs(owner: str | None) -> None:
    store, later = MemoryStore(), [0.0]
    other, session, run = await begun(store, owner)
    loop, _ = loop_over(store=store, model=ScriptedModel(["Seven."]))
    async with serving(house_of(loop, clock=lambda: time.time() + later[0])) as api:
        later[0] = 60.0
        await watch.take_up(api.house)
        await asyncio.sleep(0)
        while api.house.runs.is_driven(session):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        async with api.client().stream(f"/api/sessions/{session}/events?follow=run") as frames:
            await anext(frames)
            assert len(of_type(await log_of(store, session), ev.RunStarted)) == 1, "its driver is there"
            other.hand_over(session, at_once=True)  # what a log looks like whose driver is gone
            await run
            await watch.take_up(api.house)
            last = [frame async for frame in frames][-1]
        assert last.data["reason"] == "completed"


@pytest.mark.parametrize("age", [5.0, 2 * 3600.0], ids=["its command may still go on", "nobody waits for it any more"])
async def test_a_run_of_the_command_line_that_was_cut_off_just_now_or_long_ago_is_left_alone(age: float) -> None:
    store = MemoryStore()
    other, session, run = await begun(store, None)
    other.hand_over(session, at_once=True)
    await run
    loop, _ = loop_over("Seven.", store=store)
    async with serving(house_of(loop, clock=lambda: time.time() + age)) as api:
        await watch.take_up(api.house)
        assert not api.house.runs.is_driven(session)
        assert (await api.client().ask("POST", f"/api/sessions/{session}/resume"))[0] == 202, "a person may"
        rest = await api.client().read(f"/api/sessions/{session}/events?follow=run")
        assert rest[-1].data["reason"] == "completed"
