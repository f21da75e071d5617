"""Tools that the model is not told of at once: found by a search, called by name, asked about like any other."""

from __future__ import annotations

import json
from typing import Any

from agent_core import events as ev
from agent_core.messages import ToolCall
from agent_core.redecide import read_log, redecide
from agent_core.tools.finding import finders, unwrapped
from agent_core.tools.tool import Tier, Tool, tool
from tests.support.loops import check_session, collect, end_of, errors, loop_over, of_type


@tool
async def find_products(query: str) -> str:
    """Find products."""
    return query


@tool
async def stock_value(warehouse: str = "all") -> dict[str, str]:
    """What the stock of a warehouse is worth."""
    return {"value": "12.50", "warehouse": warehouse}


def moving(moved: list[str]) -> Tool:
    @tool(tier=Tier.DANGEROUS)
    async def move_stock(sku: str) -> str:
        """Moves goods between warehouses."""
        moved.append(sku)
        return "moved"

    return move_stock


def call_of(name: str, arguments: Any) -> tuple[str, dict[str, Any]]:
    return "call_tool", {"name": name, "arguments": arguments}


async def test_a_tool_that_a_search_found_is_called_and_the_list_of_tools_stays_the_same() -> None:
    more = [stock_value, moving([])]
    turns = [
        [("find_tools", {"query": "库存值多少钱"})],
        [call_of("stock_value", {"warehouse": "east"})],
        [("stock_value", {"warehouse": "main"})],
        ["12.50"],
    ]
    words = {"stock_value": "库存金额 值多少钱"}
    loop, model = loop_over(*turns, tools=[find_products, *finders(more, words)], findable_tools=more)
    items = await collect(loop.run("worth?"))
    found, east, main = (done.content for done in of_type(items, ev.ToolCallFinished))
    told = json.loads(found)["tools"]
    assert [each["name"] for each in told] == ["stock_value"]
    assert told[0]["arguments"]["properties"] == {"warehouse": {"default": "all", "type": "string"}}
    assert (json.loads(east)["warehouse"], json.loads(main)["warehouse"]) == ("east", "main")
    names = [[schema.name for schema in request.tools] for request in model.requests]
    assert all(each == ["call_tool", "find_products", "find_tools", "read_output"] for each in names)
    called = [call for message in of_type(items, ev.AssistantMessage) for call in message.tool_calls]
    assert [(call.name, call.raw_name) for call in called[1:]] == [("stock_value", "call_tool"), ("stock_value", None)]
    await check_session(loop, items[0].session_id, model)
    assert redecide(*await read_log(loop.store, items[0].session_id)) == []


async def test_a_found_tool_is_asked_about_under_its_own_name_and_tier() -> None:
    moved: list[str] = []
    more = [moving(moved)]
    loop, model = loop_over([call_of("move_stock", {"sku": "A"})], ["done"], tools=finders(more), findable_tools=more)
    items = await collect(loop.run("move it"))
    (asked,) = of_type(items, ev.ApprovalRequested)
    assert (asked.tool, asked.tier, moved) == ("move_stock", "DANGEROUS", [])
    session = items[0].session_id
    await loop.decide(session, asked.call_id, approve=True)
    assert end_of(await collect(loop.resume(session))).completed
    assert moved == ["A"]
    assert redecide(*await read_log(loop.store, session)) == []
    await check_session(loop, session, model)


async def test_what_cannot_be_found_is_answered_with_what_there_is() -> None:
    more = [stock_value, moving([])]
    turns = [[("find_tools", {"query": "weather"})], [call_of("weather", {})], [("call_tool", {"name": 3})], ["no"]]
    loop, _ = loop_over(*turns, tools=finders(more), findable_tools=more)
    items = await collect(loop.run("rain?"))
    first, *_ = of_type(items, ev.ToolCallFinished)
    assert set(json.loads(first.content)["there_are"]) == {"stock_value", "move_stock"}
    assert list(errors(items).values()) == ["unknown_tool", "validation"]


def test_a_call_is_unwrapped_only_where_it_can_be_read_one_way() -> None:
    def of(arguments: str, name: str = "call_tool") -> ToolCall:
        return unwrapped(ToolCall("1", name, arguments))

    assert of('{"name": "a", "arguments": "{\\"x\\": 1}"}').arguments == '{"x":1}', "an object sent as text"
    assert of('{"name": "a"}').arguments == "{}"
    for written in ('{"name": "call_tool", "arguments": {}}', '{"arguments": {}}', "[1]", '{"name": "a", "x": 1}', "{"):
        assert of(written).name == "call_tool"
    assert of('{"name": "a", "arguments": {}}', name="other").name == "other"
