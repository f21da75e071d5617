"""The stream fixtures: how they are read, and what a client must make of each."""

from __future__ import annotations

import base64
import functools
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from agent_core.errors import ModelError
from agent_core.messages import (
    Message,
    ModelEvent,
    ReasoningDelta,
    StreamEnd,
    TextDelta,
    TextWithdrawn,
    ToolCall,
    ToolSchema,
)
from agent_core.model import render_message
from agent_core.model.assembly import Offer
from agent_core.model.decoder import Decoder, Ending

FIXTURES = Path(__file__).parent.parent / "fixtures"
Outcome = tuple[list[ModelEvent], ModelError | None]
ENDINGS: dict[str, Ending] = {"eof": "eof", "reset": "reset", "hang": "idle"}


@functools.cache
def quirks() -> dict[str, dict[str, Any]]:
    """Every file of stream-quirks, by id."""
    files = sorted((FIXTURES / "stream-quirks").glob("*.json"))
    return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in files}


def tools_of(quirk: dict[str, Any]) -> list[ToolSchema]:
    return [
        ToolSchema(
            one["function"]["name"], one["function"].get("description", ""), one["function"].get("parameters", {})
        )
        for one in quirk.get("request_tools", [])
    ]


def history_of(quirk: dict[str, Any]) -> list[Message]:
    """A conversation that has used the call ids which the request of the quirk names."""
    messages = [Message(role="user", content="hello")]
    for call_id in quirk.get("request", {}).get("history_tool_call_ids", []):
        call = ToolCall(id=call_id, name="clock_now", arguments="{}")
        messages.append(Message(role="assistant", tool_calls=(call,)))
        messages.append(Message(role="tool", content="12:00", tool_call_id=call_id))
    return messages


def reads_of(quirk: dict[str, Any]) -> list[bytes]:
    if "bytes_b64" in quirk:
        return [base64.b64decode(piece) for piece in quirk["bytes_b64"]]
    return [block.encode("utf-8", "surrogatepass") for block in quirk["sse"]]


def cut(reads: Iterable[bytes], size: int) -> list[bytes]:
    """The same body in reads of ``size`` bytes, 0 for one read."""
    body = b"".join(reads)
    return [body[start : start + size] for start in range(0, len(body), size)] if size else [body]


def decode(
    reads: Iterable[bytes],
    tools: list[ToolSchema] | None = None,
    *,
    ending: Ending = "eof",
    status: int = 200,
    headers: dict[str, str] | None = None,
    taken: Iterable[str] = (),
    choices: int = 1,
) -> Outcome:
    """What the decoder makes of a body."""
    used = set(taken)
    decoder = Decoder(Offer(tools or [], taken=lambda: used), status=status, headers=headers, choices=choices)
    events: list[ModelEvent] = []
    for data in reads:
        events += decoder.feed(data)
        if decoder.done:
            break
    events += decoder.finish(ending)
    return events, decoder.failure


def decode_quirk(quirk: dict[str, Any], reads: Iterable[bytes]) -> Outcome:
    request = quirk.get("request", {})
    return decode(
        reads,
        tools_of(quirk),
        ending=ENDINGS[quirk["end"]],
        status=quirk["http"]["status"],
        headers=quirk["http"]["headers"],
        taken=request.get("history_tool_call_ids", ()),
        choices=request.get("n", 1),
    )


def text_of(events: Iterable[ModelEvent]) -> str:
    """The text as a screen shows it in the end."""
    text = ""
    for event in events:
        if isinstance(event, TextDelta):
            text += event.text
        elif isinstance(event, TextWithdrawn):
            text = ""
    return text


def reasoning_of(events: Iterable[ModelEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, ReasoningDelta))


def calls_of(events: Iterable[ModelEvent]) -> list[ToolCall]:
    return [event for event in events if isinstance(event, ToolCall)]


def runnable(events: Iterable[ModelEvent]) -> list[ToolCall]:
    """The calls that a loop would run."""
    return [call for call in calls_of(events) if call.error is None and call.known]


