"""``erpilot import``: shows what a spreadsheet is taken for and would do, asks, applies it as one change.

Invariant: nothing is changed before the person has seen the mapping, the counts and the problems and has agreed.
"""

from __future__ import annotations

import argparse
import secrets
from pathlib import Path
from typing import TYPE_CHECKING

from erpilot.shop.importing.problems import Problem as Trouble
from erpilot.shop.importing.problems import UnreadableFile
from erpilot.shop.importing.words import FIELDS, field_name, kind_name, sentence

from .desk import Desk
from .gate import mark_line
from .problems import COMPLETED, USAGE, WAITING, Problem
from .terminal import can_ask

if TYPE_CHECKING:
    from erpilot.shop.importing.planning import Plan
    from erpilot.shop.importing.reading import Table

SHOWN = 20
"""Problems and changes on the screen, unless everything is wanted."""


def import_(desk: Desk, parsed: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    try:
        return desk.run(_undo(desk, parsed.undo) if parsed.undo else _import(desk, parsed))
    except UnreadableFile as error:
        values = dict(error.values)
        if "field" in values:
            names = [field_name(name, desk.texts.lang) for name in values["field"].split(" / ")]
            values["field"] = " / ".join(names)
        raise Problem(USAGE, "import_failed", why=sentence(error.code, values, desk.texts.lang)) from None


async def _import(desk: Desk, parsed: argparse.Namespace) -> int:
    from erpilot.shop.backend import Write
    from erpilot.shop.importing.applying import Options, apply_plan, plan_import, read_files
    from erpilot.shop.importing.keeping import ImportFolder

    from .work import close_shop, open_shop_of

    if not parsed.paths:
        raise Problem(USAGE, "import_no_path")
    options = Options(
        kind=parsed.kind,
        sheet=parsed.sheet,
        mapping=_mapping(parsed.map),
        encoding=parsed.encoding,
        mode="add" if parsed.add else "set",
    )
    paths = [Path(path) for path in parsed.paths]
    table = await read_files(paths, options)
    shop = await open_shop_of(desk)
    try:
        plan = await plan_import(shop, table, options)
        _show(desk, table, plan)
        if plan.rows and plan.left_out == plan.rows:
            raise Problem(USAGE, "import_all_wrong")
        if plan.empty:
            desk.terminal.line(desk.texts("import_nothing"))
            return COMPLETED
        kept = ImportFolder(desk.home / "imports").keep(paths, options)
        if parsed.dry_run:
            desk.terminal.note(desk.texts("import_dry", handle=kept.handle), "quiet")
            return COMPLETED
        if not parsed.yes:
            if not can_ask():
                desk.terminal.note(desk.texts("import_waits", handle=kept.handle), "wait")
                return WAITING
            if not await _agreed(desk, plan):
                return COMPLETED
        key = f"import-{secrets.token_hex(4)}"
        names = ", ".join(path.name for path in paths)
        written = await apply_plan(shop, plan, reason=names, write=Write(key, desk.person, approved_by=desk.person))
        about = {"number": written.number, "new": plan.new, "changed": plan.changed, "key": key}
        desk.terminal.line(desk.texts("shop_imported", **about))
    finally:
        await close_shop(shop)
    return COMPLETED


async def _undo(desk: Desk, key: str) -> int:
    from erpilot.shop.backend import Write

    from .work import close_shop, open_shop_of

    shop = await open_shop_of(desk)
    try:
        written = await shop.find_by_key(key)
        if written is None:
            raise Problem(USAGE, "import_no_key", name=key)
        count = len(written.changes)
        desk.terminal.note(desk.texts("import_undo", number=written.number, verb=written.verb, count=count), "wait")
        await shop.undo(key, reason="undo", write=Write(f"undo-{key}", desk.person, approved_by=desk.person))
        desk.terminal.line(desk.texts("import_undone", number=written.number))
    finally:
        await close_shop(shop)
    return COMPLETED


def _mapping(written: list[str]) -> dict[str, str]:
    mapping = {}
    for each in written:
        column, equals, name = each.rpartition("=")
        if not equals or not column.strip():
            raise Problem(USAGE, "import_map", written=each)
        mapping[column.strip()] = name.strip()
    return mapping


async def _agreed(desk: Desk, plan: Plan) -> bool:
    from .prompt import says_yes

    if await says_yes(desk.terminal, desk.texts("import_question", new=plan.new, changed=plan.changed)):
        return True
    desk.terminal.note(desk.texts("left_as_it_was"))
    return False


def _show(desk: Desk, table: Table, plan: Plan) -> None:
    lang, say = desk.texts.lang, desk.terminal.line
    headings = table.headings
    kind = kind_name(plan.kind, lang)
    say(desk.texts("import_file", kind=kind, sheet=mark_line(table.sheet.name), row=headings.row))
    rows = [
        [column.letters, mark_line(column.heading), field_name(column.field, lang)]
        for column in sorted(headings.columns.values(), key=lambda column: column.index)
    ]
    rows += [[letters, mark_line(heading), desk.texts("import_unused")] for letters, heading in headings.unused]
    desk.terminal.table([desk.texts(f"head_{name}") for name in ("column", "heading", "field")], rows)
    if plan.kind == "stock":
        say(desk.texts(f"import_mode_{plan.mode}"))
    counts = {"rows": plan.rows, "new": plan.new, "changed": plan.changed, "unchanged": plan.unchanged}
    say(desk.texts("import_counts", **counts, left_out=plan.left_out))
    for name, value in sorted(plan.sums.items()):
        label = desk.texts.get(f"sum_{name}", "") or field_name(name, lang)
        say(desk.texts("import_sum", name=label, value=f"{value:,f}"))
    _show_changes(desk, plan)
    _show_problems(desk, plan)


def _show_changes(desk: Desk, plan: Plan) -> None:
    from erpilot.toolsets.shop_import import value_text

    if not plan.sample:
        return
    lang, limit = desk.texts.lang, len(plan.sample) if desk.verbose else 5
    rows = [
        [
            mark_line(each.subject),
            field_name(each.field, lang) if each.field in FIELDS else mark_line(each.field),
            mark_line(value_text(each.before)) or desk.texts("new_value"),
            mark_line(value_text(each.after)),
        ]
        for each in plan.sample[:limit]
    ]
    desk.terminal.table([desk.texts(f"head_{name}") for name in ("record", "changed", "before", "after")], rows)
    if plan.new + plan.changed > limit:
        desk.terminal.line(desk.texts("import_more_changes", count=plan.new + plan.changed - limit), "quiet")


def _show_problems(desk: Desk, plan: Plan) -> None:
    problems = plan.problems
    if not problems.total:
        return
    desk.terminal.line(desk.texts("import_problems", count=problems.total), "wait")
    shown = problems.kept if desk.verbose else problems.kept[:SHOWN]
    rows = [
        [str(each.row) if each.row else "", each.column, desk.texts(f"severity_{each.severity}"), said(each, desk)]
        for each in shown
    ]
    desk.terminal.table([desk.texts(f"head_{name}") for name in ("row", "column", "severity", "problem")], rows)
    if problems.total > len(shown):
        desk.terminal.line(desk.texts("import_more_problems", count=problems.total - len(shown)), "quiet")


def said(problem: Trouble, desk: Desk) -> str:
    """A problem in the language of the person."""
    values = problem.values
    if "field" in values:
        values = {**values, "field": field_name(values["field"], desk.texts.lang)}
    return mark_line(sentence(problem.code, values, desk.texts.lang))
