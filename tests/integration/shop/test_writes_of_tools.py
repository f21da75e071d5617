"""T4 and A4 of the fault catalogue for the shop's own tools over the embedded shop: whatever becomes of a reply, at
most one effect; whatever changed since a person looked, nothing runs that was not shown; "done" is said only of what is
done.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from decimal import Decimal
from typing import Any

import pytest

from agent_core import events as ev
from agent_core.errors import Refused
from agent_core.loop import AgentLoop
from agent_core.redecide import read_log, redecide
from erpilot.shop.backend import Write
from erpilot.shop.embedded.shop import EmbeddedShop
from erpilot.shop.errors import Unavailable, UnknownOutcome
from erpilot.shop.rights import Right
from erpilot.shop.verbs.control import HistoryFilter
from erpilot.toolsets.shop import shop_tools
from tests.support.loops import check_session, collect, end_of, loop_over, of_type

QUOTE = ("create_quotation", {"customer": "C001", "lines": [{"sku": "HW-CUP-500", "qty": "200"}]})
ADJUST = (
    "adjust_stock",
    {"sku": "BV-COLA-500", "warehouse": "EAST", "mode": "change", "qty": "-1", "unit": "箱", "reason": "破损"},
)
MOVE = ("transfer_stock", {"lines": [{"sku": "PA4-70", "qty": "10"}], "source": "MAIN", "target": "EAST"})
PAY = ("record_payment", {"customer": "C001", "amount": "500", "method": "微信"})
CANCEL = ("cancel_order", {"number": "SO-2026-0123", "reason": "客户不要了", "rest_only": True})
DRAFT = ("update_draft", {"number": "Q-1008", "lines": [{"sku": "HW-CUP-500", "qty": "150"}]})
PRICES = ("set_prices", {"category": "饮料", "percent": "5", "start": "2026-12-01"})
BUY = ("create_purchase_order", {"supplier": "S001", "lines": [{"sku": "BV-COLA-500", "qty": "100", "unit": "箱"}]})
ALL = [QUOTE, ADJUST, MOVE, PAY, CANCEL, DRAFT, PRICES, BUY]
VERB = {"create_purchase_order": "create_purchase"}


def broken(shop: EmbeddedShop, verb: str, times: int, *, before: bool, error: type[Exception]) -> list[str]:
    """Makes a verb fail ``times`` times, before or after its effect; returns the keys that it was called with."""
    right: Callable[..., Awaitable[Any]] = getattr(shop, verb)
    keys: list[str] = []

    async def failing(*arguments: Any, write: Write, **others: Any) -> Any:
        keys.append(write.key)
        fails = len(keys) <= times
        if fails and before:
            raise error("The line is down.")
        result = await right(*arguments, write=write, **others)
        if fails:
            raise error("The answer was lost.")
        return result

    setattr(shop, verb, failing)
    return keys


async def effects(shop: EmbeddedShop) -> int:
    """How many writes the shop's history holds."""
    return (await shop.history(HistoryFilter(), limit=1)).total_count


async def approved(loop: AgentLoop) -> list[ev.Recorded]:
    """A run in which a person agrees to everything."""
    items = await collect(loop.run("go", owner="owner"))
    session = items[0].session_id
    while end_of([items[-1]]).reason == "awaiting_approval":
        questions = [call for call in (await loop.state(session)).open_calls() if call.status == "asked"]
        if not questions:
            break
        for call in questions:
            await loop.decide(session, call.call.id, approve=True, by="boss")
        items += await collect(loop.resume(session))
    return items


def finished(items: list[ev.Recorded]) -> ev.ToolCallFinished:
    return of_type(items, ev.ToolCallFinished)[-1]


@pytest.mark.parametrize("call", ALL, ids=[name for name, _ in ALL])
async def test_t4_a_reply_that_is_lost_after_the_effect_is_found_and_not_made_again(
    fresh: EmbeddedShop, call: tuple[str, dict[str, Any]]
) -> None:
    keys = broken(fresh, VERB.get(call[0], call[0]), 1, before=False, error=Unavailable)
    before = await effects(fresh)
    loop, model = loop_over([call], ["done"], tools=shop_tools(fresh))
    items = await approved(loop)
    end = finished(items)
    assert (end.ok, end.error) == (True, None)
    assert json.loads(end.content)["repeated"] is True
    assert await effects(fresh) == before + 1
    assert len(set(keys)) == 1
    session = items[0].session_id
    assert keys[0].startswith(f"{session}."), "the key is the call's place in the log"
    await check_session(loop, session, model)
    assert redecide(*await read_log(loop.store, session)) == []


