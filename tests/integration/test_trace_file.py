"""What a trace file is written as, and what becomes of a run whose trace goes wrong."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

import agent_core.trace.jsonl as jsonl
from agent_core import events as ev
from agent_core.errors import StoreError
from agent_core.loop import AgentLoop
from agent_core.store.memory import MemoryStore
from agent_core.testing import ScriptedModel
from agent_core.trace.jsonl import JsonlTraceRecorder, TraceError, read_trace
from agent_core.trace.transcript import Began, Ended, Opened, Said, Step


def loop(*turns: object) -> AgentLoop:
    return AgentLoop(model=ScriptedModel(turns, delta=4), store=MemoryStore())  # type: ignore[arg-type]


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


async def test_the_stream_passes_through_unchanged(tmp_path: Path) -> None:
    agent = loop("A whole answer.")
    seen: list[ev.Recorded] = []

    async def source() -> AsyncIterator[ev.Recorded]:
        async for item in agent.run("Hello"):
            seen.append(item)
            yield item

    passed = [item async for item in JsonlTraceRecorder(tmp_path / "t.jsonl", agent.store).run(source())]
    assert len(passed) == len(seen) > 5
    assert all(ours is theirs for ours, theirs in zip(passed, seen, strict=True))


async def test_each_record_is_in_the_file_before_the_event_is_handed_on(tmp_path: Path) -> None:
    agent, path = loop("A whole answer."), tmp_path / "t.jsonl"
    async for item in JsonlTraceRecorder(path, agent.store).run(agent.run("Hello")):
        if item.seq is not None and not isinstance(item.event, ev.AssistantMessage):
            assert records(path)[-1]["event"] == item.seq


@pytest.mark.parametrize("name", ["missing/t.jsonl", "."])
async def test_a_file_that_cannot_be_written_is_said_before_anything_is_run(tmp_path: Path, name: str) -> None:
    agent = loop("never")
    with pytest.raises(TraceError, match="cannot be written"):
        async for _ in JsonlTraceRecorder(tmp_path / name, agent.store).run(agent.run("Hello")):
            pass
    assert await agent.store.sessions() == []


@pytest.mark.parametrize("good", range(4))
async def test_a_file_that_fails_later_never_breaks_the_run(
    tmp_path: Path, good: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Full:
        writes = 0

        def write(self, data: bytes) -> int:
            self.writes += 1
            if self.writes > good:
                raise OSError(28, "No space left on device")
            return len(data)

        def flush(self) -> None:
            return

        def close(self) -> None:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(jsonl, "_open", lambda path: Full())
    agent = loop("A whole answer.")
    recorder = JsonlTraceRecorder(tmp_path / "t.jsonl", agent.store)
    items = [item async for item in recorder.run(agent.run("Hello"))]
    assert isinstance(items[-1].event, ev.LoopEnd)
    assert items[-1].event.completed
    assert recorder.incomplete == "No space left on device"


async def test_a_store_that_cannot_be_read_for_the_history_does_not_break_the_run(tmp_path: Path) -> None:
    class Unreadable(MemoryStore):
        async def read(self, session_id: str, after: int = 0) -> AsyncIterator[ev.Recorded]:
            if after >= 0:
                raise StoreError("The disk is gone.")
            yield ev.Recorded(session_id, None, 0.0, ev.ToolProgress(call_id="", text=""))

    agent = loop("A whole answer.")
    recorder = JsonlTraceRecorder(tmp_path / "t.jsonl", Unreadable())
    items = [item async for item in recorder.run(agent.run("Hello"))]
    assert isinstance(items[-1].event, ev.LoopEnd)
    assert recorder.incomplete == "The disk is gone."


async def test_a_run_that_raises_leaves_its_error_and_raises_on(tmp_path: Path) -> None:
    class Secretive(Exception):
        pass

    agent, path = loop("A whole answer."), tmp_path / "t.jsonl"

    async def broken(error: Exception) -> AsyncIterator[ev.Recorded]:
        async for item in agent.run("Hello"):
            yield item
            if isinstance(item.event, ev.UserMessage):
                raise error

    for error in (StoreError("The disk is gone."), Secretive("key sk-123")):
        with pytest.raises(type(error)):
            async for _ in JsonlTraceRecorder(path, agent.store).run(broken(error)):
                pass
        assert records(path)[-1]["type"] == "run_error"
        assert "sk-123" not in path.read_text(encoding="utf-8")
    assert read_trace(path).error == "Secretive"


async def test_a_reader_that_goes_away_before_the_end_is_recorded_and_one_that_leaves_after_it_is_not(
    tmp_path: Path,
) -> None:
    for leave, last in ((ev.UserMessage, "run_error"), (ev.LoopEnd, "run_end")):
        agent, path = loop("A whole answer."), tmp_path / f"{last}.jsonl"
        session = ""
        async with aclosing(JsonlTraceRecorder(path, agent.store).run(agent.run("Hello"))) as items:
            async for item in items:
                session = item.session_id
                if isinstance(item.event, leave):
                    break
        assert records(path)[-1]["type"] == last
        await agent.store.acquire(session, seconds=1)  # closing the recorder closed the run behind it


async def test_a_torn_last_line_is_left_out_and_said_wherever_it_was_cut(tmp_path: Path) -> None:
    agent, path = loop("A whole answer."), tmp_path / "t.jsonl"
    async for _ in JsonlTraceRecorder(path, agent.store).run(agent.run("Hello 你好")):
        pass
    whole = path.read_bytes()
    lines = whole.splitlines(keepends=True)
    shorter = b"".join(lines[:-1])
    path.write_bytes(shorter)
    expected = read_trace(path).items
    for length in range(1, len(lines[-1]) - 1, 7):
        path.write_bytes(shorter + lines[-1][:length])
        trace = read_trace(path)
        assert trace.torn == (len(lines),)
        assert trace.items == expected
    path.write_bytes(whole.rstrip(b"\n"))
    assert read_trace(path).torn == ()


async def test_a_later_run_is_appended_behind_a_torn_line(tmp_path: Path) -> None:
    agent, path = loop("First.", "Second."), tmp_path / "t.jsonl"
    session = None
    async for item in JsonlTraceRecorder(path, agent.store).run(agent.run("Hello")):
        session = item.session_id
    path.write_bytes(path.read_bytes()[:-20])
    async for _ in JsonlTraceRecorder(path, agent.store).run(agent.run("Again", session)):
        pass
    trace = read_trace(path)
    assert len(trace.torn) == 1
    once = [Began, Said, Step, Ended]
    assert [type(item) for item in trace.items] == [Opened, *once, *once]


@pytest.mark.parametrize(
    "content",
    [b"", b"\n\n", b"hello\n", b"{}\n", b"[1]\n", b'{"type":"step_end"}\n', b"\xff\xfe\x00\x01", b'{"type":3}\n' * 3],
)
def test_a_file_that_is_no_trace_is_refused_in_a_sentence(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(content)
    with pytest.raises(TraceError, match="is not a trace"):
        read_trace(path)


def test_a_file_that_is_not_there_is_refused_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="cannot be read"):
        read_trace(tmp_path / "x.jsonl")
