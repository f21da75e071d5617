"""``erpilot print``: a quotation or an order as a page to print.

Invariant: a file that exists is never written over.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from erpilot.shop.printing.html import html
from erpilot.shop.printing.sheet import sheet_of

from .desk import Desk
from .problems import COMPLETED, STORAGE, USAGE, Problem


def print_(desk: Desk, parsed: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    return desk.run(_print(desk, parsed))


async def _print(desk: Desk, parsed: argparse.Namespace) -> int:
    from erpilot.shop.printing import pdf

    from .work import close_shop, open_shop_of

    as_pdf = parsed.pdf or bool(parsed.output and parsed.output.lower().endswith(".pdf"))
    if as_pdf and not pdf.available():
        raise Problem(USAGE, "print_no_pdf")
    shop = await open_shop_of(desk)
    try:
        order = await shop.get_order(parsed.number)
        sheet = sheet_of(order, shop.company, desk.texts.lang)
    finally:
        await close_shop(shop)
    data = pdf.pdf(sheet) if as_pdf else html(sheet).encode()
    path = _path(desk, parsed.output, order.head.number, "pdf" if as_pdf else "html")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as file:
            os.chmod(path, 0o600)
            file.write(data)
    except FileExistsError:
        raise Problem(USAGE, "print_exists", path=path) from None
    except OSError as error:
        raise Problem(STORAGE, "print_failed", path=path, why=error.strerror or error) from None
    desk.terminal.line(desk.texts("printed", path=path))
    return COMPLETED


def _path(desk: Desk, output: str | None, number: str, ending: str) -> Path:
    """Where it goes: as asked, else a new name in the folder of files."""
    if output:
        return Path(output)
    folder = desk.home / "files"
    names = (f"{number}{'' if place == 1 else f'-{place}'}.{ending}" for place in range(1, 10_000))
    return next(path for name in names if not (path := folder / name).exists())
