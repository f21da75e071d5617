"""The rights of Erpilot in terms of Tryton's access tables, and refusals for a right that is missing.

Invariant: a right is held only when the server would allow everything that it takes; a refusal of the server is
explained by asking its tables, never by reading its sentence, which comes in the user's language.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any, Final

from ..errors import Denied, Invalid, ShopError
from ..rights import MEANINGS, Right
from .failures import ServerRefused
from .rpc import Rpc

NEEDED: Final[dict[Right, tuple[tuple[str, str], ...]]] = {
    "sell": (("sale.sale", "create"), ("sale.sale", "write")),
    "discount_over": (("sale.configuration", "write"),),
    "credit_over": (("sale.sale", "write"),),
    "stock": (("stock.shipment.out", "write"), ("stock.inventory", "create")),
    "buy": (("purchase.purchase", "create"),),
    "money": (("account.invoice", "write"), ("account.move", "create")),
    "prices": (("product.price_list", "write"),),
    "catalogue": (("product.template", "create"),),
    "see_cost": (("product.product", "read"),),
    "see_history": (("ir.model.log", "read"),),
    "see_reports": (("sale.sale", "read"),),
    "see_money": (("account.invoice", "read"),),
    "see_contacts": (("party.contact_mechanism", "read"),),
}
"""By right: model and mode, all of them."""

FIELDS: Final[dict[Right, tuple[str, str]]] = {
    "see_cost": ("product.product", "cost_price"),
    "see_contacts": ("party.address", "attn"),
}
"""By right: model and field that must be readable too. The server tells that only when it is read."""

MODELS: Final = sorted(
    {model for needed in NEEDED.values() for model, _ in needed}
    | {"account.move.line", "purchase.purchase", "purchase.product_supplier", "stock.move", "account.invoice.line"}
)


@dataclass(frozen=True, slots=True)
class Held:
    """What a person may: our rights, and by model the server's modes."""

    rights: frozenset[Right]
    access: dict[str, dict[str, Any]]


async def held_rights(rpc: Rpc) -> Held:
    """What the person may do."""
    access, limits, *readable = await asyncio.gather(
        rpc.call("model.ir.model.access.get_access", MODELS),
        _in_group(rpc, "account_credit_limit", "group_credit_limit"),
        *(_readable(rpc, model, name) for model, name in FIELDS.values()),
    )
    held = {right for right, needed in NEEDED.items() if all(access[model][mode] for model, mode in needed)}
    held -= {right for right, may in zip(FIELDS, readable, strict=True) if not may}
    return Held(frozenset(held if limits else held - {"credit_over"}), access)


async def _readable(rpc: Rpc, model: str, name: str) -> bool:
    try:
        await rpc.search_read(model, [], [name], limit=1)
    except (Denied, ServerRefused):
        return False
    return True


async def _in_group(rpc: Rpc, module: str, name: str) -> bool:
    """Whether the person is in a group of a module; where that is not installed nobody is kept from anything by it."""
    try:
        group = await rpc.call("model.ir.model.data.get_id", module, name)
    except (Invalid, ServerRefused):
        return True
    return group in rpc.context.get("groups", ())


async def explained(rpc: Rpc, error: ShopError, right: Right, *models: tuple[str, str]) -> ShopError:
    """The refusal of the server, as ``Denied`` when a right on one of these (model, mode) is missing."""
    if not isinstance(error, ServerRefused | Denied):
        return error
    access = await rpc.call("model.ir.model.access.get_access", sorted({model for model, _ in models}))
    for model, mode in models:
        if not access[model][mode]:
            return Denied(
                f"This needs the right {right!r} ({MEANINGS[right]}): the server lets this user not {mode} {model}.",
                hint="Have an administrator of the Tryton server add the user to a group that may.",
                right=right,
            )
    return error
