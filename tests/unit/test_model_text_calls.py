"""Calls that models write into their text, each dialect cut into small pieces; and text that only looks like a call."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from agent_core.messages import ModelEvent, StreamEnd, TextDelta, TextWithdrawn, ToolSchema
from tests.support.streams import calls_of, decode, reasoning_of, text_of

TOOLS = [
    ToolSchema(
        "get_order",
        "",
        {
            "type": "object",
            "properties": {"order_id": {"type": "string"}, "n": {"type": "integer"}, "deep": {"type": "boolean"}},
        },
    ),
    ToolSchema("clock_now", "", {"type": "object", "properties": {}}),
]
ONE: list[tuple[str, Any]] = [("get_order", {"order_id": "1"})]
NOW: list[tuple[str, Any]] = [("clock_now", {})]
CALL = '{"name":"get_order","arguments":{"order_id":"1"}}'


def stream(text: str, size: int, **more: Any) -> list[bytes]:
    deltas: list[dict[str, Any]] = [{"content": text[start : start + size]} for start in range(0, len(text), size)]
    if more:
        deltas.append(more)
    chunks: list[dict[str, Any]] = [
        {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas
    ]
    chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    return [*(f"data: {json.dumps(chunk)}\n\n".encode() for chunk in chunks), b"data: [DONE]\n\n"]


def read(text: str, size: int = 3, tools: list[ToolSchema] | None = None, **more: Any) -> list[ModelEvent]:
    events, failure = decode(stream(text, size, **more), TOOLS if tools is None else tools)
    assert failure is None
    return events


def flags_of(events: list[ModelEvent]) -> tuple[str, ...]:
    assert isinstance(events[-1], StreamEnd)
    return events[-1].flags


DIALECTS: list[tuple[str, list[tuple[str, Any]]]] = [
    (f"<tool_call>{CALL}</tool_call>", ONE),
    (f'<tool_call>{CALL}</tool_call>\n<tool_call>{{"name":"clock_now","arguments":{{}}}}</tool_call>', ONE + NOW),
    ('<tool_call>{"name": "get_order", "arguments": "{\\"order_id\\": \\"1\\"}"}</tool_call>', ONE),
    ('<tool_call>{"name":"get_order","arguments":{"order_id":"1",}}</tool_call>', ONE),
    ("<tool_call>{'name':'get_order','arguments':{'order_id':'1'}}</tool_call>", ONE),
    (
        '<tool_call>{"name":"get_order","arguments":{"order_id":"</tool_call>"}}</tool_call>',
        [("get_order", {"order_id": "</tool_call>"})],
    ),
    ("<tool_call>get_order\n<arg_key>order_id</arg_key>\n<arg_value>1</arg_value>\n</tool_call>", ONE),
    ("<tool_call>clock_now</tool_call>", NOW),
    ('<tool_call>get_order{"order_id":"1"}</tool_call>', ONE),
    ('<function=get_order>{"order_id": "1"}</function>', ONE),
    (
        "<function=get_order>\n<parameter=order_id>\n1\n</parameter>\n<parameter=n>3</parameter>\n</function>\n</tool_call>",
        [("get_order", {"order_id": "1", "n": 3})],
    ),
    (
        "<tool_call>\n<function=get_order>\n<parameter=order_id>\na\n</parameter>b\n</parameter>\n</function>\n</tool_call>",
        [("get_order", {"order_id": "a\n</parameter>b"})],
    ),
    (
        '<function_calls>\n<invoke name="get_order">\n<parameter name="order_id">1</parameter>\n'
        '<parameter name="deep">false</parameter>\n</invoke>\n</function_calls>',
        [("get_order", {"order_id": "1", "deep": False})],
    ),
    (
        '<minimax:tool_call><invoke name="get_order"><parameter name="order_id">1</parameter></invoke>'
        '<invoke name="clock_now"></invoke></minimax:tool_call>',
        ONE + NOW,
    ),
    ("<seed:tool_call><function=get_order><parameter=order_id>1</parameter></function></seed:tool_call>", ONE),
    (f"<|tool_call|>[{CALL}]", ONE),
    (f"<|tool_call|>[{CALL}]<|/tool_call|>", ONE),
    (f"<tool_calls>[{CALL}]</tool_calls>", ONE),
    (f"<TOOLCALL>[{CALL}]</TOOLCALL>", ONE),
    (f"<function_call>{CALL}</function_call>", ONE),
    ('<|START_ACTION|>[{"tool_name":"get_order","parameters":{"order_id":"1"}}]<|END_ACTION|>', ONE),
    ('<|action_start|><|plugin|>{"name":"get_order","parameters":{"order_id":"1"}}<|action_end|>', ONE),
    (f"[TOOL_REQUEST]{CALL}[END_TOOL_REQUEST]", ONE),
    (f"[TOOL_CALLS] [{CALL}]", ONE),
    ('[TOOL_CALLS]get_order[CALL_ID]abc[ARGS]{"order_id":"1"}', ONE),
    ('[TOOL_CALLS]get_order{"order_id":"1"}', ONE),
    ('<|python_tag|>get_order.call(order_id="1")<|eom_id|>', ONE),
    ('[get_order(order_id="1"), clock_now()]', ONE + NOW),
    ('<|start|>assistant to=functions.get_order<|channel|>commentary json<|message|>{"order_id":"1"}<|call|>', ONE),
    (
        '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_order\n```json\n{"order_id":"1"}\n```'
        "<｜tool▁call▁end｜>\n<｜tool▁call▁begin｜>function<｜tool▁sep｜>clock_now\n```json\n{}\n```<｜tool▁call▁end｜>"
        "<｜tool▁calls▁end｜>",
        ONE + NOW,
    ),
    (CALL, ONE),
    (f"[{CALL}]", ONE),
    ('{"type":"function","name":"get_order","parameters":{"order_id":"1"}}', ONE),
    (f"```\n{CALL}\n```", ONE),
    (f"```json\n{CALL}\n```\n", ONE),
    ('```tool_code\nprint(get_order(order_id="1"))\n```', ONE),
    ("<think>hm</think><tool_call>clock_now</tool_call>", NOW),
    ("hm\n</think>\n\n<tool_call>clock_now</tool_call>", NOW),
]


@pytest.mark.parametrize("size", [1, 4, 1000])
@pytest.mark.parametrize(("text", "calls"), DIALECTS)
def test_a_whole_call_in_a_known_dialect_is_a_call(text: str, calls: list[tuple[str, Any]], size: int) -> None:
    events = read(text, size)
    assert [(call.name, json.loads(call.arguments)) for call in calls_of(events)] == calls
    assert all(call.known and call.error is None for call in calls_of(events))
    assert text_of(events).strip() == ""
    assert "text_tool_call" in flags_of(events)


STAYS = [
    "a < b, [x], <i>ok</i>, <toolbox> and <",
    "The tag <tool_call> opens a call. More prose follows here.",
    f"Use `<tool_call>{CALL}</tool_call>` for that.",
    f"Like this:\n```xml\n<tool_call>{CALL}</tool_call>\n```\n",
    f"~~~\n<tool_call>{CALL}</tool_call>\n~~~",
    f"Sure!\n```json\n{CALL}\n```",
    f"{CALL} and more",
    '{"name":"get_order","arguments":{"order_id":"1"},"note":"x"}',
    '{"name":"get_order"}',
    '<tool_call>{"name":"no_such_tool","arguments":{}}</tool_call>',
    '<tool_call>{"name":"get_order","arguments":[1]}</tool_call>',
    "<function=no_such_tool>\n<parameter=a>\n1\n</parameter>\n</function> is the form.",
    '```python\nget_order(order_id="1")\n```',
    "[get_order(order_id=x)]",
    '[get_order(order_id="1"), open("/etc/passwd")]',
    "# Title\n\n- [link](https://host/<id>)\n",
    "Wrap it in `<think>` and `</think>`.",
    "```\n</think>\n```\nis how it ends",
    "It ends with </think> here.",
]


@pytest.mark.parametrize("size", [1, 4, 1000])
@pytest.mark.parametrize("text", STAYS)
def test_text_that_only_looks_like_a_call_stays_as_it_is(text: str, size: int) -> None:
    events = read(text, size)
    assert text_of(events) == text
    assert not calls_of(events)
    assert flags_of(events) == ()


@pytest.mark.parametrize("text", [text for text, _ in DIALECTS if "think>" not in text and "<|start|>" not in text])
def test_without_offered_tools_nothing_is_a_call(text: str) -> None:
    events = read(text, tools=[])
    assert text_of(events) == text
    assert not calls_of(events)


@pytest.mark.parametrize(
    "text", [text for text, _ in DIALECTS if text.startswith(("<", "[T")) and "think>" not in text]
)
def test_a_call_that_was_begun_and_not_finished_is_neither_run_nor_shown(text: str) -> None:
    ended = text.rstrip("|>]）")
    cut = ended[: max(len(ended) * 2 // 3, 14)]
    events = read(f"One moment. {cut}") if "<|start|>" not in text else read(cut)
    begun = [call.name for call in calls_of(events)]
    assert len(begun) < 2
    if not begun:
        assert "unfinished_text_call" in flags_of(events)
        assert text_of(events).strip() in ("One moment.", "")


def test_text_before_a_call_is_shown_at_once_and_the_markup_never() -> None:
    events = read(f"I will look that up.\n<tool_call>{CALL}</tool_call>")
    assert text_of(events).strip() == "I will look that up."
    assert not any(isinstance(event, TextWithdrawn) for event in events)
    assert "tool_call" not in "".join(event.text for event in events if isinstance(event, TextDelta))


def test_structured_calls_win_over_calls_in_the_text() -> None:
    call = {"index": 0, "id": "s1", "function": {"name": "get_order", "arguments": '{"order_id":"2"}'}}
    events = read(f"Looking. <tool_call>{CALL}</tool_call>", tool_calls=[call])
    assert [call.id for call in calls_of(events)] == ["s1"]
    assert text_of(events).strip() == "Looking."
    assert "text_markup_removed" in flags_of(events)


def test_text_that_turns_out_to_be_reasoning_is_withdrawn() -> None:
    events = read("They are in a hurry.\n</think>\n\nTake the ferry.", 7)
    assert any(isinstance(event, TextWithdrawn) for event in events)
    assert (text_of(events), reasoning_of(events).strip()) == ("Take the ferry.", "They are in a hurry.")


@pytest.mark.parametrize("tag", ["think", "thinking", "thought", "reasoning", "seed:think"])
def test_a_reasoning_block_at_the_start_is_no_text(tag: str) -> None:
    for size in (1, 3, 100):
        events = read(f" \n<{tag}>a < b</{tag}>\n\nBoth.", size)
        assert (text_of(events), reasoning_of(events)) == ("Both.", "a < b")


def test_plain_text_comes_through_piece_by_piece() -> None:
    events = read("Your order ships today, 您好。", 4)
    assert [event.text for event in events if isinstance(event, TextDelta)] == [
        "Your",
        " ord",
        "er s",
        "hips",
        " tod",
        "ay, ",
        "您好。",
    ]


HOSTILE: dict[str, Callable[[int], str]] = {
    "angles": lambda number: "a < b ",
    "openers": lambda number: "<tool_call>{ ",
    "quoted marks": lambda number: "`<tool_call>` ",
    "closers in a fence": lambda number: "</think>\n" if number else "```\n",
    "a held call": lambda number: '{"a":1}' if number else "<tool_call>",
    "an open think block": lambda number: "a <" if number else "<think>",
    "code spans": lambda number: "`a` ",
    "blanks": lambda number: " ",
}


@pytest.mark.parametrize("kind", sorted(HOSTILE))
def test_hostile_text_is_read_in_linear_time(kind: str) -> None:
    def seconds(count: int) -> float:
        deltas = [{"choices": [{"index": 0, "delta": {"content": HOSTILE[kind](number)}}]} for number in range(count)]
        reads = [f"data: {json.dumps(delta)}\n\n".encode() for delta in deltas]
        started = time.process_time()
        decode([*reads, b"data: [DONE]\n\n"], TOOLS)
        return time.process_time() - started

    assert min(seconds(12_000), seconds(12_000)) < 10 * max(min(seconds(3_000), seconds(3_000)), 0.02)
