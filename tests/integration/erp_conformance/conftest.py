"""The worlds that every case runs in, and a table of them at the end of the run."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from erpilot.shop.embedded.shop import EmbeddedShop
from tests.support.erp_embedded import opened
from tests.support.erp_world import OpenWorld, World


@pytest.fixture(scope="session")
def embedded_world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenWorld]:
    """One embedded shop for all cases."""
    shop = EmbeddedShop(Path(tmp_path_factory.mktemp("conformance")) / "shop.db")
    yield opened(shop)
    shop.close()


@pytest.fixture(params=["embedded"])
async def world(request: pytest.FixtureRequest) -> AsyncIterator[World]:
    """The shop of one ERP."""
    open_world: OpenWorld = request.getfixturevalue(f"{request.param}_world")
    async with open_world() as opened_world:
        yield opened_world
