"""Whatever a tool does, its caller gets one outcome."""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from decimal import Decimal
from typing import Any

import msgspec
import pytest
from pydantic import BaseModel

from agent_core.errors import ToolError
from agent_core.tools import execute
from agent_core.tools.execute import Outcome, run_call
from agent_core.tools.tool import Tier, Tool, ToolContext


async def at_once(seconds: float) -> None:
    """Stands for a pause."""


def made(handler: Any, **settings: Any) -> Tool:
    return Tool.from_schema("probe", "A probe.", {}, handler, **settings)


async def run(handler: Any, **settings: Any) -> Outcome:
    return await run_call(made(handler, **settings), {}, ToolContext("s", "c1", "key"), sleep=at_once)


def kind(outcome: Outcome) -> str | None:
    if outcome.fault is not None:
        assert msgspec.json.decode(outcome.content)["error"]["type"] == outcome.fault.type
    return None if outcome.fault is None else outcome.fault.type


def raising(*errors: BaseException) -> Any:
    """A tool that raises these in turn, then answers."""
    left = list(errors)

    async def handler() -> str:
        if left:
            raise left.pop(0)
        return "fine"

    return handler


@pytest.fixture(autouse=True)
def _quiet(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)


@pytest.mark.parametrize(
    "error",
    [
        ValueError("no"),
        KeyError("missing"),
        ConnectionResetError("gone"),
        RuntimeError(""),
        StopIteration(),
        StopAsyncIteration(),
        SystemExit(3),
        asyncio.CancelledError(),
        RecursionError("deep"),
        ExceptionGroup("several", [ValueError("a")]),
        UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"),
        type("Silent", (BaseException,), {})("odd"),
    ],
    ids=lambda error: type(error).__name__,
)
@pytest.mark.parametrize("threaded", [False, True], ids=["async", "thread"])
async def test_whatever_is_raised_becomes_an_error_for_the_model(error: BaseException, threaded: bool) -> None:
    def blocking() -> str:
        raise error

    outcome = await run(blocking if threaded else raising(error, error), timeout=5)
    assert kind(outcome) == "execution"
    assert outcome.fault is not None
    assert outcome.fault.message.startswith("probe")
    assert "Traceback" not in outcome.content
    assert outcome.attempts == 2


async def test_a_read_is_run_again_once_and_a_write_is_not() -> None:
    assert kind(await run(raising(ValueError("no")))) is None
    assert kind(await run(raising(ValueError("no"), ValueError("no")))) == "execution"
    assert (await run(raising(*[ValueError("no")] * 9), retries=3)).attempts == 4
    write = await run(raising(ValueError("no")), tier=Tier.WRITE)
    assert write.attempts == 1
    assert kind(write) in ("execution", "uncertain")
    assert kind(await run(raising(ValueError("no")), tier=Tier.WRITE, idempotent=True)) is None


async def test_what_a_tool_says_itself_goes_straight_back() -> None:
    outcome = await run(raising(ToolError("No such product.", hint="Search first.", type="validation")))
    assert msgspec.json.decode(outcome.content) == {
        "error": {"type": "validation", "message": "No such product.", "hint": "Search first."}
    }
    assert outcome.attempts == 1
    assert kind(await run(raising(ToolError("busy", retry=True)))) is None
    assert kind(await run(raising(ToolError("busy", type="timeout")))) is None
    assert kind(await run(raising(ToolError("\ud800")))) == "execution"


async def test_a_hanging_tool_ends_at_its_limit() -> None:
    async def hang() -> None:
        await asyncio.sleep(60)

    began = time.perf_counter()
    outcome = await run(hang, timeout=0.05)
    assert kind(outcome) == "timeout"
    assert outcome.attempts == 2
    assert "0.05 seconds" in outcome.content
    assert kind(await run(hang, timeout=0.05, tier=Tier.WRITE)) == "uncertain", "a write may have taken effect"
    assert kind(await run(hang, timeout=0.05, tier=Tier.WRITE, idempotent=True)) == "uncertain"
    assert time.perf_counter() - began < 3


