"""One log for each kind of story, together with every durable event: what the golden logs are made of.

``python -m tests.support.stories FOLDER`` writes them as a version's golden logs. Those of a released version are never
written again.
"""

from __future__ import annotations

import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec

from agent_core import events as ev
from agent_core.fold import fold
from agent_core.messages import ToolCall, Usage
from tests.support.logs import (
    CONTENTS,
    START,
    answer,
    asked,
    begun,
    call,
    decided,
    ended,
    finished,
    recorded,
    said,
    started,
    step_started,
)

_USAGE = Usage(120, 30, 150, cached_tokens=64, cache_write_tokens=8, reasoning_tokens=5)
_COST = ev.Cost(Decimal("0.0123"), "CNY")
_STEP_END = ev.StepEnd(step=1, outcome="message", usage=_USAGE, cost=_COST)


def _plain() -> list[Any]:
    first = msgspec.structs.replace(begun(calibration={"latin": 0.31, "wide": 0.9})[1])
    message = said(
        "订单 123 还有货吗？",
        client_message_id="m1",
        context=(ev.Frozen("today", "2026-11-30"), ev.Frozen("recalled", "earlier", (3, 4))),
    )
    photo = ev.UserMessage(content=(ev.TextPart("see"), ev.FilePart("a.png", "image/png", "hash", 512)), author="user")
    return [
        ev.SessionStarted(owner="boss", tenant="t", profile="shop", salt="salt"),
        first,
        message,
        step_started(1, 1, "m-system", "m-user"),
        answer(
            "有货。",
            reasoning="look",
            flags=("a_flag",),
            replay={"reasoning_details": [{"text": "…"}]},
            origin="endpoint#model",
            time_to_first_token=0.25,
            duration=1.5,
            raw_finish_reason="stop",
        ),
        _STEP_END,
        ev.AnswerChecked(
            answer_seq=5,
            figures=(ev.Figure("7", "c1", "on_hand", "read"), ev.Figure("12.50")),
            untraced=("99",),
        ),
        ended(usage=_USAGE, cost=_COST),
        begun(run_id="r2", base_seq=8)[1],
        photo,
        step_started(1, 1, "m-answer", "m-photo", base=4),
        answer(None, refusal="No.", finish_reason="content_filter"),
        ev.StepEnd(step=1, outcome="message"),
        ev.LoopEnd(run_id="r2", steps=1, completed=True, reason="completed"),
    ]


def _reads() -> list[Any]:
    repaired = ToolCall(
        id="c2",
        name="look_up",
        arguments='{"key":"b"}',
        raw_name="lookup",
        repaired=True,
        raw_arguments="{'key':'b'}",
        extra={"signature": "x"},
    )
    broken = ToolCall(id="c3", name="nothing", arguments="{}", known=False, error="truncated", raw_arguments="{")
    cut = ev.Truncation(9000, 4000, "whole-hash")
    return [
        *begun(),
        step_started(1, 1, "m-system", "m-user"),
        answer(None, call("c1"), repaired, broken, finish_reason="tool_calls"),
        _STEP_END,
        finished("c3", "{}", "nothing", index=2, error=ev.Fault("validation", "cut off", "again, complete"), digest=""),
        started("c1"),
        started("c2", index=1),
        finished("c2", "b is 7", index=1, duration=0.2, attempts=2, truncated=cut),
        finished("c1", "a is 5", attempts=1, artifacts=(ev.Artifact("a.csv", "text/csv", "file-hash", 10),)),
        step_started(2, 1, "m-calls", "m-r1", "m-r2", "m-r3", base=4),
        answer(None, call("c4"), call("c5"), step=2),
        ev.StepEnd(step=2, outcome="message"),
        finished("c4", "a is 5", cached=True),
        ev.GuardTripped(
            guard="repeated_call",
            action="answered",
            evidence={"call": "look_up:d1", "runs": 2, "refused": 1},
            call_ids=("c5",),
        ),
        finished("c5", "{}", index=1, error=ev.Fault("repeated_call", "again")),
        answer(None, call("c6"), step=3),
        ev.StepEnd(step=3, outcome="message"),
        ev.GuardTripped(guard="repeated_call", action="ended", evidence={"call": "look_up:d1"}, call_ids=("c6",)),
        finished("c6", "{}", error=ev.Fault("repeated_call", "and again")),
        ended("guard", message="The guard ended the run."),
    ]


