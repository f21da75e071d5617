"""Arguments of a call: what is usable, what is repaired, and what is never run."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core.model.arguments import judge
from agent_core.model.jsontext import Completeness, is_json_beginning


@pytest.mark.parametrize(
    "text", ['{"a":1}', ' {"a" : [1, {"b":"}"}]} ', '{"a":"\\ud83d\\ude00"}', "{}", '{"n": 12345678901234567890123}']
)
def test_strict_json_is_used_as_it_stands(text: str) -> None:
    verdict = judge([text])
    assert (verdict.arguments, verdict.repaired, verdict.error) == (text, False, None)


@pytest.mark.parametrize("fragments", [[], [""], ["", " \n"]])
def test_no_arguments_are_an_empty_object(fragments: list[str]) -> None:
    assert judge(fragments).arguments == "{}"
    assert not judge(fragments).repaired


@pytest.mark.parametrize(
    ("fragments", "value"),
    [
        (['{"a', '{"a":1', '{"a":1}'], {"a": 1}),
        (['{"a":', "1}", '{"a":1}'], {"a": 1}),
        (['{"a":', "1}", '{"a": 1}'], {"a": 1}),
        (["{}", '{"a"', ":1}"], {"a": 1}),
        (["{}", "{}", '{"a":1}'], {"a": 1}),
        (["{}", '{"a"', '{"a":1}'], {"a": 1}),
        (['{"a":1}'] * 3, {"a": 1}),
        (['```json\n{"a":1}\n```'], {"a": 1}),
        (['```\n{"a":1}'], {"a": 1}),
        (['json\n{"a":1}</tool_call>'], {"a": 1}),
        (['<tool_call>{"a":1}<|im_end|>'], {"a": 1}),
        (['\ufeff{"a":1}'], {"a": 1}),
        (['{"a":[1,],"b":"x,]",}'], {"a": [1], "b": "x,]"}),
        (['{"a":"x\n\ty"}'], {"a": "x\n\ty"}),
        (['"{\\"a\\":1}"'], {"a": 1}),
        (['"\\"{}\\""'], {}),
        (
            ["{'a': \"it's\", 'b': True, 'c': None, 'd': [1.5, -2]}"],
            {"a": "it's", "b": True, "c": None, "d": [1.5, -2]},
        ),
        (["{'a': true, 'b': null}"], {"a": True, "b": None}),
        (['{"a": True, "b": "None"}'], {"a": True, "b": "None"}),
        (["null"], {}),
    ],
)
def test_a_repair_keeps_the_meaning(fragments: list[str], value: dict[str, Any]) -> None:
    verdict = judge(fragments)
    assert (json.loads(verdict.arguments), verdict.repaired, verdict.error) == (value, True, None)
    assert verdict.raw == "".join(fragments)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ('{"a":"b', "truncated"),
        ('{"a":', "truncated"),
        ('{"a":tr', "truncated"),
        ('{"a":-', "truncated"),
        ('{"a":[1,{"b":2}', "truncated"),
        ('{"a":1,', "truncated"),
        ("{", "truncated"),
        ('```json\n{"a":"x', "truncated"),
        ('{}{"a":"x', "truncated"),
        ('{"a":"x\\', "truncated"),
        ('{"a":1}}', "invalid_json"),
        ('{"a":1}{"a":2}', "invalid_json"),
        ('{"room": hall", "on": yes}', "invalid_json"),
        ("{a: 1}", "invalid_json"),
        ('{"a":NaN}', "invalid_json"),
        ('{"a":1e999}', "invalid_json"),
        ("{'a': __import__('os')}", "invalid_json"),
        ("{'a': (1, 2)}", "invalid_json"),
        ("{'a': 'x' 'y'}", "invalid_json"),
        ('{"a" "b"', "invalid_json"),
        ("do it", "invalid_json"),
        ("[1]", "not_an_object"),
        ("42", "not_an_object"),
        ('"text"', "not_an_object"),
        ("true", "not_an_object"),
    ],
)
def test_what_cannot_be_read_without_guessing_is_an_error(text: str, error: str) -> None:
    verdict = judge([text])
    assert (verdict.error, verdict.arguments, verdict.raw) == (error, "{}", text)


def test_a_lone_surrogate_becomes_a_replacement_character() -> None:
    assert json.loads(judge(['{"a":"x \\udc9c y"}']).arguments) == {"a": "x \ufffd y"}


@given(
    st.dictionaries(
        st.text(max_size=5), st.text(max_size=8) | st.integers() | st.lists(st.booleans(), max_size=2), max_size=3
    ),
    st.data(),
)
def test_every_proper_beginning_is_told_from_a_mistake(value: dict[str, Any], data: st.DataObject) -> None:
    text = json.dumps(value, ensure_ascii=False)
    cut = data.draw(st.integers(1, len(text) - 1))
    assert is_json_beginning(text[:cut])
    assert not is_json_beginning(text)


@given(st.dictionaries(st.text(max_size=5), st.text(max_size=8), max_size=3), st.data())
def test_completeness_follows_fragments_however_they_are_cut(value: dict[str, str], data: st.DataObject) -> None:
    text = json.dumps(value)
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=8)))
    followed = Completeness()
    fragments: list[str] = []
    for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
        fragments.append(text[start:end])
        assert followed.follow(fragments) == (end == len(text))


@pytest.mark.parametrize(
    "text",
    [
        "{" + " " * 300_000 + "x",
        '{"a":"' + '\\"' * 150_000,
        "{'a': '" + "\\'" * 150_000,
        '{"a":1}' + "<" * 300_000,
        "```" * 100_000,
        "{}" * 150_000 + "x",
        "[" * 100_000,
        '{"a":' * 100_000,
        "<a>" * 100_000,
    ],
    ids=range(9),
)
def test_hostile_arguments_are_judged_in_linear_time(text: str) -> None:
    started = time.process_time()
    assert judge([text]).error is not None
    assert time.process_time() - started < 2
