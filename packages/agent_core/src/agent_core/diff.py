"""Where two sessions part, what each said and did from there, and what that cost.

Invariant: values only, made of the logs; what both share is found by the hash chain, so equal words are never taken for
a common past.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Any, Literal

from msgspec import Struct

from . import events as ev
from .config import ToolRules
from .messages import Usage
from .state import Contents, environment_of
from .store.base import EventStore
from .tools.faults import took_effect


class Effect(Struct, frozen=True):
    """A call that changed something, or may have."""

    seq: int
    tool: str
    arguments: str
    outcome: Literal["done", "uncertain"]


class Side(Struct, frozen=True):
    """What one session did since they parted."""

    session_id: str
    head: int
    steps: int
    usage: Usage
    costs: dict[str, Decimal]
    """Money by currency."""
    effects: tuple[Effect, ...]


class Row(Struct, frozen=True):
    """One event of each, side by side; None where the other one has nothing like it."""

    a: ev.Recorded | None
    b: ev.Recorded | None
    same: bool


class Diff(Struct, frozen=True):
    """``common``: the last event that both have, 0 when there is none. ``rows``: what was said and done from there."""

    common: int
    a: Side
    b: Side
    rows: tuple[Row, ...]

    @property
    def tokens(self) -> int:
        """Tokens that ``b`` used more than ``a``, prompts and answers together."""
        return _tokens(self.b.usage) - _tokens(self.a.usage)

    @property
    def costs(self) -> dict[str, Decimal]:
        """Money that ``b`` spent more than ``a``, by currency."""
        names = sorted({*self.a.costs, *self.b.costs})
        return {name: self.b.costs.get(name, Decimal(0)) - self.a.costs.get(name, Decimal(0)) for name in names}

    @property
    def only_in_a(self) -> tuple[Effect, ...]:
        """Effects that ``b`` does not have."""
        return _without(self.a.effects, self.b.effects)

    @property
    def only_in_b(self) -> tuple[Effect, ...]:
        """Effects that ``a`` does not have."""
        return _without(self.b.effects, self.a.effects)


async def diff_sessions(store: EventStore, a: str, b: str) -> Diff:
    """Compares two sessions of a store; raises ``UnknownSession``."""
    logs: list[list[ev.Recorded]] = []
    contents: dict[str, bytes] = {}
    for name in (a, b):
        items = [item async for item in store.read(name)]
        environments = {item.event.environment for item in items if isinstance(item.event, ev.RunStarted)}
        contents.update(await store.contents(name, environments))
        logs.append(items)
    return diff(logs[0], logs[1], contents)


def diff(a: Sequence[ev.Recorded], b: Sequence[ev.Recorded], contents: Contents) -> Diff:
    """Compares two logs; ``contents`` holds the environments of their runs."""
    common = 0
    for mine, theirs in zip(a, b, strict=False):
        if not _is_shared(mine, theirs):
            break
        common += 1
    mine_told, theirs_told = _telling(a[common:]), _telling(b[common:])
    return Diff(
        a[common - 1].seq or 0 if common else 0,
        _side(a, common, contents),
        _side(b, common, contents),
        tuple(_rows(mine_told, theirs_told)),
    )


def _is_shared(one: ev.Recorded, other: ev.Recorded) -> bool:
    if one.hash is not None and other.hash is not None:
        return one.hash == other.hash
    return (one.seq, one.at, one.event) == (other.seq, other.at, other.event)


def _telling(items: Iterable[ev.Recorded]) -> list[tuple[Any, ev.Recorded]]:
    told = [(_said(item.event), item) for item in items]
    return [(said, item) for said, item in told if said is not None]


def _said(event: ev.AnyEvent) -> tuple[Any, ...] | None:
    """What an event says to a person, without ids and times; None where it says nothing."""
    match event:
        case ev.UserMessage():
            return "user", event.content
        case ev.AssistantMessage():
            calls = tuple((call.name, call.arguments) for call in event.tool_calls)
            return "assistant", event.content, event.refusal, calls
        case ev.ToolCallFinished():
            return "result", event.tool, event.ok, event.content
        case ev.ApprovalDecided():
            return "decided", event.decision, event.reason, event.arguments
        case ev.OutcomeResolved():
            return "resolved", event.outcome
        case ev.GuardTripped():
            return "guard", event.guard, event.action
        case ev.ContextCompacted():
            return "compacted", event.kind, event.summary
        case ev.RolledBack():
            return "rolled back", event.to_seq
        case ev.LoopEnd():
            return "end", event.reason
        case _:
            return None


def _rows(a: list[tuple[Any, ev.Recorded]], b: list[tuple[Any, ev.Recorded]]) -> Iterable[Row]:
    keys = [[repr(said) for said, _ in side] for side in (a, b)]
    for tag, a_from, a_to, b_from, b_to in SequenceMatcher(None, keys[0], keys[1], autojunk=False).get_opcodes():
        for mine, theirs in zip_longest(a[a_from:a_to], b[b_from:b_to]):
            yield Row(mine and mine[1], theirs and theirs[1], tag == "equal")


def _side(items: Sequence[ev.Recorded], common: int, contents: Contents) -> Side:
    steps, usage, costs = 0, Usage(), dict[str, Decimal]()
    rules: dict[str, ToolRules] = {}
    arguments: dict[str, str] = {}
    effects: dict[tuple[int, str], Effect] = {}
    message = 0
    for position, item in enumerate(items):
        event, seq, own = item.event, item.seq or 0, position >= common
        match event:
            case ev.RunStarted() if event.environment in contents:
                rules = environment_of(contents[event.environment]).tools
            case ev.AssistantMessage():
                message = seq
                arguments = {call.id: call.arguments for call in event.tool_calls}
            case ev.ApprovalRequested():
                arguments[event.call_id] = event.arguments
            case ev.StepEnd() if own:
                steps += 1
                usage = usage.plus(event.usage)
                if event.cost is not None:
                    spent = costs.get(event.cost.currency, Decimal(0))
                    costs[event.cost.currency] = spent + event.cost.amount
            case ev.ContextCompacted() | ev.SummaryFailed() if own:
                usage = usage.plus(event.usage)
                if event.cost is not None:
                    spent = costs.get(event.cost.currency, Decimal(0))
                    costs[event.cost.currency] = spent + event.cost.amount
            case ev.ToolCallFinished() if own and not _only_reads(event.tool, rules) and took_effect(event):
                outcome: Literal["done", "uncertain"] = "done" if event.ok else "uncertain"
                place = (message, event.call_id)
                effects[place] = Effect(seq, event.tool, arguments.get(event.call_id, ""), outcome)
            case ev.OutcomeResolved() if (known := effects.get((message, event.call_id))) is not None:
                if event.outcome == "happened":
                    effects[message, event.call_id] = Effect(known.seq, known.tool, known.arguments, "done")
                else:
                    del effects[message, event.call_id]
            case _:
                pass
    head = items[-1] if items else None
    return Side(
        session_id=head.session_id if head else "",
        head=(head.seq or 0) if head else 0,
        steps=steps,
        usage=usage,
        costs=costs,
        effects=tuple(effects.values()),
    )


def _only_reads(tool: str, rules: dict[str, ToolRules]) -> bool:
    return tool in rules and rules[tool].tier == "READ"


def _tokens(usage: Usage) -> int:
    return (usage.prompt_tokens or 0) + (usage.completion_tokens or 0)


def _without(mine: tuple[Effect, ...], theirs: tuple[Effect, ...]) -> tuple[Effect, ...]:
    left = [(effect.tool, effect.arguments, effect.outcome) for effect in theirs]
    only = []
    for effect in mine:
        key = (effect.tool, effect.arguments, effect.outcome)
        if key in left:
            left.remove(key)
        else:
            only.append(effect)
    return tuple(only)
