"""Writes requests: messages, tools and the frame around them, as bytes.

Invariant: pure; the same value and profile give the same bytes, so each request extends the one before it. The
canonical form is what every endpoint is known to accept: no empty tool list, arguments as a string, one result behind
each call, inlined schemas, safe names; a ``Profile`` changes it only where an endpoint asked for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import structs

from ..messages import Message, ToolCall, ToolSchema
from .names import nine, safe_name
from .profile import DEFAULT, Profile
from .schemas import inline, mentions_refs, simplify

_encode = msgspec.json.Encoder().encode
NOTHING = "(empty)"
"""Stands for a text that is empty where endpoints refuse an empty one."""
_ABOUT_TOOLS = frozenset({"tool_choice", "parallel_tool_calls"})
_REASONING = ("reasoning_content", "reasoning")
_MARK, _EPHEMERAL = "cache_control", {"type": "ephemeral"}


def render_message(message: Message, profile: Profile = DEFAULT, origin: str | None = None) -> bytes:
    """One message as JSON. Provider keys go along only to the ``origin`` that they came from."""
    body: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.role == "assistant":
        at_home = origin is not None and message.origin == origin
        if message.tool_calls:
            if not message.content:
                body["content"] = None if profile.empty_content == "null" else ""
            extras = at_home or (profile.call_extras and _same_endpoint(message.origin, origin))
            body["tool_calls"] = [_call(call, profile, extras) for call in message.tool_calls]
        elif not message.content:
            body["content"] = NOTHING
        _replay(body, message, profile, at_home)
    elif message.role == "tool":
        body["tool_call_id"] = _call_id(message.tool_call_id or "", profile)
    if body["content"] in (None, "") and not message.tool_calls:
        body["content"] = NOTHING
    for key in profile.drop:
        if key not in ("role", "content", "tool_calls", "tool_call_id"):
            body.pop(key, None)
    if message.role == "system" and profile.cache_marks == "system" and _MARK not in profile.drop:
        body["content"] = [{"type": "text", "text": body["content"], _MARK: _EPHEMERAL}]
    return encode(body)


def render_tools(tools: Sequence[ToolSchema], profile: Profile = DEFAULT) -> bytes:
    """The tool set as JSON; empty when there are none."""
    if not tools:
        return b""
    return encode(
        [
            {
                "type": "function",
                "function": {
                    "name": safe_name(tool.name, short=profile.short_names),
                    "description": tool.description,
                    "parameters": _parameters(tool.parameters, profile),
                },
            }
            for tool in tools
        ]
    )


def frame(model: str, options: Mapping[str, Any], has_tools: bool, profile: Profile = DEFAULT) -> tuple[str, str, str]:
    """The rest of the body, around the messages and the tools. Options that are None are left out."""
    settings: dict[str, Any] = {"stream": profile.stream}
    if profile.stream:
        settings["stream_options"] = {"include_usage": True}
    if profile.cache_marks == "request":
        settings[_MARK] = _EPHEMERAL
    for key in sorted(options):
        if options[key] is not None and (has_tools or key not in _ABOUT_TOOLS):
            settings[key] = options[key]
    kept = {profile.rename.get(key, key): value for key, value in settings.items() if key not in profile.drop}
    tail = encode(kept).decode()[1:]
    head = f'{{"model":{encode(model).decode()},"messages":['
    if has_tools:
        return head, '],"tools":', f",{tail}" if kept else "}"
    return head, "]", f",{tail}" if kept else "}"


def wire_names(tools: Sequence[ToolSchema], profile: Profile = DEFAULT) -> dict[str, str]:
    """Each tool's name on the wire to its own, for reading calls back."""
    return {safe_name(tool.name, short=profile.short_names): tool.name for tool in tools}


def prepare(messages: Sequence[Message], profile: Profile = DEFAULT) -> list[Message]:
    """The whole conversation as the endpoint wants it, before each message is rendered. Changes nothing by default."""
    result = list(messages)
    if profile.pair_tool_messages:
        result = _paired(result)
    return _merged(result) if profile.merge_roles else result


def encode(value: Any) -> bytes:
    """Compact JSON; a lone surrogate, which UTF-8 cannot hold, becomes U+FFFD."""
    try:
        return _encode(value)
    except UnicodeEncodeError:
        return _encode(clean(value))


def clean(value: Any) -> Any:
    """The value with every lone surrogate replaced by U+FFFD, and halves of a pair joined."""
    if isinstance(value, str):
        if value.isascii():
            return value
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, dict):
        return {clean(key): clean(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [clean(item) for item in value]
    return value


def _call(call: ToolCall, profile: Profile, with_extras: bool) -> dict[str, Any]:
    function: dict[str, Any] = {
        "name": safe_name(call.name or "unknown", short=profile.short_names),
        "arguments": "{}" if call.error else call.arguments,
    }
    body: dict[str, Any] = {"id": _call_id(call.id, profile), "type": "function", "function": function}
    if with_extras and call.extra:
        for key, value in call.extra.items():
            if key == "function" and isinstance(value, dict):
                function.update({one: item for one, item in value.items() if one not in profile.drop})
            elif key not in profile.drop:
                body[key] = value
    return body


def _call_id(call_id: str, profile: Profile) -> str:
    return nine(call_id) if profile.nine_ids else call_id


def _replay(body: dict[str, Any], message: Message, profile: Profile, at_home: bool) -> None:
    """Adds the provider keys. Plain reasoning goes back with calls only: endpoints that want it want it there."""
    replay = message.replay if at_home and message.replay else {}
    for key, value in replay.items():
        if key not in _REASONING or message.tool_calls:
            body.setdefault(key, value)
    if profile.reasoning_content and message.tool_calls and not body.get("reasoning_content"):
        body["reasoning_content"] = body.pop("reasoning", None) or ""


def _parameters(schema: dict[str, Any], profile: Profile) -> dict[str, Any]:
    if profile.simple_schemas:
        return simplify(schema)
    if mentions_refs(schema):
        return inline(schema)
    return schema or {"type": "object", "properties": {}}


def _same_endpoint(one: str | None, other: str | None) -> bool:
    return one is not None and other is not None and one.partition("#")[0] == other.partition("#")[0]


def _paired(messages: list[Message]) -> list[Message]:
    results: dict[str, Message] = {}
    for message in messages:
        if message.role == "tool" and message.tool_call_id:
            results.setdefault(message.tool_call_id, message)
    paired: list[Message] = []
    for message in messages:
        if message.role == "tool":
            continue
        paired.append(message)
        for call in message.tool_calls:
            stand_in = Message(role="tool", content="(no result)", tool_call_id=call.id)
            paired.append(results.pop(call.id, stand_in))
    return paired


def _merged(messages: list[Message]) -> list[Message]:
    system = [message for message in messages if message.role == "system"]
    rest = [message for message in messages if message.role != "system"]
    merged: list[Message] = []
    if system:
        merged.append(structs.replace(system[0], content=_joined(message.content for message in system)))
    for message in rest:
        last = merged[-1] if merged else None
        if last is not None and last.role == message.role and message.role in ("user", "assistant"):
            merged[-1] = structs.replace(
                message,
                content=_joined((last.content, message.content)),
                tool_calls=(*last.tool_calls, *message.tool_calls),
                replay=message.replay or last.replay,
            )
            continue
        if last is not None and last.role == "tool" and message.role == "user":
            merged.append(Message(role="assistant", content=NOTHING))
        merged.append(message)
    return merged


def _joined(texts: Any) -> str | None:
    return "\n\n".join(text for text in texts if text) or None
