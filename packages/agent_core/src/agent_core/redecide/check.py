"""Re-deciding: today's decision code over a recorded log, without model, tools or network.

Invariant: what the world said (people, models, tools, backends, the cache) is taken as it was recorded; everything that
the runtime decided from it is decided anew and compared. A log that this code would have written gives no difference;
the first difference is where new code would have gone another way.

A decision is made at some time between the event before it and the event that records it, so one that depends on the
clock is held to both.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

import msgspec
from msgspec import Struct, structs

from .. import events as ev
from ..answers import AnswerChecker
from ..codec import type_name
from ..config import Environment, LoopConfig, Price
from ..context.build import build_messages
from ..errors import ModelError, Refused
from ..fold import apply, conversation_at
from ..model.retry import delay
from ..state import State, environment_of
from ..store.base import EventStore
from ..text import REPEAT_NOTICE, without_notices
from ..tools.admission import TWIN_IN_DOUBT
from ..tools.faults import finished_with
from ..tools.registry import Registry
from ..undo import FLAG
from .expectation import Expectation, expected, left_behind
from .likeness import compare
from .rejudge import registry_of
from .rerender import Renderer

Kind = Literal["decision", "effect", "rendering"]


class Difference(Struct, frozen=True):
    """Where today's code does not do what the log says. ``effect``: a call would run that did not, or the other way
    round; ``rendering``: only the words or bytes differ.
    """

    session_id: str
    seq: int
    kind: Kind
    recorded: str
    now: str

    @property
    def digest(self) -> str:
        """Tells this difference from any other one at the same event."""
        text = f"{self.kind}\0{self.recorded}\0{self.now}"
        return hashlib.blake2b(text.encode(errors="replace"), digest_size=12).hexdigest()


async def read_log(store: EventStore, session_id: str) -> tuple[list[ev.Recorded], dict[str, bytes]]:
    """The events of a session and the contents that its decisions depend on: what ``redecide`` takes."""
    items = [item async for item in store.read(session_id)]
    names: set[str] = set()
    for item in items:
        if isinstance(item.event, ev.RunStarted):
            names.add(item.event.environment)
        elif isinstance(item.event, ev.StepStarted):
            request = item.event.request
            names.update(name for name in (*request.added, request.frame, request.tools, request.form) if name)
    contents = await store.contents(session_id, names)
    environments = {item.event.environment for item in items if isinstance(item.event, ev.RunStarted)}
    behind: set[str] = set()
    for name in environments & contents.keys():
        value = environment_of(contents[name])
        behind.update(one for one in (value.system, value.tool_set) if one)
    contents.update(await store.contents(session_id, behind))
    return items, contents


def redecide(
    items: Iterable[ev.Recorded],
    contents: Mapping[str, bytes],
    *,
    config: LoopConfig | None = None,
    price: Price | None = None,
    cut: bool = False,
    checkers: Iterable[AnswerChecker] = (),
) -> list[Difference]:
    """Every difference, in the order of the log. ``config`` and ``price``: what if these had held (a permission policy,
    limits, a price table)? Then what they change is what differs. ``checkers``: those by which figures are
    traced again; what others found is taken as it was recorded. ``cut``: the log goes on behind ``items``. Where
    a log was cut or a fork branched off, what was decided in one with the last events is not there, so these are not
    held to it.

    Raises ``Refused`` when something that the decisions depended on is not there any more.
    """
    log = [item for item in items if item.seq is not None]
    torn = {seq for end in _ends(log, cut) for seq in _decided_together(log, end)}
    return [one for one in _Decider(log, contents, config, price, checkers).run() if one.seq not in torn]


def _ends(log: Sequence[ev.Recorded], cut: bool) -> Iterator[int]:
    """Places behind which the log went on otherwise than here: where a fork branched off, and where it was cut."""
    for place, item in enumerate(log):
        if isinstance(item.event, ev.SessionStarted) and item.event.parent is not None:
            yield place
    if cut:
        yield len(log)


def _decided_together(log: Sequence[ev.Recorded], end: int) -> Iterator[int]:
    """The last events before ``end`` that may have been decided in one with what is not there."""
    while end and isinstance(log[end - 1].event, _TOGETHER):
        end -= 1
        yield log[end].seq or 0


_TOGETHER = (
    ev.ToolCallFinished,
    ev.ToolCallStarted,
    ev.GuardTripped,
    ev.ApprovalRequested,
    ev.ApprovalDecided,
    ev.LoopEnd,
    ev.RunStarted,
)


class _Decider:
    def __init__(
        self,
        items: Sequence[ev.Recorded],
        contents: Mapping[str, bytes],
        config: LoopConfig | None,
        price: Price | None,
        checkers: Iterable[AnswerChecker],
    ) -> None:
        self.checkers = {checker.name: checker for checker in checkers}
        self.items, self.contents = items, dict(contents)
        self.config, self.price = config, price
        self.state, self.seen = State(), list[ev.Recorded]()
        self.owners = _owners(items)
        self.pending = Expectation()
        """What was decided together with the newest event and has to follow it."""
        self.twins: dict[str, str] = {}
        self.registries: dict[str, Registry] = {}
        self.renderer = Renderer(self.contents)
        self.differences: list[Difference] = []
        self._environments()

    def run(self) -> list[Difference]:
        for place, item in enumerate(self.items):
            self._check(place, item)
            self._fold(item)
        return self.differences

    def _environments(self) -> None:
        """Puts what is supposed in the place of what was."""
        for item in self.items:
            if not isinstance(item.event, ev.RunStarted):
                continue
            name = item.event.environment
            if name not in self.contents:
                raise Refused(
                    f"What the run at event {item.seq} depended on is not kept, so it cannot be decided anew."
                )
            if name in self.registries:
                continue
            value = environment_of(self.contents[name])
            self.registries[name] = registry_of(value, self.contents)
            if self.config is not None:
                value = structs.replace(
                    value,
                    config=structs.replace(self.config, system_prompt="", answer_check=value.config.answer_check),
                )
            if self.price is not None:
                value = structs.replace(value, price=self.price)
            self.contents[name] = msgspec.json.encode(value)

    def _fold(self, item: ev.Recorded) -> None:
        event = item.event
        if isinstance(event, ev.StepEnd) and self.price is not None and event.usage is not None:
            item = structs.replace(item, event=structs.replace(event, cost=self.price.cost(event.usage)))
        earlier = None
        if isinstance(event, ev.RolledBack):
            earlier = conversation_at(self.seen, event.to_seq, self.contents)
        apply(self.state, item, self.contents, earlier)
        self.state.session_id = self.owners[item.seq or 0]
        self.seen.append(item)

    def _check(self, place: int, item: ev.Recorded) -> None:
        event = item.event
        match event:
            case ev.StepStarted():
                self._check_decision(place, item)
                self._check_request(item, event)
            case ev.ModelAttemptFailed():
                self._check_retry(item, event)
            case ev.StepEnd():
                self._check_cost(item, event)
            case ev.ToolCallFinished() if event.call_id in self.twins and event.digest:  # what closes a call has none
                self._check_twin(item, event)
            case ev.ToolCallFinished() if self._is_fact(event):
                self.pending = Expectation()
            case ev.ContextCompacted(by=str()) | ev.SummaryFailed(by=str()):
                self.pending = Expectation()  # a person's wish
            case (
                ev.ContextCompacted()
                | ev.SummaryFailed()
                | ev.GuardTripped()
                | ev.ApprovalRequested()
                | ev.ToolCallStarted()
                | ev.ToolCallFinished()
                | ev.AnswerChecked()
                | ev.LoopEnd()
            ):
                self._check_decision(place, item)
            case ev.ApprovalDecided() if event.grant_id or event.channel == "auto_approve" or event.by == "clock":
                self._check_decision(place, item)
            case ev.OutcomeResolved(source="backend"):
                pass  # the answer to a question that stands right before it
            case ev.AssistantMessage():
                self.twins, self.pending = {}, Expectation()
                if FLAG not in event.flags:
                    self._check_answered(item, event)
            case _:
                self.pending = Expectation()

    def _check_decision(self, place: int, item: ev.Recorded) -> None:
        before = self.items[place - 1].at if place else item.at
        environment = self._environment()
        prompt, registry = self._prompt(environment), self._registry(environment)
        ways = [self.pending, left_behind(self.state, self.items, place)]
        ways += [
            expected(self.state, self.items, place, now, prompt, registry, self.checkers) for now in {item.at, before}
        ]
        ways = [way for way in ways if way.events]
        kinds = [compare(way.events[0], item, with_cost=self.price is None) for way in ways]
        self.pending = Expectation()
        if not ways:
            self._tell(item, _kind_alone(item.event), None)
            return
        likeness = [None, "rendering"]
        best = min(range(len(ways)), key=lambda one: likeness.index(kinds[one]) if kinds[one] in likeness else 2)
        kind, way = kinds[best], ways[best]
        if kind in likeness:
            self.twins.update(way.twins)
            self.pending = Expectation(way.events[1:], way.twins)
        else:
            kind, way = kinds[-1] or "decision", ways[-1]
        if kind is not None:
            self._tell(item, kind, way.events[0])

    def _check_answered(self, item: ev.Recorded, event: ev.AssistantMessage) -> None:
        """A message of a model answers a request; this much is the runtime's own."""
        run = self.state.run
        if run is None or event.step != run.steps + 1 or not run.attempt:
            now = "no request is open" if run is None or not run.attempt else f"an answer of step {run.steps + 1}"
            self._differs(item, "decision", f"an answer of step {event.step}", now)

    def _check_request(self, item: ev.Recorded, event: ev.StepStarted) -> None:
        environment = self._environment()
        if environment is None:
            return
        messages = build_messages(self.state, self._prompt(environment))
        for recorded, now in self.renderer.differences(self.state, event.request, messages):
            self._differs(item, "rendering", recorded, now)

    def _check_retry(self, item: ev.Recorded, event: ev.ModelAttemptFailed) -> None:
        self.pending = Expectation()
        run = self.state.run
        if run is None or event.remedy is not None:
            return
        retryable = event.wait is not None if event.retryable is None else event.retryable
        kind: Any = event.kind
        error = ModelError(kind, event.message, retryable=retryable, retry_after=event.retry_after)
        policy = run.environment.config.retry
        shortest = delay(error, event.attempt, policy, lambda: 0.0, run.waited)
        longest = delay(error, event.attempt, policy, lambda: 1.0, run.waited)
        if event.retryable is None and event.wait is None:
            return  # whether it was worth a retry is not known
        if event.wait is None:
            if longest is not None:
                self._differs(item, "decision", "no further attempt", f"another attempt after {shortest:g} s")
        elif shortest is None:
            self._differs(item, "decision", f"another attempt after {event.wait:g} s", "no further attempt")
        elif not shortest - 0.001 <= event.wait <= (policy.total if longest is None else longest) + 0.001:
            self._differs(item, "decision", f"a wait of {event.wait:g} s", f"a wait of {shortest:g} s or more")

    def _check_cost(self, item: ev.Recorded, event: ev.StepEnd) -> None:
        run = self.state.run
        if run is None or self.price is not None or event.usage is None:
            return
        price = run.environment.price
        cost = None if price is None else price.cost(event.usage)
        if cost != event.cost:
            self._differs(item, "decision", f"cost {_money(event.cost)}", f"cost {_money(cost)}")

    def _check_twin(self, item: ev.Recorded, event: ev.ToolCallFinished) -> None:
        """The result of a call that is the same as another one of its message."""
        other, own = self.state.find_call(self.twins[event.call_id]), self.state.find_call(event.call_id)
        content = without_notices(other.result.content or "") if other is not None and other.result is not None else ""
        now = ev.ToolCallFinished(
            call_id=event.call_id,
            index=event.index,
            tool=event.tool,
            ok=event.ok,
            content=content + (REPEAT_NOTICE if event.ok else ""),
            error=event.error,
            digest=event.digest,
            cached=True,
            target=event.target,
        )
        if other is not None and own is not None and other.doubted:
            now = finished_with(own, TWIN_IN_DOUBT, digest=event.digest, target=event.target)
        if (kind := compare(now, item)) is not None:
            self._tell(item, kind, now)

    def _is_fact(self, event: ev.ToolCallFinished) -> bool:
        """Whether a tool said it: it was started, took its time, and nothing ended it from outside."""
        call = self.state.find_call(event.call_id)
        if call is None or call.result is not None:
            return True
        decided = event.error is not None and event.duration == 0.0
        return bool(call.attempts) and not event.cached and not decided

    def _environment(self) -> Environment | None:
        return None if self.state.run is None else self.state.run.environment

    def _prompt(self, environment: Environment | None) -> str:
        if self.config is not None and self.config.system_prompt:
            return self.config.system_prompt
        if environment is None:
            return ""
        data = self.contents.get(environment.system)
        if data is None:
            raise Refused("The system prompt of a run is not kept, so its decisions cannot be made anew.")
        return data.decode()

    def _registry(self, environment: Environment | None) -> Registry:
        run = self.state.run
        return Registry(()) if run is None or environment is None else self.registries[run.environment_name]

    def _tell(self, item: ev.Recorded, kind: Kind, now: ev.AnyEvent | None) -> None:
        self._differs(item, kind, describe(item.event), "nothing" if now is None else describe(now))

    def _differs(self, item: ev.Recorded, kind: Kind, recorded: str, now: str) -> None:
        self.differences.append(Difference(item.session_id, item.seq or 0, kind, recorded, now))


