"""A chat-completions server that refuses (400) every request not in the canonical form, in words of real servers.

``CANONICAL`` refusals are on from the start: nothing that this project sends may ever meet one. ``PECULIAR`` ones are
what single endpoints insist on; a test switches them on and expects that the client learns the remedy in one round. New
kinds of refusals are added to these two tables.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import AsyncIterator, Callable, Iterable
from itertools import pairwise
from typing import Any

from tests.support.http_server import Exchange, serving

Refusal = Callable[[dict[str, Any]], str | None]
_SAFE_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_MESSAGE_KEYS = {"role", "content", "tool_calls", "tool_call_id", "name"}
_BODY_KEYS = {
    "model", "messages", "tools", "tool_choice", "parallel_tool_calls", "stream", "stream_options", "temperature",
    "top_p",
    "max_tokens", "max_completion_tokens", "n", "seed", "stop", "response_format",
}  # fmt: skip


def _calls(body: dict[str, Any]) -> Iterable[dict[str, Any]]:
    return (call for message in body["messages"] for call in message.get("tool_calls") or ())


def _empty_tools(body: dict[str, Any]) -> str | None:
    return "[] is too short - 'tools'" if "tools" in body and not body["tools"] else None


def _tool_choice_without_tools(body: dict[str, Any]) -> str | None:
    return (
        "'tool_choice' is only allowed when 'tools' are specified."
        if "tool_choice" in body and "tools" not in body
        else None
    )


def _empty_calls(body: dict[str, Any]) -> str | None:
    empty = any("tool_calls" in message and not message["tool_calls"] for message in body["messages"])
    return "Invalid 'messages': empty array. Expected an array with minimum length 1 in tool_calls." if empty else None


def _arguments_no_json_object(body: dict[str, Any]) -> str | None:
    for call in _calls(body):
        text = call["function"]["arguments"]
        if not isinstance(text, str):
            return f"tool_calls.function.arguments: expected a string, got {type(text).__name__}"
        try:
            whole = isinstance(json.loads(text), dict)
        except ValueError:
            whole = False
        if not whole:
            return "Failed to parse tool call arguments as JSON"
    return None


def _unpaired(body: dict[str, Any]) -> str | None:
    open_ids: list[str] = []
    seen: set[str] = set()
    for message in body["messages"]:
        if message["role"] == "tool":
            if message.get("tool_call_id") not in open_ids:
                return "invalid params, tool call result does not follow tool call (2013)"
            open_ids.remove(message["tool_call_id"])
            continue
        if open_ids:
            break
        ids = [call["id"] for call in message.get("tool_calls") or ()]
        if not all(isinstance(one, str) and one for one in ids) or len(set(ids)) < len(ids) or seen & set(ids):
            return "Duplicate value for 'tool_call_id'"
        seen.update(ids)
        open_ids = ids
    if open_ids:
        return (
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
            f"'tool_call_id'. The following tool_call_ids did not have response messages: {', '.join(open_ids)}"
        )
    return None


def _system_elsewhere(body: dict[str, Any]) -> str | None:
    wrong = any(message["role"] == "system" for message in body["messages"][1:])
    return "System message must be at the beginning." if wrong else None


def _references(body: dict[str, Any]) -> str | None:
    return (
        "tools.function.parameters: $defs not found for reference"
        if '"$ref"' in json.dumps(body.get("tools"))
        else None
    )


def _unsafe_names(body: dict[str, Any]) -> str | None:
    names = [tool["function"]["name"] for tool in body.get("tools", ())] + [
        call["function"]["name"] for call in _calls(body)
    ]
    if not all(map(_SAFE_NAME.fullmatch, names)):
        return "Invalid 'tools[0].function.name': string does not match pattern. Expected '^[a-zA-Z0-9_-]{1,64}$'."
    return (
        "Tool names must be unique."
        if len({*names[: len(body.get("tools", ()))]}) < len(body.get("tools", ()))
        else None
    )


def _empty_message(body: dict[str, Any]) -> str | None:
    for message in body["messages"]:
        if not message.get("tool_calls") and not (isinstance(message.get("content"), str) and message["content"]):
            return f"messages: {message['role']} message must have non-empty content"
    return None


def _unknown_keys(body: dict[str, Any]) -> str | None:
    unknown = set(body) - _BODY_KEYS
    if unknown:
        return f"Unknown parameter: '{sorted(unknown)[0]}'."
    unknown = {key for message in body["messages"] for key in message} - _MESSAGE_KEYS
    return f"property '{sorted(unknown)[0]}' is unsupported" if unknown else None


CANONICAL: dict[str, Refusal] = {
    "empty_tools": _empty_tools,
    "tool_choice_without_tools": _tool_choice_without_tools,
    "empty_calls": _empty_calls,
    "arguments": _arguments_no_json_object,
    "unpaired": _unpaired,
    "system_elsewhere": _system_elsewhere,
    "references": _references,
    "unsafe_names": _unsafe_names,
    "empty_message": _empty_message,
    "unknown_keys": _unknown_keys,
}


def _no(key: str, words: str) -> Refusal:
    return lambda body: words if key in body else None


def _some_message(test: Callable[[dict[str, Any]], bool], words: str) -> Refusal:
    return lambda body: words if any(map(test, body["messages"])) else None


def _roles(body: dict[str, Any]) -> str | None:
    roles = [message["role"] for message in body["messages"] if message["role"] not in ("system", "tool")]
    if any(one == other == "user" for one, other in pairwise(roles)):
        return "After the optional system message, conversation roles must alternate user/assistant/user/assistant/..."
    return None


def _keywords(body: dict[str, Any]) -> str | None:
    text = json.dumps([tool["function"]["parameters"] for tool in body.get("tools", ())])
    unwanted = next(
        (word for word in ("anyOf", "additionalProperties", "pattern", "default") if f'"{word}"' in text), None
    )
    if unwanted:
        where = "'tools[0].function_declarations[0].parameters'"
        return f'Invalid JSON payload received. Unknown name "{unwanted}" at {where}: Cannot find field.'
    return None


def _long_names(body: dict[str, Any]) -> str | None:
    names = [tool["function"]["name"] for tool in body.get("tools", ())]
    return "The length of the tool name cannot exceed 40." if any(len(name) > 40 for name in names) else None


def _long_ids(body: dict[str, Any]) -> str | None:
    for call in _calls(body):
        if not re.fullmatch(r"[a-zA-Z0-9]{9}", call["id"]):
            return f"Tool call id was {call['id']} but must be a-z, A-Z, 0-9, with a length of 9."
    return None


PECULIAR: dict[str, Refusal] = {
    "stream_options": _no("stream_options", "property 'stream_options' is unsupported, did you mean 'stream'?"),
    "temperature": _no("temperature", "invalid temperature: only 1 is allowed for this model"),
    "parallel_tool_calls": _no("parallel_tool_calls", "Unrecognized request argument supplied: parallel_tool_calls"),
    "max_tokens": _no(
        "max_tokens",
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    ),
    "content_null": _some_message(
        lambda message: bool(message.get("tool_calls")) and message.get("content") is None,
        "Invalid value for 'content': expected a string, got null.",
    ),
    "roles": _roles,
    "keywords": _keywords,
    "long_names": _long_names,
    "long_ids": _long_ids,
    "reasoning": _some_message(
        lambda message: bool(message.get("tool_calls")) and "reasoning_content" not in message,
        "The `reasoning_content` in the thinking mode must be passed back to the API.",
    ),
    "streaming": lambda body: (
        "Unsupported value: 'stream' does not support true with this model. Only the default (false) is supported."
        if body.get("stream")
        else None
    ),
    "no_streaming": lambda body: (
        None if body.get("stream") else "This model only support stream mode, please enable the stream parameter."
    ),
}
_MORE_KEYS = {"reasoning": {"reasoning_content"}}


class StrictServer:
    """``refuse``: names of peculiar refusals. ``requests``: the bodies. ``refusals``: what was refused, in order."""

    def __init__(self, refuse: Iterable[str] = ()) -> None:
        self.refuse = set(refuse)
        self.url = ""
        self.requests: list[dict[str, Any]] = []
        self.raw: list[bytes] = []
        self.refusals: list[str] = []
        self.turns: list[list[dict[str, Any]]] = []
        """Deltas of the next answers; without any, the answer is "ok"."""

    async def answer(self, exchange: Exchange) -> None:
        body = json.loads(exchange.body)
        self.requests.append(body)
        self.raw.append(exchange.body)
        for name, words in self._complaints(body):
            self.refusals.append(name)
            await self._json(exchange, 400, {"error": {"message": words, "type": "invalid_request_error"}})
            return
        deltas = self.turns.pop(0) if self.turns else [{"content": "ok"}]
        reason = "tool_calls" if any("tool_calls" in delta for delta in deltas) else "stop"
        if not body.get("stream"):
            message: dict[str, Any] = {"role": "assistant", "content": None}
            for delta in deltas:
                message.update(delta)
            await self._json(exchange, 200, {"choices": [{"index": 0, "message": message, "finish_reason": reason}]})
            return
        await exchange.start()
        for delta in deltas:
            await exchange.chunk(_event({"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}))
        await exchange.chunk(_event({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}))
        await exchange.chunk(b"data: [DONE]\n\n")
        await exchange.end()

    def _complaints(self, body: dict[str, Any]) -> Iterable[tuple[str, str]]:
        known = set().union(*(_MORE_KEYS.get(name, set()) for name in self.refuse))
        plain = {
            **body,
            "messages": [
                {key: value for key, value in message.items() if key not in known} for message in body["messages"]
            ],
        }
        for name, refusal in CANONICAL.items():
            if words := refusal(plain):
                yield name, words
        for name in sorted(self.refuse):
            if words := PECULIAR[name](body):
                yield name, words

    async def _json(self, exchange: Exchange, status: int, value: Any) -> None:
        raw = json.dumps(value).encode()
        head = f"HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {len(raw)}\r\n\r\n"
        await exchange.send(head.encode() + raw)


def _event(chunk: dict[str, Any]) -> bytes:
    return f"data: {json.dumps(chunk)}\n\n".encode()


@contextlib.asynccontextmanager
async def strict_server(*refuse: str) -> AsyncIterator[StrictServer]:
    """Runs one; ``url`` is its base URL."""
    server = StrictServer(refuse)
    async with serving(server.answer) as url:
        server.url = url
        yield server
