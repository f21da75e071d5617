"""What every command works at: the terminal, the language, the settings and the folder of the data.

Invariant: nothing is read or made before a command needs it.
"""

from __future__ import annotations

import argparse
import asyncio
import getpass
from collections.abc import AsyncIterator, Coroutine, Mapping
from contextlib import asynccontextmanager
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from .home import LOG_NAME, home_of, prepare_home
from .language import Lang
from .logs import start_logs
from .problems import USAGE, Problem
from .terminal import Terminal
from .texts import Texts

if TYPE_CHECKING:
    from agent_core.store.base import EventStore
    from agent_core.trace.transcript import AnyItem

    from .config import Settings

T = TypeVar("T")
LAST = "last"
"""Stands for the session that was used last."""


class Desk:
    """One command's surroundings."""

    def __init__(
        self, terminal: Terminal, lang: Lang, parsed: argparse.Namespace, environment: Mapping[str, str]
    ) -> None:
        self.terminal, self.texts, self.environment = terminal, Texts(lang), environment
        self.verbose: bool = parsed.verbose
        self.home: Path = home_of(environment)
        start_logs(self.verbose, environment)

    @cached_property
    def settings(self) -> Settings:
        """What was set, with the environment on top."""
        from .config import read_settings

        return read_settings(self.home, self.environment)

    @cached_property
    def person(self) -> str:
        """Who sits here, as the log names them."""
        try:
            return getpass.getuser()
        except (OSError, KeyError):  # an account without a name
            return "user"

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Runs a command's asynchronous part."""
        return asyncio.run(work)

    def time(self, seconds: float) -> str:
        """A time as people read it, in the zone that was set or the computer's."""
        from zoneinfo import ZoneInfo

        zone = ZoneInfo(self.settings.zone) if self.settings.zone else None
        return datetime.fromtimestamp(seconds, zone).astimezone(zone).strftime("%Y-%m-%d %H:%M:%S")

    @asynccontextmanager
    async def open_store(self) -> AsyncIterator[EventStore]:
        """The sessions of this home."""
        from agent_core.store.sqlite import SqliteStore

        store = SqliteStore(prepare_home(self.home) / LOG_NAME)
        try:
            yield store
        finally:
            await store.aclose()


async def resolve(store: EventStore, written: str) -> str:
    """The session that a person means: an id, the unambiguous beginning of one, or ``last``."""
    known = [info.session_id for info in await store.sessions()]
    if written == LAST:
        if not known:
            raise Problem(USAGE, "no_sessions")
        return known[0]
    if written in known:
        return written
    found = [session for session in known if written and session.startswith(written)]
    if not found:
        raise Problem(USAGE, "no_such_session", session=written)
    if len(found) > 1:
        some = ", ".join(found[:5]) + (", …" if len(found) > 5 else "")
        raise Problem(USAGE, "ambiguous_session", session=written, count=len(found), found=some)
    return found[0]


async def history_of(store: EventStore, session_id: str) -> list[AnyItem]:
    """The transcript of a session so far."""
    from agent_core.trace.builder import transcript_of_log

    return await transcript_of_log(store.read(session_id))
