"""The embedded shop's figures: sales, quiet customers, stock, what to buy.

Invariant: a report reads one moment of the shop; rights are asked for before anything is read.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..verbs.reporting import QuietCustomers, Reporting, SalesQuery, SalesReport, StockKind, StockReport, Suggestions
from . import quiet, sales_reports, stock_reports, suggesting
from .base import EmbeddedDesk


class EmbeddedReporting(EmbeddedDesk, Reporting):
    """See ``Reporting``."""

    async def sales(self, query: SalesQuery) -> SalesReport:
        """See ``Reporting``."""
        acting = self._acting()
        return await self._database.read(lambda c: sales_reports.sales(c, acting, query))

    async def quiet_customers(
        self, *, quiet_days: int = 60, history_days: int = 365, least_orders: int = 3, limit: int = 20, offset: int = 0
    ) -> QuietCustomers:
        """See ``Reporting``."""
        self._window(limit, offset)
        acting = self._acting()
        return await self._database.read(
            lambda c: quiet.quiet_customers(c, acting, quiet_days, history_days, least_orders, limit, offset)
        )

    async def stock_report(
        self,
        kind: StockKind,
        *,
        warehouse: str | None = None,
        days: int | None = None,
        limit: int = 50,
        offset: int = 0,
    ) -> StockReport:
        """See ``Reporting``."""
        self._window(limit, offset)
        acting = self._acting()
        return await self._database.read(
            lambda c: stock_reports.stock_report(c, acting, kind, warehouse, days, limit, offset)
        )

    async def suggest_purchases(
        self,
        *,
        warehouse: str | None = None,
        supplier_id: str | None = None,
        skus: Sequence[str] = (),
        cover_days: int = 30,
        history_days: int = 30,
        limit: int = 50,
        offset: int = 0,
    ) -> Suggestions:
        """See ``Reporting``."""
        self._window(limit, offset)
        acting = self._acting()
        return await self._database.read(
            lambda c: suggesting.suggest(
                c,
                acting,
                warehouse=warehouse,
                supplier_id=supplier_id,
                skus=skus,
                cover_days=cover_days,
                history_days=history_days,
                limit=limit,
                offset=offset,
            )
        )
