"""Warnings before a document moves: what a person has to see, and the rights that passing over them takes.

Invariant: a preview names the same concerns that the ERP raises; one that needs a right which the person lacks refuses
at once and names the right.
"""

from __future__ import annotations

from collections.abc import Iterable

from agent_core.events import Notice

from ..shop.backend import ErpBackend
from ..shop.concerns import Concern, credit
from ..shop.errors import Denied, Unsupported
from ..shop.rights import Right, require
from ..shop.values import Money


def noticed(concerns: Iterable[Concern]) -> tuple[Notice, ...]:
    """The concerns as notices; words for the codes are in ``words``."""
    return tuple(Notice(f"concern_{each.code}", dict(each.values)) for each in concerns)


def tokens(concerns: Iterable[Concern]) -> frozenset[str]:
    """What accepts them."""
    return frozenset(each.token for each in concerns if each.token is not None)


async def credit_concerns(backend: ErpBackend, customer_id: str, total: Money) -> list[Concern]:
    """A limit that would be passed and debt that is overdue; none where the person may not see money or the ERP does
    not tell: then the write itself asks."""
    try:
        account = await backend.get_account(customer_id)
    except (Denied, Unsupported):
        return []
    return credit(account, total) if account.customer.terms else []


async def allowed(backend: ErpBackend, concerns: Iterable[Concern]) -> None:
    """Raises ``Denied`` for the first concern that the person may not pass over."""
    needed: list[Right] = [each.right for each in concerns if each.right is not None]
    if needed:
        held = (await backend.whoami()).rights
        for right in needed:
            require(held, right)
