"""Runs one released call: time-outs, retries by class, output as text, truncation.

Invariant: whatever a tool does (raise, hang, return anything), the outcome is one ``Outcome``; only cancellation of the
run passes through.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import logging
import time
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Struct
from pydantic import BaseModel

from ..errors import ToolError
from ..events import Fault
from ..text import clip, encodable
from .faults import fault_content
from .tool import Tool, ToolContext

_logger = logging.getLogger(__name__)
_RETRY_WAIT = 0.2
"""Seconds before a call is run again; doubles."""


class Outcome(Struct, frozen=True):
    """What came of a call. ``whole`` is the full output when ``content`` is only a part of it. Times in seconds."""

    content: str
    fault: Fault | None
    duration: float
    attempts: int
    whole: str | None = None


async def run_call(
    tool: Tool,
    values: dict[str, Any],
    context: ToolContext,
    *,
    sleep: Callable[[float], Any] = asyncio.sleep,
) -> Outcome:
    """Runs the tool up to ``1 + retries`` times; only a repeatable tool is run again, and only after a transient
    error.
    """
    began = time.perf_counter()
    attempts = 0
    while True:
        attempts += 1
        output, fault, transient = await _attempt(tool, values, context)
        if fault is None or not transient or not tool.repeatable or attempts > tool.retries:
            break
        await sleep(_RETRY_WAIT * 2 ** (attempts - 1))
    duration = time.perf_counter() - began
    if fault is not None:
        return Outcome(fault_content(fault), fault, duration, attempts)
    shown = clip(output, tool.max_output)
    return Outcome(shown, None, duration, attempts, None if shown is output else output)


async def _attempt(tool: Tool, values: dict[str, Any], context: ToolContext) -> tuple[str, Fault | None, bool]:
    """(output, fault, whether the fault may pass by itself)."""
    arguments = dict(values)
    if tool.context_parameter is not None:
        arguments[tool.context_parameter] = context
    limit = asyncio.timeout(tool.timeout)
    try:
        async with limit:
            result = await _call(tool.handler, arguments)
        return encodable(output_text(result)), None, False
    except TimeoutError:
        ours = limit.expired()
        message = f"{tool.name} {f'gave no answer within {tool.timeout:g} seconds' if ours else 'timed out'}."
        if tool.repeatable:
            return "", Fault("timeout", message, "Try again with less at once, or go on without it."), True
        hint = "It may have taken effect: look it up before you try again."
        return "", Fault("uncertain", message, hint), False
    except ToolError as error:
        transient = error.retry or error.type == "timeout"
        return "", Fault(error.type, encodable(error.message), error.hint and encodable(error.hint)), transient
    except Exception as error:
        _logger.warning("tool %s failed", tool.name, exc_info=True)
        message = encodable(f"{tool.name} failed: {_sentence(error)}")
        return "", Fault("execution", message, "Check the arguments, or go on without it."), True


async def _call(handler: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    if inspect.iscoroutinefunction(handler):
        return await handler(**arguments)
    result = await asyncio.to_thread(handler, **arguments)
    return await result if inspect.isawaitable(result) else result


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
