"""The client's requests pass a strict server, and each peculiar refusal is learnt in one round."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from agent_core.errors import ModelError
from agent_core.messages import Message, ModelEvent, StreamEnd, ToolCall, ToolSchema
from agent_core.model import OpenAIModel, Profile, ProfileStore
from tests.support.streams import calls_of, text_of
from tests.support.strict_server import PECULIAR, strict_server

LONG_NAME = "look_up_the_" + "very_" * 10 + "long_one"
TOOLS = [
    ToolSchema(
        "get_order",
        "Reads an order.",
        {
            "type": "object",
            "properties": {
                "order_id": {"type": "string", "pattern": "^[0-9]+$"},
                "when": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
                "item": {"$ref": "#/$defs/Item"},
            },
            "required": ["order_id"],
            "additionalProperties": False,
            "$defs": {
                "Item": {"type": "object", "properties": {"sku": {"type": "string"}, "next": {"$ref": "#/$defs/Item"}}}
            },
        },
    ),
    ToolSchema(LONG_NAME, "Has a long name.", {"type": "object", "properties": {}}),
    ToolSchema("商品.查询", "Has a name that no endpoint accepts.", {"type": "object", "properties": {}}),
]
HISTORY = [
    Message(role="system", content="You help in a shop."),
    Message(role="user", content="Order 123?"),
    Message(
        role="assistant",
        tool_calls=(
            ToolCall("call_1", "get_order", '{"order_id":"123"}'),
            ToolCall("call_2", "商品.查询", "{}", error="truncated", raw_arguments='{"a'),
            ToolCall("call_3", "no such <tool>", '{"a":1}', known=False),
        ),
    ),
    Message(role="tool", content='{"status":"shipped"}', tool_call_id="call_1"),
    Message(role="tool", content="", tool_call_id="call_2"),
    Message(role="tool", content='{"error":{"type":"unknown_tool"}}', tool_call_id="call_3"),
    Message(role="assistant", content="It is on its way."),
    Message(role="user", content="And"),
    Message(role="user", content="the other?"),
]
OPTIONS: dict[str, Any] = {"temperature": 0.2, "max_tokens": 100, "parallel_tool_calls": True}


async def play(
    model: OpenAIModel, messages: Sequence[Message] = HISTORY, tools: Sequence[ToolSchema] = TOOLS
) -> list[ModelEvent]:
    return [event async for event in model.stream_chat(messages, tools, **OPTIONS)]


async def learn(model: OpenAIModel) -> tuple[list[ModelEvent], list[ModelError]]:
    """As the loop does: send, learn from a refusal, send again; gives what was refused on the way."""
    refusals: list[ModelError] = []
    while True:
        try:
            return await play(model), refusals
        except ModelError as error:
            refusals.append(error)
            if len(refusals) > 20 or not model.learn(error):
                raise


async def test_the_canonical_form_meets_no_refusal() -> None:
    async with strict_server() as server, OpenAIModel(server.url, model="m") as model:
        assert text_of(await play(model)) == "ok"
        assert text_of(await play(model, tools=())) == "ok"
        assert text_of(await play(model, HISTORY[:2])) == "ok"
    assert server.refusals == []


@pytest.mark.parametrize("refusal", sorted(set(PECULIAR) - {"no_streaming"}))
async def test_each_refusal_is_learnt_in_one_round(refusal: str) -> None:
    async with strict_server(refusal) as server, OpenAIModel(server.url, model="m") as model:
        events, refusals = await learn(model)
        again, _ = await learn(model)
    assert text_of(events) == text_of(again) == "ok"
    assert len(refusals) == 1
    assert refusals[0].retryable
    assert server.refusals == [refusal]


async def test_an_endpoint_that_only_streams_teaches_a_client_that_does_not() -> None:
    async with (
        strict_server("no_streaming") as server,
        OpenAIModel(server.url, model="m", profile=Profile(stream=False)) as model,
    ):
        events, refusals = await learn(model)
    assert text_of(events) == "ok"
    assert [error.remedy for error in refusals] == ["enable_stream"]


async def test_all_refusals_together_are_learnt_one_a_round() -> None:
    every = set(PECULIAR) - {"no_streaming"}
    async with strict_server(*every) as server, OpenAIModel(server.url, model="m") as model:
        server.turns = [
            [{"tool_calls": [{"index": 0, "id": "x", "function": {"name": "get_order", "arguments": "{}"}}]}]
        ]
        events, refusals = await learn(model)
    assert [call.name for call in calls_of(events)] == ["get_order"]
    assert len(refusals) == len(server.refusals) == len(set(server.refusals)) == len(every)


async def test_what_was_learnt_is_kept_for_the_next_process(tmp_path: Path) -> None:
    store = ProfileStore(tmp_path / "home" / "profiles.json")
    async with strict_server("temperature", "long_ids") as server:
        async with OpenAIModel(server.url, model="m", profiles=store) as model:
            await learn(model)
        refused = len(server.refusals)
        async with OpenAIModel(server.url, model="m", profiles=ProfileStore(store.path)) as model:
            assert text_of(await play(model)) == "ok"
        assert len(server.refusals) == refused == 2
        async with OpenAIModel(server.url, model="other", profiles=store) as model:
            assert model.profile == Profile()


async def test_nothing_is_learnt_twice_from_a_refusal_that_does_not_go_away() -> None:
    async with strict_server() as server, OpenAIModel(server.url, model="m") as model:
        error = ModelError("unsupported_parameter", "no", remedy="drop_param", param="temperature", retryable=True)
        assert model.learn(error)
        assert not model.learn(error)
        rounds = 0
        for number in range(100):
            rounds += model.learn(ModelError("unsupported_parameter", "no", remedy="drop_param", param=f"p{number}"))
        assert rounds < 20
        assert not model.learn(ModelError("unsupported_parameter", "no", remedy="drop_param", param="messages"))
        assert server.requests == []


async def test_the_model_sees_wire_names_and_the_loop_its_own() -> None:
    async with strict_server() as server, OpenAIModel(server.url, model="m") as model:
        names = [tool["function"]["name"] for tool in json.loads(model.render_tools(TOOLS))]
        server.turns = [
            [{"tool_calls": [{"index": 0, "id": "x", "function": {"name": names[2], "arguments": "{}"}}]}],
            [{"tool_calls": [{"index": 0, "id": "y", "function": {"name": names[2].upper(), "arguments": "{}"}}]}],
        ]
        first, second = calls_of(await play(model)), calls_of(await play(model))
    assert (first[0].name, first[0].raw_name, first[0].known) == ("商品.查询", None, True)
    assert (second[0].name, second[0].raw_name) == ("商品.查询", names[2].upper())


async def test_each_request_extends_the_one_before_it_byte_for_byte() -> None:
    async with strict_server() as server, OpenAIModel(server.url, model="m") as model:
        for length in (2, 6, 7, len(HISTORY)):
            await play(model, HISTORY[:length])
    for shorter, longer in zip(server.raw, server.raw[1:], strict=False):
        assert longer.startswith(shorter[: shorter.rindex(b'],"tools":')])


async def test_a_call_id_is_mapped_alike_in_call_and_result() -> None:
    async with (
        strict_server("long_ids") as server,
        OpenAIModel(server.url, model="m", profile=Profile(nine_ids=True)) as model,
    ):
        await play(model)
    messages = server.requests[0]["messages"]
    assert [call["id"] for call in messages[2]["tool_calls"]] == [message["tool_call_id"] for message in messages[3:6]]


async def test_provider_keys_go_back_to_where_they_came_from_and_nowhere_else() -> None:
    signature = {"extra_content": {"google": {"thought_signature": "c2ln"}}}
    async with strict_server("reasoning") as server, OpenAIModel(server.url, model="m") as model:
        call = {"index": 0, "id": "x", "function": {"name": "get_order", "arguments": "{}"}, **signature}
        server.turns = [[{"reasoning_content": "Look it up."}, {"tool_calls": [call]}]]
        events = await play(model, HISTORY[:2])
        end = events[-1]
        assert isinstance(end, StreamEnd)
        message = Message(role="assistant", tool_calls=tuple(calls_of(events)), replay=end.replay, origin=model.origin)
        other = OpenAIModel("http://127.0.0.1:9/v1", model="m")
    here, there = json.loads(model.render_message(message)), json.loads(other.render_message(message))
    assert here["reasoning_content"] == "Look it up."
    assert here["tool_calls"][0]["extra_content"] == signature["extra_content"]
    assert set(there) == {"role", "content", "tool_calls"}
    assert set(there["tool_calls"][0]) == {"id", "type", "function"}
