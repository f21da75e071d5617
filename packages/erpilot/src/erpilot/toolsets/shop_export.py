"""Tables of results as files: every listing names its table, and ``export_table`` writes all of it.

Invariant: a file holds all records that match, never a page, under the rights of who asks now; it is written into the
installation's folder of files and nowhere else.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import hashlib
import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

import msgspec
from pydantic import BaseModel, Field

from agent_core.tools.tool import Tool, ToolContext, unkept

from ..shop.backend import ErpBackend
from ..shop.errors import NotFound
from ..shop.exporting.files import Format, TableFile, Value
from . import shop_results as r
from . import words
from .columns import heading
from .shop_arguments import Query
from .shop_kit import reading
from .shop_resolve import answering, stamp

TABLES: dict[str, str] = {
    "find_products": "candidates",
    "find_customers": "candidates",
    "find_orders": "orders",
    "get_order": "lines",
    "get_quotation": "lines",
    "preview_quote": "lines",
    "get_price": "lines",
    "check_stock": "products",
    "find_purchases": "purchases",
    "suggest_purchases": "suggestions",
    "get_supplier_prices": "offers",
    "list_receivables": "parties",
    "list_payables": "parties",
    "customer_statement": "movements",
    "get_history": "entries",
    "sales_report": "rows",
    "stock_report": "rows",
    "quiet_customers": "customers",
}
"""Tool to the field of its result that is a table."""
SHEETS: dict[words.Language, tuple[str, str]] = {"zh": ("数据", "说明"), "en": ("data", "about")}
PAGE = 2_000
"""Rows that are asked for at once."""
_HANDLE = re.compile(r"tbl-[0-9a-f]{10}")


class ExportFact(r.Fact):
    """The file that now exists in the installation's folder of files. ``rows``: all records that match, without the
    line of headings."""

    file: str
    format: Format
    rows: int
    columns: list[str]
    table: str
    as_of: str


class _Card(msgspec.Struct):
    tool: str
    arguments: dict[str, Any]


class TableFolder:
    """Tables that were shown, by handle, and the files that are made of them (in ``$ERPILOT_HOME``)."""

    def __init__(self, home: Path) -> None:
        self.files = home / "files"
        self._tables = home / "tables"

    def remember(self, tool: str, arguments: Mapping[str, Any]) -> str:
        """The handle of what a tool answers to these arguments, whatever page was asked for."""
        asked = {
            name: _plain(value) for name, value in sorted(arguments.items()) if name not in ("limit", "offset", "top")
        }
        data = msgspec.json.encode(_Card(tool, {name: value for name, value in asked.items() if value is not None}))
        handle = f"tbl-{hashlib.sha256(data).hexdigest()[:10]}"
        path = self._tables / f"{handle}.json"
        if not path.exists():
            self._tables.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.write_bytes(data)
        return handle

    def find(self, handle: str) -> tuple[str, dict[str, Any]]:
        """The tool and the arguments. Raises ``NotFound``."""
        name = handle.strip()
        path = self._tables / f"{name}.json"
        if not _HANDLE.fullmatch(name) or not path.is_file():
            raise NotFound(f"There is no table {name[:60]!r}.", hint="Give the `table` of an earlier result.")
        card = msgspec.json.decode(path.read_bytes(), type=_Card)
        return card.tool, card.arguments


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", exclude_none=True)
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value.isoformat() if isinstance(value, dt.date) else value


def with_tables(tools: Sequence[Tool], folder: TableFolder) -> list[Tool]:
    """The tools, of which each listing names its table."""
    return [_naming(tool, folder) if tool.name in TABLES else tool for tool in tools]


def _naming(tool: Tool, folder: TableFolder) -> Tool:
    async def run(**arguments: Any) -> Any:
        result = await tool.handler(**arguments)
        if not isinstance(result, BaseModel) or not getattr(result, TABLES[tool.name]):
            return result
        asked = {name: value for name, value in arguments.items() if name != tool.context_parameter}
        handle = await asyncio.to_thread(folder.remember, tool.name, asked)
        return {**result.model_dump(mode="json"), "table": handle}

    return replace(tool, handler=run)


def export_tools(backend: ErpBackend, tools: Sequence[Tool], folder: TableFolder) -> list[Tool]:
    """``export_table`` over these tools."""

    @reading("documents", "products", "stock", "prices", "customers", "suppliers", "money", "history")
    async def export_table(
        table: Query,
        ctx: ToolContext,
        format: Annotated[Format, Field(description="xlsx opens in Excel")] = "xlsx",
        language: Annotated[Literal["zh", "en"], Field(description="of the headings")] = "zh",
    ) -> ExportFact:
        """Write a table that was shown (the `table` of its result) into a file, all of its records."""
        with answering():
            name, asked = folder.find(table)
            path, headings, rows = await write_table(tools, name, asked, folder.files, format, language, ctx)
            return ExportFact(
                file=path.name,
                format=format,
                rows=rows,
                columns=headings,
                table=table.strip(),
                as_of=stamp(backend.now()),
            )

    return [export_table]


async def write_table(
    tools: Sequence[Tool],
    name: str,
    asked: Mapping[str, Any],
    folder: Path,
    form: Format,
    language: words.Language,
    ctx: ToolContext,
) -> tuple[Path, list[str], int]:
    """Asks a tool for all of its records and writes them; the file, its headings, how many rows."""
    tool = next((each for each in tools if each.name == name), None)
    if tool is None:
        raise NotFound(f"The table of {name} cannot be read here.")
    file: TableFile | None = None
    columns: list[_Column] = []
    headings: list[str] = []
    last: BaseModel | None = None
    try:
        async for result in _pages(tool, asked, ctx):
            rows: list[BaseModel] = getattr(result, TABLES[name])
            if file is None:
                columns = _columns(rows, more=getattr(result, "next", None) is not None)
                headings = [" ".join(heading(part, language) for part in column) for column in columns]
                file = TableFile(folder, f"{name}-{_day(result)}", form, headings, SHEETS[language])
            await asyncio.to_thread(file.add, [[_value(row, column) for column in columns] for row in rows])
            last = result
        assert file is not None, "there is at least one page"
        assert last is not None, "there is at least one page"
        path = await asyncio.to_thread(file.finish, list(_facts(last, TABLES[name], language)))
    finally:
        if file is not None:
            file.abandon()
    return path, headings, file.rows


async def _pages(tool: Tool, asked: Mapping[str, Any], ctx: ToolContext) -> AsyncIterator[BaseModel]:
    """The pages of a listing, large ones; the whole of what has no pages."""
    values = tool.arguments.validate(dict(asked))
    properties = tool.arguments.schema.get("properties", {})
    if "top" in properties:
        values["top"] = 1_000_000
    offset = 0
    while True:
        if "limit" in properties:
            values |= {"limit": PAGE, "offset": offset}
        if tool.context_parameter is not None:
            values[tool.context_parameter] = replace(ctx, attach=unkept)
        result = await tool.handler(**values)
        yield result
        following = getattr(result, "next", None)
        if "limit" not in properties or following is None:
            return
        offset = following


_Column = tuple[str, ...]


def _columns(rows: Sequence[BaseModel], *, more: bool) -> list[_Column]:
    """Fields that some row has a plain value for, in their order; those of a fact or a mapping inside one as well.
    ``more``: rows come that are not here, so every plain field is a column.
    """
    found: dict[_Column, None] = {}
    for row in rows:
        for column in _fields(row, ()):
            found.setdefault(column)
    fields = type(rows[0]).model_fields if rows else {}
    if more:
        for name, field in fields.items():
            if not any(column[0] == name for column in found) and _is_plain(field.annotation):
                found[(name,)] = None
    order = {name: place for place, name in enumerate(fields)}
    return sorted(found, key=lambda column: order.get(column[0], len(order)))


def _is_plain(annotation: Any) -> bool:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel | dict):
        return False
    return get_origin(annotation) is not dict and all(_is_plain(each) for each in get_args(annotation))


def _fields(row: BaseModel, within: _Column) -> Iterator[_Column]:
    for name in type(row).model_fields:
        value = getattr(row, name)
        if isinstance(value, BaseModel):
            yield from _fields(value, (*within, name))
        elif isinstance(value, dict):
            yield from ((*within, name, str(key)) for key in value)
        elif value is not None and not (isinstance(value, list) and value and isinstance(value[0], BaseModel)):
            yield *within, name


def _value(row: BaseModel, column: _Column) -> Value:
    value: Any = row
    for name in column:
        value = value.get(name) if isinstance(value, dict) else getattr(value, name, None)
    return _cell(value)


def _cell(value: Any) -> Value:
    if isinstance(value, float):
        return Decimal(str(value))
    if isinstance(value, list | tuple):
        return "; ".join(str(each) for each in value)
    if isinstance(value, dict):
        return "; ".join(f"{name} {each}" for name, each in value.items())
    return value if isinstance(value, str | int | Decimal | dt.date) else None if value is None else str(value)


def _facts(result: BaseModel, table: str, language: words.Language) -> Iterator[tuple[str, Value]]:
    """What stands beside the table: totals, the span, the definition, the time."""
    for name in type(result).model_fields:
        value = getattr(result, name)
        if name in (table, "next") or value is None:
            continue
        title = heading(name, language)
        parts = value if isinstance(value, list) else [value]
        for part in parts:
            if isinstance(part, BaseModel):
                for column in _fields(part, ()):
                    yield f"{title} {' '.join(heading(each, language) for each in column)}", _value(part, column)
            elif isinstance(part, dict):
                for key, each in part.items():
                    yield f"{title} {key}", _cell(each)
            else:
                yield title, _cell(part)


def _day(result: BaseModel) -> str:
    return str(getattr(result, "as_of", ""))[:10]
