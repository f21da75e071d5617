"""What a call would do, as lines: quoted, in the person's language, cut to the screen, and folded where it is longer.

Invariant: pure, and nothing is left off: what is not on a page is on a later one, and how much that is is said exactly.
A line never begins where a question of ours could begin: each row on the screen carries the mark of a quotation.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .gate import mark_line
from .texts import Texts

if TYPE_CHECKING:
    from agent_core.events import Offer
    from agent_core.trace.transcript import Question

QUOTE = "│ "
LONGEST_NAME = 60
"""Characters of a record's name inside a question; the preview shows it whole."""


def preview_lines(question: Question, texts: Texts) -> list[str]:
    """The preview and the exact arguments, one thing a line, without the mark."""
    from erpilot.toolsets import words

    preview, lang = question.preview, texts.lang
    shown = [words.title(preview.title, lang)]
    for change in preview.changes:
        name = words.field(change.field, lang)
        if change.record:
            name = f"{change.record} · {name}"
        before = texts("new_value") if change.before is None else change.before
        shown.append(f"  {name}: {before} → {'—' if change.after is None else change.after}")
    shown += [f"  {words.notice(notice.code, notice.values, lang)}" for notice in preview.notices]
    shown += [f"  {note}" for note in preview.notes]
    if preview.asked_by:
        shown.append("  " + texts("asked_by", record=preview.asked_by))
    shown += _argument_lines(question.arguments, texts)
    return [mark_line(line) for line in shown]


def _argument_lines(arguments: str, texts: Texts) -> list[str]:
    """The canonical arguments, each on a line of its own and counted; as they are when they are no JSON object."""
    try:
        values = json.loads(arguments)
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict):
        return [f"  {texts('arguments', count='')}: {arguments}"]
    lines = [f"  {texts('arguments', count=f' ({len(values)})')}:"]
    for name, value in values.items():
        lines.append(f"    {name} = {json.dumps(value, ensure_ascii=False, separators=(',', ':'))}")
    return lines


def rows(lines: Sequence[str], width: int | None) -> list[str]:
    """The lines as rows of the screen, each with the mark; a line that is too long goes on in the next row."""
    if width is None:
        return [QUOTE + line for line in lines]
    return [QUOTE + part for line in lines for part in wrapped(line, max(width - len(QUOTE) - 1, 10))]


def wrapped(line: str, room: int) -> list[str]:
    """A line in parts of at most ``room`` columns, whatever the characters' width."""
    from rich.cells import get_character_cell_size

    parts, start, used = [], 0, 0
    for place, character in enumerate(line):
        size = get_character_cell_size(character)
        if used + size > room or place - start >= 4 * room:
            parts.append(line[start:place])
            start, used = place, 0
        used += size
    parts.append(line[start:])
    return parts


@dataclass(frozen=True, slots=True)
class Folded:
    """A preview in pages of the screen's height."""

    pages: tuple[tuple[str, ...], ...]

    def hidden(self, opened: int) -> tuple[int, int]:
        """Rows and characters that stand behind the first ``opened`` pages."""
        behind = [row for page in self.pages[opened:] for row in page]
        return len(behind), sum(len(row) - len(QUOTE) for row in behind)


def fold(all_rows: Sequence[str], height: int) -> Folded:
    """As many rows a page as there is ``height`` for."""
    step = max(height, 3)
    return Folded(tuple(tuple(all_rows[at : at + step]) for at in range(0, max(len(all_rows), 1), step)))


def always_sentence(tool: str, offer: Offer, texts: Texts) -> str:
    """What saying "always" would cover: every limit of the offer, in words."""
    if offer.seconds is None:
        until = texts("always_for_good")
    else:
        until = texts("always_hours", hours=f"{offer.seconds / 3600:g}")
    return texts("always", tool=mark_line(tool), limits=limits_text(offer.target, offer.limits, texts), until=until)


def limits_text(target: str | None, limits: Mapping[str, Any], texts: Texts) -> str:
    """For what, with which fixed arguments and up to which amounts a standing grant holds."""
    from erpilot.toolsets import words

    parts = [] if target is None else [texts("always_target", target=name(target, texts))]
    for argument, value in limits.get("same", {}).items():
        if value != target:
            written = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            parts.append(texts("always_same", name=mark_line(argument), value=name(written, texts)))
    for measure, most in limits.get("max", {}).items():
        base, _, unit = measure.partition(" ")
        amount = mark_line(f"{most} {unit}".rstrip())
        parts.append(texts("always_most", name=mark_line(words.field(base, texts.lang)), most=amount))
    return texts("always_comma").join(parts) or texts("always_any")


def name(text: str, texts: Texts) -> str:
    """The name of a record inside a sentence of ours: one line, in quotation marks, a long one counted."""
    line = mark_line(text)
    for mark in "“”「」":
        line = line.replace(mark, '"')
    if len(line) > LONGEST_NAME:
        line = line[:LONGEST_NAME] + texts("more", count=len(line) - LONGEST_NAME)
    return texts("quoted", text=line)
