"""Today's decision code over recorded logs: nothing differs while the code is the same, and a change shows where it
would first have gone another way.
"""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec
import pytest

from agent_core import decide
from agent_core import events as ev
from agent_core.config import LoopConfig, Price, Rule
from agent_core.context.ladder import next_cut
from agent_core.errors import Refused
from agent_core.model import wire
from agent_core.permission import Verdict
from agent_core.redecide import Difference, accept, not_accepted, read_accepted, redecide
from agent_core.store.export import read_export
from agent_core.tools import admission
from agent_core.tools.faults import finished_with
from tests.support.decisions import STORIES, played

GOLDEN = sorted((Path(__file__).parents[1] / "golden" / "runs").glob("*/*.jsonl"))


@pytest.mark.parametrize("story", STORIES)
async def test_the_code_that_wrote_a_log_decides_the_same_again(story: str) -> None:
    items, contents = await played(story)
    assert redecide(items, contents) == []


@pytest.mark.parametrize("story", STORIES)
async def test_every_beginning_of_a_log_decides_the_same_again(story: str) -> None:
    items, contents = await played(story)
    forked = [place for place, item in enumerate(items, 1) if isinstance(item.event, ev.SessionStarted)]
    for length in range(forked[-1], len(items)):
        assert redecide(items[:length], contents, cut=True) == []


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_a_golden_run_is_decided_as_it_always_was(path: Path) -> None:
    export = read_export(path)
    told = redecide(export.recorded(), export.contents)
    assert [one for one in told if one.kind != "rendering"] == []


def test_each_story_is_a_golden_run() -> None:
    assert len(GOLDEN) >= len(STORIES)


async def test_what_is_read_from_a_store_is_enough_and_missing_contents_are_said() -> None:
    items, contents = await played("business")
    run = next(item.event for item in items if isinstance(item.event, ev.RunStarted))
    with pytest.raises(Refused, match="event 2"):
        redecide(items, {name: data for name, data in contents.items() if name != run.environment})


# --- a change in the code shows


def test_a_changed_guard_shows_on_the_golden_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    known = admission._refuse_repeat
    monkeypatch.setattr(admission, "_refuse_repeat", lambda run, *rest: known(_with(run, same_call_runs=1), *rest))
    changed = {}
    for path in GOLDEN:
        export = read_export(path)
        if told := [one for one in redecide(export.recorded(), export.contents) if one.kind != "rendering"]:
            changed[path.stem] = told[0]
    assert "a-repeat-that-ends-the-run" in changed
    first = changed["a-repeat-that-ends-the-run"]
    assert (first.recorded.split()[0], first.now.split()[0]) == ("ToolCallStarted", "GuardTripped")


def _first(differences: list[Difference]) -> Difference:
    assert differences, "the change was not noticed"
    return differences[0]


async def test_a_guard_that_counts_otherwise_shows_at_the_call_it_would_have_stopped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    items, contents = await played("a repeat that ends the run")
    known = admission._refuse_repeat
    monkeypatch.setattr(admission, "_refuse_repeat", lambda run, *rest: known(_with(run, same_call_runs=1), *rest))
    first = _first(redecide(items, contents))
    second = [item for item in items if isinstance(item.event, ev.ToolCallStarted)][1]
    assert (first.seq, first.kind) == (second.seq, "effect")
    assert first.recorded.startswith("ToolCallStarted")
    assert first.now.startswith("GuardTripped")
    assert "repeated_call" in first.now


def _with(run: Any, **limits: Any) -> Any:
    config = msgspec.structs.replace(run.environment.config, **limits)
    return msgspec.structs.replace(run, environment=msgspec.structs.replace(run.environment, config=config))


async def test_a_limit_that_is_compared_otherwise_shows_where_the_run_would_have_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    items, contents = await played("too many steps")
    known = decide._over_budget
    monkeypatch.setattr(decide, "_over_budget", lambda run, now: known(_with(run, max_steps=4), now))
    first = _first(redecide(items, contents))
    assert first.recorded.startswith("LoopEnd")
    assert '"max_steps"' in first.recorded
    assert first.now.startswith("StepStarted step=4")
    assert first.kind == "decision"


async def test_a_write_that_is_no_longer_asked_shows_as_an_effect(monkeypatch: pytest.MonkeyPatch) -> None:
    items, contents = await played("an approval days later")
    monkeypatch.setattr(admission, "standing", lambda *given, **named: Verdict("run"))
    first = _first(redecide(items, contents))
    asked = next(item for item in items if isinstance(item.event, ev.ApprovalRequested))
    assert (first.seq, first.kind) == (asked.seq, "effect")


