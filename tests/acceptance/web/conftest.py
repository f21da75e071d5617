"""The page, built from its sources where they have changed, and a browser; both once for all tests.

All tests here share one event loop, which the browser belongs to.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from inspect import iscoroutinefunction
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, async_playwright

from scripts.build_web import build
from tests.support.browser import ARGUMENTS, browser_path


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The browser's loop is that of the session."""
    for item in items:
        if Path(__file__).parent in item.path.parents and iscoroutinefunction(getattr(item, "obj", None)):
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


@pytest.fixture(scope="session")
def built_page() -> Path:
    """The folder that the page lies in."""
    return build()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser(built_page: Path) -> AsyncIterator[Browser]:
    """A real one, without a screen."""
    async with async_playwright() as playwright:
        started = await playwright.chromium.launch(executable_path=browser_path(), args=list(ARGUMENTS))
        yield started
        await started.close()
