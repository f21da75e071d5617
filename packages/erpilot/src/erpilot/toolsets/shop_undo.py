"""The tool that takes an earlier change back.

Invariant: what comes back is shown before and after; it is done by the opposite action of the shop, never by writing
fields.
"""

from __future__ import annotations

from collections.abc import Mapping

from agent_core.events import Change
from agent_core.tools.tool import Tier, Tool

from ..shop.backend import ErpBackend, Write, Written
from ..shop.errors import NotFound, Refused
from .shop_arguments import Query
from .shop_delivery import Reason
from .shop_history import change_fact
from .shop_writing import MOST_SHOWN, Plan, folded, writing


def undo_tools(backend: ErpBackend) -> list[Tool]:
    """Writing tools over one backend."""

    @writing(
        backend,
        "documents",
        "stock",
        "money",
        "prices",
        "customers",
        "products",
        target=lambda change, **_: change,
        tier=Tier.DANGEROUS,
    )
    async def undo_change(change: Query, reason: Reason) -> Plan:
        """Take back an earlier change, by the opposite action of the shop. `change`: as the result of the write, or
        get_history, tells it. A person confirms every time."""
        written = await backend.find_by_key(change.strip())
        if written is None:
            raise NotFound(f"There is no change {change.strip()[:60]!r}.", hint="get_history names them.")
        if not written.undoable:
            raise Refused(f"What was done to {written.number} ({written.verb}) has no opposite.")
        told = [change_fact(each) for each in written.changes]
        changes = [Change("takes_back", None, f"{written.verb} {written.number}")]
        changes += [Change(each.field, each.after, each.before, each.subject) for each in told[:MOST_SHOWN]]

        async def act(write: Write, shown: Mapping[str, str]) -> Written:
            del shown
            return await backend.undo(written.key, reason=reason.strip(), write=write)

        notices = (folded(len(told)),) if len(told) > MOST_SHOWN else ()
        return Plan("undo_change", tuple(changes), act, notices=notices)

    return [undo_change]