async def test_a_compaction_that_comes_earlier_shows_at_the_request_before_which_it_comes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    items, contents = await played("clipped and dropped")

    def earlier(state: Any, policy: Any, *rest: Any) -> Any:
        return next_cut(state, msgspec.structs.replace(policy, budget_tokens=policy.budget_tokens // 2), *rest)

    monkeypatch.setattr("agent_core.decide.next_cut", earlier)
    first = _first(redecide(items, contents))
    assert first.kind == "decision"
    assert first.now.startswith("ContextCompacted")


async def test_a_retry_that_is_no_longer_made_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    items, contents = await played("failures and retries")
    monkeypatch.setattr("agent_core.redecide.check.delay", lambda *given, **named: None)
    first = _first(redecide(items, contents))
    assert (first.kind, first.now) == ("decision", "no further attempt")


async def test_a_key_that_is_made_otherwise_shows_as_an_effect(monkeypatch: pytest.MonkeyPatch) -> None:
    items, contents = await played("business")
    monkeypatch.setattr(admission, "idempotency_key", lambda session_id, call: f"{session_id}-{call.seq}")
    assert _first(redecide(items, contents)).kind == "effect"


async def test_other_bytes_of_a_request_are_told_as_rendering(monkeypatch: pytest.MonkeyPatch) -> None:
    items, contents = await played("business")
    known = wire.render_message
    monkeypatch.setattr(wire, "render_message", lambda *given: known(*given).replace(b"careful", b"CAREFUL"))
    differences = redecide(items, contents)
    assert {one.kind for one in differences} == {"rendering"}
    first = _first(differences)
    assert first.seq == 4
    assert "careful" in first.recorded
    assert "CAREFUL" in first.now


async def test_other_words_for_the_same_decision_are_told_as_rendering(monkeypatch: pytest.MonkeyPatch) -> None:
    items, contents = await played("limits of calls")

    def reworded(call: Any, fault: ev.Fault, **named: Any) -> ev.ToolCallFinished:
        return finished_with(call, msgspec.structs.replace(fault, message="No."), **named)

    monkeypatch.setattr("agent_core.tools.admission.finished_with", reworded)
    assert {one.kind for one in redecide(items, contents)} == {"rendering"}


# --- what if


async def test_another_permission_policy_shows_what_it_would_have_asked_and_denied() -> None:
    items, contents = await played("an approval days later")
    asking = LoopConfig(rules=(Rule(effect="ask", tool="look_up"),))
    asked = redecide(items, contents, config=asking)
    assert "look_up" in _first(asked).now
    assert "effect" in {one.kind for one in asked}, "the read would not have run unasked"
    denying = LoopConfig(rules=(Rule(effect="deny", tool="change"),))
    first = _first(redecide(items, contents, config=denying))
    assert first.recorded.startswith("ApprovalRequested")
    assert '"denied"' in first.now


async def test_another_limit_shows_where_it_would_have_ended_the_run() -> None:
    items, contents = await played("business")
    first = _first(redecide(items, contents, config=LoopConfig(max_steps=1)))
    assert first.now.startswith("LoopEnd")
    assert '"max_steps"' in first.now
    first = _first(redecide(items, contents, config=LoopConfig(max_steps=2)))
    assert first.now.startswith('GuardTripped guard="last_step"'), "told that it has one turn left"
    assert redecide(items, contents, config=LoopConfig(max_steps=9)) == []


async def test_another_price_shows_where_the_money_would_have_run_out() -> None:
    items, contents = await played("business")
    cheap = Price(input=Decimal(0), output=Decimal(0))
    assert redecide(items, contents, price=cheap) == []
    dear = Price(input=Decimal(9000), output=Decimal(9000))
    first = _first(redecide(items, contents, price=dear))
    assert '"budget"' in first.now


# --- reviewed differences


async def test_a_reviewed_difference_is_not_told_again_and_another_one_is(tmp_path: Path) -> None:
    items, contents = await played("business")
    differences = redecide(items, contents, config=LoopConfig(max_steps=2))
    path = tmp_path / "accepted.json"
    assert read_accepted(path) == []
    accept(path, differences[:1], by="boss", reason="wanted")
    accept(path, differences[:1], by="somebody else")
    (kept,) = read_accepted(path)
    assert (kept.by, kept.seq) == ("boss", differences[0].seq)
    assert not_accepted(differences, read_accepted(path)) == differences[1:]
    other = redecide(items, contents, config=LoopConfig(max_steps=1))
    assert not_accepted(other, read_accepted(path)) == other
    path.write_text("nonsense", "utf-8")
    with pytest.raises(Refused, match="cannot be read"):
        read_accepted(path)
