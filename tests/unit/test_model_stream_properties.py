"""What must hold of every stream, not only of those that were recorded."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from agent_core.messages import ModelEvent, StreamEnd, ToolSchema
from agent_core.model.decoder import Decoder
from tests.support.streams import calls_of, decode, decode_quirk, quirks, reads_of, reasoning_of, runnable, text_of

IDS = sorted(name for name in quirks() if name != "many-parallel-calls")
TOOLS = [
    ToolSchema("put", "", {"type": "object", "properties": {"text": {"type": "string"}}}),
    ToolSchema("now", "", {}),
]
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
VALUES = st.recursive(st.none() | st.booleans() | st.integers() | TEXT, lambda inner: st.lists(inner, max_size=3))
ARGUMENTS = st.dictionaries(TEXT, VALUES, max_size=3)


def sse(chunk: dict[str, Any], line_end: str = "\n") -> bytes:
    return f"data: {json.dumps(chunk, ensure_ascii=False)}{line_end}{line_end}".encode()


def delta(**delta: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}


def finished(reason: str = "stop") -> bytes:
    return sse({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}) + b"data: [DONE]\n\n"


def pieces_of(data: st.DataObject, text: str) -> list[str]:
    """The text in pieces that are not empty."""
    cuts = sorted(data.draw(st.sets(st.integers(1, max(1, len(text) - 1)), max_size=6)))
    return [piece for piece in (text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)) if piece]


def summary(events: list[ModelEvent]) -> tuple[object, ...]:
    return text_of(events), reasoning_of(events), calls_of(events), events[-1:] if events else None


@given(st.sampled_from(IDS), st.data())
@settings(max_examples=150, deadline=None)
def test_any_cutting_of_the_bytes_gives_the_same_events(name: str, data: st.DataObject) -> None:
    quirk = quirks()[name]
    reads = reads_of(quirk)
    body = b"".join(reads)
    cuts = sorted(data.draw(st.sets(st.integers(0, len(body)), max_size=40)))
    again = [body[a:b] for a, b in zip([0, *cuts], [*cuts, len(body)], strict=True)]
    events, failure = decode_quirk(quirk, reads)
    other, other_failure = decode_quirk(quirk, again)
    assert other == events
    assert (failure and (failure.kind, failure.message, failure.partial)) == (
        other_failure and (other_failure.kind, other_failure.message, other_failure.partial)
    )


@given(st.lists(TEXT, max_size=8), st.sampled_from(["\n", "\r\n", "\r"]), st.data())
@settings(max_examples=100, deadline=None)
def test_text_comes_through_whole_whatever_ends_the_lines(texts: list[str], line_end: str, data: st.DataObject) -> None:
    body = b"".join(sse(delta(content=text), line_end) for text in texts) + finished()
    cuts = sorted(data.draw(st.sets(st.integers(0, len(body)), max_size=20)))
    reads = [body[a:b] for a, b in zip([0, *cuts], [*cuts, len(body)], strict=True)]
    plain = "".join(texts)
    if "think" in plain or len(plain) >= 16:
        return  # tags and snapshots have tests of their own
    events, failure = decode(reads)
    assert failure is None
    assert text_of(events) == plain


@given(
    st.lists(st.tuples(st.sampled_from(["put", "now"]), ARGUMENTS), min_size=1, max_size=5), st.booleans(), st.data()
)
@settings(max_examples=120, deadline=None)
def test_any_interleaving_of_fragments_joins_to_the_same_calls(
    calls: list[tuple[str, dict[str, Any]]], repeat_ids: bool, data: st.DataObject
) -> None:
    queues = []
    for index, (name, arguments) in enumerate(calls):
        opener = {"index": index, "id": f"c{index}", "function": {"name": name, "arguments": ""}}
        text = json.dumps(arguments, ensure_ascii=data.draw(st.booleans()))
        repeated = {"id": f"c{index}"} if repeat_ids else {}
        fragments = [{"index": index, "function": {"arguments": piece}, **repeated} for piece in pieces_of(data, text)]
        queues.append([opener, *fragments])
    reads = []
    while any(queues):
        queue = data.draw(st.sampled_from([queue for queue in queues if queue]))
        reads.append(sse(delta(tool_calls=[queue.pop(0)])))
    events, failure = decode([*reads, finished("tool_calls")], TOOLS)
    assert failure is None
    joined = [(call.id, call.name, json.loads(call.arguments), call.error) for call in calls_of(events)]
    assert joined == [(f"c{index}", name, arguments, None) for index, (name, arguments) in enumerate(calls)]


@given(st.lists(ARGUMENTS, min_size=1, max_size=4), st.data())
@settings(max_examples=100, deadline=None)
def test_calls_without_an_index_are_told_apart_by_their_ids(calls: list[dict[str, Any]], data: st.DataObject) -> None:
    reads = []
    for number, arguments in enumerate(calls):
        first, *rest = pieces_of(data, json.dumps(arguments))
        reads.append(sse(delta(tool_calls=[{"id": f"c{number}", "function": {"name": "put", "arguments": first}}])))
        for piece in rest:
            with_id = {"id": f"c{number}"} if data.draw(st.booleans()) else {}
            reads.append(sse(delta(tool_calls=[{"function": {"arguments": piece}, **with_id}])))
    events, _ = decode([*reads, finished()], TOOLS)
    assert [(call.id, json.loads(call.arguments)) for call in calls_of(events)] == [
        (f"c{number}", arguments) for number, arguments in enumerate(calls)
    ]


@given(st.sampled_from(IDS), st.floats(0, 1), st.sampled_from(["eof", "reset", "idle"]))
@settings(max_examples=150, deadline=None)
def test_no_prefix_of_a_stream_yields_a_call_to_run(name: str, share: float, ending: Any) -> None:
    """It is an error, or the stream had said that it was over."""
    quirk = quirks()[name]
    body = b"".join(reads_of(quirk))
    cut = body[: int(len(body) * share)]
    decoder_quirk = {**quirk, "end": {"eof": "eof", "reset": "reset", "idle": "hang"}[ending]}
    events, failure = decode_quirk(decoder_quirk, [cut])
    if failure is not None:
        assert not calls_of(events)
        return
    told = cut.decode("utf-8", "replace") + str(quirk.get("bytes_b64", ""))
    assert not runnable(events) or "[DONE]" in told or "finish_reason" in told


@given(ARGUMENTS, st.integers(0, 200), st.sampled_from(["length", "tool_calls", "stop", "", None]), st.booleans())
@settings(max_examples=120, deadline=None)
def test_u1_arguments_that_were_cut_off_are_never_run(
    arguments: dict[str, Any], kept: int, reason: str | None, done: bool
) -> None:
    whole = json.dumps({"path": "a", **arguments})
    text = whole[:kept]
    if not text.strip() or text == whole:
        return
    reads = [
        sse(delta(tool_calls=[{"index": 0, "id": "c", "function": {"name": "put", "arguments": text}}])),
        sse({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}),
        b"data: [DONE]\n\n" if done else b"",
    ]
    events, failure = decode(reads, TOOLS)
    assert not runnable(events)
    if failure is None:
        assert [(call.error, call.arguments, call.raw_arguments) for call in calls_of(events)] == [
            ("truncated", "{}", text)
        ]
    else:
        assert failure.kind == "stream_truncated"


@given(st.binary(max_size=400), st.sampled_from([200, 400, 500]))
@settings(max_examples=150, deadline=None)
def test_no_bytes_at_all_make_the_decoder_raise(noise: bytes, status: int) -> None:
    for body in (noise, b"data: " + noise + b"\n\n", b'data: {"choices":[{"delta":' + noise, finished() + noise):
        decoder = Decoder(status=status)
        events = [*decoder.feed(body), *decoder.finish("eof")]
        assert (decoder.failure is None) == (bool(events) and isinstance(events[-1], StreamEnd))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "choices",
                    "delta",
                    "message",
                    "index",
                    "content",
                    "tool_calls",
                    "function",
                    "name",
                    "arguments",
                    "id",
                    "finish_reason",
                    "usage",
                    "error",
                    "code",
                    "prompt_tokens",
                    "reasoning",
                    "reasoning_details",
                    "type",
                    "text",
                    "refusal",
                    "audio",
                    "function_call",
                    "extra_content",
                ]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)


@given(st.lists(JSON, max_size=4))
@settings(max_examples=150, deadline=None)
def test_no_json_of_any_shape_makes_the_decoder_raise(chunks: list[Any]) -> None:
    body = b"".join(f"data: {json.dumps(chunk)}\n\n".encode() for chunk in chunks)
    nested = b"".join(f"data: {json.dumps({'choices': [{'delta': chunk}]})}\n\n".encode() for chunk in chunks)
    calls = b"".join(sse({"choices": [{"delta": {"tool_calls": [chunk]}}]}) for chunk in chunks)
    for raw in (body, nested, calls):
        for whole in (raw, raw.replace(b"data: ", b"")):
            decoder = Decoder()
            decoder.feed(whole)
            decoder.finish("eof")
