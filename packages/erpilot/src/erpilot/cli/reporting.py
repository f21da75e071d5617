"""``erpilot report``: sales, stock and receivables as tables with bars, with their definition and their days.

Invariant: what is shown is what the report tools answer; nothing is added up here but what is said to be a bar's
length.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent_core.tools.tool import ToolContext
from erpilot.toolsets import shop_report_facts as facts
from erpilot.toolsets import shop_reports as reports
from erpilot.toolsets.columns import heading

from .desk import Desk
from .gate import mark_line
from .problems import COMPLETED

if TYPE_CHECKING:
    from .work import OpenShop

BAR = 24
"""Columns of the longest bar."""
_BLOCKS = " ▏▎▍▌▋▊▉█"


def report(desk: Desk, parsed: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    return desk.run(_report(desk, parsed))


async def _report(desk: Desk, parsed: argparse.Namespace) -> int:
    from .work import close_shop, open_shop_of

    shop = await open_shop_of(desk)
    try:
        tool, arguments = await _SHOW[parsed.action](desk, shop, parsed)
        if parsed.export:
            await _export(desk, shop, parsed, tool, arguments)
    finally:
        await close_shop(shop)
    return COMPLETED


async def _sales(desk: Desk, shop: OpenShop, parsed: argparse.Namespace) -> tuple[str, dict[str, Any]]:
    arguments = {
        "period": parsed.period,
        "measure": parsed.measure,
        "group_by": parsed.by,
        "compare_to": parsed.compare,
        "customer": parsed.customer,
        "product": parsed.product,
        "category": parsed.category,
        "warehouse": parsed.warehouse,
    }
    top = parsed.top or (None if desk.verbose or parsed.by in (None, "day", "week", "month", "quarter") else 30)
    found = await shop.sales(await reports.sales_query(shop, **arguments, top=top))
    answer = reports.sales_answer(found)
    _span(desk, "report_period", answer.period)
    if answer.compared_with is not None:
        _span(desk, "report_compared", answer.compared_with)
    if answer.rows:
        _sales_rows(desk, answer)
    if answer.total_count > len(answer.rows):
        desk.terminal.line(desk.texts("report_rows", shown=len(answer.rows), count=answer.total_count), "quiet")
    for total in answer.total:
        _sales_total(desk, answer, total)
    if not answer.total:
        desk.terminal.line(desk.texts("report_no_sales"))
    if answer.incomplete:
        desk.terminal.line(desk.texts("report_incomplete"), "quiet")
    _definition(desk, desk.texts("report_sales_rule", states=_states(desk, found.definition.states)), answer.as_of)
    return "sales_report", {name: value for name, value in arguments.items() if value is not None}


def _sales_rows(desk: Desk, answer: facts.SalesAnswer) -> None:
    lang, measure = desk.texts.lang, answer.measure
    shown = "margin" if measure == "margin" else "average" if measure == "average" else "revenue"
    head = [heading(answer.group_by or "", lang), heading("currency", lang), heading(shown, lang)]
    head += [heading("orders", lang), heading("quantity", lang)]
    compared = answer.compared_with is not None
    head += [heading("before", lang), heading("change_percent", lang)] if compared else []
    head += [heading("share_percent", lang), ""]
    values = [_measure(answer, row) for row in answer.rows]
    largest = _largest((row.currency, value) for row, value in zip(answer.rows, values, strict=True))
    rows = []
    for row, value in zip(answer.rows, values, strict=True):
        cells = [mark_line(row.name), row.currency, _number(getattr(row, shown)), str(row.orders)]
        cells.append(f"{_number(row.quantity)} {row.unit}" if row.quantity is not None else "")
        if compared:
            cells.append(_number(row.compared.before) if row.compared else "")
            cells.append(_signed(row.compared.change_percent) or "–" if row.compared else "")
        cells += [_number(row.share_percent), bar(value, largest[row.currency])]
        rows.append(cells)
    table(desk, head, rows, left=(0, 1, len(head) - 1))


def _measure(answer: facts.SalesAnswer, row: facts.SalesRowFact) -> Decimal:
    value = Decimal(row.orders) if answer.measure == "orders" else getattr(row, answer.measure)
    return value if isinstance(value, Decimal) else Decimal(0)


def _sales_total(desk: Desk, answer: facts.SalesAnswer, total: facts.SalesTotalFact) -> None:
    said = [f"{_number(total.revenue)} {total.currency}", desk.texts("report_orders", count=total.orders)]
    if total.average is not None:
        said.append(f"{heading('average', desk.texts.lang)} {_number(total.average)}")
    if total.quantity is not None:
        said.append(f"{_number(total.quantity)} {total.unit}")
    if total.margin is not None:
        said.append(f"{heading('margin', desk.texts.lang)} {_number(total.margin)} ({_number(total.margin_percent)}%)")
    if total.lines_without_cost:
        said.append(desk.texts("report_without_cost", count=total.lines_without_cost))
    desk.terminal.line(f"{heading('total', desk.texts.lang)}: {' · '.join(said)}")
    if total.compared is not None and total.compared.before is not None:
        change = _signed(total.compared.change_percent) if total.compared.change_percent is not None else "–"
        values = {"before": _number(total.compared.before), "difference": _signed(total.compared.difference)}
        desk.terminal.line(desk.texts("report_change", change=change, **values))
    del answer


async def _stock(desk: Desk, shop: OpenShop, parsed: argparse.Namespace) -> tuple[str, dict[str, Any]]:
    found = await shop.stock_report(
        parsed.kind, warehouse=parsed.warehouse, days=parsed.days, limit=10**6 if desk.verbose else 30
    )
    answer = reports.stock_answer(found, shop.company.currency, None)
    lang = desk.texts.lang
    names = ["sku", "name", "warehouse", "on_hand", "available"]
    names += {"low": ["daily_use", "enough_for_days"], "slow": ["last_sale", "value"]}.get(parsed.kind, ["value"])
    largest = max((row.value or Decimal(0) for row in answer.rows), default=Decimal(0))
    rows = []
    for row in answer.rows:
        cells = [mark_line(str(getattr(row, name))) for name in names[:3]]
        cells += [f"{_number(row.on_hand)} {row.unit}", _number(row.available)]
        cells += [_number(getattr(row, name)) for name in names[5:]]
        rows.append([*cells, bar(row.value or Decimal(0), largest) if parsed.kind in ("slow", "value") else ""])
    if rows:
        table(desk, [*(heading(name, lang) for name in names), ""], rows, left=(0, 1, 2, len(names)))
    shown = desk.texts("report_rows", shown=len(answer.rows), count=answer.total_count)
    desk.terminal.line(shown, "quiet")
    if answer.total is not None:
        places = " · ".join(f"{name} {_number(value)}" for name, value in answer.by_warehouse.items())
        desk.terminal.line(f"{heading('value', lang)}: {_number(answer.total)} {answer.currency} ({places})")
    if answer.negative_total:
        desk.terminal.line(f"{heading('negative_total', lang)}: {_number(answer.negative_total)} {answer.currency}")
    if answer.rows_without_cost:
        desk.terminal.line(desk.texts("report_without_cost", count=answer.rows_without_cost))
    _definition(desk, desk.texts(f"report_{parsed.kind}_rule", days=found.days), answer.as_of)
    asked = {"kind": parsed.kind, "warehouse": parsed.warehouse, "days": parsed.days}
    return "stock_report", {name: value for name, value in asked.items() if value is not None}


async def _receivables(desk: Desk, shop: OpenShop, parsed: argparse.Namespace) -> tuple[str, dict[str, Any]]:
    arguments = {"customer": parsed.customer, "overdue_only": parsed.overdue or None}
    asked = {name: value for name, value in arguments.items() if value is not None}
    answer = await _tool(shop, "list_receivables").handler(
        customer=parsed.customer, as_of=None, overdue_only=parsed.overdue, limit=10**6 if desk.verbose else 30, offset=0
    )
    lang = desk.texts.lang
    ages = list(dict.fromkeys(age for party in answer.parties for age in party.overdue_by_age))
    head = [heading(name, lang) for name in ("party", "currency", "not_due")]
    head += [desk.texts("report_age", age=age) for age in ages]
    head += [heading("unapplied", lang), heading("outstanding", lang), ""]
    largest = _largest((party.currency, party.outstanding) for party in answer.parties)
    rows = [
        [
            mark_line(party.party),
            party.currency,
            _number(party.not_due),
            *(_number(party.overdue_by_age.get(age)) for age in ages),
            _number(party.unapplied),
            _number(party.outstanding),
            bar(party.outstanding, largest[party.currency]),
        ]
        for party in answer.parties
    ]
    if rows:
        table(desk, head, rows, left=(0, 1, len(head) - 1))
    desk.terminal.line(desk.texts("report_rows", shown=len(rows), count=answer.total_count), "quiet")
    for total in answer.total:
        overdue = f"{heading('overdue', lang)} {_number(total.overdue)}"
        named = f"{heading('outstanding', lang)}: {_number(total.outstanding)} {total.currency}"
        desk.terminal.line(f"{named} ({heading('not_due', lang)} {_number(total.not_due)} · {overdue})")
    _definition(desk, desk.texts("report_ageing", day=answer.on), answer.as_of)
    return "list_receivables", asked


async def _quiet(desk: Desk, shop: OpenShop, parsed: argparse.Namespace) -> tuple[str, dict[str, Any]]:
    answer = await _tool(shop, "quiet_customers").handler(
        quiet_days=parsed.days, history_days=365, least_orders=3, limit=10**6 if desk.verbose else 30, offset=0
    )
    names = ("customer", "last_order", "days_since", "usual_days", "orders", "value", "currency")
    largest = _largest((row.currency, row.value) for row in answer.customers)
    rows = [
        [*(mark_line(_number(getattr(row, name))) for name in names), bar(row.value, largest[row.currency])]
        for row in answer.customers
    ]
    if rows:
        table(desk, [*(heading(name, desk.texts.lang) for name in names), ""], rows, left=(0, 6, 7))
    desk.terminal.line(desk.texts("report_rows", shown=len(rows), count=answer.total_count), "quiet")
    _definition(desk, desk.texts("report_quiet_rule", days=parsed.days), answer.as_of)
    return "quiet_customers", {"quiet_days": parsed.days}


_SHOW = {"sales": _sales, "stock": _stock, "receivables": _receivables, "quiet": _quiet}


def _tool(shop: OpenShop, name: str) -> Any:
    from erpilot.toolsets.shop import shop_tools

    return next(tool for tool in shop_tools(shop) if tool.name == name)


async def _export(desk: Desk, shop: OpenShop, parsed: argparse.Namespace, tool: str, arguments: dict[str, Any]) -> None:
    from erpilot.toolsets.shop import shop_tools
    from erpilot.toolsets.shop_export import write_table

    folder = Path(parsed.folder) if parsed.folder else desk.home / "files"
    context = ToolContext("", "", "")
    path, _, rows = await write_table(
        shop_tools(shop), tool, arguments, folder, parsed.export, desk.texts.lang, context
    )
    desk.terminal.line(desk.texts("report_exported", path=path, rows=rows))


def _span(desk: Desk, key: str, span: facts.SpanFact) -> None:
    desk.terminal.line(desk.texts(key, first=span.date_from, last=span.date_to, days=span.days, zone=span.zone))


def _states(desk: Desk, states: Sequence[str]) -> str:
    return desk.texts("report_comma").join(desk.texts(f"state_of_{state}") for state in states)


def _definition(desk: Desk, definition: str, as_of: str) -> None:
    desk.terminal.line(desk.texts("report_definition", definition=definition), "quiet")
    desk.terminal.line(desk.texts("report_as_of", as_of=as_of), "quiet")


def table(desk: Desk, head: Sequence[str], rows: Sequence[Sequence[str]], *, left: Sequence[int]) -> None:
    """A table whose columns stand at the right, but those in ``left``."""
    from rich.cells import cell_len

    widths = [max(cell_len(row[index]) for row in (head, *rows)) for index in range(len(head))]

    def placed(row: Sequence[str]) -> list[str]:
        return [
            cell if index in left else " " * (widths[index] - cell_len(cell)) + cell for index, cell in enumerate(row)
        ]

    desk.terminal.table(placed(head), [placed(row) for row in rows])


def _largest(amounts: Iterable[tuple[str, Decimal]]) -> dict[str, Decimal]:
    """The largest of each currency: bars of different ones are not compared."""
    largest: dict[str, Decimal] = {}
    for currency, value in amounts:
        largest[currency] = max(largest.get(currency, Decimal(0)), abs(value))
    return largest


def bar(value: Decimal, largest: Decimal) -> str:
    """A bar as long as the value is of the largest; one below zero is hollow."""
    if not largest:
        return ""
    eighths = int(abs(value) * BAR * 8 / largest)
    if value < 0:
        return "░" * max(1, eighths // 8)
    whole, rest = divmod(eighths, 8)
    return "█" * whole + (_BLOCKS[rest] if rest else "")


def _number(value: Any) -> str:
    if isinstance(value, Decimal):
        return f"{value:,f}"
    return "" if value is None else str(value)


def _signed(value: Decimal | None) -> str:
    return "" if value is None else f"{value:+,f}"
