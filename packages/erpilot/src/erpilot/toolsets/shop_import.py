"""Tools for spreadsheets that a person has handed over: what is in one, what it would change, and applying it.

Invariant: only files that a person handed over are read, by name or handle; what is applied is the plan that was shown,
as one write that can be taken back.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Annotated

from pydantic import Field, WithJsonSchema

from agent_core.events import Change, Notice
from agent_core.tools.tool import Tier, Tool

from ..shop.backend import ErpBackend, FieldChange, Write, Written
from ..shop.errors import Conflict, Refused
from ..shop.importing.applying import Options, apply_plan, plan_import, read_files
from ..shop.importing.keeping import ImportFolder, Kept
from ..shop.importing.kinds import Kind
from ..shop.importing.planning import Mode
from ..shop.importing.planning import Plan as ImportPlan
from ..shop.importing.problems import Problem
from ..shop.importing.reading import Table
from ..shop.importing.words import field_name, sentence
from ..shop.rights import RIGHTS, Right, require
from ..shop.values import Money, Quantity
from . import shop_results as r
from . import words
from .shop_arguments import Query, Text
from .shop_kit import reading
from .shop_resolve import answering, stamp
from .shop_writing import MOST_SHOWN, Plan, folded, writing

TOLD_PROBLEMS, TOLD_ROWS = 30, 10
Mapped = Annotated[
    dict[str, str] | None,
    Field(max_length=60),
    WithJsonSchema(
        {
            "type": "object",
            "additionalProperties": {"type": "string"},
            "description": 'field by column letter or heading, "-" leaves it out',
        }
    ),
]


class ColumnFact(r.Fact):
    """What a column is taken for; ``field`` absent: it is left out."""

    column: str
    heading: str
    field: str | None = None
    unit: str | None = None


class ProblemFact(r.Fact):
    """What is wrong in a row (0: the whole sheet). ``error``: the row is left out; ``warning``: it is taken."""

    row: int
    column: str | None = None
    severity: str
    problem: str


class ImportFact(r.Fact):
    """``rows`` = ``new`` + ``changed`` + ``unchanged`` + ``left_out``. ``sums`` of the rows that are taken, to compare
    with the source. ``mode``: counts are set, or added. Nothing has been changed."""

    handle: str
    files: list[str]
    kind: str
    sheet: str
    headings_in_row: int
    columns: list[ColumnFact]
    mode: str
    rows: int
    new: int
    changed: int
    unchanged: int
    left_out: int
    sums: dict[str, r.Qty]
    examples: list[str]
    problems: list[ProblemFact]
    problems_in_all: int
    problems_by_kind: dict[str, int]
    as_of: str


def import_tools(backend: ErpBackend, folder: ImportFolder, rights: frozenset[Right] = frozenset(RIGHTS)) -> list[Tool]:
    """The tools over one backend and the files that were handed over. ``rights``: of whom they act for; without the one
    to import, no file is opened and none is named, since what is in them is more than its reader may see."""

    async def planned(kept: Kept, options: Options) -> tuple[Table, ImportPlan]:
        table = await read_files(kept.paths, options)
        return table, await plan_import(backend, table, options)

    @reading("products", "stock", "prices", "customers", "suppliers", "documents")
    async def read_import_file(
        file: Query,
        kind: Annotated[Kind | None, Field(description="found out, unless it is named")] = None,
        sheet: Text = None,
        mapping: Mapped = None,
        mode: Annotated[Mode, Field(description="counts: set what is on hand, or add to it")] = "set",
    ) -> ImportFact:
        """Read a spreadsheet that a person handed over (its name or handle): columns, rows that are new, changed or the
        same, problems by row and column. Changes nothing; `apply_import` takes the handle."""
        with answering():
            require(rights, "catalogue")
            kept = folder.named(file)
            before = kept.options
            options = Options(
                kind=kind or before.kind,
                sheet=sheet or before.sheet,
                mapping=dict(before.mapping) | (mapping or {}),
                encoding=before.encoding,
                mode=mode if mode != "set" else before.mode,
            )
            if options != before:
                kept = folder.keep_as(kept, options)
            table, plan = await planned(kept, options)
            return import_fact(kept, table, plan, stamp(backend.now()))

    @writing(
        backend,
        "products",
        "stock",
        "prices",
        "customers",
        "suppliers",
        "documents",
        target=lambda handle, **_: handle,
        tier=Tier.DANGEROUS,
    )
    async def apply_import(handle: Query) -> Plan:
        """Apply a spreadsheet that `read_import_file` has read, all of it as one change that can be taken back; rows
        with errors are left out. A person confirms every time."""
        require(rights, "catalogue")
        kept = folder.find(handle)
        table, plan = await planned(kept, kept.options)
        if plan.empty:
            raise Refused("The file would change nothing.", hint="Everything in it is in the shop already.")

        async def act(write: Write, shown: Mapping[str, str]) -> Written:
            if shown.get("plan", plan_text(plan)) != plan_text(plan):
                raise Conflict("The shop has changed since the file was shown; nothing was changed.")
            return await apply_plan(backend, plan, reason=", ".join(kept.names), write=write)

        return Plan(
            "apply_import",
            import_changes(kept, table, plan),
            act,
            notices=_notices(plan),
            seen={"plan": plan_text(plan)},
            accepts=plan.accepted,
        )

    return [read_import_file, apply_import]


def plan_text(plan: ImportPlan) -> str:
    """What a plan comes to, with every value before and after, so that another one is told from it."""
    digest = hashlib.sha256()
    for each in (*plan.products, *plan.parties, *plan.adjustments, *plan.prices, *plan.orders):
        digest.update(repr(each).encode())
    counts = f"{plan.new} {plan.changed} {plan.unchanged} {plan.left_out}"
    return f"{plan.kind} {plan.mode} {counts} {digest.hexdigest()[:16]}"


def import_fact(kept: Kept, table: Table, plan: ImportPlan, as_of: str) -> ImportFact:
    """What a file holds and would do, as answered."""
    headings = table.headings
    columns = [
        ColumnFact(column=column.letters, heading=column.heading, field=column.field, unit=column.unit)
        for column in headings.columns.values()
    ]
    columns += [ColumnFact(column=letters, heading=heading) for letters, heading in headings.unused]
    return ImportFact(
        handle=kept.handle,
        files=list(kept.names),
        kind=plan.kind,
        sheet=table.sheet.name,
        headings_in_row=headings.row,
        columns=columns,
        mode=plan.mode,
        rows=plan.rows,
        new=plan.new,
        changed=plan.changed,
        unchanged=plan.unchanged,
        left_out=plan.left_out,
        sums=plan.sums,
        examples=[example(change) for change in plan.sample[:TOLD_ROWS]],
        problems=[
            ProblemFact(row=each.row, column=each.column or None, severity=each.severity, problem=_said(each))
            for each in plan.problems.kept[:TOLD_PROBLEMS]
        ],
        problems_in_all=plan.problems.total,
        problems_by_kind=dict(plan.problems.counts.most_common()),
        as_of=as_of,
    )


def _said(problem: Problem, language: words.Language = "en") -> str:
    values = problem.values
    if "field" in values:
        values = {**values, "field": field_name(values["field"], language)}
    return sentence(problem.code, values, language)


def example(change: FieldChange) -> str:
    """One change in a line."""
    if change.before is None:
        return f"{change.subject}: {value_text(change.after)}"
    return f"{change.subject} {change.field}: {value_text(change.before)} -> {value_text(change.after)}"


def value_text(value: object) -> str:
    """A value as a person reads it."""
    if isinstance(value, Money):
        return f"{value.amount} {value.currency}"
    if isinstance(value, Quantity):
        return f"{r.plain(value.value)} {value.unit}"
    return "" if value is None else str(value)


def import_changes(kept: Kept, table: Table, plan: ImportPlan) -> tuple[Change, ...]:
    """What a person is shown: the file, what it is taken for, counts, sums, and the first changes."""
    head = [
        Change("file", None, ", ".join(kept.names)),
        Change("import_kind", None, plan.kind),
        Change(
            "columns", None, ", ".join(f"{c.letters} {c.heading}={c.field}" for c in table.headings.columns.values())
        ),
        Change("rows", None, str(plan.rows)),
        Change("rows_new", None, str(plan.new)),
        Change("rows_changed", None, str(plan.changed)),
        Change("rows_unchanged", None, str(plan.unchanged)),
        Change("rows_left_out", None, str(plan.left_out)),
    ]
    if plan.kind == "stock":
        head.insert(2, Change("import_mode", None, plan.mode))
    head += [Change(f"sum_of {name}", None, r.plain(value)) for name, value in sorted(plan.sums.items())]
    rows = [
        Change(each.field, value_text(each.before) or None, value_text(each.after), each.subject)
        for each in plan.sample
    ]
    return (*head, *rows)


def _notices(plan: ImportPlan) -> tuple[Notice, ...]:
    notices = [
        Notice(
            "import_problem",
            {"row": str(each.row), "column": each.column, "problem": _said(each), "problem_zh": _said(each, "zh")},
        )
        for each in plan.problems.kept[:MOST_SHOWN]
    ]
    if plan.problems.total > MOST_SHOWN:
        notices.append(folded(plan.problems.total))
    if plan.new + plan.changed > len(plan.sample):
        notices.append(Notice("more_rows", {"count": str(plan.new + plan.changed), "shown": str(len(plan.sample))}))
    return tuple(notices)
