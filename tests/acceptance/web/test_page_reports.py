"""What an answer rests on, in the page: plots and tables of reports, figures with where they come from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from playwright.async_api import Browser, expect

from tests.acceptance.web.counter import USED, counter, link_of
from tests.support.http_api import Running
from tests.support.web import visit

SALES = {"period": "last_30_days", "group_by": "customer", "compare_to": "previous", "top": 8}


async def test_a_report_shows_its_plot_and_its_rows(home: Path, browser: Browser, tmp_path: Path) -> None:
    turns = ([("sales_report", SALES), ("stock_report", {"kind": "low"}), USED], ["见上图。", USED])
    async with counter(home, *turns) as api, visit(browser, link_of(api), tmp_path) as seen:
        page = seen.page
        await seen.said("最近一个月谁买得最多？什么快缺货了？")
        await seen.ended()
        plots = page.get_by_role("img")
        await expect(plots).to_have_count(2)
        charts = [each for each in (await _reports(api)) if each["chart"]]
        bars = sum(len(each["chart"]["data"]["values"]) for each in charts)
        await expect(page.locator("svg[role=img] rect")).to_have_count(bars)
        await page.locator(".scroll").evaluate("element => element.scrollTop = 0")
        await seen.picture("report")
        await page.get_by_role("button", name="看数据").first.click()
        name = charts[-1]["chart"]["data"]["values"][0]["name"]
        await expect(page.locator(".chart table").first).to_contain_text(name)


async def _reports(api: Running) -> list[dict[str, Any]]:
    client = api.client()
    session = (await client.get("/api/sessions"))["sessions"][0]["session_id"]
    reports: list[dict[str, Any]] = (await client.get(f"/api/sessions/{session}/reports"))["reports"]
    return reports


async def test_figures_tell_where_they_come_from_and_those_from_nowhere_stand_out(
    home: Path, browser: Browser, tmp_path: Path
) -> None:
    price = ("get_price", {"lines": [{"sku": "BV-COLA-500", "qty": "30", "unit": "箱"}], "customer": "C001"})
    answer = "| 商品 | 单价 | 合计 |\n|---|---:|---:|\n| 可乐 | 60.48 | **1814.40** |\n\n另有运费 99.5 元。"
    async with counter(home, [price, USED], [answer, USED]) as api, visit(browser, link_of(api), tmp_path) as seen:
        page = seen.page
        await seen.said("30 箱可乐多少钱")
        await seen.ended()
        figure = page.locator("button.figure", has_text="60.48")
        await figure.click()
        await expect(page.locator(".popover")).to_contain_text("来自 查价格")
        await expect(page.locator(".popover")).to_contain_text("unit_price")
        await seen.picture("figures")
        await page.locator(".popover").get_by_role("button", name="看这次调用").click()
        await expect(page.locator("[aria-current=location] .call")).to_have_count(1)
        await page.locator("button.figure.untraced", has_text="99.5").click()
        await expect(page.locator(".popover")).to_contain_text("请核对")
        await page.keyboard.press("Escape")
        # The list under the answer holds the same, for the keyboard.
        listed = page.get_by_role("button", name="没有出处")
        await listed.focus()
        await listed.press("Enter")
        await expect(page.locator(".figure-list")).to_contain_text("99.5")
        await expect(page.locator(".figure-list")).to_contain_text("1814.40")
