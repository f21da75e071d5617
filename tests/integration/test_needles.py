"""Fifty facts said once, each asked for exactly 300 turns later in other words, with the offline model and the shop."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from agent_core import AgentLoop, ContextPolicy, LoopConfig, SqliteStore
from agent_core import events as ev
from agent_core.context.recall import gone
from agent_core.messages import Message, ModelEvent, ToolSchema
from erpilot.offline import OfflineModel
from erpilot.profiles.shop import SHOP
from erpilot.shop.open import open_shop
from tests.support.loops import collect, of_type
from tests.support.needles import NEEDLES

BETWEEN = (
    "订单 {order} 里买了什么？",
    "How much stock of PA4-70 do we have?",
    "可口可乐还有多少？",
    "PA4-70 {number} 箱多少钱？",
    "谢谢，鑫源那边先这样",
)
"""What is asked in between: of other things, and of some of the same people and products."""


class Watched(OfflineModel):
    """The offline model; what it was sent first in each turn is kept."""

    def __init__(self) -> None:
        self.sent: list[Message] = []

    def stream_chat(
        self, messages: Sequence[Message], tools: Sequence[ToolSchema] = (), **options: Any
    ) -> AsyncIterator[ModelEvent]:
        self.sent = self.sent or list(messages)
        return super().stream_chat(messages, tools, **options)


@pytest.mark.slow
async def test_of_fifty_facts_at_least_48_reach_the_prompt_300_turns_later(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shop, store, model = open_shop(tmp_path, date(2026, 11, 30)), SqliteStore(tmp_path / "log.db"), Watched()
    policy = ContextPolicy(budget_tokens=14_000)
    config = LoopConfig(system_prompt=SHOP.system_prompt, context=policy, max_seconds=None)
    loop = AgentLoop(model=model, tools=SHOP.tools(shop), store=store, config=config)
    today = (ev.Frozen(kind="today", text="2026-11-30 Monday, Asia/Shanghai"),)
    session_id: str | None = None

    async def say(text: str) -> tuple[ev.UserMessage, str]:
        """The message as it was recorded, and all that the model was sent with it."""
        nonlocal session_id
        model.sent.clear()
        items = await collect(loop.run(text, session_id, context=today))
        session_id, (said,) = items[0].session_id, of_type(items, ev.UserMessage)
        return said, "\n".join(message.content or "" for message in model.sent)

    for fact, _, _ in NEEDLES:
        await say(fact)
    for number in range(300 - len(NEEDLES)):
        text = BETWEEN[number % len(BETWEEN)]
        await say(text.format(order=100 + number % 60, number=number + 1))
    rows = ["| asked | wanted | looked up alone | in the prompt through |", "|---|---|---|---|"]
    reached = alone = 0
    for _, question, wanted in NEEDLES:
        state = await loop.state(str(session_id))
        found = await store.recall(str(session_id), question, within=gone(state), limit=policy.recall_top_k)
        said, prompt = await say(question)
        by_itself, there = any(wanted in one.text for one in found), wanted in prompt
        how = "recall" if any(wanted in one.text for one in said.context) else "summary" if there else "nothing"
        if there and how == "summary" and wanted not in (state.front or ""):
            how = "an earlier message"
        alone, reached = alone + by_itself, reached + there
        rows.append(f"| {question} | {wanted} | {'yes' if by_itself else 'no'} | {how} |")
    rows.append(f"| {len(NEEDLES)} facts, 300 turns later | | {alone} | {reached} |")
    with capsys.disabled():
        sys.stdout.write("\n".join(["", *rows, ""]))
    await loop.aclose()
    shop.close()
    assert reached >= 48
    assert alone >= 48
