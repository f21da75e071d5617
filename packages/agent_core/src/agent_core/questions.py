"""Puts a call before a person: what it would change, whether a standing grant covers it, and whether what was shown
still holds when it is about to run.

Invariant: the question shows what the tool itself says it would do, made from the same validated arguments that run.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from . import events as ev
from .asking import Shown, put
from .errors import ToolError
from .permission import Why
from .state import Call, Run, State
from .text import storable
from .tools.admission import Release
from .tools.faults import fault_of, finished_with, visible
from .tools.registry import Judged
from .tools.tool import Progress, ToolContext, silent

if TYPE_CHECKING:
    from .driver import Driver


async def question(driver: Driver, run: Run, call: Call, judged: Judged, why: Why) -> list[ev.DurableEvent]:
    """The question with its preview, and the answer at once where a grant or the configuration gives it; or the reason
    why it cannot be put."""
    tool, state, now = judged.tool, driver.session.state, driver.clock()
    context = tool_context(driver, state, call, "", 0)
    values, again = tool.bind(judged.values, context), tool.bind(judged.values, context)
    try:
        async with asyncio.timeout(tool.timeout):
            preview = (
                ev.Preview(f"{tool.name} {judged.arguments}") if tool.preview is None else await tool.preview(**values)
            )
            versions = {} if tool.versions is None else await tool.versions(**again)
        shown = storable(Shown(preview, versions, tool.varies))
    except ToolError as error:
        return [finished_with(call, fault_of(error), digest=judged.digest)]
    except Exception as error:
        message = visible(f"What {tool.name} would change cannot be shown: {str(error) or type(error).__name__}.")
        fault = ev.Fault("execution", message, "Nothing was changed.")
        return [finished_with(call, fault, digest=judged.digest)]
    return put(state, run, call, judged, why, shown, now)


async def still_holds(driver: Driver, release: Release) -> bool:
    """Whether the records that an approved call changes are still those that the person was shown."""
    if release.call.status != "approved" or release.call.attempts:
        return True
    return await unchanged(driver, release)


async def unchanged(driver: Driver, release: Release) -> bool:
    """Whether the records of a call that was asked have the versions that were shown, right now."""
    tool, call = release.judged.tool, release.call
    if tool.versions is None or call.decision != "approved" or release.attempt > 1:
        return True
    values = tool.bind(
        release.judged.values, tool_context(driver, driver.session.state, call, release.key, release.attempt)
    )
    try:
        async with asyncio.timeout(tool.timeout):
            shown = storable(Shown(ev.Preview(""), await tool.versions(**values)))
        return shown.versions == call.versions
    except Exception:
        return False  # it cannot be told, so it is shown again


def tool_context(
    driver: Driver, state: State, call: Call, key: str, attempt: int, progress: Progress = silent
) -> ToolContext:
    """What a call may know of its surroundings."""
    agreed = call.decision == "approved"
    return ToolContext(
        state.session_id,
        call.call.id,
        key,
        attempt,
        state.owner,
        state.tenant,
        progress,
        driver.whole_output,
        dict(call.versions) if agreed else {},
        call.decided_by if agreed else None,
        driver.recall,
    )
