"""Customers who used to buy and stopped.

Invariant: who is listed had enough orders in the time before and none in the quiet days; the value is what they bought
in that time, in their own currency.
"""

from __future__ import annotations

import sqlite3
from datetime import date, timedelta

from ..errors import Invalid
from ..values import Money
from ..verbs.reporting import QuietCustomer, QuietCustomers
from .acting import Acting


def quiet_customers(
    connection: sqlite3.Connection,
    acting: Acting,
    quiet_days: int,
    history_days: int,
    least_orders: int,
    limit: int,
    offset: int,
) -> QuietCustomers:
    """See ``Reporting.quiet_customers``."""
    acting.require("see_reports")
    if not 1 <= quiet_days <= 3650 or not 1 <= history_days <= 3650 or least_orders < 2:
        raise Invalid("Quiet customers need 1 to 3650 days and at least two orders.")
    last_day = acting.today - timedelta(quiet_days)
    rows = connection.execute(
        "SELECT p.id, p.name, p.contact, d.currency, COUNT(*), MIN(d.date), MAX(d.date), SUM(d.gross) FROM party p "
        "JOIN (SELECT o.id, o.party_id, o.date, o.currency, SUM(l.gross) AS gross FROM document o "
        "JOIN line l ON l.document_id = o.id WHERE o.kind = 'sale' AND o.state IN ('confirmed', 'in_progress', 'done') "
        "AND o.date BETWEEN ? AND ? GROUP BY o.id) d ON d.party_id = p.id "
        "WHERE NOT EXISTS (SELECT 1 FROM document n WHERE n.party_id = p.id AND n.kind = 'sale' "
        "AND n.state IN ('confirmed', 'in_progress', 'done') AND n.date > ? AND n.date <= ?) "
        "GROUP BY p.id, d.currency HAVING COUNT(*) >= ? ORDER BY SUM(d.gross) DESC, p.id",
        (
            (last_day - timedelta(history_days - 1)).isoformat(),
            last_day.isoformat(),
            last_day.isoformat(),
            acting.today.isoformat(),
            least_orders,
        ),
    ).fetchall()
    return QuietCustomers(
        quiet_days,
        history_days,
        least_orders,
        tuple(
            QuietCustomer(
                party_id=party,
                name=name,
                last_order=date.fromisoformat(last),
                orders=count,
                usual_days=round((date.fromisoformat(last) - date.fromisoformat(first)).days / (count - 1)),
                value=Money.from_minor(value, currency),
                contact=contact if "see_contacts" in acting.rights else None,
            )
            for party, name, contact, currency, count, first, last, value in rows[offset : offset + limit]
        ),
        len(rows),
    )
