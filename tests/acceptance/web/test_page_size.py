"""Large things in the page: ten thousand events, an answer of five thousand pieces, and how much is loaded first.

Times depend on the machine, so they are told (``-rP`` shows them, and docs/web.md) and bound only very widely.
"""

from __future__ import annotations

import asyncio
import gzip
import itertools
import json
import re
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, Page, expect

from agent_core import events as ev
from agent_core.messages import ModelEvent, StreamEnd, TextDelta, ToolCall, Usage
from agent_core.testing import MemoryStore
from tests.acceptance.web.counter import USED, link_of, loop_of
from tests.support.http_api import BOSS, house_of, serving
from tests.support.web import eventually, visit

EVENTS = 10_000
FIRST_LOAD_BYTES = 200_000
FAR_TOO_LONG_MS = 1000


def _long_log() -> Iterator[ev.AnyEvent]:
    """A conversation of 1,000 turns with a call each."""
    yield ev.SessionStarted(owner=BOSS.name, profile="shop", salt="salt")
    for turn in range(1, 1001):
        run, call = f"run-{turn}", f"call-{turn}"
        result = json.dumps({"sku": f"A-{turn}", "available": str(turn * 7), "note": "库存 " * 40})
        request = ev.Manifest(added=(), frame="f")
        yield ev.RunStarted(run_id=run, by=BOSS.name, environment="=e", model="scripted", base_seq=0)
        yield ev.UserMessage(content=(ev.TextPart(f"第 {turn} 个问题：还有货吗？"),), author=BOSS.name)
        yield ev.StepStarted(step=1, attempt=1, request=request, estimated_tokens=100)
        asked = ToolCall(id=call, name="check_stock", arguments=json.dumps({"skus": [f"A-{turn}"]}))
        yield ev.AssistantMessage(step=1, content=None, tool_calls=(asked,), duration=0.4)
        yield ev.StepEnd(step=1, outcome="message", usage=Usage(100, 20, 120))
        yield ev.ToolCallStarted(
            call_id=call, index=0, attempt=1, tool="check_stock", digest="d", idempotency_key=f"k{turn}"
        )
        yield ev.ToolCallFinished(
            call_id=call, index=0, tool="check_stock", ok=True, content=result, duration=0.02, attempts=1
        )
        answer = f"还有 **{turn * 7}** 件。\n\n- 总仓 {turn}\n- 东门店 {turn * 6}"
        yield ev.AssistantMessage(step=2, content=answer, duration=0.8)
        yield ev.LoopEnd(run_id=run, steps=2, completed=True, reason="completed", usage=Usage(200, 40, 240))
    while True:
        yield ev.SessionLabelled(by=BOSS.name, title="一万个事件")


async def test_ten_thousand_events_scroll_and_are_searched_smoothly(
    browser: Browser, built_page: Path, tmp_path: Path
) -> None:
    store, log = MemoryStore(), _long_log()
    seq = 0
    while seq < EVENTS:
        seq += len(await store.append("long", [next(log) for _ in range(1000)], expected_seq=seq))
    async with serving(house_of(loop_of([], [], store=store))) as api, visit(browser, link_of(api), tmp_path) as seen:
        page = seen.page
        await page.set_viewport_size({"width": 1440, "height": 900})
        async with seen.busy() as loading:
            await page.locator(".session-line a").click()
            await expect(page.locator(".answer").last).to_contain_text("7000")
        async with seen.busy() as using:
            # What is drawn stays small, wherever one is.
            for part in (0.75, 0.5, 0.25, 0.0, 1.0):
                await _scroll_to(page, ".scroll", part)
                await eventually(page.locator(".virtual-row").count, lambda drawn: 0 < drawn < 80)
            await page.get_by_role("button", name="时间线").click()
            await page.get_by_role("tab", name="事件").click()
            for part in (0.2, 0.9, 0.5):
                await _scroll_to(page, ".fixed-list", part)
                await eventually(page.locator(".event-line").count, lambda drawn: 0 < drawn < 80)
            search = page.get_by_role("searchbox", name="搜索事件")
            await search.press_sequentially("A-777", delay=40)
            await expect(page.locator(".event-line")).to_have_count(2)
            await page.locator(".event-line").first.click()
            await page.get_by_role("button", name="在对话里看").click()
            await expect(page.locator("[aria-current=location]")).to_contain_text("A-777")
            await expect(page.locator("[aria-current=location]")).to_be_in_viewport()
        _tell(f"10,000 events: the longest tasks while loading, in ms: {loading[:5]}")
        _tell(f"10,000 events: the longest tasks while scrolling and searching, in ms: {using[:5]}")
        assert using[0] < FAR_TOO_LONG_MS


