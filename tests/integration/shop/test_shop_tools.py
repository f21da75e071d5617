"""The shop's tools as a model sees them: schemas, answers as JSON, refusals with hints, and the one write."""

from __future__ import annotations

import asyncio
import json
import re
import sqlite3
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from agent_core.errors import ToolError
from agent_core.tools.schema import InvalidArguments
from agent_core.tools.tool import Tier, Tool, ToolContext
from erpilot.shop.embedded.shop import EmbeddedShop
from erpilot.toolsets import words
from erpilot.toolsets.shop import shop_tools

LINES = [{"sku": "HW-CUP-500", "qty": 200}]


class Caller:
    """Calls tools by name with plain JSON, as the runtime would."""

    def __init__(self, shop: EmbeddedShop) -> None:
        self.shop = shop
        self.tools = {each.name: each for each in shop_tools(shop)}

    async def __call__(self, name: str, key: str = "key-1", **arguments: Any) -> dict[str, Any]:
        tool = self.tools[name]
        values = tool.arguments.validate(json.loads(json.dumps(arguments)))
        if tool.context_parameter:
            values[tool.context_parameter] = ToolContext("session", "call", key, user="owner")
        answer = await tool.handler(**values)
        text = answer.model_dump_json()
        assert len(text) <= tool.max_output
        result: dict[str, Any] = json.loads(text)
        return result

    async def refused(self, name: str, **arguments: Any) -> ToolError:
        with pytest.raises(ToolError) as refusal:
            await self(name, **arguments)
        assert "\n" not in refusal.value.message
        return refusal.value


@pytest.fixture
def call(shop: EmbeddedShop) -> Caller:
    return Caller(shop)


@pytest.fixture
def write(fresh: EmbeddedShop) -> Caller:
    return Caller(fresh)


def _tools(shop: EmbeddedShop) -> list[Tool]:
    return shop_tools(shop)


def test_schemas_are_small_and_have_few_arguments(shop: EmbeddedShop) -> None:
    for tool in _tools(shop):
        schema = tool.arguments.schema
        assert len(schema["properties"]) <= 10
        text = json.dumps(schema, ensure_ascii=False)
        assert len(text) + len(tool.description) < (1300 if tool.tier is Tier.READ else 1600)
        assert "anyOf" not in text
        assert "$ref" not in text


def test_what_changes_something_waits_for_a_person_and_what_is_dangerous_every_time(shop: EmbeddedShop) -> None:
    tiers = {tool.name: tool.tier for tool in _tools(shop)}
    assert {name for name, tier in tiers.items() if tier is Tier.WRITE} == {
        "create_quotation",
        "confirm_quotation",
        "create_order",
        "update_draft",
        "deliver_order",
        "transfer_stock",
        "create_purchase_order",
        "create_customer",
    }
    dangerous = {
        "cancel_order",
        "return_order",
        "refund",
        "record_payment",
        "adjust_stock",
        "set_prices",
        "undo_change",
    }
    assert {name for name, tier in tiers.items() if tier is Tier.DANGEROUS} >= dangerous
    for tool in _tools(shop):
        declared = (tool.preview, tool.target, tool.versions, tool.reconcile, tool.inverse, tool.writes)
        assert tool.backend == "shop"
        if tool.tier is Tier.READ:
            assert tool.reads is not None
            assert tool.untrusted
        else:
            assert None not in declared, tool.name
            assert tool.idempotent


async def test_every_answer_says_when_it_was_read_and_has_no_floating_point_money(call: Caller) -> None:
    answers = [
        await call("find_products", query="A4 纸"),
        await call("check_stock", skus=["PA4-70"]),
        await call("get_price", lines=LINES),
        await call("find_customers", query="鑫源"),
        await call("find_orders"),
        await call("get_order", number="123"),
        await call("preview_quote", lines=LINES),
    ]
    for answer in answers:
        assert re.fullmatch(r"2026-11-30T\d\d:\d\d\+08:00", answer["as_of"])
        assert not [value for value in _floats(answer) if value[0] != "score"]


def _floats(value: Any, key: str = "") -> list[tuple[str, float]]:
    if isinstance(value, float):
        return [(key, value)]
    if isinstance(value, dict):
        return [each for name, item in value.items() for each in _floats(item, name)]
    return [each for item in value for each in _floats(item, key)] if isinstance(value, list) else []


