"""A home with a shop in it, made once and copied for each test."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from erpilot.shop.open import open_shop


@pytest.fixture(scope="session")
def _shop_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shop")
    open_shop(folder).close()
    return folder


@pytest.fixture
def home(_shop_template: Path, tmp_path: Path) -> Path:
    """``ERPILOT_HOME`` for processes; the built-in shop is there already."""
    return Path(shutil.copytree(_shop_template, tmp_path / "home"))
