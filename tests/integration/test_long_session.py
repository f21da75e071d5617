"""A session of a thousand turns, with results of 0.2 to 20 KB, on a fixed budget."""

from __future__ import annotations

import sys
from collections.abc import Callable
from statistics import mean
from typing import Any, TypeVar

import pytest

from agent_core import ContextPolicy
from agent_core import events as ev
from agent_core.context.build import build_context
from agent_core.requests import RequestBuilder
from tests.support.long_session import cost, history, last_messages, play
from tests.support.loops import of_type

T = TypeVar("T")
TURNS = 1000
POLICY = ContextPolicy(recall_top_k=0)  # what is recalled has tests of its own


def _counting(function: Callable[..., T], counts: list[int]) -> Callable[..., T]:
    """The function; each call appends how many calls of functions it took, which no slow machine changes."""

    def counted(*given: Any, **named: Any) -> T:
        count = 0

        def note(frame: Any, kind: str, about: Any) -> None:
            nonlocal count
            count += kind in ("call", "c_call")

        before = sys.getprofile()
        sys.setprofile(note)
        try:
            return function(*given, **named)
        finally:
            sys.setprofile(before)
            counts.append(count)

    return counted


@pytest.mark.slow
async def test_a_thousand_turns_stay_within_the_budget_at_a_cost_that_does_not_grow(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """That each request extends the one before is looked at for every test (``conftest``)."""
    building: list[int] = []
    rendering: list[int] = []
    monkeypatch.setattr("agent_core.step.build_context", _counting(build_context, building))
    monkeypatch.setattr(RequestBuilder, "_render_new", _counting(RequestBuilder._render_new, rendering))
    played = await play(TURNS, POLICY)
    sent = of_type(played.items, ev.StepStarted)
    assert len(sent) == len(played.requests) == 2 * TURNS
    assert all(end.completed for end in of_type(played.items, ev.LoopEnd))
    assert max(event.estimated_tokens for event in sent) <= POLICY.budget_tokens
    assert len(played.compactions()) <= len(sent) / 10
    assert {event.kind for event in of_type(played.items, ev.ContextCompacted)} == {"masked", "summarised"}
    for counts in (building, rendering):
        early, late = counts[2 * 20 : 2 * 80], counts[2 * (TURNS - 60) :]
        assert mean(late) <= 1.5 * mean(early)
        assert max(late) <= 1.5 * max(early)
    ours, whole, newest = (
        cost(iter(played.requests)),
        cost(history(played)),
        cost(last_messages(20)(played)),
    )
    assert ours.tokens < whole.tokens / 20
    assert ours.new < newest.new / 5, "what is not in the provider's cache"
    reported = [ended.usage.prompt_tokens or 0 for ended in of_type(played.items, ev.StepEnd) if ended.usage]
    errors = [one.estimated_tokens / other for one, other in zip(sent, reported, strict=True)]
    assert all(0.97 <= error <= 1.08 for error in errors[40:]), "estimates follow what is reported"


async def test_evenly_drawn_sizes_are_the_harder_case_and_hold_too() -> None:
    played = await play(150, POLICY, uniform=True)
    sent = of_type(played.items, ev.StepStarted)
    assert max(event.estimated_tokens for event in sent) <= POLICY.budget_tokens
    assert len(played.compactions()) <= len(sent) / 10