async def test_the_four_words_for_stock_add_up_in_all_and_by_warehouse(call: Caller) -> None:
    answer = await call("check_stock", skus=["BV-COLA-500", "PA4-70", "HW-CUP-500"])
    for product in answer["products"]:
        for place in (product, *product["warehouses"]):
            assert Decimal(place["available"]) == Decimal(place["on_hand"]) - Decimal(place["reserved"])
        for word in ("on_hand", "reserved", "available", "incoming"):
            assert Decimal(product[word]) == sum(Decimal(place[word]) for place in product["warehouses"])


async def test_a_shortage_is_named_with_the_day_it_ends(call: Caller) -> None:
    answer = await call(
        "check_stock", skus=["BV-COLA-500", "PA4-70"], quantities=["30 cases", 15], by_date="2026-12-03"
    )
    cola, paper = answer["products"]
    assert (cola["wanted"], cola["available"], cola["shortage"]) == ("720", "48", "672")
    assert (cola["enough"], cola["complete_on"], cola["enough_by_date"]) == (False, "2026-12-04", False)
    assert cola["in_unit"] == {"unit": "箱", "factor": "24", "available": "2", "rest": "0"}
    assert (paper["enough"], paper["shortage"], paper["complete_on"]) == (True, "0", "2026-11-30")


async def test_of_several_products_the_known_ones_are_answered_and_the_others_named(call: Caller) -> None:
    answer = await call("check_stock", skus=["保温杯", "卫衣"])
    assert [each["sku"] for each in answer["products"]] == ["HW-CUP-500"]
    (missing,) = answer["not_found"]
    assert missing["asked"] == "卫衣"
    assert len(missing["nearest"]) == 5


async def test_a_price_is_for_exactly_that_quantity_unit_and_customer(call: Caller) -> None:
    answer = await call("get_price", customer="鑫源", lines=[{"sku": "HW-CUP-500", "qty": 200}])
    (line,) = answer["lines"]
    assert (line["unit_price"], line["list_price"], line["amount"]) == ("43.12", "49.00", "8624.00")
    assert line["next_tier"] == {"from_qty": "240", "unit": "个", "unit_price": "41.16"}
    assert (answer["customer"]["id"], answer["price_list"], answer["tax_included"]) == ("C001", "批发价", True)
    assert Decimal(answer["subtotal"]) + Decimal(answer["tax"]) == Decimal(answer["total"])


@pytest.mark.parametrize("qty", [3, "3", "3 箱", "3箱", "３ 箱", "3 cases"])
async def test_quantities_are_understood_as_number_or_text(call: Caller, qty: Any) -> None:
    line: dict[str, Any] = {"sku": "FD-SOY-500", "qty": qty}
    if qty in (3, "3"):
        line["unit"] = "箱"
    answer = await call("get_price", lines=[line])
    assert (answer["lines"][0]["base_qty"], answer["lines"][0]["base_unit"]) == ("36", "瓶")


@pytest.mark.parametrize("qty", ["0", "-5", "1e9", "999999999", "0.5", "很多", "3 桶", "NaN", ""])
async def test_a_quantity_that_cannot_be_is_refused(call: Caller, qty: str) -> None:
    refusal = await call.refused("get_price", lines=[{"sku": "FD-SOY-500", "qty": qty}])
    assert refusal.type == "validation"


async def test_an_unknown_unit_is_refused_with_those_of_the_product(call: Caller) -> None:
    refusal = await call.refused("preview_quote", lines=[{"sku": "FD-SOY-500", "qty": 3, "unit": "桶"}])
    assert refusal.hint is not None
    assert "瓶, 箱 (= 12 瓶), 托 (= 720 瓶)" in refusal.hint


async def test_everything_wrong_with_a_list_is_said_at_once(call: Caller) -> None:
    lines = [{"sku": "卫衣", "qty": 80}, {"sku": "PA4-70", "qty": 0}, {"sku": "PA4-70", "qty": 1}]
    refusal = await call.refused("preview_quote", lines=lines)
    assert "Line 1" in refusal.message
    assert "Line 2" in refusal.message
    assert "Line 3" not in refusal.message
    assert "CL-HOOD-BM" in (refusal.hint or "")


async def test_what_does_not_exist_is_refused_with_the_nearest(call: Caller) -> None:
    assert "SO-2026-0165" in ((await call.refused("get_order", number="SO-2026-9999")).hint or "")
    assert "C001 鑫源商行" in ((await call.refused("get_price", customer="鑫", lines=LINES)).hint or "")
    assert "HW-CUP-500" in ((await call.refused("check_stock", skus=["保温壶杯子"])).hint or "")
    refusal = await call.refused("find_orders", customer="不存在的公司名")
    assert refusal.type == "validation"
    assert not refusal.retry


