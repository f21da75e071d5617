"""The pages that are generated from the cases and from the planner's words say what is so."""

from __future__ import annotations

from erpilot.offline.reading import WORDS
from erpilot.offline.wants import JOBS
from tests.support import job_table, offline_page
from tests.support.jobs import jobs


def test_the_page_of_jobs_is_that_of_the_cases() -> None:
    assert job_table.PAGE.read_text(encoding="utf-8") == job_table.page(), "python -m tests.support.job_table"


def test_all_forty_jobs_are_cases_in_both_languages() -> None:
    assert [job.id for job in jobs()] == [f"J{number:02}" for number in range(1, 41)]
    for job in jobs():
        assert len(job.zh) >= 2, job.id
        assert len(job.en) >= 2, job.id
        assert job.facts, job.id
        assert (job.tier == "READ") != bool(job.after), job.id


def test_the_table_at_the_end_of_a_run_names_every_job_once() -> None:
    lines = job_table.printed(["J01 embedded zh planner", "J01 embedded zh scripted", "J09 embedded zh+en refused"])
    assert len(lines) == 41
    assert "planner, scripted" in lines[1]
    assert lines[9].count("refused") == 2


def test_the_page_of_the_offline_planner_is_that_of_its_words_and_cases() -> None:
    assert offline_page.PAGE.read_text(encoding="utf-8") == offline_page.page(), "python -m tests.support.offline_page"


def test_the_planner_claims_only_what_the_cases_have_it_do() -> None:
    claimed = {job["id"] for job in JOBS["job"]} - {"export"}
    known = {job.id for job in jobs() if job.planner}
    assert claimed <= known
    by_other_words = {"J01", "J02", "J03", "J05", "J08", "J09"}
    assert known - claimed == by_other_words, "these are read by words.toml, and by the words of a quotation"
    assert not set(JOBS["say"]) & set(WORDS["say"])
    tags = {tag for job in JOBS["job"] for need in [*job["needs"], *job.get("may", ())] for tag in need.split("|")}
    assert tags <= {*JOBS["tags"], "number", "qty", "qty2", "price_word", "name"}
