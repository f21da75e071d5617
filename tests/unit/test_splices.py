"""Contents that repeat an event take the place of their difference, and come back byte for byte."""

from __future__ import annotations

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from agent_core.codec import encode
from agent_core.events import AssistantMessage, TextPart, ToolCallFinished, UserMessage
from agent_core.messages import Message, ToolCall
from agent_core.model.wire import render_message
from agent_core.store.splices import WORTH, Recent, splice

TEXT = '库存 "7" 件\n\\ of A1 — ' * 40


def saved(data: bytes, *payloads: bytes) -> int:
    """Bytes that a splice saves; it has to give the content back."""
    found = splice(data, list(enumerate(payloads)))
    if found is None:
        return 0
    assert found.joined(payloads[found.place]) == data
    return found.length


def test_each_kind_of_message_is_found_in_its_event() -> None:
    said = encode(UserMessage(content=(TextPart(TEXT),), author="user"))
    call = ToolCall(id="c1", name="find", arguments="{}")
    answered = encode(AssistantMessage(step=1, content=TEXT, tool_calls=(call,)))
    result = msgspec.json.encode({"rows": [TEXT] * 2}).decode()
    finished = encode(ToolCallFinished(call_id="c1", index=0, tool="find", ok=True, content=result))
    size = len(msgspec.json.encode(TEXT))
    assert saved(render_message(Message("user", TEXT)), finished, answered, said) >= size - 1
    assert saved(render_message(Message("assistant", TEXT, (call,))), said, answered) >= size - 1
    assert saved(render_message(Message("tool", result, tool_call_id="c1")), said, finished) >= 2 * size


def test_a_text_of_one_letter_is_found_whole() -> None:
    text = "x" * 3000
    payload = encode(UserMessage(content=(TextPart(text),), author="user"))
    assert saved(render_message(Message("user", text)), payload) >= 3000


def test_small_and_unrelated_contents_are_left_as_they_are() -> None:
    payload = encode(UserMessage(content=(TextPart("y" * 1000),), author="user"))
    assert saved(render_message(Message("user", "y" * 50)), payload) == 0
    assert saved(render_message(Message("user", "z" * 1000)), payload) == 0
    assert saved(b"\xff" * 1000, payload) == 0
    assert splice(b"", []) is None


@given(
    data=st.binary(max_size=400), payloads=st.lists(st.binary(max_size=400), max_size=3), shared=st.binary(max_size=300)
)
def test_whatever_the_bytes_a_splice_gives_them_back(data: bytes, payloads: list[bytes], shared: bytes) -> None:
    mixed = [payload + b'{"a":"' + shared + b'"}' for payload in payloads]
    assert saved(b'{"b":"' + shared + data, *mixed) in (0, *range(WORTH + 1, 1000))


def test_only_the_newest_payloads_of_a_few_sessions_are_remembered() -> None:
    recent = Recent()
    recent.add(1, [(place, b"p" * 300) for place in range(100)])
    assert [place for place, _ in recent.of(1)] == list(range(99, 83, -1))
    recent.add(1, [(200, b"small"), (201, b"p" * 100_000)])
    assert next(place for place, _ in recent.of(1)) == 99
    for number in range(2, 66):
        recent.add(number, [(number, b"p" * 300)])
    assert list(recent.of(1)) == []
    assert len(list(recent.of(65))) == 1
