"""Tools that read customers and suppliers.

Invariant: a credit answer follows from the rule it names: limit, used, free, overdue; how to reach somebody is told
only to those who may see it.
"""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Literal

from agent_core.tools.tool import Tool

from ..shop.backend import Account, ErpBackend
from ..shop.documents import Customer
from ..shop.errors import Denied, Invalid, Unsupported
from . import shop_answers as answers
from . import shop_results as r
from .shop_arguments import Amount, Limit, Offset, Query, Text
from .shop_kit import next_offset, reading
from .shop_resolve import answering, customer_meant, money_of, one_product, stamp, supplier_meant
from .shop_supply import Offers, offer_fact


class Credit(r.Fact):
    """``used`` = ``owed`` (open invoices less credits) + ``not_invoiced`` (confirmed orders); ``free`` = ``limit`` -
    ``used``, neither without a limit. ``allowed`` by the rule: there are terms, nothing is overdue, and what was
    ``asked`` is within what is free; ``against`` says which part fails, ``over`` by how much the limit is passed."""

    currency: str
    limit: r.Amount | None = None
    owed: r.Amount
    not_invoiced: r.Amount
    used: r.Amount
    free: r.Amount | None = None
    overdue: r.Amount
    oldest_due: dt.date | None = None
    asked: r.Amount | None = None
    allowed: bool
    against: list[Literal["no_terms", "overdue", "over_limit"]]
    over: r.Amount | None = None
    exception_right: str | None = None
    """The right that whoever may allow it all the same has."""


class CustomerDetail(r.Fact):
    """A customer. ``terms`` in days; ``credit`` is left out where the person may not see money."""

    id: str
    name: str
    short_names: list[str]
    price_list: str
    currency: str
    terms: int
    city: str | None = None
    contact: str | None = None
    credit: Credit | None = None
    credit_hidden: str | None = None
    """Why there is no ``credit``: the right that is missing."""
    version: str
    as_of: str


def party_tools(backend: ErpBackend) -> list[Tool]:
    """Reading tools over one backend."""

    @reading("customers")
    async def find_customers(query: Query, limit: Limit = 5, offset: Offset = 0) -> r.CustomerMatches:
        """Find customers by id, name or short name. `decided`: the first candidate alone is meant; else ask."""
        with answering():
            found = await backend.find_customers(query, limit=limit, offset=offset)
            following = next_offset(offset, len(found.hits), found.total_count)
            lists = await backend.price_lists()
            return answers.customer_matches(query, found, lists, following, stamp(backend.now()))

    @reading("customers", "documents", "money")
    async def get_customer(customer: Query, amount: Amount = None) -> CustomerDetail:
        """One customer: price list, terms, credit limit, used, free, overdue. With `amount`: whether an order of that
        much is within the rule."""
        with answering():
            meant = await customer_meant(backend, customer)
            if meant is None:
                raise Invalid("No customer was named.")
            asked = None if amount is None else money_of(amount, meant.currency)
            credit, hidden = None, None
            try:
                credit = _credit(await backend.get_account(meant.id), asked)
            except (Denied, Unsupported) as error:
                hidden = error.message
            return await _detail(backend, meant, credit, hidden)

    @reading("suppliers", "products")
    async def get_supplier_prices(sku: Text = None, supplier: Text = None) -> Offers:
        """What suppliers charge for a product, or all that a supplier offers: unit, price, minimum, pack, lead days."""
        with answering():
            if not (sku and sku.strip()) and not (supplier and supplier.strip()):
                raise Invalid("Name a product or a supplier.")
            meant = (await supplier_meant(backend, supplier)).id if supplier and supplier.strip() else None
            skus = [(await one_product(backend, sku)).sku] if sku and sku.strip() else []
            offers = await backend.supplier_offers(skus=skus, supplier_id=meant)
            told = [offer_fact(each) for each in offers]
            return Offers(offers=told[:50], total_count=len(told), as_of=stamp(backend.now()))

    return [find_customers, get_customer, get_supplier_prices]


def _credit(account: Account, asked: Decimal | None) -> Credit:
    after = None if account.free is None else account.free.amount - (asked or 0)
    over = -after if after is not None and after < 0 else None
    parts: list[tuple[Literal["no_terms", "overdue", "over_limit"], bool]] = [
        ("no_terms", not account.customer.terms),
        ("overdue", account.overdue.amount > 0),
        ("over_limit", over is not None),
    ]
    against = [name for name, fails in parts if fails]
    return Credit(
        currency=account.owed.currency,
        limit=account.limit.amount if account.limit else None,
        owed=account.owed.amount,
        not_invoiced=account.not_invoiced.amount,
        used=account.used.amount,
        free=account.free.amount if account.free else None,
        overdue=account.overdue.amount,
        oldest_due=account.oldest_due,
        asked=asked,
        allowed=not against,
        against=against,
        over=over,
        exception_right="credit_over" if against else None,
    )


async def _detail(backend: ErpBackend, customer: Customer, credit: Credit | None, hidden: str | None) -> CustomerDetail:
    lists = {each.code: each for each in await backend.price_lists()}
    return CustomerDetail(
        id=customer.id,
        name=customer.name,
        short_names=list(customer.short_names),
        price_list=lists[customer.price_list].name if customer.price_list in lists else customer.price_list,
        currency=customer.currency,
        terms=customer.terms,
        city=customer.city,
        contact=customer.contact,
        credit=credit,
        credit_hidden=hidden,
        version=customer.version,
        as_of=stamp(backend.now()),
    )
