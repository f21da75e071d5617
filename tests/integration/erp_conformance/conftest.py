"""The worlds that every case runs in, and a table of them at the end of the run."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

from erpilot.shop.embedded.shop import EmbeddedShop
from tests.support.erp_embedded import opened
from tests.support.erp_world import REFUSED, OpenWorld, World

RARELY = (
    "buying", "delivering", "hostile", "reports", "returning", "sharing", "stock_figures", "under_fire", "warehouse",
)  # fmt: skip
"""What runs on a remote server only with ``--all-cases``: it takes many documents, and minutes."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves the slow cases of remote servers out, unless all are wanted; pytest says how many."""
    if config.getoption("--all-cases"):
        return
    slow = [item for item in items if "[tryton" in item.name and item.path.stem.removeprefix("test_") in RARELY]
    slow = [item for item in slow if item.path.parent == Path(__file__).parent]
    items[:] = [item for item in items if item not in slow]
    config.hook.pytest_deselected(items=slow)


@pytest.fixture(scope="session")
def embedded_world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenWorld]:
    """One embedded shop for all cases."""
    shop = EmbeddedShop(Path(tmp_path_factory.mktemp("conformance")) / "shop.db")
    yield opened(shop)
    shop.close()


@pytest.fixture(params=["embedded", "tryton"])
async def world(request: pytest.FixtureRequest, record_property: Callable[[str, object], None]) -> AsyncIterator[World]:
    """The shop of one ERP."""
    open_world: OpenWorld = request.getfixturevalue(f"{request.param}_world")
    record_property("erp", request.param)
    REFUSED.clear()
    async with open_world() as opened_world:
        yield opened_world
    for capability in REFUSED:
        record_property("refused", capability)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """For each ERP: the cases that passed, and those of them that held it to refusing what it does not declare."""
    passed, total, refused = Counter[str](), Counter[str](), Counter[str]()
    capabilities: dict[str, set[str]] = {}
    for outcome in ("passed", "failed", "error", ""):  # "": set-ups and clean-ups that passed
        for report in terminalreporter.getreports(outcome):
            said = list(getattr(report, "user_properties", ()))
            erp = dict(said).get("erp")
            if not isinstance(erp, str):
                continue
            if outcome:
                total[erp] += 1
                passed[erp] += outcome == "passed"
            elif report.when == "teardown":  # what was refused is known behind the case
                missing = {str(value) for name, value in said if name == "refused"}
                refused[erp] += bool(missing)
                capabilities.setdefault(erp, set()).update(missing)
    if total:
        terminalreporter.section("cases of the conformance suite by ERP")
    for erp in sorted(total):
        line = f"{erp:<10} {passed[erp]:>4}/{total[erp]} passed, {refused[erp]} of them by refusing"
        terminalreporter.line(f"{line}: {', '.join(sorted(capabilities[erp]))}" if refused[erp] else line)