def describe(event: ev.AnyEvent) -> str:
    """An event in one line: its type and what it says."""
    if isinstance(event, ev.UnknownEvent):
        return event.type
    if isinstance(event, ev.StepStarted):
        return f"StepStarted step={event.step} attempt={event.attempt} estimated_tokens={event.estimated_tokens}"
    said: dict[str, Any] = msgspec.to_builtins(event)
    kept = {key: value for key, value in said.items() if value not in (None, "", [], {}, ()) and key not in _UNSAID}
    words = " ".join(f"{key}={msgspec.json.encode(value).decode()}" for key, value in kept.items())
    return f"{type_name(event)} {words}"


_UNSAID = ("type", "v", "duration", "preview", "versions", "deadline", "usage")


def _kind_alone(event: ev.AnyEvent) -> Kind:
    return "effect" if isinstance(event, ev.ToolCallStarted) else "decision"


def _money(cost: ev.Cost | None) -> str:
    return "unknown" if cost is None else f"{cost.amount:f} {cost.currency}"


def _owners(items: Sequence[ev.Recorded]) -> dict[int, str]:
    """The session that appended each event: what a fork inherited is its parents'."""
    owners: dict[int, str] = {}
    for item in items:
        if isinstance(item.event, ev.SessionStarted) and (parent := item.event.parent) is not None:
            for seq, owner in owners.items():
                owners[seq] = owner or parent.session_id
        owners[item.seq or 0] = ""
    return {seq: owner or items[-1].session_id for seq, owner in owners.items()}
