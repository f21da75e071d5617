"""A home with a shop in it, made once and copied for each test."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from erpilot.shop.open import open_shop
from tests.support.prefix import in_folder


@pytest.fixture(scope="session")
def _shop_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shop")
    open_shop(folder).close()
    return folder


@pytest.fixture
def home(_shop_template: Path, tmp_path: Path) -> Path:
    """``ERPILOT_HOME`` for processes; the built-in shop is there already."""
    return Path(shutil.copytree(_shop_template, tmp_path / "home"))


@pytest.fixture(autouse=True)
def _each_request_of_a_process_extends_the_one_before(tmp_path: Path) -> Iterator[None]:
    """What providers cache by, from the logs that the processes of a test leave in its homes."""
    yield
    assert in_folder(tmp_path) == []
