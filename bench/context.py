"""What the context of a long session costs: tokens sent, tokens that no cache of a provider spares, CPU to build a
request; against sending everything, and against keeping the newest messages.

Invariant: all ways are counted over the same session with the same tokeniser (see ``tests.support.long_session``).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Any

from agent_core import ContextPolicy
from agent_core import events as ev
from agent_core import step as stepping
from agent_core.context.build import build_context
from agent_core.requests import RequestBuilder
from bench.report import Line, mean
from tests.support.long_session import Cost, Played, cost, history, last_messages, play

CACHED = 0.1
"""What a cached token costs, in parts of another one: what most providers ask."""
RARELY, CONSTANT = 0.1, 1.5
"""Targets: requests behind a compaction, and the CPU of a late request against that of an early one."""


def context(*, quick: bool) -> tuple[list[Line], list[dict[str, Any]]]:
    """The lines of the report, and every single measurement."""
    return asyncio.run(_context(200 if quick else 1000))


async def _context(turns: int) -> tuple[list[Line], list[dict[str, Any]]]:
    lines: list[Line] = []
    raw: list[dict[str, Any]] = []
    for uniform in (False, True):
        played, seconds = await _timed(turns, uniform=uniform)
        some, most = _sums(played, turns, "sizes drawn evenly" if uniform else "sizes drawn by order of magnitude")
        lines += some
        raw += most
        if not uniform:
            early, late = _middle(seconds[60:140]), _middle(seconds[-80:])
            figure = f"{late * 1000:.2f} ms against {early * 1000:.2f} ms"
            lines.append(
                Line(f"CPU to build a request, turn {turns} against turn 50", figure, late / early, at_most=CONSTANT)
            )
            raw.append({"phase": "build", "early": seconds[60:140], "late": seconds[-80:]})
    return lines, raw


async def _timed(turns: int, *, uniform: bool) -> tuple[Played, list[float]]:
    """The session, and the CPU seconds of building each request, from the state to its bytes."""
    seconds: list[float] = []
    known, build = build_context, RequestBuilder.build
    stepping.build_context = _timing(known, seconds, begin=True)  # type: ignore[attr-defined]
    RequestBuilder.build = _timing(build, seconds, begin=False)  # type: ignore[method-assign]
    try:
        return await play(turns, ContextPolicy(), uniform=uniform), seconds
    finally:
        stepping.build_context = known  # type: ignore[attr-defined]
        RequestBuilder.build = build  # type: ignore[method-assign]


def _timing(function: Callable[..., Any], seconds: list[float], *, begin: bool) -> Callable[..., Any]:
    def timed(*given: Any, **named: Any) -> Any:
        started = time.thread_time()
        try:
            return function(*given, **named)
        finally:
            spent = time.thread_time() - started
            if begin:
                seconds.append(spent)
            else:
                seconds[-1] += spent

    return timed


def _sums(played: Played, turns: int, what: str) -> tuple[list[Line], list[dict[str, Any]]]:
    ways: list[tuple[str, Cost]] = [
        ("everything", cost(history(played))),
        ("the newest 20 messages", cost(last_messages(20)(played))),
        ("the newest 40 messages", cost(last_messages(40)(played))),
        ("ours", cost(iter(played.requests))),
    ]
    whole = _weighed(ways[0][1])
    lines = [
        Line(
            f"{turns} turns, {what}: {name}",
            f"{found.tokens / 1e6:,.2f} M tokens sent, {found.new / 1e6:,.2f} M of them new, at most {found.largest:,}",
            _weighed(found) / whole,
        )
        for name, found in ways
    ]
    behind, requests = len(played.compactions()), len(played.requests)
    figure = f"{behind} of {requests:,} requests"
    lines.append(Line(f"{turns} turns, {what}: behind a compaction", figure, behind / requests, at_most=RARELY))
    estimated = max(item.event.estimated_tokens for item in played.items if isinstance(item.event, ev.StepStarted))
    budget = ContextPolicy().budget_tokens
    lines.append(
        Line(f"{turns} turns, {what}: largest request", f"{estimated:,} of {budget:,}", estimated / budget, at_most=1.0)
    )
    raw = [{"phase": f"context, {what}", "way": name, **found._asdict()} for name, found in ways]
    return lines, [*raw, {"phase": f"context, {what}", "behind": behind, "requests": requests}]


def _weighed(found: Cost) -> float:
    """Tokens as they are paid for, with a provider that caches by prefix."""
    return found.new + CACHED * (found.tokens - found.new)


def _middle(values: Sequence[float]) -> float:
    """The mean of the middle half: other work on the machine only ever slows a request down."""
    ordered = sorted(values)
    return mean(ordered[len(ordered) // 4 : -len(ordered) // 4])
