"""Chunks that deviate: relatives of the recorded streams, one deviation each."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agent_core.messages import StreamEnd, ToolSchema, Usage
from tests.support.streams import calls_of, decode, reasoning_of, text_of

TOOLS = [
    ToolSchema("get_order", "", {"type": "object", "properties": {"id": {"type": "string"}}}),
    ToolSchema("clock_now", "", {"type": "object", "properties": {}}),
]
DONE = b"data: [DONE]\n\n"


def event(chunk: Any) -> bytes:
    return f"data: {json.dumps(chunk)}\n\n".encode()


def delta(**delta: Any) -> bytes:
    return event({"choices": [{"index": 0, "delta": delta, "finish_reason": None}]})


def finish(reason: str = "stop", **more: Any) -> bytes:
    return event({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}], **more})


def fragment(index: Any = None, call_id: Any = None, name: str | None = None, arguments: Any = None) -> bytes:
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    item: dict[str, Any] = {"function": function}
    item.update({key: value for key, value in (("index", index), ("id", call_id)) if value is not None})
    return delta(tool_calls=[item])


@pytest.mark.parametrize(
    ("fragments", "calls"),
    [
        (
            [fragment("0", "a", "get_order", '{"id":'), fragment("0", None, None, '"1"}')],
            [("a", "get_order", {"id": "1"})],
        ),
        ([fragment(0, 7, "clock_now", "{}")], [("7", "clock_now", {})]),
        ([fragment(0, "a", None, "{}"), fragment(0, None, "clock_now")], [("a", "clock_now", {})]),
        ([fragment(0, None, "clock_now", "{}"), fragment(0, "a", "clock_now", "")], [("a", "clock_now", {})]),
        ([fragment(0, None, "get_order", ""), fragment(0, "a", None, '{"id":"1"}')], [("a", "get_order", {"id": "1"})]),
        (
            [fragment(0, "a", "get_"), fragment(0, "a", "get_order"), fragment(0, arguments="{}")],
            [("a", "get_order", {})],
        ),
        (
            [fragment(0, "a", "get"), fragment(0, name="_or"), fragment(0, name="der", arguments="{}")],
            [("a", "get_order", {})],
        ),
        ([fragment(0, "a", "get_order", '{"id"'), fragment(1, None, None, ':"1"}')], [("a", "get_order", {"id": "1"})]),
        (
            [fragment(name="get_order", arguments='{"id":"1"}'), fragment(name="get_order", arguments='{"id":"2"}')],
            [(None, "get_order", {"id": "1"}), (None, "get_order", {"id": "2"})],
        ),
        (
            [fragment(0, "a", "get_order", '{"id":"1"}'), fragment(0, "a", "get_order", '{"id":"2"}')],
            [("a", "get_order", {"id": "1"}), (None, "get_order", {"id": "2"})],
        ),
        ([fragment(0, None, "clock_now", "{}"), fragment(0, "", "clock_now", "")], [(None, "clock_now", {})]),
        ([fragment(None, "a", "clock_now", "{}")] * 2, [("a", "clock_now", {})]),
        (
            [fragment(5, "a", "clock_now"), fragment(2, "b", "get_order")],
            [("b", "get_order", {}), ("a", "clock_now", {})],
        ),
        ([delta(tool_calls={"index": 0, "id": "a", "function": {"name": "clock_now"}})], [("a", "clock_now", {})]),
        ([delta(tool_calls=[{"index": 0, "id": "a", "name": "clock_now", "arguments": {}}])], [("a", "clock_now", {})]),
        ([delta(tool_calls=[None, 3, {"index": 0, "type": "function"}])], []),
        (
            [delta(function_call={"name": "get_order"}), delta(function_call={"arguments": '{"id":"1"}'})],
            [(None, "get_order", {"id": "1"})],
        ),
        ([fragment(0, "a", "get_order", {}), fragment(0, arguments={"id": "1"})], [("a", "get_order", {"id": "1"})]),
    ],
)
def test_fragments_join_to_the_calls_that_were_meant(
    fragments: list[bytes], calls: list[tuple[str | None, str, Any]]
) -> None:
    events, failure = decode([*fragments, finish(), DONE], TOOLS)
    assert failure is None
    made = calls_of(events)
    assert [(call.name, json.loads(call.arguments)) for call in made] == [(name, value) for _, name, value in calls]
    assert all(
        call.id == call_id or (call_id is None and call.id) for call, (call_id, _, _) in zip(made, calls, strict=True)
    )


@pytest.mark.parametrize(
    ("reads", "text", "reasoning"),
    [
        ([event({"choices": [{"delta": {"content": "x"}}]}), finish(), DONE], "x", ""),
        ([event({"choices": [{"index": 1, "delta": {"content": "x"}, "finish_reason": "stop"}]}), DONE], "x", ""),
        ([event({"choices": {"index": 0, "delta": {"content": "x"}, "finish_reason": "stop"}})], "x", ""),
        ([event({"choices": [{"index": 0, "text": "x", "finish_reason": "stop"}]})], "x", ""),
        (
            [
                event({"choices": [{"message": {"content": "ab"}}]}),
                event({"choices": [{"message": {"content": "abc"}}]}),
                DONE,
            ],
            "abc",
            "",
        ),
        ([delta(content=[{"type": "text", "text": "x"}, "y"]), finish()], "xy", ""),
        ([delta(content={"type": "text", "text": "x"}), finish()], "x", ""),
        (
            [delta(content="a" * 20), delta(content="a" * 20 + "b"), delta(content="a" * 20 + "b"), finish()],
            "a" * 20 + "b",
            "",
        ),
        ([delta(reasoning_content="r" * 20), delta(reasoning_content="r" * 20 + "s"), finish()], "", "r" * 20 + "s"),
        ([delta(reasoning={"content": "r"}), delta(content="x"), finish()], "x", "r"),
        (
            [delta(reasoning_details=[{"type": "reasoning.summary", "summary": "r"}]), delta(content="x"), finish()],
            "x",
            "r",
        ),
        (
            [
                b'data: {"choices":[{"delta":{"content":"go \\ud83d"}}]}\n\n',
                b'data: {"choices":[{"delta":{"content":"\\ude80"}}]}\n\n',
                DONE,
            ],
            "go 🚀",
            "",
        ),
        ([b'data: {"choices":[{"delta":{"content":"a\tb"}}]}\n\n', DONE], "a\tb", ""),
        ([b'data: {"choices":[{"delta":{"content":"a\xffb"}}]}\n\n', DONE], "a\ufffdb", ""),
        ([b"\r\n\r\n", delta(content="x").replace(b"\n", b"\r"), b"data: [DONE]\r"], "x", ""),
        ([b'id: 1\nevent: message\nretry: 3\ndata: {"choices":[{"delta":{"content":"x"}}]}\n\n', DONE], "x", ""),
        ([json.dumps({"choices": [{"delta": {"content": "x"}}]}).encode() + b"\n[DONE]\n"], "x", ""),
        ([json.dumps({"choices": [{"message": {"content": "x"}}]}).encode()], "x", ""),
        ([delta(content="x", error="no"), finish(error=None), event({"error": {}}), DONE], "x", ""),
    ],
)
def test_an_odd_chunk_says_the_same_as_an_even_one(reads: list[bytes], text: str, reasoning: str) -> None:
    events, failure = decode(reads, TOOLS)
    assert failure is None
    assert (text_of(events), reasoning_of(events)) == (text, reasoning)
    assert isinstance(events[-1], StreamEnd)


@pytest.mark.parametrize(
    ("report", "usage"),
    [
        ({"usage": {"prompt_tokens": "12", "completion_tokens": 3.0}}, Usage(12, 3)),
        (
            {"usage": {"input_tokens": 5, "output_tokens": 2, "input_tokens_details": {"cached_tokens": 1}}},
            Usage(5, 2, None, 1),
        ),
        ({"x_vendor": {"usage": {"total_tokens": 7}}}, Usage(total_tokens=7)),
        ({"usage": {"prompt_tokens": None, "total_tokens": -1, "completion_tokens": True}}, None),
        (
            {"usage": {"cache_creation_input_tokens": 4, "cache_read_input_tokens": 2}},
            Usage(cached_tokens=2, cache_write_tokens=4),
        ),
        ({"usage": []}, None),
    ],
)
def test_usage_is_read_where_it_stands_and_as_it_is_spelt(report: dict[str, Any], usage: Usage | None) -> None:
    for reads in (
        [delta(content="x"), finish(**report), DONE],
        [delta(content="x"), finish(), event({"choices": [], **report}), DONE],
    ):
        events, _ = decode(reads)
        assert isinstance(events[-1], StreamEnd)
        assert events[-1].usage == usage


@pytest.mark.parametrize(
    ("reads", "kind", "retryable"),
    [
        ([event({"object": "error", "message": "oops", "code": 500})], "server_error", True),
        ([event({"type": "error", "message": "oops"})], "stream_error", True),
        ([event({"code": 50505, "message": "Model service overloaded."})], "overloaded", True),
        ([event([{"error": {"code": 503, "message": "unavailable"}}])], "overloaded", True),
        ([b"event: error\ndata: something broke\n\n"], "stream_error", True),
        ([b"error: something broke\n\n", DONE], "stream_error", True),
        ([delta(content="x"), finish("insufficient_system_resource")], "stream_error", True),
        ([delta(content="x"), finish("ERROR")], "stream_error", True),
        ([b"data: {broken\n\n", finish(), DONE], "stream_error", True),
        ([b'{"choices":[{"message":{"content":"x'], "stream_truncated", True),
        ([b": hello\n\n"], "empty_stream", True),
        ([b"Not Found"], "bad_response", False),
        ([b"<html><body>Hello</body></html>"], "bad_response", False),
        ([delta(content="x"), event({"choices": [], "usage": {"total_tokens": 1}})], "stream_truncated", True),
    ],
)
def test_a_failure_is_found_whatever_it_is_wrapped_in(reads: list[bytes], kind: str, retryable: bool) -> None:
    events, failure = decode(reads, TOOLS)
    assert failure is not None
    assert (failure.kind, failure.retryable) == (kind, retryable)
    assert not any(isinstance(one, StreamEnd) for one in events)


@pytest.mark.parametrize(
    ("raw", "reason", "flags"),
    [
        ("MAX_TOKENS", "length", ()),
        ("max-tokens", "length", ()),
        ("model_length", "length", ("context_overflow",)),
        ("SAFETY", "content_filter", ("filtered",)),
        ("end_turn", "stop", ()),
        ("tool_use", "stop", ("announced_calls_missing",)),
        ("never heard of", "stop", ()),
    ],
)
def test_finish_reasons_of_many_dialects(raw: str, reason: str, flags: tuple[str, ...]) -> None:
    events, _ = decode([delta(content="x"), finish(raw), DONE], TOOLS)
    end = events[-1]
    assert isinstance(end, StreamEnd)
    assert (end.finish_reason, end.raw_finish_reason, end.flags) == (reason, raw, flags)


def test_the_text_of_a_message_may_follow_its_calls_in_another_choice() -> None:
    call = {"index": 0, "id": "c", "function": {"name": "clock_now", "arguments": "{}"}}
    reads = [event({"choices": [{"index": 1, "delta": {"tool_calls": [call]}}]}), delta(content="a"), finish(), DONE]
    events, _ = decode(reads, TOOLS)
    assert (text_of(events), [one.id for one in calls_of(events)]) == ("a", ["c"])
