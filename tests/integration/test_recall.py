"""What was said earlier comes back with the question that it answers, or by the tool; what must not come back stays."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_core import AgentLoop, ContextPolicy, LoopConfig, SqliteStore, tool
from agent_core import events as ev
from agent_core.errors import StoreError
from agent_core.redecide import read_log, redecide
from agent_core.store.base import EventStore
from agent_core.testing import MemoryStore, ScriptedModel
from agent_core.tools.recall import RECALL
from tests.support.loops import check_session, collect, loop_over, of_type

PROMISE = "答应鑫源商行的保温杯单价 38.50 元"
QUESTION = "上次答应鑫源的价是多少？"
SMALL = ContextPolicy(budget_tokens=1500)
WORDS = "word " * 100
ALL = ((1, 10_000),)


async def say(loop: AgentLoop, text: str, session_id: str | None = None, **more: Any) -> tuple[str, ev.UserMessage]:
    """Says something; the session, and the message as it was recorded."""
    items = await collect(loop.run(text, session_id, **more))
    return items[0].session_id, of_type(items, ev.UserMessage)[-1]


def recalled(message: ev.UserMessage) -> list[str]:
    return [one.text.rpartition("user: ")[2] for one in message.context if one.kind == "recalled"]


async def long_ago(loop: AgentLoop, text: str = PROMISE, turns: int = 12) -> str:
    """A session in which ``text`` was said and no longer reaches the model."""
    session_id, _ = await say(loop, text)
    for number in range(turns):
        await say(loop, f"number {number}", session_id)
    assert text not in "".join(one.message.content or "" for one in (await loop.state(session_id)).entries)
    return session_id


def talkative(*more: Any, turns: int = 13, **settings: Any) -> tuple[AgentLoop, ScriptedModel]:
    """A model that says much, then ``more``."""
    return loop_over(*[f"{number} {WORDS}" for number in range(turns)], *more, context=SMALL, **settings)


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> EventStore:
    return MemoryStore() if request.param == "memory" else SqliteStore(tmp_path / "log.db")


async def test_a_question_brings_back_what_answers_it_frozen_into_the_message(store: EventStore) -> None:
    loop, model = talkative("38.50", "again", store=store)
    session_id = await long_ago(loop)
    today = ev.Frozen("today", "2026-11-30")
    _, asked = await say(loop, QUESTION, session_id, context=(today,))
    assert asked.context[0] == today
    assert recalled(asked) == [PROMISE]
    assert asked.context[1].sources == (3,)
    (sent,) = [m.content for m in model.requests[-1].messages if m.role == "user" and QUESTION in (m.content or "")]
    assert sent is not None
    assert "\n[recalled: event 3, " in sent
    _, again = await say(loop, "鑫源的价含税吗？", session_id)
    assert recalled(again) == [], "what stands above is not brought back twice"
    await check_session(loop, session_id, model)
    items, contents = await read_log(store, session_id)
    assert redecide(items, contents) == []
    await store.aclose()


async def test_nothing_is_looked_up_while_everything_reaches_the_model(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "log.db")
    loop, _ = loop_over("a", "b", store=store)
    session_id, _ = await say(loop, PROMISE)
    _, asked = await say(loop, QUESTION, session_id)
    assert recalled(asked) == []
    await store.aclose()
    with closing(sqlite3.connect(tmp_path / "log.db")) as db:
        assert db.execute("SELECT count(*) FROM indexed").fetchone() == (0,), "appending pays nothing for the index"


async def test_what_this_very_message_pushes_out_comes_back_with_it() -> None:
    loop, model = talkative("38.50", turns=20)
    session_id, _ = await say(loop, PROMISE)
    for number in range(20):
        state = await loop.state(session_id)
        if state.dropped:
            break
        fork = await loop.fork(session_id, state.seq)
        await say(loop, f"{QUESTION} {'please ' * number * 20}", fork)
        texts = "".join(message.content or "" for message in model.requests[-1].messages)
        assert PROMISE in texts, "it stands there still, or came back"
        await say(loop, f"number {number}", session_id)
    assert (await loop.state(session_id)).dropped
    assert number > 2


async def test_results_that_were_left_out_come_back_record_by_record() -> None:
    @tool
    async def look() -> dict[str, Any]:
        """Looks."""
        rows = [{"sku": f"KT-{n}", "name": f"杯子{n}", "price": f"{n}.50"} for n in range(30)]
        return {"as_of": "now", "lines": rows}

    loop, model = loop_over(
        [("look", {})], "done", *[WORDS] * 6, "17.50", tools=[look], context=ContextPolicy(budget_tokens=1300)
    )
    session_id, _ = await say(loop, "what is there?")
    for number in range(6):
        await say(loop, f"number {number}", session_id)
    log = [item async for item in loop.store.read(session_id)]
    assert [event.kind for event in of_type(log, ev.ContextCompacted)] == ["masked"]
    _, asked = await say(loop, "price of KT-17?", session_id)
    (found,) = [one for one in asked.context if "result of look" in one.text]
    assert "sku: KT-17; name: 杯子17; price: 17.50" in found.text
    assert len(found.text) < 450
    await check_session(loop, session_id, model)


async def test_what_was_taken_back_does_not_come_back() -> None:
    loop, _ = talkative("ok", "fine", turns=14)
    session_id, _ = await say(loop, "begin")
    before = (await loop.state(session_id)).seq
    await say(loop, PROMISE, session_id)
    await loop.rollback(session_id, before)
    for number in range(12):
        await say(loop, f"number {number}", session_id)
    assert (await loop.state(session_id)).dropped
    _, asked = await say(loop, QUESTION, session_id)
    assert recalled(asked) == []


async def test_a_fork_recalls_what_it_inherited_and_nothing_that_was_said_later_elsewhere() -> None:
    loop, _ = talkative("a", "b", "c")
    session_id = await long_ago(loop)
    fork = await loop.fork(session_id, (await loop.state(session_id)).seq)
    await say(loop, "答应鑫源的是 12 元", session_id)
    _, asked = await say(loop, QUESTION, fork)
    assert recalled(asked) == [PROMISE]


async def test_a_message_that_waited_is_recalled_for_when_it_is_said() -> None:
    queued: list[Callable[[], Any]] = []

    @tool
    async def wait() -> str:
        """Waits."""
        await queued.pop()()
        return "waited"

    loop, _ = talkative([("wait", {})], "done", "38.50", tools=[wait])
    session_id = await long_ago(loop)
    queued.append(lambda: loop.queue(session_id, QUESTION))
    items = await collect(loop.run("wait a moment", session_id))
    messages = of_type(items, ev.UserMessage)
    assert [recalled(message) for message in messages] == [[], [PROMISE]]


async def test_a_secret_that_became_known_later_is_not_brought_back() -> None:
    store = MemoryStore()
    loop, _ = talkative(store=store)
    session_id = await long_ago(loop, "the vault code of warehouse B is sesame-7788")
    later = AgentLoop(
        model=ScriptedModel(["ok"]), store=store, config=LoopConfig(context=SMALL), secrets=["sesame-7788"]
    )
    _, asked = await say(later, "what is the vault code?", session_id)
    assert recalled(asked) == ["the vault code of warehouse B is [secret]"]


async def test_a_store_that_finds_nothing_for_its_trouble_costs_the_fragments_and_not_the_message() -> None:
    class Broken(MemoryStore):
        async def recall(self, *args: Any, **more: Any) -> Any:
            raise StoreError("The index is gone.")

    loop, _ = talkative("fine", store=Broken())
    session_id = await long_ago(loop)
    _, asked = await say(loop, QUESTION, session_id)
    assert recalled(asked) == []
    assert (await loop.state(session_id)).entries[-1].message.content == "fine"


# --- the tool


async def test_the_tool_finds_what_was_said_in_its_own_session_only(store: EventStore) -> None:
    loop = AgentLoop(
        model=ScriptedModel(
            ["ok", "ok", [("recall", {"query": "鑫源 价"})], "a", [("recall", {"query": "鑫源 价"})], "b"]
        ),
        tools=[RECALL],
        store=store,
    )
    first, _ = await say(loop, PROMISE, owner="ann")
    second, _ = await say(loop, "答应鑫源的是 12 元", owner="ann")
    found = {}
    for session_id in (first, second):
        items = await collect(loop.run("what did I promise?", session_id))
        (done,) = of_type(items, ev.ToolCallFinished)
        assert not done.cached, "what was found in one session of a person is not served in another"
        found[session_id] = done.content
    assert PROMISE in found[first]
    assert "12 元" not in found[first]
    assert "12 元" in found[second]
    assert '"event":3' in found[first]
    await store.aclose()


async def test_the_tool_says_what_it_cannot_find_or_was_not_asked() -> None:
    loop, _ = loop_over([("recall", {"query": "zebra"}), ("recall", {"query": " "})], "ok", tools=[RECALL])
    items = await collect(loop.run("look it up"))
    by_index = {done.index: done for done in of_type(items, ev.ToolCallFinished)}
    assert '"found":[]' in by_index[0].content
    assert "another tool" in by_index[0].content, "it says where else to look, and does not ask for more of the same"
    assert "other words" not in by_index[0].content
    assert by_index[1].error is not None
    assert by_index[1].error.type == "validation"


# --- the index


async def test_the_index_can_be_emptied_damaged_or_dropped_and_comes_back_by_itself(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    store = SqliteStore(path)
    loop, _ = talkative(store=store)
    session_id = await long_ago(loop)
    before = await store.recall(session_id, QUESTION, within=ALL, limit=5)
    assert before
    for harm in (
        "DELETE FROM indexed",
        "UPDATE indexed SET upto = 999 WHERE session = 0",
        "DROP TABLE words",
        "UPDATE words_data SET block = x'00'",
        "INSERT INTO words (words) VALUES ('delete-all')",
    ):
        await store.aclose()
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            db.execute(harm)
        assert await store.recall(session_id, QUESTION, within=ALL, limit=5) == before, harm
        assert [one.session_id for one in await store.search("鑫源商行")] == [session_id], harm
    await store.verify(session_id)
    await store.aclose()


async def test_nothing_of_an_erased_session_is_left_in_the_index(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    store = SqliteStore(path)
    loop, _ = loop_over("noted", "noted", store=store)
    session_id, _ = await say(loop, "zebracorn 鑫源斑马")
    other, _ = await say(loop, "giraffe")
    assert len(await store.search("zebracorn")) == 1
    await store.erase(session_id)
    await store.aclose()
    data = b"".join(file.read_bytes() for file in tmp_path.iterdir())  # noqa: ASYNC240
    assert b"zebracorn" not in data
    assert "斑马".encode() not in data
    assert b"giraffe" in data
    assert [one.session_id for one in await store.search("giraffe")] == [other]
    await store.aclose()


async def test_two_programs_use_one_index(tmp_path: Path) -> None:
    stores = [SqliteStore(tmp_path / "log.db") for _ in range(2)]
    loop, _ = loop_over(*["ok"] * 6, store=stores[0])
    session_id = None
    for number in range(6):
        session_id, _ = await say(loop, f"zebra{number}", session_id)
        for store in stores:
            found = await store.recall(session_id, f"zebra{number}", within=ALL, limit=3)
            assert [one.text for one in found] == [f"zebra{number}"]
    for store in stores:
        await store.aclose()


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[MemoryStore, Path]:
    return MemoryStore(), tmp_path_factory.mktemp("both") / "log.db"


SAID = [PROMISE, "NEAR(a b) AND NOT * ^x \"quoted\" 'single' col:word -minus", "SO-2026-0123 (x) 1,200.50", "zebra\0x"]


@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(
    st.lists(st.sampled_from([*SAID, '"', "*", "(", "OR", "NOT 鑫源", "col:", "^"]) | st.text(max_size=20), max_size=4)
)
async def test_whatever_is_asked_is_looked_up_alike_and_never_taken_for_a_query_language(
    both: tuple[MemoryStore, Path], parts: list[str]
) -> None:
    memory, path = both
    store = SqliteStore(path)
    events: list[ev.AnyEvent] = [
        ev.SessionStarted(),
        *(ev.UserMessage(content=(ev.TextPart(one),), author="u") for one in SAID),
    ]
    at = [float(number) for number in range(len(events))]
    for each in (memory, store):
        if not any(info.session_id == "s" for info in await each.sessions()):
            await each.append("s", events, expected_seq=0, at=at)
    text = " ".join(parts)
    found = await store.recall("s", text, within=ALL, limit=5)
    assert found == await memory.recall("s", text, within=ALL, limit=5)
    assert await store.search(text) == await memory.search(text)
    await store.aclose()
