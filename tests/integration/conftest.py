"""Tables at the end of a run: the stream fixtures by kind, and every point at which a run was cut off."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from tests.support.erp_tryton import opened
from tests.support.erp_world import OpenWorld
from tests.support.job_table import printed
from tests.support.tryton.environment import SetUpFailed
from tests.support.tryton.server import TrytonServer, tryton_server


@pytest.fixture(scope="session")
def tryton() -> Iterator[TrytonServer]:
    """A Tryton server with a copy of the example shop, for the whole session. What is missing is made first; what
    cannot be made fails every test that needs it.
    """
    try:
        with tryton_server() as server:
            yield server
    except SetUpFailed as error:
        pytest.fail(str(error), pytrace=False)


@pytest.fixture(scope="session")
def tryton_world(tryton: TrytonServer) -> OpenWorld:
    """Worlds of the conformance suite on that server."""
    return opened(tryton)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The tables that there is something for."""
    _kinds(terminalreporter)
    _crashes(terminalreporter)
    _jobs(terminalreporter)


def _crashes(terminalreporter: pytest.TerminalReporter) -> None:
    """One row for each event behind which a run was cut off."""
    reports = [report for outcome in ("passed", "failed") for report in terminalreporter.getreports(outcome)]
    rows = [value for report in reports for name, value in getattr(report, "user_properties", ()) if name == "crash"]
    if rows:
        terminalreporter.section("runs cut off behind each event")
        terminalreporter.line(
            "store  open write  cut behind             events, requests, run again, doubt, order/note"
        )
        for row in rows:
            terminalreporter.line(row)


def _kinds(terminalreporter: pytest.TerminalReporter) -> None:
    """Passed / total by kind."""
    passed: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for outcome in ("passed", "failed", "error"):
        for report in terminalreporter.getreports(outcome):
            kind = dict(getattr(report, "user_properties", ())).get("kind")
            if isinstance(kind, str):
                total[kind] += 1
                passed[kind] += outcome == "passed"
    if not total:
        return
    terminalreporter.section("stream fixtures by kind, passed/total")
    for kind in sorted(total):
        terminalreporter.line(f"{kind:<20} {passed[kind]:>5}/{total[kind]}")
    terminalreporter.line(f"{'all':<20} {sum(passed.values()):>5}/{sum(total.values())}")


def _jobs(terminalreporter: pytest.TerminalReporter) -> None:
    """Jobs by backend, language and kind of model, where they ran."""
    reports = terminalreporter.getreports("passed")
    rows = [value for report in reports for name, value in getattr(report, "user_properties", ()) if name == "job"]
    if rows:
        terminalreporter.section("jobs by backend and language: how they were done")
        for line in printed(map(str, rows)):
            terminalreporter.line(line)
    for value in [v for report in reports for n, v in getattr(report, "user_properties", ()) if n == "phrasings"]:
        terminalreporter.line(f"offline planner, phrasings right: {value}")
