"""What each profile tells a model of, and what it finds by a search."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent_core.tools.registry import Registry
from agent_core.tools.tool import Tool
from erpilot.profiles import PROFILES, told_and_found
from erpilot.shop.embedded.shop import EmbeddedShop
from erpilot.toolsets import found_by
from erpilot.toolsets.shop_files import with_files

ALWAYS = {"recall", "find_tools", "call_tool"}


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Tool]]:
    home = tmp_path_factory.mktemp("profiles")
    shop = EmbeddedShop(home / "shop.db")
    yield with_files(PROFILES["shop"].tools(shop), shop, Path(home))
    shop.close()


@pytest.mark.parametrize(("name", "count"), [("sales", 14), ("warehouse", 10), ("money", 12), ("shop", 14)])
def test_a_desk_is_told_of_its_own_tools_and_finds_all_the_others(name: str, count: int, tools: list[Tool]) -> None:
    told, found = told_and_found(PROFILES[name], tools)
    names = {tool.name for tool in told}
    assert names - ALWAYS == set(PROFILES[name].offers) - ALWAYS, "every name is that of a tool"
    assert len(names - ALWAYS) == count
    assert names >= ALWAYS
    assert names.isdisjoint(tool.name for tool in found)
    assert {tool.name for tool in [*told, *found]} == {tool.name for tool in tools} | {"find_tools", "call_tool"}
    registry = Registry(told, findable=found)
    assert len(registry.schemas) == len(told)
    assert all(registry.get(tool.name) for tool in found)


def test_every_tool_can_be_found_by_words_of_the_trade(tools: list[Tool]) -> None:
    assert set(found_by()) == {tool.name for tool in tools} - {"recall"}


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("盘点后改库存", "adjust_stock"),
        ("record a payment from a customer", "record_payment"),
        ("退货", "return_order"),
        ("调拨", "transfer_stock"),
        ("move stock to another warehouse", "transfer_stock"),
        ("对账单", "customer_statement"),
        ("raise prices", "set_prices"),
        ("谁改了库存", "get_history"),
        ("import a spreadsheet", "read_import_file"),
        ("cancel the rest of an order", "cancel_order"),
        ("补货建议", "suggest_purchases"),
    ],
)
async def test_a_search_finds_the_tool_that_was_meant(query: str, name: str, tools: list[Tool]) -> None:
    told, _ = told_and_found(PROFILES["shop"], tools)
    search = next(tool for tool in told if tool.name == "find_tools")
    result = await search.handler(query=query)
    assert name in [each["name"] for each in result["tools"]], result
    assert len(json.dumps(result, ensure_ascii=False)) < search.max_output
