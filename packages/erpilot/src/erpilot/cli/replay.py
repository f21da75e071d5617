"""``erpilot replay``: a recorded conversation, from the log, an export or a trace, printed the same way from all.

Invariant: nothing is run again; what is printed depends on the transcript alone.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from .desk import Desk, history_of, resolve
from .gate import mark_line
from .problems import USAGE, Problem
from .terminal import Terminal, can_ask

if TYPE_CHECKING:
    from agent_core.trace.transcript import AnyItem

    from .lines import Lines


def replay(desk: Desk, parsed: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    from .lines import lines_of

    path = Path(parsed.source)
    notes: list[str] = []
    if _is_file(path):
        from agent_core.store.export import is_export

        items = _of_export(path) if is_export(path) else _of_trace(desk, path, notes)
    else:
        items = desk.run(_of_log(desk, parsed.source))
    by_step = parsed.step_by_step and can_ask()
    print_transcript(desk.terminal, lines_of(desk), items, by_step=by_step)
    for note in notes:
        desk.terminal.note(note, "error")
    return 0


def _as_it_happened(items: Sequence[AnyItem]) -> list[AnyItem]:
    """The transcript with each call that a person was asked about behind the question and what followed from it."""
    from agent_core.trace.transcript import Question, Step, Use

    asked = {item.call_id for item in items if isinstance(item, Question)}
    ordered: list[AnyItem] = []
    waiting: list[AnyItem] = []
    for item in items:
        if isinstance(item, Use) and item.call_id in asked:
            waiting.append(item)
            continue
        if isinstance(item, Step):
            ordered += waiting
            waiting = []
        ordered.append(item)
    return ordered + waiting


def print_transcript(
    terminal: Terminal, lines: Lines, items: Sequence[AnyItem], *, by_step: bool = False, whole: bool = True
) -> None:
    """The conversation on stdout. ``by_step``: waits for Enter before each turn. ``whole``: it should have an end."""
    from agent_core.trace.transcript import Began, Ended, Opened, Question, Remark, Said, Step, Use

    texts = lines.texts
    for item in _as_it_happened(items):
        match item:
            case Opened(parent=str() as parent):
                terminal.line(texts("forked", parent=mark_line(parent), seq=item.parent_seq), "quiet")
            case Opened():
                pass
            case Began():
                key = "run_resumed" if item.resumed else "run_with"
                terminal.line(texts(key, model=mark_line(item.model)), "quiet")
            case Said():
                queued = f" {texts('queued')}" if item.queued else ""
                terminal.line(f"{texts('you')}{queued}: {item.text}")
                for text, style in lines.recalled(item):
                    terminal.line(text, style)
            case Step():
                if by_step and not _go_on(terminal, lines):
                    return
                for text, style in [*lines.failures(item), *lines.reasoning(item)]:
                    terminal.line(text, style)
                if said := item.text or item.refusal:
                    terminal.line(said.rstrip("\n"))
                for text, style in lines.step(item):
                    terminal.line(text, style)
            case Use():
                for text, style in lines.tool(item):
                    terminal.line(text, style)
            case Question():
                for text, style in [lines.wants(item), *lines.preview(item), *lines.decision(item)]:
                    terminal.line(text, style)
            case Ended():
                for text, style in lines.ended(item):
                    terminal.line(text, style)
            case Remark():
                for text, style in lines.remark(item):
                    terminal.line(text, style)
    if whole and items and not isinstance(items[-1], Ended):
        terminal.line(texts("replay_unfinished"), "wait")


def _go_on(terminal: Terminal, lines: Lines) -> bool:
    terminal.note(lines.texts("next_step"), "wait")
    answer = sys.stdin.readline()
    return bool(answer) and answer.strip().lower() not in ("q", "quit")


def _of_trace(desk: Desk, path: Path, notes: list[str]) -> list[AnyItem]:
    from agent_core.trace.jsonl import TraceError, read_trace

    try:
        trace = read_trace(path)
    except TraceError as error:
        raise Problem(USAGE, "trace_failed", why=error) from None
    if trace.torn:
        lines = ", ".join(map(str, trace.torn[:10])) + (", …" if len(trace.torn) > 10 else "")
        notes.append(desk.texts("torn", count=len(trace.torn), path=path, lines=lines))
    if trace.error is not None:
        notes.append(desk.texts("trace_error", why=trace.error))
    return trace.items


def _of_export(path: Path) -> list[AnyItem]:
    from agent_core.store.export import read_export
    from agent_core.trace.builder import TranscriptBuilder

    builder = TranscriptBuilder()
    for item in read_export(path).recorded():
        builder.add(item)
    return builder.items


async def _of_log(desk: Desk, written: str) -> list[AnyItem]:
    async with desk.open_store() as store:
        return await history_of(store, await resolve(store, written))


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name that no file can have
        return False
