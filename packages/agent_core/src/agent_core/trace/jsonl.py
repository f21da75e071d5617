"""A run as a file: one JSON record a line, each on disk before the next event is handed on.

Invariant: the stream passes through unchanged, and nothing that happens to the file once the run has begun reaches
the run. Reading a trace back gives the transcript that the log gives (see ``transcript``).

Records have a ``type``: ``run_start`` (with the history so far), ``step_start``, ``step_end``, ``tool_call``,
``note`` (approvals, guards, failed attempts and the like), ``run_end`` (with the history at the end), ``run_error``.
Times are Unix seconds.
"""

from __future__ import annotations

import contextlib
import logging
import os
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
from msgspec import Struct

from .. import events as ev
from ..errors import AgentError
from ..messages import Event
from ..store.base import EventStore
from ..text import encodable
from .builder import TranscriptBuilder
from .transcript import AnyItem, Step, Use

_log = logging.getLogger(__name__)

_RECORD_OF: dict[type[Event], str] = {
    ev.StepStarted: "step_start",
    ev.ToolCallFinished: "tool_call",
}


class TraceError(AgentError):
    """The trace file cannot be opened, or is none."""


class JsonlTraceRecorder:
    """``JsonlTraceRecorder(path, store).run(stream)``; further runs are appended to the same file."""

    def __init__(self, path: str | os.PathLike[str], store: EventStore) -> None:
        self.path = Path(path)
        self.store = store
        self.incomplete: str | None = None
        """Why the file lacks records, if it does."""

    async def run(self, stream: AsyncIterator[ev.Recorded]) -> AsyncGenerator[ev.Recorded]:
        """Yields the items of ``stream`` and writes what they say.

        Raises ``TraceError`` before the stream is touched when the file cannot be written.
        """
        file = _open(self.path)
        writing = _Writing(file, self)
        try:
            async with aclosing(_generator(stream)) as items:
                async for item in items:
                    await writing.take(item)
                    yield item
        except BaseException as error:
            writing.failed(error)
            raise
        finally:
            with contextlib.suppress(OSError):
                file.close()


class _Writing:
    """The records of one run."""

    def __init__(self, file: BinaryIO, recorder: JsonlTraceRecorder) -> None:
        self._file, self._recorder = file, recorder
        self._builder: TranscriptBuilder | None = None
        self._session_id: str | None = None
        self._ended = False
        self._last = 0
        """Newest event that was written, as a record or as history."""

    async def take(self, item: ev.Recorded) -> None:
        if self._builder is None:
            await self._begin(item)
        if item.seq is None or item.seq <= self._last or self._builder is None:
            return
        self._last = item.seq
        touched = self._builder.add(item)
        if isinstance(item.event, ev.AssistantMessage):
            return  # its StepEnd follows at once and says it all
        if isinstance(item.event, ev.LoopEnd):
            self._ended = True
            self._write("run_end", item.at, touched[0] if touched else None, history=self._builder.items)
        elif isinstance(item.event, ev.StepEnd) and touched:
            step = touched[0]
            uses = [value for value in self._builder.items if isinstance(value, Use)]
            calls = [use for use in uses if isinstance(step, Step) and use.step == step.ordinal]
            self._write("step_end", item.at, step, tool_calls=calls)
        else:
            for value in touched:
                self._write(_RECORD_OF.get(type(item.event), "note"), item.at, value)

    async def _begin(self, first: ev.Recorded) -> None:
        builder, run, begun = TranscriptBuilder(), None, 0
        self._session_id = first.session_id
        try:
            async for item in self._recorder.store.read(first.session_id):
                if isinstance(item.event, ev.RunStarted) and (first.seq is None or begun < first.seq):
                    run, begun = item.event, item.seq or 0
                if item.seq is not None and (first.seq is None or item.seq < first.seq):
                    builder.add(item)
                    self._last = item.seq
        except AgentError as error:
            self._give_up(str(error))
        self._builder = builder
        about = {} if run is None else {"run_id": run.run_id, "model": run.model, "by": run.by}
        self._write("run_start", first.at, None, **about, history=builder.items)

    def failed(self, error: BaseException) -> None:
        """The run raised, or its reader went away before its end."""
        if self._ended and isinstance(error, GeneratorExit):
            return
        message = str(error) if isinstance(error, AgentError) else ""  # others may quote what nobody should read
        self._write("run_error", time.time(), None, error=type(error).__name__, message=encodable(message))

    def _write(self, record: str, at: float, item: AnyItem | None, **more: Any) -> None:
        if self._recorder.incomplete is not None:
            return
        about = {} if item is None else msgspec.to_builtins(item, str_keys=True)
        line = {"type": record, "time": at, "session": self._session_id, "event": self._last, **about, **more}
        try:
            self._file.write(msgspec.json.encode(line) + b"\n")
            self._file.flush()
        except OSError as error:
            self._give_up(error.strerror or str(error))

    def _give_up(self, why: str) -> None:
        self._recorder.incomplete = why
        _log.warning("the trace %s is incomplete: %s", self._recorder.path, why)


