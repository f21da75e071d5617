"""How the page looks and who can use it: English, dark, a phone, the keyboard, a screen reader."""

from __future__ import annotations

from pathlib import Path

from playwright.async_api import Browser, Page, expect

from tests.acceptance.web.counter import QUOTATION, USED, counter, link_of, quoting
from tests.support.web import PHONE, visit

ANSWER = (
    "## 可乐\n\n缺 **672** 瓶，`BV-COLA-500`；见 [说明](https://shop.example/help)。\n\n1. 先发 2 箱\n"
    "2. 其余 12 月 4 日\n\n"
    "> 以 ERP 为准\n\n```\n48 = 2 x 24\n```"
)
LOOKING = [("check_stock", {"skus": ["BV-COLA-500"]}), ("get_order", {"number": "123"}), USED]


async def test_no_screen_has_a_serious_finding_of_axe_in_light_or_dark(
    home: Path, browser: Browser, tmp_path: Path
) -> None:
    turns = (LOOKING, [ANSWER, USED], quoting(QUOTATION))
    found: list[str] = []
    async with counter(home, *turns) as api, visit(browser, link_of(api), tmp_path) as seen:
        page = seen.page
        await page.set_viewport_size({"width": 1440, "height": 900})
        await page.get_by_role("heading", name="今天想问什么").wait_for()
        found += await seen.serious()
        await seen.said("可乐还有吗")
        await seen.ended()
        await page.locator(".call-line").first.click()
        await seen.said("报个价")
        await page.get_by_role("region", name="新报价单").wait_for()
        await page.get_by_role("button", name="时间线").click()
        await page.locator(".lane-line").first.wait_for()
        for scheme in ("light", "dark"):
            await page.emulate_media(color_scheme=scheme)
            found += await seen.serious()
        await page.get_by_role("tab", name="事件").click()
        await page.locator(".event-line").first.click()
        found += await seen.serious()
        await page.emulate_media(color_scheme="light")
        await page.get_by_role("button", name="拒绝", exact=True).click()
        found += await seen.serious()
        await page.get_by_role("link", name="待批").click()
        await page.locator(".inbox-item").wait_for()
        found += await seen.serious()
        await page.go_back()
        await page.get_by_role("button", name="回放").click()
        await page.locator(".player").wait_for()
        found += await seen.serious()
    assert found == []


async def test_everything_is_reached_and_done_with_the_keyboard(home: Path, browser: Browser, tmp_path: Path) -> None:
    turns = (LOOKING, [ANSWER, USED], quoting(QUOTATION), ["好。", USED])
    async with counter(home, *turns) as api, visit(browser, link_of(api), tmp_path) as seen:
        page = seen.page
        await expect(page.locator(".composer textarea")).to_be_focused()
        await page.keyboard.type("可乐还有吗")
        await page.keyboard.press("Enter")
        await seen.ended()
        await seen.at_rest()
        await _tab_through(page)
        unreachable = await page.evaluate(
            """() => [...document.querySelectorAll("button, a[href], input, textarea, summary, select")]
                .filter(each => !each.disabled && each.tabIndex >= 0 && each.offsetParent !== null)
                .filter(each => !each.dataset.reached).map(each => each.outerHTML.slice(0, 120))"""
        )
        assert unreachable == []
        # Open a call, and look at its details.
        line = page.locator(".call-line").first
        await line.focus()
        await page.keyboard.press("Enter")
        await expect(line).to_have_attribute("aria-expanded", "true")
        # A menu opens, is walked through and closes; the focus comes back.
        menu = page.locator(".answer .row-menu")
        await menu.focus()
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("menuitem").first).to_be_focused()
        await page.keyboard.press("Escape")
        await expect(menu).to_be_focused()
        # A question is answered.
        await page.locator(".composer textarea").focus()
        await page.keyboard.type("报个价")
        await page.keyboard.press("Enter")
        yes = page.get_by_role("button", name="批准", exact=True)
        await yes.focus()
        await page.keyboard.press("Enter")
        await expect(page.locator(".answer").last).to_contain_text("好")


async def _tab_through(page: Page) -> None:
    """Presses Tab until the focus has gone round; marks what it met."""
    await page.evaluate("document.activeElement?.blur()")
    for _ in range(120):
        await page.keyboard.press("Tab")
        again = await page.evaluate(
            """() => { const at = document.activeElement;
                if (at.dataset.reached) return true;
                if (at !== document.body) at.dataset.reached = "yes";
                return false; }"""
        )
        if again:
            return
    raise AssertionError("the focus does not come round")


async def test_english_and_dark(home: Path, browser: Browser, tmp_path: Path) -> None:
    turns = (LOOKING, ["Cola is short: **48** bottles, the rest on 4 December.", USED], quoting(QUOTATION))
    async with (
        counter(home, *turns) as api,
        visit(browser, link_of(api), tmp_path, language="en-GB", dark=True) as seen,
    ):
        page = seen.page
        await expect(page.get_by_role("heading", name="What would you like to know?")).to_be_visible()
        await seen.said("Is there any cola left?")
        await seen.ended()
        await seen.said("Quote 30 cases")
        await expect(page.get_by_role("region", name="New quotation")).to_contain_text("valid until")
        assert await page.evaluate("document.documentElement.lang") == "en"
        await seen.picture("english-dark")
        # Language and colours can be chosen, and stay chosen.
        await page.get_by_role("button", name="Appearance").click()
        await page.get_by_role("menuitem", name="中文").click()
        await expect(page.get_by_role("region", name="新报价单")).to_be_visible()
        await page.get_by_role("button", name="外观").click()
        await page.get_by_role("menuitem", name="浅色").click()
        await page.reload()
        await expect(page.get_by_role("region", name="新报价单")).to_be_visible()
        assert await page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(250, 249, 246)"


async def test_a_phone_shows_everything_without_scrolling_sideways(
    home: Path, browser: Browser, tmp_path: Path
) -> None:
    turns = (LOOKING, [ANSWER, USED], quoting(QUOTATION))
    async with (
        counter(home, *turns) as api,
        visit(browser, link_of(api), tmp_path, size=PHONE, phone=True) as seen,
    ):
        page = seen.page
        await seen.picture("phone-start")
        await seen.said("可乐还有吗")
        await seen.ended()
        await page.locator(".call-line").first.tap()
        await expect(page.locator(".call-details")).to_be_visible()
        assert await _sideways(page) == 0
        await page.locator(".call-line").first.tap()
        await seen.said("报个价")
        approve = page.get_by_role("button", name="批准", exact=True)
        await expect(approve).to_be_in_viewport()
        box = await approve.bounding_box()
        assert box is not None
        assert box["height"] >= 44
        assert await _sideways(page) == 0
        await seen.picture("phone")
        await page.get_by_role("button", name="菜单").tap()
        await expect(page.get_by_role("dialog")).to_contain_text("可乐还有吗")
        await seen.picture("phone-menu")
        await page.get_by_role("dialog").get_by_role("link", name="待批").tap()
        await expect(page.locator(".inbox-item")).to_be_visible()
        assert await _sideways(page) == 0


async def _sideways(page: Page) -> int:
    """By how many pixels the page is wider than the screen."""
    wider: int = await page.evaluate(
        "Math.max(document.documentElement.scrollWidth, document.querySelector('.scroll').scrollWidth) - innerWidth"
    )
    return max(0, wider)
