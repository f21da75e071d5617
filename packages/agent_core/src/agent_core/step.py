"""One model turn: the request is recorded, sent, streamed, and its outcome recorded.

Invariant: what was shown of an attempt that failed is withdrawn, and no call of a stream that broke is ever seen by
anybody.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import AsyncGenerator, AsyncIterator
from typing import TYPE_CHECKING

import msgspec

from . import events as ev
from .codec import encode
from .context.build import build_context, features
from .context.moves import OVERFLOWED
from .decide import CallModel
from .errors import AgentError, ModelError
from .failpoint import failpoint
from .interrupt import Stopped
from .messages import (
    Message,
    ModelEvent,
    ReasoningDelta,
    StreamEnd,
    TextDelta,
    TextWithdrawn,
    ToolCall,
    Wire,
    measured_as,
)
from .model.retry import delay
from .state import Run
from .text import encodable, storable

if TYPE_CHECKING:
    from .driver import Driver


_logger = logging.getLogger(__name__)


async def take_step(driver: Driver, action: CallModel) -> AsyncGenerator[ev.Recorded]:
    """Yields the events of one attempt and stages its outcome; the next action says whether there is another one."""
    session, state = driver.session, driver.session.state
    run = state.run
    assert run is not None, "a step belongs to a run"
    if action.not_before is not None:
        for item in await session.flush():
            yield item
        await driver.gate.wait(asyncio.sleep(max(0.0, action.not_before - driver.clock())))
    environment, prompt = run.environment, driver.config.system_prompt
    request = build_context(state, environment.config.context, prompt, environment.tool_tokens)
    measured = features(state, prompt, environment.tool_tokens)
    messages = request.messages
    wire, manifest, contents = driver.requests.build(state, messages)
    started = ev.StepStarted(
        step=action.step, attempt=action.attempt, request=manifest, estimated_tokens=request.tokens
    )
    session.stage([started], contents=contents)
    for item in await session.flush():
        yield item
    driver.requests.sent(contents)
    turn = _Turn()
    try:
        stream = _stream(driver, wire, messages)
        try:
            while (event := await driver.gate.wait(anext(stream, None))) is not None:
                failpoint("stream", event)
                if (shown := turn.take(event)) is not None:
                    yield driver.shown(shown)
        finally:
            if isinstance(stream, AsyncGenerator):
                await stream.aclose()
        if turn.end is None:
            raise ModelError("stream_truncated", "The model's answer broke off before its end.", retryable=True)
    except (Stopped, GeneratorExit, asyncio.CancelledError):
        session.stage([ev.StepEnd(step=action.step, outcome="interrupted")], fact=True)
        raise
    except Exception as caught:
        error = _as_model_error(caught)
        if turn.visible:
            yield driver.shown(TextWithdrawn(error.kind))
        failed = _failed(driver, action, run, error, turn.visible)
        over = () if failed.wait is not None else (ev.StepEnd(step=action.step, outcome="failed"),)
        session.stage([failed, *over], fact=True)
        return
    taken = {call.call.id for entry in session.state.entries for call in entry.calls}
    turn.calls = [driver.registry.corrected(call) for call in turn.calls]
    answer = turn.message(action.step, driver.wire_model.origin if driver.wire_model is not None else None, taken)
    usage = turn.end.usage
    if usage is not None and usage.prompt_tokens is not None:
        driver.calibrations.observe(measured_as(driver.model), measured, usage.prompt_tokens)
    if request.tokens > request.budget:
        driver.calibrations.took(measured_as(driver.model))
    cost = driver.price.cost(usage) if driver.price is not None and usage is not None else None
    ended = ev.StepEnd(step=action.step, outcome="message", usage=usage, cost=cost)
    session.stage([answer, ended], fact=True)


def _stream(driver: Driver, wire: Wire, messages: list[Message]) -> AsyncIterator[ModelEvent]:
    schemas = driver.registry.schemas
    if driver.wire_model is not None:
        stream = driver.wire_model.stream(wire, messages, schemas)
    else:
        stream = driver.model.stream_chat(messages, schemas, **driver.config.options)
    return driver.masker.stream(stream) if driver.masker else stream


class _Turn:
    """What a stream has brought so far. Times in seconds from the sending of the request."""

    def __init__(self) -> None:
        self.began = time.perf_counter()
        self.text: list[str] = []
        self.reasoning: list[str] = []
        self.calls: list[ToolCall] = []
        self.end: StreamEnd | None = None
        self.first: float | None = None
        self.visible = False

    def take(self, event: ModelEvent) -> TextDelta | ReasoningDelta | TextWithdrawn | None:
        """Keeps the event; returns it when it is to be shown."""
        kind = type(event)
        if kind is ToolCall:
            self.calls.append(event)  # type: ignore[arg-type]
            return None
        if kind is StreamEnd:
            self.end = event  # type: ignore[assignment]
            return None
        if self.first is None:
            self.first = time.perf_counter() - self.began
        if kind is TextDelta:
            self.text.append(event.text)  # type: ignore[union-attr]
            self.visible = True
        elif kind is ReasoningDelta:
            self.reasoning.append(event.text)  # type: ignore[union-attr]
        elif kind is TextWithdrawn:
            self.text.clear()
            self.visible = False
        else:
            raise ModelError("bad_response", f"The model client gave a {kind.__name__}, which is no event of a model.")
        return event  # type: ignore[return-value]

    def message(self, step: int, origin: str | None, taken: set[str]) -> ev.AssistantMessage:
        """The whole answer, its calls under ids that no earlier call of the conversation has."""
        end = self.end
        assert end is not None, "only a complete stream makes a message"
        message = ev.AssistantMessage(
            step=step,
            content="".join(self.text) or None,
            tool_calls=_unique([_readable(call) for call in self.calls], taken),
            reasoning="".join(self.reasoning) or None,
            finish_reason=end.finish_reason,
            raw_finish_reason=end.raw_finish_reason,
            refusal=end.refusal,
            flags=end.flags,
            replay=end.replay,
            origin=origin,
            time_to_first_token=self.first,
            duration=time.perf_counter() - self.began,
        )
        try:
            encode(message)
        except UnicodeEncodeError:
            return storable(message)
        return message


def _readable(call: ToolCall) -> ToolCall:
    """The call; marked as broken where its arguments are no text, since what can be stored of them means another."""
    same = encodable(call.arguments) == call.arguments
    return call if same else msgspec.structs.replace(call, error="invalid_json")


def _unique(calls: list[ToolCall], taken: set[str]) -> tuple[ToolCall, ...]:
    unique = []
    for call in calls:
        name, count = call.id or "call", 1
        while not name or name in taken or (count == 1 and not call.id):
            count += 1
            name = f"{call.id or 'call'}_{count}"
        taken.add(name)
        unique.append(call if name == call.id else msgspec.structs.replace(call, id=name))
    return tuple(unique)


def _as_model_error(error: Exception) -> ModelError:
    """What a client raised, as an error of the model; what the runtime itself refuses passes through."""
    if isinstance(error, ModelError):
        return error
    if isinstance(error, AgentError):
        raise error
    _logger.warning("the model client failed", exc_info=error)
    return ModelError("stream_error", f"The model client failed: {encodable(str(error)) or type(error).__name__}.")


def _failed(driver: Driver, action: CallModel, run: Run, error: ModelError, shown: bool) -> ev.ModelAttemptFailed:
    policy = driver.config.retry
    shorter = error.kind == "context_overflow" and not run.overflowed  # once a step, behind a compaction
    if error.kind == "context_overflow":
        driver.calibrations.overflow(measured_as(driver.model), int(run.estimated * OVERFLOWED))
    learnt = shorter or (error.remedy is not None and _learn(driver, error))
    wait = 0.0 if learnt else delay(error, action.attempt, policy, random.random, run.waited)
    return ev.ModelAttemptFailed(
        step=action.step,
        attempt=action.attempt,
        kind=error.kind,
        message=error.message + _told_wait(error, wait),
        wait=wait,
        status=error.status,
        remedy=(error.remedy or "compact_history") if learnt else None,
        shown=shown,
        retryable=error.retryable,
        retry_after=error.retry_after,
    )


def _told_wait(error: ModelError, wait: float | None) -> str:
    """How long the endpoint asks to be left alone, where that is not waited for."""
    if wait is not None or not error.retry_after or error.retry_after < 1:
        return ""
    minutes = error.retry_after / 60
    return f" It asks to wait {f'{minutes:.0f} minutes' if minutes >= 2 else f'{error.retry_after:.0f} seconds'}."


def _learn(driver: Driver, error: ModelError) -> bool:
    learn = getattr(driver.model, "learn", None)
    if learn is None or not learn(error):
        return False
    driver.requests.forget()
    return True