async def _scroll_to(page: Page, box: str, part: float) -> None:
    await page.locator(box).evaluate("(each, part) => each.scrollTop = each.scrollHeight * part", part)
    await page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


class Paced:
    """Says ``answer`` in about 5,000 pieces, at the pace of a fast model."""

    name = "scripted"

    def __init__(self, answer: str) -> None:
        self.answer = answer
        self.deltas = 0

    async def stream_chat(self, messages: Any, tools: Any = (), **options: Any) -> AsyncIterator[ModelEvent]:
        cuts = [round(place * len(self.answer) / 5000) for place in range(5001)]
        for start, end in itertools.pairwise(cuts):
            if end > start:
                self.deltas += 1
                if self.deltas % 25 == 0:
                    await asyncio.sleep(0.01)
                yield TextDelta(text=self.answer[start:end])
        yield StreamEnd(usage=USED)


async def test_an_answer_of_five_thousand_pieces_is_shown_whole(
    browser: Browser, built_page: Path, tmp_path: Path
) -> None:
    paragraphs = [f"第 {number} 段：总仓还有 {number * 3} 件，东门店 {number} 件。" for number in range(1, 301)]
    answer = "\n\n".join(paragraphs)
    model = Paced(answer)
    async with serving(house_of(loop_of([], [], model=model))) as api, visit(browser, link_of(api), tmp_path) as seen:
        async with seen.busy() as writing:
            await seen.said("全部说一遍")
            await seen.ended()
            await expect(seen.page.locator(".answer .markdown")).to_contain_text(paragraphs[-1])
        shown = seen.page.locator(".answer .markdown").inner_text
        await eventually(shown, lambda text: text.split("\n\n") == paragraphs)
        _tell(f"{model.deltas:,} deltas: the longest tasks, in ms: {writing[:5]}")
        assert writing[0] < FAR_TOO_LONG_MS
        assert model.deltas > 4_900


async def test_the_first_load_is_under_200_kb_and_charts_come_when_they_are_needed(
    browser: Browser, built_page: Path, tmp_path: Path
) -> None:
    async with (
        serving(house_of(loop_of([["好。", USED]], []))) as api,
        visit(browser, link_of(api), tmp_path) as seen,
    ):
        await seen.said("在吗")
        await seen.ended()
        loaded = {url.rpartition("/")[2] for url in seen.asked if "/assets/" in url}
    assert loaded
    assert not any(name.startswith("Chart") for name in loaded)
    files = [built_page / "index.html", *(built_page / "assets" / name for name in loaded)]
    size = sum(len(gzip.compress(path.read_bytes(), 6)) for path in files)
    _tell(f"first load: {size:,} bytes, gzip")
    assert size < FIRST_LOAD_BYTES


def test_the_page_names_no_other_host(built_page: Path) -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in built_page.rglob("*.*") if path.is_file())
    hosts = set(re.findall(r"https?://([a-z0-9.-]+\.[a-z]+)", text))
    # Names of XML namespaces, and where React tells about its errors.
    assert hosts <= {"www.w3.org", "react.dev", "radix-ui.com", "github.com"}


def _tell(text: str) -> None:
    sys.stdout.write(f"{text}\n")
