"""What the desks of the embedded shop share: the file, and who acts.

Invariant: a write is one transaction that also holds its entry; the person and the moment are fixed before it begins.
"""

from __future__ import annotations

import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Callable
from datetime import datetime

from ..errors import Invalid
from ..rights import Right
from ..values import Company
from ..verbs.outcome import Verb, Write, Written
from . import effects
from .acting import Acting
from .database import Database

MOST_ROWS = 10_000_000


class EmbeddedDesk(ABC):
    """One person at the file."""

    company: Company
    _database: Database
    _user: str
    _rights: frozenset[Right]

    @abstractmethod
    def now(self) -> datetime:
        """The shop's time."""

    def _acting(self, *rights: Right) -> Acting:
        """Who acts now. Raises ``Denied`` unless one of the rights, if any are named, is held."""
        acting = Acting(self._user, self._rights, self.now(), self.company)
        if rights:
            acting.require(*rights)
        return acting

    def _window(self, limit: int, offset: int) -> None:
        """Raises ``Invalid`` for a page that cannot be."""
        if not 0 <= limit <= MOST_ROWS or not 0 <= offset <= MOST_ROWS:
            raise Invalid(f"A page of {limit} from {offset} on cannot be: 0 to {MOST_ROWS:,} are possible.")

    async def _write(
        self,
        verb: Verb,
        write: Write,
        request: tuple[object, ...],
        acting: Acting,
        work: Callable[[sqlite3.Connection], effects.Made],
    ) -> Written:
        return await self._database.write(lambda c: effects.once(c, acting, verb, write, request, lambda: work(c)))
