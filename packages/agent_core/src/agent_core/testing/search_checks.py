"""What a store promises about finding: passages of one log, and sessions by their words. See ``conformance``.

Invariant: only the ``EventStore`` protocol is used.
"""

from __future__ import annotations

import os
import tempfile

from ..events import AnyEvent, AssistantMessage, Frozen, SessionStarted, TextPart, ToolCallFinished, UserMessage
from ..store.base import EventStore, Span
from ..store.export import export_session, import_session
from ..store.memory import MemoryStore
from .log_checks import begin, said

ALL: tuple[Span, ...] = ((1, 10_000),)

STATEMENTS = (
    "鑫源贸易的保温杯，答应他们单价 38.50 元，月底前有效",
    "We promised Blue Harbor a price of 1,250.00 USD for the packing machine",
    "李婷婷是宏达五金的新采购，电话里说周三来提货",
    "The return number is RT-2026-0457, for two boxes of A4 paper",
    "订单 1123 先不要发，等客户付款",
    "SKU KT-1042-B replaces KT-1041",
)
NOISE = tuple(f"第 {number} 号货架上的保鲜盒还有多少？ Stock of shelf {number}?" for number in range(1, 40))

QUESTIONS = {
    "上次答应鑫源的价是多少？": 0,
    "What price did I promise blue harbor?": 1,
    "宏达的采购叫什么": 2,
    "what was the number of that return": 3,
    "1123 那张单怎么处理": 4,
    "kt1042b": 5,
    "ＫＴ－１０４１": 5,
    "1250 dollars?": 1,
}


async def a_question_finds_what_answers_it_best(store: EventStore) -> None:
    """In Chinese and English, by names, amounts, codes and numbers of documents, whatever their case, width or form."""
    await begin(store, "s", *STATEMENTS, *NOISE)
    for question, expected in QUESTIONS.items():
        found = await store.recall("s", question, within=ALL, limit=5)
        assert found, question
        assert (found[0].seq, found[0].text) == (expected + 2, STATEMENTS[expected]), (question, found[0].text)
        assert (found[0].session_id, found[0].speaker, found[0].name) == ("s", "user", "user")
        assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    assert await store.recall("s", "?!……", within=ALL, limit=5) == []
    assert await store.recall("s", "zebra 斑马", within=ALL, limit=5) == []
    assert len(await store.recall("s", "shelf stock", within=ALL, limit=3)) == 3


async def what_was_said_at_the_time_that_is_meant_comes_first(store: EventStore) -> None:
    """Else the newer of two that answer alike, and the newest above all where it is asked for."""
    day = 86_400.0
    texts = ("鑫源的价 40 元，保温杯", "鑫源的价 39 元", "鑫源的价 38 元")
    at = [0.0, 10 * day, 20 * day, 30 * day]
    await store.append("s", [SessionStarted(), *map(said, texts)], expected_seq=0, at=at)
    for question, expected in (
        ("鑫源的价", 4),
        ("最近一次给鑫源的价", 4),
        ("10 天前给鑫源的价", 3),
        ("1月11日给鑫源的价", 2),
        ("the 鑫源 price of January 11th", 2),
        ("1999-01-01 给鑫源的价", 4),
    ):
        found = await store.recall("s", question, within=ALL, limit=3, now=30 * day + 3600)
        assert found[0].seq == expected, question
        assert len(found) == 3, "the others are found as well"
    assert (await store.recall("s", "10 天前给鑫源的价", within=ALL, limit=3))[0].seq == 4, "nobody says when now is"


async def only_the_events_that_are_searched_are_found(store: EventStore) -> None:
    """Spans that lie apart, reach beyond the log, or are none."""
    await begin(store, "s", *STATEMENTS)
    for within, expected in (
        (((2, 2),), [2]),
        (((3, 99),), []),
        (((1, 1), (2, 3), (5, 5)), [2]),
        ((), []),
    ):
        found = await store.recall("s", "鑫源的价", within=within, limit=5)
        assert [one.seq for one in found] == expected, within


async def what_a_fork_inherited_is_found_and_nothing_of_others(store: EventStore) -> None:
    """Up to the event it branched off at, under the fork's own name; never what its parent said later."""
    await begin(store, "s", "alpha one", "alpha two", "alpha three")
    child = await store.fork("s", 3)
    await store.append(child, [said("alpha four")], expected_seq=4)
    grandchild = await store.fork(child, 5)
    await begin(store, "other", "alpha five")
    found = await store.recall(grandchild, "alpha", within=ALL, limit=9)
    assert {(one.session_id, one.text) for one in found} == {
        (grandchild, "alpha one"),
        (grandchild, "alpha two"),
        (grandchild, "alpha four"),
    }
    assert {one.text for one in await store.recall("s", "alpha", within=ALL, limit=9)} == {
        "alpha one",
        "alpha two",
        "alpha three",
    }


