"""Reports of a session: what its report tools answered, as data.

Invariant: read from the log alone; a result that is no report is left out, never guessed at.
"""

from __future__ import annotations

from typing import Any

import msgspec

from agent_core import events as ev
from agent_core.messages import ToolCall
from agent_core.store.base import EventStore

from .wire import Report


def is_report(finished: ev.ToolCallFinished) -> bool:
    """Whether a result is one of a report tool: by its name, or since it left a chart."""
    return finished.ok and (finished.tool.endswith("_report") or any(map(_is_chart, finished.artifacts)))


async def reports_of(store: EventStore, session_id: str) -> list[Report]:
    """The reports of a session, the newest first."""
    calls: dict[str, ToolCall] = {}
    found: list[Report] = []
    async for item in store.read(session_id):
        if isinstance(item.event, ev.AssistantMessage):
            calls = {call.id: call for call in item.event.tool_calls}
        elif isinstance(item.event, ev.ToolCallFinished) and is_report(item.event):
            finished = item.event
            call = calls.get(finished.call_id)
            content = _value(await _whole(store, session_id, finished))
            found.append(
                Report(
                    session_id=session_id,
                    seq=item.seq or 0,
                    call_id=finished.call_id,
                    tool=finished.tool,
                    arguments="" if call is None else call.arguments,
                    at=item.at,
                    content=content,
                    chart=await _chart(store, session_id, finished, content),
                )
            )
    return found[::-1]


async def _whole(store: EventStore, session_id: str, finished: ev.ToolCallFinished) -> str:
    """The output as the tool gave it, also where the model saw a part of it."""
    if finished.truncated is None or finished.truncated.whole is None:
        return finished.content
    stored = await store.contents(session_id, [finished.truncated.whole])
    data = stored.get(finished.truncated.whole)
    return finished.content if data is None else data.decode()


async def _chart(
    store: EventStore, session_id: str, finished: ev.ToolCallFinished, content: Any
) -> dict[str, Any] | None:
    """A Vega-Lite specification: an artifact of the call, or a part of its result."""
    for artifact in finished.artifacts:
        if _is_chart(artifact):
            data = (await store.contents(session_id, [artifact.content])).get(artifact.content)
            if data is not None and isinstance(spec := _value(data.decode()), dict):
                return spec
    if isinstance(content, dict) and isinstance(spec := content.get("chart"), dict):
        return spec
    return None


def _is_chart(artifact: ev.Artifact) -> bool:
    return artifact.media_type.startswith("application/vnd.vegalite")


def _value(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text