@pytest.mark.parametrize("call", ALL, ids=[name for name, _ in ALL])
async def test_t4_a_shop_that_cannot_be_reached_once_is_asked_again_with_the_same_key(
    fresh: EmbeddedShop, call: tuple[str, dict[str, Any]]
) -> None:
    keys = broken(fresh, VERB.get(call[0], call[0]), 1, before=True, error=Unavailable)
    before = await effects(fresh)
    loop, _ = loop_over([call], ["done"], tools=shop_tools(fresh))
    assert finished(await approved(loop)).ok
    assert (len(keys), len(set(keys))) == (2, 1)
    assert await effects(fresh) == before + 1


@pytest.mark.parametrize("before_effect", [True, False])
async def test_t4_an_outcome_that_is_not_known_is_asked_of_the_shop_and_never_called_done(
    fresh: EmbeddedShop, before_effect: bool
) -> None:
    keys = broken(fresh, "create_quotation", 1000, before=before_effect, error=UnknownOutcome)
    before = await effects(fresh)
    loop, _ = loop_over([QUOTE], ["done"], tools=shop_tools(fresh))
    items = await approved(loop)
    ends = of_type(items, ev.ToolCallFinished)
    assert ends[0].error is not None
    assert ends[0].error.type == "uncertain"
    resolved = of_type(items, ev.OutcomeResolved)
    assert len(set(keys)) == 1
    if before_effect:
        assert await effects(fresh) == before
        assert len(keys) < 30, "it is not sent without end"
        assert all(each.outcome != "happened" for each in resolved)
    else:
        assert await effects(fresh) == before + 1
        assert [(each.outcome, each.source) for each in resolved] == [("happened", "backend")]
        assert "Q-1021" in (resolved[0].content or "")


async def test_t4_a_key_that_stands_for_something_else_is_refused(fresh: EmbeddedShop) -> None:
    tools = {tool.name: tool for tool in shop_tools(fresh)}
    from tests.integration.shop.test_shop_tools import Caller

    write = Caller(fresh)
    assert tools["create_quotation"].idempotent
    await write("create_quotation", customer="C001", lines=QUOTE[1]["lines"])
    other = await write.refused("create_quotation", customer="C003", lines=QUOTE[1]["lines"])
    assert "nothing was changed" in other.message


async def _moved(shop: EmbeddedShop, call: tuple[str, dict[str, Any]]) -> None:
    """Somebody else changes what the call was shown to be based on."""
    other = {
        "adjust_stock": ADJUST,
        "transfer_stock": MOVE,
        "record_payment": ("record_payment", {**PAY[1], "amount": "400"}),
        "update_draft": ("update_draft", {"number": "Q-1008", "note": "换包装"}),
        "cancel_order": (
            "deliver_order",
            {"number": "SO-2026-0123", "lines": [{"sku": "HW-CUP-500", "qty": "10"}]},
        ),
    }[call[0]]
    loop, _ = loop_over([other], ["done"], tools=shop_tools(shop))
    assert finished(await approved(loop)).ok


CHANGING = [ADJUST, MOVE, PAY, DRAFT, CANCEL]


@pytest.mark.parametrize("call", CHANGING, ids=[name for name, _ in CHANGING])
async def test_a4_what_changed_after_it_was_shown_is_shown_again_and_not_run(
    fresh: EmbeddedShop, call: tuple[str, dict[str, Any]]
) -> None:
    loop, _ = loop_over([call], ["done"], tools=shop_tools(fresh))
    items = await collect(loop.run("go", owner="owner"))
    session, (asked,) = items[0].session_id, of_type(items, ev.ApprovalRequested)
    await _moved(fresh, call)
    before = await effects(fresh)
    await loop.decide(session, asked.call_id, approve=True, by="boss")
    items = await collect(loop.resume(session))
    (again,) = of_type(items, ev.ApprovalRequested)
    assert (again.why, again.digest) == ("changed", asked.digest)
    assert again.versions != asked.versions, "a fresh preview"
    assert await effects(fresh) == before, "nothing ran"
    assert end_of(items).reason == "awaiting_approval"
    await loop.decide(session, again.call_id, approve=True, by="boss")
    assert end_of(await collect(loop.resume(session))).completed
    assert await effects(fresh) == before + 1
    assert redecide(*await read_log(loop.store, session)) == []


