"""Going back in the page: another way from a step, the two ways side by side, a replay, a conversation taken back."""

from __future__ import annotations

from pathlib import Path

from playwright.async_api import Browser, expect

from tests.acceptance.web.counter import QUOTATION, USED, counter, link_of, quoting
from tests.support.web import visit

LOOKING = [("get_order", {"number": "123"}), USED]
ASIDE = [
    ("check_stock", {"skus": ["BV-COLA-500"]}),
    ("get_price", {"lines": [{"sku": "BV-COLA-500", "qty": "30", "unit": "箱"}], "customer": "C001"}),
    USED,
]
TURNS = (LOOKING, ASIDE, ["可乐缺货，12 月 4 日可齐。", USED])


async def test_fork_from_step_2_shows_both_ways_and_how_they_differ(
    home: Path, browser: Browser, tmp_path: Path
) -> None:
    async with (
        counter(home, *TURNS, ["那就先报 2 箱。", USED]) as api,
        visit(browser, link_of(api), tmp_path) as seen,
    ):
        page = seen.page
        await seen.said("可乐还有吗")
        await seen.ended()
        parent = page.url
        step = page.locator(".step", has=page.get_by_text("第 2 步"))
        await step.hover()
        await step.get_by_role("button", name="操作").click()
        await page.get_by_role("menuitem", name="从这里分出另一条路").click()
        await expect(page.locator(".note", has_text="分出")).to_be_visible()
        assert page.url != parent
        # What came before is there, what came after is not.
        await expect(page.locator(".call.ok")).to_have_count(3)
        await expect(page.get_by_text("12 月 4 日可齐")).to_have_count(0)
        await seen.said("先报有货的")
        await expect(page.locator(".answer")).to_contain_text("那就先报 2 箱")
        await seen.picture("fork")
        await page.get_by_role("link", name="比较").click()
        rows = page.locator(".compare-row")
        await expect(rows.filter(has_text="12 月 4 日可齐")).to_have_count(1)
        await expect(rows.filter(has_text="那就先报 2 箱")).to_have_count(1)
        await expect(page.locator(".compare")).to_contain_text("事件 1 到")
        await seen.picture("compare")
        await page.get_by_role("link", name="原来的").click()
        await expect(page.locator(".answer")).to_contain_text("12 月 4 日可齐")
        assert page.url == parent


async def test_a_replay_goes_through_the_events_by_hand_and_by_itself(
    home: Path, browser: Browser, tmp_path: Path
) -> None:
    async with counter(home, *TURNS) as api, visit(browser, link_of(api), tmp_path) as seen:
        page = seen.page
        await seen.said("可乐还有吗")
        await seen.ended()
        session = (await api.client().get("/api/sessions"))["sessions"][0]["session_id"]
        log = [frame for frame in await api.client().read(f"/api/sessions/{session}/events") if frame.id]
        asked = len(api.house.loops["shop"].model.requests)  # type: ignore[attr-defined]
        await seen.replayed()
        # Whoever moves by hand stops what moves by itself, wherever that is by now.
        place = page.get_by_role("slider", name="位置")
        await place.focus()
        await place.press("End")  # Home alone moves nothing where it still stands at the beginning
        await place.press("Home")
        await expect(page.locator(".player-at")).to_have_text(f"0 / {len(log)}")
        await expect(page.locator(".row")).to_have_count(0)
        for number, frame in enumerate(log, 1):
            await page.get_by_role("button", name="下一个事件").click()
            await expect(page.locator(".player-at")).to_have_text(f"{number} / {len(log)}")
            await expect(page.locator(".player-event")).to_contain_text(frame.type)
        await expect(page.locator(".answer")).to_contain_text("12 月 4 日可齐")
        await page.get_by_role("button", name="上一个事件").click()
        await place.press("Home")
        await expect(page.locator(".answer")).to_have_count(0)
        for _ in range(14):
            await place.press("ArrowRight")
        await expect(page.locator(".call")).not_to_have_count(0)
        await seen.picture("replay")
        await place.press("Home")
        await page.get_by_role("button", name="播放").click()
        # Pressed in the page as soon as it is there, since the replay does not wait for a slow hand.
        await page.wait_for_function(
            """() => { const pause = document.querySelector('.player [aria-label="暂停"]');
                pause?.click();
                return pause; }"""
        )
        paused = await page.locator(".player-at").inner_text()
        await expect(page.get_by_role("button", name="播放")).to_be_visible()
        await expect(page.locator(".player-at")).to_have_text(paused)
        await page.get_by_role("button", name="播放").click()
        await expect(page.locator(".answer")).to_contain_text("12 月 4 日可齐")
        await page.get_by_role("button", name="回到对话").click()
        await expect(page.locator(".composer")).to_be_visible()
        assert len(api.house.loops["shop"].model.requests) == asked  # type: ignore[attr-defined]


