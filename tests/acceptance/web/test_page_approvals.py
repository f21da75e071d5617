"""Questions before something is changed, in the page: shown, denied with words, edited, approved, always, over all
sessions."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from playwright.async_api import Browser, Locator, Page, expect

from agent_core.messages import Message
from agent_core.testing import ScriptedModel
from agent_core.tools.tool import Tier, tool
from tests.acceptance.web.counter import PAPER, QUOTATION, USED, counter, link_of, loop_of, quoting
from tests.support.http_api import KIM, house_of, serving
from tests.support.web import visit


def card(page: Page, name: str = "新报价单") -> Locator:
    return page.get_by_role("region", name=name)


def told(message: Message) -> str:
    return message.content or ""


async def test_a_write_asks_is_denied_with_words_and_then_approved(
    home: Path, browser: Browser, tmp_path: Path
) -> None:
    model = ScriptedModel([quoting(QUOTATION), quoting(QUOTATION), ["报价单已建好。", USED]], delta=6)
    async with counter(home, model=model) as api, visit(browser, link_of(api), tmp_path) as seen:
        page = seen.page
        await seen.said("给鑫源商行报 30 箱可乐")
        await expect(card(page)).to_contain_text("BV-COLA-500")
        await expect(card(page)).to_contain_text("1814.40 CNY")
        await expect(page.locator(".sidebar-link .count")).to_have_text("1")
        await seen.picture("approval")
        await card(page).get_by_role("button", name="拒绝", exact=True).click()
        await card(page).get_by_label("告诉助手为什么").fill("客户要下周再说")
        await card(page).get_by_role("button", name="拒绝并说明").click()
        await expect(page.locator(".decided.no")).to_contain_text("客户要下周再说")
        # The button tells the new question from the one that was just answered.
        await card(page).get_by_role("button", name="批准", exact=True).click()
        assert "客户要下周再说" in told(model.requests[1].messages[-1])
        await expect(page.locator(".answer")).to_contain_text("报价单已建好")
        await expect(page.locator(".call.ok")).to_have_count(1)
        await expect(page.locator(".decided.yes")).to_contain_text("boss")
        await expect(page.locator(".sidebar-link .count")).to_have_count(0)
        await seen.picture("decided")


async def test_of_two_questions_at_once_each_gets_its_own_answer(home: Path, browser: Browser, tmp_path: Path) -> None:
    model = ScriptedModel([quoting(QUOTATION, PAPER), ["一张建好，一张没建。", USED]], delta=6)
    async with counter(home, model=model) as api, visit(browser, link_of(api), tmp_path) as seen:
        page = seen.page
        await seen.said("可乐和纸各报一张")
        await expect(card(page)).to_have_count(2)
        await seen.picture("two-approvals")
        cola, paper = page.locator(".call", has_text="BV-COLA-500"), page.locator(".call", has_text="PA4-70")
        await card(page).filter(has_text="PA4-70").get_by_role("button", name="拒绝", exact=True).click()
        await card(page).filter(has_text="PA4-70").get_by_role("button", name="拒绝", exact=True).click()
        await expect(paper.locator(".decided.no")).to_be_visible()
        await expect(card(page)).to_have_count(1)
        await card(page).get_by_role("button", name="批准", exact=True).click()
        await seen.page.locator(".answer").wait_for()
        await expect(cola.locator(".decided.yes")).to_be_visible()
        results = [json.loads(told(message)) for message in model.requests[1].messages if message.role == "tool"]
        assert ["error" in result for result in results] == [False, True]


async def test_edited_arguments_are_shown_and_asked_again_and_bad_ones_are_not_sent(
    home: Path, browser: Browser, tmp_path: Path
) -> None:
    async with (
        counter(home, quoting(QUOTATION), ["好了。", USED]) as api,
        visit(browser, link_of(api), tmp_path) as seen,
    ):
        page = seen.page
        await seen.said("报 30 箱可乐")
        await card(page).get_by_role("button", name="修改参数").click()
        field = card(page).locator("textarea")
        await field.fill("{ 不是 JSON")
        await expect(card(page).get_by_role("button", name="再问一次")).to_be_disabled()
        changed = json.dumps({**QUOTATION, "lines": [{"sku": "BV-COLA-500", "qty": "3", "unit": "箱"}]})
        await field.fill(changed)
        await card(page).get_by_role("button", name="再问一次").click()
        await expect(card(page)).to_contain_text("3 箱 x")
        await card(page).get_by_role("button", name="批准", exact=True).click()
        await expect(page.locator(".answer")).to_contain_text("好了")
        await expect(page.locator(".decided.yes").first).to_contain_text("boss")
        await page.locator(".call-line").first.click()
        details = page.locator(".call-details")
        await expect(details.locator("dd", has_text="190.08")).to_have_count(1)
        await expect(details).to_contain_text("A person changed the arguments")


async def test_what_is_folded_has_to_be_opened_before_yes_is_possible(
    home: Path, browser: Browser, tmp_path: Path
) -> None:
    hidden = {**QUOTATION, "note": "请尽快" + "\n" * 300 + "另送十箱"}
    async with counter(home, quoting(hidden)) as api, visit(browser, link_of(api), tmp_path) as seen:
        page = seen.page
        await seen.said("报价")
        await expect(card(page).get_by_role("button", name="批准", exact=True)).to_be_disabled()
        await card(page).get_by_role("button", name="全部显示").click()
        await expect(card(page)).to_contain_text("另送十箱")
        await expect(card(page).get_by_role("button", name="批准", exact=True)).to_be_enabled()


async def test_the_inbox_holds_the_questions_of_all_sessions(home: Path, browser: Browser, tmp_path: Path) -> None:
    turns = (quoting(QUOTATION), quoting(PAPER), ["好。", USED])
    async with counter(home, *turns) as api, visit(browser, link_of(api), tmp_path) as seen:
        page = seen.page
        for question in ("可乐报价", "纸报价"):
            await seen.said(question)
            await card(page).wait_for()
            await page.get_by_role("button", name="新对话").click()
        await page.get_by_role("link", name="待批").click()
        await expect(card(page)).to_have_count(2)
        await expect(page.locator(".inbox-item").first).to_contain_text("可乐报价")
        await seen.picture("inbox")
        await card(page).first.get_by_role("button", name="批准", exact=True).click()
        await expect(card(page)).to_have_count(1)
        await expect(page.locator(".sidebar-link .count")).to_have_text("1")


async def test_the_offer_of_a_question_can_be_taken(home: Path, browser: Browser, tmp_path: Path) -> None:
    turns = (quoting(QUOTATION), quoting(QUOTATION), ["两张都好了。", USED])
    async with counter(home, *turns) as api, visit(browser, link_of(api), tmp_path) as seen:
        page = seen.page
        await seen.said("报两张可乐")
        await card(page).get_by_role("button", name="以后都批准").click()
        await expect(card(page).locator(".offer")).to_contain_text("create_quotation")
        await card(page).get_by_role("button", name="以后都批准").click()
        await expect(page.locator(".answer")).to_contain_text("两张都好了")
        await expect(page.locator(".call.ok")).to_have_count(2)
        await expect(page.locator(".decided.yes").last).to_contain_text("按事先同意自动批准")
        # What stands is listed, and can be ended.
        await page.get_by_role("button", name="时间线").click()
        grants = page.get_by_role("region", name="事先同意")
        await expect(grants).to_contain_text("C001")
        await grants.get_by_role("button", name="撤销").click()
        await expect(grants).to_have_count(0)


async def test_a_call_of_unknown_outcome_is_asked_about(browser: Browser, built_page: Path, tmp_path: Path) -> None:
    @tool(tier=Tier.WRITE, timeout=0.05)
    async def send(text: str) -> str:
        """Sends something, and never hears whether it arrived."""
        await asyncio.sleep(60)
        return text

    turns = ([("send", {"text": "到货通知"}), USED], ["客户收到了。", USED])
    async with serving(house_of(loop_of(turns, [send]))) as api, visit(browser, link_of(api), tmp_path) as seen:
        page = seen.page
        await seen.said("通知客户")
        await page.get_by_role("button", name="批准", exact=True).click()
        doubt = page.get_by_role("region", name="结果不明")
        await expect(doubt).to_contain_text("不知道 send 是否生效")
        await seen.picture("doubt")
        await doubt.get_by_role("button", name="已生效").click()
        await expect(page.locator(".answer")).to_contain_text("客户收到了")
        await expect(doubt).to_have_count(0)


async def test_a_clerk_may_deny_but_not_approve(home: Path, browser: Browser, tmp_path: Path) -> None:
    async with counter(home, quoting(QUOTATION)) as api, visit(browser, link_of(api, KIM), tmp_path) as seen:
        page = seen.page
        await seen.said("报 30 箱可乐")
        await card(page).wait_for()
        await expect(card(page).get_by_role("button", name="批准", exact=True)).to_have_count(0)
        await expect(card(page)).to_contain_text("你的角色不能批准")
        await expect(card(page).get_by_role("button", name="拒绝", exact=True)).to_be_enabled()
