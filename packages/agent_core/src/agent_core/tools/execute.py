"""Runs one released call: time-outs, retries by class, output as text, truncation.

Invariant: whatever a tool does (raise, hang, return anything, change its arguments), the outcome is one ``Outcome`` and
every attempt gets the same arguments; only cancellation of the run passes through. What the model reads holds nothing
that a person could not see.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import functools
import inspect
import json
import logging
import threading
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import msgspec
from msgspec import Struct
from pydantic import BaseModel

from ..errors import ToolError
from ..events import Fault
from ..hidden_text import remove, removed_notice
from ..masking import NOTHING, Masker
from ..text import clip, encodable
from .faults import fault_content, fault_of, visible
from .tool import Tier, Tool, ToolContext

_logger = logging.getLogger(__name__)
_LOOK_UP = "Look the record up before you try again."
_GRACE = 1.0
"""Seconds that a tool has to clean up after it was cancelled."""
_threads: contextvars.ContextVar[list[asyncio.Future[None]]] = contextvars.ContextVar("threads of a call")
_RETRY_WAIT = 0.2
"""Seconds before a call is run again; doubles."""


class Outcome(Struct, frozen=True):
    """What came of a call. ``whole`` is the full output as the tool gave it when ``content`` is only a part of it,
    ``shown`` how many of its characters. Times in seconds."""

    content: str
    fault: Fault | None
    duration: float
    attempts: int
    whole: str | None = None
    shown: int = 0


async def run_call(
    tool: Tool,
    values: dict[str, Any],
    context: ToolContext,
    *,
    masker: Masker = NOTHING,
    sleep: Callable[[float], Any] = asyncio.sleep,
    left: list[asyncio.Future[None]] | None = None,
) -> Outcome:
    """Runs the tool up to ``1 + retries`` times; only a repeatable tool is run again, and only after an error that may
    pass by itself.

    A write that gave no clear answer in the end is ``uncertain``: it may have taken effect. ``masker``: takes secrets
    out of what comes back, before it is cut. ``left``: receives a future for each thread that was begun, done when the
    thread is; a write whose thread is still at work is not run again.
    """
    threads = [] if left is None else left
    _threads.set(threads)
    began = time.perf_counter()
    attempts = 0
    while True:
        attempts += 1
        output, fault, transient = masker.value(await _attempt(tool, values, context))
        if fault is None or not transient or not tool.repeatable or attempts > tool.retries:
            break
        if tool.tier is not Tier.READ and any(not thread.done() for thread in threads):
            break
        await sleep(_RETRY_WAIT * 2 ** (attempts - 1))
    duration = time.perf_counter() - began
    if fault is not None:
        if transient and tool.tier is not Tier.READ:
            fault = Fault("uncertain", f"{fault.message} It may have taken effect.", _LOOK_UP)
        return Outcome(fault_content(fault), fault, duration, attempts)
    more = (
        "" if context.whole_output is None else f'; read_output(call_id="{context.call_id}", offset=...) has the rest'
    )
    part = clip(output, tool.max_output, more)
    content, removed = remove(part)
    if part is output and not removed:
        return Outcome(content, None, duration, attempts)
    content = masker.text(content)  # a secret may come together where something was between its letters
    notice = removed_notice(removed) if removed else ""
    shown = min(len(output), tool.max_output) - removed
    return Outcome(content + notice, None, duration, attempts, output, shown)


async def _attempt(tool: Tool, values: dict[str, Any], context: ToolContext) -> tuple[str, Fault | None, bool]:
    """(output, fault, whether the fault may pass by itself)."""
    limit = asyncio.timeout(tool.timeout)
    try:
        async with limit:
            result = await _leaving_behind(_call(tool.handler, tool.bind(values, _watched(tool, context, limit))))
        return encodable(output_text(result)), None, False
    except TimeoutError:
        message = f"{tool.name} {_overdue(tool) if limit.expired() else 'timed out'}."
        return "", Fault("timeout", message, "Try again with less at once, or go on without it."), True
    except ToolError as error:
        transient = error.retry or error.type == "timeout"
        return "", fault_of(error), transient
    except asyncio.CancelledError:
        if (task := asyncio.current_task()) is not None and task.cancelling():
            raise
        return "", Fault("execution", f"{tool.name} gave up its own work.", "Go on without it."), True
    except Exception as error:
        _logger.warning("tool %s failed", tool.name, exc_info=True)
        message = visible(f"{tool.name} failed: {_sentence(error)}")
        return "", Fault("execution", message, "Check the arguments, or go on without it."), True


async def _leaving_behind(work: Awaitable[Any]) -> Any:
    """The result of ``work``, which is left behind when it goes on after it was cancelled: whoever waits goes on."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        task.cancel()
        await asyncio.wait({task}, timeout=_GRACE)
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
        raise