async def test_the_timeline_finds_events_and_leads_to_each(home: Path, browser: Browser, tmp_path: Path) -> None:
    async with counter(home, *TURNS) as api, visit(browser, link_of(api), tmp_path) as seen:
        page = seen.page
        await page.set_viewport_size({"width": 1440, "height": 900})
        await seen.said("可乐还有吗")
        await seen.ended()
        await page.get_by_role("button", name="时间线").click()
        await expect(page.locator(".lane-line")).to_have_count(6)
        await expect(page.locator(".lanes-total")).to_contain_text("3 步")
        await seen.picture("timeline")
        await page.get_by_role("tab", name="事件").click()
        await page.get_by_role("searchbox", name="搜索事件").fill("check_stock finished")
        line = page.locator(".event-line")
        await expect(line).to_have_count(1)
        await line.click()
        await expect(page.locator(".event-detail")).to_contain_text("BV-COLA-500")
        await seen.picture("events")
        await page.get_by_role("button", name="在对话里看").click()
        await expect(page.locator("[aria-current=location]")).to_be_in_viewport()
        await expect(page.locator("[aria-current=location]")).to_contain_text("查库存")


async def test_a_conversation_is_taken_back_and_what_was_said_stays_to_be_seen(
    home: Path, browser: Browser, tmp_path: Path
) -> None:
    async with (
        counter(home, *TURNS, ["重新回答。", USED]) as api,
        visit(browser, link_of(api), tmp_path) as seen,
    ):
        page = seen.page
        await seen.said("可乐还有吗")
        await seen.ended()
        step = page.locator(".step", has=page.get_by_text("第 1 步"))
        await step.hover()
        await step.get_by_role("button", name="操作").click()
        await page.get_by_role("menuitem", name="把对话退回到这里").click()
        await expect(page.locator(".note", has_text="退回到事件")).to_be_visible()
        await expect(page.locator(".aside .answer")).to_have_count(1)
        await seen.said("换个问法")
        await expect(page.locator(".answer").last).to_contain_text("重新回答")
        await expect(page.locator(".aside .answer")).to_have_count(1)


async def test_whoever_goes_back_behind_a_write_sees_what_stays_and_may_have_it_taken_back(
    home: Path, browser: Browser, tmp_path: Path
) -> None:
    turns = (quoting(QUOTATION), ["报价单已建好。", USED], ["报价单已取消。", USED])
    async with counter(home, *turns) as api, visit(browser, link_of(api), tmp_path) as seen:
        page = seen.page
        approve = page.get_by_role("button", name="批准", exact=True)
        await seen.said("给鑫源商行报 30 箱可乐")
        await approve.click()
        await expect(page.locator(".answer")).to_contain_text("报价单已建好")
        await seen.ended()

        async def back() -> None:
            row = page.locator(".user-row").first
            await row.hover()
            await row.get_by_role("button", name="操作").click()
            await page.get_by_role("menuitem", name="把对话退回到这里").click()

        sheet = page.get_by_role("dialog")
        await back()
        await expect(sheet).to_contain_text("BV-COLA-500")
        await expect(sheet).to_contain_text("可以撤销")
        await seen.picture("going-back")
        await sheet.get_by_role("button", name="取消", exact=True).click()
        await expect(sheet).to_have_count(0)
        await expect(page.locator(".note", has_text="退回到事件")).to_have_count(0)
        await back()
        await sheet.get_by_role("button", name="退回并撤销 1 项").click()
        await expect(page.locator(".note", has_text="退回到事件")).to_be_visible()
        await expect(sheet).to_have_count(0)
        # Nothing is taken back unasked.
        await approve.click()
        await expect(page.locator(".answer").last).to_contain_text("报价单已取消")
        await expect(page.locator(".call.ok", has_text="撤销改动")).to_have_count(1)


async def test_sessions_are_found_renamed_and_put_away(home: Path, browser: Browser, tmp_path: Path) -> None:
    async with (
        counter(home, ["可乐有货。", USED], ["纸有货。", USED]) as api,
        visit(browser, link_of(api), tmp_path) as seen,
    ):
        page = seen.page
        for question in ("可乐还有吗", "打印纸还有吗"):
            await seen.said(question)
            await seen.ended()
            await page.get_by_role("button", name="新对话").click()
        lines = page.locator(".session-line")
        await expect(lines).to_have_count(2)
        await page.get_by_role("searchbox", name="搜索对话").fill("打印纸")
        await expect(lines).to_have_count(1)
        await lines.hover()
        await lines.get_by_role("button", name="操作").click()
        await page.get_by_role("menuitem", name="重命名").click()
        await page.get_by_role("textbox", name="重命名").fill("办公用纸")
        await page.get_by_role("textbox", name="重命名").press("Enter")
        await page.get_by_role("searchbox", name="搜索对话").fill("")
        await expect(lines.filter(has_text="办公用纸")).to_have_count(1)
        await lines.filter(has_text="可乐").hover()
        await lines.filter(has_text="可乐").get_by_role("button", name="操作").click()
        await page.get_by_role("menuitem", name="归档").click()
        await expect(lines).to_have_count(1)
        await page.get_by_label("显示已归档").check()
        await expect(lines).to_contain_text("可乐还有吗")