def check(quirk: dict[str, Any], outcome: Outcome) -> None:
    """Asserts that the outcome is what the file expects, in every key."""
    events, failure = outcome
    expect = quirk["expect"]
    if expect["outcome"] == "error":
        assert failure is not None, events
        _check_error(expect, failure)
        assert not calls_of(events)
        assert not any(isinstance(event, StreamEnd) for event in events)
        return
    assert failure is None, failure
    _check_message(expect, events)


def _check_error(expect: dict[str, Any], failure: ModelError) -> None:
    wanted = expect["error"]
    assert (failure.kind, failure.retryable, failure.status, failure.code, failure.retry_after) == (
        wanted["kind"],
        wanted["retryable"],
        wanted["status"],
        wanted["code"],
        wanted["retry_after_s"],
    ), failure.message
    for words in wanted["message_contains"]:
        assert words.lower() in failure.message.lower()
    for key in ("remedy", "param"):
        if key in wanted:
            assert getattr(failure, key) == wanted[key], failure.message
    assert msgspec.to_builtins(failure.partial) == expect["partial"]
    assert failure.failed_generation == expect.get("failed_generation")


def _check_message(expect: dict[str, Any], events: list[ModelEvent]) -> None:
    *_, end = events
    assert isinstance(end, StreamEnd)
    assert sum(isinstance(event, StreamEnd) for event in events) == 1
    text, wanted = text_of(events), expect["text"]
    if expect.get("text_match") == "strip":
        text, wanted = " ".join(text.split()), " ".join(wanted.split())
    assert text == wanted
    assert reasoning_of(events).strip() == expect["reasoning"].strip()
    calls = calls_of(events)
    assert len(calls) == len(expect["tool_calls"])
    for call, told in zip(calls, expect["tool_calls"], strict=True):
        _check_call(call, told)
    assert len({call.id for call in calls}) == len(calls)
    assert (end.finish_reason, end.raw_finish_reason) == (expect["finish_reason"], expect["raw_finish_reason"])
    assert end.refusal == expect.get("refusal")
    assert set(end.flags) == set(expect["flags"])
    assert len(set(end.flags)) == len(end.flags)
    usage = None
    if end.usage is not None:
        keys = ("prompt_tokens", "completion_tokens", "total_tokens", "cached_tokens", "reasoning_tokens")
        usage = {key: getattr(end.usage, key) for key in keys}
    assert usage in (expect["usage"], expect.get("usage_may_be", expect["usage"]))
    assert end.audio_transcript == expect.get("audio_transcript")
    assert list(end.other_choices) == expect.get("other_choices", [])
    if "replay" in expect:
        message = Message(
            role="assistant", content=text or None, tool_calls=tuple(calls), replay=end.replay, origin="here#model"
        )
        sent = json.loads(render_message(message, origin="here#model"))
        assert _holds(sent, expect["replay"]), sent


def _check_call(call: ToolCall, told: dict[str, Any]) -> None:
    if told["id"] is None:
        assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", call.id)
    else:
        assert call.id == told["id"]
    assert call.name == told["name"]
    assert call.raw_name == told.get("raw_name")
    assert call.known == told.get("known", True)
    assert call.repaired == told.get("repaired", False)
    assert call.error == told.get("arguments_error")
    if told["arguments"] is not None:
        assert json.loads(call.arguments) == told["arguments"]
    if "raw_arguments" in told:
        assert call.raw_arguments == told["raw_arguments"]


def _holds(actual: Any, wanted: Any) -> bool:
    """Whether ``actual`` contains ``wanted``: objects as subsets, lists in full length."""
    if isinstance(wanted, dict):
        return isinstance(actual, dict) and all(key in actual and _holds(actual[key], wanted[key]) for key in wanted)
    if isinstance(wanted, list):
        return isinstance(actual, list) and len(actual) == len(wanted) and all(map(_holds, actual, wanted))
    return bool(actual == wanted)
