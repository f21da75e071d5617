"""The jobs that a Tryton server does, on one, with the tools of the product: by a scripted model, and by the offline
planner where it claims them.

What Tryton cannot do it declares; a case whose tool needs that is answered so (``without`` in the case). A job that
reads is played once in each language, one of them by the planner; with ``--all-cases`` in both by both, and each
phrasing that the planner claims.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from agent_core.events import Frozen
from erpilot.offline import OfflineModel
from erpilot.shop.tryton.rpc import Rpc
from erpilot.shop.tryton.shop import TrytonShop
from erpilot.toolsets.shop import shop_tools
from erpilot.toolsets.shop_files import with_files
from tests.support.cli import erpilot
from tests.support.figures import figures_from_nowhere
from tests.support.jobs import (
    LANGUAGES,
    Job,
    Played,
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
from tests.support.tryton.people import password
from tests.support.tryton.server import TrytonServer

DONE = [job for job in jobs() if "tryton" in job.backends and job.tier == "READ"]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Which jobs in which language, and with which words."""
    every = metafunc.config.getoption("--all-cases")
    if "language" not in metafunc.fixturenames:
        return
    by_planner = "said" in metafunc.fixturenames
    cases, ids = list[tuple[object, ...]](), list[str]()
    for place, job in enumerate(DONE):
        if by_planner and not job.planner:
            continue
        # where the planner does not claim a job, the script does it in both languages
        once = LANGUAGES if not job.planner else (LANGUAGES[(place + by_planner) % 2],)
        for language in LANGUAGES if every else once:
            phrasings = job.phrasings(language) if every else job.phrasings(language)[:1]
            cases += [(job, language, said) for said in phrasings] if by_planner else [(job, language)]
            ids += [f"{job.id}-{said}" for said in phrasings] if by_planner else [f"{job.id}-{language}"]
    metafunc.parametrize(("job", "language", "said") if by_planner else ("job", "language"), cases, ids=ids)


@pytest.fixture
async def shop(tryton: TrytonServer) -> AsyncIterator[TrytonShop]:
    shop = TrytonShop(Rpc(tryton.url, tryton.database, "owner", password("owner")))
    await shop.connect()
    yield shop
    await shop.aclose()


async def test_a_job_that_reads_is_done_on_tryton_with_all_that_a_right_answer_holds(
    shop: TrytonShop, tmp_path: Path, job: Job, language: str, record_property: Any
) -> None:
    tools = with_files(shop_tools(shop), shop, tmp_path)
    names = world("tryton") | days(shop.now().date())
    played = await play(script(job, names, language), tools, job.phrasings(language)[0])
    assert (played.end, played.errors, played.asked) == ("completed", [], [])
    assert {name for name, _ in played.calls} == job.tools
    missing = missing_facts(job, played)
    assert [path for path in missing if not ("tryton" in job.sparse and ".*." in path)] == []
    assert figures_from_nowhere(played.answer, played.texts) == set()
    record_property("job", f"{job.id} tryton {language} scripted")


async def planned(shop: TrytonShop, folder: Path, said: str) -> Played:
    """What the offline planner makes of it, on the day of the shop."""
    day = shop.now().date()
    told = Frozen(kind="today", text=f"{day:%Y-%m-%d, %A}, Asia/Shanghai")
    tools = with_files(shop_tools(shop), shop, folder)
    played = await play(OfflineModel(), tools, said, agree=False, context=(told,))
    assert figures_from_nowhere(played.answer, [said, *played.texts]) == set()
    return played


async def test_the_offline_planner_does_the_jobs_that_it_claims_on_tryton(
    shop: TrytonShop, tmp_path: Path, job: Job, language: str, said: str, record_property: Any
) -> None:
    played = await planned(shop, tmp_path, said)
    assert (played.end, played.asked) == ("completed", [])
    assert played.errors == []
    assert played.calls or said in job.asks, "it is answered, or the person is asked what is missing"
    assert untold_facts(job, played) == []
    record_property("job", f"{job.id} tryton {language} planner")


