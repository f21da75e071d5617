"""``erpilot show SESSION --numbers``: each figure of the answers and where it came from.

Invariant: what is shown is what was recorded when the answer was given; nothing is traced again.
"""

from __future__ import annotations

from collections.abc import Sequence

from agent_core import events as ev

from .desk import Desk


def print_numbers(desk: Desk, session: str, events: Sequence[ev.Recorded]) -> None:
    """A table for each answer that was checked."""
    tools = {
        (call.id): call.name
        for item in events
        if isinstance(item.event, ev.AssistantMessage)
        for call in item.event.tool_calls
    }
    checks = [item.event for item in events if isinstance(item.event, ev.AnswerChecked)]
    if not checks:
        desk.terminal.line(desk.texts("no_numbers", session=session))
    for check in checks:
        counts = {"traced": len(check.figures), "untraced": len(check.untraced)}
        desk.terminal.line(desk.texts("numbers_of", seq=check.answer_seq, **counts))
        rows = [[text, desk.texts("source_none"), ""] for text in check.untraced]
        rows += [[figure.text, *_source(desk, figure, tools)] for figure in check.figures]
        if rows:
            desk.terminal.table([desk.texts(f"head_{name}") for name in ("figure", "source", "how")], rows)


def _source(desk: Desk, figure: ev.Figure, tools: dict[str, str]) -> tuple[str, str]:
    derivation = figure.derivation or "read"
    how = desk.texts.get(f"how_{derivation}", derivation)
    if figure.call_id is None:
        return desk.texts("source_question"), how
    tool = tools.get(figure.call_id, figure.call_id)
    return f"{tool} · {figure.path}" if figure.path else tool, how