def _troubles() -> list[Any]:
    return [
        *begun(),
        step_started(1, 1, "m-system", "m-user"),
        ev.ModelAttemptFailed(
            step=1,
            attempt=1,
            kind="overloaded",
            message="busy",
            wait=0.5,
            status=503,
            shown=True,
            retryable=True,
            retry_after=0.4,
        ),
        step_started(1, 2, base=4),
        ev.ModelAttemptFailed(step=1, attempt=2, kind="invalid_request", message="no", wait=0.0, remedy="drop_param"),
        step_started(1, 3, base=6),
        ev.ModelAttemptFailed(step=1, attempt=3, kind="auth", message="The key was refused.", wait=None),
        ev.StepEnd(step=1, outcome="failed"),
        ended("model_error", message="The key was refused."),
        begun(run_id="r2", base_seq=10)[1],
        step_started(1, 1, base=8),
        answer(None, flags=("empty_response",)),
        ev.StepEnd(step=1, outcome="message"),
        ev.GuardTripped(guard="empty_response", action="warned", evidence={"step": 1, "note": "[Answer.]"}),
        step_started(2, 1, "m-empty", "m-note", base=12),
        ev.RunInterrupted(by="user", where="the reader went away"),
        ev.StepEnd(step=2, outcome="interrupted"),
        ev.LoopEnd(run_id="r2", steps=1, completed=False, reason="interrupted"),
    ]


def _writes() -> list[Any]:
    preview = ev.Preview(
        "Change the price",
        (ev.Change("price", "10.00", "12.50", "product:1"),),
        ("a note",),
        "order:9",
        {"price": Decimal("12.50")},
    )
    offer = ev.Offer("always change for product:1", "product:1", {"same": {"key": "a"}, "max": {"price": "12.50"}}, 60)
    question = ev.ApprovalRequested(
        call_id="c1",
        index=0,
        tool="change",
        tier="WRITE",
        arguments='{"key":"a"}',
        digest="d1",
        preview=preview,
        target="product:1",
        versions={"product:1": "7"},
        deadline=START + 900,
        why="rule",
        offer=offer,
    )
    return [
        *begun(),
        answer(
            None, call("c1", "change", '{"key":"a"}'), call("c2", "drop"), call("c3", "change"), call("c4", "change")
        ),
        _STEP_END,
        question,
        asked("c2", "drop"),
        asked("c3", deadline=START + 5),
        asked("c4"),
        ended("awaiting_approval"),
        decided("c1", grant_id="g1", channel="cli"),
        ev.TrustGranted(
            grant_id="g1",
            tool="change",
            by="boss",
            target="product:1",
            limits={"same": {"key": "a"}},
            expires=START + 600,
            origin="c1",
        ),
        ev.TrustGranted(grant_id="g2", tool="drop", by="boss"),
        ev.TrustRevoked(grant_id="g2", by="boss", reason="a mistake"),
        decided("c2", "denied", reason="too much"),
        decided("c3", "expired"),
        decided("c4", arguments='{"key":"edited"}'),
        begun(run_id="r2", resumes="r1", base_seq=15)[1],
        finished("c2", "{}", "drop", index=1, error=ev.Fault("denied", "A person refused."), target="x"),
        finished("c3", "{}", "change", index=2, error=ev.Fault("expired", "too late"), digest=""),
        asked("c4"),
        decided("c4", "cancelled"),
        finished("c4", "{}", "change", index=3, error=ev.Fault("cancelled", "no"), digest=""),
        started("c1", "change"),
        msgspec.structs.replace(started("c1", "change", attempt=2), target="product:1"),
        finished("c1", "{}", "change", error=ev.Fault("uncertain", "it is not known"), attempts=2),
        ev.LoopEnd(run_id="r2", steps=1, completed=False, reason="awaiting_approval"),
        ev.OutcomeResolved(call_id="c1", outcome="send_again", by="boss"),
        begun(run_id="r3", resumes="r2", base_seq=27)[1],
        started("c1", "change", attempt=3),
        finished("c1", "{}", "change", error=ev.Fault("uncertain", "it is not known"), attempts=3),
        ev.OutcomeResolved(call_id="c1", outcome="happened", by="change", content="done", source="backend"),
        answer("Changed.", step=2),
        ev.StepEnd(step=2, outcome="message"),
        ev.LoopEnd(run_id="r3", steps=2, completed=True, reason="completed"),
    ]


