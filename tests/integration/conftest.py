"""Sums the stream fixtures up by kind at the end of a run."""

from __future__ import annotations

from collections import Counter

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The table of kinds: passed / total."""
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
