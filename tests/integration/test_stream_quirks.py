"""Every file of stream-quirks reaches what it expects, however its body is cut and however it ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from agent_core.errors import ModelError
from agent_core.messages import ModelEvent
from agent_core.model import OpenAIModel, RecordedModel, Recording
from tests.support.http_server import playing, serving
from tests.support.streams import ENDINGS, check, cut, decode_quirk, history_of, quirks, reads_of, tools_of

Record = Callable[[str, object], None]
IDS = sorted(quirks())
UNFINISHED = {"stream_truncated", "empty_stream"}


@pytest.mark.parametrize("feeding", ["block by block", "in one read", "in reads of 3 bytes"])
@pytest.mark.parametrize("name", IDS)
def test_a_recorded_body_gives_what_its_file_expects(name: str, feeding: str, record_property: Record) -> None:
    quirk = quirks()[name]
    record_property("kind", quirk["kind"])
    reads = reads_of(quirk)
    if feeding != "block by block":
        reads = cut(reads, 0 if feeding == "in one read" else 3)
    check(quirk, decode_quirk(quirk, reads))


@pytest.mark.parametrize("ending", ["eof", "reset", "hang"])
@pytest.mark.parametrize("name", IDS)
async def test_a_server_that_sends_it_gives_what_the_file_expects(
    name: str, ending: str, record_property: Record
) -> None:
    """Under its own ending; and, where the answer or the error is whole before the end, under every other."""
    quirk = quirks()[name]
    record_property("kind", quirk["kind"])
    own = quirk["end"]
    expects = quirk["expect"].get("error", {}).get("kind")
    if expects in UNFINISHED and ending != own:
        quirk = _ended_otherwise(quirk, ending)
    if not quirk["http"]["headers"]["content-type"].startswith("text/event-stream") and ending == "reset":
        ending = "eof"  # a body that is read as a whole is not whole then
    answer = playing(reads_of(quirk), status=quirk["http"]["status"], headers=quirk["http"]["headers"], ending=ending)
    events: list[ModelEvent] = []
    failure: ModelError | None = None
    options = {"n": quirk["request"]["n"]} if "n" in quirk.get("request", {}) else {}
    async with serving(answer) as url, OpenAIModel(url, "key", "m", idle_timeout=0.4) as model:
        try:
            async for event in model.stream_chat(history_of(quirk), tools_of(quirk), **options):
                events.append(event)
        except ModelError as error:
            failure = error
    check(quirk, (events, failure))


@pytest.mark.parametrize("name", IDS)
async def test_a_recorded_model_plays_it_through_the_same_decoder(name: str) -> None:
    quirk = quirks()[name]
    http = quirk["http"]
    recording = Recording(tuple(reads_of(quirk)), http["status"], http["headers"], ENDINGS[quirk["end"]])
    events: list[ModelEvent] = []
    failure: ModelError | None = None
    options = {"n": quirk["request"]["n"]} if "n" in quirk.get("request", {}) else {}
    try:
        async for event in RecordedModel([recording]).stream_chat(history_of(quirk), tools_of(quirk), **options):
            events.append(event)
    except ModelError as error:
        failure = error
    check(quirk, (events, failure))


def _ended_otherwise(quirk: dict[str, Any], ending: str) -> dict[str, Any]:
    """What an answer without an end amounts to when its connection goes silent instead: the limit was reached."""
    if ending != "hang" or quirk["id"] == "done-only-body":
        return quirk
    expect = quirk["expect"]
    return {**quirk, "expect": {**expect, "error": {**expect["error"], "kind": "timeout"}}}
