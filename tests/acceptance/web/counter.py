"""Servers to look at in the test's own event loop: a scripted model over the real tools of the shop."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

from agent_core.config import LoopConfig, Price
from agent_core.loop import AgentLoop
from agent_core.messages import Usage
from agent_core.store.base import EventStore
from agent_core.testing import MemoryStore, ScriptedModel
from agent_core.tools.tool import Tool
from erpilot.figures import FIGURES
from erpilot.shop.open import open_shop
from erpilot.toolsets.shop import shop_tools
from erpilot_api.access import User
from tests.support.http_api import USERS, Running, house_of, serving

PRICE = Price(input=Decimal(2), output=Decimal(8), currency="CNY")
USED = Usage(1200, 80, 1280)
QUOTATION = {"customer": "C001", "lines": [{"sku": "BV-COLA-500", "qty": "30", "unit": "箱"}]}
PAPER = {"customer": "C001", "lines": [{"sku": "PA4-70", "qty": "20", "unit": "箱"}], "note": "月底前送到"}


def quoting(arguments: dict[str, Any], *more: dict[str, Any]) -> list[Any]:
    """A turn that asks for quotations."""
    return [*(("create_quotation", each) for each in (arguments, *more)), USED]


def loop_of(
    turns: Iterable[Any], tools: Iterable[Tool], *, store: EventStore | None = None, model: Any = None
) -> AgentLoop:
    """An agent whose model plays ``turns``."""
    return AgentLoop(
        model=model or ScriptedModel(turns, delta=6),
        tools=list(tools),
        store=store or MemoryStore(),
        config=LoopConfig(system_prompt="You are careful."),
        price=PRICE,
        answer_checker=FIGURES,
    )


def link_of(api: Running, user: User = USERS[0]) -> str:
    """A link that lets one browser in."""
    return f"{api.base}/#code={api.house.access.code(user.name)}"


@asynccontextmanager
async def counter(shop_folder: Path, *turns: Any, model: Any = None) -> AsyncIterator[Running]:
    """Serves the shop in ``shop_folder``."""
    shop = open_shop(shop_folder)
    try:
        async with serving(house_of(loop_of(turns, shop_tools(shop), model=model))) as api:
            yield api
    finally:
        shop.close()
