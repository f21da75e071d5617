"""A run that goes on while somebody reloads, says more or stops it; a server that goes away and comes back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, expect

from agent_core.testing import ScriptedModel
from tests.acceptance.web.counter import USED, counter, link_of
from tests.support.model_server import model_server
from tests.support.web import serve, visit

ANSWER = "".join(f"第 {number} 句。" for number in range(1, 41))


SHOWN, DELTA = 12, 5
SO_FAR = ANSWER[: SHOWN * DELTA]


class Gated:
    """A scripted model that stops after ``SO_FAR`` until ``gate`` is opened."""

    def __init__(self, *turns: Any) -> None:
        self._model = ScriptedModel(turns, delta=DELTA)
        self.name = "scripted"
        self.gate = asyncio.Event()
        self._left = SHOWN

    async def stream_chat(self, messages: Any, tools: Any = (), **options: Any) -> AsyncIterator[Any]:
        async for event in self._model.stream_chat(messages, tools, **options):
            if self._left == 0:
                await self.gate.wait()
            self._left = max(0, self._left - 1)
            yield event


async def test_a_reload_in_the_middle_of_a_run_loses_nothing_and_shows_nothing_twice(
    home: Path, browser: Browser, tmp_path: Path
) -> None:
    model = Gated([ANSWER, USED])
    async with counter(home, model=model) as api, visit(browser, link_of(api), tmp_path) as seen:
        page = seen.page
        text = page.locator(".step .markdown")
        await seen.said("说四十句")
        await expect(text).to_have_text(SO_FAR)
        await page.reload()
        await expect(text).to_have_text(SO_FAR)
        await expect(page.locator(".user-row")).to_have_count(1)
        model.gate.set()
        await seen.ended()
        await expect(text).to_have_text(ANSWER)
        await expect(page.locator(".user-row")).to_have_count(1)
        await page.reload()
        await seen.ended()
        await expect(text).to_have_text(ANSWER)


async def test_the_page_carries_on_by_itself_when_the_server_restarts(
    home: Path, browser: Browser, built_page: Path, tmp_path: Path
) -> None:
    slowly: list[Any] = [piece for number in range(1, 41) for piece in (f"第 {number} 句。", 0.05)]
    with model_server(slowly) as model:
        serving = await serve(home, model.settings)
        async with visit(browser, serving.link, tmp_path) as seen:
            page = seen.page
            await seen.said("说四十句")
            await expect(page.locator(".step .markdown")).to_contain_text("第 3 句")
            await serving.stop()
            await expect(page.locator(".banner")).to_contain_text("正在恢复")
            await seen.picture("server-away")
            port = int(seen.host.rpartition(":")[2])
            serving = await serve(home, model.settings, port)
            await seen.ended()
            await expect(page.locator(".answer .markdown")).to_have_text(ANSWER)
            await expect(page.locator(".user-row")).to_have_count(1)
            await expect(page.locator(".banner")).to_have_text("")
            # What was asked before can be followed by what is asked now.
            await seen.said("再说一遍")
            await seen.ended(2)
            await expect(page.locator(".user-row")).to_have_count(2)
        assert await serving.stop() == 0


async def test_a_page_that_is_older_than_its_server_loads_itself_anew(
    home: Path, browser: Browser, tmp_path: Path
) -> None:
    async with counter(home) as api, visit(browser, link_of(api), tmp_path) as seen:
        page = seen.page
        missing: list[str] = []

        async def gone_the_first_time(route: Any) -> None:
            missing.append(route.request.url)
            if len(missing) == 1:
                await route.fulfill(status=404)
            else:
                await route.continue_()

        await page.route("**/assets/Inbox-*.js", gone_the_first_time)
        await page.locator(".composer textarea").fill("写了一半")
        await page.get_by_role("link", name="待批").click()
        await expect(page.locator(".inbox")).to_be_visible()
        assert len(missing) == 2
        await page.get_by_role("button", name="新对话").click()
        await expect(page.locator(".composer textarea")).to_have_value("写了一半")


async def test_what_is_said_during_a_run_waits_and_a_run_can_be_stopped(
    home: Path, browser: Browser, tmp_path: Path
) -> None:
    model = Gated([ANSWER, USED], ["第二个答案。", USED])
    async with counter(home, model=model) as api, visit(browser, link_of(api), tmp_path) as seen:
        page = seen.page
        await seen.said("先问这个")
        await expect(page.locator(".step .markdown")).to_contain_text("第 5 句")
        await seen.said("再问那个")
        await expect(page.locator(".queue li")).to_have_text("排队中 再问那个")
        await seen.picture("queue")
        model.gate.set()
        await seen.ended(2)
        await expect(page.locator(".queue li")).to_have_count(0)
        await expect(page.locator(".user-row")).to_have_count(2)
        await expect(page.locator(".answer").last).to_contain_text("第二个答案")


async def test_a_run_that_is_stopped_keeps_what_happened_and_can_go_on(
    home: Path, browser: Browser, tmp_path: Path
) -> None:
    model = Gated([ANSWER, USED], ["接着说完。", USED])
    async with counter(home, model=model) as api, visit(browser, link_of(api), tmp_path) as seen:
        page = seen.page
        await seen.said("说四十句")
        await expect(page.locator(".step .markdown")).to_contain_text("第 5 句")
        await page.get_by_role("button", name="停止").click()
        await expect(page.locator(".note.bad")).to_contain_text("已停止")
        model.gate.set()
        await page.get_by_role("button", name="继续").click()
        await expect(page.locator(".answer").last).to_contain_text("接着说完")


async def test_a_text_that_is_not_sent_yet_survives_a_reload_and_a_sent_one_leaves_once(
    home: Path, browser: Browser, tmp_path: Path
) -> None:
    async with counter(home, ["好。", USED]) as api, visit(browser, link_of(api), tmp_path) as seen:
        page = seen.page
        box = page.locator(".composer textarea")
        await box.fill("写了一半")
        await page.reload()
        await expect(box).to_have_value("写了一半")
        # The answer to the first attempt is lost; the page sends the same message again by itself.
        tries: list[str] = []

        async def lose_the_first(route: Any) -> None:
            tries.append(route.request.post_data_json["client_message_id"])
            if len(tries) == 1:
                await route.fetch()
                await route.abort()
            else:
                await route.continue_()

        await page.route("**/api/chat/stream", lose_the_first)
        await box.press("Enter")
        await seen.ended()
        assert len(tries) == 2
        assert len(set(tries)) == 1
        await expect(page.locator(".user-row")).to_have_count(1)
        sessions = await api.client().get("/api/sessions")
        assert len(sessions["sessions"]) == 1


async def test_enter_that_chooses_a_word_does_not_send(home: Path, browser: Browser, tmp_path: Path) -> None:
    async with counter(home) as api, visit(browser, link_of(api), tmp_path) as seen:
        box = seen.page.locator(".composer textarea")
        await box.fill("ni")
        await box.dispatch_event("keydown", {"key": "Enter", "isComposing": True, "bubbles": True, "cancelable": True})
        await box.dispatch_event("keydown", {"key": "Enter", "keyCode": 229, "bubbles": True, "cancelable": True})
        await box.press("Shift+Enter")
        await expect(box).to_have_value("ni\n")
        await expect(seen.page.locator(".user-row")).to_have_count(0)
