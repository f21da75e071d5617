"""The commands for files, reports and pages of the shop, with their arguments and options."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

Say = Callable[[str], str]

KINDS = ("products", "customers", "suppliers", "stock", "prices", "orders")
MEASURES = ("revenue", "quantity", "orders", "average", "margin")
GROUPS = ("day", "week", "month", "quarter", "product", "category", "customer", "warehouse", "order")


def add_shop_commands(command: Callable[..., argparse.ArgumentParser], group: Callable[[str], Any], say: Say) -> None:
    """Adds ``import``, ``report`` and ``print``."""
    _add_import(command("import"), say)
    _add_reports(command, group("report"), say)
    printed = command("print")
    printed.add_argument("number", metavar="NUMBER", help=say("opt_number"))
    printed.add_argument("--pdf", action="store_true", help=say("opt_pdf"))
    printed.add_argument("-o", "--output", metavar="FILE", help=say("opt_page"))


def _add_import(parser: argparse.ArgumentParser, say: Say) -> None:
    parser.add_argument("paths", metavar="PATH", nargs="*", help=say("opt_import_path"))
    parser.add_argument("--kind", choices=KINDS, metavar="KIND", help=say("opt_kind"))
    parser.add_argument("--sheet", metavar="NAME", help=say("opt_sheet"))
    parser.add_argument("--map", action="append", default=[], metavar="COLUMN=FIELD", help=say("opt_map"))
    parser.add_argument("--encoding", metavar="NAME", help=say("opt_encoding"))
    parser.add_argument("--add", action="store_true", help=say("opt_add"))
    parser.add_argument("--dry-run", action="store_true", help=say("opt_dry_run"))
    parser.add_argument("--yes", action="store_true", help=say("opt_import_yes"))
    parser.add_argument("--undo", metavar="KEY", help=say("opt_undo_import"))


def _add_reports(command: Callable[..., argparse.ArgumentParser], under: Any, say: Say) -> None:
    sales = command("sales", under, "report_sales")
    sales.add_argument("period", metavar="PERIOD", nargs="?", default="this_month", help=say("opt_period"))
    sales.add_argument("--by", choices=GROUPS, metavar="GROUP", help=say("opt_by"))
    sales.add_argument("--measure", choices=MEASURES, default="revenue", metavar="MEASURE", help=say("opt_measure"))
    sales.add_argument("--compare", metavar="PERIOD", help=say("opt_compare"))
    sales.add_argument("--top", type=int, metavar="N", help=say("opt_top"))
    for name in ("customer", "product", "category", "warehouse"):
        sales.add_argument(f"--{name}", metavar="NAME", help=say(f"opt_{name}"))
    stock = command("stock", under, "report_stock")
    stock.add_argument("kind", choices=("low", "slow", "value", "negative"), metavar="KIND", help=say("opt_stock_kind"))
    stock.add_argument("--days", type=int, metavar="N", help=say("opt_days"))
    stock.add_argument("--warehouse", metavar="NAME", help=say("opt_warehouse"))
    owed = command("receivables", under, "report_receivables")
    owed.add_argument("--customer", metavar="NAME", help=say("opt_customer"))
    owed.add_argument("--overdue", action="store_true", help=say("opt_overdue"))
    quiet = command("quiet", under, "report_quiet")
    quiet.add_argument("--days", type=int, default=60, metavar="N", help=say("opt_days"))
    for parser in (sales, stock, owed, quiet):
        parser.add_argument("--export", choices=("xlsx", "csv"), metavar="xlsx|csv", help=say("opt_export"))
        parser.add_argument("-o", "--folder", metavar="FOLDER", help=say("opt_folder"))