def _watched(tool: Tool, context: ToolContext, limit: asyncio.Timeout) -> ToolContext:
    """The context for a tool with an idle limit: each sign of progress moves the end of the attempt."""
    idle = tool.idle_timeout
    if idle is None:
        return context
    loop = asyncio.get_running_loop()
    latest = loop.time() + tool.timeout
    limit.reschedule(min(latest, loop.time() + idle))

    def alive() -> None:
        if not limit.expired():
            limit.reschedule(min(latest, loop.time() + idle))

    def progress(text: str, fraction: float | None = None) -> None:
        loop.call_soon_threadsafe(alive)
        context.progress(text, fraction)

    return replace(context, progress=progress)


def _overdue(tool: Tool) -> str:
    idle = "" if tool.idle_timeout is None else f", or showed no progress for {tool.idle_timeout:g}"
    return f"gave no answer within {tool.timeout:g} seconds{idle}"


async def _call(handler: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    try:
        if inspect.iscoroutinefunction(handler):
            return await handler(**arguments)
        result = await _in_thread(functools.partial(handler, **arguments))
        return await result if inspect.isawaitable(result) else result
    except (Exception, asyncio.CancelledError, KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:  # SystemExit and the like: the program is not the tool's to end
        raise RuntimeError(f"{type(error).__name__} {error}".strip()) from error


def _in_thread(work: Callable[[], Any]) -> asyncio.Future[Any]:
    """Runs blocking work in a thread of its own, which neither delays other tools nor keeps the program from ending."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()
    context = contextvars.copy_context()
    ended: asyncio.Future[None] = loop.create_future()
    _threads.get([]).append(ended)

    def settle(result: Any, error: BaseException | None) -> None:
        if not ended.done():
            ended.set_result(None)
        if future.done():
            return
        if error is None:
            future.set_result(result)
        else:
            future.set_exception(RuntimeError(str(error)) if isinstance(error, StopIteration) else error)

    def run() -> None:
        result, error = None, None
        try:
            result = context.run(work)
        except BaseException as caught:
            error = caught
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(settle, result, error)

    threading.Thread(target=run, name="tool", daemon=True).start()
    return future


def output_text(result: Any) -> str:
    """A result as the model reads it: text as it is, everything else as compact JSON."""
    if isinstance(result, str):
        return result
    if isinstance(result, bytes | bytearray):
        return bytes(result).decode("utf-8", "replace")
    if isinstance(result, BaseModel):
        return result.model_dump_json()
    try:
        return msgspec.json.encode(result, enc_hook=_encode_other).decode()
    except (TypeError, ValueError, UnicodeError, RecursionError, msgspec.MsgspecError):
        return json.dumps(result, ensure_ascii=False, default=str, skipkeys=True)


def _encode_other(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    return str(value)


def _sentence(error: Exception) -> str:
    """The first line of what the error says; its kind when it says nothing."""
    lines = str(error).strip().splitlines()
    return (lines[0][:300] if lines else "") or type(error).__name__
