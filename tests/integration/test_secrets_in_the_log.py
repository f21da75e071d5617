"""D3, I5: secrets turn up everywhere in a run, and nowhere in what it leaves behind."""

from __future__ import annotations

import asyncio
import secrets as randomness
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from agent_core import AgentLoop, LoopConfig, ModelError, SqliteStore, Tier, ToolError, tool
from agent_core import events as ev
from agent_core.masking import MARK
from agent_core.messages import ReasoningDelta, TextDelta, TextWithdrawn
from agent_core.store.export import export_session, read_export
from agent_core.testing import ScriptedModel
from agent_core.tools.tool import Tool, ToolContext
from agent_core.trace.jsonl import JsonlTraceRecorder
from agent_core.values import Change, Preview
from tests.support.requests import check_requests, log_of, rebuilt

KEY = "sk-" + randomness.token_urlsafe(24)
PASSWORD = 'Pä"ss/' + randomness.token_hex(8)
DSN = f"postgres://erp:{randomness.token_hex(10)}@127.0.0.1/shop"
CANARIES = (KEY, PASSWORD, DSN, DSN.split(":")[2].split("@")[0])


def leaky_tools(calls: list[str]) -> list[Tool]:
    @tool(max_output=200)
    async def settings(what: str, ctx: ToolContext) -> Any:
        """Shows the settings."""
        ctx.progress(f"reading {PASSWORD}", None)
        await asyncio.sleep(0)
        if what == "crash":
            raise RuntimeError(f"cannot connect to {DSN}")
        if what == "refuse":
            raise ToolError(f"{KEY} is not valid", hint=f"use {PASSWORD}")
        if what == "long":  # the cut goes right through the key
            return "x" * (200 * 2 // 3 - 20) + KEY + "y" * 500
        return {"api_key": KEY, "dsn": DSN, "nested": {"password": PASSWORD}}

    async def preview(key: str) -> Preview:
        return Preview(f"store {PASSWORD}", changes=(Change("key", KEY, key),), notes=(DSN,))

    @tool(tier=Tier.WRITE, preview=preview)
    async def store_key(key: str) -> str:
        """Stores a key."""
        calls.append(key)
        return f"stored, was {KEY}"

    return [settings, store_key]


def scripted() -> ScriptedModel:
    return ScriptedModel(
        [
            [
                ReasoningDelta(f"I know {PASSWORD}"),
                ModelError("server_error", f"upstream {KEY} failed", retryable=True),
            ],
            [f"The key is {KEY}, ", ("settings", {"what": "all"}), ("settings", {"what": "crash"})],
            [("settings", {"what": "refuse"}), ("settings", {"what": "long"}), ("settings", {"what": KEY})],
            [("store_key", {"key": "new-one"}), ("store_key", {"key": KEY})],
            [f"Done: {DSN} and {PASSWORD}."],
            [f"Your key is {KEY[:20]}", KEY[20:], "."],
        ],
        delta=3,
    )


def holds_no_canary(*texts: str | bytes) -> None:
    for text in texts:
        data = text.encode() if isinstance(text, str) else text
        for canary in CANARIES:
            for form in (canary.encode(), msgspec.json.encode(canary)[1:-1]):
                assert form not in data, data[max(0, data.index(form) - 200) :][:400]


@pytest.fixture
async def leaked(tmp_path: Path) -> AsyncIterator[tuple[SqliteStore, AgentLoop, ScriptedModel, str, list[ev.Recorded]]]:
    """A session in which everything leaks; what was shown of it."""
    (tmp_path / "home").mkdir()
    store, model = SqliteStore(tmp_path / "home" / "log.db"), scripted()
    config = LoopConfig(system_prompt=f"Use {KEY}.", options={"user": PASSWORD})
    loop = AgentLoop(model=model, tools=leaky_tools([]), store=store, config=config, secrets=[KEY, PASSWORD, DSN])
    recorder = JsonlTraceRecorder(tmp_path / "home" / "trace.jsonl", store)
    shown = [item async for item in recorder.run(loop.run(f"my key is {KEY}", client_message_id="m1", owner=KEY))]
    session_id = shown[0].session_id
    question = next(item.event for item in shown if isinstance(item.event, ev.ApprovalRequested))
    shown += await loop.decide(session_id, question.call_id, approve=True, reason=f"because {DSN}", by=PASSWORD)
    shown += [item async for item in loop.resume(session_id)]
    shown += [item async for item in loop.run(f"again {DSN}", session_id, client_message_id="m2")]
    yield store, loop, model, session_id, shown
    await store.aclose()


Leaked = tuple[SqliteStore, AgentLoop, ScriptedModel, str, Sequence[ev.Recorded]]


async def test_no_canary_is_in_the_store_the_trace_the_screen_or_any_request(leaked: Leaked, tmp_path: Path) -> None:
    store, _, model, session_id, shown = leaked
    holds_no_canary(repr(shown))
    assert {type(item.event) for item in shown} >= {
        TextDelta, ReasoningDelta, ev.ToolProgress, ev.ModelAttemptFailed, ev.ApprovalRequested,
        ev.ApprovalDecided, ev.ToolCallFinished, ev.AssistantMessage,
    }  # fmt: skip
    holds_no_canary(repr(model.requests))
    holds_no_canary(*(body for _, _, body in await rebuilt(store, session_id)))
    await export_session(store, session_id, tmp_path / "home" / "export.jsonl")
    assert read_export(tmp_path / "home" / "export.jsonl").verified.head > 20
    await store.aclose()
    files = [path for path in (tmp_path / "home").iterdir() if path.is_file()]
    assert len(files) >= 3
    for path in files:
        holds_no_canary(path.read_bytes())
        assert MARK.encode() in path.read_bytes(), path


async def test_requests_rebuilt_from_the_log_are_the_masked_ones_that_were_sent(leaked: Leaked) -> None:
    store, _, model, session_id, _ = leaked
    assert len(model.requests) == 6
    await check_requests(store, session_id, model)
    assert all(request.messages[0].content == f"Use {MARK}." for request in model.requests)


async def test_what_is_streamed_is_the_text_that_is_recorded(leaked: Leaked) -> None:
    _, _, _, _, shown = leaked
    text = ""
    for item in shown:
        match item.event:
            case TextDelta(text=piece):
                text += piece
            case TextWithdrawn():
                text = ""
            case ev.AssistantMessage(content=content):
                assert text == (content or "")
                text = ""


async def test_calls_whose_arguments_held_a_secret_are_refused_and_the_others_run(tmp_path: Path) -> None:
    calls: list[str] = []
    store, model = SqliteStore(tmp_path / "log.db"), scripted()
    config = LoopConfig(auto_approve=("WRITE",))
    loop = AgentLoop(model=model, tools=leaky_tools(calls), store=store, config=config, secrets=[KEY, PASSWORD, DSN])
    (session_id,) = {item.session_id async for item in loop.run("go")}
    faults = [
        item.event.error.type
        for item in await log_of(store, session_id)
        if isinstance(item.event, ev.ToolCallFinished) and item.event.error is not None
    ]
    assert faults.count("validation") == 2
    assert calls == ["new-one"]
    await store.aclose()


async def test_a_message_with_a_secret_that_is_sent_twice_is_one_message(leaked: Leaked) -> None:
    """N2 with D3: the digest is that of what is stored."""
    _, loop, _, session_id, _ = leaked
    assert [item async for item in loop.run(f"my key is {KEY}", session_id, client_message_id="m1")] == []


async def test_without_secrets_everything_is_recorded_as_it_came(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "log.db")
    loop = AgentLoop(model=ScriptedModel([f"{KEY}"]), store=store)
    (session_id,) = {item.session_id async for item in loop.run("hi")}
    assert KEY in repr(await log_of(store, session_id))
    await store.aclose()
