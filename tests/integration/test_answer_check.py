"""Tracing the figures of answers: when it is done, that it is done once, and that it is done the same again."""

from __future__ import annotations

import re
from typing import Any

import pytest

from agent_core import events as ev
from agent_core.answers import FAILED, Evidence, Findings
from agent_core.config import LoopConfig
from agent_core.loop import AgentLoop
from agent_core.redecide import read_log, redecide
from agent_core.store.memory import MemoryStore
from agent_core.testing import ScriptedModel
from agent_core.tools.tool import tool
from tests.support.loops import check_session, collect, end_of, of_type, types


class Digits:
    """Traces every run of digits to the first result that holds it."""

    name = "digits/1"

    def check(self, evidence: Evidence) -> Findings:
        figures, untraced = [], []
        for text in re.findall(r"\d+", evidence.answer):
            where = next((result.call_id for result in evidence.results if text in result.content), None)
            said = any(text in each for each in evidence.said)
            if where is None and not said:
                untraced.append(text)
            else:
                figures.append(ev.Figure(text, where, derivation="question" if where is None else None))
        return Findings(tuple(figures), tuple(untraced))


class Broken(Digits):
    name = "broken/1"

    def check(self, evidence: Evidence) -> Findings:
        raise RuntimeError("cannot count")


@tool
async def check_stock(sku: str) -> dict[str, Any]:
    """Stock of a product."""
    return {"sku": sku, "available": 485}


def answering(*turns: Any, store: MemoryStore | None = None, checker: Digits | None = None) -> AgentLoop:
    return AgentLoop(
        model=ScriptedModel(turns),
        tools=[check_stock],
        store=store or MemoryStore(),
        config=LoopConfig(system_prompt="You are careful."),
        answer_checker=checker or Digits(),
    )


async def test_the_figures_of_an_answer_are_recorded_right_behind_it_with_where_they_came_from() -> None:
    loop = answering(("check_stock", {"sku": "A4"}), "485 there, 12 wanted, 99 on the way")
    items = await collect(loop.run("Are 12 there?"))
    assert types(items)[-4:] == ["AssistantMessage", "StepEnd", "AnswerChecked", "LoopEnd"]
    (checked,) = of_type(items, ev.AnswerChecked)
    answer = next(item.seq for item in items if isinstance(item.event, ev.AssistantMessage) and item.event.content)
    assert checked.answer_seq == answer
    assert [(figure.text, figure.call_id is not None, figure.derivation) for figure in checked.figures] == [
        ("485", True, None),
        ("12", False, "question"),
    ]
    assert checked.untraced == ("99",)
    await check_session(loop, items[0].session_id)


async def test_an_answer_is_checked_when_a_crash_came_between_the_two() -> None:
    store = MemoryStore()
    loop = answering("485 there", store=store)
    items = await collect(loop.run("How many?"))
    log, contents = await read_log(store, items[0].session_id)
    kept = [item for item in log if not isinstance(item.event, ev.AnswerChecked | ev.LoopEnd)]
    crashed = MemoryStore()
    events, at = [item.event for item in kept], [item.at for item in kept]
    await crashed.append(items[0].session_id, events, expected_seq=0, contents=contents, at=at)
    again = answering(store=crashed)
    resumed = await collect(again.resume(items[0].session_id))
    assert types(resumed) == ["AnswerChecked", "LoopEnd"], "without asking the model again"
    assert of_type(resumed, ev.AnswerChecked) == of_type(items, ev.AnswerChecked)
    assert end_of(resumed).completed


async def test_an_answer_is_checked_once_and_a_finished_session_is_left_alone() -> None:
    store = MemoryStore()
    items = await collect(answering("485 there", store=store).run("How many?"))
    assert await collect(answering(store=store).resume(items[0].session_id)) == []
    more = await collect(answering("7 there", store=store).run("And now?", items[0].session_id))
    assert [one.untraced for one in of_type(more, ev.AnswerChecked)] == [("7",)]


async def test_without_a_checker_nothing_is_traced() -> None:
    loop = AgentLoop(model=ScriptedModel(["485 there"]))
    assert "AnswerChecked" not in types(await collect(loop.run("How many?")))


async def test_a_check_that_fails_holds_no_answer_back_and_vouches_for_nothing() -> None:
    items = await collect(answering("485 there", checker=Broken()).run("How many?"))
    assert of_type(items, ev.AnswerChecked)[0].untraced == (FAILED,)
    assert end_of(items).completed


async def test_a_check_is_decided_again_from_the_log() -> None:
    store = MemoryStore()
    loop = answering(("check_stock", {"sku": "A4"}), "485 or 99", store=store)
    session = (await collect(loop.run("How many?")))[0].session_id
    items, contents = await read_log(store, session)
    assert redecide(items, contents, checkers=[Digits()]) == []
    assert redecide(items, contents) == [], "what an unknown checker found is taken as it was recorded"


class Blind(Digits):
    def check(self, evidence: Evidence) -> Findings:
        return Findings()


@pytest.mark.parametrize("what", ["another finding", "no check at all"])
async def test_another_check_than_the_recorded_one_is_a_difference(what: str) -> None:
    store = MemoryStore()
    session = (await collect(answering("99 there", store=store).run("How many?")))[0].session_id
    items, contents = await read_log(store, session)
    if what == "another finding":
        told = redecide(items, contents, checkers=[Blind()])
    else:
        told = redecide([item for item in items if not isinstance(item.event, ev.AnswerChecked)], contents)
    assert [one.kind for one in told] == ["decision"]