async def test_a4_an_answer_after_the_deadline_or_a_rollback_or_in_a_fork_runs_nothing(fresh: EmbeddedShop) -> None:
    now = [1_000_000.0]
    loop, _ = loop_over(
        [QUOTE],
        ["too late"],
        [QUOTE],
        [QUOTE],
        ["x"],
        tools=shop_tools(fresh),
        clock=lambda: now[0],
        approval_seconds=60,
    )
    before = await effects(fresh)
    items = await collect(loop.run("go", owner="owner"))
    session, (asked,) = items[0].session_id, of_type(items, ev.ApprovalRequested)
    now[0] += 61
    with pytest.raises(Refused):
        await loop.decide(session, asked.call_id, approve=True, by="boss")
    items = await collect(loop.resume(session))
    assert finished(items).error is not None
    assert finished(items).error.type == "expired"  # type: ignore[union-attr]
    items = await collect(loop.run("go", session, owner="owner"))
    (asked,) = of_type(items, ev.ApprovalRequested)
    child = await loop.fork(session, [item.seq for item in items if item.seq][-1])
    with pytest.raises(Refused):
        await loop.decide(child, asked.call_id, approve=True, by="boss")
    await loop.rollback(session, 3)
    with pytest.raises(Refused):
        await loop.decide(session, asked.call_id, approve=True, by="boss")
    assert await effects(fresh) == before


async def test_a_write_without_the_right_is_refused_by_name_before_anybody_is_asked(fresh: EmbeddedShop) -> None:
    clerk = fresh.acting_as("mei", ("clerk",))
    needed: dict[str, Right] = {"adjust_stock": "stock", "set_prices": "prices", "record_payment": "money"}
    for call in (ADJUST, PRICES, PAY):
        loop, _ = loop_over([call], ["done"], tools=shop_tools(clerk))
        before = await effects(fresh)
        end = finished(await approved(loop))
        assert end.error is not None
        assert (end.error.type, needed[call[0]] in end.error.message) == ("denied", True), end.error
        assert await effects(fresh) == before


async def test_what_a_write_did_is_taken_back_by_the_call_that_it_names(fresh: EmbeddedShop) -> None:
    for call in (QUOTE, ADJUST, MOVE, PRICES):
        tools = shop_tools(fresh)
        loop, _ = loop_over([call], ["done"], tools=tools)
        items = await approved(loop)
        end = finished(items)
        inverse = next(tool for tool in tools if tool.name == call[0]).inverse
        assert inverse is not None
        undo = inverse(call[1], end.content)
        assert undo is not None, call[0]
        assert undo.tool == "undo_change"
        loop, _ = loop_over([(undo.tool, undo.arguments)], ["done"], tools=tools)
        assert finished(await approved(loop)).ok, call[0]
    level = (await fresh.get_stock(["BV-COLA-500"], warehouse="EAST"))["BV-COLA-500"][0]
    assert level.on_hand == Decimal(48), "as before"


async def test_past_a_limit_a_write_is_asked_every_time_and_needs_the_right(fresh: EmbeddedShop) -> None:
    cheap = ("create_quotation", {**QUOTE[1], "discount_percent": "60"})
    loop, _ = loop_over([cheap], ["done"], tools=shop_tools(fresh), auto_approve=("WRITE",))
    items = await collect(loop.run("go", owner="owner"))
    (asked,) = of_type(items, ev.ApprovalRequested)
    assert (asked.tier, asked.offer) == ("DANGEROUS", None)
    assert {notice.code for notice in asked.preview.notices} >= {"concern_discount"}
    clerk = fresh.acting_as("mei", ("clerk",))
    loop, _ = loop_over([cheap], ["done"], tools=shop_tools(clerk))
    end = finished(await approved(loop))
    assert end.error is not None
    assert "discount_over" in end.error.message
