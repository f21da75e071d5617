"""Sessions as files: what is masked, what stays, and that a file is worth as much as a store."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings

from agent_core import AgentLoop, LoopConfig, MemoryStore, StoreError, tool
from agent_core import events as ev
from agent_core.codec import decode, encode, type_name
from agent_core.errors import Conflict
from agent_core.session import open_session
from agent_core.store.export import export_session, import_session, read_export
from agent_core.store.redaction import Redactor
from agent_core.testing import ScriptedModel
from agent_core.testing.log_checks import begin, said
from agent_core.trace.builder import TranscriptBuilder, transcript_of_log
from tests.support.generated import durable_events
from tests.support.requests import rebuilt

CUSTOMER = {
    "customer": {"name": "李四光", "phone": "0571-88888888", "address": "西湖区文三路 5 号"},
    "contact_name": "Jane Roe",
    "email": "jane.roe@example.com",
    "mobile": 13912345678,
    "sku": "PA4-70",
    "total": "1234.50",
    "note": "李四光先生说下午送，卡号 6222 0200 0000 0000 000 不对，身份证 110101199003074258",
}
PERSONAL = (
    *("王小明", "李四光", "Jane Roe", "jane.roe", "文三路", "221 Baker"),
    *("13800138000", "88888888", "13912345678", "110101199003074258", "555-867-5309"),
)


@tool()
def find_customer(name: str) -> dict[str, Any]:
    """Finds a customer."""
    return CUSTOMER


async def personal_session(store: MemoryStore) -> str:
    """A session that is full of people."""
    turns: list[Any] = [
        ["我来查李四光。", ("find_customer", {"name": "李四光"})],
        "李四光（Jane Roe，jane.roe@example.com，１３９１２３４５６７８）住在浙江省杭州市西湖区文三路 5 号 2 幢。",
        "Call 555-867-5309 or write to 221 Baker Street. 订单 123 共 1234.50 元，库存 7 件。",
    ]
    loop = AgentLoop(
        model=ScriptedModel(turns), tools=[find_customer], store=store, config=LoopConfig(system_prompt="x")
    )
    (session_id,) = {
        item.session_id async for item in loop.run("我是王小明，电话 13800138000", by="王小明", owner="王小明")
    }
    _ = [item async for item in loop.run("and now?", session_id, by="王小明")]
    return session_id


async def test_a_redacted_file_names_nobody_and_still_verifies_replays_and_folds(tmp_path: Path) -> None:
    store = MemoryStore()
    session_id = await personal_session(store)
    path = tmp_path / "s.jsonl"
    header = await export_session(store, session_id, path, redact=True)
    text = read(path)
    assert [name for name in PERSONAL if name in text] == []
    for kept in (
        "PA4-70",
        "1234.50",
        "订单 123",
        "find_customer",
        "[name 1]",
        "[phone]",
        "[email]",
        "[address]",
        "[number]",
    ):
        assert kept in text, kept
    export = read_export(path)
    assert header.redacted
    assert export.verified.head_hash == (await store.verify(session_id)).head_hash
    redacted = {seq for first, last in export.verified.redacted for seq in range(first, last + 1)}
    originals = [item async for item in store.read(session_id)]
    for before, after in zip(originals, export.recorded(), strict=True):
        assert type(after.event) is type(before.event)
        assert (after.event == before.event) == (after.seq not in redacted)
    builder = TranscriptBuilder()
    for item in export.recorded():
        builder.add(item)
    whole = await transcript_of_log(store.read(session_id))
    assert [type(item) for item in builder.items] == [type(item) for item in whole]
    other = MemoryStore()
    await import_session(other, path)
    state, masked = (await open_session(store, session_id)).state, (await open_session(other, session_id)).state
    assert (masked.seq, len(masked.entries)) == (state.seq, len(state.entries))
    assert [name for name in PERSONAL if name in repr(masked)] == []
    for _, _, body in await rebuilt(other, session_id):
        msgspec.json.decode(body)


async def test_the_same_name_is_the_same_mark_everywhere(tmp_path: Path) -> None:
    store = MemoryStore()
    session_id = await personal_session(store)
    await export_session(store, session_id, tmp_path / "s.jsonl", redact=True)
    answers = [
        item.event
        for item in read_export(tmp_path / "s.jsonl").recorded()
        if isinstance(item.event, ev.AssistantMessage)
    ]
    call = msgspec.json.decode(answers[0].tool_calls[0].arguments)["name"]
    assert call.startswith("[name ")
    assert (answers[0].content or "") == f"我来查{call}。"
    assert (answers[1].content or "").startswith(call)


async def test_without_redaction_everything_but_secrets_is_the_original(tmp_path: Path) -> None:
    store = MemoryStore()
    session_id = await personal_session(store)
    head = (await store.session(session_id)).head
    await store.append(
        session_id, [said("Authorization: Bearer abcdef0123456789 for my-own-secret")], expected_seq=head
    )
    await export_session(store, session_id, tmp_path / "s.jsonl", secrets=["my-own-secret"])
    export = read_export(tmp_path / "s.jsonl")
    assert export.verified.redacted == ((head + 1, head + 1),)
    assert "abcdef0123456789" not in read(tmp_path / "s.jsonl")
    assert "my-own-secret" not in read(tmp_path / "s.jsonl")
    for row, kept in zip([row async for row in store.rows(session_id)][:head], export.rows, strict=False):
        assert row == kept


async def test_a_file_that_ends_early_says_where_the_log_ended(tmp_path: Path) -> None:
    store = MemoryStore()
    session_id = await personal_session(store)
    whole = await store.verify(session_id)
    header = await export_session(store, session_id, tmp_path / "s.jsonl", until=5)
    assert (header.head, header.log_head, header.log_head_hash) == (5, whole.head, whole.head_hash)
    assert [item.seq for item in read_export(tmp_path / "s.jsonl").recorded()] == [1, 2, 3, 4, 5]
    for wrong in (0, whole.head + 1):
        with pytest.raises(StoreError, match="is not one of them"):
            await export_session(store, session_id, tmp_path / "s.jsonl", until=wrong)


async def test_an_id_that_another_session_has_is_refused_and_nothing_is_changed(tmp_path: Path) -> None:
    one, two = MemoryStore(), MemoryStore()
    await begin(one, "s", "one")
    await begin(two, "s", "two", "three")
    await export_session(one, "s", tmp_path / "s.jsonl")
    before = await two.verify("s")
    with pytest.raises(Conflict):
        await import_session(two, tmp_path / "s.jsonl")
    assert await two.verify("s") == before


async def test_what_is_no_export_or_a_newer_one_is_said_to_be_so(tmp_path: Path) -> None:
    path = tmp_path / "x"
    for data, sentence in (
        (b"", "not an exported session"),
        (b"\xff\xfe", "not an exported session"),
        (b"[1]\n", "not an exported session"),
        (b'{"type":"run_start"}\n', "not an exported session"),
        (b'{"format":"agent_core.session","version":9}\n', "newer version"),
        (b'{"format":"agent_core.session","version":1}\n', "damaged"),
    ):
        path.write_bytes(data)
        with pytest.raises(StoreError, match=sentence):
            read_export(path)
    with pytest.raises(StoreError, match="cannot be read"):
        read_export(tmp_path / "missing")
    await begin(store := MemoryStore(), "s", "one")
    with pytest.raises(StoreError, match="cannot be written"):
        await export_session(store, "s", tmp_path / "no" / "folder" / "s.jsonl")


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(event=durable_events())
def test_a_masked_payload_is_an_event_of_the_same_type(event: ev.DurableEvent) -> None:
    payload = encode(event)
    masked = Redactor([payload], personal=True).payload(payload)
    assert masked is None or type_name(decode(masked)) == type_name(event)


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("电话：+86 138-0013-8000。", "电话：[phone]。"),
        ("１３８００１３８０００", "[phone]"),
        ("固话 (0571) 88888888-801", "固话 [phone]"),
        ("+1 (415) 555-0132", "[phone]"),
        ("a.b+c@mail.example.com.cn", "[email]"),
        ("广东省深圳市南山区", "[address]"),
        ("地址：某某花园", "地址：[address]"),
        ("收货人：赵六", "收货人：[name]"),
        ("张先生", "[name]先生"),
        ("Dear Mrs Miller,", "Dear Mrs [name],"),
        ("卡 6222020000000000003", "卡 6222020000000000003"),
        ("card 4111 1111 1111 1111", "card [number]"),
        ("订单 20251130123456，金额 13800.00，数量 138", "订单 20251130123456，金额 13800.00，数量 138"),
        ("SKU A-13800138000X", "SKU A-13800138000X"),
    ],
)
def test_what_tells_who_a_person_is_is_recognised_and_figures_are_left(text: str, masked: str) -> None:
    assert Redactor([], personal=True).content(text.encode()) == masked.encode()


def read(path: Path) -> str:
    """The whole file."""
    return path.read_text(encoding="utf-8")
