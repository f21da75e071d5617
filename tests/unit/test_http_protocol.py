from __future__ import annotations

from pathlib import Path

from erpilot_api import shopwords, typescript

SRC = Path(__file__).parents[2] / "apps/web/src"


def test_the_types_of_the_page_are_those_of_the_server() -> None:
    written = (SRC / "protocol.ts").read_text(encoding="utf-8")
    assert written == typescript.render(), "the types drifted: run `make protocol` and commit apps/web/src/protocol.ts"


def test_the_words_of_the_page_for_previews_and_columns_are_those_of_the_command_line() -> None:
    written = (SRC / "text/shopwords.ts").read_text(encoding="utf-8")
    assert written == shopwords.render(), "words drifted: run `make protocol` and commit apps/web/src/text/shopwords.ts"
