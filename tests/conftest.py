"""Settings for every test: no test reads a person's model, key, data or language."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent_core.requests import RequestBuilder
from tests.support.prefix import Watch


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--all-cases``: also what takes minutes (see ``make conformance``)."""
    parser.addoption("--all-cases", action="store_true", help="every case of the conformance suite on every ERP")


@pytest.fixture(autouse=True)
def _nobody_in_particular(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No model in the environment, a home of its own; what a test needs of these it sets itself."""
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "ERPILOT_MODEL", "ERPILOT_LANG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ERPILOT_HOME", str(tmp_path / "erpilot-home"))


@pytest.fixture(autouse=True)
def _each_request_extends_the_one_before(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What providers cache by, for every request that is built in this process."""
    watch, build = Watch(), RequestBuilder.build

    @functools.wraps(build)
    def watched(self: RequestBuilder, state: Any, messages: Any) -> Any:
        return watch.build(self, state, messages, build)

    monkeypatch.setattr(RequestBuilder, "build", watched)
    yield
    assert watch.failures == []
