"""What is in the next request is told layer by layer, and adds up."""

from __future__ import annotations

from typing import Any

from agent_core import events as ev
from agent_core.config import ContextPolicy
from agent_core.context.build import request_tokens
from agent_core.context.report import describe
from agent_core.state import State
from tests.support.logs import answer, begun, call, finished, folded, said

SYSTEM = "You are careful. " * 9


def _state() -> State:
    log: list[Any] = [*begun(), answer("first " * 90), said("two"), answer(None, call("c1")), finished("c1", "r" * 900)]
    log += [answer("fine"), said("three", context=(ev.Frozen("today", "x"), ev.Frozen("recalled", "event 4", (4,))))]
    log += [ev.ContextCompacted(kind="summarised", from_seq=3, to_seq=4, summary="They met.", pinned=("goal: stock",))]
    log += [ev.ContextCompacted(kind="masked", from_seq=5, to_seq=7)]
    log += [answer("x" * 9000), said("four"), ev.ContextCompacted(kind="clipped", from_seq=12, to_seq=12, keep=300)]
    return folded(*log)


def test_the_layers_are_told_in_order_and_add_up_to_the_estimate() -> None:
    state = _state()
    report = describe(state, ContextPolicy(), SYSTEM, 700)
    layers = [part.layer for part in report.parts]
    assert layers == ["system", "tools", "summary", "recent", "recalled", "recent", "recent"]
    assert report.tokens == request_tokens(state, SYSTEM, 700)
    assert abs(sum(part.tokens for part in report.parts) - report.tokens) <= 40
    summary = report.parts[2]
    assert (summary.last, summary.count, summary.text) == (4, 1, "They met.")
    assert report.pinned == ("goal: stock",)


def test_what_was_left_out_of_a_turn_is_counted() -> None:
    report = describe(_state(), ContextPolicy(), SYSTEM, 700)
    recent = [part for part in report.parts if part.layer == "recent"]
    assert [(part.masked, part.clipped) for part in recent] == [(1, 0), (0, 1), (0, 0)]
    assert [part.first for part in recent] == [5, 9, 13]
    assert [part.count for part in report.parts if part.layer == "recalled"] == [1]


def test_a_conversation_that_has_not_begun_has_no_turns() -> None:
    report = describe(State(), ContextPolicy(), "", 0)
    assert report.parts == []
    assert report.tokens == 0