async def trace_session(store: EventStore, session_id: str, path: str | os.PathLike[str]) -> None:
    """Writes what a recorder would have written of every run of a session, in the place of what the file held.

    Raises ``TraceError`` when it cannot be written.
    """
    recorder = JsonlTraceRecorder(path, store)
    items = [item async for item in store.read(session_id)]
    _open(recorder.path, fresh=True).close()
    for run in _runs(items):
        async for _ in recorder.run(_replayed(run)):
            pass
        if recorder.incomplete is not None:
            raise TraceError(f"The trace file {path} is incomplete: {recorder.incomplete}.")


def _runs(items: list[ev.Recorded]) -> list[list[ev.Recorded]]:
    """The events cut behind each end of a run."""
    cuts = [place + 1 for place, item in enumerate(items) if isinstance(item.event, ev.LoopEnd)]
    parts = [items[start:end] for start, end in pairwise([0, *cuts, len(items)])]
    return [part for part in parts if part]


async def _replayed(items: list[ev.Recorded]) -> AsyncGenerator[ev.Recorded]:
    for item in items:
        yield item


def is_trace(path: str | os.PathLike[str]) -> bool:
    """Whether a file begins as a trace does."""
    try:
        with open(path, "rb") as file:
            record = msgspec.json.decode(file.readline())
    except (OSError, ValueError):
        return False
    return isinstance(record, dict) and record.get("type") == "run_start"


class Trace(Struct, frozen=True):
    """A trace as it was read. ``torn``: numbers of the lines that could not be; ``error``: the one that ended it."""

    items: list[AnyItem]
    torn: tuple[int, ...] = ()
    error: str | None = None


def read_trace(path: str | os.PathLike[str]) -> Trace:
    """The transcript of the runs in a trace file, earlier sessions first. Raises ``TraceError`` when it is none.

    A line that was cut off (the process died while it wrote) is left out and said.
    """
    before: list[AnyItem] = []
    builder, session = TranscriptBuilder(), None
    torn: list[int] = []
    failure, records = None, 0
    try:
        with open(path, "rb") as file:
            for number, line in enumerate(file, 1):
                if not line.strip():
                    continue
                try:
                    record = msgspec.json.decode(line, type=dict[str, Any])
                    kind = record["type"]
                    if kind == "run_start" and session not in (None, record["session"]):
                        before.extend(builder.items)
                    if kind in ("run_start", "run_end"):
                        session = record["session"]
                        builder = TranscriptBuilder(_items(record["history"]))
                    elif kind == "run_error":
                        failure = f"{record['error']}: {record['message']}".removesuffix(": ")
                    else:
                        for value in [record, *record.get("tool_calls", ())]:
                            builder.put(_items([value])[0])
                except (msgspec.MsgspecError, KeyError, TypeError, UnicodeDecodeError):
                    torn.append(number)
                    continue
                records += 1
                failure = None if kind == "run_start" else failure
    except OSError as error:
        raise TraceError(f"{path} cannot be read: {error.strerror or error}.") from None
    if not records:
        raise TraceError(f"{path} is not a trace: no line of it is a record of a run.")
    return Trace([*before, *builder.items], tuple(torn), failure)


def _items(values: list[Any]) -> list[AnyItem]:
    return msgspec.convert(values, list[AnyItem])


def _open(path: Path, *, fresh: bool = False) -> BinaryIO:
    try:
        file = open(path, "wb+" if fresh else "ab+")  # noqa: SIM115 (closed by the run that writes it)
        if file.tell() and not _ends_with_newline(file):
            file.write(b"\n")  # an earlier run died in the middle of a line
            file.flush()
    except OSError as error:
        raise TraceError(f"The trace file {path} cannot be written: {error.strerror or error}.") from None
    return file


def _ends_with_newline(file: BinaryIO) -> bool:
    file.seek(-1, os.SEEK_END)
    return file.read(1) == b"\n"


async def _generator(stream: AsyncIterator[ev.Recorded]) -> AsyncGenerator[ev.Recorded]:
    """Any iterator as a generator, so that closing it closes what is behind it."""
    try:
        async for item in stream:
            yield item
    finally:
        if isinstance(stream, AsyncGenerator):
            await stream.aclose()
