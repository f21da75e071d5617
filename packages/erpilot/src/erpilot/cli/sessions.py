"""``erpilot sessions``: the sessions of this home, all or those in which something stands, the one used last first."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from .desk import Desk
from .lines import lines_of

if TYPE_CHECKING:
    from agent_core.store.base import EventStore, SessionInfo

_SHOWN = 20
_LAST = 10
"""Newest events in which the end of a run is looked for: names, decisions and the like may stand behind it."""


def sessions(desk: Desk, parsed: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    if parsed.search is not None:
        return desk.run(_found(desk, parsed.search, everything=parsed.all))
    return desk.run(_sessions(desk, everything=parsed.all))


async def _sessions(desk: Desk, *, everything: bool) -> int:
    async with desk.open_store() as store:
        known = await store.sessions()
        if not known:
            desk.terminal.note(desk.texts("no_sessions"))
            return 0
        shown = known if everything else known[:_SHOWN]
        head = [desk.texts(f"head_{name}") for name in ("session", "used", "events", "state", "question")]
        rows = []
        for info in shown:
            state, question = await _gist(desk, store, info)
            rows.append([info.session_id, desk.time(info.updated_at), str(info.head), state, question])
    desk.terminal.table(head, rows)
    if len(shown) < len(known):
        desk.terminal.note(desk.texts("sessions_more", shown=len(shown), total=len(known)), "quiet")
    return 0


async def _found(desk: Desk, text: str, *, everything: bool) -> int:
    """The sessions in which something stands, each with the best place."""
    async with desk.open_store() as store:
        known = {info.session_id: info for info in await store.sessions()}
        found = await store.search(text, limit=len(known) if everything else _SHOWN)
    if not found:
        desk.terminal.note(desk.texts("nothing_found", text=text))
        return 0
    head = [desk.texts(f"head_{name}") for name in ("session", "used", "where", "who", "text")]
    cut = lines_of(desk).cut
    rows = [
        [
            name := one.session_id,
            desk.time(known[name].updated_at),
            str(one.seq),
            one.name or one.speaker,
            cut(one.text),
        ]
        for one in found
    ]
    desk.terminal.table(head, rows)
    return 0


async def _gist(desk: Desk, store: EventStore, info: SessionInfo) -> tuple[str, str]:
    """How the session stands and what it began with, from its first and last events."""
    from agent_core import events as ev
    from agent_core.errors import DamagedLog, Erased

    state, question = desk.texts("state_running"), ""
    try:
        async for item in store.read(info.session_id):
            if isinstance(item.event, ev.UserMessage):
                question = " ".join(part.text for part in item.event.content if isinstance(part, ev.TextPart))
                break
        async for item in store.read(info.session_id, max(0, info.head - _LAST)):
            if isinstance(item.event, ev.RunStarted):
                state = desk.texts("state_running")
            elif isinstance(item.event, ev.LoopEnd):
                state = desk.texts.get(f"reason_{item.event.reason}", item.event.reason)
    except Erased:
        state = desk.texts("state_erased")
    except DamagedLog as error:
        return str(error), question
    return state, question
