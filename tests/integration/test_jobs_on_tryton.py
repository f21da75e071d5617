"""The jobs that a Tryton server does, on one: by a scripted model in both languages, with the tools of the product.

What Tryton cannot do it declares; a case whose tool needs that is answered so (``without`` in the case).
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from erpilot.shop.tryton.rpc import Rpc
from erpilot.shop.tryton.shop import TrytonShop
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
    values_at,
    world,
)
from tests.support.tryton.people import password
from tests.support.tryton.server import TrytonServer

DONE = [job for job in jobs() if "tryton" in job.backends and job.tier == "READ"]


@pytest.fixture
async def shop(tryton: TrytonServer) -> AsyncIterator[TrytonShop]:
    shop = TrytonShop(Rpc(tryton.url, tryton.database, "owner", password("owner")))
    await shop.connect()
    yield shop
    await shop.aclose()


@pytest.mark.parametrize("job", DONE, ids=[job.id for job in DONE])
async def test_a_job_that_reads_is_done_on_tryton_with_all_that_a_right_answer_holds(
    shop: TrytonShop, tmp_path: Path, job: Job, record_property: Any
) -> None:
    tools = with_files(shop_tools(shop), shop, tmp_path)
    names = world("tryton") | days(shop.now().date())
    for language in LANGUAGES:
        played = await play(script(job, names, language), tools, job.phrasings(language)[0])
        assert (played.end, played.errors, played.asked) == ("completed", [], [])
        assert {name for name, _ in played.calls} == job.tools
        missing = missing_facts(job, played)
        assert [path for path in missing if not ("tryton" in job.sparse and ".*." in path)] == []
        assert figures_from_nowhere(played.answer, played.texts) == set()
    record_property("job", f"{job.id} tryton zh+en scripted")


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
