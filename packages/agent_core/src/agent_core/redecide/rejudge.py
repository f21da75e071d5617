"""What the world said of a call, looked up in the log instead of asked: its digest, its target, its preview, a result
from the cache.

Invariant: nothing is asked of a tool. What the runtime decides about a call (unknown tool, broken arguments) is decided
anew; what only the tool could say (that arguments fit, what it would change) is taken as it was recorded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from .. import events as ev
from ..asking import Shown
from ..config import Environment, ToolRules
from ..errors import ToolErrorType
from ..fold import closes_exchange
from ..messages import ToolCall
from ..model.names import safe_name
from ..permission import parse_arguments
from ..state import Call, Contents
from ..text import REPEAT_NOTICE
from ..tools.cache import CachedResult
from ..tools.canonical import canonical, digest
from ..tools.registry import Judged, Registry
from ..tools.tool import Tier, Tool

_DECIDED: frozenset[ToolErrorType] = frozenset(
    ("denied", "expired", "limit", "repeated_call", "cancelled", "uncertain", "unknown_tool")
)
"""Faults that the runtime gives by itself; all others come from a tool."""


class World:
    """The log from one place on, as far as it is about the calls of one message."""

    def __init__(self, registry: Registry, items: Sequence[ev.Recorded], place: int) -> None:
        self._registry, self._items, self._place = registry, items, place
        self._calls: list[tuple[Judged, str]] = []

    def judge(self, call: ToolCall) -> Judged | ev.Fault:
        """The judgement of a call as it was recorded; made anew where the runtime makes it alone."""
        verdict = self._registry.judge(call)
        tool = self._registry.get(call.name)
        if call.error is not None or tool is None:
            return verdict
        judged = self._recorded(call, tool)
        if judged is None:
            judged = verdict if isinstance(verdict, Judged) else _unchecked(call, tool)
        if isinstance(judged, Judged):
            self._calls.append((judged, call.id))
        return judged

    def cached(self, judged: Judged) -> CachedResult | None:
        """The result that was kept from before, where the log has the call answered with one."""
        call_id = next((call_id for known, call_id in self._calls if known is judged), "")
        end = next(self._about(call_id), None)
        if not isinstance(end, ev.ToolCallFinished) or not (end.cached and end.ok):
            return None
        return CachedResult(end.content.removesuffix(REPEAT_NOTICE), None, "", 0.0)

    def shown(self, call: Call, judged: Judged) -> Shown | ev.ToolCallFinished:
        """What the person was shown of a call; or the end of the call, where the tool could not show it."""
        following = next(self._about(call.call.id), None)
        if isinstance(following, ev.ApprovalRequested):
            return Shown(following.preview, following.versions, _varies(following))
        if isinstance(following, ev.ToolCallFinished) and following.error and following.error.type not in _DECIDED:
            return following
        return Shown(ev.Preview(judged.tool.name), {})

    def has_changed(self, call: Call) -> bool:
        """Whether the records of an approved call were no longer those that the person was shown."""
        following = next(self._about(call.call.id), None)
        return call.status == "approved" and isinstance(following, ev.ApprovalRequested) and following.why == "changed"

    def _recorded(self, call: ToolCall, tool: Tool) -> Judged | ev.Fault | None:
        for event in self._about(call.id):
            match event:
                case ev.GuardTripped(evidence={"call": str(key), "arguments": str(text)}):
                    return _judged(tool, text, key.rpartition(":")[2], _target_behind(self._about(call.id)))
                case ev.ApprovalRequested():
                    return _judged(tool, event.arguments, event.digest, event.target)
                case ev.ToolCallStarted():
                    return _judged(tool, call.arguments, event.digest, event.target)
                case ev.ToolCallFinished(attempts=0, error=ev.Fault(type="validation") as fault):
                    return fault
                case ev.ToolCallFinished(digest=found) if found:
                    return _judged(tool, call.arguments, found, event.target)
                case ev.ToolCallFinished():
                    return None
                case _:
                    continue
        return None

    def _about(self, call_id: str) -> Iterator[Any]:
        """The events about a call, until the conversation goes on."""
        for place in range(self._place, len(self._items)):
            event = self._items[place].event
            if closes_exchange(event):
                return
            if getattr(event, "call_id", None) == call_id or call_id in getattr(event, "call_ids", ()):
                yield event


def registry_of(environment: Environment, contents: Contents) -> Registry:
    """The tools of a run, from the set that the model was told of and the rules that were recorded with it. They cannot
    be run.
    """
    told = _told(contents.get(environment.tool_set or "", b""))
    return Registry(_tool(name, rules, told) for name, rules in environment.tools.items())


def _told(data: bytes) -> dict[str, dict[str, Any]]:
    try:
        tools = msgspec.json.decode(data) if data else []
        return {one["function"]["name"]: one["function"] for one in tools}
    except (msgspec.MsgspecError, KeyError, TypeError):
        return {}


def _tool(name: str, rules: ToolRules, told: dict[str, dict[str, Any]]) -> Tool:
    known = next((told[one] for one in (name, safe_name(name), safe_name(name, short=True)) if one in told), {})
    schema = known.get("parameters") or {}
    settings: dict[str, Any] = {
        "tier": Tier(rules.tier),
        "idempotent": rules.repeatable,
        "egress": rules.egress,
        "untrusted": rules.untrusted,
    }
    description = str(known.get("description", ""))
    try:
        return Tool.from_schema(name, description, schema, _cannot_run, **settings)
    except Exception:  # a schema that has no Python types: arguments are taken as they were recorded anyway
        return Tool.from_schema(name, description, {}, _cannot_run, **settings)


async def _cannot_run(**arguments: Any) -> None:
    raise AssertionError("nothing runs while decisions are made again")


def _judged(tool: Tool, arguments: str, found: str, target: str | None) -> Judged:
    return Judged(tool, {}, arguments, found, target)


def _unchecked(call: ToolCall, tool: Tool) -> Judged | ev.Fault:
    try:
        text = canonical(msgspec.json.decode(call.arguments or "{}"))
    except msgspec.DecodeError:
        return ev.Fault("validation", "The arguments are not valid JSON.")
    return Judged(tool, {}, text, digest(text))


def _target_behind(events: Iterator[Any]) -> str | None:
    """What the answer to a guarded call says it was about."""
    return next((event.target for event in events if isinstance(event, ev.ToolCallFinished)), None)


def _varies(asked: ev.ApprovalRequested) -> tuple[str, ...]:
    """Arguments that the offer of a grant left free."""
    if asked.offer is None:
        return ()
    same = asked.offer.limits.get("same", {})
    return tuple(name for name in parse_arguments(asked.arguments) if name not in same)
