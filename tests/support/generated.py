"""Hypothesis strategies for events and logs, made from the types themselves.

Invariant: whatever field is added to an event is generated too, without a change here.
"""

from __future__ import annotations

import types
from decimal import Decimal
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec
from hypothesis import strategies as st

from agent_core import events as ev
from agent_core.messages import Event, ToolCall
from tests.support.logs import ENVIRONMENT_NAME, recorded

CALL_IDS = ("c1", "c2", "c3", "c4")
_text = st.text(max_size=20)
_small = st.integers(0, 40)
_numbers = st.floats(allow_nan=False, allow_infinity=False, width=32)
_json = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**62), 2**62) | _numbers | _text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_text, inner, max_size=3),
    max_leaves=6,
)


def _of_hint(hint: Any) -> st.SearchStrategy[Any]:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Literal:
        return st.sampled_from(arguments)
    if origin in (Union, types.UnionType):
        return st.one_of(*(_of_hint(argument) for argument in arguments))
    if origin is tuple:
        return st.lists(_of_hint(arguments[0]), max_size=3).map(tuple)
    if origin is dict:
        return st.dictionaries(_text, _of_hint(arguments[1]), max_size=3)
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        return structs(hint)
    simple: dict[Any, st.SearchStrategy[Any]] = {
        str: _text,
        int: _small,
        float: st.floats(0, 1e9, allow_nan=False).map(lambda number: round(number, 3)),
        bool: st.booleans(),
        type(None): st.none(),
        bytes: st.binary(max_size=20),
        Decimal: st.decimals(-1000, 1000, places=4),
        Any: _json,
    }
    return simple[hint]


def _as_tuple(items: list[ToolCall]) -> tuple[ToolCall, ...]:
    return tuple(items)


@cache
def structs(cls: type[msgspec.Struct]) -> st.SearchStrategy[Any]:
    """Any value of a struct; call ids come from a small pool, so that events of one log concern each other."""
    fields: dict[str, st.SearchStrategy[Any]] = {}
    for name, hint in get_type_hints(cls).items():
        if name == "v":
            continue
        if name == "call_id":
            fields[name] = st.sampled_from(CALL_IDS)
        elif name == "tool_calls":
            fields[name] = st.lists(_calls(), max_size=3, unique_by=lambda call: call.id).map(_as_tuple)
        elif name == "environment":
            fields[name] = st.just(ENVIRONMENT_NAME)
        elif name == "run_id":
            fields[name] = st.sampled_from(("r1", "r2"))
        elif name == "resumes":
            fields[name] = st.sampled_from((None, "r1", "r2"))
        elif name == "digest":
            fields[name] = st.sampled_from(("", "d1", "d2"))
        elif name == "tool":
            fields[name] = st.sampled_from(("look_up", "change", "missing"))
        elif name == "currency":
            fields[name] = st.just("CNY")
        else:
            fields[name] = _of_hint(hint)
    return st.builds(cls, **fields)


@cache
def _calls() -> st.SearchStrategy[ToolCall]:
    names = st.sampled_from(("look_up", "change", "missing"))
    return st.builds(ToolCall, id=st.sampled_from(CALL_IDS), name=names, arguments=st.just("{}"))


def durable_events() -> st.SearchStrategy[Event]:
    """Any event that is kept."""
    return st.one_of(*(structs(cls) for cls in get_args(ev.DurableEvent)))


def shown_events() -> st.SearchStrategy[Event]:
    """Any event that is only shown."""
    return st.one_of(*(structs(cls) for cls in get_args(ev.ShownEvent)))


def unknown_events() -> st.SearchStrategy[ev.UnknownEvent]:
    """Events of programs to come: types that do not exist, and newer versions of those that do."""
    newer = st.tuples(st.sampled_from([cls.__name__ for cls in get_args(ev.DurableEvent)]), st.integers(2, 99))
    named = st.one_of(st.tuples(st.text("XYZ", min_size=1, max_size=5), st.just(1)), newer)
    return st.tuples(named, _json).map(
        lambda drawn: ev.UnknownEvent(
            type=drawn[0][0], payload=msgspec.json.encode({"new": drawn[1], "v": drawn[0][1], "type": drawn[0][0]})
        )
    )


@st.composite
def logs(draw: st.DrawFn, max_size: int = 40) -> list[ev.Recorded]:
    """A log that begins as logs do and goes on in any way at all: the fold must make sense of what it can."""
    begin: list[Event] = [draw(structs(ev.SessionStarted)), draw(structs(ev.RunStarted)), draw(structs(ev.UserMessage))]
    rest = draw(st.lists(durable_events() | unknown_events(), max_size=max_size))
    return recorded([*begin, *rest])