async def test_the_whole_demonstration_can_be_answered(call: Caller) -> None:
    order = await call("get_order", number="订单 123")
    skus = [line["sku"] for line in order["lines"]]
    wanted = [f"{line['ordered']} {line['unit']}" for line in order["lines"]]
    stock, price = await asyncio.gather(
        call("check_stock", skus=skus, quantities=wanted),
        call(
            "get_price",
            customer=order["party_id"],
            lines=[{"sku": s, "qty": q} for s, q in zip(skus, wanted, strict=True)],
        ),
    )
    assert [each["sku"] for each in stock["products"] if not each["enough"]] == ["BV-COLA-500"]
    assert sum(Decimal(line["amount"]) for line in price["lines"]) == Decimal(price["total"])
    assert Decimal(order["paid"]) + Decimal(order["unpaid"]) == Decimal(order["total"])


async def test_lists_tell_totals_of_everything_and_where_to_go_on(call: Caller) -> None:
    first = await call("find_orders", kind="sale", customer="鑫源", limit=2)
    assert first["next"] == 2
    seen, offset = list(first["orders"]), 2
    while offset:
        page = await call("find_orders", kind="sale", customer="鑫源", limit=20, offset=offset)
        assert page["total"] == first["total"]
        seen += page["orders"]
        offset = page.get("next", 0)
    assert len(seen) == first["total_count"]
    assert sum(Decimal(each["total"]) for each in seen) == Decimal(first["total"]["CNY"])


async def test_purchases_are_found_by_supplier_with_or_without_the_kind(call: Caller) -> None:
    named = await call("find_orders", customer="宏达", kind="purchase")
    assert named["total_count"] == (await call("find_orders", customer="宏达"))["total_count"] > 2
    assert {each["kind"] for each in named["orders"]} == {"purchase"}


async def test_lines_of_one_product_share_its_stock(call: Caller) -> None:
    lines = [{"sku": "BV-COLA-500", "qty": "2 箱"}, {"sku": "BV-COLA-500", "qty": "1 箱"}]
    answer = await call("preview_quote", lines=lines)
    assert [line["shortage"] for line in answer["lines"]] == ["0", "24"]
    assert answer["shortages"] == ["BV-COLA-500"]


async def test_less_than_the_minimum_is_flagged(call: Caller) -> None:
    answer = await call("preview_quote", lines=[{"sku": "BV-COLA-500", "qty": 5}])
    assert answer["below_minimum"] == ["BV-COLA-500"]
    assert answer["lines"][0]["min_qty"] == "24"


async def test_a_preview_saves_nothing(write: Caller) -> None:
    path = write.shop._database.path
    before = _documents(path)
    await write("preview_quote", lines=LINES, customer="C001", discount_percent=5)
    await _shown(write, customer="C001", lines=LINES)
    assert _documents(path) == before


def _documents(path: Path) -> int:
    connection = sqlite3.connect(path)
    (number,) = connection.execute("SELECT count(*) FROM document").fetchone()
    connection.close()
    return int(number)


async def _shown(caller: Caller, **arguments: Any) -> Any:
    tool = caller.tools["create_quotation"]
    assert tool.preview is not None
    values = tool.arguments.validate(arguments)
    return await tool.preview(**values, ctx=ToolContext("session", "call", ""))


async def test_before_it_is_made_a_quotation_is_shown_whole(call: Caller) -> None:
    lines = [*LINES, {"sku": "BV-COLA-500", "qty": "30 箱"}]
    shown = await _shown(call, customer="C001", lines=lines, discount_percent=5, valid_days=7)
    said = {change.field: change.after for change in shown.changes}
    assert "鑫源商行" in said["customer"]
    assert "200 个 x 43.12 = 8192.80 CNY" in said["line 1"]
    assert (said["discount_percent"], said["valid_until"]) == ("5", "2026-12-07")
    assert said["total"] == "9916.48 CNY"
    assert any("672 瓶" in str(each.values) for each in shown.notices)
    assert all(
        "672 瓶" in words.notice(each.code, each.values, lang) for each in shown.notices for lang in ("en", "zh")
    )
    fields = {change.field.partition(" ")[0] for change in shown.changes}
    assert fields <= words.FIELDS.keys()
    assert shown.title in words.TITLES
    assert call.tools["create_quotation"].target is not None
    assert call.tools["create_quotation"].target(customer="c001", lines=lines) == "C001"


