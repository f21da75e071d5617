"""A scripted session of many turns, each with one call whose result has 0.2 to 20 KB, and what other ways of choosing
the messages would have sent.

A token is what a plain tokeniser would make of it: ``LATIN`` to a character, ``MARKUP`` to a message. The scripted
model reports these, so estimates are calibrated as with a real one.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from agent_core import AgentLoop, ContextPolicy, LoopConfig, MemoryStore, Message, Usage, tool
from agent_core import events as ev
from agent_core.testing import ScriptedModel

LATIN, MARKUP = 0.26, 4
SMALLEST, LARGEST = 200, 20_000
_NAMES = ("Chen", "Wang", "Li", "Zhao", "Wu", "Sun", "Qian", "Zhou")


class Played(NamedTuple):
    """What was sent, in order, and what the log says of it."""

    requests: list[tuple[Message, ...]]
    items: list[ev.Recorded]

    def compactions(self) -> list[int]:
        """Requests, by number, that follow a compaction."""
        places, number, moved = [], 0, False
        for item in self.items:
            if isinstance(item.event, ev.ContextCompacted):
                moved = True
            elif isinstance(item.event, ev.StepStarted):
                if moved:
                    places.append(number)
                number, moved = number + 1, False
        return places


class Cost(NamedTuple):
    """Sums over all requests: tokens sent, those behind the part that was sent just before, and the largest request."""

    tokens: int
    new: int
    largest: int


async def play(turns: int, policy: ContextPolicy, *, uniform: bool = False, seed: int = 7, **more: Any) -> Played:
    """Plays the session. ``uniform``: sizes of results are drawn evenly, else evenly by order of magnitude."""
    source = random.Random(seed)

    @tool(max_output=LARGEST + 1000)
    async def report(number: int) -> str:
        """The report of a day."""
        size = source.uniform(SMALLEST, LARGEST) if uniform else SMALLEST * (LARGEST / SMALLEST) ** source.random()
        return _report(number, int(size), source)

    def step(messages: Sequence[Message]) -> Any:
        newest = messages[-1]
        tokens = count(messages)
        usage = Usage(tokens, 40, tokens + 40)
        if newest.role == "user":
            number = int((newest.content or "").split()[3].rstrip(",?"))
            return [("report", {"number": number}), usage]
        return [f"{_NAMES[source.randrange(8)]} leads with {source.randrange(10_000)}; the rest is as before.", usage]

    model = ScriptedModel([step] * (2 * turns + 2))
    config = LoopConfig(
        system_prompt="You answer questions about reports. " * 20, context=policy, cache_seconds=0.0, max_tokens=None
    )
    loop = AgentLoop(model=model, tools=[report], store=MemoryStore(), config=config, **more)
    items: list[ev.Recorded] = []
    for number in range(turns):
        question = f"How was day {number}, and what did {_NAMES[number % 8]} sell for {number * 3}.50?"
        items += [item async for item in loop.run(question, items[0].session_id if items else None) if item.seq]
    return Played([request.messages for request in model.requests], items)


def _report(number: int, size: int, source: random.Random) -> str:
    rows, length = [f"report {number}"], 0
    while length < size:
        row = json.dumps({"who": _NAMES[source.randrange(8)], "sold": source.randrange(10_000), "day": number})
        rows.append(row)
        length += len(row) + 1
    return "\n".join(rows)[:size]


def count(messages: Sequence[Message]) -> int:
    """Tokens of a request."""
    return sum(map(_tokens, messages))


def _tokens(message: Message) -> int:
    length = len(message.content or "") + sum(len(call.name) + len(call.arguments) for call in message.tool_calls)
    return int(length * LATIN) + MARKUP


def cost(requests: Iterator[Sequence[Message]]) -> Cost:
    """What a way of choosing messages sends; a provider's cache spares what a request has in common with the last."""
    sent = new = largest = 0
    before: Sequence[Message] = ()
    known: dict[int, int] = {}
    for request in requests:
        tokens = [known.get(id(message)) or known.setdefault(id(message), _tokens(message)) for message in request]
        same = 0
        for one, other in zip(before, request, strict=False):
            if one is not other and one != other:
                break
            same += 1
        sent, new, largest = sent + sum(tokens), new + sum(tokens[same:]), max(largest, sum(tokens))
        before = request
    return Cost(sent, new, largest)


def history(played: Played) -> Iterator[list[Message]]:
    """What would be sent if nothing was ever left out: each request with all messages before it."""
    whole: list[Message] = [played.requests[0][0]]
    for item in played.items:
        event = item.event
        if isinstance(event, ev.UserMessage):
            whole.append(Message("user", "".join(part.text for part in event.content if isinstance(part, ev.TextPart))))
        elif isinstance(event, ev.StepStarted):
            yield whole.copy()
        elif isinstance(event, ev.AssistantMessage):
            whole.append(Message("assistant", event.content, event.tool_calls))
        elif isinstance(event, ev.ToolCallFinished):
            whole.append(Message("tool", event.content, tool_call_id=event.call_id))


def last_messages(most: int) -> Callable[[Played], Iterator[list[Message]]]:
    """What would be sent if only the newest ``most`` messages were kept, from the first one on that may begin it."""

    def chosen(played: Played) -> Iterator[list[Message]]:
        for whole in history(played):
            kept = whole[1:][-most:]
            while kept and kept[0].role == "tool":
                kept = kept[1:]
            yield [whole[0], *kept]

    return chosen
