"""``docs/offline.md``: what the offline planner claims, generated from its words and from the cases.

``python -m tests.support.offline_page`` writes the page anew.
"""

from __future__ import annotations

from pathlib import Path

from erpilot.offline.wants import JOBS
from tests.support.jobs import FOLDER, jobs

PAGE = Path(__file__).parents[2] / "docs" / "offline.md"
_HEAD = """\
# The offline planner

Without a model Erpilot answers with a planner of its own. It is no language model: it reads a question by the words
in `packages/erpilot/src/erpilot/offline/words.toml` (contents, stock and price of goods) and `jobs.toml` (the rest),
calls the same tools through the same boundary as any model, and fills templates with the values of their results. A
question that holds a word which is neither known nor a name is not answered, and the answer says which word; so is
one with a condition that no tool takes (an exception, a denial, "more than 1000", a time before which nothing is
known), since without it the answer would be one to another question. What changes something, except a quotation, is
left to a real model. It never makes up a figure, and a quotation waits for a person like that of any model; it is not
even proposed when it was denied, supposed, estimated ("about 20", 二三十箱) or holds what a quotation cannot say.

This page is generated (`python -m tests.support.offline_page`) and tested. Each phrasing below is run over the
example shop by `tests/integration/test_jobs.py`; those of `tests/jobs/phrasings.txt` ({count} further ones:
paraphrases, typing mistakes, mixed languages, traditional characters, what must be refused) by
`tests/integration/test_offline_phrasings.py`.

## Jobs that it does

| job | tools | phrasings |
|---|---|---|
"""
_ASKS = """
*It answers with a question, since something has to be known first.

Follow-ups refer to what was just shown: "那件呢", "昨天呢", "what about last month?", "再加十箱", "导出来", "第二个".
A place in the question is a warehouse ("东门店 A4 纸库存", "in the East shop"). Sales, margins and rankings can be of
one customer, product, category or warehouse ("上个月可乐卖了多少", "sales to Xinyuan in Q3 2025"); the answer begins
with what it was narrowed to. Days are named as people do (上周五, 上半年, 9 月到 10 月, "since September", "end of the
month"); numbers may be words (三箱, 一百五十箱, "twenty-five cases"). Traditional characters are read as simplified
ones.

## Jobs that it leaves to a real model

"""


def page() -> str:
    """The page, from the words and the cases."""
    lines = (FOLDER / "phrasings.txt").read_text(encoding="utf-8").splitlines()
    count = sum(" => " in line for line in lines)
    rows = "".join(_rows())
    others = "".join(f"- {job.id} {job.title} ({job.tier})\n" for job in jobs() if not job.planner)
    return _HEAD.replace("{count}", str(count)) + rows + _ASKS + others


def _rows() -> list[str]:
    rows = []
    for job in jobs():
        if not job.planner:
            continue
        texts = [f"{text}{'*' if text in job.asks else ''}" for text in (*job.zh, *job.en)]
        tools = sorted({f"`{tool}`" for tool in _tools(job.id) or job.tools})
        rows.append(f"| {job.id} {job.title} | {', '.join(tools)} | {'<br>'.join(texts)} |\n")
    return rows


def _tools(job_id: str) -> set[str]:
    """The tools that the planner's own words name for a job."""
    return {call["tool"] for job in JOBS["job"] if job["id"] == job_id for call in job["calls"]}


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
