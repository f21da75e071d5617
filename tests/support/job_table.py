"""The table of jobs: which is done on which backend, in which language, by which kind of model; as it is kept in
``docs/jobs.md`` and as it is printed at the end of a test run.

``python -m tests.support.job_table`` writes the page anew.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from tests.support.jobs import Job, jobs

PAGE = Path(__file__).parents[2] / "docs" / "jobs.md"
BACKENDS = ("embedded", "tryton")
_HEAD = """\
# The jobs

What people ask of the shop assistant, as executable cases: `tests/jobs/*.toml` (phrasings, calls, facts that a right
answer holds, state afterwards), run by `tests/integration/test_jobs.py`. This page is generated from them
(`python -m tests.support.job_table`) and tested.

A job that reads is played in both languages by a scripted model: the tools that are called, every fact of a right
answer in their results, every figure of the answer from a result, nothing written. One that writes is played twice: a
person refuses (nothing is written) and agrees (one effect, and the shop says so afterwards). `planner`: the offline
planner does it by itself, from the phrasings of the case in both languages; see [offline.md](offline.md).

On Tryton a write is refused in Chinese and agreed to in English; of the reads `make test` plays each once in each
language, one of them by the planner, and `make conformance` both by both, with every phrasing that the planner claims.

| job | | tier | tools | embedded | Tryton |
|---|---|---|---|---|---|
"""
_TAIL = """
Tryton: what it does not do is declared by its capabilities, and a tool that needs it says so. The column says which of
the cases run on a Tryton server in the tests.
"""


def page() -> str:
    """The page, from the cases."""
    return _HEAD + "".join(f"{_row(job)}\n" for job in jobs()) + _TAIL


def _row(job: Job) -> str:
    tools = ", ".join(f"`{name}`" for step in job.steps for name in dict.fromkeys(tool for tool, _ in step))
    scripted = "zh, en: scripted"
    by = scripted + (", planner" if job.planner else "")
    reads = job.tier == "READ"
    tryton = job.without.get("tryton", (by if reads else scripted) if "tryton" in job.backends else "—")
    return f"| {job.id} | {job.title} | {job.tier} | {tools} | {by} | {tryton} |"


def printed(passed: Iterable[str]) -> list[str]:
    """Lines for the end of a run, from what the tests recorded ("J01 embedded zh planner"), one for each job."""
    done: dict[str, dict[tuple[str, str], set[str]]] = defaultdict(lambda: defaultdict(set))
    for text in passed:
        name, backend, language, by = text.split(" ", 3)
        for each in language.split("+"):
            done[name][backend, each].add(by)
    columns = [(backend, language) for backend in BACKENDS for language in ("zh", "en")]
    lines = ["job  " + "  ".join(f"{backend + ' ' + language:<26}" for backend, language in columns)]
    for job in jobs():
        cells = [", ".join(sorted(done[job.id][column])) or "-" for column in columns]
        lines.append(f"{job.id}  " + "  ".join(f"{cell:<26}" for cell in cells))
    return lines


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
