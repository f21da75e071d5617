"""What a person may do and see in the shop: rights, and the roles that stand for them.

Invariant: a refusal names the right that is missing and nothing of what is behind it; what may not be seen is absent,
not shown as zero.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, get_args

from .errors import Denied

Right = Literal[
    "sell",
    "discount_over",
    "credit_over",
    "stock",
    "buy",
    "money",
    "prices",
    "catalogue",
    "see_cost",
    "see_history",
    "see_reports",
    "see_money",
    "see_contacts",
]
Role = Literal["clerk", "warehouse", "buyer", "money", "manager", "owner"]

RIGHTS: tuple[Right, ...] = get_args(Right)
MEANINGS: dict[Right, str] = {
    "sell": "make and change quotations and orders",
    "discount_over": "sell past the discount limit or below cost",
    "credit_over": "sell past a customer's credit limit",
    "stock": "deliver, move and count stock, take goods back",
    "buy": "make purchase orders",
    "money": "record payments and refunds",
    "prices": "change prices",
    "catalogue": "import products and customers",
    "see_cost": "see costs, margins and the value of stock",
    "see_history": "see who changed what",
    "see_reports": "see sales figures",
    "see_money": "see what customers owe and what suppliers are owed",
    "see_contacts": "see how to reach a customer",
}
ROLES: dict[Role, frozenset[Right]] = {
    "clerk": frozenset({"sell", "see_reports", "see_money", "see_contacts"}),
    "warehouse": frozenset({"stock", "see_contacts"}),
    "buyer": frozenset({"buy", "see_cost", "see_reports", "see_contacts"}),
    "money": frozenset({"money", "see_money", "see_reports", "see_contacts", "see_history"}),
    "manager": frozenset(RIGHTS) - {"prices", "see_cost"},
    "owner": frozenset(RIGHTS),
}


def rights_of(roles: Iterable[Role]) -> frozenset[Right]:
    """All that the roles allow together."""
    return frozenset(right for role in roles for right in ROLES[role])


def require(held: frozenset[Right], right: Right) -> None:
    """Raises ``Denied``, which names the right, unless it is held."""
    if right not in held:
        raise Denied(
            f"This needs the right {right!r} ({MEANINGS[right]}).",
            hint="Ask somebody who has it, or have the owner grant it.",
            right=right,
        )
