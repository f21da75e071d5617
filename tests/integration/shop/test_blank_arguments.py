"""The shop's tools through the loop, called as small models call them: with a blank for all that they do not want."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agent_core import events as ev
from agent_core.tools.tool import Tier, Tool
from erpilot.shop.embedded.shop import EmbeddedShop
from erpilot.toolsets.shop import shop_tools
from tests.support.loops import collect, end_of, loop_over, of_type, results

NEEDED: dict[str, dict[str, Any]] = {
    "check_stock": {"skus": ["BV-COLA-500"]},
    "customer_statement": {"customer": "C001", "date_from": "2026-01-01", "date_to": "2026-12-31"},
    "find_customers": {"query": "城南"},
    "get_customer": {"customer": "C001"},
    "get_order": {"number": "Q-979"},
    "get_price": {"lines": [{"sku": "BV-COLA-500", "qty": "3 箱"}]},
    "get_product": {"sku": "BV-COLA-500"},
    "get_quotation": {"number": "Q-979"},
    "preview_quote": {"lines": [{"sku": "BV-COLA-500", "qty": "3"}]},
    "sales_report": {"period": "last_month"},
    "stock_report": {"kind": "value"},
}
"""What each READ has to be given, if anything."""


def blanks(tool: Tool) -> dict[str, Any]:
    """A blank for each argument that may be left out, in lines too."""
    schema = tool.arguments.schema
    given: dict[str, Any] = json.loads(json.dumps(NEEDED.get(tool.name, {})))
    for name, said in schema["properties"].items():
        if name not in given:
            given[name] = [] if said.get("type") == "array" else ""
    for line in given.get("lines", ()):
        line.setdefault("unit", "")
    return given


async def test_every_read_answers_blanks_as_if_nothing_had_been_sent(shop: EmbeddedShop) -> None:
    tools = [tool for tool in shop_tools(shop) if tool.tier is Tier.READ]
    for tool in tools:
        needed = NEEDED.get(tool.name, {})
        assert set(needed) == set(tool.arguments.schema.get("required", ())), tool.name
        loop, _ = loop_over([(tool.name, needed)], [(tool.name, blanks(tool))], "done", tools=[tool])
        items = await collect(loop.run("go"))
        plain, blank = of_type(items, ev.ToolCallFinished)
        assert blank.digest == plain.digest, f"{tool.name}: {blank.content}"
        assert blank.ok == plain.ok
        assert end_of(items).completed


async def test_stock_is_told_to_a_call_as_a_small_model_wrote_it(shop: EmbeddedShop) -> None:
    asked = {"skus": ["可口可乐"], "quantities": [], "warehouse": "", "by_date": "", "unit": ""}
    loop, model = loop_over([("check_stock", asked)], "48", tools=shop_tools(shop))
    items = await collect(loop.run("可口可乐现在还有多少可用库存？"))
    assert of_type(items, ev.ToolCallFinished)[0].ok
    assert results(model)[0]["products"][0]["sku"] == "BV-COLA-500"


@pytest.mark.parametrize(
    ("name", "given", "blank"),
    [
        (
            "create_quotation",
            {"customer": "C001", "lines": [{"sku": "BV-COLA-500", "qty": 5}]},
            {"valid_days": "", "discount_percent": "0"},
        ),
        (
            "create_customer",
            {"name": "新店"},
            {"short_names": "", "terms_days": "none", "although_similar": "null", "price_list": "retail"},
        ),
    ],
)
async def test_a_write_is_shown_and_asked_about_without_the_blanks(
    fresh: EmbeddedShop, name: str, given: dict[str, Any], blank: dict[str, str]
) -> None:
    digests = []
    for arguments in (given, {**given, **blank}):
        loop, _ = loop_over([(name, arguments)], tools=shop_tools(fresh))
        items = await collect(loop.run("go"))
        (asked,) = of_type(items, ev.ApprovalRequested)
        digests.append(asked.digest)
        assert end_of(items).reason == "awaiting_approval"
    assert digests[0] == digests[1]
