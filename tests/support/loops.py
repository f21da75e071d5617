"""Runs conversations for tests and looks at what came of them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from typing import Any, TypeVar

import msgspec

from agent_core import RetryPolicy
from agent_core import events as ev
from agent_core.codec import encode
from agent_core.config import LoopConfig
from agent_core.loop import AgentLoop
from agent_core.store.base import EventStore
from agent_core.store.chain import NAME
from agent_core.testing import MemoryStore, ScriptedModel
from agent_core.tools.tool import Tool
from tests.support.requests import check_requests, log_of

E = TypeVar("E")
QUICK = RetryPolicy(attempts=3, base=0.0)


def loop_over(
    *turns: Any,
    tools: Iterable[Tool] = (),
    store: EventStore | None = None,
    model: ScriptedModel | None = None,
    **settings: Any,
) -> tuple[AgentLoop, ScriptedModel]:
    """An agent whose model plays ``turns``; ``settings`` are those of ``LoopConfig`` and of the loop itself."""
    names = ("price", "clock", "lease_seconds", "known_tools", "findable_tools")
    own = {key: settings.pop(key) for key in names if key in settings}
    model = ScriptedModel(turns) if model is None else model
    config = LoopConfig(**{"system_prompt": "You are careful.", "retry": QUICK, "cache_seconds": 0.0, **settings})
    store = MemoryStore() if store is None else store
    return AgentLoop(model=model, tools=tools, store=store, config=config, **own), model


async def collect(items: AsyncIterator[ev.Recorded]) -> list[ev.Recorded]:
    """Everything that a run yields."""
    return [item async for item in items]


def of_type(items: Iterable[ev.Recorded], kind: type[E]) -> list[E]:
    """The events of one type, in order."""
    return [item.event for item in items if isinstance(item.event, kind)]


def types(items: Iterable[ev.Recorded]) -> list[str]:
    """The names of the durable ones."""
    return [type(item.event).__name__ for item in items if item.seq is not None]


def end_of(items: Iterable[ev.Recorded]) -> ev.LoopEnd:
    """How the run ended."""
    ends = of_type(items, ev.LoopEnd)
    assert len(ends) == 1
    return ends[0]


def errors(items: Iterable[ev.Recorded]) -> dict[str, str]:
    """Types of errors by call id."""
    return {done.call_id: done.error.type for done in of_type(items, ev.ToolCallFinished) if done.error is not None}


def results(model: ScriptedModel, request: int = -1) -> list[Any]:
    """What the model read of its calls in one request: plain values where they are JSON, else text."""
    read = []
    for message in model.requests[request].messages:
        if message.role == "tool":
            try:
                read.append(msgspec.json.decode(message.content or ""))
            except msgspec.DecodeError:
                read.append(message.content)
    return read


async def check_session(loop: AgentLoop, session_id: str, *models: ScriptedModel) -> list[ev.Recorded]:
    """The log of a session, after the checks that hold for every one of them (I1, I2, a free lease)."""
    verified = await loop.store.verify(session_id)
    log = await log_of(loop.store, session_id)
    assert [item.seq for item in log] == list(range(1, verified.head + 1))
    await check_requests(loop.store, session_id, *models)
    await loop.store.release(await loop.store.acquire(session_id, seconds=5))
    return log


async def cut_off(loop: AgentLoop, session_id: str, seq: int) -> str:
    """A session with the same log up to event ``seq``, and nobody who closed it: what a killed process leaves."""
    items = [item async for item in loop.store.read(session_id) if (item.seq or 0) <= seq]
    contents: dict[str, bytes] = {}
    texts = [encode(item.event) for item in items]
    while texts:
        names = {name.decode() for text in texts for name in NAME.findall(text)} - contents.keys()
        found = await loop.store.contents(session_id, names)
        contents |= found
        texts = list(found.values())
    await loop.store.append(
        "crashed",
        [item.event for item in items],
        expected_seq=0,
        contents=contents,
        at=[item.at for item in items],
    )
    return "crashed"
