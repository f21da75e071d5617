"""One seeded shop for all reading tests, and a copy of its own for each that writes."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from erpilot.shop.embedded.shop import EmbeddedShop
from erpilot.shop.seed.build import ensure_shop


@pytest.fixture(scope="session")
def seeded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a freshly seeded shop; nobody writes to it."""
    path = tmp_path_factory.mktemp("shop") / "shop.db"
    ensure_shop(path, None)
    return path


@pytest.fixture(scope="session")
def shop(seeded: Path) -> Iterator[EmbeddedShop]:
    """A shop to read from."""
    shop = EmbeddedShop(seeded)
    yield shop
    shop.close()


@pytest.fixture
def fresh(seeded: Path, tmp_path: Path) -> Iterator[EmbeddedShop]:
    """A shop to write to."""
    path = tmp_path / "shop.db"
    shutil.copy(seeded, path)
    shop = EmbeddedShop(path)
    yield shop
    shop.close()
