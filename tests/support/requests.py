"""What must hold of every request that reached a model, checked against the log alone."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import msgspec

from agent_core import events as ev
from agent_core.messages import Message, Wire
from agent_core.model import wire as canonical
from agent_core.store.base import EventStore
from agent_core.testing import ScriptedModel


async def log_of(store: EventStore, session_id: str) -> list[ev.Recorded]:
    """All events of a session."""
    return [item async for item in store.read(session_id)]


async def rebuilt(store: EventStore, session_id: str) -> list[tuple[int, list[bytes], bytes]]:
    """(seq, messages, body) of each request of a session, from the manifests and contents of its log."""
    names_at: dict[int, list[str]] = {}
    requests = []
    for item in await log_of(store, session_id):
        if not isinstance(item.event, ev.StepStarted):
            continue
        assert item.seq is not None
        manifest = item.event.request
        names = [*(names_at[manifest.base] if manifest.base is not None else []), *manifest.added]
        names_at[item.seq] = names
        wanted = {*names, manifest.frame, *([manifest.tools] if manifest.tools else [])}
        contents = await store.contents(session_id, wanted)
        assert set(contents) == wanted, "every content of a request is stored"
        frame = msgspec.json.decode(contents[manifest.frame], type=tuple[str, str, str])
        tools = contents[manifest.tools] if manifest.tools else b""
        messages = [contents[name] for name in names]
        requests.append((item.seq, messages, Wire(frame, tuple(messages), tools).body()))
    return requests


async def check_requests(store: EventStore, session_id: str, *models: ScriptedModel) -> None:
    """Each request is rebuilt byte for byte, well formed, and begins with the one before it, unless the context was
    compacted, rolled back, given another system prompt, or an outcome was found out late in between."""
    requests = await rebuilt(store, session_id)
    announced = iter(requests)
    for model in models:
        for request in model.requests:
            rendered = [canonical.render_message(message) for message in request.messages]
            # A reader that went away right behind a StepStarted leaves a request that was never sent.
            messages, body = next(((names, body) for _, names, body in announced if names == rendered), (None, b""))
            assert messages is not None, "each request that was sent stands in the log, in order"
            tools = canonical.render_tools(request.tools)
            frame = canonical.frame(model.name, request.options, bool(request.tools))
            assert body == Wire(frame, tuple(messages), tools).body()
            msgspec.json.decode(body)
            check_conversation(request.messages)
    moved = [
        item.seq or 0
        for item in await log_of(store, session_id)
        if isinstance(item.event, ev.ContextCompacted | ev.RolledBack | ev.OutcomeResolved)
    ]
    for (before, old, _), (after, new, _) in itertools.pairwise(requests):
        if not any(before < seq < after for seq in moved):
            assert new[: len(old)] == old, f"the request at {after} does not extend the one at {before}"


def check_conversation(messages: Sequence[Message]) -> None:
    """The system prompt first and once; what a person says without an answer before it begins with a remark on that; no
    two answers in a row; each call followed by exactly one result."""
    roles = [message.role for message in messages]
    assert "system" not in roles[1:]
    rest = list(messages[1:] if roles[:1] == ["system"] else messages)
    assert not rest or rest[0].role == "user", roles
    position = 0
    previous = ""
    while position < len(rest):
        message = rest[position]
        assert message.role in ("user", "assistant"), f"a result without its call: {roles}"
        if message.role == "user":
            answered = previous in ("", "assistant")
            assert answered or (message.content or "").startswith("["), (
                f"nothing says that an answer is missing: {roles}"
            )
        else:
            assert previous in ("user", "results"), f"two answers in a row: {roles}"
        previous = message.role
        position += 1
        if message.tool_calls:
            results = rest[position : position + len(message.tool_calls)]
            assert [result.role for result in results] == ["tool"] * len(message.tool_calls), roles
            assert [result.tool_call_id for result in results] == [call.id for call in message.tool_calls]
            assert all(result.content for result in results)
            position += len(results)
            previous = "results"
