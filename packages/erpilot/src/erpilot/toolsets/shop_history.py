"""Tools that tell who did what: changes, and what people agreed to.

Invariant: the history is told as it was written; who may not see it gets a refusal that names the right.
"""

from __future__ import annotations

from decimal import Decimal

from agent_core.tools.tool import Tool

from ..shop.backend import ErpBackend, Fact, FieldChange
from ..shop.values import Money, Quantity
from ..shop.verbs.control import HistoryEntry, HistoryFilter
from . import shop_results as r
from .shop_arguments import Day, Limit, Offset, Text
from .shop_kit import next_offset, reading
from .shop_resolve import answering, stamp


class ChangeFact(r.Fact):
    """One field of one record (``subject``), before and after; absent: it was not there."""

    subject: str
    field: str
    before: str | None = None
    after: str | None = None


class Entry(r.Fact):
    """One change: who, when, what, why, who agreed. ``change`` is what ``undo_change`` takes, where it can be taken
    back; ``undone``: it was."""

    at: str
    by: str | None = None
    action: str
    number: str
    changes: list[ChangeFact]
    reason: str | None = None
    approved_by: str | None = None
    change: str | None = None
    undone: bool | None = None


class HistoryFact(r.Fact):
    """Newest first; ``total_count`` of all that match."""

    entries: list[Entry]
    total_count: int
    next: int | None = None
    as_of: str


def history_tools(backend: ErpBackend) -> list[Tool]:
    """Reading tools over one backend."""

    @reading("history")
    async def get_history(
        subject: Text = None,
        by: Text = None,
        date_from: Day = None,
        date_to: Day = None,
        limit: Limit = 10,
        offset: Offset = 0,
    ) -> HistoryFact:
        """Who changed a document, product or customer: when, what before and after, why, who agreed. `subject`: number,
        SKU or id."""
        with answering():
            which = HistoryFilter(await subject_of(backend, subject), by, (), date_from, date_to)
            page = await backend.history(which, limit=limit, offset=offset)
            following = next_offset(offset, len(page.entries), page.total_count)
            told = [entry(each) for each in page.entries]
            return HistoryFact(entries=told, total_count=page.total_count, next=following, as_of=stamp(backend.now()))

    return [get_history]


async def subject_of(backend: ErpBackend, text: str | None) -> str | None:
    """What a history is about: the SKU of a product that is named; numbers and ids as they are."""
    if text is None or not text.strip():
        return None
    found = await backend.find_products(text.strip(), limit=1)
    hit = found.hits[0] if found.decided and found.hits else None
    return hit.record.sku if hit and hit.match in ("code", "barcode", "name") else text.strip()


def told(value: Fact) -> str | None:
    """A value of a record as text."""
    if value is None:
        return None
    if isinstance(value, Money):
        return f"{value.amount} {value.currency}"
    if isinstance(value, Quantity):
        return f"{r.plain(value.value)} {value.unit}"
    return r.plain(value) if isinstance(value, Decimal) else str(value)


def change_fact(change: FieldChange) -> ChangeFact:
    """A change as answered."""
    return ChangeFact(subject=change.subject, field=change.field, before=told(change.before), after=told(change.after))


def entry(each: HistoryEntry) -> Entry:
    """An entry as answered."""
    return Entry(
        at=each.at.isoformat(timespec="minutes"),
        by=each.by,
        action=each.verb or each.server_word or "changed",
        number=each.number,
        changes=[change_fact(one) for one in each.changes[:30]],
        reason=each.reason,
        approved_by=each.approved_by,
        change=each.key if each.undoable and each.undone_by is None else None,
        undone=True if each.undone_by else None,
    )
