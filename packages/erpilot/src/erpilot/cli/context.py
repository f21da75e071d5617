"""What the next request of a session is made of: ``erpilot show S --context``, and ``/context`` and ``/compact`` in a
chat.

Invariant: read off the log alone; only ``/compact`` appends.
"""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING

from agent_core import events as ev
from agent_core.config import ContextPolicy
from agent_core.context.report import Part, describe
from agent_core.session import open_session

from .desk import Desk
from .gate import mark_line
from .problems import STORAGE, Problem

if TYPE_CHECKING:
    from agent_core.store.base import EventStore

    from .work import Bench

MOST_FACTS = 20


async def print_context(desk: Desk, store: EventStore, session_id: str) -> None:
    """Tells the layers of the next request with their tokens, what was left out, and why."""
    state, texts, say = (await open_session(store, session_id)).state, desk.texts, desk.terminal
    environment = None if state.run is None else state.run.environment
    policy, prompt, tool_tokens = ContextPolicy(), "", 0
    if environment is not None:
        contents = await store.contents(session_id, [environment.system])
        if environment.system not in contents:
            raise Problem(STORAGE, "content_missing")
        prompt = contents[environment.system].decode()
        policy, tool_tokens = environment.config.context, environment.tool_tokens
    report = describe(state, policy, prompt, tool_tokens)
    share = report.tokens / max(1, report.budget)
    say.line(
        texts("context_title", session=session_id, tokens=report.tokens, budget=report.budget, share=f"{share:.0%}")
    )
    rows = [
        [texts(f"layer_{part.layer}"), _events(part), str(part.tokens), _why(desk, part), mark_line(part.text)]
        for part in report.parts
    ]
    say.table([texts(f"head_{name}") for name in ("layer", "events", "tokens", "why", "begins")], rows)
    if report.limited:
        say.note(texts("context_limited", tokens=report.budget), "wait")
    for fact in report.pinned[:MOST_FACTS]:
        say.note(texts("context_pinned", fact=mark_line(fact)), "quiet")
    if len(report.pinned) > MOST_FACTS:
        say.note(texts("more_facts", count=len(report.pinned) - MOST_FACTS), "quiet")
    if report.doubts:
        say.note(texts("context_doubts", count=report.doubts), "wait")
    calibration = {} if state.run is None else state.run.calibration
    if state.run is not None:
        say.note(texts("context_measured" if calibration else "context_unmeasured", model=state.run.model), "quiet")
    if (error := await _error(store, session_id)) is not None:
        say.note(texts("context_error", estimated=error[0], reported=error[1], error=error_text(*error)), "quiet")


def error_text(estimated: int, reported: int) -> str:
    """By how much an estimate was off, in per cent of what was reported."""
    return f"{(estimated - reported) / max(1, reported):+.1%}"


async def compact(desk: Desk, bench: Bench, session_id: str) -> None:
    """Has all turns but the newest summed up, now, and says what came of it."""
    done = False
    async with aclosing(bench.loop.compact(session_id, by=desk.person)) as items:
        async for item in items:
            event = item.event
            if isinstance(event, ev.ContextCompacted):
                how = desk.texts.get(f"how_{event.kind}", event.kind)
                said = desk.texts("remark_ContextCompacted", how=how, from_=event.from_seq, to=event.to_seq)
                desk.terminal.note(said, "quiet")
                done = True
            elif isinstance(event, ev.SummaryFailed):
                why = mark_line(event.message)
                said = desk.texts("remark_SummaryFailed", why=why, from_=event.from_seq, to=event.to_seq)
                desk.terminal.note(said, "wait")
                done = True
    if not done:
        desk.terminal.note(desk.texts("nothing_to_compact"), "quiet")


def _events(part: Part) -> str:
    if part.layer == "summary":
        return f"≤ {part.last}"
    if not part.first:
        return ""
    return str(part.first) if part.last <= part.first else f"{part.first}-{part.last}"


def _why(desk: Desk, part: Part) -> str:
    texts = desk.texts
    if part.layer != "recent":
        return texts(f"why_{part.layer}", count=part.count)
    why = [texts("why_masked", count=part.masked)] if part.masked else []
    why += [texts("why_clipped", count=part.clipped)] if part.clipped else []
    return ", ".join(why) or texts("why_recent")


async def _error(store: EventStore, session_id: str) -> tuple[int, int] | None:
    """Estimated and reported tokens of the newest request whose usage was reported."""
    estimated, found = 0, None
    async for item in store.read(session_id):
        if isinstance(item.event, ev.StepStarted):
            estimated = item.event.estimated_tokens
        elif isinstance(item.event, ev.StepEnd) and item.event.usage and item.event.usage.prompt_tokens:
            found = (estimated, item.event.usage.prompt_tokens)
    return found
