"""The check that looks at every request of every test finds what it is there for."""

from __future__ import annotations

import inspect
from typing import Any

import msgspec

from agent_core import events as ev
from agent_core.requests import RequestBuilder
from agent_core.testing import ScriptedModel
from agent_core.tools.registry import Registry
from tests.support.logs import answer, begun, folded, recorded, said, step_started
from tests.support.prefix import Sent, Watch, broken, in_log

_ONE = Sent(("a", "b"), "s", "t", None, "f", "tools")


def test_a_request_that_does_not_begin_with_the_one_before_is_told() -> None:
    assert broken(_ONE, msgspec.structs.replace(_ONE, names=("a", "b", "c"))) is None
    assert "message 2" in (broken(_ONE, msgspec.structs.replace(_ONE, names=("a", "x", "c"))) or "")
    assert "message 2" in (broken(_ONE, msgspec.structs.replace(_ONE, names=("a",))) or "")
    assert "tools" in (broken(_ONE, msgspec.structs.replace(_ONE, tools="others")) or "")


def test_another_prompt_or_another_client_may_begin_anew() -> None:
    for change in ({"system": "other"}, {"form": "other"}):
        assert broken(_ONE, msgspec.structs.replace(_ONE, names=("x",), **change)) is None


def test_a_log_is_looked_through_and_a_compaction_is_a_reason() -> None:
    log: list[Any] = [*begun(), step_started(1, 1, "m1", "m2"), answer(), said("b"), step_started(1, 1, "m1", "m9")]
    assert in_log(recorded(log), {}) == ["event 7: message 2 of 2 was sent otherwise before"]
    log[5:5] = [ev.ContextCompacted(kind="dropped", from_seq=3, to_seq=5)]
    assert in_log(recorded(log), {}) == []
    extended = [*begun(), step_started(1, 1, "m1", "m2"), answer(), said("b"), step_started(2, 1, "m3", base=4)]
    assert in_log(recorded(extended), {}) == []


def test_a_message_that_is_built_otherwise_the_second_time_is_found_as_it_is_built() -> None:
    watch = Watch()
    build = inspect.unwrap(RequestBuilder.build)  # the check of the suite itself is not to see what follows
    builder = RequestBuilder(ScriptedModel(), None, Registry(()), {}, "salt")
    state = folded(*begun())
    first = [entry.message for entry in state.entries]
    _, manifest, _ = watch.build(builder, state, first, build)
    state.manifest, state.manifest_seq = list(manifest.added), 4
    watch.build(builder, state, first, build)
    assert watch.failures == []
    changed = [msgspec.structs.replace(first[0], content="at 12:00:01 " + (first[0].content or ""))]
    watch.build(builder, state, changed, build)
    assert len(watch.failures) == 1
    assert watch.seen == 3
