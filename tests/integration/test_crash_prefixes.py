"""C1 to C3 of the fault catalogue for every point at which a log can end: whoever goes on completes the run, and each
effect is accounted for.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from agent_core import events as ev
from agent_core.redecide import read_log, redecide
from agent_core.store.base import EventStore
from agent_core.store.sqlite import SqliteStore
from agent_core.testing import MemoryStore, ScriptedModel
from tests.support.requests import check_requests, log_of
from tests.support.trade import QUESTION, Ledger, answer_of, drive, to_the_end, trader

_WRITES = ("order", "note")


async def _scripted_run() -> tuple[str, list[ev.Recorded], dict[str, bytes]]:
    """The whole log, with the decisions of a person in it, and its contents."""
    store, ledger = MemoryStore(), Ledger()
    loop = trader(store, ledger)
    session_id = (await drive(loop.run(QUESTION, client_message_id="m1", owner="boss")))[0].session_id
    await to_the_end(loop, session_id, ledger)
    assert sorted(name for _, name in ledger.effects) == ["note", "order"]
    return session_id, *(await read_log(store, session_id))


def _world(log: list[ev.Recorded], *, applied: bool) -> tuple[Ledger, set[str], set[str]]:
    """What the backends did before the crash, the calls that had ended, and those that had begun and not ended.
    ``applied``: a write that had begun took effect, though nothing of it was recorded."""
    ledger, ended, begun = Ledger(), set[str](), dict[str, tuple[str, str]]()
    for item in log:
        match item.event:
            case ev.ToolCallStarted() as started:
                begun[started.call_id] = (started.idempotency_key, started.tool)
            case ev.ToolCallFinished() as finished:
                ended.add(finished.call_id)
    for call_id, (key, name) in begun.items():
        if name in _WRITES and (call_id in ended or applied):
            ledger.effects.append((key, name))
    return ledger, ended, {name for call_id, (_, name) in begun.items() if call_id not in ended}


async def _go_on(
    store: EventStore, session_id: str, log: list[ev.Recorded], contents: dict[str, bytes], *, applied: bool
) -> tuple[str, str | None]:
    """Takes a log that was cut off up in another process; (what was seen, the answer)."""
    ledger, ended, open_calls = _world(log, applied=applied)
    head = len(log)
    events, at = [item.event for item in log], [item.at for item in log]
    await store.append(session_id, events, expected_seq=0, contents=contents, at=at)
    loop = trader(store, ledger)
    if not any(isinstance(event, ev.UserMessage) for event in events):
        await drive(loop.run(QUESTION, session_id, client_message_id="m1"))  # nobody heard of it, so it is sent again
    await to_the_end(loop, session_id, ledger)
    after = (await log_of(store, session_id))[head:]
    started = [item.event for item in after if isinstance(item.event, ev.ToolCallStarted)]
    uncertain = [
        item.event.tool
        for item in after
        if isinstance(item.event, ev.ToolCallFinished) and item.event.error and item.event.error.type == "uncertain"
    ]
    assert not ended & {event.call_id for event in started}, "finished calls do not run again"
    assert ledger.count("order") == 1, "exactly once, with keys"
    assert ledger.count("note") == 1, "once, and only a person had it sent again"
    assert uncertain == (["note"] if "note" in open_calls else []), "what nobody can know is said to be uncertain"
    assert [key for key, name in ledger.asked if name == "order"] == [
        event.idempotency_key for event in started if event.tool == "order"
    ]
    verified = await store.verify(session_id)
    assert verified.head == head + len(after)
    assert isinstance(loop.model, ScriptedModel)
    await check_requests(store, session_id, loop.model)
    whole, stored = await read_log(store, session_id)
    assert redecide(whole, stored) == [], "whatever was cut off, the decisions are those of this code"
    again = ",".join(f"{event.tool}#{event.attempt}" for event in started if event.attempt > 1) or "-"
    asked = sum(isinstance(item.event, ev.StepStarted) for item in after)
    answer = answer_of(await log_of(store, session_id))
    row = f"{len(after):>3} {asked:>2} {again:<18} {'yes' if uncertain else '-':<4}"
    return f"{row} {ledger.count('order')}/{ledger.count('note')}", answer


@pytest.mark.parametrize("applied", [True, False], ids=["applied", "not-applied"])
@pytest.mark.parametrize("kind", ["memory", "sqlite"])
async def test_a_run_that_is_cut_off_behind_any_of_its_events_completes_as_if_it_had_not_been(
    kind: str, applied: bool, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    session_id, log, contents = await _scripted_run()
    answer = answer_of(log)
    for length in range(1, len(log) + 1):
        store: EventStore = MemoryStore() if kind == "memory" else SqliteStore(tmp_path / f"{length}.db")
        try:
            row, answered = await _go_on(store, session_id, log[:length], contents, applied=applied)
        finally:
            await store.aclose()
        assert answered == answer
        name = type(log[length - 1].event).__name__
        record_property("crash", f"{kind:<7}{'applied' if applied else 'not applied':<12}{length:>3} {name:<18}{row}")
