from __future__ import annotations

from pathlib import Path

from erpilot_api.typescript import render

ROOT = Path(__file__).parents[2]


def test_the_types_of_the_page_are_those_of_the_server() -> None:
    written = (ROOT / "apps/web/src/protocol.ts").read_text(encoding="utf-8")
    assert written == render(), "the types drifted: run `make protocol` and commit apps/web/src/protocol.ts"
