"""The stores that ship keep to the contract, and the kit holds every check it defines."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent_core.store.base import EventStore
from agent_core.store.memory import MemoryStore
from agent_core.store.sqlite import SqliteStore
from agent_core.testing import conformance, keeping_checks, lease_checks, log_checks, search_checks


@pytest.fixture(params=["memory", "sqlite"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[EventStore]:
    made: EventStore = MemoryStore() if request.param == "memory" else SqliteStore(tmp_path / "log.db")
    yield made
    await made.aclose()


@pytest.mark.parametrize("check", conformance.CHECKS, ids=lambda check: check.__name__)
async def test_store_keeps_to_the_contract(store: EventStore, check: conformance.Check) -> None:
    await check(store)


def test_the_kit_lists_every_check_it_defines() -> None:
    defined = {
        function
        for module in (log_checks, lease_checks, keeping_checks, search_checks)
        for function in vars(module).values()
        if inspect.iscoroutinefunction(function)
        and function.__module__ == module.__name__
        and not function.__name__.startswith("_")
    }
    helpers = {log_checks.read_all, log_checks.refused, log_checks.begin, log_checks.texts_of}
    assert set(conformance.CHECKS) == defined - helpers
