"""Each request begins with the whole of the one before it, unless the log says why not: looked at for every request
that any test makes, in its own process as it is built, in others from the logs that they leave behind.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from agent_core import events as ev
from agent_core.errors import AgentError
from agent_core.events import Manifest
from agent_core.messages import Message, Wire
from agent_core.requests import RequestBuilder
from agent_core.state import State, environment_of
from agent_core.store.base import EventStore
from agent_core.store.sqlite import SqliteStore

MOVES = (ev.ContextCompacted, ev.RolledBack, ev.OutcomeResolved, ev.SessionStarted)
"""What may change what was sent before: the last but one where an outcome was found out late."""


class Sent(Struct, frozen=True):
    """A request: its messages by content, and what else decides how they are written."""

    names: tuple[str, ...]
    system: str
    tool_set: str | None
    form: str | None
    frame: str
    tools: str | None


def broken(before: Sent, now: Sent) -> str | None:
    """How ``now`` fails to extend ``before``; None when it does, or another prompt or another client explains it."""
    if (before.system, before.form) != (now.system, now.form):
        return None
    if now.names[: len(before.names)] != before.names:
        place = next(
            (at for at, (one, other) in enumerate(zip(before.names, now.names, strict=False)) if one != other),
            min(len(before.names), len(now.names)),
        )
        return f"message {place + 1} of {len(before.names)} was sent otherwise before"
    if before.tool_set == now.tool_set and before.tools != now.tools:
        return "the same tools were written otherwise before"
    return None


class Watch:
    """Looks at requests as they are built."""

    def __init__(self) -> None:
        self._known: dict[str, Sent] = {}
        self.failures: list[str] = []
        self.seen = 0

    def build(self, builder: RequestBuilder, state: State, messages: Sequence[Message], build: Any) -> Any:
        """Builds, and compares with the request before where the log names no reason for another beginning."""
        before = tuple(state.manifest) if state.manifest_seq else None
        built: tuple[Wire, Manifest, dict[str, bytes]] = build(builder, state, messages)
        manifest, run = built[1], state.run
        names = (*(before or ()), *manifest.added) if manifest.base is not None else manifest.added
        environment = None if run is None else run.environment
        now = Sent(
            names,
            "" if environment is None else environment.system,
            None if environment is None else environment.tool_set,
            manifest.form,
            manifest.frame,
            manifest.tools,
        )
        last = self._known.get(state.session_id)
        if before is not None and last is not None and last.names == before and (why := broken(last, now)):
            self.failures.append(f"session {state.session_id}, behind event {state.seq}: {why}")
        self._known[state.session_id] = now
        self.seen += 1
        return built


def in_log(items: Iterable[ev.Recorded], systems: dict[str, tuple[str, str | None]]) -> list[str]:
    """The same from a log; ``systems``: the prompt and the tool set of each environment, by hash."""
    names_at: dict[int, tuple[str, ...]] = {}
    last: Sent | None = None
    system: tuple[str, str | None] = ("", None)
    failures = []
    for item in items:
        event, seq = item.event, item.seq or 0
        if isinstance(event, MOVES):
            last = None
        elif isinstance(event, ev.RunStarted):
            system = systems.get(event.environment, (event.environment, None))
        elif isinstance(event, ev.StepStarted):
            request = event.request
            names = (*(names_at.get(request.base, ()) if request.base is not None else ()), *request.added)
            names_at[seq] = names
            now = Sent(names, *system, request.form, request.frame, request.tools)
            if last is not None and (why := broken(last, now)):
                failures.append(f"event {seq}: {why}")
            last = now
    return failures


async def in_store(store: EventStore) -> list[str]:
    """The same for all sessions of a store that can be read."""
    failures = []
    for info in await store.sessions():
        try:
            items = [item async for item in store.read(info.session_id)]
            named = {item.event.environment for item in items if isinstance(item.event, ev.RunStarted)}
            contents = await store.contents(info.session_id, named)
        except AgentError:
            continue  # damaged or erased on purpose
        values = {name: environment_of(data) for name, data in contents.items()}
        systems = {name: (value.system, value.tool_set) for name, value in values.items()}
        failures += [f"session {info.session_id}, {why}" for why in in_log(items, systems)]
    return failures


def in_folder(folder: Path) -> list[str]:
    """The same for the logs of all homes in a folder."""

    async def look(path: Path) -> list[str]:
        store = SqliteStore(path)
        try:
            return await in_store(store)
        except AgentError:
            return []
        finally:
            await store.aclose()

    failures = []
    for path in folder.glob("*/erpilot.db"):
        failures += asyncio.run(look(path))
    return failures