async def test_a_quotation_is_made_once_per_key(write: Caller) -> None:
    first = await write("create_quotation", customer="C001", lines=LINES, discount_percent=5)
    again = await write("create_quotation", customer="C001", lines=LINES, discount_percent=5)
    assert (first["number"], first["repeated"], first["state"]) == ("Q-1021", False, "quoted")
    assert (again["number"], again["repeated"]) == ("Q-1021", True)
    other = await write("create_quotation", key="key-2", customer="C001", lines=LINES, discount_percent=5)
    assert other["number"] == "Q-1022"
    made = await write.shop.find_by_key("key-1")
    assert made is not None
    assert made.number == "Q-1021"
    assert await write.shop.find_by_key("key-3") is None


async def test_what_is_made_is_what_was_shown(write: Caller) -> None:
    lines = [*LINES, {"sku": "FD-SOY-500", "qty": "3 箱"}]
    shown = await write("preview_quote", customer="C001", lines=lines, discount_percent="2.5", valid_days=14)
    made = await write(
        "create_quotation", customer="C001", lines=lines, discount_percent="2.5", valid_days=14, note=" 含运费 "
    )
    for field in ("subtotal", "tax", "total", "valid_until", "currency", "tax_included"):
        assert made[field] == shown[field]
    stored = await write("get_order", number=made["number"])
    assert (stored["kind"], stored["note"], stored["total"]) == ("quotation", "含运费", made["total"])
    assert [line["amount"] for line in stored["lines"]] == [line["amount"] for line in shown["lines"]]


async def test_calls_with_one_key_at_once_make_one_document(write: Caller) -> None:
    made = await asyncio.gather(*(write("create_quotation", customer="C001", lines=LINES) for _ in range(8)))
    assert {each["number"] for each in made} == {"Q-1021"}
    assert sum(not each["repeated"] for each in made) == 1


async def test_calls_with_different_keys_at_once_get_different_numbers(write: Caller) -> None:
    made = await asyncio.gather(
        *(write("create_quotation", key=f"k{at}", customer="C001", lines=LINES) for at in range(8))
    )
    assert len({each["number"] for each in made}) == 8


async def test_a_repeat_on_another_day_is_still_the_same_quotation(write: Caller) -> None:
    first = await write("create_quotation", customer="C001", lines=LINES)
    path = write.shop._database.path
    later = EmbeddedShop(path, today=date(2026, 12, 5))
    try:
        again = await Caller(later)("create_quotation", customer="C001", lines=LINES)
    finally:
        later.close()
    assert (again["number"], again["repeated"], again["valid_until"]) == (first["number"], True, first["valid_until"])


async def test_a_key_is_not_used_for_something_else(write: Caller) -> None:
    await write("create_quotation", customer="C001", lines=LINES)
    refusal = await write.refused("create_quotation", customer="C003", lines=LINES)
    assert "nothing was changed" in refusal.message


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"customer": "鑫", "lines": LINES}, "can mean 2 customers"),
        ({"customer": "鑫源商行", "lines": LINES}, "not the id of a customer"),
        ({"customer": "", "lines": LINES}, "needs a customer"),
        ({"customer": "C001", "lines": [{"sku": "保温杯", "qty": 1}]}, "no SKU"),
        ({"customer": "C001", "lines": LINES, "discount_percent": "-5"}, "cannot be meant"),
        ({"customer": "C001", "lines": LINES, "discount_percent": "九五折"}, "not a number"),
        ({"customer": "C001", "lines": LINES, "valid_days": 0}, "0 days"),
        ({"customer": "C001", "lines": [{"sku": "EL-FAN-OLD", "qty": 1}]}, "discontinued"),
    ],
)
async def test_a_write_never_guesses_and_keeps_to_the_rules(
    write: Caller, arguments: dict[str, Any], said: str
) -> None:
    before = _documents(write.shop._database.path)
    with pytest.raises(ToolError, match=re.escape(said)):
        await _shown(write, **arguments)
    assert said in (await write.refused("create_quotation", **arguments)).message
    assert _documents(write.shop._database.path) == before


async def test_a_call_that_is_cancelled_has_made_its_quotation_or_not_and_can_be_repeated(write: Caller) -> None:
    before = _documents(write.shop._database.path)
    running = asyncio.create_task(write("create_quotation", customer="C001", lines=LINES))
    await asyncio.sleep(0.003)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    made = await write.shop.find_by_key("key-1")
    again = await write("create_quotation", customer="C001", lines=LINES)
    assert again["repeated"] is (made is not None)
    assert _documents(write.shop._database.path) == before + 1


