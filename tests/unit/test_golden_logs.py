"""Logs that were once written are read for ever, and always give the same state."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest

from agent_core import events as ev
from agent_core.codec import decode, encode
from agent_core.context.build import build_messages
from agent_core.fold import fold
from agent_core.state import State
from tests.support.logs import recorded
from tests.support.requests import check_conversation
from tests.support.stories import STORIES

GOLDEN = Path(__file__).parents[1] / "golden"
LOGS = sorted(GOLDEN.glob("*/*.jsonl"))
NEWEST = "v1"


class _Line(msgspec.Struct):
    session_id: str
    seq: int
    at: float
    event: msgspec.Raw
    hash: str | None


def read(path: Path) -> list[ev.Recorded]:
    lines = [msgspec.json.decode(line, type=_Line) for line in path.read_bytes().splitlines()]
    return [ev.Recorded(line.session_id, line.seq, line.at, decode(bytes(line.event)), line.hash) for line in lines]


def contents(path: Path) -> dict[str, bytes]:
    stored: dict[str, str] = msgspec.json.decode((path.parent / "contents.json").read_bytes())
    return {name: text.encode() for name, text in stored.items()}


def ids(path: Path) -> str:
    return f"{path.parent.name}-{path.stem}"


@pytest.mark.parametrize("path", LOGS, ids=ids)
def test_a_golden_log_folds_to_the_state_it_always_did(path: Path) -> None:
    expected = msgspec.json.decode(path.with_suffix(".state.json").read_bytes(), type=State)
    assert fold(read(path), contents(path)) == expected


@pytest.mark.parametrize("path", LOGS, ids=ids)
def test_nothing_in_a_golden_log_is_unknown(path: Path) -> None:
    assert not [item for item in read(path) if isinstance(item.event, ev.UnknownEvent)]


@pytest.mark.parametrize("path", LOGS, ids=ids)
def test_a_golden_log_gives_a_well_formed_conversation_at_each_of_its_events(path: Path) -> None:
    log, stored = read(path), contents(path)
    for length in range(1, len(log) + 1):
        newest = fold(log[:length], stored)
        if newest.entries and newest.entries[-1].message.role == "user":
            check_conversation(build_messages(newest, "You are careful."))


@pytest.mark.parametrize("path", sorted((GOLDEN / NEWEST).glob("*.jsonl")), ids=ids)
def test_events_are_still_written_as_in_the_newest_golden_logs(path: Path) -> None:
    written: list[Any] = STORIES[path.stem]()
    lines = [msgspec.json.decode(line, type=_Line) for line in path.read_bytes().splitlines()]
    assert [encode(event).decode() for event in written] == [bytes(line.event).decode() for line in lines]
    assert recorded(written) == read(path)


def test_every_durable_event_has_its_place_in_a_golden_log() -> None:
    seen = {type(item.event) for path in (GOLDEN / NEWEST).glob("*.jsonl") for item in read(path)}
    assert seen == set(get_args(ev.DurableEvent))


def test_every_field_of_every_event_stands_in_a_golden_log_with_a_value_of_its_own() -> None:
    told: set[tuple[str, str]] = set()
    for path in (GOLDEN / NEWEST).glob("*.jsonl"):
        for item in read(path):
            for field in msgspec.structs.fields(item.event):
                factory = field.default_factory
                default = field.default if factory is msgspec.NODEFAULT else factory()
                if field.required or getattr(item.event, field.name) != default:
                    told.add((type(item.event).__name__, field.name))
    every = {(cls.__name__, name) for cls in get_args(ev.DurableEvent) for name in cls.__struct_fields__ if name != "v"}
    assert every - told == set()
