"""Who may log in to the Tryton server of the tests, and what each may do there: groups of Tryton by login.

The passwords are those of a throw-away database on 127.0.0.1.
"""

from __future__ import annotations

from typing import Final

_SALES = ("Sales", "Sale Stock Quantity")
_STOCK = ("Stock", "Stock Force Assignment", "Stock Cancellation")

PEOPLE: Final[dict[str, tuple[str, ...] | str]] = {
    "owner": "all",
    "assistant": (*_SALES, "Stock"),
    "clerk": _SALES,
    "warehouse": (*_STOCK, "Viewers"),
    "buyer": ("Purchase", "Costs"),
    "money": ("Accounting",),
    "manager": (*_SALES, *_STOCK, "Sales Administrator", "Purchase", "Accounting", "Account Credit Limit"),
    "viewer": ("Viewers",),
    "nobody": (),
}
"""``assistant``: what an assistant should be given: quotes, orders, counts; no products, prices, users, accounts."""


def password(login: str) -> str:
    """Of any of them, and of "admin"."""
    return f"{login}-of-the-tests"