async def test_a_tool_that_blocks_its_thread_ends_at_its_limit() -> None:
    began = time.perf_counter()
    outcome = await run(lambda: time.sleep(0.8), timeout=0.05, retries=0)
    assert kind(outcome) == "timeout"
    assert time.perf_counter() - began < 0.7


async def test_a_tool_that_does_not_let_itself_be_cancelled_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(execute, "_GRACE", 0.1)
    over = asyncio.Event()

    async def stubborn() -> str:
        while not over.is_set():
            try:
                await asyncio.wait_for(over.wait(), 60)
            except asyncio.CancelledError:
                continue
        return "late"

    began = time.perf_counter()
    assert kind(await run(stubborn, timeout=0.05, retries=0)) == "timeout"
    running = asyncio.ensure_future(run(stubborn, timeout=60))
    await asyncio.sleep(0.01)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert time.perf_counter() - began < 4
    over.set()
    await asyncio.sleep(0.01)


async def test_a_tool_that_cleans_up_is_given_the_time() -> None:
    cleaned: list[int] = []

    async def careful() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.01)
            cleaned.append(1)

    assert kind(await run(careful, timeout=0.02, retries=0)) == "timeout"
    assert cleaned == [1]


async def test_a_cancelled_run_passes_through_and_reaches_the_tool() -> None:
    reached: list[int] = []

    async def waiting() -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            reached.append(1)
            raise

    running = asyncio.ensure_future(run(waiting))
    await asyncio.sleep(0.01)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert reached == [1]


async def test_blocking_tools_do_not_wait_for_each_other() -> None:
    began = time.perf_counter()
    await asyncio.gather(*(run(lambda: time.sleep(0.1)) for _ in range(30)))
    assert time.perf_counter() - began < 1.5


class Report(BaseModel):
    name: str
    price: Decimal


@pytest.mark.parametrize(
    ("result", "text"),
    [
        ("as it is", "as it is"),
        (b"\xffbytes", "\ufffdbytes"),
        (None, "null"),
        ({"a": [1, 2.5, True]}, '{"a":[1,2.5,true]}'),
        (Report(name="x", price=Decimal("1.50")), '{"name":"x","price":"1.50"}'),
        ([Report(name="库存", price=Decimal(2))], '[{"name":"库存","price":"2"}]'),
        ({1: "a", (1, 2): "b"}, '{"1":"a","(1, 2)":"b"}'),
        (Decimal("1.10"), '"1.10"'),
        ({"when": object}, None),
        (2**70, str(2**70)),
        (float("nan"), None),
        ({"a": "\ud800"}, None),
    ],
    ids=str,
)
async def test_any_result_is_text_for_the_model(result: Any, text: str | None) -> None:
    async def handler() -> Any:
        return result

    outcome = await run(handler)
    assert kind(outcome) is None
    outcome.content.encode()
    if text is not None:
        assert outcome.content == text


async def test_a_result_without_end_is_no_crash() -> None:
    loop: list[Any] = []
    loop.append(loop)
    deep: list[Any] = []
    for _ in range(sys.getrecursionlimit() + 100):
        deep = [deep]
    for result in (loop, deep):

        async def handler(result: Any = result) -> Any:
            return result

        assert kind(await run(handler)) in (None, "execution")


async def test_a_long_output_is_cut_and_the_whole_is_kept() -> None:
    async def handler() -> str:
        return "a" * 6000 + "b" * 4000

    outcome = await run(handler, max_output=3000)
    assert outcome.whole == "a" * 6000 + "b" * 4000
    assert outcome.content.startswith("a" * 2000 + "\n[... 10000 characters in all, 3000 shown")
    assert outcome.content.endswith("b" * 1000)
    short = await run(handler, max_output=10_000)
    assert short.whole is None


async def test_the_context_reaches_the_tool_that_asks_for_it() -> None:
    async def handler(ctx: ToolContext) -> str:
        return f"{ctx.session_id} {ctx.call_id} {ctx.idempotency_key} {ctx.attempt}"

    assert (await run(handler)).content == "s c1 key 1"
