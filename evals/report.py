"""What was measured, as a table for people (Markdown) and as JSON for programs.

Invariant: every number of the table is in the JSON, with the events that it was made from.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct

from .interview import Interview
from .marks import Marks

HEAD = (
    "question",
    "well-formed call",
    "right tools",
    "right arguments",
    "completed",
    "facts",
    "from nowhere",
    "ended",
    "turns",
    "tokens in",
    "cached",
    "out",
    "seconds",
)


class Result(Struct, frozen=True):
    """One question, asked and marked."""

    interview: Interview
    marks: Marks


class About(Struct, frozen=True):
    """What was measured, where and when."""

    model: str
    base_url: str
    date: str
    today: str
    questions: str
    max_steps: int


def row(result: Result) -> tuple[str, ...]:
    """One question as a row of the table."""
    found, marks = result.interview, result.marks
    usage = found.usage
    return (
        found.question.id,
        _yes(marks.well_formed),
        _yes(marks.right_tools),
        _yes(marks.right_arguments),
        _yes(marks.completed),
        f"{marks.facts_found}/{marks.facts}",
        str(len(marks.from_nowhere)),
        found.reason,
        str(len(found.turns)),
        f"{usage.prompt_tokens or 0:,}",
        f"{usage.cached_tokens or 0:,}",
        f"{usage.completion_tokens or 0:,}",
        f"{found.seconds:.0f}",
    )


def totals(name: str, results: Sequence[Result]) -> tuple[str, ...]:
    """Several questions as one row."""
    count = len(results)
    marks = [result.marks for result in results]
    usages = [result.interview.usage for result in results]
    ended = sum(result.interview.reason == "completed" for result in results)
    return (
        f"**{name}**",
        f"{sum(each.well_formed for each in marks)}/{count}",
        f"{sum(each.right_tools for each in marks)}/{count}",
        f"{sum(each.right_arguments for each in marks)}/{count}",
        f"{sum(each.completed for each in marks)}/{count}",
        f"{sum(each.facts_found for each in marks)}/{sum(each.facts for each in marks)}",
        str(sum(len(each.from_nowhere) for each in marks)),
        f"completed {ended}/{count}",
        str(sum(len(result.interview.turns) for result in results)),
        f"{sum(usage.prompt_tokens or 0 for usage in usages):,}",
        f"{sum(usage.cached_tokens or 0 for usage in usages):,}",
        f"{sum(usage.completion_tokens or 0 for usage in usages):,}",
        f"{sum(result.interview.seconds for result in results):.0f}",
    )


def by_language(results: Sequence[Result]) -> dict[str, list[Result]]:
    """The results of each language, then all of them."""
    groups: dict[str, list[Result]] = {}
    for result in results:
        groups.setdefault(result.interview.question.language, []).append(result)
    return {**groups, "all": list(results)}


def table(results: Sequence[Result]) -> str:
    """The whole table, with the totals by language."""
    rows = [HEAD, tuple("---" for _ in HEAD), *map(row, results)]
    rows += [totals(name, group) for name, group in by_language(results).items()]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in rows)


def as_json(about: About, results: Sequence[Result]) -> bytes:
    """Everything, for programs."""
    whole: dict[str, Any] = {
        "about": about,
        "totals": {
            name: dict(zip(HEAD, totals(name, group), strict=True)) for name, group in by_language(results).items()
        },
        "results": results,
    }
    return msgspec.json.format(msgspec.json.encode(whole), indent=1) + b"\n"


def _yes(value: bool) -> str:
    return "yes" if value else "no"