def _long() -> list[Any]:
    return [
        *begun(),
        answer("x" * 900),
        ended(),
        said("two"),
        answer("second"),
        ended(),
        said("three"),
        ev.ContextCompacted(kind="clipped", from_seq=4, to_seq=7, keep=300),
        ev.ContextCompacted(kind="masked", from_seq=1, to_seq=5),
        ev.ContextCompacted(
            kind="summarised",
            from_seq=1,
            to_seq=5,
            summary="They asked about stock.",
            pinned=("goal: restock",),
            usage=_USAGE,
            cost=_COST,
            by="boss",
        ),
        answer("third"),
        ended(),
        said("four"),
        ev.SummaryFailed(
            from_seq=6, to_seq=8, kind="timeout", message="It took too long.", usage=_USAGE, cost=_COST, by="boss"
        ),
        ev.SummaryFailed(from_seq=6, to_seq=8, kind="unusable", message="The summary is empty."),
        ev.ContextCompacted(kind="dropped", from_seq=6, to_seq=8),
        answer("fourth"),
        ended(),
    ]


def _turns() -> list[Any]:
    queued = ev.MessageQueued(
        content=(ev.TextPart("and this"),), author="user", client_message_id="m9", context=(ev.Frozen("today", "x"),)
    )
    return [
        *begun(),
        answer(None, call("c1"), call("c2", "change"), call("c3", "change")),
        started("c1"),
        finished("c1", "7"),
        started("c2", "change", index=1),
        queued,
        ev.MessageQueued(content=(ev.TextPart("no id"),), author="user"),
        said("and this", client_message_id="m9"),
        answer("aside", step=2),
        ev.RolledBack(to_seq=6, by="boss", reason="wrong turn"),
        said("once more"),
        answer("better", step=1),
        ended(),
        ev.SessionLabelled(by="boss", title="the shelves", archived=True),
        ev.SessionStarted(owner="boss", parent=ev.Parent("elsewhere", 14), salt="other"),
        said("in the fork"),
        answer("yes"),
        ended(),
    ]


STORIES = {
    "plain": _plain,
    "reads": _reads,
    "troubles": _troubles,
    "writes": _writes,
    "long": _long,
    "turns": _turns,
}
"""Kinds of stories. In them the types of events are all there; what happens need not be wise."""


def lines(name: str) -> bytes:
    """A golden log: one ``Recorded`` a line."""
    return b"".join(msgspec.json.encode(item) + b"\n" for item in recorded(STORIES[name]()))


def write(folder: Path) -> None:
    """Writes the golden logs and the states they fold to."""
    folder.mkdir(parents=True)
    for name in STORIES:
        (folder / f"{name}.jsonl").write_bytes(lines(name))
        state = fold(recorded(STORIES[name]()), CONTENTS)
        (folder / f"{name}.state.json").write_bytes(msgspec.json.format(msgspec.json.encode(state)) + b"\n")
    contents = {key: value.decode() for key, value in CONTENTS.items()}
    (folder / "contents.json").write_bytes(msgspec.json.encode(contents) + b"\n")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
