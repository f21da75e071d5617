"""Settles the calls of a message: judges them, asks for what needs a person, runs the rest side by side.

Invariant: first attempts are released together, their intents recorded in the order of the calls before any of them
begins; each outcome is recorded as it comes.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING

from . import events as ev
from .errors import ToolError
from .failpoint import failpoint
from .interrupt import Stopped
from .state import Call, Run, State, content_hash
from .text import REPEAT_NOTICE, encodable
from .tools.admission import Release, admit, approval_request
from .tools.execute import Outcome, run_call
from .tools.faults import finished_with
from .tools.registry import Judged
from .tools.tool import Progress, ToolContext, silent

if TYPE_CHECKING:
    from .driver import Driver

_Item = tuple[Release, Outcome] | ev.ToolProgress


async def settle(driver: Driver, call_ids: tuple[str, ...]) -> AsyncGenerator[ev.Recorded]:
    """Yields the events of these calls until each has a result or waits for a person; the last outcome stays staged."""
    session, state = driver.session, driver.session.state
    run = state.run
    assert run is not None, "calls belong to a run"
    calls = [call for call in state.open_calls() if call.call.id in call_ids]
    admission = admit(state, run, calls, driver.registry.judge, driver.clock())
    if admission.ask:  # previews take their time, so what is known is stored first
        for item in await session.flush():
            yield item
    events = list(admission.events)
    for call, judged in admission.ask:
        events += await driver.gate.wait(_question(driver, run, call, judged))
    session.stage([*events, *(release.started() for release in admission.release)])
    if admission.release:
        for item in await session.flush():
            yield item
        async with aclosing(_run(driver, admission.release)) as items:
            async for item in items:
                yield item


async def _question(driver: Driver, run: Run, call: Call, judged: Judged) -> list[ev.DurableEvent]:
    """The question with its preview, answered at once where the configuration says so; or the reason why it cannot be
    put.
    """
    tool, config = judged.tool, run.environment.config
    try:
        preview = await _preview(driver, call, judged)
        target = tool.target(**judged.values) if tool.target is not None else None
    except ToolError as error:
        fault = ev.Fault(error.type, encodable(error.message), error.hint and encodable(error.hint))
        return [finished_with(call, fault, digest=judged.digest)]
    except Exception as error:
        fault = ev.Fault(
            "execution", encodable(f"The effect of {tool.name} cannot be shown: {error}"), "Nothing was changed."
        )
        return [finished_with(call, fault, digest=judged.digest)]
    deadline = driver.clock() + config.approval_seconds if config.approval_seconds is not None else None
    events: list[ev.DurableEvent] = [approval_request(call, judged, preview, target, deadline)]
    if tool.tier.value in config.auto_approve:
        events.append(
            ev.ApprovalDecided(
                call_id=call.call.id, digest=judged.digest, decision="approved", by=run.by, channel="auto_approve"
            )
        )
    return events


async def _preview(driver: Driver, call: Call, judged: Judged) -> ev.Preview:
    tool = judged.tool
    if tool.preview is None:
        return ev.Preview(f"{tool.name} {judged.arguments}")
    arguments = dict(judged.values)
    if tool.context_parameter is not None:
        arguments[tool.context_parameter] = _context(driver.session.state, call, "", 0)
    async with asyncio.timeout(tool.timeout):
        return await tool.preview(**arguments)


def _context(state: State, call: Call, key: str, attempt: int, progress: Progress = silent) -> ToolContext:
    return ToolContext(state.session_id, call.call.id, key, attempt, state.owner, state.tenant, progress)


async def _run(driver: Driver, releases: list[Release]) -> AsyncGenerator[ev.Recorded]:
    items: asyncio.Queue[_Item] = asyncio.Queue()
    tasks = [asyncio.create_task(_run_one(driver.session.state, release, items)) for release in releases]
    open_count = len(tasks)
    try:
        while open_count:
            item = await driver.gate.wait(items.get())
            if isinstance(item, ev.ToolProgress):
                yield driver.shown(item)
                continue
            open_count -= 1
            _stage_outcome(driver, *item)
            if open_count:
                for recorded in await driver.session.flush_facts():
                    yield recorded
                if (run := driver.session.state.run) is None or run.interrupted:
                    raise Stopped
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        while not items.empty():  # what was finished when the run was stopped is known, so it is recorded
            if not isinstance(left := items.get_nowait(), ev.ToolProgress):
                _stage_outcome(driver, *left)


async def _run_one(state: State, release: Release, items: asyncio.Queue[_Item]) -> None:
    loop = asyncio.get_running_loop()
    call_id = release.call.call.id

    def progress(text: str, fraction: float | None = None) -> None:
        event = ev.ToolProgress(call_id=call_id, text=encodable(text), fraction=fraction)
        loop.call_soon_threadsafe(items.put_nowait, event)

    context = _context(state, release.call, release.key, release.attempt, progress)
    failpoint("before_effect", release.judged.tool.name)
    outcome = await run_call(release.judged.tool, release.judged.values, context)
    failpoint("after_effect", release.judged.tool.name)
    items.put_nowait((release, outcome))


def _stage_outcome(driver: Driver, release: Release, outcome: Outcome) -> None:
    session = driver.session
    content = outcome.content
    run = session.state.run
    if outcome.fault is None and run is not None and release.judged.tool.tier == "READ":
        known = run.repeats.get(f"{release.judged.tool.name}:{release.judged.digest}")
        if known is not None and known.count + 1 >= run.environment.config.same_call_runs and known.is_same(content):
            content += REPEAT_NOTICE
    truncated, contents = None, None
    if outcome.whole is not None:
        data = outcome.whole.encode()
        name = content_hash(data, session.state.salt)
        truncated = ev.Truncation(len(outcome.whole), release.judged.tool.max_output, name)
        contents = {name: data}
    finished = ev.ToolCallFinished(
        call_id=release.call.call.id,
        index=release.call.index,
        tool=release.judged.tool.name,
        ok=outcome.fault is None,
        content=content,
        error=outcome.fault,
        digest=release.judged.digest,
        duration=outcome.duration,
        attempts=release.attempt + outcome.attempts - 1,
        truncated=truncated,
    )
    session.stage([finished], fact=True, contents=contents)
