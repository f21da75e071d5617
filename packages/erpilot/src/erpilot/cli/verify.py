"""``erpilot verify``: is the log what was written, and would today's code decide the same?

Invariant: nothing is changed but the file of accepted differences, and that only when a person says so. A log that
does not verify, and a decision or an effect that differs and was not accepted, end with exit code 6.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from agent_core import events as ev
from agent_core.errors import AgentError, DamagedLog, Erased
from agent_core.redecide import Difference, read_log, redecide
from agent_core.store.base import Head, Verified
from agent_core.store.export import is_export, read_export
from erpilot.figures import FIGURES

from .desk import Desk, resolve
from .gate import mark_line
from .problems import COMPLETED, STORAGE, USAGE, Problem, explain
from .terminal import can_ask

if TYPE_CHECKING:
    from agent_core.store.base import EventStore

ACCEPTED_NAME = "accepted.json"
"""Beside logs in a folder: differences that somebody accepted."""
AROUND = 200
"""Characters of a long difference that are shown around the place where it begins."""
SHOWN = 10
"""Differences of one log that are printed, unless everything is wanted."""


def verify(desk: Desk, parsed: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    return desk.run(_verify(desk, parsed))


@dataclass
class _Report:
    """What was found over all logs."""

    code: int = COMPLETED
    new: list[Difference] = field(default_factory=list)
    """Differences that nobody has accepted yet."""


async def _verify(desk: Desk, parsed: argparse.Namespace) -> int:
    from agent_core.redecide import accept, not_accepted, read_accepted

    path, report = _path(parsed.source), _Report()
    head = None if parsed.against is None else read_head(parsed.against)
    beside = None if path is None or not path.is_dir() else path / ACCEPTED_NAME
    file = Path(parsed.accept) if parsed.accept is not None else beside
    if parsed.because is not None and parsed.accept is None:
        raise Problem(USAGE, "accept_needs_file")
    known = [] if file is None else read_accepted(file)
    if path is None:
        async with desk.open_store() as store:
            await _check_stored(desk, store, parsed.source, head, report)
    else:
        files = _exports(path)
        if head is not None and len(files) != 1:
            raise Problem(USAGE, "against_one")
        for each in files:
            _check_file(desk, each, head, report)
    found, report.new = report.new, not_accepted(report.new, known)
    if len(found) > len(report.new):
        desk.terminal.line(desk.texts("verify_accepted", count=len(found) - len(report.new), file=file), "quiet")
    _tell(desk, report.new)
    failing = [one for one in report.new if one.kind != "rendering"]
    if failing and parsed.accept is not None and (parsed.because is not None or await _is_accepted(desk)):
        accept(parsed.accept, failing, by=desk.person, reason=parsed.because or "")
        desk.terminal.note(desk.texts("verify_kept", count=len(failing), file=parsed.accept))
        failing = []
    return report.code or (STORAGE if failing else COMPLETED)


async def _check_stored(desk: Desk, store: EventStore, written: str, head: Head | None, report: _Report) -> None:
    session = written if head is not None and not await _is_known(store, written) else await resolve(store, written)
    anchor = None if head is None else Head(session, head.seq, head.hash)
    verified = await store.verify(session, against=anchor)
    _say_intact(desk, verified)
    try:
        items, contents = await read_log(store, session)
    except Erased:
        desk.terminal.line(desk.texts("verify_erased"), "quiet")
        return
    _redecide(desk, session, items, contents, report)


async def _is_known(store: EventStore, written: str) -> bool:
    known = [info.session_id for info in await store.sessions()]
    return written == "last" or any(session.startswith(written) for session in known)


def _check_file(desk: Desk, path: Path, head: Head | None, report: _Report) -> None:
    """One exported session; what is wrong with it is said, and the next one is looked at."""
    desk.terminal.line(desk.texts("verify_file", path=path), "quiet")
    try:
        export = read_export(path)
        if head is not None:
            export = read_export(path, against=Head(export.header.session_id, head.seq, head.hash))
        _say_intact(desk, export.verified)
        try:
            items = list(export.recorded())
        except Erased:
            desk.terminal.line(desk.texts("verify_erased"), "quiet")
            return
        _redecide(desk, export.header.session_id, items, export.contents, report)
    except AgentError as error:
        code, sentence = explain(error, desk.texts)
        desk.terminal.line(sentence if not isinstance(error, DamagedLog) else mark_line(str(error)), "error")
        report.code = report.code or code


def _say_intact(desk: Desk, verified: Verified) -> None:
    say, texts = desk.terminal.line, desk.texts
    head = f"{verified.head}:{verified.head_hash}"
    say(texts("verify_intact", session=verified.session_id, count=verified.head, head=head))
    for kind, spans in (("erased", verified.erased), ("redacted", verified.redacted)):
        if spans:
            listed = ", ".join(f"{first}-{last}" if last > first else f"{first}" for first, last in spans)
            say(texts(f"verify_spans_{kind}", events=listed), "wait")
    say(texts("verify_anchored" if verified.anchored else "verify_not_anchored"), "quiet")


def _redecide(
    desk: Desk, session: str, items: Sequence[ev.Recorded], contents: Mapping[str, bytes], report: _Report
) -> None:
    try:
        differences = redecide(items, contents, checkers=[FIGURES])
    except AgentError as error:
        desk.terminal.line(desk.texts("verify_not_decided", why=error), "wait")
        return
    # Where a log is masked, contents have lost the key of their names: what reads the same is the same.
    differences = [one for one in differences if one.kind != "rendering" or one.recorded != one.now]
    if not differences:
        desk.terminal.line(desk.texts("verify_same"))
    report.new += differences


def _tell(desk: Desk, differences: Sequence[Difference]) -> None:
    """Each difference as a diff, the first one first."""
    shown = differences if desk.verbose else differences[:SHOWN]
    for one in shown:
        head = desk.texts(f"differs_{one.kind}", session=one.session_id, seq=one.seq)
        desk.terminal.line(head, "wait" if one.kind == "rendering" else "error")
        for sign, text in zip("-+", excerpts(one.recorded, one.now, full=desk.verbose), strict=True):
            desk.terminal.line(f"{sign} {mark_line(text)}")
    if len(differences) > len(shown):
        desk.terminal.line(desk.texts("verify_more", count=len(differences) - len(shown)), "quiet")


def excerpts(one: str, other: str, *, full: bool = False) -> tuple[str, str]:
    """Two long texts from a little before the place where they part to a little behind it."""
    if full or max(len(one), len(other)) <= 2 * AROUND:
        return one, other
    parts = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    start, end = max(parts - AROUND // 2, 0), parts + AROUND
    before = "… " if start else ""
    return tuple(before + text[start:end] + (" …" if len(text) > end else "") for text in (one, other))  # type: ignore[return-value]


async def _is_accepted(desk: Desk) -> bool:
    if not can_ask():
        return False
    from .prompt import says_yes

    return await says_yes(desk.terminal, desk.texts("accept_question"))


def read_head(written: str) -> Head:
    """``SEQ:HASH`` as ``verify`` prints it, and the log of operators names it."""
    found = re.fullmatch(r"(\d{1,15})[:\s]([0-9a-fA-F]{16,128})", written.strip())
    if found is None:
        raise Problem(USAGE, "bad_head", head=written)
    return Head("", int(found[1]), found[2].lower())


def _path(source: str) -> Path | None:
    """The file or folder that is meant; None when it names a session."""
    path = Path(source)
    try:
        return path if path.exists() else None
    except (OSError, ValueError):  # a name that no file can have
        return None


def _exports(path: Path) -> list[Path]:
    """The exported sessions there, in the order of their names."""
    if not path.is_dir():
        if not is_export(path):
            raise Problem(USAGE, "no_export", path=path)
        return [path]
    found = sorted(each for each in path.rglob("*") if each.is_file() and is_export(each))
    if not found:
        raise Problem(USAGE, "no_exports", path=path)
    return found
