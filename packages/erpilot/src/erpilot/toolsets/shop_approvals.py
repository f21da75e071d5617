"""The tool that tells of approvals: what was agreed to, and which documents still wait for somebody to confirm them.

Invariant: who agreed is told as the ERP's history has it; a draft is told as waiting, whoever made it.
"""

from __future__ import annotations

from agent_core.tools.tool import Tool

from ..shop.backend import ErpBackend, OrderFilter
from ..shop.errors import Denied, Unsupported
from ..shop.verbs.control import HistoryFilter
from . import shop_results as r
from .shop_arguments import Day, Limit, Text
from .shop_documents import OrderRow, order_page
from .shop_history import Entry, entry, subject_of
from .shop_kit import reading
from .shop_resolve import answering, stamp

LOOKED_AT = 200
"""Newest changes that are searched for approvals."""


class Approvals(r.Fact):
    """``waiting``: drafts that nobody has confirmed, ``total_count`` of them in all; ``given``: changes that somebody
    agreed to, newest first (of the last 200 changes that match)."""

    waiting: list[OrderRow]
    total_count: int
    given: list[Entry]
    given_hidden: str | None = None
    """Why ``given`` is empty: a right that is missing, or an ERP that keeps no such history."""
    as_of: str


def approval_tools(backend: ErpBackend) -> list[Tool]:
    """Reading tools over one backend."""

    @reading("documents", "history")
    async def list_approvals(
        subject: Text = None, date_from: Day = None, date_to: Day = None, limit: Limit = 10
    ) -> Approvals:
        """What was agreed to, by whom and when (of a document, product or customer, or of all), and which drafts still
        wait for somebody to confirm them."""
        with answering():
            about = await subject_of(backend, subject)
            which = HistoryFilter(about, None, (), date_from, date_to)
            given, hidden = list[Entry](), None
            try:
                page = await backend.history(which, limit=LOOKED_AT)
                given = [entry(each) for each in page.entries if each.approved_by is not None][:limit]
            except (Denied, Unsupported) as error:
                hidden = error.message
            drafts = await backend.list_orders(OrderFilter(states=("draft",), text=about), limit=limit)
            now = backend.now()
            waiting = order_page(drafts, None, stamp(now), today=now.date())
            return Approvals(
                waiting=waiting.orders,
                total_count=waiting.total_count,
                given=given,
                given_hidden=hidden,
                as_of=stamp(now),
            )

    return [list_approvals]
