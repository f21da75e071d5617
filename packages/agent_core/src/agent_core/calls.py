"""Settles the calls of a message: judges them, asks for what needs a person, runs the rest side by side.

Invariant: first attempts are released together, their intents recorded in the order of the calls before any of them
begins; each outcome is recorded as it comes.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

from . import events as ev
from .asking import allowed_at_once
from .errors import ToolError
from .failpoint import failpoint
from .hidden_text import remove, removed_notice
from .interrupt import Stopped
from .questions import question, still_holds, tool_context, unchanged
from .state import Call, content_hash
from .text import REPEAT_NOTICE, clip, edited_notice, encodable
from .tools.admission import DOUBT, TWIN_IN_DOUBT, Admission, Desk, Release, admit
from .tools.cache import Key
from .tools.execute import Outcome, output_text, run_call
from .tools.faults import fault_content, finished_with
from .tools.registry import Judged
from .tools.tool import MOST_ATTACHED, Keys, Reconciled, Tool

if TYPE_CHECKING:
    from .driver import Driver


_logger = logging.getLogger(__name__)


class _Done(Struct, frozen=True):
    """How a released call ended. ``found``: what the backend said of it when the outcome was not known."""

    release: Release
    outcome: Outcome
    found: Reconciled | None
    generation: int
    files: dict[str, tuple[str, bytes]] = {}
    """What it left behind, by name: media type and bytes."""


async def settle(driver: Driver, call_ids: tuple[str, ...]) -> AsyncGenerator[ev.Recorded]:
    """Yields the events of these calls until each has a result or waits for a person; the last outcome stays staged."""
    session, state = driver.session, driver.session.state
    run = state.run
    assert run is not None, "calls belong to a run"
    calls = [call for call in state.open_calls() if call.call.id in call_ids]
    desk = Desk(driver.registry.judge, lambda judged: driver.cache.get(_cache_key(driver, judged)), driver.clock())
    admission = admit(state, run, calls, desk)
    if admission.ask or admission.doubtful or any(release.call.status == "approved" for release in admission.release):
        for item in await session.flush():  # what follows takes its time, so what is known is stored first
            yield item
        events, released = await driver.gate.wait(_consult(driver, admission))
        if allowed_at_once(events):
            released = []
    else:
        events, released = admission.events, admission.release
    session.stage([*events, *(release.started() for release in released)])
    if released:
        for item in await session.flush():
            yield item
        async with aclosing(_run(driver, released, admission.twins)) as items:
            async for item in items:
                yield item


async def _consult(driver: Driver, admission: Admission) -> tuple[list[ev.DurableEvent], list[Release]]:
    """Asks tools and backends what the verdicts depend on: previews, versions, the fate of calls that a crash cut
    off.
    """
    run = driver.session.state.run
    assert run is not None, "calls belong to a run"
    holds = await asyncio.gather(*(still_holds(driver, release) for release in admission.release))
    released = [release for release, valid in zip(admission.release, holds, strict=True) if valid]
    changed = [release for release, valid in zip(admission.release, holds, strict=True) if not valid]
    asked = await asyncio.gather(
        *(question(driver, run, call, judged, why) for call, judged, why in admission.ask),
        *(question(driver, run, release.call, release.judged, "changed") for release in changed),
    )
    found = await asyncio.gather(*(_reconcile(driver, release) for release in admission.doubtful))
    events = list(admission.events)
    for release, answer in zip(admission.doubtful, found, strict=True):
        events += [finished_with(release.call, DOUBT, digest=release.judged.digest), *_resolved(release, answer)]
    for questions in asked:
        events += questions
    return events, released


async def _run(
    driver: Driver, releases: list[Release], twins: list[tuple[Call, Judged, str]]
) -> AsyncGenerator[ev.Recorded]:
    items: asyncio.Queue[_Done | ev.ToolProgress | BaseException] = asyncio.Queue()

    def tell(task: asyncio.Task[None]) -> None:
        error = RuntimeError("a call was cancelled from outside") if task.cancelled() else task.exception()
        if error is not None:
            items.put_nowait(error)

    tasks = [asyncio.create_task(_run_one(driver, release, items)) for release in releases]
    for task in tasks:
        task.add_done_callback(tell)
    open_count = len(tasks)
    try:
        while open_count:
            item = await driver.gate.wait(items.get())
            if not isinstance(item, _Done):
                for recorded in await driver.session.flush_facts():
                    yield recorded
                if isinstance(item, BaseException):
                    raise item  # no tool's fault: those are outcomes
                yield driver.shown(driver.masker.value(item))
                continue
            open_count -= 1
            _stage_outcome(driver, item)
            _stage_twins(driver, item, twins)
            if open_count and items.empty():  # what has ended by now as well shares the append
                for recorded in await driver.session.flush_facts():
                    yield recorded
                if (run := driver.session.state.run) is None or run.interrupted:
                    raise Stopped
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        while not items.empty():  # what was finished when the run was stopped is known, so it is recorded
            if isinstance(left := items.get_nowait(), _Done):
                _stage_outcome(driver, left)


async def _run_one(
    driver: Driver, release: Release, items: asyncio.Queue[_Done | ev.ToolProgress | BaseException]
) -> None:
    loop = asyncio.get_running_loop()
    tool, call_id = release.judged.tool, release.call.call.id

    def progress(text: str, fraction: float | None = None) -> None:
        event = ev.ToolProgress(call_id=call_id, text=encodable(text), fraction=fraction)
        loop.call_soon_threadsafe(items.put_nowait, event)

    context = tool_context(driver, driver.session.state, release.call, release.key, release.attempt, progress)
    files: dict[str, tuple[str, bytes]] = {}

    def attach(name: str, media_type: str, data: bytes) -> None:
        if len(data) > MOST_ATTACHED:
            raise ToolError(f"The file {name} has {len(data)} bytes; at most {MOST_ATTACHED} can be kept.")
        masked = driver.masker.text(data.decode("utf-8", "surrogateescape"))
        files[encodable(name)] = (media_type, masked.encode("utf-8", "surrogateescape"))

    context = replace(context, attach=attach)
    reads, writes = _keys(release.judged)
    threads: list[asyncio.Future[None]] = []
    async with AsyncExitStack() as held:
        await held.enter_async_context(driver.locks.hold(*_locks(tool, reads, writes)))
        if not await unchanged(driver, release):  # another call wrote it while this one waited for its turn
            items.put_nowait(_Done(release, _CHANGED, None, driver.cache.generation))
            return
        generation = driver.cache.generation
        if tool.tier != "READ":
            driver.cache.written(tool.backend, writes)
        failpoint("before_effect", tool.name)
        try:
            outcome = await run_call(tool, release.judged.values, context, masker=driver.masker, left=threads)
        finally:
            if tool.tier != "READ":
                driver.cache.written(tool.backend, writes)
                if any(not thread.done() for thread in threads):
                    _see_out(driver, release, threads, held.pop_all())
        failpoint("after_effect", tool.name)
        doubt = outcome.fault is not None and outcome.fault.type == "uncertain"
        found = await _reconcile(driver, release) if doubt and tool.reconcile is not None else None
    items.put_nowait(_Done(release, outcome, found, generation, files))


_CHANGED_FAULT = ev.Fault(
    "expired",
    "The record changed after it was shown, so the approval does not hold any more. Nothing was changed.",
    "Look at it again and ask anew.",
)
_CHANGED = Outcome(fault_content(_CHANGED_FAULT), _CHANGED_FAULT, 0.0, 1)

_late: set[asyncio.Task[None]] = set()
"""Waits for threads that were left behind; kept here so that they are not collected."""


def _see_out(driver: Driver, release: Release, threads: list[asyncio.Future[None]], held: AsyncExitStack) -> None:
    """Keeps the records of a write locked until the thread that still works on it has ended; what was read meanwhile
    is not used again."""
    tool = release.judged.tool
    _, writes = _keys(release.judged)

    async def wait() -> None:
        async with held:
            await asyncio.wait([thread for thread in threads if not thread.done()])
            driver.cache.written(tool.backend, writes)

    task = asyncio.create_task(wait())
    _late.add(task)
    task.add_done_callback(_late.discard)


def _keys(judged: Judged) -> tuple[list[str] | None, list[str] | None]:
    """Keys of the records that a call reads and writes; None where the tool does not say."""
    tool = judged.tool
    reads = _named(tool, tool.reads, judged.values)
    return reads, None if tool.tier == "READ" else _named(tool, tool.writes, judged.values)


def _locks(tool: Tool, reads: list[str] | None, writes: list[str] | None) -> tuple[list[str], list[str]]:
    """What a call holds while it runs, to read and to write. A write that does not name its records may be at any of
    its backend: it holds the whole of it, which all that name theirs hold a share of."""
    whole = f"{tool.backend}:"
    if tool.tier != "READ" and writes is None:
        return [], [whole]
    return [*(reads or ()), *([whole] if reads or writes else ())], writes or []


def _named(tool: Tool, keys: Keys | None, values: dict[str, Any]) -> list[str] | None:
    try:
        return None if keys is None else [f"{tool.backend}:{key}" for key in keys(**tool.own(values))]
    except Exception:  # what it touches is not known then
        _logger.warning("the records of a call of %s cannot be told", tool.name, exc_info=True)
        return None


def _cache_key(driver: Driver, judged: Judged) -> Key:
    """Results are shared between the sessions of one known person; who is not known shares with nobody."""
    state = driver.session.state
    owner = None if judged.tool.per_session else state.owner
    return (state.tenant, owner or state.session_id, judged.tool.backend, judged.tool.name, judged.digest)


async def _reconcile(driver: Driver, release: Release) -> Reconciled:
    """What the backend says became of a call; unknown when it cannot be asked or gives no clear answer."""
    tool = release.judged.tool
    if tool.reconcile is None:
        return Reconciled("unknown")
    context = tool_context(driver, driver.session.state, release.call, release.key, release.attempt)
    try:
        async with asyncio.timeout(tool.timeout):
            found: Any = await tool.reconcile(**tool.bind(release.judged.values, context))
    except Exception:
        _logger.warning("what became of a call of %s cannot be told", tool.name, exc_info=True)
        return Reconciled("unknown")
    clear = isinstance(found, Reconciled) and found.outcome in ("happened", "did_not_happen")
    return found if clear else Reconciled("unknown")


MOST_SENDS = 3
"""How often a call is sent of which the backend says each time that it did not happen; then that is its answer."""


def _resolved(release: Release, found: Reconciled | None) -> list[ev.DurableEvent]:
    if found is None or found.outcome == "unknown":
        return []
    otherwise: Literal["send_again", "did_not_happen"] = (
        "send_again" if release.attempt < MOST_SENDS else "did_not_happen"
    )
    content = None if found.content is None else _told(found.content, release.judged.tool)
    return [
        ev.OutcomeResolved(
            call_id=release.call.call.id,
            outcome="happened" if found.outcome == "happened" else otherwise,
            by=release.judged.tool.name,
            content=content,
            source="backend",
        )
    ]


def _told(content: Any, tool: Tool) -> str:
    """What a backend says became of a call, as the model reads it."""
    cleaned, removed = remove(clip(encodable(output_text(content)), tool.max_output))
    return cleaned + removed_notice(removed) if removed else cleaned


def _stage_twins(driver: Driver, done: _Done, twins: list[tuple[Call, Judged, str]]) -> None:
    """Gives the result of a call to those of the same message that are the same call; where it is in doubt, there is
    one doubt to resolve, not several."""
    outcome, events = done.outcome, list[ev.DurableEvent]()
    for call, judged, twin in twins:
        if twin != done.release.call.call.id:
            continue
        if outcome.fault is not None and outcome.fault.type == "uncertain":
            events.append(finished_with(call, TWIN_IN_DOUBT, digest=judged.digest, target=judged.target))
            continue
        events.append(
            ev.ToolCallFinished(
                call_id=call.call.id,
                index=call.index,
                tool=judged.tool.name,
                ok=outcome.fault is None,
                content=outcome.content + (REPEAT_NOTICE if outcome.fault is None else ""),
                error=outcome.fault,
                digest=judged.digest,
                cached=True,
                target=judged.target,
            )
        )
    driver.session.stage(events, fact=True)


def _stage_outcome(driver: Driver, done: _Done) -> None:
    session, outcome, judged = driver.session, done.outcome, done.release.judged
    content, run = outcome.content, session.state.run
    truncated, contents = None, dict[str, bytes]()
    if outcome.whole is not None:
        data = outcome.whole.encode()
        name = content_hash(data, session.state.salt)
        truncated, contents = ev.Truncation(len(outcome.whole), outcome.shown, name), {name: data}
    artifacts = []
    for title, (media_type, data) in done.files.items() if outcome.fault is None else ():
        name = content_hash(data, session.state.salt)
        artifacts.append(ev.Artifact(title, media_type, name, len(data)))
        contents[name] = data
    if outcome.fault is None and judged.tool.tier == "READ":
        reads, _ = _keys(judged)
        if truncated is None and not artifacts:
            driver.cache.put(_cache_key(driver, judged), content, reads, generation=done.generation)
        known = None if run is None else run.repeats.get(f"{judged.tool.name}:{judged.digest}")
        if known is not None and known.is_same(content):
            content += REPEAT_NOTICE
    if done.release.call.edited:
        content += edited_notice(judged.arguments)
    finished: list[Any] = [
        ev.ToolCallFinished(
            call_id=done.release.call.call.id,
            index=done.release.call.index,
            tool=judged.tool.name,
            ok=outcome.fault is None,
            content=content,
            error=outcome.fault,
            digest=judged.digest,
            duration=outcome.duration,
            attempts=done.release.attempt + outcome.attempts - 1,
            truncated=truncated,
            artifacts=tuple(artifacts),
        )
    ]
    session.stage([*finished, *_resolved(done.release, done.found)], fact=True, contents=contents or None)
