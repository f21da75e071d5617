"""The tools of the shop together with those for its files: spreadsheets in, tables out.

Invariant: all files of an installation lie in its own folder; no tool takes a path.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from agent_core.tools.tool import Tool

from ..shop.backend import ErpBackend
from ..shop.importing.keeping import ImportFolder
from ..shop.rights import RIGHTS, Right
from .shop_export import TableFolder, export_tools, with_tables
from .shop_import import import_tools


def with_files(
    tools: Sequence[Tool], backend: ErpBackend, home: Path, rights: frozenset[Right] = frozenset(RIGHTS)
) -> list[Tool]:
    """The tools, of which listings name their tables, and those for files in ``home``, which all who may import share.
    ``rights``: of whom they act for."""
    tables = TableFolder(home)
    return [
        *with_tables(tools, tables),
        *import_tools(backend, ImportFolder(home / "imports"), rights),
        *export_tools(backend, tools, tables),
    ]
