"""Work in processes of its own, which can be killed: what runs there, and how it is started.

The functions here are run by children (of a fork server that has everything imported already, so that one costs
hundredths of a second); what they find out they leave in files.
"""

from __future__ import annotations

import asyncio
import functools
import multiprocessing
import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from agent_core import OpenAIModel
from agent_core import events as ev
from agent_core.config import LoopConfig
from agent_core.errors import Busy, Fenced
from agent_core.loop import AgentLoop
from agent_core.messages import Message, ModelClient
from agent_core.store.sqlite import SqliteStore
from agent_core.testing import ErpDouble, ScriptedModel
from agent_core.testing.failpoints import arm_from_environment
from agent_core.testing.log_checks import read_all, said

SYSTEM = "You are careful."


@functools.cache
def _context() -> Any:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    return context


def start(work: Callable[..., None], *arguments: Any, environment: Mapping[str, str] | None = None) -> Any:
    """Starts ``work(*arguments)`` in a process; returns it (``pid``, ``join``, ``exitcode``)."""
    process = _context().Process(target=_child, args=(work, arguments, dict(environment or {})), daemon=True)
    process.start()
    return process


def finish(process: Any, seconds: float = 30.0) -> int:
    """Waits for a process and returns its exit code; minus the signal that ended it."""
    process.join(seconds)
    if process.exitcode is None:
        process.kill()
        process.join()
        raise AssertionError(f"process {process.pid} did not end within {seconds} seconds")
    return int(process.exitcode)


def run(work: Callable[..., None], *arguments: Any, environment: Mapping[str, str] | None = None) -> int:
    """Runs ``work`` to its end."""
    return finish(start(work, *arguments, environment=environment))


def _child(work: Callable[..., None], arguments: tuple[Any, ...], environment: dict[str, str]) -> None:
    os.environ.update(environment)
    arm_from_environment()
    work(*arguments)


# --- a story: two reads side by side, an approved write, an answer


def next_turn(messages: Sequence[Message]) -> Any:
    """What the model says, from the conversation alone, so that any process can play it."""
    answered = [message for message in messages if message.role == "assistant" and message.tool_calls]
    results = [message.content for message in messages if message.role == "tool"]
    if not answered:
        return ["Let me look. ", ("read_stock", {"sku": "a"}), ("read_price", {"sku": "a"})]
    if len(answered) == 1:
        return [("create_order", {"sku": "a", "quantity": 2})]
    return f"In all: {' | '.join(result or '' for result in results)}"


def story(home: Path, knows_keys: bool = True, base_url: str | None = None) -> None:
    """Plays the story to its end, from wherever the log says it stands; leaves the answer in ``home/answer``."""
    asyncio.run(_story(home, knows_keys, base_url))


async def _story(home: Path, knows_keys: bool, base_url: str | None) -> None:
    erp = ErpDouble(home / "erp.db", knows_keys=knows_keys, pace=0.002)
    model: ModelClient
    model = (
        ScriptedModel([next_turn] * 9, delta=40) if base_url is None else OpenAIModel(base_url, "sk-test", "scripted")
    )
    store = SqliteStore(home / "log.db")
    config = LoopConfig(system_prompt=SYSTEM, cache_seconds=0.0)
    loop = AgentLoop(model=model, tools=erp.tools(), store=store, config=config)
    try:
        sessions = await store.sessions()
        if sessions:
            session_id = sessions[0].session_id
            items = [item async for item in loop.resume(session_id)]
        else:
            items = [item async for item in loop.run("Order two, please.")]
            session_id = items[0].session_id
        for _ in range(4):
            state = await loop.state(session_id)
            assert state.run is not None
            if state.run.end is not None and state.run.end.completed:
                break
            for call in state.entries[-1].calls:
                if call.status == "asked":
                    await loop.decide(session_id, call.call.id, approve=True, by="boss")
                elif call.status == "uncertain":
                    happened = bool(erp.effects())
                    content = '{"order":1}' if happened else None
                    outcome: Any = "happened" if happened else "send_again"
                    await loop.resolve(session_id, call.call.id, outcome, by="boss", content=content)
            items = [item async for item in loop.resume(session_id)]
        answers = [item.event async for item in store.read(session_id) if isinstance(item.event, ev.AssistantMessage)]
        (home / "answer").write_text(answers[-1].content or "", "utf-8")
    finally:
        await loop.aclose()


# --- drivers, stalled and rival


def drive(home: Path, session_id: str, mark: str, lease_seconds: float, tool_seconds: float) -> None:
    """Drives a run of one slow write; leaves in ``home/mark`` what became of it."""
    asyncio.run(_drive(home, session_id, mark, lease_seconds, tool_seconds))


async def _drive(home: Path, session_id: str, mark: str, lease_seconds: float, tool_seconds: float) -> None:
    erp = ErpDouble(home / "erp.db", pace=tool_seconds)
    calls = [("read_stock", {"sku": mark}), ("read_price", {"sku": mark})]
    model = ScriptedModel([[calls[0]], [calls[1]], f"answer of {mark}"])
    store = SqliteStore(home / "log.db")
    config = LoopConfig(system_prompt=SYSTEM, cache_seconds=0.0)
    loop = AgentLoop(model=model, tools=erp.tools(), store=store, config=config, lease_seconds=lease_seconds)
    began = time.monotonic()
    try:
        items = [item async for item in loop.run(f"go {mark}", session_id)]
        found = {"ended": "completed", "answer": items[-2].event.__class__.__name__}
    except Busy as error:
        found = {"ended": "busy", "holder": error.holder}
    except Fenced as error:
        found = {"ended": "fenced", "message": str(error)}
    finally:
        await loop.aclose()
    result = {**found, "seconds": time.monotonic() - began}
    (home / f"{mark}.part").write_bytes(msgspec.json.encode(result))
    (home / f"{mark}.part").rename(home / mark)


# --- many writers, many readers


def write_many(path: Path, session_id: str, count: int) -> None:
    """Appends ``count`` events to a session of its own."""
    asyncio.run(_write_many(path, session_id, count))


async def _write_many(path: Path, session_id: str, count: int) -> None:
    store = SqliteStore(path)
    for seq in range(count):
        await store.append(session_id, [said(f"{session_id} {seq}")], expected_seq=seq)
    await store.aclose()


def read_many(path: Path, until: int) -> None:
    """Reads everything again and again until there are ``until`` events; each read is whole and gapless."""
    asyncio.run(_read_many(path, until))


async def _read_many(path: Path, until: int) -> None:
    store = SqliteStore(path)
    total = 0
    while total < until:
        total = 0
        for info in await store.sessions():
            seqs = [item.seq for item in await read_all(store, info.session_id)]
            assert seqs == list(range(1, len(seqs) + 1))
            assert len(seqs) >= info.head
            total += len(seqs)
        await asyncio.sleep(0.02)
    await store.aclose()


def hold(path: Path, session_id: str) -> None:
    """Takes the lease of a session for an hour and dies holding it."""

    async def take() -> None:
        await SqliteStore(path).acquire(session_id, seconds=3600)
        os._exit(0)

    asyncio.run(take())
