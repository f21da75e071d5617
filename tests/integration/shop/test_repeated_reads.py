"""The same record read a minute later is the same result: what says when it was read hides no repeat from the guard."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from agent_core import events as ev
from agent_core.state import result_digest
from agent_core.tools.tool import Tier, ToolContext
from erpilot.shop.embedded.shop import EmbeddedShop
from erpilot.toolsets.shop import shop_tools
from tests.integration.shop.test_blank_arguments import NEEDED
from tests.support.loops import collect, end_of, errors, loop_over, of_type


@pytest.fixture
def later(shop: EmbeddedShop, monkeypatch: pytest.MonkeyPatch) -> EmbeddedShop:
    """A shop whose clock goes on by a minute whenever it is looked at."""
    start, minutes = shop.now().replace(hour=8, minute=0), iter(range(10_000))

    def now() -> datetime:
        return start + timedelta(minutes=next(minutes) % 600)

    monkeypatch.setattr(shop, "now", now)
    return shop


async def test_what_every_read_says_differs_by_the_minute_and_is_known_to_be_the_same(later: EmbeddedShop) -> None:
    for tool in shop_tools(later):
        if tool.tier is not Tier.READ:
            continue
        given = {"sku": "BV-COLA-500"} if tool.name == "get_supplier_prices" else NEEDED.get(tool.name, {})
        values = tool.bind(tool.arguments.validate(given), ToolContext("session", "call", "key"))
        one, other = [(await tool.handler(**values)).model_dump_json() for _ in range(2)]
        assert one != other, tool.name
        assert result_digest(one) == result_digest(other), tool.name


async def test_a_read_that_is_repeated_minute_by_minute_is_stopped(later: EmbeddedShop) -> None:
    look = [("check_stock", {"skus": ["BV-COLA-500"]})]
    loop, _ = loop_over(*[look] * 6, tools=shop_tools(later))
    items = await collect(loop.run("go"))
    assert end_of(items).reason == "guard"
    assert len(of_type(items, ev.ToolCallStarted)) == 2
    assert list(errors(items).values()) == ["repeated_call"] * 2


async def test_another_result_is_another_one_however_alike(later: EmbeddedShop) -> None:
    looks = [[("find_products", {"query": "可乐", "limit": limit})] for limit in (1, 2, 3, 4)]
    loop, _ = loop_over(*looks, "done", tools=shop_tools(later))
    items = await collect(loop.run("go"))
    assert end_of(items).completed
    assert errors(items) == {}
