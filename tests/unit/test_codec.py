"""Events as bytes: what every version wrote stays readable, what nobody knows yet survives."""

from __future__ import annotations

from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given, settings

from agent_core import codec
from agent_core import events as ev
from agent_core.codec import decode, encode, type_name
from agent_core.messages import Event
from tests.support.generated import durable_events, shown_events, unknown_events
from tests.support.logs import said


@settings(max_examples=60, deadline=None)
@given(durable_events() | shown_events())
def test_an_event_is_read_back_as_it_was_written(event: Any) -> None:
    payload = encode(event)
    assert decode(payload) == event
    assert encode(decode(payload)) == payload
    assert msgspec.json.decode(payload)["type"] == type_name(event)


@settings(max_examples=40)
@given(unknown_events())
def test_an_unknown_event_keeps_its_bytes(event: ev.UnknownEvent) -> None:
    assert decode(event.payload) == event
    assert encode(decode(event.payload)) == event.payload
    assert type_name(event) == event.type


def test_every_event_carries_its_version() -> None:
    for cls in (*get_args(ev.DurableEvent), *get_args(ev.ShownEvent)):
        assert issubclass(cls, Event)
        assert cls.__struct_fields__[-1] == "v" or "v" in cls.__struct_fields__
        assert isinstance(codec._CURRENT[cls.__name__], int)


def test_an_unknown_field_does_not_hide_the_rest() -> None:
    payload = b'{"type":"StepEnd","v":1,"step":3,"outcome":"message","smell":"roses"}'
    assert decode(payload) == ev.StepEnd(step=3, outcome="message")


def test_a_newer_version_of_a_known_type_is_unknown_even_if_it_looks_familiar() -> None:
    payload = msgspec.json.encode(said("hi")).replace(b'"v":1', b'"v":2')
    assert decode(payload) == ev.UnknownEvent(type="UserMessage", payload=payload)


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'"x"',
        b"{}",
        b'{"v":1}',
        b'{"type":3}',
        b'{"type":null}',
        b'{"type":"StepEnd","v":1,"step":"many","outcome":"message"}',
        b'{"type":"StepEnd","v":1}',
        b'{"type":"StepEnd","v":0,"step":1,"outcome":"message"}',
        b'{"type":"StepEnd","v":-3,"step":1,"outcome":"message"}',
        b'{"type":"UserMessage","v":1,"content":[{"kind":"smoke"}],"author":"u"}',
        b"\xff\xfe",
        b'{"type":"UserMessage","author":"\xff"}',
    ],
)
def test_what_is_no_event_is_refused_with_a_value_error(payload: bytes) -> None:
    with pytest.raises(ValueError):
        decode(payload)


def test_older_versions_are_brought_up_one_version_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    def split_name(old: dict[str, Any]) -> dict[str, Any]:
        return {**{key: value for key, value in old.items() if key != "who"}, "by": old["who"]}

    def say_where(old: dict[str, Any]) -> dict[str, Any]:
        return {**old, "where": "unknown"}

    monkeypatch.setitem(codec._CURRENT, "RunInterrupted", 3)
    monkeypatch.setitem(codec.UPCASTERS, ("RunInterrupted", 1), split_name)
    monkeypatch.setitem(codec.UPCASTERS, ("RunInterrupted", 2), say_where)
    first = decode(b'{"type":"RunInterrupted","v":1,"who":"boss","extra":1}')
    assert first == ev.RunInterrupted(by="boss", where="unknown", v=3)
    second = decode(b'{"type":"RunInterrupted","v":2,"by":"boss"}')
    assert second == ev.RunInterrupted(by="boss", where="unknown", v=3)
    current = decode(b'{"type":"RunInterrupted","v":3,"by":"boss","where":"here"}')
    assert current == ev.RunInterrupted(by="boss", where="here", v=3)
    newer = b'{"type":"RunInterrupted","v":4,"by":"boss"}'
    assert decode(newer) == ev.UnknownEvent(type="RunInterrupted", payload=newer)


def test_each_older_version_has_an_upcaster() -> None:
    for name, current in codec._CURRENT.items():
        for version in range(1, current):
            assert (name, version) in codec.UPCASTERS
