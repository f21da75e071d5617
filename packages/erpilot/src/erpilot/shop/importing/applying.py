"""A file from the disk into the shop: read, planned, applied as one write under one key.

Invariant: what is applied is what was planned from the same file with the same options; a plan that would change
nothing is not applied.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from ..backend import ErpBackend, Write, Written
from ..errors import Refused
from .goods import plan_prices, plan_products, plan_stock
from .kinds import Kind
from .planning import Mode, Plan
from .problems import UnreadableFile
from .reading import Table, read_orders, read_table
from .trading import plan_orders, plan_parties


class Options(Struct, frozen=True, omit_defaults=True):
    """How a file is to be read. ``mapping``: field by column letters or heading, "-" leaves a column out. ``mode``:
    of counts, whether they are what is on hand (``set``) or what came (``add``).
    """

    kind: Kind | None = None
    sheet: str | None = None
    mapping: Mapping[str, str] = {}
    encoding: str | None = None
    mode: Mode = "set"


async def read_files(paths: Sequence[Path], options: Options) -> Table:
    """The table of a file, or of the two files of past orders. Raises ``UnreadableFile``."""
    return await asyncio.to_thread(_read, paths, options)


def _read(paths: Sequence[Path], options: Options) -> Table:
    def table(path: Path, kind: Kind | None) -> Table:
        return read_table(
            path, kind=kind, sheet=options.sheet, mapping=options.mapping or None, encoding=options.encoding
        )

    if len(paths) == 1:
        return table(paths[0], options.kind)
    if len(paths) != 2 or options.kind not in (None, "orders"):
        raise UnreadableFile("two_files")
    for heads, lines in (paths, tuple(reversed(paths))):
        try:
            return read_orders(table(heads, "order_heads"), table(lines, "order_lines"))
        except UnreadableFile as error:
            if error.code not in ("column_missing", "no_headings"):
                raise
    raise UnreadableFile("two_files")


async def plan_import(backend: ErpBackend, table: Table, options: Options) -> Plan:
    """What the table would do; changes nothing. Its problems stand in the order of the rows."""
    plan = await _plan(backend, table, options)
    plan.problems.kept.sort(key=lambda problem: problem.row)
    return plan


async def _plan(backend: ErpBackend, table: Table, options: Options) -> Plan:
    if table.kind == "products":
        return await plan_products(backend, table)
    if table.kind == "stock":
        return await plan_stock(backend, table, options.mode)
    if table.kind == "prices":
        return await plan_prices(backend, table)
    if table.kind == "orders":
        return await plan_orders(backend, table)
    return await plan_parties(backend, table)


async def apply_plan(backend: ErpBackend, plan: Plan, *, reason: str, write: Write) -> Written:
    """Applies all of it or nothing, once per key. Raises ``Refused`` when there is nothing to apply."""
    if plan.empty:
        raise Refused("The file would change nothing.")
    write = Write(write.key, write.by, write.version, write.approved_by, write.accepted | plan.accepted)
    if plan.kind == "products":
        return await backend.import_products(plan.products, write=write)
    if plan.kind == "customers":
        return await backend.import_customers(plan.parties, write=write)
    if plan.kind == "suppliers":
        return await backend.import_suppliers(plan.parties, write=write)
    if plan.kind == "stock":
        return await backend.adjust_stock(plan.adjustments, reason=reason, write=write)
    if plan.kind == "prices":
        return await backend.set_prices(plan.prices, reason=reason, write=write)
    return await backend.import_orders(plan.orders, write=write)
