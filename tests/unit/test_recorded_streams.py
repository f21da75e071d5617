"""What real small models answered, as ``tests/fixtures/llm-streams`` keeps it: each gives what its entry expects."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agent_core.errors import ModelError
from agent_core.messages import Message, ModelEvent, StreamEnd, ToolSchema
from agent_core.model import RecordedModel, Recording
from tests.support.streams import FIXTURES, calls_of, cut, decode, text_of

FOLDER = FIXTURES / "llm-streams"
INDEX: dict[str, Any] = json.loads((FOLDER / "index.json").read_text(encoding="utf-8"))
STREAMS: dict[str, Any] = INDEX["streams"]
ANSWERS = sorted(name for name, entry in STREAMS.items() if entry["status"] == 200)
ERRORS = sorted(set(STREAMS) - set(ANSWERS))


def tools_of(name: str) -> list[ToolSchema]:
    """What the request offered: a list that stands once at the top of the index."""
    told = STREAMS[name]["request"].get("tools")
    functions = [one["function"] for one in INDEX[told.removeprefix("see ")]] if told else []
    return [ToolSchema(one["name"], one["description"], one["parameters"]) for one in functions]


def seen(events: list[ModelEvent]) -> dict[str, Any]:
    """The outcome in the words of the index."""
    end = events[-1]
    assert isinstance(end, StreamEnd)
    assert sum(isinstance(event, StreamEnd) for event in events) == 1
    calls = [
        {"name": call.name, "arguments": json.loads(call.arguments), **({"error": call.error} if call.error else {})}
        for call in calls_of(events)
    ]
    return {"text": text_of(events), "calls": calls, "finish_reason": end.finish_reason, "flags": list(end.flags)}


def test_the_index_and_the_folder_name_the_same_files() -> None:
    assert set(STREAMS) == {path.name for path in FOLDER.iterdir()} - {"index.json", "README.md"}


@pytest.mark.parametrize("name", ANSWERS)
async def test_a_recorded_answer_plays_as_its_entry_expects(name: str) -> None:
    model = RecordedModel([Recording.of_file(FOLDER / name)])
    events = [event async for event in model.stream_chat([Message(role="user", content="?")], tools_of(name))]
    assert seen(events) == STREAMS[name]["expect"]


@pytest.mark.parametrize("size", [0, 1, 7])
@pytest.mark.parametrize("name", ANSWERS)
def test_it_gives_the_same_however_its_body_is_cut(name: str, size: int) -> None:
    events, failure = decode(cut(Recording.of_file(FOLDER / name).reads, size), tools_of(name))
    assert failure is None
    assert seen(events) == STREAMS[name]["expect"]


@pytest.mark.parametrize("name", ANSWERS)
def test_cut_off_anywhere_it_yields_no_call(name: str) -> None:
    """A prefix that ends before the finish reason is no answer, whatever stands in it already."""
    reads = [read for read in Recording.of_file(FOLDER / name).reads if b'"finish_reason":null' in read]
    for length in range(len(reads) + 1):
        events, failure = decode(reads[:length], tools_of(name))
        assert failure is not None
        assert not calls_of(events)


@pytest.mark.parametrize("name", ERRORS)
async def test_a_recorded_refusal_is_the_error_that_its_entry_expects(name: str) -> None:
    headers = {"content-type": "application/json"}
    recording = Recording(((FOLDER / name).read_bytes(),), STREAMS[name]["status"], headers)
    with pytest.raises(ModelError) as caught:
        async for _ in RecordedModel([recording]).stream_chat([Message(role="user", content="?")]):
            pass
    expect = STREAMS[name]["expect"]
    assert {key: getattr(caught.value, key) for key in expect} == expect
