"""Two sessions side by side."""

from __future__ import annotations

from decimal import Decimal

import pytest

from agent_core import events as ev
from agent_core.diff import Diff, Row, diff, diff_sessions
from agent_core.errors import UnknownSession
from agent_core.redecide import read_log
from agent_core.testing import MemoryStore
from tests.support.logs import CONTENTS, answer, begun, call, ended, finished, recorded, said, started
from tests.support.trade import QUESTION, Ledger, decide_open, drive, to_the_end, trader


async def _branches() -> tuple[MemoryStore, str, str, int]:
    """A whole session and a fork of it in which the order was refused."""
    store, ledger = MemoryStore(), Ledger()
    loop = trader(store, ledger)
    session_id = (await drive(loop.run(QUESTION)))[0].session_id
    at = (await store.session(session_id)).head
    child = await loop.fork(session_id, 3)
    await to_the_end(loop, session_id, ledger)
    other = trader(store, Ledger())
    await drive(other.resume(child))
    await decide_open(other, child, approve=False)
    await drive(other.resume(child))
    return store, session_id, child, at


def _types(rows: tuple[Row, ...]) -> list[tuple[str, str, bool]]:
    return [
        (
            type(row.a.event).__name__ if row.a else "-",
            type(row.b.event).__name__ if row.b else "-",
            row.same,
        )
        for row in rows
    ]


async def test_two_branches_part_at_the_event_of_the_fork_and_what_differs_is_told_side_by_side() -> None:
    store, session_id, child, _ = await _branches()
    found = await diff_sessions(store, session_id, child)
    assert found.common == 3
    assert (found.a.session_id, found.b.session_id) == (session_id, child)
    told = _types(found.rows)
    assert told[0] == ("AssistantMessage", "AssistantMessage", True)
    assert ("ApprovalDecided", "ApprovalDecided", False) in told
    assert [effect.tool for effect in found.only_in_a] == ["order", "note"]
    assert found.only_in_b == ()
    assert (found.only_in_a[0].outcome, found.only_in_a[0].arguments) == ("done", '{"quantity":3,"sku":"A"}')
    assert found.tokens == 110 * (found.b.steps - found.a.steps)
    assert found.costs == {"USD": Decimal("0.00014") * (found.b.steps - found.a.steps)}


async def test_the_other_way_round_everything_is_the_other_way_round() -> None:
    store, session_id, child, _ = await _branches()
    one, other = await diff_sessions(store, session_id, child), await diff_sessions(store, child, session_id)
    assert (other.common, other.a, other.b) == (one.common, one.b, one.a)
    assert other.tokens == -one.tokens
    assert other.only_in_b == one.only_in_a


async def test_a_session_does_not_differ_from_itself_and_a_beginning_lacks_the_rest() -> None:
    store, session_id, _, at = await _branches()
    same = await diff_sessions(store, session_id, session_id)
    assert (same.rows, same.tokens, same.costs) == ((), 0, {})
    log, contents = await read_log(store, session_id)
    shorter = diff(log[:at], log, contents)
    assert shorter.common == at
    assert shorter.a.effects == ()
    assert all(row.a is None for row in shorter.rows)


async def test_strangers_share_nothing_even_if_they_said_the_same() -> None:
    store, ledger = MemoryStore(), Ledger()
    loop = trader(store, ledger)
    one, two = [(await drive(loop.run("the same")))[0].session_id for _ in range(2)]
    found = await diff_sessions(store, one, two)
    assert found.common == 0
    assert _types(found.rows)[0] == ("UserMessage", "UserMessage", True)
    with pytest.raises(UnknownSession):
        await diff_sessions(store, one, "nobody")


def _of(*events: ev.DurableEvent) -> Diff:
    common = recorded(begun())
    return diff([*common, *recorded(events, first=4)], common, CONTENTS)


def test_a_write_of_unknown_outcome_counts_until_it_is_known_not_to_have_happened() -> None:
    doubt = finished(tool="change", error=ev.Fault("uncertain", "?"), attempts=1)
    asked: list[ev.DurableEvent] = [answer(None, call("c1", "change")), started(tool="change"), doubt]
    assert [effect.outcome for effect in _of(*asked).a.effects] == ["uncertain"]
    happened = ev.OutcomeResolved(call_id="c1", outcome="happened", by="boss")
    assert [effect.outcome for effect in _of(*asked, happened).a.effects] == ["done"]
    not_happened = ev.OutcomeResolved(call_id="c1", outcome="did_not_happen", by="boss")
    assert _of(*asked, not_happened).a.effects == ()


def test_reads_refused_calls_and_results_from_the_cache_are_no_effects() -> None:
    calls = answer(None, call("c1"), call("c2", "change"), call("c3", "change"))
    found = _of(
        calls,
        finished("c1", attempts=1),
        finished("c2", tool="change", index=1, error=ev.Fault("denied", "no")),
        finished("c3", tool="change", index=2, cached=True, attempts=1),
        said("more"),
        ended(),
    )
    assert found.a.effects == ()
    assert len(found.rows) == 6
