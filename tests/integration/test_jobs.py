"""The jobs of a working day, each on the shop: by a scripted model, and by the offline planner where it claims them."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from agent_core.tools.tool import Tool
from erpilot.offline import OfflineModel
from erpilot.shop.embedded.shop import EmbeddedShop
from erpilot.shop.importing.applying import Options
from erpilot.shop.importing.keeping import ImportFolder
from erpilot.shop.seed.build import ensure_shop
from erpilot.toolsets.shop import shop_tools
from erpilot.toolsets.shop_files import with_files
from tests.support.figures import figures_from_nowhere
from tests.support.jobs import (
    LANGUAGES,
    Job,
    ask_tool,
    days,
    filled,
    jobs,
    missing_facts,
    play,
    script,
    untold_facts,
    values_at,
    world,
)

JOBS = jobs()
TODAY = date(2026, 11, 30)
"""The day that the example shop lives on."""
READS = [job for job in JOBS if job.tier == "READ"]
WRITES = [job for job in JOBS if job.tier != "READ"]
CLAIMED = [(job, lang, text) for job in JOBS if job.planner for lang in LANGUAGES for text in job.phrasings(lang)]
CLAIMED_READS = [case for case in CLAIMED if case[0].tier == "READ"]
CLAIMED_WRITES = [case for case in CLAIMED if case[0].tier != "READ"]


@pytest.fixture(scope="module")
def seeded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("jobs") / "shop.db"
    ensure_shop(path, None)
    return path


@pytest.fixture(scope="module")
def shop(seeded: Path) -> Iterator[EmbeddedShop]:
    shop = EmbeddedShop(seeded)
    yield shop
    shop.close()


@pytest.fixture(scope="module")
def tools(shop: EmbeddedShop, tmp_path_factory: pytest.TempPathFactory) -> list[Tool]:
    return with_files(shop_tools(shop), shop, tmp_path_factory.mktemp("files"))


@pytest.fixture(scope="module")
def written(seeded: Path) -> Iterator[Callable[[], int]]:
    """Changes whenever anything was written to the shop of the reads."""
    connection = sqlite3.connect(seeded)
    yield lambda: int(connection.execute("PRAGMA data_version").fetchone()[0])
    connection.close()


def handed_over(home: Path) -> str:
    """A count sheet, as a person gives it to the shop; its name."""
    sheet = home / "盘点表.csv"
    sheet.write_text("编码,仓库,实盘数量,单位\nOF-TAPE-45,东门店,77,卷\n", encoding="utf-8")
    ImportFolder(home / "imports").keep([sheet], Options())
    return sheet.name


@pytest.fixture
def path(seeded: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(seeded, tmp_path / "shop.db"))


@pytest.fixture
def fresh(path: Path) -> Iterator[EmbeddedShop]:
    shop = EmbeddedShop(path)
    yield shop
    shop.close()


def _names(cases: list[Any]) -> list[str]:
    return [f"{case.id}" if isinstance(case, Job) else f"{case[0].id}-{case[1]}-{case[2]}" for case in cases]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("job", READS, ids=_names(READS))
async def test_a_job_that_reads_finds_all_that_a_right_answer_holds_and_changes_nothing(
    tools: list[Tool], written: Callable[[], int], job: Job, language: str, record_property: Any
) -> None:
    before = written()
    model = script(job, world("embedded") | days(TODAY), language)
    played = await play(model, tools, job.phrasings(language)[0])
    assert (played.end, played.errors, played.asked) == ("completed", [], [])
    assert {name for name, _ in played.calls} == job.tools
    assert missing_facts(job, played) == []
    assert figures_from_nowhere(played.answer, played.texts) == set()
    assert written() == before
    record_property("job", f"{job.id} embedded {language} scripted")


@pytest.mark.parametrize("agree", [False, True], ids=["refused", "agreed"])
@pytest.mark.parametrize("job", WRITES, ids=_names(WRITES))
async def test_a_job_that_writes_is_shown_first_and_done_once_when_a_person_agrees(
    fresh: EmbeddedShop, path: Path, tmp_path: Path, job: Job, agree: bool, record_property: Any
) -> None:
    for language in LANGUAGES[: 2 if not agree else 1]:
        tools = with_files(shop_tools(fresh), fresh, tmp_path)
        names = world("embedded") | days(TODAY) | {"count_file": handed_over(tmp_path)}
        watch = sqlite3.connect(path)
        before = watch.execute("PRAGMA data_version").fetchone()
        played = await play(script(job, names, language), tools, job.phrasings(language)[0], agree=agree)
        after = watch.execute("PRAGMA data_version").fetchone()
        watch.close()
        assert played.end == "completed"
        assert {asked.tier for asked in played.asked} == {job.tier}
        assert all(asked.preview.changes for asked in played.asked)
        assert (after != before) is agree
        if not agree:
            assert {kind for _, kind in played.errors} == {"denied"}
            continue
        assert played.errors == []
        assert missing_facts(job, played) == []
        assert figures_from_nowhere(played.answer, played.texts) == set()
        for check in job.after:
            if check.backend in (None, "embedded"):
                known = names | played.results
                answer = await ask_tool(tools, check.tool, filled(check.arguments, known))
                assert values_at(answer, check.path) == [filled(check.value, known)], check
    record_property("job", f"{job.id} embedded {'zh+en' if not agree else 'zh'} {'agreed' if agree else 'refused'}")


@pytest.mark.parametrize(("job", "language", "text"), CLAIMED_READS, ids=_names(CLAIMED_READS))
async def test_the_offline_planner_does_the_jobs_that_it_claims(
    tools: list[Tool], written: Callable[[], int], job: Job, language: str, text: str, record_property: Any
) -> None:
    before = written()
    played = await play(OfflineModel(), tools, text)
    assert (played.end, played.asked) == ("completed", [])
    assert not [kind for _, kind in played.errors if kind != "validation"]
    assert figures_from_nowhere(played.answer, [text, *played.texts]) == set()
    assert untold_facts(job, played) == []
    assert played.calls or text in job.asks, "it is answered, or the person is asked what is missing"
    assert written() == before
    record_property("job", f"{job.id} embedded {language} planner")


@pytest.mark.parametrize(("job", "language", "text"), CLAIMED_WRITES, ids=_names(CLAIMED_WRITES))
async def test_the_one_thing_that_the_planner_writes_waits_for_a_person_or_for_what_is_missing(
    fresh: EmbeddedShop, job: Job, language: str, text: str, record_property: Any
) -> None:
    tools = shop_tools(fresh)
    refused = await play(OfflineModel(), tools, text, agree=False)
    assert [asked.tool for asked in refused.asked] == ([] if text in job.asks else ["create_quotation"])
    before = await ask_tool(tools, "find_orders", {"kind": "quotation"})
    made = await play(OfflineModel(), tools, text)
    after = await ask_tool(tools, "find_orders", {"kind": "quotation"})
    assert after["total_count"] - before["total_count"] == len(refused.asked)
    assert figures_from_nowhere(made.answer, [text, *made.texts]) == set()
    if text not in job.asks:
        assert made.results["create_quotation"]["number"] in made.answer
        assert made.results["create_quotation"]["total"] in made.answer
    record_property("job", f"{job.id} embedded {language} planner")
