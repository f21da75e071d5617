"""The embedded shop as an ``ErpBackend``: verbs in, transactions on the file out.

Invariant: constructing it leaves a whole, seeded shop on disk or raises ``DamagedShop`` or ``Unavailable``; it owns
no state but the file. A right is asked for before the file is.
"""

from __future__ import annotations

import copy
import json
import sqlite3
from collections.abc import Iterable
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path

from ..backend import Capability, ErpBackend, Whoami, Write, Written, offered
from ..errors import Invalid, Unauthenticated
from ..rights import ROLES, Role, rights_of
from ..seed.build import ensure_shop
from ..values import Company, zone_of
from . import effects, schema, undoing
from .database import Database, connect, explained
from .desks import EmbeddedBuying, EmbeddedControl, EmbeddedMoney, EmbeddedSelling, EmbeddedWarehouse
from .reads import EmbeddedReading
from .reports import EmbeddedReporting


class EmbeddedShop(
    EmbeddedReading,
    EmbeddedSelling,
    EmbeddedWarehouse,
    EmbeddedBuying,
    EmbeddedMoney,
    EmbeddedReporting,
    EmbeddedControl,
    ErpBackend,
):
    """A shop in the SQLite file ``path``, which is made and filled on first use, as ``user`` sees it.

    ``today``: the shop's day. The example data are dated around one day, kept in the file, and the shop lives on it;
    another day given here moves the clock, not the data. The time of day is the real one.
    """

    kind = "embedded"

    def __init__(self, path: Path, *, today: date | None = None, user: str = "owner") -> None:
        ensure_shop(path, today)
        try:
            connection = connect(path)
            try:
                schema.check(connection, str(path))
                facts = dict(connection.execute("SELECT key, value FROM meta").fetchall())
            finally:
                connection.close()
        except sqlite3.DatabaseError as error:
            raise explained(error, path) from None
        self.company = Company(facts["company"], facts["zone"], facts["currency"])
        self._today = today or date.fromisoformat(facts["today"])
        self._zone = zone_of(self.company.zone)
        self._database = Database(path)
        self._user, self._rights = user, rights_of(self._roles_of(user))

    def acting_as(self, user: str, roles: Iterable[Role] | None = None) -> EmbeddedShop:
        """The same shop as another person sees it; closing either closes both. ``roles`` None: those that the shop has
        for them. Raises ``Unauthenticated`` for somebody who does not work here.
        """
        other = copy.copy(self)
        other._user = user
        other._rights = rights_of(self._roles_of(user) if roles is None else roles)
        return other

    def _roles_of(self, user: str) -> tuple[Role, ...]:
        row = self._database.look("SELECT roles FROM person WHERE name = ?", (user,))
        if row is None:
            known = self._database.look("SELECT group_concat(name, ', ') FROM person", ())
            raise Unauthenticated(f"{user!r} does not work in this shop.", hint=f"Those who do: {(known or ('',))[0]}.")
        roles = json.loads(row[0])
        unknown = [role for role in roles if role not in ROLES]
        if unknown:
            raise Invalid(f"{user!r} has a role that is not known: {unknown[0]!r}.")
        return tuple(roles)

    async def whoami(self) -> Whoami:
        """The person, the company, what this backend can do and what the person may."""
        extra: frozenset[Capability] = frozenset({"margin"})
        return Whoami(self._user, self.company, self.kind, offered(EmbeddedShop) | extra, self._rights)

    def now(self) -> datetime:
        """The shop's day, and the time of day in its zone."""
        return datetime.combine(self._today, datetime.now(self._zone).timetz())

    async def find_by_key(self, key: str) -> Written | None:
        """See ``ErpBackend``."""
        written = await self._database.read(lambda c: effects.by_key(c, key))
        if written is None or "see_cost" in self._rights:
            return written
        return replace(written, changes=effects.without_costs(written.changes))

    async def undo(self, key: str, *, reason: str, write: Write) -> Written:
        """See ``ErpBackend``. Needs the right that the write needed."""
        acting = self._acting()
        made = await self.find_by_key(key)
        if made is not None:
            acting.require(*undoing.RIGHTS[made.verb])
        return await self._database.write(
            lambda c: effects.once(
                c, acting, "undo", write, (key,), lambda: undoing.undo(c, acting, key, reason, write)
            )
        )

    def close(self) -> None:
        """Closes the file; the shop cannot be used afterwards."""
        self._database.close()
