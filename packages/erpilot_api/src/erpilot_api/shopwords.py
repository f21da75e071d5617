"""The page's words for what tools say in codes: ``python -m erpilot_api.shopwords [FILE]``.

Invariant: the words are those that the command line uses; the page adds none of its own for the same codes.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path

from erpilot.shop.importing import words as importing
from erpilot.toolsets import columns, words

Pairs = Mapping[str, tuple[str, str]]
_HEAD = """\
// The words of the shop for the codes of previews and results, in English and Chinese.
// Made by `make protocol` from the words of the server; changes here are lost.

export type Pair = readonly [en: string, zh: string];
"""
TABLES: dict[str, Pairs] = {
    "TITLES": words.TITLES,
    "FIELDS": {**importing.FIELDS, **words.FIELDS},
    "NOTICES": words.NOTICES,
    "CHECKS": words.CHECKS,
    "COLUMNS": columns.COLUMNS,
    "IMPORT_KINDS": importing.KINDS,
}


def render() -> str:
    """The whole file."""
    return _HEAD + "".join(_table(name, pairs) for name, pairs in TABLES.items())


def _table(name: str, pairs: Pairs) -> str:
    lines = [f"  {code}: {json.dumps(pair, ensure_ascii=False)},\n" for code, pair in pairs.items()]
    return f"\nexport const {name}: Record<string, Pair> = {{\n{''.join(lines)}}};\n"


if __name__ == "__main__":
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(render(), encoding="utf-8")
    else:
        sys.stdout.write(render())