@pytest.mark.parametrize(
    ("said", "answered"),
    [
        ("Q-1008 谁改的", "这家店的 ERP（tryton）不向我提供改动记录"),
        ("change history of SO-2026-0123", "does not offer the history of changes"),
        ("可乐批发价多少", "「批发价」现价"),
        ("wholesale price of 50 flasks", "Current prices, 批发价"),
        ("西门店的可乐", "没有「西门店」"),
        ("cancel order 123", "nothing was changed"),
    ],
)
async def test_what_is_asked_of_tryton_in_other_words_or_is_not_there_is_understood_or_said(
    shop: TrytonShop, tmp_path: Path, said: str, answered: str
) -> None:
    played = await planned(shop, tmp_path, said)
    assert played.end == "completed"
    assert played.asked == []
    assert answered in played.answer


async def test_a_quotation_by_the_planner_waits_for_a_person_on_tryton_too(shop: TrytonShop, tmp_path: Path) -> None:
    played = await planned(shop, tmp_path, "给鑫源做个报价单，保温杯 200 个")
    assert [asked.tool for asked in played.asked] == ["create_quotation"]
    assert played.errors == [("create_quotation", "denied")]
    assert "没有保存" in played.answer


@pytest.mark.parametrize(
    ("said", "tells"),
    [
        ("订单 123 里买了什么？现在还有货吗？报个价", "鑫源商行"),
        ("How much does Xinyuan owe, and since when?", "鑫源商行"),
    ],
)
def test_the_command_asks_tryton_when_the_settings_say_so(
    tryton: TrytonServer, tmp_path: Path, said: str, tells: str
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    where = f'url = "{tryton.url}"\ndatabase = "{tryton.database}"\nuser = "assistant"\n'
    (home / "config.toml").write_text(f'[shop]\nbackend = "tryton"\n{where}')
    ended = erpilot(home, "ask", said, settings={"ERPILOT_TRYTON_PASSWORD": password("assistant")})
    assert ended.code == 0, ended.err
    assert "鑫源商行" in ended.out


WRITTEN = [job for job in jobs() if "tryton" in job.backends and job.tier != "READ"]


@pytest.mark.parametrize("job", WRITTEN, ids=[job.id for job in WRITTEN])
async def test_a_write_of_the_sales_desk_is_shown_first_and_done_once_on_tryton(
    shop: TrytonShop, tmp_path: Path, job: Job, record_property: Any
) -> None:
    tools = with_files(shop_tools(shop), shop, tmp_path)
    names: dict[str, Any] = world("tryton") | days(shop.now().date())
    found = await ask_tool(tools, "find_customers", {"query": names["customer"]})
    names |= dict.fromkeys(("customer_id", "quotation_customer"), found["candidates"][0]["id"])
    refused = await play(script(job, names, "zh"), tools, job.zh[0], agree=False)
    assert {kind for _, kind in refused.errors} == {"denied"}
    played = await play(script(job, names, "en"), tools, job.en[0])
    assert (played.end, played.errors) == ("completed", [])
    assert {asked.tier for asked in played.asked} == {job.tier}
    assert missing_facts(job, played) == []
    for check in job.after:
        if check.backend in (None, "tryton"):
            known = names | played.results
            answer = await ask_tool(tools, check.tool, filled(check.arguments, known))
            assert values_at(answer, check.path) == [filled(check.value, known)], check
    record_property("job", f"{job.id} tryton zh refused")
    record_property("job", f"{job.id} tryton en agreed")


async def test_what_tryton_does_not_keep_is_said_by_name(shop: TrytonShop, tmp_path: Path) -> None:
    (job,) = (job for job in jobs() if job.id == "J34")
    assert "tryton" in job.without
    tools = with_files(shop_tools(shop), shop, tmp_path)
    played = await play(script(job, world("tryton") | days(shop.now().date()), "zh"), tools, job.zh[0])
    assert played.errors == [("get_history", "validation")]
    assert "'tryton' does not offer 'history'" in played.texts[-1]
