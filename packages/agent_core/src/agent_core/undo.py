"""Taking back what writes did: the declared inverse of each, as a plan, and the run in which the plan is carried out.

Invariant: nothing is taken back unasked. The calls of a plan go the way of every call (judged, shown, decided, started,
finished), in a message of their own; what cannot be taken back is said to be so.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec import Struct

from . import events as ev
from .branches import check_seq
from .messages import ToolCall
from .permission import parse_arguments
from .session import Session
from .state import State
from .text import without_notices
from .tools.faults import took_effect
from .tools.registry import Registry
from .tools.tool import Tier, Undo

FLAG = "undo"
"""Of an ``AssistantMessage`` that no model wrote: its calls are those of a plan."""


class Compensation(Struct, frozen=True):
    """A write that was made, and the call that takes it back; without one, ``why`` it cannot be taken back."""

    seq: int
    """Event at which the write ended."""
    place: str
    """Which call it was: event of its message and index, also where call ids repeat."""
    tool: str
    arguments: str
    content: str
    """Its result."""
    undo: Undo | None = None
    why: str | None = None


class _Call(Struct):
    place: str
    seq: int
    """Event of its message."""
    call: ToolCall


class _Write(Struct):
    made: _Call
    end: ev.ToolCallFinished
    seq: int


async def undo_plan(session: Session, registry: Registry, to_seq: int) -> list[Compensation]:
    """The writes that ended behind event ``to_seq``, or may have, the newest first; not those taken back since."""
    check_seq(session.session_id, to_seq, session.state.seq)
    items = [item async for item in session.store.read(session.session_id)]
    inherited = session.state.parent.seq if session.state.parent is not None else 0
    plan = []
    for write in _writes(items, to_seq):
        tool = registry.get(write.end.tool)
        if tool is None or tool.tier is not Tier.READ:
            content = await _whole(session, write.end)
            plan.append(_compensation(write, registry, content, inherited))
    return plan


def undoing(state: State, plan: Sequence[Compensation], by: str) -> list[ev.DurableEvent]:
    """What a run that carries out a plan begins with: a message that says so, and the calls."""
    steps = [(item, item.undo) for item in plan if item.undo is not None]
    taken = {call.call.id for entry in state.entries for call in entry.calls}
    calls = []
    for item, undo in steps:
        name, count = f"undo_{item.place}", 1
        while name in taken:
            count += 1
            name = f"undo_{item.place}_{count}"
        taken.add(name)
        calls.append(ToolCall(id=name, name=undo.tool, arguments=msgspec.json.encode(undo.arguments).decode()))
    what = "; ".join(f"{item.tool} {item.arguments}" for item, _ in steps) or "nothing that can be taken back"
    said = ev.UserMessage(content=(ev.TextPart(f"[Take back: {what}]"),), author=by)
    if not calls:
        return [said]
    message = ev.AssistantMessage(
        step=1, content=None, tool_calls=tuple(calls), finish_reason="tool_calls", flags=(FLAG,)
    )
    return [said, message, ev.StepEnd(step=1, outcome="message")]


def _writes(items: Sequence[ev.Recorded], to_seq: int) -> list[_Write]:
    """Calls that ended behind ``to_seq`` and may have changed something, newest first, without the pairs of a write
    and what took it back."""
    calls: dict[str, _Call] = {}
    writes: dict[str, _Write] = {}
    takes_back: dict[str, str] = {}
    for item in items:
        event, seq = item.event, item.seq or 0
        if isinstance(event, ev.AssistantMessage):
            for index, call in enumerate(event.tool_calls):
                calls[call.id] = _Call(f"{seq}_{index}", seq, call)
                if FLAG in event.flags:
                    takes_back[f"{seq}_{index}"] = "_".join(call.id.split("_")[1:3])
            continue
        known = calls.get(getattr(event, "call_id", ""))
        if known is None:
            continue
        write = writes.get(known.place)
        match event:
            case ev.ApprovalDecided(decision="approved", arguments=str(edited)):
                known.call = msgspec.structs.replace(known.call, arguments=edited)
            case ev.ToolCallFinished() if took_effect(event) and seq > to_seq and not (write and write.end.ok):
                writes[known.place] = _Write(known, event, seq)
            case ev.OutcomeResolved(outcome="did_not_happen" | "send_again"):
                writes.pop(known.place, None)
            case ev.OutcomeResolved(outcome="happened", content=content) if write is not None:
                write.end = msgspec.structs.replace(write.end, ok=True, error=None, content=content or "")
    for place, of in takes_back.items():
        if place in writes and writes[place].end.ok and writes.pop(of, None) is not None:
            del writes[place]
    return sorted(writes.values(), key=lambda write: write.seq, reverse=True)


async def _whole(session: Session, end: ev.ToolCallFinished) -> str:
    """The result as the tool gave it."""
    if end.truncated is None or end.truncated.whole is None:
        return without_notices(end.content)
    stored = await session.store.contents(session.session_id, [end.truncated.whole])
    data = stored.get(end.truncated.whole)
    return end.content if data is None else data.decode()


def _compensation(write: _Write, registry: Registry, content: str, inherited: int) -> Compensation:
    undo, why = _inverse(write, registry, content, inherited)
    return Compensation(
        seq=write.seq,
        place=write.made.place,
        tool=write.end.tool,
        arguments=write.made.call.arguments,
        content=content,
        undo=undo,
        why=why,
    )


def _inverse(write: _Write, registry: Registry, content: str, inherited: int) -> tuple[Undo | None, str | None]:
    name = write.end.tool
    if write.made.seq <= inherited:
        return None, "It was made in the session that this one was forked from, and is taken back there."
    if not write.end.ok:
        return None, "Whether it took effect is not known; a person has to look it up."
    tool = registry.get(name)
    if tool is None:
        return None, f"The tool {name} is not offered any more."
    if tool.inverse is None:
        return None, f"{name} cannot be undone."
    judged = registry.judge(write.made.call)
    if isinstance(judged, ev.Fault):
        return None, f"{name} would not accept these arguments any more."
    try:
        undo = tool.inverse(parse_arguments(judged.arguments), content)
    except Exception as error:
        return None, f"What would undo {name} cannot be told: {str(error) or type(error).__name__}."
    if undo is None:
        return None, f"This call of {name} cannot be undone."
    if registry.get(undo.tool) is None:
        return None, f"{undo.tool}, which would undo {name}, is not offered."
    return undo, None
