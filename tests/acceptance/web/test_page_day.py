"""A day at the counter in the real page, over a real server: what is shown of issue "ask, watch, approve, go back"."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio
from playwright.async_api import Browser, expect

from tests.support.cli import QUESTION
from tests.support.web import Serving, serve, visit


@pytest_asyncio.fixture(loop_scope="session")
async def offline(home: Path, built_page: Path) -> AsyncIterator[Serving]:
    """The server of a shop without a model."""
    serving = await serve(home)
    yield serving
    assert await serving.stop() == 0


async def test_the_example_question_shows_parallel_tools_the_answer_and_the_cost(
    offline: Serving, browser: Browser, tmp_path: Path
) -> None:
    async with visit(browser, offline.link, tmp_path) as seen:
        page = seen.page
        await expect(page.get_by_role("heading", name="今天想问什么")).to_be_visible()
        await seen.picture("start")
        await seen.said(QUESTION)
        await seen.ended()
        together = page.locator(".step", has=page.get_by_text("并行 2 项"))
        await expect(together.locator(".call.ok")).to_have_count(2)
        await expect(page.locator(".answer")).to_contain_text("6927.00")
        await expect(page.locator(".note.good")).to_contain_text("$0")
        await page.locator(".scroll").evaluate("element => element.scrollTop = 0")
        await together.locator(".call-line").first.click()
        await expect(page.locator(".call-details").first).to_contain_text("BV-COLA-500")
        await seen.picture("answer")
