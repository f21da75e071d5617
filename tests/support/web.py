"""Somebody in front of the page: a browser's window, what it asked for and complained of, and a server to look at.

Invariant: a visit ends with a look at what the window did: nothing was asked of another host, no script failed, no
content security policy was violated.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.async_api import Browser, BrowserContext, Page, expect

from .cli import environment

AXE = Path(__file__).parents[2] / "apps/web/node_modules/axe-core/axe.min.js"
SCREENSHOTS = os.environ.get("ERPILOT_SCREENSHOTS")
"""Where pictures are kept (``make screenshots``); without it none are taken."""
PATIENCE_MS = 120_000
"""No test fails because the machine is slow."""
DESKTOP, PHONE = (1280, 860), (390, 844)
expect.set_options(timeout=PATIENCE_MS)


@dataclass
class Visit:
    """A window. ``asked``: every address it asked for; ``complaints``: what its console said went wrong."""

    page: Page
    context: BrowserContext
    host: str
    asked: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    async def picture(self, name: str) -> None:
        """Keeps what is to be seen as ``NAME.png``, where pictures are wanted."""
        if not SCREENSHOTS:
            return
        await self.page.evaluate("document.fonts.ready")
        await self.page.screenshot(path=Path(SCREENSHOTS) / f"{name}.png", animations="disabled")

    async def said(self, text: str) -> None:
        """Writes a message and sends it with Enter."""
        box = self.page.locator(".composer textarea")
        await box.fill(text)
        await box.press("Enter")

    async def ended(self, runs: int = 1) -> None:
        """Waits until so many runs have ended for good; one that waits for an answer goes on, and one whose note is
        scrolled far away is not counted."""
        await self.page.locator(".note[data-ended]:not([data-ended='awaiting_approval'])").nth(runs - 1).wait_for()

    async def at_rest(self) -> None:
        """Waits until everything that follows from the end of a run is drawn: the conversation in the list as it
        stands, with nothing under way, and the marks of the figures of each answer that is to be seen."""
        await expect(self.page.locator(".session-line .dot")).not_to_have_count(0)
        await expect(self.page.locator(".session-line .dot.running")).to_have_count(0)
        checked = self.page.locator(".answer").filter(has=self.page.locator("[aria-controls].link-button"))
        unmarked = checked.filter(has_not=self.page.locator("button.figure"))
        await expect(unmarked).to_have_count(0)

    async def replayed(self) -> None:
        """Goes to the replay, and waits until it knows the conversation."""
        await self.page.get_by_role("button", name="回放").click()
        await expect(self.page.locator(".player-at")).to_have_text(re.compile(r"^\d+ / [1-9]\d*$"))

    async def serious(self) -> list[str]:
        """Findings of axe that are serious or critical."""
        await self.page.evaluate(AXE.read_text(encoding="utf-8"))
        found: list[dict[str, Any]] = await self.page.evaluate(
            "async () => (await axe.run(document, {resultTypes: ['violations']})).violations"
        )
        return [
            f"{each['id']}: {node['html'][:200]}"
            for each in found
            if each["impact"] in ("serious", "critical")
            for node in each["nodes"]
        ]

    @asynccontextmanager
    async def busy(self) -> AsyncIterator[list[int]]:
        """Milliseconds of each task of the page's main thread in the meantime, the longest first; filled at the end.
        Of processor time, so that what else the machine does is left out."""
        tasks: list[int] = []
        browser = self.context.browser
        assert browser is not None
        await browser.start_tracing(page=self.page, categories=["disabled-by-default-devtools.timeline"])
        try:
            yield tasks
        finally:
            events = json.loads(await browser.stop_tracing())["traceEvents"]
            main = {
                (event["pid"], event["tid"])
                for event in events
                if event["name"] == "thread_name" and event["args"]["name"] == "CrRendererMain"
            }
            spent = [
                round(event.get("tdur", 0) / 1000)
                for event in events
                if event["name"] == "RunTask" and (event["pid"], event["tid"]) in main
            ]
            tasks.extend(sorted(spent, reverse=True))

    def elsewhere(self) -> list[str]:
        """What was asked of another host than the server."""
        own = ("data:", "blob:", "about:")
        return [url for url in self.asked if urlsplit(url).netloc != self.host and not url.startswith(own)]


@asynccontextmanager
async def visit(
    browser: Browser,
    link: str,
    folder: Path,
    *,
    size: tuple[int, int] = DESKTOP,
    language: str = "zh-CN",
    dark: bool = False,
    phone: bool = False,
    state: Any = None,
) -> AsyncIterator[Visit]:
    """Opens ``link`` in a window of its own."""
    context = await browser.new_context(
        viewport={"width": size[0], "height": size[1]},
        locale=language,
        timezone_id="Asia/Shanghai",
        color_scheme="dark" if dark else "light",
        reduced_motion="reduce",
        has_touch=phone,
        is_mobile=phone,
        storage_state=state,
    )
    context.set_default_timeout(PATIENCE_MS)
    page = await context.new_page()
    seen = Visit(page, context, urlsplit(link).netloc)
    context.on("request", lambda request: seen.asked.append(request.url))
    page.on("pageerror", lambda error: seen.complaints.append(str(error)))
    page.on("dialog", lambda dialog: seen.complaints.append(f"dialog {dialog.message}"))

    def heard(message: Any) -> None:
        # A server that is away, or that says no, is told by the browser as well as by the page.
        if message.type in ("error", "warning") and "Failed to load resource" not in message.text:
            seen.complaints.append(message.text)

    page.on("console", heard)
    try:
        await page.goto(link)
        yield seen
        assert seen.complaints == []
        assert seen.elsewhere() == []
    except BaseException:
        if not page.is_closed():
            await page.screenshot(path=folder / "failed.png")
        raise
    finally:
        await context.close()


async def eventually(look: Callable[[], Awaitable[object]], holds: Callable[[Any], bool]) -> None:
    """Looks until ``holds`` is true of what is seen: what happens on a screen takes its time."""
    until = asyncio.get_running_loop().time() + PATIENCE_MS / 1000
    while not holds(seen := await look()):
        assert asyncio.get_running_loop().time() < until, seen
        await asyncio.sleep(0.1)


@dataclass
class Serving:
    """``erpilot serve`` as a process."""

    process: asyncio.subprocess.Process
    link: str

    async def stop(self) -> int:
        """Asks it to stop, and waits until it has."""
        self.process.send_signal(signal.SIGTERM)
        await self.process.communicate()
        return self.process.returncode or 0


async def serve(home: Path, settings: Mapping[str, str] | None = None, port: int = 0) -> Serving:
    """Starts ``erpilot serve`` over ``home``."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "erpilot",
        "serve",
        "--port",
        str(port),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        env=environment(home, **(settings or {})),
    )
    assert process.stderr is not None
    told = ""
    while True:
        line = (await asyncio.wait_for(process.stderr.readline(), PATIENCE_MS / 1000)).decode()
        told += line
        found = re.search(r"http://\S+#code=\S+", line)
        if found:
            return Serving(process, found.group())
        assert line, f"erpilot serve ended: {told}"
