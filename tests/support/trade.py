"""A scripted piece of business: two reads side by side, a write to a backend that knows keys, one to a backend that
knows none, an answer. Everything that reaches the backends is counted.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import msgspec

from agent_core import events as ev
from agent_core.config import LoopConfig, Price
from agent_core.loop import AgentLoop
from agent_core.messages import Message, Usage
from agent_core.store.base import EventStore
from agent_core.testing import ScriptedModel
from agent_core.tools.tool import Tier, Tool, ToolContext, Undo, tool

CONFIG = LoopConfig(system_prompt="You are careful.")
PRICE = Price(input=Decimal(1), output=Decimal(4))
QUESTION = "Order 3 of A and note it down."
_USAGE = Usage(100, 10, 110)


@dataclass
class Ledger:
    """What the backends were asked, and what they did: (key, tool), in order."""

    asked: list[tuple[str, str]] = field(default_factory=list)
    effects: list[tuple[str, str]] = field(default_factory=list)

    def count(self, tool_name: str) -> int:
        """How often a tool took effect."""
        return sum(name == tool_name for _, name in self.effects)

    def tools(self) -> list[Tool]:
        """``stock`` and ``price`` read; ``order`` writes and knows keys; ``note`` writes and knows none; ``cancel``
        takes an order back; ``tell`` is dangerous."""

        @tool
        async def stock(sku: str, ctx: ToolContext) -> dict[str, Any]:
            """Pieces on hand."""
            self.asked.append((ctx.idempotency_key, "stock"))
            await asyncio.sleep(0)
            return {"sku": sku, "on_hand": 7}

        @tool
        async def price(sku: str, ctx: ToolContext) -> dict[str, Any]:
            """Price of one piece."""
            self.asked.append((ctx.idempotency_key, "price"))
            return {"sku": sku, "price": "12.50"}

        def cancelling(arguments: dict[str, Any], result: str) -> Undo | None:
            return Undo("cancel", {"number": msgspec.json.decode(result)["order"]})

        @tool(tier=Tier.WRITE, idempotent=True, target=lambda sku, quantity: f"product:{sku}", inverse=cancelling)
        async def order(sku: str, quantity: int, ctx: ToolContext) -> dict[str, Any]:
            """Orders pieces."""
            self.asked.append((ctx.idempotency_key, "order"))
            await asyncio.sleep(0)
            if (ctx.idempotency_key, "order") not in self.effects:
                self.effects.append((ctx.idempotency_key, "order"))
            await asyncio.sleep(0)
            return {"order": "N1"}

        @tool(tier=Tier.WRITE)
        async def note(text: str, ctx: ToolContext) -> str:
            """Notes something down."""
            self.asked.append((ctx.idempotency_key, "note"))
            await asyncio.sleep(0)
            self.effects.append((ctx.idempotency_key, "note"))
            return "noted"

        @tool(tier=Tier.WRITE, idempotent=True)
        async def cancel(number: str, ctx: ToolContext) -> str:
            """Cancels an order."""
            self.asked.append((ctx.idempotency_key, "cancel"))
            self.effects.append((ctx.idempotency_key, "cancel"))
            return "cancelled"

        @tool(tier=Tier.DANGEROUS)
        async def tell(text: str) -> str:
            """Tells the world."""
            return "told"

        return [stock, price, order, note, cancel, tell]


def business(messages: Sequence[Message]) -> Any:
    """The next turn, from what stands in the conversation since the last word of a person."""
    said = max(index for index, message in enumerate(messages) if message.role == "user")
    since = messages[said + 1 :]
    made = [call.name for message in since for call in message.tool_calls]
    if "stock" not in made:
        return ["I look.", ("stock", {"sku": "A"}), ("price", {"sku": "A"}), _USAGE]
    if "order" not in made:
        return [("order", {"sku": "A", "quantity": 3}), _USAGE]
    if "note" not in made:
        return [("note", {"text": "3 of A"}), _USAGE]
    results = [message.content or "" for message in since if message.role == "tool"]
    return ["Done: " + " | ".join(results), _USAGE]


def trader(store: EventStore, ledger: Ledger, *, config: LoopConfig = CONFIG, turns: int = 60) -> AgentLoop:
    """A loop of its own, as another process would have it, with a model that knows the business."""
    model = ScriptedModel([business] * turns)
    return AgentLoop(model=model, tools=ledger.tools(), store=store, config=config, price=PRICE)


async def drive(items: Any) -> list[ev.Recorded]:
    """All that a run yields."""
    return [item async for item in items]


async def decide_open(loop: AgentLoop, session_id: str, *, approve: bool = True) -> int:
    """Answers every open question; how many there were."""
    asked = [call for call in (await loop.state(session_id)).open_calls() if call.status == "asked"]
    for call in asked:
        await loop.decide(session_id, call.call.id, approve=approve, by="boss")
    return len(asked)


async def to_the_end(loop: AgentLoop, session_id: str, ledger: Ledger) -> list[ev.Recorded]:
    """Resumes, decides and looks up what is uncertain, as a person would, until nothing is left to do."""
    seen: list[ev.Recorded] = []
    for _ in range(20):
        seen += await drive(loop.resume(session_id))
        state = await loop.state(session_id)
        doubtful = [call for call in (state.entries[-1].calls if state.entries else []) if call.status == "uncertain"]
        for call in doubtful:
            key = f"{session_id}.{call.seq}.{call.index}"
            if (key, call.call.name) in ledger.effects:
                await loop.resolve(session_id, call.call.id, "happened", by="boss", content="noted")
            else:
                await loop.resolve(session_id, call.call.id, "send_again", by="boss")
        if not doubtful and not await decide_open(loop, session_id):
            return seen
    raise AssertionError("it never ends")


def answer_of(log: Sequence[ev.Recorded]) -> str | None:
    """The last thing the model said."""
    return next((item.event.content for item in reversed(log) if isinstance(item.event, ev.AssistantMessage)), None)
