"""The page has words for every tool of the shop, and for every code of the previews that tools make."""

from __future__ import annotations

import re
from pathlib import Path

from erpilot.profiles import PROFILES
from erpilot.shop.open import open_shop
from erpilot.toolsets.shop_files import with_files

CODES = Path(__file__).parents[2] / "apps/web/src/text/codes.ts"


def test_the_page_has_words_for_every_tool_of_the_shop(tmp_path: Path) -> None:
    found = re.search(r"const TOOLS: .*?\n};", CODES.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    named = set(re.findall(r"^  (\w+): \[", found.group(), re.MULTILINE))
    shop = open_shop(tmp_path)
    try:
        tools = {tool.name for profile in PROFILES.values() for tool in with_files(profile.tools(shop), shop, tmp_path)}
    finally:
        shop.close()
    assert tools - named == set()
