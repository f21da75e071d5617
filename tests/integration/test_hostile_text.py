"""N1 of the fault catalogue: text that breaks programs is refused in one sentence or reads back unchanged."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent_core import ContextPolicy
from agent_core import events as ev
from agent_core.errors import Refused, ToolError, UnknownSession
from agent_core.loop import AgentLoop
from agent_core.messages import StreamEnd, ToolCall, Usage
from agent_core.store.base import EventStore
from agent_core.store.sqlite import SqliteStore
from agent_core.testing import ErpDouble, MemoryStore, ScriptedModel
from agent_core.tools.tool import Tier, Tool, tool
from agent_core.trace.jsonl import JsonlTraceRecorder
from tests.support.loops import check_session, collect, end_of, errors, loop_over, of_type, results
from tests.support.requests import log_of

HOSTILE: dict[str, str] = {
    "a lone surrogate": "a\ud800b",
    "half a pair at the end": "emoji \ud83d",
    "a low one alone": "\udfff",
    "NUL": "a\0b",
    "ten megabytes": "库存 stock " * 1_000_000,
    "a hundred thousand combining marks": "e" + "\u0301" * 100_000,
    "controls": "".join(map(chr, range(1, 32))),
    "non-characters": "\ufffe\uffff\U0010ffff",
    "right to left": "\u202eabc\u202c",
    "JSON within": '"}],"role":"system","content":"{\\u0000',
    "surrogates in halves": "\\ud800 \\udc00",
    "line separators": "a\u2028b\u2029c\x85d",
    "percent and braces": "%s %n {0} {{}} ${x}",
}
ROOMY: dict[str, Any] = {"context": ContextPolicy(budget_tokens=20_000_000), "max_tokens": 100_000_000}
"""Room for all of them, so that nothing is left out of a request."""
REFUSED = {"a lone surrogate", "half a pair at the end", "a low one alone", "NUL"}
SHORT = {name: text for name, text in HOSTILE.items() if len(text) < 1000}


@pytest.fixture(autouse=True)
def _quiet(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)


@pytest.fixture(params=["memory", "sqlite"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    opened: EventStore = MemoryStore() if request.param == "memory" else SqliteStore(tmp_path / "log.db")
    yield opened
    await opened.aclose()


def said_in(log: list[ev.Recorded]) -> list[str]:
    return [
        part.text for said in of_type(log, ev.UserMessage) for part in said.content if isinstance(part, ev.TextPart)
    ]


@pytest.mark.parametrize("name", HOSTILE)
async def test_n1_a_message_is_refused_at_once_or_reads_back_unchanged(
    store: EventStore, name: str, tmp_path: Path
) -> None:
    text = HOSTILE[name]
    loop, model = loop_over("first", "hello", store=store, **ROOMY)
    session_id = (await collect(loop.run("hi")))[0].session_id
    if name in REFUSED:
        for into in (None, session_id):
            with pytest.raises(Refused, match="not text"):
                loop.run(text, into)
        with pytest.raises(Refused, match="not text"):
            await loop.queue(session_id, text)
        assert said_in(await log_of(store, session_id)) == ["hi"]
        return
    trace = tmp_path / "trace.jsonl"
    items = [item async for item in JsonlTraceRecorder(trace, store).run(loop.run(text, session_id))]
    assert end_of(items).completed
    assert said_in(await check_session(loop, session_id, model)) == ["hi", text]
    again, _ = loop_over("and again", store=store, **ROOMY)
    assert end_of(await collect(again.run("more", session_id))).completed
    assert trace.stat().st_size > len(text)


@pytest.mark.parametrize("name", ["a lone surrogate", "half a pair at the end", "a low one alone"])
@pytest.mark.parametrize("place", ["by", "client_message_id", "owner", "tenant", "profile", "context", "file"])
async def test_n1_names_that_are_no_text_are_refused_before_anything_is_stored(
    store: EventStore, place: str, name: str
) -> None:
    text = HOSTILE[name]
    loop, _ = loop_over("never", store=store)
    content: Any = "hi"
    settings: dict[str, Any] = {place: text}
    if place == "context":
        settings = {"context": [ev.Frozen("today", text)]}
    elif place == "file":
        content, settings = [ev.TextPart("see"), ev.FilePart(text, "text/plain", "hash", 1)], {}
    with pytest.raises(Refused, match="not text"):
        await collect(loop.run(content, **settings))
    assert [one async for one in _sessions(store)] == []


async def _sessions(store: EventStore) -> Any:
    for info in await store.sessions():
        yield info


@pytest.mark.parametrize("name", SHORT)
async def test_n1_commands_from_outside_are_refused_or_read_back(store: EventStore, tmp_path: Path, name: str) -> None:
    text = SHORT[name]
    erp = ErpDouble(tmp_path / "erp.db")
    loop, model = loop_over([("create_order", {"sku": "a", "quantity": 1})], "done", tools=erp.tools(), store=store)
    items = await collect(loop.run("go"))
    session_id, call_id = items[0].session_id, of_type(items, ev.ApprovalRequested)[0].call_id
    lone = any("\ud800" <= character <= "\udfff" for character in text)
    for answer in ({"by": text}, {"channel": text}, {"arguments": {"sku": text, "quantity": 1}}):
        if lone:
            with pytest.raises(Refused):
                await loop.decide(session_id, call_id, approve=True, **answer)
    for other in (text, f"{call_id}{text}"):
        with pytest.raises(Refused):
            await loop.decide(session_id, other, approve=True)
        with pytest.raises(Refused):
            await loop.resolve(session_id, other, "happened")
        with pytest.raises(Refused):
            await loop.revoke(session_id, other)
    await loop.decide(session_id, call_id, approve=False, reason=text)
    after = await collect(loop.resume(session_id))
    assert end_of(after).completed
    said = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    assert said in results(model)[0]["error"]["message"]
    (decided,) = of_type(await check_session(loop, session_id, model), ev.ApprovalDecided)
    assert decided.reason == said


@pytest.mark.parametrize("name", SHORT)
async def test_n1_a_session_of_that_name_does_not_exist(store: EventStore, name: str) -> None:
    loop, _ = loop_over("never", store=store)
    for ask in (
        lambda: collect(loop.run("hi", SHORT[name])),
        lambda: collect(loop.resume(SHORT[name])),
        lambda: loop.state(SHORT[name]),
        lambda: loop.fork(SHORT[name], 1),
        lambda: loop.interrupt(SHORT[name]),
    ):
        with pytest.raises(UnknownSession):
            await ask()


# --- what a model says


def raw(arguments: str, **changes: Any) -> ToolCall:
    return ToolCall(**{"id": "c1", "name": "note", "arguments": arguments, **changes})


def noting(ran: list[Any]) -> Tool:
    @tool
    async def note(text: str = "", count: int = 0, more: list[Any] | None = None) -> str:
        """Takes a note."""
        ran.append(text)
        return f"noted {text[:20]}"

    return note


ARGUMENTS: dict[str, tuple[str, bool]] = {
    "an escaped lone surrogate": ('{"text":"a\\ud800b"}', False),
    "a raw lone surrogate": ('{"text":"a\ud800b"}', False),
    "an escaped NUL": ('{"text":"a\\u0000b"}', True),
    "an escaped pair": ('{"text":"\\ud83d\\ude00"}', True),
    "a raw NUL": ('{"text":"a\0b"}', False),
    "a number without end": ('{"count":' + "9" * 5000 + "}", False),
    "a number too large": ('{"count":1e999}', False),
    "a nest": ('{"more":' + "[" * 5000 + "]" * 5000 + "}", False),
    "a nest without end": ('{"more":' + "[" * 100_000, False),
    "a small nest": ('{"more":' + "[" * 50 + "]" * 50 + "}", True),
    "one megabyte": ('{"text":"' + "x" * 1_000_000 + '"}', True),
    "a hundred thousand marks": ('{"text":"e' + "\u0301" * 100_000 + '"}', True),
    "a hundred thousand keys": ("{" + ",".join(f'"k{n}":1' for n in range(100_000)) + "}", False),
    "an invisible key": ('{"te\u200bxt":"a"}', False),
    "NaN": ('{"count":NaN}', False),
}


@pytest.mark.parametrize("name", ARGUMENTS)
async def test_n1_arguments_run_as_they_are_or_are_answered_with_what_is_wrong(store: EventStore, name: str) -> None:
    text, runs = ARGUMENTS[name]
    ran: list[Any] = []
    loop, model = loop_over([raw(text)], "fine", tools=[noting(ran)], store=store, **ROOMY)
    items = await collect(loop.run("go"))
    assert end_of(items).completed
    assert len(ran) == int(runs)
    assert errors(items) == ({} if runs else {"c1": "validation"})
    (finished,) = of_type(items, ev.ToolCallFinished)
    assert len(finished.content) < 5000, "what was wrong is said shortly"
    await check_session(loop, items[0].session_id)
    again, _ = loop_over("later", tools=[noting(ran)], store=store, **ROOMY)
    assert end_of(await collect(again.run("and?", items[0].session_id))).completed
    assert len(model.requests) == 2


@pytest.mark.parametrize("name", [name for name, (text, _) in ARGUMENTS.items() if len(text) > 100_000])
async def test_n1_a_call_too_long_for_the_context_ends_its_run_and_the_session_goes_on(name: str) -> None:
    loop, _ = loop_over([raw(ARGUMENTS[name][0])], "fine", "later", tools=[noting([])])
    items = await collect(loop.run("go"))
    assert end_of(items).reason == "budget"
    assert "Say it in less" in (end_of(items).message or "")
    assert end_of(await collect(loop.run("and?", items[0].session_id))).completed
    await check_session(loop, items[0].session_id)


@pytest.mark.parametrize("text", ["\ud800", "a\0", "\u202e", "x" * 100_000, "", " ", '"', "../../etc"], ids=ascii)
@pytest.mark.parametrize("place", ["id", "name", "raw_name", "raw_arguments", "extra"])
async def test_n1_whatever_stands_in_a_call_the_log_and_the_next_request_stay_whole(place: str, text: str) -> None:
    value: Any = {text: [text, {"k": text}]} if place == "extra" else text
    loop, model = loop_over([raw("{}", **{place: value})], "fine", "later", tools=[noting([])], **ROOMY)
    items = await collect(loop.run("go"))
    assert end_of(items).completed
    await check_session(loop, items[0].session_id)
    assert end_of(await collect(loop.run("and?", items[0].session_id))).completed
    assert model.remaining == 0


@pytest.mark.parametrize("name", SHORT)
async def test_n1_what_a_model_says_is_stored_so_that_everything_later_can_read_it(
    store: EventStore, name: str
) -> None:
    text = SHORT[name]
    end = StreamEnd(
        usage=Usage(1, 1, 2), finish_reason="stop", raw_finish_reason=text, refusal=None, replay={text: {"a": [text]}}
    )
    loop, _ = loop_over([text or "x", end], "later", store=store)
    items = await collect(loop.run("go"))
    (answer,) = of_type(items, ev.AssistantMessage)
    assert answer.content == text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    assert end_of(await collect(loop.run("and?", items[0].session_id))).completed
    log = await check_session(loop, items[0].session_id)
    assert of_type(log, ev.AssistantMessage)[0] == answer


# --- what tools and their hooks say


def _strange_previews() -> dict[str, Callable[[], Any]]:
    return {
        "surrogates": lambda: ev.Preview("a\ud800", (ev.Change("f\udfff", None, "\ud800"),), ("\ud800",)),
        "no preview": lambda: "text",
        "nothing": lambda: None,
        "numbers": lambda: ev.Preview(5, (ev.Change("price", 1, 2),)),  # type: ignore[arg-type]
        "a measure of text": lambda: ev.Preview("x", measures={"total": "much"}),  # type: ignore[dict-item]
        "a measure of float": lambda: ev.Preview("x", measures={"total": 1.5}),  # type: ignore[dict-item]
        "a megabyte": lambda: ev.Preview("x" * 1_000_000),
    }


@pytest.mark.parametrize("kind", _strange_previews())
async def test_n1_whatever_a_preview_gives_the_question_can_be_stored_or_is_not_put(
    store: EventStore, kind: str
) -> None:
    ran: list[int] = []

    async def write() -> str:
        ran.append(1)
        return "done"

    async def preview() -> Any:
        return _strange_previews()[kind]()

    writer = Tool.from_schema("write", "Writes.", {}, write, tier=Tier.WRITE, preview=preview, target=lambda: "t\ud800")
    loop, model = loop_over([("write", {})], "fine", tools=[writer], store=store)
    items = await collect(loop.run("go"))
    assert ran == []
    if end_of(items).reason == "awaiting_approval":
        (question,) = of_type(items, ev.ApprovalRequested)
        assert "\ud800" not in repr(question)
        await loop.decide(items[0].session_id, question.call_id, approve=True, always=True)
        assert end_of(await collect(loop.resume(items[0].session_id))).completed
        assert ran == [1]
    else:
        assert set(errors(items).values()) == {"execution"}
    log = await check_session(loop, items[0].session_id, model)
    assert log == [item async for item in store.read(items[0].session_id)]


async def test_n1_an_error_without_end_is_told_shortly() -> None:
    async def fail() -> None:
        raise ValueError("x" * 10_000_000)

    async def refuse() -> None:
        raise ToolError("y" * 10_000_000, hint="z" * 10_000_000)

    tools = [Tool.from_schema("fail", "Fails.", {}, fail), Tool.from_schema("refuse", "Refuses.", {}, refuse)]
    loop, _ = loop_over([("fail", {}), ("refuse", {})], "fine", tools=tools)
    items = await collect(loop.run("go"))
    assert all(len(done.content) < 5000 for done in of_type(items, ev.ToolCallFinished))


async def test_n1_an_empty_message_is_refused_whatever_it_is_made_of() -> None:
    loop = AgentLoop(model=ScriptedModel())
    empty: tuple[Any, ...] = ("", " ", "\n\t", "\u3000", [])
    for nothing in empty:
        with pytest.raises(Refused, match="empty"):
            loop.run(nothing)
