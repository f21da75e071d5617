"""What a case of the conformance suite asks of a shop, and the worlds that offer it: one for each ERP.

A case never leans on data that were there before. It asks its world for new products, customers and suppliers (with
names and codes that no other case uses), so that many cases share one shop, also one on a remote server. What a case
writes, it writes through ``world.backend``; only what has to be there first comes from the world's own means.

To plug an ERP in: write a ``World`` for it, a session fixture ``NAME_world`` that gives an ``OpenWorld`` (what is
shared, such as a server, belongs to that fixture), and add NAME to the fixture ``world`` in the suite's conftest.
"""

from __future__ import annotations

import inspect
import itertools
import os
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from decimal import Decimal
from functools import wraps
from typing import ParamSpec, Protocol, TypeVar

import pytest

from erpilot.shop.backend import Capability, ErpBackend, Write
from erpilot.shop.catalogue import Product
from erpilot.shop.documents import Customer
from erpilot.shop.errors import Unsupported
from erpilot.shop.rights import Role
from tests.support.erp_samples import SAMPLES

P = ParamSpec("P")
R = TypeVar("R")
_serial = itertools.count(1)
REFUSED: list[Capability] = []
"""What the case that runs has held its ERP to refusing."""


def fresh(prefix: str) -> str:
    """A code that no other case, worker or run has used."""
    return f"{prefix}{os.getpid()}X{os.urandom(3).hex().upper()}{next(_serial)}"


def write(version: str | None = None, *accepted: str, key: str | None = None) -> Write:
    """A write with a new key (or the one given), by "tester"."""
    return Write(key or fresh("key-"), "tester", version, accepted=frozenset(accepted))


@dataclass(frozen=True)
class Goods:
    """A product that is to exist: base unit 个 (whole), 箱 of ``case``; ``price`` per 个 of the list that the world's
    customers have, with tax as that list says; ``tiers``: from so many 个 on it costs so much; ``stock`` by warehouse
    ("main", "second").
    """

    price: Decimal = Decimal("12.50")
    cost: Decimal | None = Decimal("8.00")
    case: Decimal = Decimal(24)
    tax_rate: Decimal = Decimal("0.13")
    tiers: Mapping[Decimal, Decimal] = field(default_factory=dict)
    stock: Mapping[str, Decimal] = field(default_factory=dict)
    name: str = "合规样品"


class World(Protocol):
    """One shop of one ERP. ``main`` and ``second``: codes of two warehouses; ``price_list``: code of the list that its
    customers have; ``currency``: of that list.
    """

    main: str
    second: str
    price_list: str
    currency: str

    @property
    def backend(self) -> ErpBackend:
        """As a person with every right."""
        ...

    def person(self, *roles: Role) -> ErpBackend:
        """As another person, who has only these roles."""
        ...

    async def product(self, goods: Goods = Goods()) -> Product:
        """A new product, with its stock and prices."""
        ...

    async def customer(self, *, name: str | None = None, terms: int = 30, limit: Decimal | None = None) -> Customer:
        """A new customer; ``limit`` None: none."""
        ...

    async def supplier(self) -> Customer:
        """A new supplier."""
        ...

    async def arrival(self, product: Product, quantity: Decimal, *, days: int, confirmed: bool = True) -> str:
        """A purchase of so many base units for the main warehouse, expected in ``days``; its number."""
        ...


OpenWorld = Callable[[], AbstractAsyncContextManager[World]]


def needs(*capabilities: Capability) -> Callable[[Callable[P, Awaitable[None]]], Callable[P, Awaitable[None]]]:
    """A case for backends with these capabilities. For one that lacks some, the case asserts that each of those is
    refused with ``Unsupported``, which names it.
    """

    def decorate(case: Callable[P, Awaitable[None]]) -> Callable[P, Awaitable[None]]:
        @wraps(case)
        async def run(*args: P.args, **kwargs: P.kwargs) -> None:
            world: World = inspect.signature(case).bind(*args, **kwargs).arguments["world"]
            offered = (await world.backend.whoami()).capabilities
            missing = [each for each in capabilities if each not in offered]
            for each in missing:
                await refused(world.backend, each)
            if not missing:
                await case(*args, **kwargs)

        return run

    return decorate


async def refused(backend: ErpBackend, capability: Capability) -> None:
    """Asserts that the capability is refused in the one documented way. An ERP without any sales names those when it
    is asked for a margin.
    """
    with pytest.raises(Unsupported) as caught:
        await SAMPLES[capability](backend)
    named = caught.value.capability
    assert named == capability or (capability, named) == ("margin", "sales")
    assert named.replace("_", " ") in caught.value.message
    REFUSED.append(capability)
