"""The tool that makes a customer.

Invariant: customers of nearly the same name are shown before a person agrees.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from agent_core.events import Change, Notice
from agent_core.tools.tool import Tool

from ..shop.backend import CustomerDraft, ErpBackend, Write, Written
from ..shop.errors import Invalid, NotFound
from ..shop.values import Money
from .shop_arguments import Amount, Names, Query, Text
from .shop_resolve import money_of
from .shop_writing import Plan, insisting, writing


def customer_tools(backend: ErpBackend) -> list[Tool]:
    """Writing tools over one backend."""

    @writing(backend, "customers", target=lambda name, **_: name.strip())
    async def create_customer(
        name: Query,
        price_list: Query = "retail",
        short_names: Names = (),
        terms_days: Annotated[int, Field(ge=0, le=365)] = 0,
        credit_limit: Amount = None,
        contact: Text = None,
        city: Text = None,
        although_similar: bool = False,
    ) -> Plan:
        """Make a new customer. `price_list`: retail, wholesale, vip or its name. `although_similar`: one of nearly that
        name exists, and this is another one. A person confirms first."""
        lists = await backend.price_lists()
        asked = price_list.strip().casefold()
        which = [
            one for one in lists if asked in {one.code.casefold(), one.name.casefold(), *map(str.casefold, one.aliases)}
        ]
        if len(which) != 1:
            raise NotFound(
                f"There is no price list {price_list[:40]!r}.", nearest=[f"{x.code} {x.name}" for x in lists]
            )
        if not name.strip():
            raise Invalid("A customer needs a name.")
        limit = Money(money_of(credit_limit, which[0].currency), which[0].currency) if credit_limit else None
        draft = CustomerDraft(
            name.strip(), which[0].code, tuple(map(str.strip, short_names)), terms_days, limit, contact, city
        )
        fields = {
            "name": draft.name,
            "price_list": which[0].name,
            "short_names": ", ".join(draft.short_names) or None,
            "terms": str(terms_days),
            "credit_limit": f"{limit.amount} {limit.currency}" if limit else None,
            "contact": contact,
            "city": city,
            "again": "yes" if although_similar else None,
        }
        changes = tuple(Change(field, None, value) for field, value in fields.items() if value)

        async def act(write: Write, shown: Mapping[str, str]) -> Written:
            del shown
            return await insisting(lambda w: backend.create_customer(draft, write=w), write, again=although_similar)

        similar = await backend.find_customers(name, limit=3)
        near = [f"{hit.record.id} {hit.record.name}" for hit in similar.hits if hit.match in ("code", "name")]
        notices = (Notice("similar_customers", {"names": "; ".join(near)}),) if near else ()
        return Plan("new_customer", changes, act, notices=notices)

    return [create_customer]
