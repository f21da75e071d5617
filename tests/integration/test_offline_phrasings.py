"""Phrasings of the jobs as people type them, through the offline planner over the example shop: what is called,
exactly; nothing is written without a person, no figure is invented, and what is not understood is said."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent_core import events as ev
from agent_core.loop import AgentLoop
from agent_core.tools.tool import Tier, Tool
from erpilot.offline import OfflineModel
from erpilot.shop.embedded.shop import EmbeddedShop
from erpilot.toolsets.shop import shop_tools
from erpilot.toolsets.shop_files import with_files
from tests.support.figures import figures_from_nowhere
from tests.support.jobs import FOLDER, TODAY, Played, play

LOOK_UPS = {"find_products", "find_customers"}
NO_MODEL = ("不是语言模型", "no language model")


def groups() -> dict[str, list[tuple[str, str]]]:
    """The lines of the file, by the heading they stand under."""
    found: dict[str, list[tuple[str, str]]] = {}
    heading = ""
    for line in (FOLDER / "phrasings.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            heading = line[2:]
        elif " => " in line:
            text, _, expected = line.partition(" => ")
            found.setdefault(heading, []).append((text, expected))
    return found


GROUPS = groups()


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedShop]:
    shop = EmbeddedShop(tmp_path_factory.mktemp("phrasings") / "shop.db")
    yield shop
    shop.close()


@pytest.fixture(scope="module")
def tools(shop: EmbeddedShop, tmp_path_factory: pytest.TempPathFactory) -> list[Tool]:
    return with_files(shop_tools(shop), shop, Path(tmp_path_factory.mktemp("files")))


def wrong(played: Played, expected: str, tools: list[Tool]) -> str | None:
    """What the planner did otherwise than it should."""
    calls = [(name, arguments) for name, arguments in played.calls if name not in LOOK_UPS]
    without_help = not any(words in played.answer for words in NO_MODEL)
    if figures_from_nowhere(played.answer, [played.said, *played.texts]):
        return f"invented figures: {played.answer}"
    if any(asked.tool != "create_quotation" for asked in played.asked):
        return "asked for another write"
    tiers = {tool.name: tool.tier for tool in tools}
    if any(tiers[name] is not Tier.READ and name != "create_quotation" for name, _ in calls):
        return f"called a write: {calls}"
    if expected == "declined":
        return None if not played.calls and not without_help else f"not declined: {played.calls} {played.answer[:80]}"
    if expected == "asked":
        return None if not calls and without_help else f"not asked: {calls} {played.answer[:80]}"
    if expected == "unanswered":
        told = set(played.results) <= LOOK_UPS and not played.asked
        return None if told else f"answered: {calls} {played.answer[:80]}"
    return None if calls == calls_of(expected) else f"called {calls}"


def calls_of(expected: str) -> list[tuple[str, Any]]:
    """'tool {...}; tool {...}' as calls."""
    found, rest, decoder = [], expected, json.JSONDecoder()
    while rest:
        name, _, rest = rest.partition(" ")
        arguments, end = decoder.raw_decode(rest)
        found.append((name, arguments))
        rest = rest[end:].removeprefix("; ")
    return found


def test_there_are_many_and_of_every_kind() -> None:
    assert sum(map(len, GROUPS.values())) >= 150
    assert len(GROUPS) >= 8


@pytest.mark.parametrize("group", list(GROUPS))
async def test_each_phrasing_leads_to_the_right_calls(group: str, tools: list[Tool], record_property: Any) -> None:
    failures, right = [], 0
    for text, expected in GROUPS[group]:
        played = await play(OfflineModel(), tools, text, agree=False)
        if (what := wrong(played, expected, tools)) is not None:
            failures.append(f"{text}: {what}")
        right += what is None
    record_property("phrasings", f"{group}: {right} of {len(GROUPS[group])}")
    assert failures == []


async def talk(tools: list[Tool], *said: str) -> list[list[tuple[str, dict[str, Any]]]]:
    """The calls of each message of one conversation, look-ups left out."""
    loop, session, turns = AgentLoop(model=OfflineModel(), tools=tools), None, []
    for text in said:
        calls: list[tuple[str, dict[str, Any]]] = []
        async for item in loop.run(text, session, context=TODAY):
            session = item.session_id
            if isinstance(item.event, ev.AssistantMessage):
                calls += [(call.name, json.loads(call.arguments)) for call in item.event.tool_calls]
        turns.append([call for call in calls if call[0] not in LOOK_UPS])
    return turns


FOLLOWING = [
    (["今天卖了多少", "昨天呢"], ("sales_report", {"period": "2026-11-29..2026-11-29"})),
    (["sales this month", "what about last month?"], ("sales_report", {"period": "2026-10-01..2026-10-31"})),
    (["鑫源欠多少", "那城南呢"], ("list_receivables", {"customer": "C003"})),
    (["how much does Xinyuan owe", "and Chengnan?"], ("list_receivables", {"customer": "C003"})),
    (
        ["鑫源 9 月的对账单", "10 月呢"],
        ("customer_statement", {"customer": "C001", "date_from": "2026-10-01", "date_to": "2026-10-31"}),
    ),
    (["可乐还有多少", "雪碧呢"], ("check_stock", {"skus": ["BV-SPRI-500"]})),
    (
        ["可乐 20 箱多少钱", "再加十箱"],
        ("get_price", {"lines": [{"sku": "BV-COLA-500", "qty": "30", "unit": "箱"}]}),
    ),
    (["可乐 20 箱多少钱", "再加五瓶"], None),
    (["再加十箱"], None),
    (
        ["给鑫源报 200 个保温杯", "就按这个做个报价单"],
        (
            "create_quotation",
            {
                "customer": "C001",
                "lines": [{"sku": "HW-CUP-500", "qty": "200", "unit": "个"}],
                "discount_percent": "0",
            },
        ),
    ),
    (
        ["保温杯 200 个多少钱", "就按这个给鑫源出一张报价单，有效期 7 天"],
        (
            "create_quotation",
            {
                "customer": "C001",
                "lines": [{"sku": "HW-CUP-500", "qty": "200", "unit": "个"}],
                "discount_percent": "0",
                "valid_days": 7,
            },
        ),
    ),
    (
        ["price of 200 flasks", "Make that a quotation for Xinyuan, valid for 7 days"],
        (
            "create_quotation",
            {
                "customer": "C001",
                "lines": [{"sku": "HW-CUP-500", "qty": "200"}],
                "discount_percent": "0",
                "valid_days": 7,
            },
        ),
    ),
    (["天气怎么样", "就按这个做个报价单"], None),
    (["今天卖了多少", "可乐呢"], ("sales_report", {"period": "2026-11-30..2026-11-30", "product": "BV-COLA-500"})),
    (["今天卖了多少", "东门店呢"], ("sales_report", {"period": "2026-11-30..2026-11-30", "warehouse": "东门店"})),
    (["今天卖了多少", "比昨天呢"], None),
    (["今天卖了多少", "明天呢"], None),
    (["今天卖了多少", "为什么这么少"], None),
    (["可乐还有多少", "东门店呢"], ("check_stock", {"skus": ["BV-COLA-500"], "warehouse": "东门店"})),
    (
        ["how much cola do we have?", "and in the east shop?"],
        ("check_stock", {"skus": ["BV-COLA-500"], "warehouse": "east"}),
    ),
    (["鑫源 9 月的对账单", "他还欠多少"], ("list_receivables", {"customer": "C001"})),
    (["how much does Xinyuan owe", "what is their credit limit"], ("get_customer", {"customer": "C001"})),
    (["他们欠我们多少"], None),
    (["鑫源欠多少", "其中逾期的呢"], None),
    (["库存值多少钱", "上个月呢"], None),
]


@pytest.mark.parametrize(("said", "expected"), FOLLOWING, ids=[" / ".join(said) for said, _ in FOLLOWING])
async def test_a_follow_up_means_what_was_just_spoken_of(
    said: list[str], expected: tuple[str, dict[str, Any]] | None, tools: list[Tool]
) -> None:
    turns = await talk(tools, *said)
    assert turns[-1] == ([] if expected is None else [expected])


async def test_export_it_takes_the_last_table(tools: list[Tool]) -> None:
    for question, word in (("谁欠我们钱", "导出来"), ("Which products are running low?", "export it to csv")):
        turns = await talk(tools, question, word)
        ((name, arguments),) = turns[-1]
        assert name == "export_table"
        assert arguments["table"].startswith("tbl-")
        assert arguments["format"] == ("csv" if "csv" in word else "xlsx")
    assert await talk(tools, "导出来") == [[]], "there is none yet"


async def test_one_message_makes_at_most_one_quotation(tools: list[Tool]) -> None:
    played = await play(OfflineModel(), tools, "给鑫源做个报价单，保温杯 200 个", agree=False)
    assert [name for name, _ in played.calls].count("create_quotation") == 1
    assert "没有保存" in played.answer
