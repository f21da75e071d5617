"""Fail points: free when off, exact when on."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from agent_core import failpoint as core
from agent_core.failpoint import failpoint
from agent_core.testing import failpoints
from agent_core.testing.failpoints import SimulatedCrash, arm_from_environment, armed, name_of, parse
from tests.support.logs import recorded, said


def test_nothing_is_armed_by_itself() -> None:
    assert core.hook is None
    failpoint("before_effect", "x")


def test_a_place_that_is_off_costs_next_to_nothing() -> None:
    def loop(times: int) -> float:
        began = time.perf_counter()
        for _ in range(times):
            failpoint("stream", "x")
        return (time.perf_counter() - began) / times

    assert min(loop(20_000) for _ in range(5)) < 2e-6


def test_the_name_says_the_place_and_what_it_is_about() -> None:
    assert name_of("before_effect", "create_order") == "before_effect:create_order"
    assert name_of("stream", said("x")) == "stream:UserMessage"
    assert name_of("after_append", [said("x"), recorded([said("y")])[0]]) == "after_append:UserMessage+UserMessage"


def test_an_armed_place_raises_at_its_visit_and_only_then() -> None:
    with armed("stream:a", visit=2) as visited:
        failpoint("stream", "a")
        failpoint("stream", "b")
        with pytest.raises(SimulatedCrash, match="stream:a"):
            failpoint("stream", "a")
        failpoint("stream", "a")
    assert visited == ["stream:a", "stream:b", "stream:a", "stream:a"]
    assert core.hook is None


def test_an_armed_place_can_do_anything() -> None:
    done: list[int] = []
    with armed("stream:a", action=lambda: done.append(1)):
        failpoint("stream", "a")
    assert done == [1]


@pytest.mark.parametrize("value", ["", "x", "x=kill", "x@=kill", "@1=kill", "x@1=burn", "x@-1=kill", "x@1"])
def test_what_cannot_be_armed_is_refused(value: str) -> None:
    with pytest.raises(ValueError, match="PLACE@N=ACTION"):
        parse(value)


def test_places_are_armed_from_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert parse("after_append:A+B@3=kill") == ("after_append:A+B", 3, "kill")
    monkeypatch.delenv(failpoints.VARIABLE, raising=False)
    monkeypatch.delenv(failpoints.VISITS, raising=False)
    arm_from_environment()
    assert core.hook is None
    monkeypatch.setenv(failpoints.VARIABLE, "stream:a@1=raise")
    monkeypatch.setenv(failpoints.VISITS, str(tmp_path / "visits"))
    arm_from_environment()
    try:
        failpoint("stream", "b")
        with pytest.raises(SimulatedCrash):
            failpoint("stream", "a")
    finally:
        core.hook = None
    assert (tmp_path / "visits").read_text().splitlines() == ["stream:b", "stream:a"]