async def test_a_shop_that_another_program_holds_is_said_to_be_busy_and_nothing_was_changed(
    write: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("erpilot.shop.embedded.database.BUSY_SECONDS", 0.05)
    other = sqlite3.connect(write.shop._database.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    refusal = await write.refused("create_quotation", customer="C001", lines=LINES)
    assert (refusal.type, refusal.retry) == ("execution", True)
    assert "nothing was changed" in refusal.message
    assert (await write("get_order", number="123"))["number"] == "SO-2026-0123"
    other.execute("ROLLBACK")
    other.close()
    assert not (await write("create_quotation", customer="C001", lines=LINES))["repeated"]


async def test_after_a_crash_the_shop_tells_what_became_of_a_call(write: Caller) -> None:
    tool = write.tools["create_quotation"]
    assert tool.reconcile is not None
    values = tool.arguments.validate({"customer": "C001", "lines": LINES})
    context = ToolContext("session", "call", "key-1")
    assert (await tool.reconcile(**tool.bind(values, context))).outcome == "did_not_happen"
    made = await write("create_quotation", customer="C001", lines=LINES)
    found = await tool.reconcile(**tool.bind(values, context))
    assert (found.outcome, found.content.number, found.content.repeated) == ("happened", made["number"], True)


async def test_a_price_that_moves_after_the_question_is_noticed_before_it_is_made(write: Caller) -> None:
    tool = write.tools["create_quotation"]
    assert tool.versions is not None
    values = tool.bind(tool.arguments.validate({"customer": "C001", "lines": LINES}), ToolContext("s", "c", ""))
    shown = await tool.versions(**values)
    assert await tool.versions(**values) == shown
    connection = sqlite3.connect(write.shop._database.path)
    connection.execute("UPDATE price SET price = '40.00' WHERE list = 'wholesale' AND from_qty = 1000")
    connection.commit()
    connection.close()
    assert await tool.versions(**values) != shown


async def test_a_grant_can_limit_total_and_discount(call: Caller) -> None:
    shown = await _shown(call, customer="C001", lines=LINES, discount_percent=5)
    assert shown.measures == {"total CNY": Decimal("8192.80"), "discount_percent": Decimal(5)}


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("find_products", {"query": "水" * 10_000}),
        ("get_order", {"number": "1" * 5_000}),
        ("check_stock", {"skus": ["PA4-70"] * 31}),
        ("check_stock", {"skus": []}),
        ("get_price", {"lines": [{"sku": "PA4-70", "qty": "9" * 500}]}),
        ("find_orders", {"limit": 10**9}),
        ("find_orders", {"date_from": "31.12.2026"}),
        ("find_orders", {"state": ["lost"]}),
        ("create_quotation", {"customer": "C001", "lines": LINES, "note": "x" * 501}),
    ],
)
def test_arguments_out_of_all_proportion_never_reach_the_shop(
    call: Caller, name: str, arguments: dict[str, Any]
) -> None:
    with pytest.raises(InvalidArguments):
        call.tools[name].arguments.validate(arguments)


async def test_a_product_is_told_with_its_units_and_a_quotation_with_what_became_of_it(call: Caller) -> None:
    product = await call("get_product", sku="可乐")
    assert product["units"][0] == {"unit": "瓶", "factor": "1", "barcode": "6901234567892", "whole": True}
    assert {unit["unit"]: unit["factor"] for unit in product["units"]}["箱"] == "24"
    assert product["base_unit"] == "瓶"
    assert (await call.refused("get_product", sku="没有的东西")).type == "validation"
    quotation = await call("get_quotation", number="1008")
    assert (quotation["number"], quotation["kind"]) == ("Q-1008", "quotation")


async def test_what_is_owed_says_whether_it_can_go_and_what_it_waits_for(call: Caller) -> None:
    page = await call("find_orders", kind="sale", promised_before="2026-12-31", limit=20)
    assert page["total_count"] >= len(page["orders"]) > 3
    for row in page["orders"]:
        order = await call("get_order", number=row["number"])
        waiting = {line["sku"] for line in order["lines"] if Decimal(line["open"]) > Decimal(line["reserved"])}
        assert {each["sku"] for each in row["blocked_by"]} == waiting
        assert row["ready"] is (not waiting)
        assert any(Decimal(line["open"]) > 0 for line in order["lines"])
    late = await call("find_orders", kind="sale", promised_before="2026-11-29", limit=20)
    for row in late["orders"]:
        assert row["days_late"] == (date(2026, 11, 30) - date.fromisoformat(row["promised"])).days
