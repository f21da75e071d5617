"""``make bench``: all measurements, one table. Exit code 1 only when a task gave a wrong result."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from typing import Any

from bench.compare import WrongResult, compare
from bench.context import context
from bench.erp_reads import erp_reads
from bench.http import http
from bench.importing import importing
from bench.peers import ROOT
from bench.report import Line, table
from bench.shop import shop
from bench.shop_reads import shop_reads
from bench.storage import storage
from bench.tools import tools

PARTS = {
    "clients": compare,
    "storage": storage,
    "tools": tools,
    "context": context,
    "http": http,
    "shop": shop,
    "reads": shop_reads,
    "erp": erp_reads,
    "import": importing,
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one round of fewer tasks: a look, not a figure")
    parser.add_argument("--only", choices=tuple(PARTS), help="only this part")
    options = parser.parse_args()
    lines: list[Line] = []
    raw: list[dict[str, Any]] = []
    try:
        for name, part in PARTS.items():
            if options.only in (None, name):
                more, measured = part(quick=options.quick)
                lines += more
                raw += measured
    except WrongResult as error:
        print(f"A client did not do its task. {error}", file=sys.stderr)
        return 1
    said = time.strftime("%Y-%m-%d %H:%M") + (" --quick" if options.quick else "")
    load = ", ".join(f"{each:.1f}" for each in os.getloadavg())
    text = f"{said}, Python {sys.version.split()[0]}, {os.cpu_count()} cores, load {load}\n\n{table(lines)}\n"
    results = ROOT / "bench/results"
    results.mkdir(exist_ok=True)
    name = time.strftime("%Y%m%d-%H%M%S")
    (results / f"{name}.md").write_text(text)
    (results / f"{name}.jsonl").write_text("".join(json.dumps(each) + "\n" for each in raw))
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