async def all_stores_find_the_same(store: EventStore) -> None:
    """Passages, order and scores are those of the memory store, also where many are worth about the same."""
    other = MemoryStore()
    events: list[AnyEvent] = [SessionStarted(salt="s")]
    for number, text in enumerate((*STATEMENTS, *NOISE, *STATEMENTS)):
        rows = ", ".join(f'{{"sku": "KT-{number}-{row}", "price": "{row}.50", "note": "{text}"}}' for row in range(9))
        result = f'{{"as_of": "{number}", "lines": [{rows}]}}'
        events += [
            said(text),
            ToolCallFinished(call_id=f"c{number}", index=0, tool="find", ok=True, content=result),
            AssistantMessage(step=1, content=f"Answer {number}: {text}"),
        ]
    at = [float(number) for number in range(len(events))]
    for each in (store, other):
        await each.append("s", events, expected_seq=0, at=at)
        await each.fork("s", 90)
    within = ((1, 40), (60, 200))
    for question in (*QUESTIONS, "KT-12-3", "第 7 号货架", "最近一次答应的价", "price 4.50 note"):
        for least in (0.0, 2.0):
            found = await store.recall("s", question, within=within, limit=7, least=least)
            assert found == await other.recall("s", question, within=within, limit=7, least=least), question


async def what_was_appended_since_is_found(store: EventStore) -> None:
    """However often something was looked up before."""
    await begin(store, "s", "first")
    for number in range(2, 6):
        await store.append("s", [said(f"zebra{number}")], expected_seq=number)
        found = await store.recall("s", f"zebra{number}", within=ALL, limit=1)
        assert [one.seq for one in found] == [number + 1]


async def what_was_frozen_into_a_message_is_not_its_own(store: EventStore) -> None:
    """What was recalled once does not come back as something that was said."""
    await begin(store, "s", "zebra")
    recalled = UserMessage(
        content=(TextPart("horse"),), author="user", context=(Frozen(kind="recalled", text="zebra", sources=(2,)),)
    )
    await store.append("s", [recalled], expected_seq=2)
    assert [one.seq for one in await store.recall("s", "zebra", within=ALL, limit=5)] == [2]
    assert [one.seq for one in await store.recall("s", "horse", within=ALL, limit=5)] == [3]


async def an_erased_session_is_not_found(store: EventStore) -> None:
    """Nor is what was looked up in it before; the others are."""
    await begin(store, "s", "private zebra")
    await begin(store, "t", "public zebra")
    assert len(await store.search("zebra")) == 2
    await store.erase("s")
    assert [one.session_id for one in await store.search("zebra")] == ["t"]
    assert await store.recall("s", "zebra", within=ALL, limit=5) == []
    assert len(await store.recall("t", "zebra", within=ALL, limit=5)) == 1


async def a_masked_session_is_found_as_masked(store: EventStore) -> None:
    """What was masked cannot be asked for."""
    other = MemoryStore()
    await begin(other, "s", "Call Smith at 13800138000")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "session.jsonl")
        await export_session(other, "s", path, redact=True)
        await import_session(store, path)
    assert await store.search("13800138000") == []
    assert [one.text for one in await store.search("phone")] == ["Call Smith at [phone]"]


async def sessions_are_found_by_all_the_words(store: EventStore) -> None:
    """The session used last first, of one owner or of all; a fork belongs to whom its parent belongs to."""
    for place, (name, owner, text) in enumerate(
        (("a", "ann", "鑫源 保温杯 KT-1042-B"), ("b", "bob", "鑫源 杯子"), ("c", "ann", "保温杯 of KT-1042"))
    ):
        events: list[AnyEvent] = [SessionStarted(owner=owner), said(text)]
        await store.append(name, events, expected_seq=0, at=[place * 10.0, place * 10.0])
    child = await store.fork("a", 2)
    await store.append(child, [said("鑫源 again")], expected_seq=3, at=[100.0])

    async def found(text: str, owner: str | None = None, limit: int = 20) -> list[str]:
        return [one.session_id for one in await store.search(text, owner=owner, limit=limit)]

    assert await found("鑫源") == [child, "b", "a"]
    assert await found("鑫源", "ann") == [child, "a"]
    assert await found("鑫源", limit=1) == [child]
    assert await found("保温杯 kt-1042") == ["c", "a"]
    assert await found("KT-1042-B") == ["a"]
    assert await found("鑫源 茶杯") == []
    assert await found("...") == []
    assert [one.text for one in await store.search("杯子")] == ["鑫源 杯子"]
