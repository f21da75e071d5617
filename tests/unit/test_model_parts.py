"""The small parts of the model boundary: names, secrets, waits, retries, requests, profiles, models without network."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core.errors import AgentError, ModelError
from agent_core.messages import (
    Message,
    ModelClient,
    ReasoningDelta,
    StreamEnd,
    TextDelta,
    ToolCall,
    ToolSchema,
    Usage,
    Wire,
    WireModel,
)
from agent_core.model import (
    OpenAIModel,
    Profile,
    ProfileStore,
    RecordedModel,
    Recording,
    RetryPolicy,
    ScriptedModel,
    delay,
    frame,
    mask,
    prepare,
    render_message,
    render_tools,
)
from agent_core.model.names import nine, resolve, safe_name
from agent_core.model.retry_after import from_response
from agent_core.model.schemas import inline, mentions_refs, simplify
from tests.support.streams import FIXTURES, calls_of, text_of

NOW = 1_760_000_000.0


# --- names ---

OFFERED = {name: name for name in ("get_order", "unblock_customer", "block_customer", "file-put")}


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        ("get_order", "get_order"),
        (" Get_Order ", "get_order"),
        ("get-order", "get_order"),
        ("functions.get_order", "get_order"),
        ("functions.get_order:3", "get_order"),
        ("tools/get_order", "get_order"),
        ("default_api: get_order", "get_order"),
        ("a::b::get_order", "get_order"),
        ("get_order</arg_value>", "get_order"),
        ("get_order<|channel|>commentary", "get_order"),
        ("get_order()", "get_order"),
        ("FILE_PUT", "file-put"),
        ("unblok_customer", None),
        ("get_orders", None),
        ("my_get_order", None),
        ("order", None),
        ("", None),
        ("<get_order>", None),
    ],
)
def test_u4_a_name_is_understood_only_when_one_tool_is_meant(raw: str, name: str | None) -> None:
    assert resolve(raw, OFFERED) == name


def test_a_name_that_fits_two_tools_is_none() -> None:
    assert resolve("GET_ORDER", {"get_order": "get_order", "get-order": "get-order"}) is None


@given(st.text(min_size=1, max_size=120), st.booleans())
def test_every_name_gets_a_safe_one_of_its_own(name: str, short: bool) -> None:
    safe = safe_name(name, short=short)
    assert re.fullmatch(r"[a-zA-Z][a-zA-Z0-9_]{0,39}" if short else r"[a-zA-Z0-9_-]{1,64}", safe)
    assert safe_name(name, short=short) == safe
    assert safe_name(name + "x", short=short) != safe
    assert re.fullmatch(r"[a-zA-Z0-9]{9}", nine(name))
    assert nine(nine(name)) == nine(name)


# --- secrets ---


@pytest.mark.parametrize(
    "text",
    [
        "key sk-abc123def456ghi789 is wrong",
        "Authorization: Bearer abcdef123456",
        "https://user:abcdef123456@host/v1",
        "https://host/v1?api-key=abcdef123456&x=1",
        '{"api_key": "abcdef123456"}',
        "the token SECRETVALUE123 leaked",
        "encoded SECRET%2FVALUE+9",
    ],
)
def test_secrets_do_not_come_out(text: str) -> None:
    masked = mask(text, ["SECRETVALUE123", "SECRET/VALUE 9", None, "", "abc"])
    assert "***" in masked
    assert not re.search(r"abcdef123456|abc123def|SECRETVALUE123|SECRET%2F", masked)


def test_ordinary_words_are_not_masked() -> None:
    text = "Use max_tokens; the key-value store at https://host/v1?page=2 has 3 tasks, sk-... is a prefix."
    assert mask(text, ["host"]) == text


# --- waits ---


@pytest.mark.parametrize(
    ("headers", "error", "message", "seconds"),
    [
        ({"retry-after": "7"}, {}, "", 7.0),
        ({"retry-after": "1.5"}, {}, "", 1.5),
        ({"retry-after": "2s"}, {}, "", 2.0),
        ({"retry-after": "1m6.5s"}, {}, "", 66.5),
        ({"retry-after-ms": "1500", "retry-after": "2"}, {}, "", 1.5),
        ({"retry-after": "Thu, 09 Oct 2025 08:53:30 GMT"}, {}, "", 10.0),
        ({"retry-after": "Thu, 09 Oct 2025 08:53:30 GMT", "date": "Thu, 09 Oct 2025 08:53:25 GMT"}, {}, "", 5.0),
        ({"retry-after": "Thu, 09 Oct 2025 08:00:00 GMT"}, {}, "", 0.0),
        ({"retry-after": "soon"}, {}, "", None),
        ({"retry-after": "-5"}, {}, "", None),
        ({"x-ratelimit-reset": "1760000030"}, {}, "", 30.0),
        ({"x-ratelimit-reset": "1760000030000"}, {}, "", 30.0),
        ({"x-ratelimit-reset-requests": "120ms", "x-ratelimit-remaining-requests": "0"}, {}, "", 0.12),
        ({"x-ratelimit-reset-tokens": "6m0s", "x-ratelimit-remaining-tokens": "12"}, {}, "", None),
        (
            {"anthropic-ratelimit-tokens-reset": "2025-10-09T08:53:40Z", "anthropic-ratelimit-tokens-remaining": "0"},
            {},
            "",
            20.0,
        ),
        ({"ratelimit": "limit=100, remaining=0, reset=30"}, {}, "", 30.0),
        ({"ratelimit": '"default";r=0;t=12'}, {}, "", 12.0),
        ({}, {"details": [{"retryDelay": "21.5s"}]}, "", 21.5),
        ({}, {"retry_after": 3}, "", 3.0),
        ({}, {"error": {"metadata": {"retry_after_ms": "2500"}}}, "", 2.5),
        ({}, {"retryDelay": {"seconds": 4, "nanos": 500000000}}, "", 4.5),
        ({}, {}, "Rate limit reached. Please try again in 6.12s. Visit", 6.12),
        ({}, {}, "Please try again in 1m3s.", 63.0),
        ({}, {}, "Please retry in 250ms", 0.25),
        ({}, {}, "Please retry after 30 seconds.", 30.0),
        ({}, {}, "try again in 2 minutes", 120.0),
        ({}, {}, "请在 5 秒后重试", 5.0),
        ({}, {}, "too many requests", None),
        ({}, {}, "wait for version 2 of the model", None),
    ],
)
def test_every_spelling_of_a_wait_is_read(
    headers: dict[str, str], error: Any, message: str, seconds: float | None
) -> None:
    read = from_response(headers, error, message, now=NOW)
    assert read == (None if seconds is None else pytest.approx(seconds))


# --- retries ---


def transient(after: float | None = None) -> ModelError:
    return ModelError("overloaded", "busy", retryable=True, retry_after=after)


@given(st.integers(1, 60), st.floats(0, 1), st.none() | st.floats(0, 100))
def test_a_wait_is_bounded_and_never_shorter_than_told(attempt: int, chance: float, told: float | None) -> None:
    policy = RetryPolicy(attempts=100, total=1e9)
    wait = delay(transient(told), attempt, policy, lambda: chance)
    assert wait is not None
    assert wait >= (told or 0)
    assert wait <= max(policy.longest, (told or 0) + 1)


def test_retries_end() -> None:
    policy = RetryPolicy(attempts=3, total=10)
    assert delay(transient(), 1, policy, lambda: 0.5) is not None
    assert delay(transient(), 3, policy, lambda: 0.5) is None
    assert delay(transient(8), 1, policy, lambda: 0.0, waited=5) is None
    assert delay(transient(10_000), 1, policy, lambda: 0.0) is None
    assert delay(ModelError("auth", "no"), 1, policy, lambda: 0.0) is None


def test_waits_grow_and_differ() -> None:
    policy = RetryPolicy()
    waits = [delay(transient(), attempt, policy, lambda: 1.0) for attempt in (1, 2, 3)]
    assert waits == [0.5, 1.0, 2.0]
    assert delay(transient(), 1, policy, lambda: 0.0) != waits[0]


# --- requests ---

SYSTEM = Message(role="system", content="Be brief.")
CALL = ToolCall("c1", "get_order", '{"id":1}')


@pytest.mark.parametrize(
    ("message", "body"),
    [
        (SYSTEM, {"role": "system", "content": "Be brief."}),
        (Message(role="user", content="您好"), {"role": "user", "content": "您好"}),
        (
            Message(role="tool", content="", tool_call_id="c1"),
            {"role": "tool", "content": "(empty)", "tool_call_id": "c1"},
        ),
        (Message(role="assistant"), {"role": "assistant", "content": "(empty)"}),
        (
            Message(role="assistant", tool_calls=(CALL,)),
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {"id": "c1", "type": "function", "function": {"name": "get_order", "arguments": '{"id":1}'}}
                ],
            },
        ),
    ],
)
def test_a_message_is_written_in_the_canonical_form(message: Message, body: dict[str, Any]) -> None:
    assert json.loads(render_message(message)) == body


def test_broken_arguments_go_back_as_an_empty_object() -> None:
    broken = ToolCall("c1", "get_order", "{}", error="truncated", raw_arguments='{"id":')
    sent = json.loads(render_message(Message(role="assistant", tool_calls=(broken,))))
    assert sent["tool_calls"][0]["function"]["arguments"] == "{}"


def test_a_lone_surrogate_cannot_break_a_request() -> None:
    assert json.loads(render_message(Message(role="user", content="a\ud800b"))) == {
        "role": "user",
        "content": "a\ufffdb",
    }


def test_the_parts_of_a_request_make_one_body() -> None:
    tools = [ToolSchema("t", "d", {"type": "object", "properties": {}})]
    body: dict[str, Any] = {}
    for offered in ([], tools):
        rendered = render_tools(offered)
        wire = Wire(
            frame("m", {"temperature": 0, "tool_choice": "auto", "seed": None}, bool(offered)),
            (render_message(SYSTEM),),
            rendered,
        )
        body = json.loads(wire.body())
        assert body["stream_options"] == {"include_usage": True}
        assert body["stream"] is True
        assert body["temperature"] == 0
        assert "seed" not in body
        assert ("tools" in body) == ("tool_choice" in body) == bool(offered)
    assert list(body)[:2] == ["model", "messages"]


def test_a_profile_changes_the_frame() -> None:
    profile = Profile(drop=("temperature",), rename={"max_tokens": "max_completion_tokens"}, stream=False)
    body = json.loads("".join(frame("m", {"temperature": 1, "max_tokens": 5}, False, profile)))
    assert body == {"model": "m", "messages": [], "stream": False, "max_completion_tokens": 5}
    silent = Profile(drop=("stream", "stream_options"), stream=True)
    assert json.loads("".join(frame("m", {}, False, silent))) == {"model": "m", "messages": []}


def test_the_whole_conversation_is_left_alone_by_default() -> None:
    messages = [SYSTEM, Message(role="user", content="a"), Message(role="user", content="b")]
    assert prepare(messages) == messages


def test_roles_are_merged_where_an_endpoint_wants_turns() -> None:
    messages = [
        SYSTEM,
        Message(role="user", content="a"),
        Message(role="user", content="b"),
        Message(role="system", content="And polite."),
        Message(role="assistant", tool_calls=(CALL,)),
        Message(role="tool", content="1", tool_call_id="c1"),
        Message(role="user", content="c"),
    ]
    merged = prepare(messages, Profile(merge_roles=True))
    assert [message.role for message in merged] == ["system", "user", "assistant", "tool", "assistant", "user"]
    assert merged[0].content == "Be brief.\n\nAnd polite."
    assert merged[1].content == "a\n\nb"


def test_every_call_gets_one_result_where_an_endpoint_insists() -> None:
    other = ToolCall("c2", "get_order", "{}")
    messages = [
        Message(role="tool", content="orphan", tool_call_id="c0"),
        Message(role="assistant", tool_calls=(CALL, other)),
        Message(role="user", content="hm"),
        Message(role="tool", content="late", tool_call_id="c2"),
        Message(role="tool", content="twice", tool_call_id="c2"),
    ]
    paired = prepare(messages, Profile(pair_tool_messages=True))
    assert [(message.role, message.tool_call_id, message.content) for message in paired[1:]] == [
        ("tool", "c1", "(no result)"),
        ("tool", "c2", "late"),
        ("user", None, "hm"),
    ]


RECURSIVE = {
    "type": "object",
    "properties": {"item": {"$ref": "#/$defs/Item", "description": "which"}, "$ref": {"type": "string"}},
    "$defs": {
        "Item": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Item"}, "far": {"$ref": "#/nowhere"}}}
    },
}


def test_references_are_inlined_and_recursion_is_cut() -> None:
    schema = inline(RECURSIVE)
    assert schema["properties"]["item"]["description"] == "which"
    assert schema["properties"]["item"]["properties"]["next"]["type"] == "object"
    assert schema["properties"]["$ref"] == {"type": "string"}
    assert "$defs" not in schema
    assert not mentions_refs(schema["properties"]["item"])


def test_a_simplified_schema_holds_plain_keywords_only() -> None:
    schema = simplify(
        {
            "type": "object",
            "additionalProperties": False,
            "properties": {
                "when": {"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}], "default": None},
                "n": {"type": ["integer", "null"], "exclusiveMinimum": 0},
                "tags": {"type": "array", "items": {"const": "x"}},
                "any": {},
                "both": {
                    "allOf": [{"properties": {"a": {"type": "string"}}}, {"properties": {"b": {"type": "string"}}}]
                },
                "title": {"type": "string", "title": "T"},
            },
            "required": ["n"],
        }
    )
    words = set(re.findall(r'"(\w+)":', json.dumps(schema)))
    assert words <= {
        "type",
        "properties",
        "required",
        "items",
        "enum",
        "description",
        "when",
        "n",
        "tags",
        "any",
        "both",
        "a",
        "b",
        "title",
    }
    assert schema["properties"]["n"] == {"type": "integer"}
    assert schema["properties"]["when"] == {"type": "string"}
    assert set(schema["properties"]["both"]["properties"]) == {"a", "b"}


# --- profiles ---


def test_a_damaged_store_counts_as_empty_and_is_replaced(tmp_path: Path) -> None:
    store = ProfileStore(tmp_path / "deep" / "profiles.json")
    assert store.get("x") == Profile()
    store.put("x", Profile(drop=("seed",)))
    store.put("y", Profile(stream=False))
    assert ProfileStore(store.path).get("x").drop == ("seed",)
    raw = json.loads(store.path.read_text())
    store.path.write_text(json.dumps({**raw, "z": {"stream": "no"}, "w": {"unheard_of": 1, "drop": ["a"]}}))
    assert store.get("z") == Profile()
    assert store.get("w").drop == ("a",)
    store.path.write_text("{broken")
    assert store.all() == {}
    store.put("x", Profile(nine_ids=True))
    assert store.get("x").nine_ids
    assert [path.name for path in store.path.parent.iterdir()] == ["profiles.json"]


# --- models that need no network ---


async def play(model: ModelClient, messages: Sequence[Message] = (), tools: Sequence[ToolSchema] = ()) -> list[Any]:
    return [event async for event in model.stream_chat(messages, tools)]


TOOLS = [ToolSchema("get_order", "", {"type": "object", "properties": {}})]


async def test_a_scripted_model_plays_its_turns_and_remembers_the_requests() -> None:
    model = ScriptedModel(
        [
            "Hello",
            [
                ReasoningDelta(text="hm"),
                "Looking. ",
                ("get_order", {"id": 1}),
                ("Get-Order", '{"id":'),
                ("nope", {}),
                CALL,
                Usage(total_tokens=9),
            ],
            lambda messages: f"{len(messages)} messages",
            StreamEnd(finish_reason="length"),
        ],
        delta=2,
    )
    user = Message(role="user", content="hi")
    assert [event.text for event in (await play(model, [user], TOOLS))[:-1]] == ["He", "ll", "o"]
    second = await play(model, [user], TOOLS)
    calls = calls_of(second)
    assert [(call.name, call.error, call.known) for call in calls] == [
        ("get_order", None, True),
        ("get_order", "truncated", True),
        ("nope", None, False),
        ("get_order", None, True),
    ]
    assert len({call.id for call in calls}) == 4
    assert second[-1].usage == Usage(total_tokens=9)
    assert second[-1].finish_reason == "tool_calls"
    assert text_of(await play(model, [user, user])) == "2 messages"
    assert (await play(model))[-1].finish_reason == "length"
    assert model.remaining == 0
    assert model.requests[0].messages == (user,)
    assert model.requests[0].tools == tuple(TOOLS)


async def test_a_scripted_error_comes_after_what_was_said_before_it() -> None:
    model = ScriptedModel([["par", "tial", ModelError("overloaded", "busy", retryable=True)], "whole"])
    seen = []

    async def watch() -> None:
        async for event in model.stream_chat([]):
            seen.append(event)

    with pytest.raises(ModelError) as caught:
        await watch()
    assert seen == [TextDelta(text="par"), TextDelta(text="tial")]
    assert caught.value.partial.text == "partial"
    assert text_of(await play(model)) == "whole"


async def test_a_script_that_is_used_up_says_so() -> None:
    with pytest.raises(AgentError, match=r"has 0 turns, and turn 1 was asked for after the message user: 'hi'"):
        await play(ScriptedModel(), [Message(role="user", content="hi")])


async def test_a_recorded_stream_plays_and_ends() -> None:
    recording = Recording.of_file(FIXTURES / "llm-streams" / "two-calls-in-one-message.jsonl")
    model = RecordedModel([recording, b"data: [DONE]\n\n"])
    assert len(calls_of(await play(model, (), TOOLS))) == 2
    with pytest.raises(ModelError, match="nothing at all"):
        await play(model)
    with pytest.raises(AgentError, match="2 recordings"):
        await play(model)


async def test_u3_an_id_of_an_earlier_message_is_replaced() -> None:
    body = (
        b'data: {"choices":[{"delta":{"tool_calls":['
        b'{"index":0,"id":"c1","function":{"name":"get_order","arguments":"{}"}},'
        b'{"index":1,"id":"new","function":{"name":"get_order","arguments":"{}"}},'
        b'{"index":2,"id":"new","function":{"name":"get_order","arguments":"{ }"}},'
        b'{"index":3,"id":"","function":{"name":"get_order","arguments":"{\\"a\\":1}"}}]},"finish_reason":"stop"}]}\n\n'
    )
    history = [Message(role="assistant", tool_calls=(CALL,)), Message(role="tool", content="1", tool_call_id="c1")]
    events = await play(RecordedModel([body, body]), history, TOOLS)
    ids = [call.id for call in calls_of(events)]
    assert ids[1] == "new"
    assert len({*ids, "c1"}) == 5
    assert set(events[-1].flags) == {"duplicate_call_id", "identical_calls"}


def test_the_clients_keep_the_contract() -> None:
    model = OpenAIModel("https://u:hunter2@host/v1/?key=abcdefghijkl", "sk-x", "m")
    assert isinstance(model, WireModel)
    assert isinstance(ScriptedModel(), ModelClient)
    assert isinstance(RecordedModel([]), ModelClient)
    assert model.origin == "https://host/v1#m"
    assert model.name == "m"


def test_importing_the_package_loads_no_http_client() -> None:
    code = "import sys, agent_core.model; print('aiohttp' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={"PYTHONPATH": ":".join(sys.path)}, timeout=60
    )
    assert (done.stdout, done.returncode) == ("False\n", 0), done


def test_a_long_stream_is_decoded_in_linear_time() -> None:
    def seconds(count: int) -> float:
        event = b'data: {"choices":[{"index":0,"delta":{"content":"word "},"finish_reason":null}]}\n\n'
        body = Recording((event * count + b"data: [DONE]\n\n",))
        from tests.support.streams import decode

        best = 1e9
        for _ in range(3):
            started = time.process_time()
            decode(body.reads, TOOLS)
            best = min(best, time.process_time() - started)
        return best

    assert seconds(20_000) < 10 * seconds(4_000)


# --- marks for caches ---


def test_marks_for_a_cache_stand_at_places_that_never_move() -> None:
    system, user = Message("system", "Be brief."), Message("user", "Hello")
    mark = {"type": "ephemeral"}
    whole = Profile(cache_marks="request")
    assert json.loads("".join(frame("m", {}, False, whole)))["cache_control"] == mark
    assert render_message(system, whole) == render_message(system)
    front = Profile(cache_marks="system")
    content = [{"type": "text", "text": "Be brief.", "cache_control": mark}]
    assert json.loads(render_message(system, front)) == {"role": "system", "content": content}
    assert render_message(user, front) == render_message(user)
    assert "cache_control" not in "".join(frame("m", {}, False, front))


def test_an_endpoint_that_refuses_marks_is_sent_none_from_then_on() -> None:
    refusal = ModelError("unsupported_parameter", "no", remedy="drop_param", param="cache_control")
    for marks in ("request", "system"):
        model = OpenAIModel("http://127.0.0.1/v1", model="m", cache_marks=marks)
        assert model.learn(refusal)
        assert "cache_control" not in "".join(model.frame(True))
        assert b"cache_control" not in model.render_message(Message("system", "Be brief."))
        assert not model.learn(refusal)
